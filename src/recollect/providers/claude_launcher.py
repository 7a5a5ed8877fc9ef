"""How Claude Code is started so that it never outlives the worker.

It ends by itself when its input closes, but only between requests. A worker that is killed in the
middle of one would leave it behind until the request ends, and the next worker would start a second
one beside it. Linux can tie a process to its parent; the SDK takes nothing but the path of one
executable, so a script in between does it, and becomes the client.
"""

import os
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

NAME = "claude"
_SCRIPT = '#!/bin/sh\nexec {setpriv} --pdeathsig TERM {client} "$@"\n'


def executable(client: str | None, folder: Path) -> str | None:
    """The script; or the client itself where there is no `setpriv` or scripts may not run here."""
    found = client or _bundled() or shutil.which("claude")
    setpriv = shutil.which("setpriv")
    if found is None or setpriv is None or not os.access(found, os.X_OK):
        return client
    script = folder / NAME
    text = _SCRIPT.format(setpriv=shlex.quote(setpriv), client=shlex.quote(found))
    try:
        if not script.exists() or script.read_text("utf-8") != text:
            script.write_text(text, "utf-8")
            script.chmod(0o700)
    except (OSError, UnicodeDecodeError):
        return client
    return str(script) if os.access(script, os.X_OK) else client


def _bundled() -> str | None:
    """The client that comes with the SDK, which is the one the SDK would take."""
    spec = find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    client = Path(spec.origin).with_name("_bundled") / NAME
    return str(client) if client.is_file() else None
