"""Parameters of MCP tools and HTTP endpoints: declared once, published as JSON Schema, checked when read.

Reading a model's call is lenient where the meaning is plain (`"10"` is a number, one name is a list of one,
a number out of range is clamped). `strict`, for programs, refuses those numbers and numbers for texts.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from aforesaid.errors import Misused
from aforesaid.text import clean, fenced, one_line

Kind = Literal["text", "names", "number", "flag", "json"]
Schema = dict[str, Any]

LONGEST = 100_000  # characters
MOST_NAMES = 50
TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0", "")


@dataclass(frozen=True, slots=True)
class Parameter:
    """`most`: the largest number, or the most characters of a text."""

    name: str
    about: str = ""
    kind: Kind = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    default: str | int | bool | tuple[str, ...] | None = None
    least: int = 1
    most: int = LONGEST

    def schema(self) -> Schema:
        enum = {"enum": list(self.choices)} if self.choices else {}
        found: Schema = enum  # for JSON: any value, as it is
        match self.kind:
            case "text":
                found = {"type": "string", **enum}
            case "names":
                found = {"type": "array", "items": {"type": "string", **enum}}
            case "number":
                found = {"type": "integer", "minimum": self.least, "maximum": self.most}
            case "flag":
                found = {"type": "boolean"}
        if self.default:
            found["default"] = self.default
        if self.about:
            found["description"] = self.about
        return found

    def read(self, value: object, *, strict: bool = False) -> Any:
        """Text, a tuple of texts, a number or a boolean."""
        match self.kind:
            case "text":
                return self._chosen(self._text(value, strict))
            case "names":
                items = value if isinstance(value, list | tuple) else [value]
                if len(items) > MOST_NAMES:
                    raise self._misused(f"takes at most {MOST_NAMES} items.")
                texts = [self._text(item, strict) for item in items]
                return tuple(self._chosen(text) for text in texts if text)
            case "number":
                return self._number(value, strict)
            case "flag":
                return self._flag(value)
            case "json":
                return value

    def _misused(self, problem: str) -> Misused:
        return Misused(f"`{self.name}` {problem}", self.name)

    def _text(self, value: object, strict: bool) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise self._misused(f"must be text, not {_kind_of(value)}.")
        if strict and isinstance(value, int):
            raise self._misused("must be text, not a number.")
        # Python refuses to write a number of over 4,300 digits.
        text = "9" * 30 if isinstance(value, int) and abs(value) >= 10**20 else str(value)
        if len(text) > self.most:
            limit = f"at most {self.most} are accepted. Send a shorter one."
            raise self._misused(f"has {len(text)} characters; {limit}")
        return clean(text).strip()

    def _chosen(self, text: str) -> str:
        if self.choices and text not in self.choices:
            wrong = fenced(one_line(text, 40))
            raise self._misused(f"is one of {', '.join(self.choices)}; not {wrong!r}.")
        return text

    def _number(self, value: object, strict: bool) -> int:
        if isinstance(value, str) and len(value) < 20:
            with suppress(ValueError):
                value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._misused(f"must be a whole number, not {_kind_of(value)}.")
        if strict and not self.least <= value <= self.most:
            raise self._misused(f"must be from {self.least} to {self.most}.")
        return max(self.least, min(self.most, value))

    def _flag(self, value: object) -> bool:
        if isinstance(value, str | int) and (text := str(value).lower()[:10]) in TRUE + FALSE:
            return text in TRUE
        raise self._misused(f"must be true or false, not {_kind_of(value)}.")


def schema(parameters: Iterable[Parameter]) -> Schema:
    listed = list(parameters)
    found: Schema = {"type": "object", "properties": {p.name: p.schema() for p in listed}}
    if required := [p.name for p in listed if p.required]:
        found["required"] = required
    return found


def read(
    parameters: Iterable[Parameter], given: Mapping[str, object] | None, *, strict: bool = False
) -> dict[str, Any]:
    """A value for every parameter: the given one, else its default."""
    known = {parameter.name: parameter for parameter in parameters}
    sent = {name: value for name, value in (given or {}).items() if value is not None}
    for name in sent:
        if name not in known:
            wrong, names = fenced(one_line(name, 40)), ", ".join(known) or "none"
            raise Misused(f"There is no parameter {wrong!r}. There are: {names}.", wrong)
    values: dict[str, Any] = {}
    for name, parameter in known.items():
        values[name] = parameter.default
        if name in sent:
            values[name] = parameter.read(sent[name], strict=strict)
        nothing = (None,) if parameter.kind == "json" else (None, "", ())
        if parameter.required and values[name] in nothing:
            raise Misused(f"`{name}` is missing: {parameter.about or 'it is required'}", name)
    return values


def _kind_of(value: object) -> str:
    names = {dict: "an object", list: "a list", bool: "true or false", float: "a fraction"}
    return names.get(type(value), "something else") if value is not None else "null"
