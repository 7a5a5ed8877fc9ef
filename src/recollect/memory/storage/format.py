"""A memory as a file: Markdown with a few lines of YAML at its head.

    ---
    name: prefers-tabs
    description: Tabs for indentation, not spaces
    type: user
    ---

    Indent with tabs.
    **Why:** …

What we write we read back equal. What people and other programs write is read as far as it can be understood,
and is otherwise reported with what to mend; a file that cannot be read is never rewritten.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.memory.storage import front_matter
from recollect.memory.storage.front_matter import Unreadable
from recollect.memory.storage.names import same_name, slug, unsafe
from recollect.model.memories import PROJECT, TYPES, Broken, Memory
from recollect.text import clean, cut, sqlite_safe

__all__ = [
    "blob",
    "checksum",
    "normal",
    "parse",
    "render",
    "same_name",
    "slug",
    "unsafe",
]

LARGEST = 256 * 1024
INDEX_FILE, ENDING = "MEMORY.md", ".md"
KNOWN = (
    *("name", "description", "type", "pinned", "created", "updated", "evidence", "commit", "files"),
    *("replaces", "replaced_by"),
)
TEXTS = ("name", "description", "evidence", "commit", "files", "replaces", "replaced_by")
TITLE = "title"  # the `name` of a file that is called otherwise
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = 253_402_300_799_999  # the last millisecond of the year 9999
DERIVED = 150  # characters of a description that is taken from the body


def parse(data: str | bytes, path: Path) -> Memory | Broken:
    """The memory is called as its file is, whatever `name` says there."""
    try:
        return _read(_decoded(data), path.name.removesuffix(ENDING))
    except Unreadable as error:
        return Broken(path, str(error))


def render(memory: Memory) -> str:
    """The file's text. What is not known is left out."""
    tidy = normal(memory)
    head: dict[str, Any] = {
        "name": tidy.name,
        "description": tidy.description,
        "type": tidy.type,
    }
    later: dict[str, Any] = {
        "pinned": tidy.pinned,
        "created": _date(tidy.created),
        "updated": _date(tidy.updated),
        "evidence": list(tidy.evidence),
        "commit": tidy.commit,
        "files": dict(tidy.files),
        "replaces": list(tidy.replaces),
        "replaced_by": tidy.replaced_by,
    }
    head |= {key: value for key, value in later.items() if value}
    body = f"\n{tidy.body}\n" if tidy.body else ""
    return f"---\n{front_matter.write(head | dict(tidy.extra), texts=TEXTS)}---\n{body}"


def normal(memory: Memory) -> Memory:
    """As it is read back after it was written: clean, on one line where there is one line."""
    extra = {k: v for k, v in front_matter.plain(memory.extra).items() if k not in KNOWN}
    return replace(
        memory,
        name=sqlite_safe(clean(memory.name)),
        description=_line(memory.description) or _first_words(_body(memory.body)),
        body=_body(memory.body),
        created=_within(memory.created),
        updated=_within(memory.updated),
        evidence=_lines(memory.evidence),
        commit=_line(memory.commit or "") or None,
        files=tuple(
            {_line(path): _line(blob) for path, blob in memory.files if _line(path)}.items()
        ),
        replaces=_lines(memory.replaces),
        replaced_by=_line(memory.replaced_by or "") or None,
        extra=extra,
    )


def checksum(data: bytes) -> str:
    """Of a file's bytes: which version somebody has seen."""
    return hashlib.sha256(data).hexdigest()


def blob(data: bytes) -> str:
    """What git calls a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def text_of(data: bytes) -> str:
    """All of a file as it is. Raises Unreadable."""
    if len(data) > LARGEST:
        raise Unreadable(f"it is larger than {LARGEST // 1024} KB: split it")
    if b"\0" in data:
        raise Unreadable("it is not a text: put a Markdown file there, or nothing")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8: save it as UTF-8") from None


def _decoded(data: str | bytes) -> str:
    return clean(sqlite_safe(text_of(data) if isinstance(data, bytes) else data))


def _read(text: str, name: str) -> Memory:
    parts = front_matter.split(text)
    if parts is None:
        raise Unreadable("it has no front matter: begin it with `---`, `description: …`, `---`")
    block, rest = parts
    values = front_matter.read(block)
    body = _body(rest)
    description = _string(values, "description") or _first_words(body)
    if not description:
        raise Unreadable("it says nothing: give it a `description`")
    extra = {key: value for key, value in values.items() if key not in KNOWN}
    kind = _kind(values, extra)
    title = _string(values, "name")
    if title and title != _line(name):
        extra.setdefault(TITLE, title)
    return Memory(
        name=name,
        description=description,
        type=kind,
        body=body,
        pinned=_flag(values, "pinned"),
        created=_moment(values, "created"),
        updated=_moment(values, "updated"),
        evidence=_strings(values, "evidence"),
        commit=_string(values, "commit") or None,
        files=_files(values),
        replaces=_strings(values, "replaces"),
        replaced_by=_string(values, "replaced_by") or None,
        extra=extra,
    )


def _kind(values: Mapping[str, Any], extra: dict[str, Any]) -> str:
    """Where nothing is said, `project`: it is told in one project alone and claims nothing about the user, so
    a wrong guess does the least harm."""
    kind = _string(values, "type").lower()
    metadata = extra.get("metadata")
    if not kind and isinstance(metadata, dict) and isinstance(metadata.get("type"), str):
        kind = metadata["type"].strip().lower()
        rest = {key: value for key, value in metadata.items() if key != "type"}
        extra.pop("metadata")
        if rest:
            extra["metadata"] = rest
    if kind and kind not in TYPES:
        raise Unreadable(f"its type is {cut(kind, 40)!r}: use one of {', '.join(TYPES)}")
    return kind or PROJECT


def _string(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if isinstance(value, dict | list):
        raise Unreadable(f"`{key}` is not a text: write it on one line")
    return _word(value)


def _word(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())


def _strings(values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = values.get(key)
    listed = value if isinstance(value, list) else [value]
    if any(isinstance(each, dict | list) for each in listed):
        raise Unreadable(f"`{key}` is not a list of texts: write `- …` lines")
    return tuple(filter(None, map(_word, listed)))


def _flag(values: Mapping[str, Any], key: str) -> bool:
    word = _string(values, key).lower()
    if word in ("", "false", "no", "off"):
        return False
    if word in ("true", "yes", "on"):
        return True
    raise Unreadable(f"`{key}` is {cut(word, 40)!r}: write true or false")


def _moment(values: Mapping[str, Any], key: str) -> int:
    word = _string(values, key)
    if not word:
        return 0
    try:
        at = datetime.fromisoformat(word)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return _within((at - EPOCH) // timedelta(milliseconds=1))
    except (ValueError, OverflowError):
        raise Unreadable(
            f"`{key}` is {cut(word, 40)!r}: write a date such as 2025-11-16T09:30:00Z"
        ) from None


def _files(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """A bare list of paths is understood, too: then nobody knows what was in them."""
    value = values.get("files")
    if not isinstance(value, dict):
        return tuple((path, "") for path in dict.fromkeys(_strings(values, "files")))
    if any(isinstance(each, dict | list) for each in value.values()):
        raise Unreadable(
            "`files` is not a list: write `path: content` lines, as git names contents"
        )
    return tuple((path, _word(each)) for path, each in value.items() if path)


def _date(at: int) -> str:
    if not at:
        return ""
    text = (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00").removesuffix(".000") + "Z"


def _within(at: int) -> int:
    return at if 0 < at <= LATEST else 0


def _line(text: str) -> str:
    return " ".join(sqlite_safe(clean(text)).split())


def _lines(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, map(_line, texts)))


def _body(text: str) -> str:
    """Without empty lines at its ends; an indented first line stays indented."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", sqlite_safe(clean(text))).rstrip()


def _first_words(body: str) -> str:
    return cut(_line(body.lstrip("#-* \n\t").partition("\n")[0]), DERIVED)
