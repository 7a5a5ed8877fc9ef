"""Whether the `claude` provider can be used here, found out without starting or importing anything.

It looks for the places where Claude Code keeps a login, never at the credentials in them.
"""

import json
import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NO_PACKAGE = "the claude extra is not installed"
NO_LOGIN = "Claude Code has no login here"

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
VARIABLES = (
    *KEYS,
    *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"),
)
SECRETS = (*KEYS, "AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def usable(env: Mapping[str, str]) -> str | None:
    """None if it can, else why not, in one clause."""
    if find_spec("claude_agent_sdk") is None:
        return NO_PACKAGE
    return None if _logged_in(env) else NO_LOGIN


def secrets(env: Mapping[str, str]) -> tuple[str, ...]:
    """What no message may repeat."""
    return tuple(env[name] for name in SECRETS if env.get(name))


def key_helper(env: Mapping[str, str]) -> str | None:
    """The command in the user's settings that fetches a key. It has to be handed on: the agent
    process reads no settings, because they hold hooks too."""
    command = _object(_folder(env) / "settings.json").get("apiKeyHelper")
    return command if isinstance(command, str) and command else None


def _logged_in(env: Mapping[str, str]) -> bool:
    folder = _folder(env)
    moved = bool(env.get("CLAUDE_CONFIG_DIR"))
    login = folder / ".credentials.json"
    with suppress(OSError):
        if login.is_file() and login.stat().st_size > 0:
            return True
    return (
        any(env.get(name) for name in VARIABLES)
        # On a Mac the login itself is in the keychain; this file names the account.
        or bool(_object((folder if moved else _home(env)) / ".claude.json").get("oauthAccount"))
        or key_helper(env) is not None
    )


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)


def _folder(env: Mapping[str, str]) -> Path:
    moved = env.get("CLAUDE_CONFIG_DIR")
    return Path(moved) if moved else _home(env) / ".claude"


def _object(path: Path) -> dict[str, Any]:
    """A JSON object; an empty one if the file is missing or broken."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
