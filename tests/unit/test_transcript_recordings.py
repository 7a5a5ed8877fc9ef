"""Transcripts of the real client, read and compared with what its hooks were told of the same sessions."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.model.events import Event, Failure, ToolUsed, TranscriptEvent
from tests.support.tables import loop_over
from tests.support.transcripts import FIXTURES, SESSIONS, comparable, of_hooks, of_transcripts

NAMES = [session.__name__ for session in SESSIONS]
# What no hook tells: calls that the client refused, that the user stopped, or that it did not live to end.
UNTOLD = {
    "plain": ["String to replace not found in file.\nString: nonesuch"],
    "killed_and_resumed": [
        "[Tool call interrupted: the session ended before this call's result was recorded]"
    ],
    "escaped": ["[Request interrupted by user for tool use]"],
}


def payloads(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (FIXTURES / name / "hooks.jsonl").read_text().splitlines()]


def unplaced(events: Iterable[Event]) -> list[Event]:
    """The recordings lie elsewhere than the sessions did."""
    return [replace(event, transcript=None) for event in events]


def failure(event: Event) -> Failure | None:
    return event.what.failure if isinstance(event.what, ToolUsed) else None


@loop_over("name", NAMES)
def test_a_transcript_tells_what_the_hooks_told(name: str) -> None:
    told = unplaced(e for e in of_transcripts(FIXTURES / name / "home") if e.kind != "message")
    hooks = unplaced(of_hooks(payloads(name)))

    more = [event for event in told if event not in hooks]
    assert [event for event in told if event in hooks] == hooks
    assert [f.error for event in more if (f := failure(event))] == UNTOLD.get(name, [])
    assert len(more) == len(UNTOLD.get(name, []))


@loop_over("name", NAMES)
def test_reading_goes_on_after_any_happening(name: str) -> None:
    for file in ClaudeCode().transcripts({"HOME": str(FIXTURES / name / "home")}):
        whole = list(ClaudeCode().read_transcript(file, None))
        for number, told in enumerate(whole, start=1):
            rest = list(ClaudeCode().read_transcript(file, told.mark))
            assert untouched(rest) == untouched(whole[number:]), f"after {number}"


def untouched(told: list[TranscriptEvent]) -> list[tuple[str, Event]]:
    return [(t.capture.id, comparable(t.event)) for t in told]


def test_a_call_that_nobody_ended_is_told_when_the_file_has_been_quiet_for_a_day() -> None:
    at_once = of_transcripts(FIXTURES / "killed" / "home")
    later = of_transcripts(FIXTURES / "killed" / "home", quiet=True)

    assert [event.kind for event in at_once] == ["prompt", "tool"]
    assert [event.kind for event in later] == ["prompt", "tool", "tool"]
    found = failure(later[-1])
    assert found is not None
    assert found.interrupted
    assert later[-1].prompt_id == later[0].prompt_id


def test_a_forks_copied_lines_are_told_by_its_parent_alone() -> None:
    told = of_transcripts(FIXTURES / "forked" / "home")

    tools = [event.key for event in told if event.kind == "tool"]
    assert len(tools) == len(set(tools)) == 3
    fork = {event.session for event in told} - {told[0].session}
    assert [event.kind for event in told if event.session in fork] == ["prompt", "tool", "stop"]


def test_a_session_says_where_it_began(tmp_path: Path) -> None:
    (file,) = ClaudeCode().transcripts({"HOME": str(FIXTURES / "plain" / "home")})
    told = list(ClaudeCode().read_transcript(file, None))

    assert file.cwd == "/home/dev/project"
    assert {t.capture.project_dir for t in told} == {"/home/dev/project"}
    assert told[-1].event.cwd == "/home/dev/project/sub"
    assert {(t.event.kind, t.capture.hook) for t in told} == {
        ("prompt", "new"),
        ("message", "save"),
        ("tool", "save"),
        ("stop", "summary"),
    }
