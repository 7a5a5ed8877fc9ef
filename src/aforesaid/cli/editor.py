"""The user's editor, and an observation as a text to edit in it: with front matter, like a memory."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from aforesaid.errors import AforesaidError, ConfigError
from aforesaid.memory.format import (
    SUFFIX,
    InvalidMemory,
    dump_front_matter,
    parse_front_matter,
    split_front_matter,
)
from aforesaid.model.observations import TYPES, Fields, Unusable, checked
from aforesaid.text import clean

HELP = """\
# Observation #{number}. Save and close to store it; close without saving to leave it as it is.
# type is one of: {types}. The narrative is below the second line of dashes.
"""
LISTS = ("facts", "concepts")
KEYS = ("type", "title", "subtitle", *LISTS)


@contextmanager
def edited(text: str, name: str, file: Path | None, *, otherwise: str) -> Iterator[str | None]:
    """The text as the editor leaves it, or a `file` that was filled in before; None if it was not saved.
    After an error in the body, it is kept in a temporary file. `otherwise`: what to do without an editor."""
    found = file.read_text("utf-8", "replace") if file else _open_editor(text, otherwise)
    try:
        yield found
    except AforesaidError as error:
        if file is None:
            handle, path = tempfile.mkstemp(prefix=f"aforesaid-{name}-", suffix=SUFFIX)
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
                stream.write(found or "")
            file = Path(path)
        fix = f"Your text is kept: {file}. Fix it, then: aforesaid edit {name} --form {file}"
        raise type(error)(f"{error} {fix}") from None


def _open_editor(text: str, otherwise: str) -> str | None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor is None and not sys.stdin.isatty():
        raise ConfigError(f"There is no terminal to open an editor on. Set EDITOR, or {otherwise}")
    try:
        return click.edit(text, editor=editor, extension=SUFFIX)
    except click.ClickException as error:
        why = f"{error.message}. Nothing was changed."
        raise ConfigError(f"{why} Set EDITOR to another editor, or {otherwise}") from None


def write_form(number: int, fields: Fields) -> str:
    about = HELP.format(number=number, types=", ".join(TYPES))
    head = dump_front_matter({key: fields[key] or "" for key in KEYS})
    return f"---\n{about}{head}---\n{fields['narrative'] or ''}\n"


def read_form(text: str) -> Fields | Unusable:
    parts = split_front_matter(clean(text))
    if parts is None:
        return Unusable("it does not begin with front matter between two lines `---`")
    try:
        head = parse_front_matter(parts[0])
    except InvalidMemory as error:
        return Unusable(str(error))
    if set(head) != set(KEYS):
        return Unusable(
            f"its front matter must have the keys {', '.join(KEYS)}, which may be empty"
        )
    fields: Fields = {"narrative": parts[1].strip() or None}
    for key in KEYS:
        values = head[key] if isinstance(head[key], list) else [head[key]]
        if any(isinstance(value, dict | list) for value in values):
            return Unusable(f"an item of `{key}` is not a text: put it into quotes")
        texts = [text for value in values if value is not None and (text := str(value).strip())]
        fields[key] = texts if key in LISTS else " ".join(texts) or None
    return checked(fields)
