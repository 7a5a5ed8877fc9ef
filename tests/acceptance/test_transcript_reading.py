"""Sessions of the real client, told by its hooks and by its transcripts: the same events."""

import pytest

from aforesaid.model.events import Event, Failure, ToolUsed
from tests.support import terminal
from tests.support.client import Client
from tests.support.scripted_api import ScriptedApi
from tests.support.transcripts import (
    EVENTS,
    IN_A_TERMINAL,
    SESSIONS,
    Session,
    killed,
    of_hooks,
    of_transcripts,
    plain,
)

pytestmark = pytest.mark.client

QUICK = (plain, killed)
# Calls that no hook tells of: (refused, interrupted).
UNTOLD = {"plain": (1, 0), "killed": (0, 1), "killed_and_resumed": (0, 1), "escaped": (0, 1)}


def failures(events: list[Event]) -> list[Failure]:
    found = [event.what.failure for event in events if isinstance(event.what, ToolUsed)]
    return [failure for failure in found if failure]


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(
            session, id=session.__name__, marks=pytest.mark.quick if session in QUICK else ()
        )
        for session in SESSIONS
    ],
)
def test_a_transcript_tells_what_the_hooks_told(
    api: ScriptedApi, client: Client, session: Session
) -> None:
    if session in IN_A_TERMINAL and (reason := terminal.missing()):
        pytest.skip(reason)
    hooks = client.dump_hooks(*EVENTS)

    session(api, client)

    everything = of_transcripts(client.home, quiet=session is killed)
    told = [event for event in everything if event.kind != "message"]
    by_hooks = of_hooks(hooks.payloads())
    assert [event for event in told if event in by_hooks] == by_hooks
    more = [event for event in told if event not in by_hooks]
    interrupted = [failure.interrupted for failure in failures(more)]
    assert len(interrupted) == len(more)
    untold = (interrupted.count(False), interrupted.count(True))
    expected = UNTOLD.get(session.__name__, (0, 0))
    # A client that is killed may not have written down its last call yet.
    lost = (0, 0) if session.__name__.startswith("killed") else expected
    assert untold in (expected, lost)
