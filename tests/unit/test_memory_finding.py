"""Memories found without a model: words, meaning, kinds of work; and mostly nothing."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.ids import digest
from aforesaid.memory.ranking import (
    MAX_COLLECTIONS,
    MAX_MATCHES,
    MemoryRanker,
    confident_matches,
    stem_terms,
)
from aforesaid.model.memories import OF_PROJECT, Memory, StoredMemory
from benchmarks.memory import selection
from benchmarks.recall.loading import encoder_named
from tests.support.tables import loop_over

if TYPE_CHECKING:
    from aforesaid.encoders.base import Matrix

ENCODERS = ("static", "none")


def stored(name: str, type_: str, description: str, body: str = "") -> StoredMemory:
    memory = Memory(name, description, type_, body or description)
    return StoredMemory(memory, OF_PROJECT, Path(f"{name}.md"), digest(memory.text, 32), 0)


TABS = stored(
    "user-preference-tabs",
    "user",
    "User prefers tabs for indentation",
    "Indent with tabs, not with spaces.\n**How to apply:** Always, when files are written or edited.",
)
AUTH = stored("auth-rewrite", "project", "The auth rewrite is driven by compliance")
LINEAR = stored("ingest-bugs", "reference", "Pipeline bugs are in Linear, project INGEST")
COLUMNS = stored(
    "nightly-feed",
    "reference",
    "What the columns of the nightly feed mean is on the wiki",
    "Codes such as CNSGN_ST and `feeds/nightly.py` are explained there.",
)
COMMITS = stored("commit-form", "feedback", "Commit messages are imperative and short")
POOL = (TABS, AUTH, LINEAR, COLUMNS, COMMITS)


class Broken:
    """As a table that cannot be read."""

    name, dimensions, instant = "broken", 4, True

    def encode(self, texts: Sequence[str]) -> "Matrix":
        raise OSError("gone")


@pytest.fixture(params=ENCODERS)
def finder(request: pytest.FixtureRequest) -> MemoryRanker:
    return MemoryRanker(encoder_named(request.param))


def told(finder: MemoryRanker, text: str, pool: Sequence[StoredMemory] = POOL) -> list[str]:
    return [each.memory.memory.name for each in confident_matches(finder.near(pool, text))]


@loop_over(
    ("prompt", "expected"),
    [
        ("we go on with the auth rewrite today", "auth-rewrite"),
        ("where do I report a bug of the pipeline?", "ingest-bugs"),
        ("what does CNSGN_ST mean?", "nightly-feed"),
        ("something is wrong in feeds/nightly.py", "nightly-feed"),
        ("should I use tabs or spaces here?", "user-preference-tabs"),
    ],
)
def test_what_a_prompt_is_about_is_found(finder: MemoryRanker, prompt: str, expected: str) -> None:
    assert told(finder, prompt) == [expected]


@loop_over("pool", [(TABS,), POOL])
@loop_over(
    "prompt",
    [
        "Create a Python file called test.py",
        "Create another Python file",
        "write a helper that splits a list into chunks",
        "implement the parser in src/parse.rs",
    ],
)
def test_a_rule_for_code_is_found_when_code_is_to_be_written(
    finder: MemoryRanker, prompt: str, pool: tuple[StoredMemory, ...]
) -> None:
    assert told(finder, prompt, pool) == ["user-preference-tabs"]


def test_what_the_user_prefers_is_found_when_it_is_asked_for(finder: MemoryRanker) -> None:
    assert told(finder, "What did I tell you about my preferences?") == ["user-preference-tabs"]


@loop_over(
    "prompt",
    [
        "thanks",
        "yes, go on",
        "run the tests",
        "how many lines does main.py have?",
        "which branch am I on?",
        "who wrote the last commit?",
        "write a haiku about the sea",
        "",
        "?!",
        "\ud800",
    ],
)
def test_silence_is_better_than_noise(finder: MemoryRanker, prompt: str) -> None:
    assert told(finder, prompt) == []


def test_a_fact_about_code_is_no_rule_for_it(finder: MemoryRanker) -> None:
    fact = stored("legacy-tabs", "project", "The legacy folder is indented with tabs")
    assert told(finder, "write a helper that splits a list into chunks", [fact]) == []


def test_why_is_said(finder: MemoryRanker) -> None:
    first, *_ = finder.near(POOL, "we go on with the auth rewrite")
    assert set(first.why.split(", ")) == {"auth", "rewrite"}
    first, *_ = finder.near(POOL, "write a class Parser")
    assert first.why.startswith("a rule for it")


def test_the_name_and_the_description_weigh_more_than_the_body(finder: MemoryRanker) -> None:
    head = stored("one", "project", "The quota of the tenants is kept in a ledger", "See there.")
    body = stored("two", "project", "See there", "The quota of the tenants is kept in a ledger.")
    first, second = finder.near([body, head], "the quota in the ledger of tenants is off")
    assert (first.memory, second.memory) == (head, body)
    assert first.score > second.score


def test_words_that_all_memories_have_say_little(finder: MemoryRanker) -> None:
    pool = [
        stored(f"m{n}", "project", f"The kestrel database keeps its {thing} apart")
        for n, thing in enumerate(("segments", "indexes", "snapshots", "tombstones", "manifests"))
    ]
    assert told(finder, "the kestrel database is apart", pool) == []
    assert told(finder, "what about the tombstones and the kestrel segments?", pool) == []


def test_two_that_are_equally_near_are_both_doubtful() -> None:
    one = stored("one", "project", "The quota ledger of Arnhem")
    twin = stored("two", "project", "The quota ledger of Breda")
    alone = MemoryRanker().near([one, AUTH], "check the quota ledger")[0].score
    assert MemoryRanker().near([one, twin, AUTH], "check the quota ledger")[0].score < alone


def test_at_most_five_are_sure() -> None:
    rules = [stored(f"rule-{n}", "user", f"Indent files of kind {n} with tabs") for n in range(9)]
    assert len(confident_matches(MemoryRanker().near(rules, "write a class Parser"))) == MAX_MATCHES


def test_all_are_ranked_and_the_order_is_stable() -> None:
    assert MemoryRanker().near([], "anything") == []
    found = MemoryRanker().near(POOL, "nothing of the kind")
    assert sorted(each.memory.path for each in found) == sorted(each.path for each in POOL)
    assert found == MemoryRanker().near(tuple(reversed(POOL)), "nothing of the kind")


def test_a_broken_encoder_is_none() -> None:
    text = "we go on with the auth rewrite"
    assert MemoryRanker(Broken()).near(POOL, text) == MemoryRanker().near(POOL, text)


def test_a_memory_that_was_changed_is_read_again(finder: MemoryRanker) -> None:
    before = stored("topic", "project", "The ledger of the tenants is frozen")
    after = stored("topic", "project", "The importer of weather data is slow")
    assert told(finder, "thaw the ledger of the tenants", [before, AUTH]) == ["topic"]
    assert told(finder, "thaw the ledger of the tenants", [after, AUTH]) == []
    assert told(finder, "thaw the ledger of the tenants", [before, AUTH]) == ["topic"]


def test_a_finder_forgets_what_is_not_asked_for_any_more() -> None:
    finder = MemoryRanker()
    for n in range(MAX_COLLECTIONS + 5):
        finder.near([stored(f"m{n}", "project", f"Text {n}")], "text")
    assert len(finder._collections) == MAX_COLLECTIONS


def test_several_threads_may_ask(finder: MemoryRanker) -> None:
    expected = finder.near(POOL, "the auth rewrite")
    found: list[object] = []

    def ask(number: int) -> None:
        pool = POOL if number % 2 else (*POOL, stored(f"x{number}", "user", f"Number {number}"))
        found.append(finder.near(pool, "the auth rewrite")[0].memory)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected[0].memory] * 16


@given(st.text(), st.lists(st.text(max_size=200), min_size=1, max_size=4))
def test_no_text_makes_it_raise(text: str, bodies: list[str]) -> None:
    pool = [stored(f"m{n}", "user", body, body) for n, body in enumerate(bodies)]
    assert len(MemoryRanker().near(pool, text)) == len(pool)


def test_a_long_text_is_not_near_by_its_length(finder: MemoryRanker) -> None:
    """A log that somebody pastes has some of every memory's words."""
    words = " ".join(f"{each.memory.description} word{n}" for n, each in enumerate(POOL))
    log = "\n".join(f"2026-11-02T10:{n:02} INFO request served in {n} ms" for n in range(60))
    assert len(told(finder, f"{log}\n{words}")) <= 1


# The words of the trade


def test_a_digit_alone_is_no_term() -> None:
    assert "2" not in stem_terms("v2 of 2 things")
    assert "s3" in stem_terms("the S3 bucket")


# The set that the weights were chosen on. The other half is for the docs.


@pytest.mark.parametrize("encoder", ENCODERS)
def test_precision_on_the_half_that_the_threshold_was_set_on(encoder: str) -> None:
    finder = MemoryRanker(encoder_named(encoder))
    run = selection.run(
        selection.half(selection.TUNE),
        lambda project: lambda prompt: told(finder, prompt.text, project.memories),
    )
    helped, needing = run.helped
    silent, idle = run.silent
    assert run.right >= 0.85 * run.given
    assert helped >= 0.15 * needing
    assert silent >= 0.95 * idle


def test_every_name_in_the_set_is_one_of_its_memories() -> None:
    projects = selection.half(selection.TUNE) + selection.half(selection.REPORT)
    assert sum(len(project.memories) for project in projects) >= 40
    assert sum(len(project.prompts) for project in projects) >= 80
    for project in projects:
        names = {each.memory.name for each in project.memories}
        assert len(names) == len(project.memories)
        for prompt in project.prompts:
            assert prompt.needs | prompt.fits <= names, prompt.id
            assert not prompt.needs & prompt.fits, prompt.id


def test_the_figures_of_a_run() -> None:
    (project, *_) = selection.half(selection.TUNE)
    needing = next(prompt for prompt in project.prompts if prompt.needs)
    idle = next(prompt for prompt in project.prompts if not prompt.needs)
    run = selection.Run([(needing, (*needing.needs, "wrong")), (idle, ())])
    assert (run.given, run.needed, run.right) == (
        len(needing.needs) + 1,
        len(needing.needs),
        len(needing.needs),
    )
    assert (run.helped, run.silent) == ((1, 1), (1, 1))
    assert run.table("x").rows
