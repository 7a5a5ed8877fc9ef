"""With the real client: what a session has only fetched is not told to the next one, and found by asking."""

import pytest

from tests.acceptance.product import Installation, bash
from tests.acceptance.test_mcp import SERVER, allowed, requests, results
from tests.support.scripted_api import Call, ScriptedApi, Text, strings_in

pytestmark = pytest.mark.client

LOOK_UP = "How is a theorbo strung?"
CLAIM = "A theorbo must be strung with fourteen quince-gut courses because steel breaks the neck"
SAID = (
    "I looked it up and found out how a theorbo is strung, which string is used for which course, and why "
    f"that is so.\n\n- {CLAIM}.\n- Theorbo makers fetch quince gut from Padua because it holds its pitch.\n"
)


@pytest.mark.quick
def test_a_finding_of_the_web_is_not_injected_automatically_and_is_found_by_asking(
    api: ScriptedApi, installed: Installation
) -> None:
    """T64: the next session's request has no word of it; the MCP search has, with its origin."""
    page = installed.client.home / "theorbo.html"
    page.write_text(f"<p>{CLAIM}.</p>\n<p>Theorbo makers fetch quince gut from Padua.</p>\n")
    api.when(LOOK_UP, bash(f"curl -s file://{page}"), Text(SAID))
    installed.client.run(LOOK_UP)
    installed.settled()

    prompt = "With which quince-gut courses is a theorbo strung, and why does steel break the neck?"
    search = Call(SERVER + "search", {"query": "theorbo quince-gut courses"})
    api.when(prompt, search, Text("With fourteen."))
    installed.client.run(prompt, allowed_tools=allowed(SERVER))
    bodies = requests(api, prompt)
    automatically = "\n".join(strings_in(bodies[0]))
    assert "fourteen" not in automatically
    assert "Padua" not in automatically
    (found,) = results(bodies[-1])
    assert "source: web only" in found
