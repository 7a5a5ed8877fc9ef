"""The plugin's files are written by hand or generated once; these tests keep them from drifting."""

import json
from pathlib import Path
from typing import Any

import aforesaid
from aforesaid.agents.claude_code.install import CONNECTION, HOOK_EVENTS
from aforesaid.mcp.tools import TOOLS
from aforesaid.model.events import HOOKS

ROOT = Path(__file__).parents[2]

# Events of the oldest client we serve, 2.1.197, which drops a whole hooks.json over one it lacks.
KNOWN_EVENTS = """
    PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit
    UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop
    PreCompact PostCompact PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated
    TaskCompleted Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove
    InstructionsLoaded CwdChanged FileChanged MessageDisplay
"""


def read(name: str) -> dict[str, Any]:
    value = json.loads((ROOT / name).read_text())
    assert isinstance(value, dict)
    return value


def test_the_plugins_hooks_are_the_ones_we_declare() -> None:
    """The plugin is the package itself: the client copies a plugin's folder, and the checkout around it may
    hold a virtual environment of half a gigabyte."""
    folder = '"${CLAUDE_PLUGIN_ROOT}/hook"'
    groups = {
        row.event: [CONNECTION.hook_group(row, CONNECTION.shell_line(row.hook, folder, "''"))]
        for row in HOOK_EVENTS
    }
    assert read("src/aforesaid/hook/plugin.json")["hooks"] == groups


def test_the_plugin_declares_the_server_and_the_script_that_starts_it() -> None:
    plugin = read("src/aforesaid/.claude-plugin/plugin.json")
    assert plugin["mcpServers"] == {
        "aforesaid": {
            "command": "/bin/sh",
            "args": ["${CLAUDE_PLUGIN_ROOT}/mcp/mcp.sh"],  # which finds its interpreter itself
            "alwaysLoad": True,
        }
    }
    assert (ROOT / "src/aforesaid/mcp/mcp.sh").is_file()


def test_the_skill_has_a_name_and_says_when_to_use_it() -> None:
    text = (ROOT / "src/aforesaid/skills/aforesaid/SKILL.md").read_text()
    opening, name, description, closing = text.splitlines()[:4]
    assert (opening, name, closing) == ("---", "name: aforesaid", "---")
    assert description.startswith("description: ")
    assert len(description) < 1024
    for said in ("did we solve this before?", "what do we know about X?", "remember that"):
        assert said in description
    for tool in TOOLS:
        assert f"`{tool.name}`" in text


def test_the_plugins_lines_point_at_the_script_in_this_checkout() -> None:
    assert (ROOT / "src/aforesaid/hook/capture.sh").is_file()
    for row in HOOK_EVENTS:
        (group,) = read("src/aforesaid/hook/plugin.json")["hooks"][row.event]
        (entry,) = group["hooks"]
        assert entry["command"] == (
            f"""set -- claude-code {row.hook} "${{CLAUDE_PLUGIN_ROOT}}/hook" '' """
            '"${CLAUDE_PROJECT_DIR-}" "${CLAUDE_CODE_SESSION_ID-}"; '
            '[ ! -r "$3/capture.sh" ] || . "$3/capture.sh"'
        )


def test_only_events_and_hook_names_that_everybody_knows_are_used() -> None:
    assert {row.event for row in HOOK_EVENTS} <= set(KNOWN_EVENTS.split())
    assert {row.hook for row in HOOK_EVENTS} == set(HOOKS)
    assert len({row.event for row in HOOK_EVENTS}) == len(HOOK_EVENTS)


def test_the_versions_of_the_plugin_are_the_version_of_the_package() -> None:
    (entry,) = read(".claude-plugin/marketplace.json")["plugins"]
    assert entry["version"] == aforesaid.__version__
    assert read("src/aforesaid/.claude-plugin/plugin.json")["version"] == aforesaid.__version__


def test_the_marketplace_offers_this_checkout() -> None:
    market = read(".claude-plugin/marketplace.json")
    plugin = read("src/aforesaid/.claude-plugin/plugin.json")
    (entry,) = market["plugins"]
    assert (market["name"], entry["name"], plugin["name"]) == ("aforesaid",) * 3
    assert entry["source"] == "./src/aforesaid"
    assert entry["license"] == plugin["license"] == "Apache-2.0"
    assert entry["description"] == plugin["description"]
