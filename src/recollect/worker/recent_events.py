"""What the newest events of a session tell its memory: what failed, which files were in use, and how much was
said since the last compaction."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from recollect.memory.sessions import MOST_TOKENS, Failed, Recent, Touched
from recollect.model.events import (
    Action,
    CommandRun,
    CompactionBegan,
    Event,
    Failure,
    FileChanged,
    FileRead,
    Happening,
    OtherTool,
    PromptSubmitted,
    ToolUsed,
    TurnEnded,
)
from recollect.providers.reading import complaints
from recollect.providers.reading.outcomes import REFUSED
from recollect.text import one_line, tokens


def read(newest_first: Iterable[Event]) -> Recent:
    """Back to the compaction before, or to where there is more than a page can stand for."""
    seen = _Seen()
    for event in newest_first:
        # The compaction that is under way may be there already, or not: nothing comes behind it.
        if isinstance(event.what, CompactionBegan) and seen.messages + seen.tokens:
            break
        seen.take(event)
        if seen.tokens > MOST_TOKENS:
            break
    return Recent(tuple(seen.failed[::-1]), tuple(seen.touched[::-1]), seen.tokens, seen.messages)


@dataclass(slots=True)
class _Seen:
    """Newest first."""

    failed: list[Failed] = field(default_factory=list)
    touched: list[Touched] = field(default_factory=list)
    tokens: int = 0
    messages: int = 0
    worked: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)

    def take(self, event: Event) -> None:
        what = event.what
        if isinstance(what, ToolUsed):
            if what.failure is None and isinstance(what.action, FileChanged | FileRead):
                self.touched.append(Touched(what.action.path, isinstance(what.action, FileChanged)))
            if event.subagent is None:
                self._outcome(what)
        if event.subagent is None:  # what a sub-agent saw is not in this conversation
            said = [text for text in _texts(what) if text]
            self.tokens += sum(map(tokens, said))
            self.messages += bool(said) and not isinstance(what, ToolUsed)

    def _outcome(self, tool: ToolUsed) -> None:
        """The newest of each command counts, and whether it went well later."""
        what = _named(tool)
        if tool.failure is None:
            self.worked.add(what)
        elif what not in self.told and (error := _complaint(tool.failure)):
            self.told.add(what)
            self.failed.append(Failed(what, error, mended=what in self.worked))


def _named(tool: ToolUsed) -> str:
    match tool.action:
        case CommandRun(command=command):
            return one_line(command, 300)
        case FileChanged(path=path) | FileRead(path=path):
            return f"{tool.name} {path}"
        case _:
            return tool.name


def _complaint(failure: Failure) -> str | None:
    """What went wrong; nothing where somebody did not want it."""
    if failure.interrupted or (failure.exit_code is None and REFUSED.search(failure.error[:600])):
        return None
    return complaints.complaint(complaints.window(failure.error))


def _texts(what: Happening) -> Iterator[str]:
    match what:
        case PromptSubmitted(text=text, by_machine=False):
            yield text
        case TurnEnded(last_message=text):
            yield text
        case ToolUsed(action=action, failure=failure):
            yield from _shown(action)
            if failure is not None:
                yield failure.error


def _shown(action: Action) -> Iterator[str]:
    """What the model has seen of it, about."""
    match action:
        case CommandRun(command=command, stdout=stdout, stderr=stderr):
            yield from (command, stdout, stderr)
        case FileRead(content=content):
            yield content
        case FileChanged(hunks=hunks, after=after):
            yield "\n".join(line for hunk in hunks for line in hunk.lines) or after or ""
        case OtherTool(input=given, output=output):
            yield from (given, output)
