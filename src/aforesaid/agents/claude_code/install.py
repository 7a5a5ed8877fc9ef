"""Claude Code's settings: hooks in `settings.json`, the MCP server in `.claude.json`, and the plugin."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from aforesaid.agents.base import Variables
from aforesaid.agents.connection import NAME, Connection, HookEvent, home_directory
from aforesaid.agents.settings_file import Json

AGENT = "claude-code"
CONFIG_DIR = "CLAUDE_CONFIG_DIR"
# Only events that client 2.1.197 knows too, with the hook type `command` alone, because that client drops a
# whole file over one name it does not know. `hook/plugin.json` has the same.
HOOK_EVENTS = (
    # The agent waits for what these four say, so they give up sooner.
    HookEvent("SessionStart", "context", timeout=5),
    HookEvent("UserPromptSubmit", "new", timeout=5),
    HookEvent("PreToolUse", "file", matcher="Read|Edit|MultiEdit|Write|NotebookEdit", timeout=5),
    HookEvent("PreCompact", "compact", timeout=5),
    HookEvent("PostToolUse", "save", matcher="*"),
    HookEvent("PostToolUseFailure", "save", matcher="*"),
    HookEvent("Stop", "summary"),
    HookEvent("SubagentStop", "save"),
    # Without a timeout of its own the client kills this one after 1.5 s.
    HookEvent("SessionEnd", "end"),
)


class ClaudeCodeConnection(Connection):
    agent = AGENT
    title = "Claude Code"
    variables = Variables(
        project="CLAUDE_PROJECT_DIR",
        session="CLAUDE_CODE_SESSION_ID",
        inside=("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),
    )
    rows = HOOK_EVENTS

    def hooks_path(self, scope: str, env: Mapping[str, str], here: Path | None = None) -> Path:
        if scope == "project":
            return (here or Path.cwd()) / ".claude" / "settings.json"
        return Path(env.get(CONFIG_DIR) or home_directory(env) / ".claude") / "settings.json"

    def server_path(self, scope: str, env: Mapping[str, str]) -> Path:
        if scope == "project":
            return Path.cwd() / ".mcp.json"
        return Path(env.get(CONFIG_DIR) or home_directory(env)) / ".claude.json"

    def server_entry(self, python: Path) -> Json:
        """Loaded at once: tools that have to be searched for are not thought of."""
        entry = super().server_entry(python)
        return {"type": "stdio", **entry, "env": {}, "alwaysLoad": True}

    def is_plugin_enabled(self, env: Mapping[str, str]) -> bool:
        try:
            settings = json.loads(self.hooks_path("user", env).read_text("utf-8-sig"))
            plugins = settings.get("enabledPlugins", {})
            return any(name.startswith(f"{NAME}@") and on for name, on in plugins.items())
        except (OSError, ValueError, AttributeError):
            return False

    def probe_session(self, reference: str, directory: str) -> Iterator[tuple[str, Json]]:
        file = str(Path(directory, "probe.py"))
        content = "def probe() -> int:\n    return 42\n"
        prompt = {"prompt_id": f"{reference}-prompt"}
        written: Json = {
            "tool_name": "Write",
            "tool_use_id": f"toolu_{reference}",
            "tool_input": {"file_path": file, "content": content},
            "tool_response": {"type": "create", "filePath": file, "content": content},
        }
        events: dict[str, Json] = {
            "SessionStart": {"source": "startup"},
            "UserPromptSubmit": prompt | {"prompt": "Add a probe function to probe.py"},
            "PostToolUse": prompt | written,
            "Stop": prompt | {"last_assistant_message": "Added probe()."},
            "SessionEnd": {"reason": "other"},
        }
        hooks = {row.event: row.hook for row in self.rows}
        for event, details in events.items():
            common = {"session_id": reference, "hook_event_name": event, "cwd": directory}
            yield hooks[event], common | details


CONNECTION = ClaudeCodeConnection()
