"""What sessions were told at their start is recorded, though the question comes before the session."""

import json
from pathlib import Path

import pytest

from aforesaid.clock import MINUTE
from aforesaid.errors import StoreDamaged
from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.hook_answers import HookAnswers
from tests.support import briefs as briefs_support
from tests.support import history
from tests.support.arrivals import Told
from tests.support.memory import Memory
from tests.support.stub_model import FakeClock

DIRECTORY = "/home/dev/shop"


@pytest.fixture
def clock(memory: Memory) -> FakeClock:
    memory.turn("p", ObservationDraft("change", "Known", files_modified=("app.py",)))
    memory.turn("q", summary=SummaryDraft("q", completed="It"))
    return FakeClock(memory.at + MINUTE)


@pytest.fixture
def briefs(home: Paths, store: Store, clock: FakeClock) -> HookAnswers:
    return briefs_support.made(home, store, clock)


def ask(briefs: HookAnswers, event: str, hook: str, *, heard: bool = True, **fields: str) -> bytes:
    body = {"session_id": "new", "hook_event_name": event, "cwd": DIRECTORY} | fields
    header = f"aforesaid/1 claude-code {hook} {DIRECTORY}\0\n"
    answer = briefs.answer(header.encode() + json.dumps(body).encode())
    answer.done(heard)
    return answer.text


def told(memory: Memory) -> list[tuple[str, str, int]]:
    found = memory.store.injections.for_session(memory.session("new").id)
    return [(one.hook, one.kind, one.at) for one in found]


def begin(memory: Memory) -> None:
    memory.store.events.add([Told(memory.project_id, session="new").start()], memory.at)


def test_the_brief_is_recorded_as_soon_as_its_session_is_known(
    briefs: HookAnswers, memory: Memory, clock: FakeClock
) -> None:
    assert b"Known" in ask(briefs, "SessionStart", "context", source="startup")
    briefs.record_notes()
    begin(memory)
    assert told(memory) == []
    at, clock.at = clock.at, clock.at + 500
    briefs.record_notes()
    assert told(memory) == [("context", "summary", at), ("context", "observation", at)]
    briefs.record_notes()
    assert len(told(memory)) == 2


def test_a_session_that_never_comes_is_forgotten(
    briefs: HookAnswers, memory: Memory, clock: FakeClock
) -> None:
    ask(briefs, "SessionStart", "context", source="startup")
    clock.at += 2 * MINUTE
    briefs.record_notes()
    begin(memory)
    briefs.record_notes()
    assert told(memory) == []


def test_a_resumed_session_is_told_nothing(briefs: HookAnswers, memory: Memory) -> None:
    begin(memory)
    assert ask(briefs, "SessionStart", "context", source="resume") == b""
    briefs.record_notes()
    assert told(memory) == []


def test_what_a_prompt_is_told_is_recorded(
    briefs: HookAnswers, memory: Memory, clock: FakeClock
) -> None:
    begin(memory)
    history.remember(memory.store, memory.project_id)
    answered = ask(briefs, "UserPromptSubmit", "new", prompt=history.NEEDED)
    assert history.TOLD.encode() in answered
    briefs.record_notes()
    assert set(told(memory)) == {("new", "observation", clock.at)}
    assert ask(briefs, "UserPromptSubmit", "new", prompt=history.UNRELATED) == b""


def test_what_a_hook_did_not_wait_for_was_not_told(briefs: HookAnswers, memory: Memory) -> None:
    begin(memory)
    history.remember(memory.store, memory.project_id)

    def both(heard: bool) -> None:
        brief = ask(briefs, "SessionStart", "context", heard=heard, source="startup")
        near = ask(briefs, "UserPromptSubmit", "new", heard=heard, prompt=history.NEEDED)
        assert b"aforesaid-memory" in brief
        assert b"aforesaid-memory" in near
        briefs.record_notes()

    both(heard=False)
    assert told(memory) == []
    both(heard=True)
    assert {hook for hook, _, _ in told(memory)} == {"context", "new"}


def test_a_broken_index_does_not_cost_the_brief(
    briefs: HookAnswers, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def broken(*_: object) -> object:
        asked.append(True)
        raise StoreDamaged("malformed")

    monkeypatch.setattr(briefs.context.searcher, "find", broken)
    memory.turn("r", summary=SummaryDraft("r", next_steps="Mend the pump"))
    body = {"session_id": "new", "hook_event_name": "SessionStart", "source": "startup"}
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(briefs.context.projects, "of", lambda _: memory.project_id)
    header = f"aforesaid/1 claude-code context {tmp_path / 'here'}\0\n"
    answered = briefs.answer(header.encode() + json.dumps(body | {"cwd": str(tmp_path)}).encode())
    assert asked
    assert b"Mend the pump" in answered.text
