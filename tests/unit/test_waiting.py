"""Commands that wait for the worker do not wait for ever."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from aforesaid.cli import arguments, demo
from aforesaid.cli.main import cli
from aforesaid.errors import WorkerError
from aforesaid.worker import rpc

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "POLL_SECONDS", 0.0)


def answering(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], Json]) -> list[str]:
    """A worker that answers so. Returns what it is asked, as it is asked."""
    asked: list[str] = []

    def call(command: str, **_: object) -> Json:
        asked.append(command)
        return answer(command)

    monkeypatch.setattr(arguments, "call_worker", call)
    return asked


def test_a_task_whose_worker_ends_each_time_is_an_error_that_names_the_logs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers: dict[str, Json] = {"import-begin": {"name": "a"}, "import-progress": {"lost": True}}
    asked = answering(monkeypatch, answers.__getitem__)
    with pytest.raises(WorkerError, match="aforesaid worker logs"):
        arguments.run_task("import", {}, lambda _: None)
    assert asked.count("import-begin") == arguments.MOST_BEGINS


def test_a_task_that_gets_further_each_time_is_begun_as_often_as_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer() -> Iterator[Json]:
        for done in range(2 * arguments.MOST_BEGINS):
            yield from ({"name": "a"}, {"done": done}, {"lost": True})
        yield from ({"name": "a"}, {"done": 99, "over": True})

    answers = answer()
    asked = answering(monkeypatch, lambda _: next(answers))
    assert arguments.run_task("import", {}, lambda _: None)["over"]
    assert asked.count("import-begin") > 2 * arguments.MOST_BEGINS


def test_a_worker_that_is_ending_is_asked_until_the_next_one_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endings: list[Json] = [{"lost": True}] * (3 * arguments.MOST_BEGINS)
    answers = iter([*endings, {"name": "a"}, {"over": True}])
    answering(monkeypatch, lambda _: next(answers))
    assert arguments.run_task("import", {}, lambda _: None) == {"over": True}


def test_a_worker_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "AWAY_SECONDS", -1.0)
    answering(monkeypatch, lambda _: {"lost": True})
    with pytest.raises(WorkerError, match="aforesaid worker logs"):
        arguments.run_task("import", {}, lambda _: None)


@pytest.mark.parametrize("problem", [None, "the disk is full"])
def test_a_demo_whose_worker_never_rests_ends_and_names_the_fix(
    monkeypatch: pytest.MonkeyPatch, problem: str | None
) -> None:
    status = {"idle": False, "queue": {"sessions": 2}, "problem": problem}
    for name in ("AFORESAID_HOME", "AFORESAID_SYNTHESIS_PROVIDER"):  # which it sets
        monkeypatch.setenv(name, os.environ.get(name, ""))
    monkeypatch.setattr(demo, "WAIT_SECONDS", -1.0)
    monkeypatch.setattr(demo, "_replay", lambda *_: None)
    monkeypatch.setattr(rpc, "start", lambda _: status)
    done = CliRunner().invoke(cli, ["demo"])
    assert isinstance(done.exception, WorkerError)
    assert "aforesaid doctor" in str(done.exception)
    assert (problem or "finish.") in str(done.exception)
