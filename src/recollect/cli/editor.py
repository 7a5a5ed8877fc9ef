"""What a person writes in their editor. Nothing of it is lost, whether it can be taken or not."""

import os
import sys
import tempfile
from pathlib import Path

import click

from recollect.errors import ConfigError


def opened_on(text: str, *, ending: str, otherwise: str) -> str | None:
    """What the editor left; None when it was not saved. `otherwise`: what to do without one."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor is None and not sys.stdin.isatty():
        raise ConfigError(f"There is no terminal to open an editor on. Set EDITOR, or {otherwise}")
    return click.edit(text, editor=editor, extension=ending)


def kept(text: str, name: str, *, ending: str) -> Path:
    """Readable by its owner alone, as everything that was captured."""
    handle, path = tempfile.mkstemp(prefix=f"recollect-{name}-", suffix=ending)
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
        stream.write(text)
    return Path(path)
