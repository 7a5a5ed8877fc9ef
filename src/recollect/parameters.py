"""What a tool takes: declared once, shown as JSON Schema, and read from whatever a model sends.

Reading is generous where the meaning is plain (`"10"` is a number, one name is a list of one) and refuses
everything else with a message that says what to send.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from recollect.text import clean, fenced, one_line

# `texts` and `flag` are None where nothing was said: then nothing is to be changed.
Kind = Literal["text", "names", "texts", "number", "switch", "flag", "json"]
Schema = dict[str, Any]

LONGEST = 100_000  # characters; nobody asks a longer question
MOST_NAMES = 50
SWITCHES = {
    "true": True,
    "yes": True,
    "1": True,
    "false": False,
    "no": False,
    "0": False,
    "": False,
}


class Misused(ValueError):
    """A call that cannot be understood. The message names what to send instead."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`most`: of a number, or the characters of a text. `default` goes into the schema where it says
    something."""

    name: str
    about: str = ""
    kind: Kind = "text"
    required: bool = False
    choices: tuple[str, ...] = ()
    default: str | int | None = None
    least: int = 1
    most: int = LONGEST

    def schema(self) -> Schema:
        found: Schema = {}
        match self.kind:
            case "text":
                found["type"] = "string"
            case "names" | "texts":
                found |= {"type": "array", "items": {"type": "string"}}
            case "number":
                found |= {"type": "integer", "minimum": self.least, "maximum": self.most}
            case "switch" | "flag":
                found["type"] = "boolean"
            case "json":
                pass  # any value, as it is
        if self.choices:
            (found["items"] if self.kind in ("names", "texts") else found)["enum"] = list(
                self.choices
            )
        if self.default is not None:
            found["default"] = self.default
        if self.about:
            found["description"] = self.about
        return found

    def read(self, value: object) -> Any:
        """What the tool gets: text, a tuple of texts, a number or a truth value."""
        match self.kind:
            case "text":
                return self._chosen(self._text(value))
            case "names" | "texts":
                items = value if isinstance(value, list | tuple) else [value]
                if len(items) > MOST_NAMES:
                    raise Misused(f"`{self.name}` takes at most {MOST_NAMES} items.")
                texts = [self._text(item) for item in items]
                return tuple(self._chosen(text) for text in texts if text)
            case "number":
                return self._number(value)
            case "switch" | "flag":
                return self._switch(value)
            case "json":
                return value

    def _text(self, value: object) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise Misused(f"`{self.name}` must be text, not {_kind_of(value)}.")
        text = value if isinstance(value, str) else _digits(value)
        if len(text) > self.most:
            long = f"`{self.name}` has {len(text)} characters; at most {self.most} are taken."
            raise Misused(f"{long} Send a shorter one.")
        return clean(text).strip()

    def _chosen(self, text: str) -> str:
        if self.choices and text not in self.choices:
            wrong = fenced(one_line(text, 40))
            raise Misused(f"`{self.name}` is one of {', '.join(self.choices)}; not {wrong!r}.")
        return text

    def _number(self, value: object) -> int:
        if isinstance(value, str) and len(value) < 20:
            with suppress(ValueError):
                value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Misused(f"`{self.name}` must be a whole number, not {_kind_of(value)}.")
        return max(self.least, min(self.most, value))

    def _switch(self, value: object) -> bool:
        if isinstance(value, str | int) and (said := str(value).lower()[:10]) in SWITCHES:
            return SWITCHES[said]
        raise Misused(f"`{self.name}` must be true or false, not {_kind_of(value)}.")


def schema(parameters: Iterable[Parameter]) -> Schema:
    listed = list(parameters)
    found: Schema = {"type": "object", "properties": {p.name: p.schema() for p in listed}}
    if required := [p.name for p in listed if p.required]:
        found["required"] = required
    return found


def read(parameters: Iterable[Parameter], given: Mapping[str, object] | None) -> dict[str, Any]:
    """A value for every parameter: what was given, else its default."""
    known = {parameter.name: parameter for parameter in parameters}
    sent = {name: value for name, value in (given or {}).items() if value is not None}
    for name in sent:
        if name not in known:
            wrong = fenced(one_line(name, 40))
            raise Misused(
                f"There is no parameter {wrong!r}. There are: {', '.join(known) or 'none'}."
            )
    values: dict[str, Any] = {}
    for name, parameter in known.items():
        if name in sent:
            values[name] = parameter.read(sent[name])
        else:
            values[name] = () if parameter.kind == "names" else parameter.default
        if parameter.kind == "switch":
            values[name] = bool(values[name])
        nothing = (None,) if parameter.kind == "json" else (None, "", ())
        if parameter.required and values[name] in nothing:
            raise Misused(f"`{name}` is missing: {parameter.about or 'it must be given'}")
    return values


def _digits(value: int) -> str:
    """Python refuses to write a number of over 4,300 digits."""
    return str(value) if abs(value) < 10**20 else "9" * 30


def _kind_of(value: object) -> str:
    names = {dict: "an object", list: "a list", bool: "true or false", float: "a fraction"}
    return names.get(type(value), "something else") if value is not None else "null"
