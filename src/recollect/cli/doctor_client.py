"""The doctor's looks at what the client was told of us: our hooks, and our MCP server."""

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from recollect.agents import claude_code_install as claude_code
from recollect.agents import claude_code_server
from recollect.cli.findings import Finding
from recollect.cli.install import config_file, settings_file
from recollect.errors import RecollectError


def hooks() -> Iterator[Finding]:
    """Every line we installed: is what it names still there, and does it work?"""
    found = False
    files = {settings_file(scope): scope for scope in ("project", "user")}  # in HOME they are one
    for file, scope in files.items():
        if not file.exists():
            continue
        try:
            commands = claude_code.installed_commands(file.read_text("utf-8-sig"))
        except (RecollectError, ValueError) as error:
            yield Finding("fault", "hooks", f"{file}: {error}", "mend the file's JSON")
            continue
        if not commands:
            continue
        found = True
        missing = {
            row.event
            for row in claude_code.HOOK_EVENTS
            if not any(f"set -- {row.hook} " in line for line in commands.get(row.event, ()))
        }
        if missing:
            what = f"{file} lacks {', '.join(sorted(missing))}"
            yield Finding("fault", "hooks", what, f"recollect install --scope {scope}")
        yield from _lines(file, {c for lines in commands.values() for c in lines}, scope)
    if _plugin_enabled():
        found = True
        yield Finding("ok", "hooks", "the Claude Code plugin is enabled")
    if not found:
        yield Finding("warning", "hooks", "Claude Code is not connected", "recollect install")


def _lines(file: Path, commands: set[str], scope: str) -> Iterator[Finding]:
    fix = f"recollect install --scope {scope}"
    # `set -- <hook> <dir> [<python>];`: the last word before the test keeps the semicolon.
    words = [shlex.split(command) for command in commands]
    places = {tuple(w.removesuffix(";") for w in line[3 : line.index("[")]) for line in words}
    for place in places:
        script = Path(place[0], "capture.sh")
        python = Path(place[1]) if len(place) > 1 else None
        if not script.is_file():
            yield Finding("fault", "hooks", f"{script} is gone, so {file} captures nothing", fix)
        elif python is not None and not os.access(python, os.X_OK):
            yield Finding("fault", "hooks", f"{python} cannot be run", fix)
        elif python is not None and not _imports(python, "recollect"):
            yield Finding("fault", "hooks", f"{python} does not have recollect", fix)
        else:
            yield Finding("ok", "hooks", f"installed in {file}")


def _imports(python: Path, module: str) -> bool:
    try:
        done = subprocess.run(
            [python, "-I", "-c", f"import {module}"], capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _plugin_enabled() -> bool:
    try:
        settings = json.loads(settings_file("user").read_text("utf-8-sig"))
        plugins = settings.get("enabledPlugins", {})
        return any(name.startswith("recollect@") and on for name, on in plugins.items())
    except (OSError, ValueError, AttributeError):
        return False


def server() -> Iterator[Finding]:
    """The MCP server: is what the client would run still there, and does it start?"""
    found = False
    files = {config_file(scope): scope for scope in ("project", "user")}
    for file, scope in files.items():
        try:
            entry = claude_code_server.installed(file.read_text("utf-8-sig"))
        except FileNotFoundError:
            continue
        except (RecollectError, ValueError) as error:
            yield Finding("fault", "MCP server", f"{file}: {error}", "mend the file's JSON")
            continue
        if entry is None:
            continue
        found = True
        fix = f"recollect install --scope {scope}"
        command = Path(str(entry.get("command")))
        if not claude_code_server.is_ours(entry):
            yield Finding("ok", "MCP server", f"added to {file} by hand")
        elif not os.access(command, os.X_OK):
            yield Finding("fault", "MCP server", f"{command} cannot be run", fix)
        elif not _imports(command, claude_code_server.MODULE):
            yield Finding("fault", "MCP server", f"it does not start with {command}", fix)
        else:
            yield Finding("ok", "MCP server", f"installed in {file}")
    if not found and _plugin_enabled():
        yield Finding("ok", "MCP server", "the Claude Code plugin has it")
    elif not found and _hooks_installed():
        yield Finding("warning", "MCP server", "Claude Code does not know it", "recollect install")


def _hooks_installed() -> bool:
    for scope in ("project", "user"):
        with suppress(OSError, ValueError, RecollectError):
            if claude_code.installed_commands(settings_file(scope).read_text("utf-8-sig")):
                return True
    return False
