"""Turns as they are built from what is stored, from recorded payloads to a provider's eyes."""

import json
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.agents.registry import AGENTS
from aforesaid.model.events import Capture, StoredEvent, SubagentEnded, ToolUsed
from aforesaid.model.observations import Turn
from aforesaid.paths import Paths
from aforesaid.providers.rules import Rules
from aforesaid.store.events import Events
from aforesaid.store.store import Store
from aforesaid.synthesis.turn import build_turn
from aforesaid.worker.ingest import Ingest
from tests.support.blank import laid
from tests.support.context import make_context
from tests.support.stored import events_of

PAYLOADS = Path(__file__).parents[1] / "fixtures" / "payloads"
FINDING = (
    "The tax table is loaded twice: once in `tax.py` when the module is imported and once in `api.py` for "
    "every request, because `handle()` calls `load_table()` instead of using the one that is there. Keeping "
    "the first one and dropping the call in `handle()` would make each request three times as fast."
)


def recorded(name: str, **changes: object) -> bytes:
    """A payload of the real client, put into one session."""
    payload = json.loads((PAYLOADS / f"{name}.json").read_text())
    return json.dumps(payload | {"session_id": "s1", "prompt_id": "p1"} | changes).encode()


def built(home: Paths, *bodies: bytes) -> list[Turn]:
    """The turns of every job that these payloads come to."""
    store = Store(laid(home.database), writer=True)
    ingest = Ingest(make_context(home, store, clock.now))
    header = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
    for number, body in enumerate(bodies):
        (home.spool_new / f"{number:03}").write_bytes(header + body)
    ingest.drain()
    found = []
    now = clock.now()
    while job := store.jobs.claim("test", now, now + 1000):
        session = store.sessions.get(job.session_id)
        assert session is not None
        found.append(build_turn(store, AGENTS, job, session))
        store.jobs.skip(job, "seen", now)
    store.close()
    return found


def test_what_a_sub_agent_found_reaches_the_provider(home: Paths) -> None:
    agent = {"agent_id": "a1", "agent_type": "Explore"}
    observe, summarize = built(
        home,
        recorded("UserPromptSubmit", prompt="Why is the tax slow?"),
        recorded("PostToolUse.Read", **agent),
        recorded("SubagentStop.general-purpose", last_assistant_message=FINDING, **agent),
        recorded("Stop", last_assistant_message="See what the agent found."),
    )
    for turn in (observe, summarize):
        assert [type(e.event.what) for e in turn.events] == [ToolUsed, SubagentEnded]
    texts = str(Rules().observe(observe))
    assert "loaded twice" in texts
    assert "Explore" in texts


def test_a_turn_that_stopped_twice_has_both_messages(home: Paths) -> None:
    *_, turn = built(
        home,
        recorded("UserPromptSubmit"),
        recorded("PostToolUse.Edit"),
        recorded("Stop", last_assistant_message="Next: mend the gate."),
        recorded("Stop", last_assistant_message="The background task is done."),
    )
    assert turn.last_message == "Next: mend the gate.\n\nThe background task is done."
    assert [type(e.event.what) for e in turn.events] == [ToolUsed]
    assert not turn.interrupted


def test_a_turn_without_a_stop_is_interrupted(home: Paths) -> None:
    turn, _ = built(
        home,
        recorded("UserPromptSubmit"),
        recorded("PostToolUse.Edit"),
        recorded("SessionEnd"),
    )
    assert turn.interrupted
    assert turn.last_message is None


def test_only_the_summary_reads_all_of_a_long_turn(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the time for a turn would grow with the square of its length."""
    whole, read = Events.for_prompt, list[int]()

    def counted(
        events: Events, session_id: int, number: int, kind: str | None = None
    ) -> list[StoredEvent]:
        if kind is None:
            read.append(number)
        return whole(events, session_id, number, kind)

    monkeypatch.setattr(Events, "for_prompt", counted)
    used = (recorded("PostToolUse.Read", tool_use_id=f"t{number}") for number in range(100))
    stop = recorded("Stop", last_assistant_message="All read.")
    found = built(home, recorded("UserPromptSubmit"), *used, stop)
    assert [len(turn.events) for turn in found] == [30, 30, 30, 10, 100]
    assert {(turn.last_message, turn.at) for turn in found} == {("All read.", found[-1].at)}
    assert read == [1]


def test_the_store_gives_back_the_bytes_that_came(home: Paths) -> None:
    body = recorded("PostToolUse.Bash")
    built(home, body)
    store = Store(home.database, writer=False)
    (event,) = events_of(store, 1)
    store.close()
    assert isinstance(event.capture, Capture)
    assert event.capture.body == body
