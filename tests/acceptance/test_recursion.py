"""The memory does not remember itself: a client that aforesaid runs is not captured."""

import shlex

import pytest

from tests.acceptance.product import MEMORY, Installation, bash, count_briefs, last_request, write
from tests.support.scripted_api import ScriptedApi, Text

pytestmark = pytest.mark.client


def test_a_client_inside_a_session_that_is_marked_as_ours_is_neither_captured_nor_told(
    api: ScriptedApi, installed: Installation
) -> None:
    prompt = "Summarise this"
    nested = shlex.join([installed.client.cli, "-p", prompt, "--allowedTools", "Bash"])
    api.when(prompt, bash("echo nested > nested.txt"), Text("A summary."))
    api.when("Run the other", bash(f"AFORESAID_INSIDE=1 {nested} </dev/null"), Text("It ran."))
    api.when("Create a note", write("note.md", "# Note\n"), Text("Noted."))
    first = installed.client.run("Create a note").session_id
    installed.settled()

    outer = installed.client.run("Run the other one")
    installed.settled()

    assert outer.result == "It ran."
    assert (installed.client.project / "nested.txt").exists()
    assert count_briefs(last_request(api, "Run the other one")) == 1
    assert MEMORY not in last_request(api, prompt)
    assert {session.ref for session in installed.sessions()} == {first, outer.session_id}
    assert installed.prompts(outer.session_id) == [(1, "Run the other one")]
    assert installed.tools(outer.session_id) == [("Bash", 1)]
    assert "A summary." in installed.events(outer.session_id, "tool")[0].body
