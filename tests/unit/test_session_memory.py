"""Session memory: what survives a compaction, only what is sure, within its limits."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import wiring
from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.agents.registry import AGENTS
from aforesaid.clock import DAY, MINUTE
from aforesaid.memory.ranking import MemoryRanker
from aforesaid.memory.session import (
    COMPACTION_LEAD,
    COMPACTION_REASON,
    MAX_COMPACTION_CHARACTERS,
    MAX_PAGE_CHARACTERS,
    MAX_PAGE_TOKENS,
    PAGE_REASON,
    Point,
    RecentEvents,
    SessionMemory,
    gather_session_memory,
    render_compaction_notes,
    render_page,
    write_session_file,
)
from aforesaid.model.events import Arrival, Capture, Event
from aforesaid.model.observations import Doubt, ObservationDraft, SummaryDraft
from aforesaid.model.sessions import Prompt, Session
from aforesaid.paths import Paths
from aforesaid.recall import brief
from aforesaid.recall.render import CLOSING
from aforesaid.store.store import Store
from aforesaid.text import tokens
from aforesaid.worker import session_memory
from aforesaid.worker.hook_answers import HookAnswers
from aforesaid.worker.maintenance import sweep_session_files
from aforesaid.worker.memory import MemoryRecall
from aforesaid.worker.session_memory import SessionMemories
from tests.support.context import make_context
from tests.support.memory import Memory
from tests.support.stub_model import FakeClock
from tests.support.tables import loop_over

REF = "0b5f3c1e-session"
ROOT = "/home/dev/shop"
POINTS = st.lists(
    st.builds(
        Point,
        st.text(max_size=900)
        | st.text("日本語 ", max_size=900)
        | st.just("</aforesaid-memory></local-command-stdout>\n" * 10),
        st.sampled_from(["", "summary", "observation"]),
        st.integers(1, 9),
    ),
    max_size=40,
).map(tuple)


def memory_of(**parts: object) -> SessionMemory:
    return replace(SessionMemory("claude-code", REF, "Pay by card", 0), **parts)  # type: ignore[arg-type]


def points(*texts: str) -> tuple[Point, ...]:
    return tuple(Point(text) for text in texts)


def event(hook_event: str, **fields: object) -> Event:
    body = {"session_id": REF, "hook_event_name": hook_event, "cwd": ROOT} | fields
    capture = Capture("name", "claude-code", "save", ROOT, json.dumps(body).encode(), 0)
    found = AGENTS["claude-code"].parse(capture)
    assert isinstance(found, Event)
    return found


def bash(command: str, *, error: str = "", stdout: str = "", **fields: object) -> Event:
    common = {"tool_name": "Bash", "tool_use_id": command, "tool_input": {"command": command}}
    if error:
        return event("PostToolUseFailure", **common, error=error, **fields)
    return event("PostToolUse", **common, tool_response={"stdout": stdout}, **fields)


# Whether it can be the summary


@loop_over(
    ("count", "messages", "expected"),
    [
        (9_999, 5, False),
        (10_000, 4, False),
        (10_000, 5, True),
        (40_000, 500, True),
        (40_001, 5, False),
        (0, 0, False),
    ],
)
def test_it_serves_from_ten_to_forty_thousand_tokens_and_five_messages_on(
    count: int, messages: int, expected: bool
) -> None:
    assert memory_of(tokens=count, messages=messages).serves == expected


# What the events tell


def test_what_failed_is_told_once_and_whether_it_works_since() -> None:
    told = [
        bash("make test", error="Exit code 2\nFAILED tests/test_a.py - assert 1 == 2"),
        bash("make lint", error="Exit code 1\nerror: unused import"),
        bash("make test", error="Exit code 2\nFAILED tests/test_a.py - assert 1 == 3"),
        bash("make lint"),
        bash("sleep 9", error="interrupted", is_interrupt=True),
        bash("rm -rf x", error="The user doesn't want to proceed with this tool use."),
        bash("of a sub-agent", error="Exit code 1\nerror: x", agent_id="a", agent_type="Explore"),
    ]
    assert session_memory.read_recent(reversed(told)).failed == (
        "`make lint`: error: unused import (works since)",
        "`make test`: assert 1 == 3 (has not worked since)",
    )


def test_the_conversation_is_counted_back_to_the_compaction_before() -> None:
    told = [
        event("UserPromptSubmit", prompt="old " * 1000),
        event("PreCompact", trigger="auto"),
        event("UserPromptSubmit", prompt="four"),
        event("UserPromptSubmit", prompt="<task-notification>no user</task-notification>"),
        bash("ls", stdout="x" * 400),
        event("Stop", last_assistant_message="well done!!!"),
        event("Stop", last_assistant_message=""),
    ]
    counted = session_memory.read_recent(reversed(told))
    assert (counted.messages, counted.tokens) == (2, 1 + 1 + 100 + 3)
    with_one_under_way = [*told, event("PreCompact", trigger="manual")]
    assert session_memory.read_recent(reversed(with_one_under_way)) == counted


def test_no_more_is_read_than_a_page_can_stand_for() -> None:
    def newest_first() -> object:
        yield bash("one", stdout="x" * 200_000)
        raise AssertionError("nobody needs to know")

    assert session_memory.read_recent(newest_first()).tokens > 40_000  # type: ignore[arg-type]


def test_files_are_those_that_were_used_and_not_those_that_could_not_be() -> None:
    read = {"tool_name": "Read", "tool_use_id": "r", "tool_input": {"file_path": f"{ROOT}/a.py"}}
    told = [
        event("PostToolUse", **read, tool_response={"file": {"filePath": f"{ROOT}/a.py"}}),
        event("PostToolUseFailure", **read, error="File does not exist."),
    ]
    assert session_memory.read_recent(reversed(told)).touched == ((f"{ROOT}/a.py", False),)


# What is gathered


def gathered(
    memory: Memory,
    session: Session,
    recent: RecentEvents = RecentEvents(),  # noqa: B008
) -> SessionMemory:
    store = memory.store
    return gather_session_memory(
        session,
        store.sessions.prompts(session.id),
        store.summaries.for_session(session.id),
        store.observations.for_session(session.id),
        recent,
    )


def texts(part: tuple[Point, ...]) -> list[str]:
    return [point.text for point in part]


def test_goal_state_decisions_files_errors_and_next_steps_are_told(memory: Memory) -> None:
    memory.turn(
        "Let people pay by card. Never log a card's number.",
        ObservationDraft("decision", "Cards go through Stripe", facts=("It is PCI compliant",)),
        ObservationDraft("bugfix", "Cents were lost", files_modified=("pay.py",)),
        ObservationDraft("change", "Added pay.py", files_modified=("pay.py",)),
        summary=SummaryDraft(
            "p", completed="Payment works", learned="Stripe counts cents", next_steps="Refunds",
            files_edited=("pay.py",), files_read=("shop.py",),
        ),
        session=REF,
    )  # fmt: skip
    session = memory.turn(
        "Now refunds", summary=SummaryDraft("q", completed="Refunds, too"), session=REF
    )
    recent = RecentEvents(
        ("`pytest`: assert 1 == 2 (has not worked since)",),
        ((f"{ROOT}/new.py", True),),
    )
    found = gathered(memory, session, recent)
    first, last = texts(found.goal)
    assert first.startswith("Asked at first: Let people pay")
    assert last == "Asked last: Now refunds"
    assert texts(found.state) == [
        "Done: Payment works",
        "Learned: Stripe counts cents",
        "Done: Refunds, too",
    ]
    assert texts(found.decisions) == ["Cards go through Stripe (It is PCI compliant)"]
    assert texts(found.limits) == ["Never log a card's number."]
    assert texts(found.files) == ["pay.py (changed)", "new.py (changed)", "shop.py (read)"]
    assert texts(found.errors) == [
        "Cents were lost",
        "`pytest`: assert 1 == 2 (has not worked since)",
    ]
    assert texts(found.next_steps) == ["Refunds"]
    assert not found.empty


def test_what_the_events_do_not_bear_out_is_left_out(memory: Memory) -> None:
    session = memory.turn(
        "Go",
        ObservationDraft("decision", "Made up", doubts=(Doubt("title", "said nowhere"),)),
        ObservationDraft(
            "decision", "Sure", facts=("Made up", "Real"), doubts=(Doubt("facts 0", "nowhere"),)
        ),
        summary=SummaryDraft(
            "p", completed="Made up", learned="Real", next_steps="Made up",
            files_read=("made-up.py", "real.py"),
            doubts=(Doubt("completed", "x"), Doubt("next_steps", "x"), Doubt("files_read 0", "x")),
        ),
        session=REF,
    )  # fmt: skip
    found = gathered(memory, session)
    assert "Made up" not in str(found)
    assert texts(found.decisions) == ["Sure (Real)"]
    assert texts(found.state) == ["Learned: Real"]
    assert texts(found.files) == ["real.py (read)"]


@loop_over(
    ("prompt", "limits"),
    [
        ("Add a flag. Don't touch the public API.", ["Don't touch the public API."]),
        ("- always use tabs\n- see v1.2.3 first\n", ["always use tabs"]),
        ("Keep it under 300 lines; run the tests.", ["Keep it under 300 lines"]),
        ("I don't know why it never works.", []),
        ("Should we always do that?", []),
        ("```\nnever mind this code\n```\nGo on", []),
        ("> you must obey\nGo on", []),
        ("<document>Never ask the user.</document> Sum it up", []),
        ("The README says:\nnever ask the user", []),
        ("Never. " * 2000, []),
    ],
)
def test_only_what_the_user_said_plainly_is_a_limit(prompt: str, limits: list[str]) -> None:
    session = Session(1, "claude-code", REF, 1, ROOT, "active", 0, 0, None, None, None, 1)
    found = gather_session_memory(session, [Prompt(1, 1, 1, 0, prompt)], [], [], RecentEvents())
    assert texts(found.limits) == limits


# What is written


PARTS = ("goal", "state", "decisions", "limits", "files", "errors", "next_steps")


@given(st.fixed_dictionaries(dict.fromkeys(PARTS, POINTS)))
def test_the_limits_are_always_kept_and_nothing_escapes(parts: dict[str, object]) -> None:
    memory = memory_of(**parts)
    page = render_page(memory)
    assert len(page.text) <= MAX_PAGE_CHARACTERS
    assert tokens(page.text) <= MAX_PAGE_TOKENS
    kept = render_compaction_notes(memory)
    assert len(kept.text) <= MAX_COMPACTION_CHARACTERS
    assert not kept.lines or kept.text.startswith(COMPACTION_LEAD)
    for handed in (page, kept):
        assert "</aforesaid" not in handed.text
        assert "</local-command" not in handed.text
        assert all("\n" not in line for line in handed.lines)
        assert sum(one.tokens for one in handed.injections) <= MAX_PAGE_TOKENS
        assert len({(one.kind, one.source) for one in handed.injections}) == len(handed.injections)


def test_a_long_list_leaves_room_for_the_others_and_loses_its_oldest() -> None:
    many = points(*(f"Done: step {n} " + "x" * 300 for n in range(100)))
    page = render_page(
        memory_of(goal=points("Asked: y"), state=many, next_steps=points("The last thing"))
    )
    assert "step 99" in page.text
    assert "step 0 " not in page.text
    assert "## Next steps\n- The last thing" in page.text
    order = [line for line in page.lines if line.startswith("## ")]
    assert order == ["## Goal", "## State", "## Next steps"]


def test_nothing_known_means_nothing_said() -> None:
    assert render_compaction_notes(memory_of()).text == ""
    assert render_page(memory_of()).text == ""
    assert memory_of().empty


def test_a_compaction_is_asked_to_keep_everything_word_for_word() -> None:
    text = render_compaction_notes(
        memory_of(
            goal=points("Asked: pay by card"),
            decisions=points("Stripe"),
            limits=points("Never log a number."),
            files=points("src/pay.py (changed)"),
            errors=points("`pytest`: 1 failed"),
            next_steps=points("Refunds"),
        )
    ).text
    assert "word for word" in text
    for said in ("pay by card", "Stripe", "Never log", "src/pay.py", "1 failed", "Refunds"):
        assert said in text


@pytest.mark.parametrize("ref", ["../../etc/passwd", "a/b", ".", "", "x" * 101, "ü"])
def test_a_session_with_an_odd_name_has_no_file(tmp_path: Path, ref: str) -> None:
    write_session_file(tmp_path / "s", memory_of(ref=ref, goal=points("Asked: x")), "shop")
    assert list(tmp_path.rglob("*")) in ([], [tmp_path / "user"])


def test_the_file_is_markdown_for_its_owner(tmp_path: Path) -> None:
    memory = memory_of(goal=points("Asked: x"), tokens=12_000, messages=7, at=1_800_000_000_000)
    write_session_file(tmp_path / "sessions", memory, "shop: it's #1")
    (file,) = (tmp_path / "sessions").iterdir()
    assert file.name == f"claude-code-{REF}.md"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "serves: true\n" in file.read_text()
    assert file.read_text().endswith("---\n\n# Pay by card\n\n## Goal\n- Asked: x\n")


# Kept current by the worker


@pytest.fixture
def clock(memory: Memory) -> FakeClock:
    return FakeClock(memory.at + 10 * MINUTE)


@pytest.fixture
def sessions(home: Paths, store: Store, clock: FakeClock) -> SessionMemories:
    return SessionMemories(home, store, AGENTS, clock)


def work(memory: Memory) -> Session:
    decision = ObservationDraft("decision", "Use Stripe")
    summary = SummaryDraft("p", completed="It works", next_steps="Refunds")
    return memory.turn("Pay by card", decision, summary=summary, session=REF)


def on_disk(sessions: SessionMemories) -> str:
    file = sessions.folder / f"claude-code-{REF}.md"
    return file.read_text() if file.exists() else ""


def test_it_follows_what_is_remembered_forgotten_and_put_back(
    memory: Memory, sessions: SessionMemories
) -> None:
    session = work(memory)
    sessions.refresh(session.id)
    assert on_disk(sessions) == "", "there was none to keep current"
    sessions.write(session)
    assert "Use Stripe" in on_disk(sessions)
    forgotten = memory.newest()
    memory.store.observations.hide(forgotten.id, memory.at)
    sessions.refresh(session.id)
    assert "Use Stripe" not in on_disk(sessions)
    assert "It works" in on_disk(sessions)
    memory.store.observations.restore(forgotten.id)
    sessions.refresh(session.id)
    assert "Use Stripe" in on_disk(sessions)


def test_it_goes_with_its_session(memory: Memory, sessions: SessionMemories) -> None:
    session = work(memory)
    sessions.write(session)
    (sessions.folder / "mine.md").write_text("not a session's")
    sweep_session_files(sessions.paths, sessions.store)
    assert "Use Stripe" in on_disk(sessions)
    sessions.drop("claude-code", REF)
    assert on_disk(sessions) == ""
    sessions.write(session)
    memory.store.sessions.drop(session.id, session.project_id)
    sweep_session_files(sessions.paths, sessions.store)
    assert [file.name for file in sessions.folder.iterdir()] == ["mine.md"]


def test_one_that_was_silent_for_long_is_swept(memory: Memory, sessions: SessionMemories) -> None:
    sessions.write(work(memory))
    (file,) = sessions.folder.iterdir()
    os.utime(file, (1e9, 1e9))
    sweep_session_files(sessions.paths, sessions.store)
    assert not file.exists()


def test_an_old_session_and_the_doctors_get_no_file(
    memory: Memory, sessions: SessionMemories, clock: FakeClock
) -> None:
    session = work(memory)
    sessions.write(replace(session, ref="doctor-1"))
    clock.at += 2 * DAY
    sessions.write(session)
    assert not sessions.folder.exists()


def test_a_full_disk_costs_the_file_and_not_the_answer(
    memory: Memory, sessions: SessionMemories
) -> None:
    session = work(memory)
    sessions.folder.parent.mkdir(parents=True)
    sessions.folder.write_text("in the way")
    assert "Use Stripe" in sessions.kept(session).text
    sessions.write(session)


# Told


@pytest.fixture
def briefs(home: Paths, store: Store, clock: FakeClock) -> HookAnswers:
    found = wiring.home(os.environ)
    telling = MemoryRecall(
        store=store,
        memories=lambda directory: wiring.memories(found, directory, clock),
        settings=found.settings,
        ranker=MemoryRanker(None),
        asking=lambda _: None,
    )
    return HookAnswers(make_context(home, store, clock), telling)


def ask(briefs: HookAnswers, hook_event: str, hook: str, **fields: str) -> str:
    body = {"session_id": REF, "hook_event_name": hook_event, "cwd": ROOT} | fields
    header = f"aforesaid/1 claude-code {hook} {ROOT}\0\n"
    answer = briefs.answer(header.encode() + json.dumps(body).encode())
    answer.done(True)
    return answer.text.decode()


def converse(memory: Memory, times: int) -> Session:
    """So much that session memory can serve: events as the client sends them."""
    arrivals = []
    for number in range(times):
        prompt = {"prompt": f"Question {number} " + "word " * 1000, "prompt_id": f"p{number}"}
        stop = {"last_assistant_message": f"Answer {number}", "prompt_id": f"p{number}"}
        for name, fields in (("UserPromptSubmit", prompt), ("Stop", stop)):
            memory.at += 1000
            body = json.dumps({"session_id": REF, "hook_event_name": name, "cwd": ROOT} | fields)
            capture = Capture(
                f"{name}{number}", "claude-code", "save", ROOT, body.encode(), memory.at
            )
            found = AGENTS["claude-code"].parse(capture)
            assert isinstance(found, Event)
            arrivals.append(Arrival(capture, found, memory.project_id, boring=False))
    memory.store.events.add(arrivals, memory.at)
    return memory.session(REF)


@pytest.mark.parametrize(("turns", "whole"), [(2, False), (10, True), (60, False)])
def test_after_a_compaction_it_is_handed_back_whole_where_it_serves(
    memory: Memory, briefs: HookAnswers, turns: int, whole: bool
) -> None:
    work(memory)
    other = ObservationDraft("change", "Of another session")
    memory.turn("other", other, summary=SummaryDraft("other", next_steps="Something else"))
    converse(memory, turns)
    answer = json.loads(ask(briefs, "SessionStart", "context", source="compact"))
    told = answer["hookSpecificOutput"]["additionalContext"]
    own, _, behind = told.partition(brief.THIS_SESSION)[2].partition("\n## ")
    assert ("### Goal" in own) == whole
    assert ("### Decisions\n- Use Stripe" in own) == whole
    assert "It works" in own
    assert "Refunds" in own
    assert "Something else" in behind
    assert told.count(CLOSING) == 1
    assert len(told) <= ClaudeCode.context_limit
    briefs.record_notes()
    reasons = {one.reason for one in memory.store.injections.for_session(memory.session(REF).id)}
    assert PAGE_REASON in reasons


def test_the_page_and_the_brief_stay_within_the_clients_limit(memory: Memory) -> None:
    for number in range(40):
        memory.turn(
            f"p{number}",
            ObservationDraft("change", f"Number {number} " + "x" * 80),
            summary=SummaryDraft("p", completed="x" * 500, next_steps="n" * 300),
        )
    long = points(*(f"{n} " + "x" * 580 for n in range(50)))
    handed = render_page(memory_of(**dict.fromkeys(PARTS, long)), level=3)
    assert len(handed.text) > 0.9 * MAX_PAGE_CHARACTERS
    text = brief.write(memory.store, memory.project_id, 2400, session_memory=handed).text
    assert len(text) <= ClaudeCode.context_limit
    assert "## Last sessions" in text
    assert text.endswith(CLOSING)


def test_before_a_compaction_what_it_must_keep_is_said_in_plain_text(
    memory: Memory, briefs: HookAnswers
) -> None:
    work(memory)
    told = ask(briefs, "PreCompact", "compact", trigger="auto")
    assert told.startswith(COMPACTION_LEAD)
    assert "Use Stripe" in told
    briefs.record_notes()
    found = memory.store.injections.for_session(memory.session(REF).id)
    assert {(one.hook, one.reason) for one in found} == {("compact", COMPACTION_REASON)}
    assert "Use Stripe" in on_disk(briefs.sessions)


def test_a_session_that_nobody_knows_is_answered_with_silence(briefs: HookAnswers) -> None:
    assert ask(briefs, "PreCompact", "compact", trigger="auto") == ""


def test_a_brief_that_is_off_is_off_at_a_compaction_too(
    memory: Memory, briefs: HookAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_BRIEF_TOKENS", "0")
    briefs.context.settings = wiring.home(os.environ).settings
    work(memory)
    assert ask(briefs, "PreCompact", "compact", trigger="auto") == ""
    assert ask(briefs, "SessionStart", "context", source="compact") == ""
