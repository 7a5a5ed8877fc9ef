"""The MCP server in the real client: its tools are there at once, and what they say reaches the model."""

import json
from pathlib import Path
from typing import Any

import pytest

from aforesaid.mcp.server import INSTRUCTIONS
from aforesaid.mcp.tools import TOOLS
from aforesaid.recall.render import CLOSING
from tests.acceptance.product import Installation, bash, write
from tests.acceptance.test_install_ways import add_plugin, checkout, set_up
from tests.support.client import TOOLS as ALLOWED
from tests.support.scripted_api import Call, ScriptedApi, Text, strings_in

pytestmark = pytest.mark.client

SERVER, PLUGIN = "mcp__aforesaid__", "mcp__plugin_aforesaid_aforesaid__"
LUTE = "Build a lute"


def build_a_lute(api: ScriptedApi, installation: Installation) -> int:
    """A session that is remembered. The number of what it left."""
    api.when(LUTE, write("lute.md", "# Lute\n"), bash("echo built"), Text("The lute is built."))
    session = installation.client.run(LUTE).session_id
    installation.settled()
    return installation.observations(session)[0].id


def requests(api: ScriptedApi, prompt: str) -> list[dict[str, Any]]:
    return [r["body"] for r in api.requests if r["kind"] == "main" and r["prompt"] == prompt]


def results(body: dict[str, Any]) -> list[str]:
    """What tools gave back, in order."""
    found = []
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_result":
                (told,) = block["content"]
                found.append(told["text"])
    return found


def listed(body: dict[str, Any], prefix: str) -> list[str]:
    names = [tool["name"] for tool in body["tools"]]
    return sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))


def allowed(prefix: str) -> list[str]:
    return [*ALLOWED, *(prefix + tool.name for tool in TOOLS)]


def take_three_steps(api: ScriptedApi, installation: Installation, prefix: str) -> None:
    key = build_a_lute(api, installation)
    prompt = "Did we build a lute before?"
    api.when(
        prompt,
        Call(prefix + "search", {"query": "lute"}),
        Call(prefix + "timeline", {"id": f"#{key}"}),
        Call(prefix + "get", {"ids": [f"#{key}"], "level": "full"}),
        Text("Yes, we did."),
    )
    run = installation.client.run(prompt, allowed_tools=allowed(prefix))
    assert run.result == "Yes, we did."

    bodies = requests(api, prompt)
    assert listed(bodies[0], prefix) == sorted(tool.name for tool in TOOLS)
    assert INSTRUCTIONS in "\n".join(strings_in(bodies[0]))
    found, around, told = results(bodies[-1])
    assert f"#{key} | " in found
    assert prompt not in found
    assert f"> #{key} | " in around
    assert f"#{key} [" in told
    assert "lute.md" in told
    for each in (found, around, told):
        assert each.startswith("<aforesaid-memory")
        assert each.endswith(CLOSING)


def test_a_model_finds_looks_around_and_reads(api: ScriptedApi, installed: Installation) -> None:
    take_three_steps(api, installed, SERVER)


def test_the_plugin_brings_the_server_and_the_skill(
    api: ScriptedApi, prepared: Installation, tmp_path: Path
) -> None:
    add_plugin(prepared.client, set_up(checkout(tmp_path / "checkout")))
    take_three_steps(api, prepared, PLUGIN)
    assert "aforesaid:aforesaid" in json.dumps(requests(api, LUTE)[0])


def test_both_ways_at_once_offer_the_tools_once(
    api: ScriptedApi, installed: Installation, tmp_path: Path
) -> None:
    add_plugin(installed.client, set_up(checkout(tmp_path / "checkout")))
    build_a_lute(api, installed)
    (first, *_) = requests(api, LUTE)
    assert listed(first, SERVER) == sorted(tool.name for tool in TOOLS)
    assert listed(first, PLUGIN) == []


def test_what_a_model_remembers_is_told_to_the_next_session(
    api: ScriptedApi, installed: Installation
) -> None:
    said = {"text": "The user wants lutes in walnut."}
    api.when("Remember walnut", Call(SERVER + "remember", said), Text("I will."))
    installed.client.run("Remember walnut", allowed_tools=allowed(SERVER))
    installed.settled()
    installed.client.run("What now")
    told = "\n".join(strings_in(requests(api, "What now")[-1]))
    assert "noted by the agent): The user wants lutes in walnut" in told


@pytest.mark.quick
def test_the_client_itself_sees_the_server_and_uninstall_takes_it_out(
    installed: Installation,
) -> None:
    client = installed.client
    shown = client.command("mcp", "get", "aforesaid")
    assert shown.returncode == 0, shown
    assert "User config" in shown.stdout
    config = client.home / ".claude.json"
    before = json.loads(config.read_text())
    assert client.command("mcp", "add", "theirs", "-s", "user", "--", "true").returncode == 0
    installed.cli("uninstall")
    after = json.loads(config.read_text())
    assert list(after["mcpServers"]) == ["theirs"]
    assert {**before, "mcpServers": {}} == {**after, "mcpServers": {}}
    assert client.command("mcp", "get", "aforesaid").returncode != 0
