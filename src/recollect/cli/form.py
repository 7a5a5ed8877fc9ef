"""An observation as a text that a person can edit, and back.

Sections instead of TOML or XML: nothing in a text needs an escape but a line that looks like the head of a
section, and that gets one. What was written and not touched comes back as it was.
"""

import re
from dataclasses import dataclass, field

from recollect.model.editing import Fields, Unusable, checked
from recollect.model.observations import TYPES
from recollect.text import clean

HELP = """\
# Observation #{number}. Save and close to store it; close without saving to leave it as it is.
# The lines up to [type] are left out. Each section ends where the next one begins.
# type is one of: {types}.
# facts: a line each; a line that is indented carries on the one above. concepts: a line each.
"""
TEXTS = ("type", "title", "subtitle", "narrative")
LISTS = ("facts", "concepts")
SECTIONS = ("type", "title", "subtitle", "facts", "narrative", "concepts")
HEAD = re.compile(rf"\[({'|'.join(SECTIONS)})\][ \t]*")
ESCAPED = re.compile(rf"\\+\[(?:{'|'.join(SECTIONS)})\][ \t]*")
BULLET = "- "
CONTINUED = "  "


@dataclass(slots=True)
class _Section:
    lines: list[str] = field(default_factory=list)

    def text(self) -> str | None:
        return "\n".join(self.lines).strip() or None

    def items(self) -> list[str]:
        found: list[list[str]] = []
        for line in self.lines:
            if found and (line.startswith(CONTINUED) or not line.strip()):
                found[-1].append(line.removeprefix(CONTINUED))
            elif line.strip():
                found.append([line.removeprefix(BULLET)])
        texts = ("\n".join(lines).strip() for lines in found)
        return [text for text in texts if text]


def written(number: int, fields: Fields) -> str:
    parts = [HELP.format(number=number, types=", ".join(TYPES))]
    for name in SECTIONS:
        value = fields[name]
        lines = _items(value) if isinstance(value, list) else (value or "").split("\n")
        parts.append("\n".join((f"[{name}]", *map(_escape, lines), "")))
    return "\n".join(parts)


def read(text: str) -> Fields | Unusable:
    sections: dict[str, _Section] = {}
    current = _Section()
    for line in clean(text).split("\n"):
        if head := HEAD.fullmatch(line):
            if head[1] in sections:
                return Unusable(f"[{head[1]}] is there twice")
            current = sections[head[1]] = _Section()
        else:
            current.lines.append(line.removeprefix("\\") if ESCAPED.fullmatch(line) else line)
    missing = [f"[{name}]" for name in SECTIONS if name not in sections]
    if missing:
        return Unusable(
            f"{', '.join(missing)} is missing; leave a section empty, but leave its head"
        )
    texts = {name: sections[name].text() for name in TEXTS}
    return checked(texts | {name: sections[name].items() for name in LISTS})


def _items(values: list[str]) -> list[str]:
    return [BULLET + value.replace("\n", f"\n{CONTINUED}") for value in values]


def _escape(line: str) -> str:
    return "\\" + line if HEAD.fullmatch(line) or ESCAPED.fullmatch(line) else line
