"""Prompts and messages as plain sentences: Markdown, pasted traces and the client's tags taken off."""

import re
from dataclasses import dataclass

from recollect import text
from recollect.model import prose

FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
TRACE = re.compile(
    r"^(?:[ \t]*File \".*\", line \d+.*|Traceback \(most.*|[ \t]+at \S+.*\(.*\)?|[ \t]+at \S+:\d+.*"
    r"|E[ ]{2,}.*|[ \t]*\^+[ \t]*|[ \t]*(?:[\w.]+\.)?\w+(?:Error|Exception): .*|goroutine \d+.*"
    r"|[ \t]+[│|].*|[ \t]{4,}\S.*|(?:FAILED|PASSED|ERROR) \S+.*|\[?\d{4}-\d\d-\d\d[T ]\d\d:.*)$",
    re.MULTILINE,
)
MACHINE = re.compile(
    r"<(system-reminder|local-command-[a-z]+|command-message|bash-std[a-z]+|task-notification"
    r"|ide_[a-z_]+|recollect[\w-]*)\b[^>]*>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
SLASH = re.compile(r"<command-name>\s*(/?\S+)\s*</command-name>")
ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)")
EMPHASIS = re.compile(r"\*\*|__|~~|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")
HEADING = re.compile(r"^\s*#{1,6}\s+(.+?)\s*#*$")
LABEL = re.compile(r"^\s*(?:\*\*|__)([^*_\n]{2,60}?):?(?:\*\*|__):?\s*$")
LOOKED_AT = 12_000


def plain_prompt(prompt: str) -> str:
    """What the user wrote, without pasted code and traces and without what the client added."""
    raw = text.clean(prompt[:LOOKED_AT])
    if raw.lstrip().startswith("<task-notification>"):
        return ""
    called = SLASH.search(raw)
    if called:
        said = ARGUMENTS.search(raw)
        raw = f"{called[1]} {said[1] if said else ''}"
    raw = MACHINE.sub("\n", raw)
    lines = TRACE.sub("", FENCE.sub("\n", raw)).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(">")).strip()


def plain_line(line: str) -> str:
    """One line of Markdown as text; code keeps its backticks."""
    return " ".join(EMPHASIS.sub("", LINK.sub(r"\1", line)).split())


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or a bullet, and the heading it stands under."""

    text: str
    heading: str
    bullet: bool


def blocks(source: str) -> list[Block]:
    """Lines that belong together joined; code, tables and rules left out."""
    found: list[Block] = []
    above, open_block = "", False
    for line in FENCE.sub("\n\n", source[:LOOKED_AT]).splitlines():
        title = heading(line)
        if title is not None or not line.strip() or _is_table(line):
            above, open_block = title or above, False
        elif open_block and not prose.BULLET.match(line):
            last = found[-1]
            found[-1] = Block(f"{last.text} {plain_line(line)}", last.heading, last.bullet)
        else:
            found.append(
                Block(plain_line(prose.BULLET.sub("", line)), above, bool(prose.BULLET.match(line)))
            )
            open_block = True
    return [block for block in found if block.text]


def sentences(source: str) -> list[str]:
    """The sentences of some Markdown, in order. A bullet or a line of its own is one or more."""
    return [sentence for block in blocks(source) for sentence in split(block.text)]


def split(paragraph: str) -> list[str]:
    return [part for part in prose.split(paragraph, prose.SENTENCE_END) if part.strip(" .!-*_")]


def _is_table(line: str) -> bool:
    bare = line.strip()
    return bare.startswith("|") or not bare.strip("-=_*| ")


def heading(line: str) -> str | None:
    """The words of a heading, or of a bold line that stands for one."""
    mark = HEADING.match(line) or LABEL.match(line)
    return prose.BULLET.sub("", plain_line(mark[1])).rstrip(":") if mark else None
