"""How the `claude` provider waits and is closed, with a client that is not the real one."""

import asyncio
import threading
import time
from functools import partialmethod
from pathlib import Path

import pytest

from aforesaid.model.requests import Failure, Reply, Request, Unavailable, Usage
from aforesaid.providers import claude
from aforesaid.providers.base import PATIENCE, Model
from aforesaid.providers.claude import ClaudeAgent, Received

REQUEST = Request("You keep notes.", (), "What was done?", 100)
NOW = 1_700_000_000_000


def agent(folder: Path, *, seconds: float) -> ClaudeAgent:
    """Its client starts and never says a word."""
    mute = folder / "mute"
    mute.write_text("#!/bin/sh\nexec sleep 600\n")
    mute.chmod(0o700)
    return ClaudeAgent(
        model="haiku", seconds=seconds, clock=lambda: NOW, cwd=folder / "agent", cli=str(mute)
    )


async def speaking_after(
    _: ClaudeAgent, pauses: tuple[float, ...], client: object, request: Request, received: Received
) -> Reply | Failure:
    """A client that has a word every so often: `pauses` seconds before each, and then the answer."""
    received.sent = 1
    for pause in pauses:
        await asyncio.sleep(pause)
        received.heard_at = time.monotonic()
    return Reply("Done.", "haiku", Usage(1, 0, 0, 1))


@pytest.mark.parametrize(
    ("seconds", "pauses", "why"),
    [
        (3, (0.7,) * 5, None),
        (0.5, (0.2, 600), "said nothing for 0.5 s"),
        (1, (0.1,) * 200, "not complete after 5 s"),
    ],
    ids=["speaks on", "falls silent", "never ends"],
)
def test_a_model_that_speaks_is_waited_for_up_to_the_longest_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    pauses: tuple[float, ...],
    why: str | None,
) -> None:
    monkeypatch.setattr(ClaudeAgent, "_talk", partialmethod(speaking_after, pauses))
    monkeypatch.setattr(claude, "TO_LEAVE", 0.1)
    made = agent(tmp_path, seconds=seconds)
    answer = made.ask(REQUEST)
    made.close()
    if why is None:
        assert isinstance(answer, Reply)
    else:
        assert isinstance(answer, Unavailable)
        assert why in answer.why
        assert answer.usage is not None
        assert answer.usage.estimated


def test_a_client_that_never_says_a_word_is_left_and_nothing_was_paid(tmp_path: Path) -> None:
    made = agent(tmp_path, seconds=0.5)
    answer = made.ask(REQUEST)
    assert isinstance(answer, Unavailable)
    assert "said nothing" in answer.why
    assert answer.usage is None
    made.close()


def test_it_may_be_closed_from_many_threads_at_once(tmp_path: Path) -> None:
    made: Model = agent(tmp_path, seconds=60)
    answers: list[object] = []
    raised: list[object] = []

    def close() -> None:
        try:
            made.close()
        except BaseException as error:
            raised.append(error)

    asking = threading.Thread(target=lambda: answers.append(made.ask(REQUEST)))
    asking.start()
    while not (tmp_path / "agent").is_dir():
        threading.Event().wait(0.01)
    closing = [threading.Thread(target=close) for _ in range(8)]
    for thread in closing:
        thread.start()
    for thread in (*closing, asking):
        thread.join(60)
        assert not thread.is_alive()
    assert isinstance(answers[0], Unavailable)
    assert raised == []
    made.close()
    assert isinstance(made.ask(REQUEST), Unavailable)


def test_the_longest_time_covers_the_whole_answer_and_the_end_of_its_process(
    tmp_path: Path,
) -> None:
    assert agent(tmp_path, seconds=100).longest_seconds > PATIENCE * 100
