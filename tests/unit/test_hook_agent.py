"""What agents share: the example of docs/how-to/add-an-agent.md reads, answers, is installed and undone."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from aforesaid.agents.base import Agent
from aforesaid.model.events import Capture, CommandRun, Event, ToolUsed
from aforesaid.privacy import files, payloads
from aforesaid.privacy.redactor import Redactor

HOWTO = Path(__file__).parents[2] / "docs/how-to/add-an-agent.md"
(_code,) = re.findall(r"```python\n(.*?)```", HOWTO.read_text(), re.DOTALL)
_names: dict[str, Any] = {}
exec(_code, _names)
EXAMPLE: Agent = _names["Example"]()
assert EXAMPLE.connection
CONNECTION = EXAMPLE.connection
PAYLOAD = {
    "session_id": "s",
    "hook_event_name": "PostToolUse",
    "tool_name": "shell",
    "tool_use_id": "t",
    "tool_input": {"command": "cat .env\nmore"},
    "tool_response": {"output": "A=b"},
}


def test_its_payload_becomes_an_event() -> None:
    event = EXAMPLE.parse(Capture("c", "example", "save", "/x", json.dumps(PAYLOAD).encode(), 1))
    assert isinstance(event, Event)
    assert (event.agent, event.key, event.cwd) == ("example", "tool:t", "/x")
    assert isinstance(event.what, ToolUsed)
    assert event.what.action == CommandRun("cat .env\nmore", None, "A=b", "", False)
    shown = EXAMPLE.reply("context", "known")
    assert json.loads(shown)["hookSpecificOutput"]["hookEventName"] == "SessionStart"


def test_other_names_of_events_and_fields_are_two_tables() -> None:
    other = type(EXAMPLE)()
    other.event_names = {"AfterTool": "PostToolUse"}
    other.field_names = {"call": "tool_use_id"}
    payload = PAYLOAD | {"hook_event_name": "AfterTool", "tool_use_id": "no", "call": "c1"}
    body = json.dumps({name: each for name, each in payload.items() if name != "tool_use_id"})
    event = other.parse(Capture("c", "example", "save", "/x", body.encode(), 1))
    assert isinstance(event, Event)
    assert (event.key, event.kind) == ("tool:c1", "tool")


def test_redaction_knows_its_fields() -> None:
    shown = payloads.value(Redactor(fields=EXAMPLE.fields), PAYLOAD)
    assert shown["tool_response"] == {"output": files.MARK}
    assert shown["tool_input"] == {"command": files.MARK}


def test_its_hook_line_passes_what_the_agent_names(tmp_path: Path) -> None:
    (tmp_path / "capture.sh").write_text("""printf '%s|' "$@"\n""")
    line = CONNECTION.hook_command("save", tmp_path, Path("/p"))
    env = os.environ | {"EXAMPLE_PROJECT": "/my project"}
    done = subprocess.run(["/bin/sh", "-c", line], env=env, capture_output=True, check=True)
    assert done.stdout.decode() == f"example|save|{tmp_path}|/p|/my project||"


def test_it_is_installed_and_undone_exactly(tmp_path: Path) -> None:
    path = CONNECTION.hooks_path("user", {"HOME": str(tmp_path)})
    assert path == tmp_path / ".example/settings.json"
    path.parent.mkdir()
    path.write_text('{"theme": 1}')
    records = tmp_path / "records"
    for file in (
        CONNECTION.hooks_file(path, records, tmp_path, None),
        CONNECTION.server_file(path, records / "server", Path("/p")),
    ):
        before = path.read_bytes()
        assert file.install(dry_run=False).changed
        assert not file.install(dry_run=False).changed
        file.uninstall(dry_run=False)
        assert path.read_bytes() == before
