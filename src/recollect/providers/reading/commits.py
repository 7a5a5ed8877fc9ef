"""A git commit, from the command that made it and from what git printed."""

import re
from dataclasses import dataclass

from recollect import text

SUBJECT_LIMIT = 120
LOOKED_AT = 20_000

PRINTED = re.compile(
    r"^\[([^\]\n]{1,100}?) (?:\(root-commit\) )?([0-9a-f]{6,40})\] (.+)$", re.MULTILINE
)
HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n\s*(.+)")
MESSAGE = re.compile(
    r"commit\b.*?\s(?:-\w*m|--message)[ =]?\s*(\"(?:\\.|[^\"\\])*\"|'[^']*'|\S+)", re.DOTALL
)
CONVENTIONAL = re.compile(r"([a-z]+)(?:\(([^)]{1,40})\))?!?: +(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Commit:
    """`label` and `scope` are those of a conventional subject: `fix(pricing): …`."""

    subject: str
    hash: str | None
    label: str | None
    scope: str | None

    @property
    def plain(self) -> str:
        """The subject without its conventional prefix."""
        return CONVENTIONAL.sub("", self.subject, count=1) if self.label else self.subject


def read_commits(command: str, output: str) -> tuple[Commit, ...]:
    """The commits git says it made; else the one the command asked for. For commands that worked."""
    printed = PRINTED.findall(text.ESCAPES.sub("", output[:LOOKED_AT]))
    if printed:
        return tuple(_commit(subject, short[:7]) for _, short, subject in printed)
    subject = _asked(command[:LOOKED_AT])
    return (_commit(subject, None),) if subject else ()


def _asked(command: str) -> str | None:
    at = command.find("commit")
    if at < 0:
        return None
    mark = MESSAGE.search(command, at)
    if mark and "<<" not in mark[1]:
        message = mark[1].strip("\"'").strip()
        return message.splitlines()[0] if message else None
    here = HEREDOC.search(command, at)
    return here[3] if here else None


def _commit(subject: str, short: str | None) -> Commit:
    line = text.one_line(subject, SUBJECT_LIMIT)
    mark = CONVENTIONAL.match(line)
    return Commit(
        subject=line,
        hash=short,
        label=mark[1].lower() if mark else None,
        scope=mark[2].lower() if mark and mark[2] else None,
    )
