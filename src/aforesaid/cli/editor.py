"""The user's editor, and an observation as a form to edit in it.

The form has sections instead of TOML or XML: the only text that needs an escape is a line that looks like
the head of a section. What was not edited is read back unchanged.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import click

from aforesaid.errors import ConfigError
from aforesaid.model.observations import TYPES, Fields, Unusable, checked
from aforesaid.text import clean

HELP = """\
# Observation #{number}. Save and close to store it; close without saving to leave it as it is.
# The lines above [type] are ignored. Each section ends where the next one begins.
# type is one of: {types}.
# facts: one per line; an indented line continues the one above. concepts: one per line.
"""
LISTS = ("facts", "concepts")
SECTIONS = ("type", "title", "subtitle", "facts", "narrative", "concepts")
HEAD = re.compile(rf"\[({'|'.join(SECTIONS)})\][ \t]*")
ESCAPED = re.compile(rf"\\+\[(?:{'|'.join(SECTIONS)})\][ \t]*")
BULLET = "- "
CONTINUED = "  "


def open_editor(text: str, *, suffix: str, otherwise: str) -> str | None:
    """Returns the edited text; None if it was not saved. `otherwise`: what to do without an editor."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor is None and not sys.stdin.isatty():
        raise ConfigError(f"There is no terminal to open an editor on. Set EDITOR, or {otherwise}")
    return click.edit(text, editor=editor, extension=suffix)


def save_draft(text: str, name: str, *, suffix: str) -> Path:
    """Keeps text that could not be stored in a temporary file, readable by its owner only."""
    handle, path = tempfile.mkstemp(prefix=f"aforesaid-{name}-", suffix=suffix)
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
        stream.write(text)
    return Path(path)


def write_form(number: int, fields: Fields) -> str:
    parts = [HELP.format(number=number, types=", ".join(TYPES))]
    for name in SECTIONS:
        value = fields[name]
        if isinstance(value, list):
            lines = [BULLET + item.replace("\n", f"\n{CONTINUED}") for item in value]
        else:
            lines = (value or "").split("\n")
        parts.append("\n".join((f"[{name}]", *map(_escape, lines), "")))
    return "\n".join(parts)


def read_form(text: str) -> Fields | Unusable:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in clean(text).split("\n"):
        if head := HEAD.fullmatch(line):
            if head[1] in sections:
                return Unusable(f"[{head[1]}] is there twice")
            current = sections[head[1]] = []
        else:
            current.append(line.removeprefix("\\") if ESCAPED.fullmatch(line) else line)
    missing = [f"[{name}]" for name in SECTIONS if name not in sections]
    if missing:
        return Unusable(
            f"{', '.join(missing)} is missing; leave a section empty, but leave its head"
        )
    return checked(
        {
            name: _read_items(lines) if name in LISTS else "\n".join(lines).strip() or None
            for name, lines in sections.items()
        }
    )


def _read_items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if items and (line.startswith(CONTINUED) or not line.strip()):
            items[-1] += "\n" + line.removeprefix(CONTINUED)
        elif line.strip():
            items.append(line.removeprefix(BULLET))
    return [item for each in items if (item := each.strip())]


def _escape(line: str) -> str:
    return "\\" + line if HEAD.fullmatch(line) or ESCAPED.fullmatch(line) else line
