"""What a turn says, indexed once: the text that names, numbers and quotations of a reply must occur in.

Events, the prompt, the last message and the titles of this turn that nothing speaks against count alike here:
somebody said it, so the model did not make it up. The session's other titles are no evidence: a name that was
made up once would bear itself out. Whether a command succeeded is not looked up in text but in `runs`.

Of a turn no more than `MOST` characters are indexed, and half as much of the events before it.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from recollect.english import NUMBER_WORDS
from recollect.model.events import CommandRun, FileChanged, FileRead, OtherTool, ToolUsed
from recollect.model.turns import Turn, TurnEvent
from recollect.providers.reading.markup import plain_prompt
from recollect.providers.reading.steps import AGENTS, SEARCHES, Edit, Run, Step, read_steps
from recollect.synthesis.grounding.seen import TAIL, Seen, ends, see
from recollect.synthesis.grounding.wording import IDENTIFIER, squeezed, stems, stream
from recollect.text import words

MOST = 3_000_000
NUMBER = re.compile(r"[0-9]+(?:[.,_][0-9]+)*")
LOOKING = frozenset((*SEARCHES, *AGENTS)) | frozenset(
    words(
        "LS TodoWrite TaskList TaskGet TaskCreate TaskUpdate AskUserQuestion ExitPlanMode "
        "EnterPlanMode BashOutput TaskOutput KillShell ToolSearch NotebookRead Skill "
        "ListMcpResourcesTool ReadMcpResourceTool"
    )
)
READING = frozenset(("routine", "test", "lint", "type check", "server", "push"))
FILE_NAME = re.compile(
    r"(?<![A-Za-z0-9_@+.-])[A-Za-z0-9_@+-]{1,80}(?:\.[A-Za-z0-9_-]{1,40}){0,4}\.[A-Za-z]{1,5}\b"
)
STEMMED = 40_000  # characters of one event


@dataclass(frozen=True, eq=False)
class Sources:
    """`seen` are the batch's own events; `steps` what they come to, `earlier` the runs before them."""

    turn: Turn
    seen: tuple[Seen, ...]
    steps: tuple[Step, ...]
    earlier: tuple[Step, ...]
    text: str

    @staticmethod
    def of(turn: Turn) -> "Sources":
        return _sources(turn)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        return tuple(step for step in self.steps if isinstance(step, Run))

    @cached_property
    def runs_before(self) -> tuple[Run, ...]:
        return tuple(step for step in self.earlier if isinstance(step, Run))

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(step for step in self.steps if isinstance(step, Edit))

    @cached_property
    def commands(self) -> tuple[str, ...]:
        """Every command line of the session that is known here."""
        items = (item.event.what for item in (*self.turn.events, *self.turn.before))
        tools = (what.action for what in items if isinstance(what, ToolUsed))
        return tuple(dict.fromkeys(a.command[:TAIL] for a in tools if isinstance(a, CommandRun)))

    @cached_property
    def may_write(self) -> bool:
        """Something in the batch changed a file, or could have: a script, a tool nobody knows."""
        if self.edits or any(not run.command.kinds <= READING for run in self.runs):
            return True
        tools = (seen.item.event.what for seen in self.seen)
        return any(
            isinstance(what, ToolUsed)
            and isinstance(what.action, OtherTool)
            and what.name not in LOOKING
            for what in tools
        )

    @cached_property
    def words(self) -> frozenset[str]:
        found = frozenset(IDENTIFIER.findall(self.text))
        return found | {word.strip("$") for word in found if "$" in word}

    @cached_property
    def lowered(self) -> frozenset[str]:
        return frozenset(word.lower() for word in self.words)

    @cached_property
    def squeezed(self) -> str:
        return squeezed(self.text)

    @cached_property
    def stream(self) -> str:
        return f" {stream(self.text)} "

    @cached_property
    def file_names(self) -> frozenset[str]:
        return frozenset(FILE_NAME.findall(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stem for word in self.words for stem in stems(word))

    @cached_property
    def done(self) -> frozenset[str]:
        """The stems of all that was changed and run in the batch."""
        return frozenset(
            stem for seen in self.seen for stem in stems(f"{seen.path} {seen.did[:STEMMED]}")
        )

    @cached_property
    def done_before(self) -> frozenset[str]:
        """The same of the files changed before it."""
        tools = (item for item in self.turn.before if isinstance(item.event.what, ToolUsed))
        seen = (see(item) for item in tools if not _is_command(item))
        return frozenset(
            stem for s in seen if s.did for stem in stems(f"{s.path} {s.did[:STEMMED]}")
        )

    @cached_property
    def numbers(self) -> frozenset[str]:
        found = {NUMBER_WORDS[word] for word in self.lowered & NUMBER_WORDS.keys()}
        for token in set(NUMBER.findall(self.text)):
            found |= _forms(token)
        return frozenset(found | {str(n) for n in self.counts})

    @cached_property
    def values(self) -> tuple[float, ...]:
        return tuple(float(n) for n in self.numbers if n.count(".") < 2 and len(n) < 18)

    @cached_property
    def counts(self) -> frozenset[int]:
        """What a reader can find by counting: files, edits, commands, lines, tests."""
        patches = [edit.patch for edit in self.edits]
        changed, looked = {p.path for p in patches}, {s.path for s in self.seen if s.path}
        found = [
            len(self.seen),
            len(self.runs),
            len(patches),
            len(changed),
            len(looked),
            len(looked - changed),
        ]
        found += [sum(p.plus for p in patches), sum(p.minus for p in patches)]
        for patch in patches:
            found += [patch.plus, patch.minus, patch.plus + patch.minus, len(patch.added)]
            found.append(sum("test" in s.name.lower() for s in patch.added))
        for tally in (run.outcome.tally for run in (*self.runs, *self.runs_before)):
            if tally:
                found += [tally.failed, tally.passed or 0, tally.failed + (tally.passed or 0)]
        found += [run.outcome.verdict == "failed" for run in self.runs]
        return frozenset(int(n) for n in found)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The line ranges that were read or changed."""
        found: list[tuple[int, int]] = []
        for seen in self.seen:
            action = getattr(seen.item.event.what, "action", None)
            if isinstance(action, FileRead):
                found.append((action.first_line, action.first_line + action.lines))
                found.append((action.total_lines, action.total_lines))
            elif isinstance(action, FileChanged):
                found += [(h.new_start, h.new_start + len(h.lines)) for h in action.hunks]
                found += [(h.old_start, h.old_start + len(h.lines)) for h in action.hunks]
                found.append((1, (action.after or "")[:MOST].count("\n") + 1))
        return tuple(found)

    def says(self, phrase: str) -> bool:
        """The words of the phrase stand there in a row, whatever stands between them."""
        return f" {stream(phrase)} " in self.stream

    def has_code(self, snippet: str) -> bool:
        return squeezed(snippet) in self.squeezed


@lru_cache(maxsize=1)
def _sources(turn: Turn) -> Sources:
    seen = tuple(see(item) for item in turn.events)
    said = [
        turn.prompt or "",
        plain_prompt(turn.prompt or ""),
        turn.last_message or "",
        turn.project,
        turn.root,
    ]
    observed = [draft.title or "" for draft in turn.observed if not draft.doubts]
    here = "\n".join(map(ends, said + observed))[:MOST]
    here = _joined([here, *(s.whole for s in seen)], MOST)
    before = _joined([s.whole for s in map(see, reversed(turn.before))], MOST // 2)
    commands = [item for item in turn.before if _is_command(item)]
    return Sources(
        turn,
        seen,
        read_steps(turn.events, turn.root),
        read_steps(commands, turn.root),
        f"{here}\n{before}",
    )


def _joined(texts: list[str], limit: int) -> str:
    """Each gets its share when there is too much: a name must not go unseen because it came late."""
    share = max(400, limit // max(1, len(texts)))
    long = sum(map(len, texts)) > limit
    return "\n".join(ends(t, share * 3 // 4, share // 4) if long else t for t in texts)


def _is_command(item: TurnEvent) -> bool:
    return isinstance(item.event.what, ToolUsed) and isinstance(item.event.what.action, CommandRun)


def _forms(token: str) -> set[str]:
    """How a number may be said again: without separators, rounded, or a part of a version."""
    if len(token) > 40:
        return {token}
    plain = token.replace("_", "").replace(",", "")
    parts = re.split(r"[.,_]", token)
    found = {token, plain, *parts, *(part.lstrip("0") or "0" for part in parts)}
    dotted = plain.split(".")
    found |= {".".join(dotted[:n]) for n in range(1, len(dotted))}
    if len(dotted) == 2 and len(plain) < 18:
        value = float(plain)
        found |= {f"{value:.{places}f}" for places in range(3)} | {f"{value:g}"}
    return found
