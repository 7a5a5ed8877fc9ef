"""What events say, for the index of last resort."""

from aforesaid.model.events import (
    CommandRun,
    Event,
    Failure,
    FileChanged,
    FileRead,
    Happening,
    Hunk,
    OtherTool,
    SessionEnded,
    ToolUsed,
    TurnEnded,
)
from aforesaid.worker.indexing import LONGEST, event_text
from tests.support.tables import loop_over


def event(what: Happening) -> Event:
    return Event("claude-code", "s", "k", what, None, None, "/p", None)


def used(
    action: CommandRun | FileChanged | FileRead | OtherTool, failure: Failure | None = None
) -> Event:
    return event(ToolUsed("Tool", "u", action, failure, None))


@loop_over(
    ("happened", "said"),
    [
        (
            used(CommandRun("make test", "run it", "3 passed", "warn", False)),
            ("make test", "3 passed", "warn"),
        ),
        (
            used(FileChanged("a.py", False, (Hunk(1, 1, ("-old", "+new")),), None, None)),
            ("a.py", "old", "new"),
        ),
        (used(FileChanged("a.py", True, (), None, "all of it")), ("a.py", "all of it")),
        (used(FileRead("a.py", 1, 2, 2, "content")), ("a.py", "content")),
        (used(OtherTool("query", "answer")), ("query", "answer")),
        (used(OtherTool("q", ""), Failure("it broke", 1, False)), ("it broke",)),
        (event(TurnEnded("all done")), ("all done",)),
    ],
)
def test_what_was_done_and_what_came_of_it(happened: Event, said: tuple[str, ...]) -> None:
    text = event_text(happened)
    assert all(part in text for part in said)


def test_what_frames_a_turn_says_nothing() -> None:
    assert event_text(event(SessionEnded("exit"))) == ""


def test_a_huge_output_is_cut() -> None:
    assert len(event_text(used(CommandRun("c", None, "x" * 10**6, "", False)))) <= LONGEST


def test_a_long_event_is_cut_at_a_word_and_marked() -> None:
    text = event_text(used(CommandRun("cat", None, "lorem ipsum " * 1_000, "", False)))
    assert len(text) <= LONGEST
    assert text.endswith(("lorem…", "ipsum…"))
