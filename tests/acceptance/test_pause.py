"""The off switch with the real client: what was done meanwhile is nowhere, and afterwards it goes on."""

import pytest

from tests.acceptance.product import MEMORY, Installation, bash, last_request
from tests.support.scripted_api import ScriptedApi, Text
from tests.support.sentence import SAID, traces

pytestmark = pytest.mark.client


def test_a_session_while_paused_leaves_nothing_and_the_next_one_is_recorded(
    api: ScriptedApi, installed: Installation
) -> None:
    """By command, and by a variable; the transcripts that the client keeps of them stay unread."""
    api.when("Begin the work", bash("echo begun"), Text("The work has begun."))
    assert installed.client.run("Begin the work").returncode == 0
    installed.settled()

    installed.cli("pause")
    api.when("Hidden work", bash(f"echo '{SAID}'"), Text(f"I decided that {SAID}."))
    hidden = installed.client.run("Hidden work")
    assert MEMORY not in last_request(api, "Hidden work")
    assert "paused" in installed.cli("status")
    installed.cli("resume")
    installed.client.env["AFORESAID_PAUSED"] = "1"
    api.when("Also hidden", bash(f"echo '{SAID}'"), Text(f"Again: {SAID}."))
    also = installed.client.run("Also hidden")
    del installed.client.env["AFORESAID_PAUSED"]

    api.when("Go on", bash("echo on"), Text("It goes on."))
    after = installed.client.run("Go on")
    installed.settled()
    installed.cli("import", "claude-code")
    installed.settled()
    known = {session.ref for session in installed.sessions()}
    assert after.session_id in known
    assert not known & {hidden.session_id, also.session_id}
    assert not (left := traces(installed.paths.data)), "\n".join(left)
    assert not (left := traces(installed.paths.state)), "\n".join(left)
