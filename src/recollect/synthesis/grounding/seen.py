"""One event as text: what it changed or ran, and what it showed.

Only the head and the tail of a long text are kept: a model is shown far less than that.
"""

import json
from dataclasses import dataclass, replace

from recollect.model.events import (
    Action,
    CommandRun,
    FileChanged,
    FileRead,
    OtherTool,
    SubagentEnded,
    ToolUsed,
)
from recollect.model.turns import TurnEvent

HEAD, TAIL = 120_000, 40_000


@dataclass(frozen=True, slots=True)
class Seen:
    """One event as text.

    `path`: the file it is about; `did`: what it changed or ran; `shown`: what it printed or what was only
    looked at; `around`: the rest of the file that it changed.
    """

    item: TurnEvent
    path: str = ""
    did: str = ""
    shown: str = ""
    around: str = ""

    @property
    def told(self) -> str:
        return f"{self.did}\n{self.shown}"

    @property
    def whole(self) -> str:
        event, tool = self.item.event, self.item.event.tool or ""
        agent = event.subagent.type if event.subagent else ""
        return "\n".join((self.path, self.told, self.around, tool, agent, event.cwd))


def see(item: TurnEvent) -> Seen:
    what = item.event.what
    if isinstance(what, SubagentEnded):
        return Seen(item, shown=ends(what.last_message))
    if not isinstance(what, ToolUsed):
        return Seen(item)
    seen = _action(item, what.action)
    if what.duration_ms is not None:
        seen = replace(seen, shown=f"{seen.shown}\n{what.duration_ms} {what.duration_ms / 1000}")
    if what.failure is None:
        return seen
    told = f"{seen.shown}\n{ends(what.failure.error)}\n{what.failure.exit_code}"
    if isinstance(what.action, CommandRun):
        return replace(seen, shown=told)
    return replace(seen, did="", shown=f"{seen.did}\n{told}")


def _action(item: TurnEvent, action: Action) -> Seen:
    match action:
        case FileChanged(path=path, hunks=hunks):
            lines = "\n".join(line[1:] for hunk in hunks for line in hunk.lines)
            before = "" if action.created else ends(action.before or "")
            whole = f"{ends(action.after or '')}\n{before}"
            path = path.replace("\\", "/")
            return Seen(item, path, ends(lines), "", whole) if lines else Seen(item, path, whole)
        case FileRead(path=path, content=content):
            return Seen(item, path.replace("\\", "/"), shown=ends(content))
        case CommandRun() as run:
            did = f"{ends(run.command)}\n{run.description or ''}"
            return Seen(item, did=did, shown=f"{ends(run.stdout)}\n{ends(run.stderr)}")
        case OtherTool() as other:
            shown = f"{_plain(ends(other.input))}\n{_plain(ends(other.output))}"
            return Seen(item, shown=shown)


def _plain(source: str) -> str:
    """JSON text with its escapes undone, so that words and lines are words and lines again."""
    if "\\" not in source:
        return source
    try:
        value = json.loads(source)
        return json.dumps(value, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')
    except (ValueError, RecursionError):
        return source.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def ends(source: str, head: int = HEAD, tail: int = TAIL) -> str:
    return source if len(source) <= head + tail else f"{source[:head]}\n{source[-tail:]}"
