"""A memory as a file: its name, its front matter, its text.

A file is Markdown with YAML front matter. Known keys become fields of `Memory`, unknown ones are kept.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from aforesaid.errors import MemoryRefused
from aforesaid.ids import digest
from aforesaid.model.memories import PROJECT, TYPES, Broken, Memory, StoredMemory
from aforesaid.text import clean, cut, sqlite_safe

MAX_NAME, MAX_NAME_BYTES = 60, 180
MAX_FOREIGN_NAME_BYTES = 200  # of a name that was given by hand or came from elsewhere
# The index, and the names of devices on Windows, where a team's folder may be checked out.
RESERVED_NAMES = ("memory", "con", "prn", "aux", "nul")


def slugify(text: str) -> str:
    """A name made of a text: lower case words with hyphens."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _clean(text)).lower())
    words = []
    for word in re.findall(r"[^\W_]+", plain):
        parts = unicodedata.normalize("NFKD", word)
        latin = "".join(c for c in parts if not unicodedata.combining(c))
        words.append(latin if latin.isascii() else word)  # other scripts keep their marks
    name = "-".join(words)
    short = name[:MAX_NAME].encode()[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    if short != name:  # cut at a hyphen, if that leaves at least half
        at_word = short.rpartition("-")[0]
        name = (at_word if len(at_word) >= len(short) // 2 else short).strip("-")
    return f"{name or 'memory'}-{digest(text, 8)}" if not name or name in RESERVED_NAMES else name


def name_problem(name: str) -> str | None:
    """Why a memory cannot have this name; None if it can."""
    if not name or name.startswith(".") or any(c in name for c in "/\\\0"):
        return "it is not a valid file name"
    if name != clean(name) or "\n" in name or "\t" in name:
        return "it has invisible characters"
    if name.lower() in RESERVED_NAMES:
        return "the name is reserved"
    if len(name.encode()) > MAX_FOREIGN_NAME_BYTES:
        return "it is too long"
    return None


def fold_name(name: str) -> str:
    """Equal for names that are the same on some file systems."""
    return unicodedata.normalize("NFC", name).casefold()


FENCE = re.compile(r"\A---[ \t]*\n(?P<block>(?:.*?\n)??)---[ \t]*(?:\n|\Z)", re.DOTALL)
STR = "tag:yaml.org,2002:str"
MAX_DEPTH = 20
LOADER: Any = yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader
STANDARD = Resolver()  # how most programs read a plain word


class InvalidMemory(Exception):
    """The message says what is wrong and how to fix it."""


class _Dumper(yaml.SafeDumper):
    """Writes every text plain that can be: all values are read as texts."""

    yaml_implicit_resolvers = {}  # noqa: RUF012

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the name in the base class
        return True


class _TextDumper(_Dumper):
    """Quotes texts that another program would read as a number or a date."""


def _represent_text(dumper: _Dumper, value: str) -> ScalarNode:
    style = None
    if value != value.strip() or any(c in value for c in "\n\t\u2028\u2029"):
        style = '"'  # a line end or a blank at an end could be lost
    elif isinstance(dumper, _TextDumper):
        tag = STANDARD.resolve(ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
        style = None if tag == STR else "'"
    return dumper.represent_scalar(STR, value, style=style)


_Dumper.add_representer(str, _represent_text)


def split_front_matter(text: str) -> tuple[str, str] | None:
    """The block and what follows it; None without front matter."""
    found = FENCE.match(text)
    return (found["block"], text[found.end() :]) if found else None


def parse_front_matter(block: str) -> dict[str, Any]:
    """Of a clean text. Raises InvalidMemory."""
    try:
        found = _parse_document(yaml.parse(block, Loader=LOADER))
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise InvalidMemory(
            f"its front matter is not YAML{line}: {error.problem}. Fix it; put a text with `: ` or `#` into "
            "quotes"
        ) from None
    except yaml.YAMLError:
        raise InvalidMemory("its front matter is not YAML: fix it") from None
    if not isinstance(found, dict):
        raise InvalidMemory("its front matter has no `key: value` lines: write `description: …`")
    return found


def dump_front_matter(values: Mapping[str, Any]) -> str:
    return "".join(
        yaml.dump(
            to_plain({key: value}),
            Dumper=_TextDumper if key in TEXT_KEYS else _Dumper,
            width=1 << 20,
            allow_unicode=True,
            default_flow_style=False,
            sort_keys=False,
        )
        for key, value in values.items()
    )


def to_plain(value: Any, depth: int = MAX_DEPTH) -> Any:
    """As it will be read back: texts, lists and mappings."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case Mapping() if depth:
            return {_one_line(str(key)): to_plain(each, depth - 1) for key, each in value.items()}
        case list() | tuple() | set() | frozenset() if depth:
            return [to_plain(each, depth - 1) for each in value]
        case _:
            return _clean(str(value))


def _parse_document(events: Iterator[Event]) -> Any:
    """Builds values from the parser's events: no constructor runs, and tags, anchors (a few lines of which
    can expand to gigabytes) and duplicate keys are refused."""
    next(events)  # the start of the stream
    if isinstance(next(events), StreamEndEvent):
        return {}
    found = _parse_value(next(events), events, MAX_DEPTH)
    next(events)  # the end of the document
    if not isinstance(next(events), StreamEndEvent):
        raise InvalidMemory("its front matter ends twice: take the line `---` or `...` away")
    return {} if found is None else found  # None: comments alone


def _parse_value(event: Event, events: Iterator[Event], depth: int) -> Any:
    if not depth:
        raise InvalidMemory("its front matter is nested too deeply: make it flat")
    match event:
        case ScalarEvent(tag=None | "tag:yaml.org,2002:str"):
            # An escape in double quotes can bring back what was cleaned from the block.
            return _clean(event.value)
        case MappingStartEvent(tag=None):
            values: dict[str, Any] = {}
            while not isinstance(key := next(events), MappingEndEvent):
                if not isinstance(key, ScalarEvent):
                    raise InvalidMemory("a key of its front matter is not a word: make it one")
                name = _one_line(key.value)
                if name in values:
                    raise InvalidMemory(f"`{name}` is in its front matter twice: take one away")
                values[name] = _parse_value(next(events), events, depth - 1)
            return values
        case SequenceStartEvent(tag=None):
            items = []
            while not isinstance(each := next(events), SequenceEndEvent):
                items.append(_parse_value(each, events, depth - 1))
            return items
        case AliasEvent():
            raise InvalidMemory("it uses a YAML anchor (`*name`): write the value out")
    raise InvalidMemory("it uses a YAML tag (`!name`): take the tag away")


MAX_FILE_BYTES = 256 * 1024
INDEX_FILE, SUFFIX = "MEMORY.md", ".md"
# Whose values every program must read as texts.
TEXT_KEYS = ("name", "description", "evidence", "commit", "files", "replaces", "replaced_by")
ALWAYS_WRITTEN = ("name", "description", "type")
TITLE_KEY = "title"  # keeps a `name` that differs from the file's
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_TIME = 253_402_300_799_999  # the last millisecond of the year 9999
MAX_DERIVED_DESCRIPTION = 150  # characters, when it is taken from the body


def parse_memory(data: str | bytes, path: Path) -> Memory | Broken:
    """Its name is that of the file, whatever `name` says in it."""
    try:
        text = decode_text(data) if isinstance(data, bytes) else data
        return _parse_text(_clean(text), path.name.removesuffix(SUFFIX))
    except InvalidMemory as error:
        return Broken(path, str(error))


def render_memory(memory: Memory) -> str:
    """The file's text, without empty fields."""
    tidy = normalize(memory)
    head = {key: getattr(tidy, key) for key in FIELDS} | {
        "created": _format_time(tidy.created),
        "updated": _format_time(tidy.updated),
        "evidence": list(tidy.evidence),
        "files": dict(tidy.files),
        "replaces": list(tidy.replaces),
    }
    head = {key: value for key, value in head.items() if value or key in ALWAYS_WRITTEN}
    body = f"\n{tidy.body}\n" if tidy.body else ""
    return f"---\n{dump_front_matter(head | dict(tidy.extra))}---\n{body}"


def normalize(memory: Memory) -> Memory:
    """As it will be read back: clean, and on one line where a field is one line."""
    body = _trim_body(memory.body)
    files = {_one_line(path): _one_line(blob) for path, blob in memory.files}
    name = _clean(memory.name)
    return replace(
        memory,
        name=name,
        description=_one_line(memory.description) or _derive_description(body),
        body=body,
        created=_valid_time(memory.created),
        updated=_valid_time(memory.updated),
        evidence=_one_lines(memory.evidence),
        commit=_one_line(memory.commit or "") or None,
        files=tuple((path, blob) for path, blob in files.items() if path),
        replaces=tuple(each for each in _one_lines(memory.replaces) if each != name),  # not itself
        replaced_by=_one_line(memory.replaced_by or "") or None,
        extra={k: v for k, v in to_plain(memory.extra).items() if k not in FIELDS},
    )


def checksum(data: bytes) -> str:
    """Identifies the version of a file."""
    return hashlib.sha256(data).hexdigest()


def decode_text(data: bytes) -> str:
    """Raises InvalidMemory."""
    if len(data) > MAX_FILE_BYTES:
        raise InvalidMemory(f"it is larger than {MAX_FILE_BYTES // 1024} KB: split it")
    if b"\0" in data:
        raise InvalidMemory("it is not text: put a Markdown file there, or nothing")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidMemory("it is not UTF-8: save it as UTF-8") from None


def _parse_text(text: str, name: str) -> Memory:
    parts = split_front_matter(text)
    if parts is None:
        raise InvalidMemory("it has no front matter: begin it with `---`, `description: …`, `---`")
    extra = parse_front_matter(parts[0])
    read = {key: _read_field(extra, key) for key in FIELDS}
    read["body"] = _trim_body(parts[1])
    read["description"] = read["description"] or _derive_description(read["body"])
    if not read["description"]:
        raise InvalidMemory("it is empty: give it a `description`")
    metadata = extra.get("metadata")  # the client's
    kind = read["type"].lower()
    if not kind and isinstance(metadata, dict) and isinstance(metadata.get("type"), str):
        kind = metadata.pop("type").strip().lower()
        if not metadata:
            del extra["metadata"]
    if kind and kind not in TYPES:
        raise InvalidMemory(f"its type is {cut(kind, 40)!r}: use one of {', '.join(TYPES)}")
    # The least harmful type: it applies in one project and claims nothing about the user.
    read["type"] = kind or PROJECT
    title, read["name"] = read["name"], name
    if title and title != _one_line(name):
        extra.setdefault(TITLE_KEY, title)
    return Memory(**read, extra=extra)


def _read_field(values: dict[str, Any], key: str) -> Any:
    """Takes it out of the values."""
    read, form = FIELDS[key]
    value = values.pop(key, None)
    try:
        return read(value)
    except (ValueError, KeyError, OverflowError):
        raise InvalidMemory(f"`{key}` is {cut(str(value), 40)!r}: write {form}") from None


def _read_line(value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError("not a text")
    return " ".join((value or "").split())


def _read_lines(value: Any) -> tuple[str, ...]:
    return tuple(filter(None, map(_read_line, value if isinstance(value, list) else [value])))


def _read_flag(value: Any) -> bool:
    return FLAGS[_read_line(value).lower()]


def _read_time(value: Any) -> int:
    word = _read_line(value)
    at = datetime.fromisoformat(word) if word else EPOCH
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return _valid_time((at - EPOCH) // timedelta(milliseconds=1))


def _read_files(value: Any) -> tuple[tuple[str, str], ...]:
    """Path and blob id; a plain list of paths has no ids."""
    if not isinstance(value, dict):
        return tuple((path, "") for path in dict.fromkeys(_read_lines(value)))
    return tuple((path, _read_line(each)) for path, each in value.items() if path)


FLAGS = dict.fromkeys(("", "false", "no", "off"), False) | dict.fromkeys(
    ("true", "yes", "on"), True
)
# Keys of the front matter that are fields of `Memory`, in the order of the file; how they are read, and the
# form that is expected.
LINE, LINES = (_read_line, "it on one line"), (_read_lines, "`- …` lines")
TIME = (_read_time, "a date such as 2025-11-16T09:30:00Z")
FIELDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "name": LINE,
    "description": LINE,
    "type": LINE,
    "pinned": (_read_flag, "true or false"),
    "created": TIME,
    "updated": TIME,
    "evidence": LINES,
    "commit": (lambda value: _read_line(value) or None, LINE[1]),
    "files": (_read_files, "`path: content` lines, as git names contents"),
    "replaces": LINES,
    "replaced_by": (lambda value: _read_line(value) or None, LINE[1]),
}


def _format_time(at: int) -> str:
    if not at:
        return ""
    text = (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00").removesuffix(".000") + "Z"


def _valid_time(at: int) -> int:
    return at if 0 < at <= MAX_TIME else 0


def _clean(text: str) -> str:
    return clean(sqlite_safe(text))


def _one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _one_lines(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, map(_one_line, texts)))


def _trim_body(text: str) -> str:
    """Removes empty lines at both ends; an indented first line stays indented."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", _clean(text)).rstrip()


def _derive_description(body: str) -> str:
    return cut(_one_line(body.lstrip("#-* \n\t").partition("\n")[0]), MAX_DERIVED_DESCRIPTION)


# Why and when a memory was retired, and its path before that, below the folder of all memories.
RETIRED_FROM, RETIRED_AT, RETIRED_REASON = "retired_from", "retired_at", "retired_because"


def original_name(retired: StoredMemory) -> str:
    """Its name before it was retired: the file may have got a number, because of an older one."""
    path = retired.memory.extra.get(RETIRED_FROM)
    name = Path(path).name.removesuffix(".md") if isinstance(path, str) else ""
    return retired.memory.name if name_problem(name) else name


def set_times(memory: Memory, old: Memory | None, now: int) -> Memory:
    """Fills in a missing `created`, and `updated` if something else changed."""
    tidy = normalize(memory)
    tidy = replace(tidy, created=tidy.created or (old.created if old else now))
    if old is None or tidy.updated not in (0, old.updated):
        return tidy
    same = replace(tidy, updated=old.updated)
    return same if same == old else replace(tidy, updated=now)


def render_checked(memory: Memory, path: Path) -> bytes:
    """Raises MemoryRefused if it could not be read back."""
    data = render_memory(memory).encode()
    if len(data) > MAX_FILE_BYTES:
        raise MemoryRefused(
            f"The memory is larger than {MAX_FILE_BYTES // 1024} KB. Make it shorter."
        )
    read = parse_memory(data, path)
    if isinstance(read, Broken):
        raise MemoryRefused(f"The memory {memory.name!r} was not written: {read.why}.")
    return data
