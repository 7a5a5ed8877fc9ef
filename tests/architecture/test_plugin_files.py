"""The plugin's files are written by hand or generated once; these tests keep them from drifting."""

import json
from pathlib import Path
from typing import Any

import recollect
from recollect.agents.claude_code_hooks import HOOK_EVENTS, plugin_hooks
from recollect.model.captures import HOOKS

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
    expected = json.dumps(plugin_hooks(), indent=2) + "\n"
    assert (ROOT / "src/recollect/hook/plugin.json").read_text() == expected


def test_the_plugins_lines_point_at_the_script_in_this_checkout() -> None:
    assert (ROOT / "src/recollect/hook/capture.sh").is_file()
    for row in HOOK_EVENTS:
        (group,) = read("src/recollect/hook/plugin.json")["hooks"][row.event]
        (entry,) = group["hooks"]
        assert entry["command"] == (
            f'set -- {row.hook} "${{CLAUDE_PLUGIN_ROOT}}/hook"; '
            '[ ! -r "$2/capture.sh" ] || . "$2/capture.sh"'
        )


def test_only_events_and_hook_names_that_everybody_knows_are_used() -> None:
    assert {row.event for row in HOOK_EVENTS} <= set(KNOWN_EVENTS.split())
    assert {row.hook for row in HOOK_EVENTS} == set(HOOKS)
    assert len({row.event for row in HOOK_EVENTS}) == len(HOOK_EVENTS)


def test_the_versions_of_the_plugin_are_the_version_of_the_package() -> None:
    (entry,) = read(".claude-plugin/marketplace.json")["plugins"]
    assert entry["version"] == recollect.__version__
    assert read("src/recollect/.claude-plugin/plugin.json")["version"] == recollect.__version__


def test_the_marketplace_offers_this_checkout() -> None:
    market = read(".claude-plugin/marketplace.json")
    plugin = read("src/recollect/.claude-plugin/plugin.json")
    (entry,) = market["plugins"]
    assert (market["name"], entry["name"], plugin["name"]) == ("recollect",) * 3
    assert entry["source"] == "./src/recollect"
    assert entry["license"] == plugin["license"] == "Apache-2.0"
    assert entry["description"] == plugin["description"]
