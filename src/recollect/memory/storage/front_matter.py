"""The block of YAML at the head of a memory, read and written without ever building an object.

Only texts, whole numbers, true, false, null, lists and mappings are known. Everything else stays the text
that somebody wrote (`1.10`, `2025-11-16`, `yes`), so what is read and written back says the same. What could
not be written back as it was meant (tags, anchors, a key that is there twice) is refused.
"""

import io
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.nodes import Node, ScalarNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.representer import SafeRepresenter
from yaml.resolver import BaseResolver, Resolver
from yaml.scanner import Scanner

from recollect.text import clean, sqlite_safe

FENCE = re.compile(r"\A---[ \t]*\n(?P<block>(?:.*?\n)??)---[ \t]*(?:\n|\Z)", re.DOTALL)
TAG = "tag:yaml.org,2002:"
STR = TAG + "str"
BOOL, INT, NULL = (
    re.compile(each) for each in (r"true|false", r"0|-?[1-9][0-9]{0,17}", r"~|null|")
)
IMPLICIT = ((BOOL, "bool", "tf"), (INT, "int", "-0123456789"), (NULL, "null", ["~", "n", ""]))
DEEPEST = 20
OTHERS = Resolver()  # what most programs make of a plain word


class Unreadable(Exception):
    """The message says what is wrong and how to mend it."""


class _Slow(Reader, Scanner, Parser):
    """Where PyYAML came without libyaml."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)


# Of the loader we use the parser alone.
EVENTS: Callable[[str], Any] = yaml.CBaseLoader if yaml.__with_libyaml__ else _Slow


class _Resolver(BaseResolver):
    """What a plain word means; all others are texts."""


for _pattern, _tag, _first in IMPLICIT:
    _Resolver.add_implicit_resolver(
        TAG + _tag, re.compile(rf"^(?:{_pattern.pattern})$"), list(_first)
    )


class _Dumper(yaml.emitter.Emitter, yaml.serializer.Serializer, SafeRepresenter, _Resolver):
    """`careful`: a text is in quotes where another program would take it for a number or a date."""

    def __init__(self, stream: Any, *, careful: bool) -> None:
        self.careful = careful
        yaml.emitter.Emitter.__init__(self, stream, width=1 << 20, allow_unicode=True)
        yaml.serializer.Serializer.__init__(self)
        SafeRepresenter.__init__(self, default_flow_style=False, sort_keys=False)
        _Resolver.__init__(self)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class's name for it
        return True


def _text(dumper: _Dumper, value: str) -> Node:
    """In quotes where a line end or an edge of blanks could be lost."""
    if value != value.strip() or any(c in value for c in "\n\t\u2028\u2029"):
        return dumper.represent_scalar(STR, value, style='"')
    mistaken = dumper.careful and OTHERS.resolve(ScalarNode, value, (True, False)) != STR  # type: ignore[no-untyped-call]
    return dumper.represent_scalar(STR, value, style="'" if mistaken else None)


_Dumper.add_representer(str, _text)


def split(text: str) -> tuple[str, str] | None:
    """The block and what follows it; None where a file has no front matter."""
    found = FENCE.match(text)
    return (found["block"], text[found.end() :]) if found else None


def read(block: str) -> dict[str, Any]:
    """Of a clean text. Raises Unreadable."""
    try:
        return _Reading(block).document()
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise Unreadable(
            f"its front matter is not YAML{line}: {error.problem}. Mend it; put a text with `: ` or `#` into "
            "quotes"
        ) from None
    except yaml.YAMLError:
        raise Unreadable("its front matter is not YAML: mend it") from None


def write(values: Mapping[str, Any], texts: Collection[str] = ()) -> str:
    """Of plain values, see `plain`. `texts`: keys whose values are texts and nothing else to anybody."""
    stream = io.StringIO()
    for key, value in values.items():
        dumper = _Dumper(stream, careful=key in texts)
        dumper.open()
        dumper.represent({key: value})
        dumper.close()
    return stream.getvalue()


def plain(value: Any, depth: int = DEEPEST) -> Any:
    """As it will be read back."""
    match value:
        case None | bool():
            return value
        case int():
            return value if abs(value) < 10**18 else str(value)
        case Mapping() if depth:
            return {_key(key): plain(each, depth - 1) for key, each in value.items()}
        case list() | tuple() | set() | frozenset() if depth:
            return [plain(each, depth - 1) for each in value]
        case _:
            return sqlite_safe(clean(str(value)))


def _key(key: Any) -> str:
    return " ".join(sqlite_safe(clean(str(key))).split())


class _Reading:
    """Values right from the events of the parser: no node, no constructor, nothing that a tag could name."""

    def __init__(self, block: str) -> None:
        self._parser = EVENTS(block)

    def document(self) -> dict[str, Any]:
        self._next()  # the stream begins
        if isinstance(self._next(), StreamEndEvent):
            return {}
        first = self._next()
        found = self._value(first, DEEPEST)
        if not isinstance(self._next(), DocumentEndEvent) or not isinstance(
            self._next(), StreamEndEvent
        ):
            raise Unreadable("its front matter ends twice: take the line `---` or `...` away")
        if found is None:  # comments alone
            return {}
        if not isinstance(found, dict):
            raise Unreadable("its front matter has no `key: value` lines: write `description: …`")
        return found

    def _next(self) -> Event:
        event = self._parser.get_event()
        assert isinstance(event, Event)
        return event

    def _value(self, event: Event, depth: int) -> Any:
        if not depth:
            raise Unreadable("its front matter is nested too deeply: make it flat")
        match event:
            case ScalarEvent():
                return _scalar(event)
            case MappingStartEvent(tag=None):
                return self._mapping(depth)
            case SequenceStartEvent(tag=None):
                found = []
                while not isinstance(each := self._next(), SequenceEndEvent):
                    found.append(self._value(each, depth - 1))
                return found
            case AliasEvent():
                # A few lines of these can stand for more than fits into memory.
                raise Unreadable("it uses a YAML anchor (`*name`): write the value out")
        raise Unreadable("it uses a YAML tag (`!name`): take the tag away")

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(key := self._next(), MappingEndEvent):
            if not isinstance(key, ScalarEvent):
                raise Unreadable("a key of its front matter is not a word: make it one")
            name = " ".join(_said(key).split())
            if name in found:
                raise Unreadable(f"`{name}` is in its front matter twice: take one away")
            found[name] = self._value(self._next(), depth - 1)
        return found


def _scalar(event: ScalarEvent) -> Any:
    if event.tag not in (None, STR):
        raise Unreadable("it uses a YAML tag (`!name`): take the tag away")
    word = event.value
    if event.tag is None and event.implicit[0]:  # neither a tag nor quotes
        if BOOL.fullmatch(word):
            return word == "true"
        if INT.fullmatch(word):
            return int(word)
        if NULL.fullmatch(word):
            return None
    return _said(event)


def _said(event: ScalarEvent) -> str:
    """Only between double quotes can there be something that the clean block did not show."""
    word = str(event.value)
    return sqlite_safe(clean(word)) if event.style == '"' else word
