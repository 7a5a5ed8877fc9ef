"""Sessions in a terminal: several prompts in one client, and the Esc key."""

import pytest

from aforesaid.model.events import SessionEnded, TurnEnded
from aforesaid.model.sessions import ACTIVE, COMPLETED
from tests.acceptance.conftest import OpenTerminal
from tests.acceptance.product import Installation, bash, write
from tests.support.client import until
from tests.support.scripted_api import ScriptedApi, Text
from tests.support.terminal import Terminal

pytestmark = pytest.mark.client

ALLOWED = ("--allowedTools", "Bash,Read,Write,Edit")


def leave(screen: Terminal) -> None:
    screen.ready()
    screen.submit("/exit")
    assert screen.exit_status() == 0


def only_session(installed: Installation) -> str:
    (session,) = installed.sessions()
    return session.ref


def test_two_prompts_are_two_turns_of_one_session_that_ends_completed(
    api: ScriptedApi, installed: Installation, open_terminal: OpenTerminal
) -> None:
    api.when("Create a list", write("list.md", "# List\n"), Text("The list is there."))
    api.when("Create a plan", write("plan.md", "# Plan\n"), Text("The plan is there."))
    screen = open_terminal(installed.client, *ALLOWED)
    screen.ready()

    screen.submit("Create a list of colours")
    screen.wait_for("The list is there")
    screen.ready()
    installed.settled()
    session = only_session(installed)
    assert installed.session(session).status == ACTIVE
    screen.submit("Create a plan of the house")
    screen.wait_for("The plan is there")
    leave(screen)
    installed.settled()

    assert installed.prompts(session) == [
        (1, "Create a list of colours"),
        (2, "Create a plan of the house"),
    ]
    assert installed.tools(session) == [("Write", 1), ("Write", 2)]
    written = [(o.prompt_number, o.draft.files_modified) for o in installed.observations(session)]
    assert written == [(1, ("list.md",)), (2, ("plan.md",))]
    with installed.store() as store:
        summaries = store.summaries.for_session(installed.session(session).id)
    assert [summary.prompt_number for summary in summaries] == [1, 2]
    end = installed.events(session)[-1].event.what
    assert isinstance(end, SessionEnded)
    assert end.reason == "prompt_input_exit"
    assert installed.session(session).status == COMPLETED


def test_escape_in_the_middle_of_a_tool_loses_nothing_that_was_captured(
    api: ScriptedApi, installed: Installation, open_terminal: OpenTerminal
) -> None:
    started = installed.client.project / "started"
    api.when(
        "Create a report",
        write("report.md", "# Report\n"),
        bash("echo checked"),
        bash("touch started; sleep 60"),
    )
    api.when("Create a letter", write("letter.md", "# Letter\n"), Text("The letter is there."))
    screen = open_terminal(installed.client, *ALLOWED)
    screen.ready()

    screen.submit("Create a report of the year")
    until(started.exists)
    screen.interrupt()
    installed.settled()
    session = only_session(installed)
    assert installed.tools(session) == [("Write", 1), ("Bash", 1)]
    assert installed.observations(session) == [], "nobody has said yet that the turn is over"

    screen.submit("Create a letter instead")
    screen.wait_for("The letter is there")
    leave(screen)
    installed.settled()

    assert installed.prompts(session) == [
        (1, "Create a report of the year"),
        (2, "Create a letter instead"),
    ]
    # The last one was interrupted: no hook told of it, the transcript does.
    all_of_it = [("Write", 1), ("Bash", 1), ("Bash", 1), ("Write", 2)]
    until(lambda: installed.tools(session) == all_of_it)
    written = [(o.prompt_number, o.draft.files_modified) for o in installed.observations(session)]
    assert written == [(1, ("report.md",)), (2, ("letter.md",))]
    ends = installed.events(session, "stop")
    assert [(kept.prompt, kept.event.what) for kept in ends] == [
        (2, TurnEnded("The letter is there."))
    ]
    with installed.store() as store:
        summaries = store.summaries.for_session(installed.session(session).id)
    assert [summary.prompt_number for summary in summaries] == [1, 2]
    assert installed.session(session).status == COMPLETED
