"""`benchmarks memory`: what is counted, of rules and of models; what is shown; who is asked."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from aforesaid.errors import AforesaidError
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.model.requests import Failure, Reply, Request, Unavailable, Usage
from benchmarks.__main__ import bench
from benchmarks.memory import dialogues, extraction, run, selection
from benchmarks.memory.asked import PATIENCE, Asked
from benchmarks.memory.dialogues import Expected, shipped
from benchmarks.recall.loading import Show, unseen
from benchmarks.table import Table
from tests.support.scripted_models import ScriptedOpenAi


class Model:
    name, model, longest_seconds = "parrot", "parrot-1", 30.0

    def __init__(self, says: Callable[[Request], str | Failure]) -> None:
        self.says = says
        self.requests: list[Request] = []

    def ask(self, request: Request) -> Reply | Failure:
        self.requests.append(request)
        said = self.says(request)
        return Reply(said, self.model, Usage(100, 60, 0, 10)) if isinstance(said, str) else said

    def close(self) -> None: ...


def last_said(request: Request) -> str:
    said = [line for line in request.message.split("\n") if line.startswith("User: ")][-1]
    return said.removeprefix("User: ").replace('"', "'")


def proposal(request: Request) -> str:
    """What the user said last, whatever it was."""
    text = last_said(request)
    return f'[{{"type": "project", "description": "{text}", "body": "{text}"}}]'


def moody() -> Model:
    """Asleep at the second request, unreadable at every third."""

    def says(request: Request) -> str | Failure:
        if len(made.requests) == 2:
            return Unavailable("it is asleep")
        return "squawk" if len(made.requests) % 3 == 0 else proposal(request)

    made = Model(says)
    return made


def values(made: Table) -> dict[str, str]:
    return {row[0]: row[1] for row in made.rows}


@contextmanager
def no_bar(_what: str) -> Iterator[Show]:
    yield unseen


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few of them do to see what is counted."""
    monkeypatch.setattr(dialogues, "shipped", lambda: shipped()[:12])
    first, *_ = selection.half("tune")
    small = selection.Project(first.name, first.memories, first.prompts[:6])
    monkeypatch.setattr(selection, "half", lambda _name: [small])


# Extraction


@pytest.mark.usefixtures("few")
def test_a_model_is_measured_beside_the_rules_and_alone() -> None:
    made = run.extracted(moody(), "tune", unseen).table
    found = values(made)
    assert int(found["requests"]) > 8
    assert found["failed requests"] == "1"
    assert found["input tokens per request"].isdigit()
    assert found["unreadable replies"] != "none"
    assert "seconds per request" in found
    assert made.title.endswith("by rules and parrot-1, tune half")
    alone, asked = extraction.run(moody(), dialogues.half("tune")[:3], rules=False)
    assert len(alone) == 3
    assert asked.requests >= 2


def test_a_model_that_says_everything_is_held_to_what_lasts() -> None:
    idle = [each for each in dialogues.half("tune") if not each.expected]
    outcomes, _ = extraction.run(Model(proposal), idle, rules=False)
    written = sum(len(each.wrong) for each in outcomes)
    assert written <= 0.2 * len(outcomes), [m.body for each in outcomes for m in each.wrong]


@pytest.mark.usefixtures("few")
def test_the_table_names_who_and_which_half() -> None:
    made = run.extracted(None, "tune", unseen).table
    assert made.title == "Memories taken from dialogues by rules, tune half"
    found = values(made)
    assert found["dialogues"] == "12"
    assert "requests" not in found


def test_misses_false_ones_and_refusals_are_shown_with_their_dialogue() -> None:
    talk = next(each for each in shipped() if each.id == "t18")
    talk = replace(talk, expected=(Expected(("user",), ("Haskell",), explicit=False),))
    made_up = (
        '[{"type": "user", "description": "Likes Erlang", "body": "Use Erlang for the parser"}]'
    )
    outcomes, _ = extraction.run(Model(lambda _: made_up), [talk])
    shown = "\n".join(extraction.explained(outcomes))
    assert shown.startswith("t18 [preference, by the way]\n  user: tabs are better")
    assert "  missed (said otherwise): Haskell" in shown
    assert "  refused, the user did not say it: Use Erlang for the parser" in shown


def test_what_went_well_is_not_shown() -> None:
    outcomes, _ = extraction.run(None, [shipped()[0]])
    assert list(extraction.explained(outcomes)) == []


# Selection


def chosen(model: Model | None, prompts: int = 60) -> tuple[selection.Run, Asked]:
    (project, *_) = selection.half("tune")
    project = selection.Project(project.name, project.memories, project.prompts[:prompts])
    asked = Asked()
    chooser = selection.product(MemoryRanker(), model, asked)
    return selection.run([project], chooser), asked


def test_a_model_chooses_from_the_catalog() -> None:
    first = selection.half("tune")[0].prompts[0]
    (needed, *_) = sorted(first.needs)
    told, asked = chosen(Model(lambda _: f"Notes: {needed}"), 1)
    assert told.told == [(first, (needed,))]
    assert (asked.requests, asked.sent, asked.cached, asked.received) == (1, 100, 60, 10)


def test_where_a_model_is_of_no_use_words_choose_and_that_is_counted() -> None:
    by_words, _ = chosen(None)
    told, asked = chosen(Model(lambda _: "Sure!"))
    assert told.told == by_words.told
    assert asked.unreadable == asked.requests > 0


def test_a_model_is_shown_the_prompts_before_and_not_what_was_answered() -> None:
    model = Model(lambda _: "Notes: none")
    told, _ = chosen(model)
    prompt = next(each for each, _ in told.told if len(each.talk) > 1)
    before = [each.text for each in prompt.talk if each.role == "user"][:-1]
    message = next(r.message for r in model.requests if last_said(r) == prompt.text)
    assert all(text in message for text in before)
    assert "\nAgent: " not in message


def test_the_smallest_prompts_ask_nobody() -> None:
    model = Model(lambda _: "Notes: none")
    told, asked = chosen(model)
    assert 0 < asked.requests <= len(told.told)
    assert "go on" not in map(last_said, model.requests)


def test_what_was_told_in_vain_and_what_was_missed_are_shown() -> None:
    (project, *_) = selection.half("tune")
    needing = next(prompt for prompt in project.prompts if prompt.needs)
    idle = next(prompt for prompt in project.prompts if not prompt.needs)
    right = selection.Run([(needing, tuple(needing.needs)), (idle, ())])
    assert list(right.explained()) == []
    wrong = selection.Run([(needing, ("other",)), (idle, ("another",))])
    shown = "\n".join(wrong.explained())
    assert f"missed: {', '.join(sorted(needing.needs))}" in shown
    assert "false: other" in shown
    assert "false: another" in shown


# Nobody there


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("part", run.PARTS)
def test_figures_of_a_model_that_is_not_there_are_not_told(part: str) -> None:
    model = Model(lambda _: Unavailable("Nobody listens at that address."))
    with pytest.raises(AforesaidError, match="Nobody listens at that address"):
        run.measure(no_bar, half="tune", encoder="none", model=model, parts=(part,))
    assert len(model.requests) == PATIENCE


# The command


def invoked(*words: str) -> SimpleNamespace:
    done = CliRunner().invoke(bench, ["memory", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return SimpleNamespace(output=done.output)


@pytest.mark.usefixtures("few")
def test_the_command_prints_two_tables() -> None:
    output = invoked("--encoder", "none").output
    assert "Memories taken from dialogues by rules, report half" in output
    assert "Memories injected at prompts, chosen by words, report half" in output


@pytest.mark.usefixtures("few")
def test_one_of_them_alone_as_json() -> None:
    output = invoked("--only", "selection", "--half", "all", "--json", "--explain").output
    (made,) = json.loads(output)["tables"]
    assert made["title"] == "Memories injected at prompts, chosen by words and static, both halves"


@pytest.mark.usefixtures("few")
def test_the_command_explains() -> None:
    output = invoked("--only", "extraction", "--half", "tune", "--explain").output
    assert "by rules, tune half: misses and false ones\n\nNone." in output


@pytest.mark.usefixtures("few")
def test_a_model_behind_an_endpoint_is_measured_after_the_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dialogues, "shipped", lambda: shipped()[:2])
    with ScriptedOpenAi(then="[]") as server:
        output = invoked("--half", "tune", "--endpoint", server.url, "--model", "tiny").output
    assert [line for line in output.splitlines() if line.startswith("Memories")] == [
        "Memories taken from dialogues by rules, tune half",
        "Memories injected at prompts, chosen by words and static, tune half",
        "Memories taken from dialogues by rules and tiny, tune half",
        "Memories injected at prompts, chosen by tiny, tune half",
    ]
    assert {body["model"] for body in server.bodies} == {"tiny"}
