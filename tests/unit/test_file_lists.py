"""The answer before a file is opened, and the list that keeps the hook from asking in vain."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aforesaid import wiring
from aforesaid.clock import MINUTE
from aforesaid.hook import capture
from aforesaid.model.observations import ObservationDraft
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.hook_answers import HookAnswers
from tests.support import briefs as briefs_support
from tests.support.arrivals import Told
from tests.support.memory import Memory
from tests.support.stub_model import FakeClock

DIRECTORY = "/home/dev/shop"
KNOWN, UNKNOWN = f"{DIRECTORY}/app.py", f"{DIRECTORY}/other.py"


@pytest.fixture
def clock(memory: Memory) -> FakeClock:
    memory.turn("p", ObservationDraft("bugfix", "Mended it", files_modified=("app.py", "ü.py")))
    memory.store.events.add([Told(memory.project_id, session="new").start()], memory.at)
    return FakeClock(memory.at + MINUTE)


@pytest.fixture
def briefs(
    home: Paths, store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> HookAnswers:
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "none")  # nothing is searched for here
    return briefs_support.made(home, store, clock)


def ask(
    briefs: HookAnswers,
    hook: str,
    event: str,
    session: str = "new",
    heard: bool = True,
    **fields: object,
) -> bytes:
    body = {"session_id": session, "hook_event_name": event, "cwd": DIRECTORY} | fields
    header = f"aforesaid/1 claude-code {hook} {DIRECTORY}\0\n"
    answer = briefs.answer(header.encode() + json.dumps(body, ensure_ascii=False).encode())
    answer.done(heard)
    return answer.text


def open_file(
    briefs: HookAnswers, path: str = KNOWN, session: str = "new", *, heard: bool = True
) -> bytes:
    given = {"tool_name": "Read", "tool_input": {"file_path": path}}
    return ask(briefs, "file", "PreToolUse", session, heard, **given)


def listed(home: Paths, session: str = "new") -> list[str]:
    return (home.file_lists / session).read_text("utf-8").splitlines()


def test_what_is_known_is_answered_once_and_recorded(briefs: HookAnswers, memory: Memory) -> None:
    output = json.loads(open_file(briefs))["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse"
    assert "Mended it" in output["additionalContext"]
    assert open_file(briefs) == b""
    briefs.record_notes()
    (one,) = memory.store.injections.for_session(memory.session("new").id)
    assert (one.hook, one.reason) == ("file", "the agent opened app.py")
    assert open_file(briefs) == b""


def test_it_is_told_once_whichever_worker_answers(
    briefs: HookAnswers, home: Paths, store: Store, clock: FakeClock
) -> None:
    assert open_file(briefs)
    briefs.record_notes()
    another = briefs_support.made(home, store, clock)
    assert open_file(another) == b""


def test_what_a_hook_did_not_wait_for_is_listed_and_told_the_next_time(
    briefs: HookAnswers, memory: Memory, home: Paths
) -> None:
    ask(briefs, "new", "UserPromptSubmit", prompt="hello")
    briefs.record_notes()
    assert b"Mended it" in open_file(briefs, heard=False)
    briefs.record_notes()
    assert memory.store.injections.for_session(memory.session("new").id) == []
    assert f'"{KNOWN}"' in listed(home)
    assert b"Mended it" in open_file(briefs)
    briefs.record_notes()
    assert len(memory.store.injections.for_session(memory.session("new").id)) == 1


def test_a_question_that_failed_can_be_asked_again(
    briefs: HookAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(type(briefs.context.store.injections), "for_session", None)
        with pytest.raises(TypeError):
            open_file(briefs)
    assert b"Mended it" in open_file(briefs)


def test_a_file_is_told_of_again_after_a_compaction(
    briefs: HookAnswers, memory: Memory, home: Paths, clock: FakeClock
) -> None:
    assert open_file(briefs)
    briefs.record_notes()
    assert open_file(briefs) == b""
    session = Told(memory.project_id, session="new", at=clock.at + MINUTE, count=9)
    memory.store.events.add([session.compact()], session.at)
    clock.at = session.at + MINUTE
    assert open_file(briefs) == b""  # the compaction is under way
    ask(briefs, "context", "SessionStart", source="compact")
    briefs.record_notes()
    assert f'"{KNOWN}"' in listed(home)
    assert b"Mended it" in open_file(briefs)
    briefs.record_notes()
    assert open_file(briefs) == b""


def test_calls_at_once_are_told_once(briefs: HookAnswers) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: open_file(briefs), range(8)))
    assert len([answer for answer in answers if answer]) == 1


@pytest.mark.parametrize(
    ("event", "hook"), [("SessionStart", "context"), ("UserPromptSubmit", "new")]
)
def test_a_session_gets_the_list_of_what_it_may_ask(
    briefs: HookAnswers, home: Paths, event: str, hook: str
) -> None:
    ask(briefs, hook, event, source="startup", prompt="hello")
    briefs.record_notes()
    assert sorted(listed(home)) == [f'"{DIRECTORY}/app.py"', f'"{DIRECTORY}/ü.py"']
    assert (home.file_lists / "new").stat().st_mode & 0o777 == 0o600


def test_what_was_asked_is_off_the_list_and_stays_off(briefs: HookAnswers, home: Paths) -> None:
    ask(briefs, "new", "UserPromptSubmit", prompt="hello")
    briefs.record_notes()
    open_file(briefs)
    assert listed(home) == [f'"{DIRECTORY}/ü.py"']
    ask(briefs, "new", "UserPromptSubmit", prompt="go on")
    briefs.record_notes()
    assert listed(home) == [f'"{DIRECTORY}/ü.py"']


def test_a_question_without_a_list_brings_one(briefs: HookAnswers, home: Paths) -> None:
    assert open_file(briefs, UNKNOWN) == b""
    assert not home.file_lists.exists()
    briefs.record_notes()
    assert len(listed(home)) == 2


def test_a_session_that_is_not_known_is_told_nothing(briefs: HookAnswers, home: Paths) -> None:
    assert open_file(briefs, session="unheard-of") == b""
    briefs.record_notes()
    assert not home.file_lists.exists()


def test_without_tokens_nothing_is_told_and_nothing_asked(
    briefs: HookAnswers, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_RECALL_FILE_TOKENS", "0")
    briefs.context.settings = wiring.home(os.environ).settings
    assert open_file(briefs) == b""
    briefs.record_notes()
    assert listed(home) == []


@pytest.mark.parametrize("name", ["../../evil", "a/b", ".", "x" * 200, "é", "a\nb"])
def test_a_session_with_an_odd_name_has_no_list(
    briefs: HookAnswers, home: Paths, memory: Memory, name: str
) -> None:
    memory.store.events.add([Told(memory.project_id, session=name).start()], memory.at)
    assert b"Mended it" in open_file(briefs, session=name)
    before = set(home.state.rglob("*"))
    briefs.record_notes()
    assert set(home.state.rglob("*")) - before == set()


@pytest.mark.parametrize("name", ["app.py", "ü.py", 'a"b.py', "a\\b.py", "a\nb.py", "a\x7f\x01.py"])
def test_the_hook_finds_a_listed_file_in_its_payload(
    briefs: HookAnswers, home: Paths, memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    memory.turn("p", ObservationDraft("bugfix", "Odd", files_modified=(name,)))
    ask(briefs, "new", "UserPromptSubmit", prompt="hello")
    briefs.record_notes()
    home.socket.touch()
    asked: list[bytes] = []

    def answer(_run: str, request: bytes, _seconds: float) -> bytes:
        asked.append(request)
        return b"0.1.0\n"

    monkeypatch.setattr(capture, "ask", answer)
    for path in (f"{DIRECTORY}/{name}", UNKNOWN, f"{DIRECTORY}/{name}c"):
        body = json.dumps({"tool_input": {"file_path": path}}, ensure_ascii=False).encode()
        assert capture.about_file(str(home.state), "new", body) == b""
    assert len(asked) == 1


def test_a_path_that_is_no_text_is_left_out(
    briefs: HookAnswers, home: Paths, memory: Memory
) -> None:
    memory.turn("p", ObservationDraft("bugfix", "Odd", files_modified=(os.fsdecode(b"\xff.py"),)))
    ask(briefs, "new", "UserPromptSubmit", prompt="hello")
    briefs.record_notes()
    assert f'"{DIRECTORY}/app.py"' in listed(home)
    assert Path(home.file_lists / "new").read_bytes().decode()
