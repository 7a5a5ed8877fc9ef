"""What a model wrote, checked against the events it wrote about, without a model (C9).

Small models invent names, copy the worked example, tell a plan as done, or call a failed command a success.
Nothing is taken out of a draft: what the events do not bear out gets a `Doubt` with the reason. Which files
were changed is never the model's to say; that comes from the tools' own input.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from recollect.model.events import FileChanged, FileRead, ToolUsed
from recollect.model.observations import Doubt, ObservationDraft, SummaryDraft
from recollect.model.turns import Turn, TurnEvent
from recollect.providers.reading.steps import relative
from recollect.synthesis.grounding.claims import LOOKED_AT, read_claims
from recollect.synthesis.grounding.echoes import echoes
from recollect.synthesis.grounding.evidence import find_evidence, parts
from recollect.synthesis.grounding.figures import spelled
from recollect.synthesis.grounding.occurrence import doubt_of, has_path
from recollect.synthesis.grounding.plans import plan_doubts
from recollect.synthesis.grounding.sources import Sources
from recollect.synthesis.grounding.variants import variants
from recollect.synthesis.grounding.verdicts import outcome_doubts

MOST_DOUBTS = 4  # of one part: more reasons make it no more doubtful
ECHO = "repeats the worked example"
VARIANT = "one of many variants of the same sentence"
UNNAMED = "the agent named no next step"
NO_FILE = re.compile(r"\W*(?:none|n/?a|null|nil|unknown|no files?.*)?\W*", re.IGNORECASE)


def ground_observation(
    draft: ObservationDraft, turn: Turn, examples: Sequence[str] = ()
) -> ObservationDraft:
    sources = Sources.of(turn)
    evidence = find_evidence(draft, sources)
    doubts = [d for part, text in parts(draft) for d in _doubts(part, text, sources, examples)]
    doubts += [Doubt(f"facts {place}", VARIANT) for place in variants(draft.facts)]
    changed, looked = _changed(evidence, turn.root), _looked(evidence, turn.root)
    named = [*draft.files_read, *draft.files_modified]
    files_read, strange = _files(looked, named, changed, sources)
    return replace(
        draft,
        doubts=tuple(doubts + strange),
        evidence=tuple(dict.fromkeys(item.id for item in evidence)),
        files_read=files_read,
        files_modified=changed,
        subagent_type=_helper(evidence),
    )


def ground_summary(draft: SummaryDraft, turn: Turn, examples: Sequence[str] = ()) -> SummaryDraft:
    sources = Sources.of(turn)
    told = (
        ("request", draft.request, False),
        ("investigated", draft.investigated, True),
        ("learned", draft.learned, True),
        ("completed", draft.completed, True),
        ("next_steps", draft.next_steps, False),
        ("notes", draft.notes, True),
    )
    doubts = [
        doubt
        for part, text, past in told
        if text
        for doubt in _doubts(part, text, sources, examples, past=past)
    ]
    if draft.next_steps and not turn.last_message:
        doubts.append(Doubt("next_steps", UNNAMED))
    changed, looked = _changed(turn.events, turn.root), _looked(turn.events, turn.root)
    named = [*draft.files_read, *draft.files_edited]
    files_read, strange = _files(looked, named, changed, sources)
    return replace(
        draft, doubts=tuple(doubts + strange), files_read=files_read, files_edited=changed
    )


def _doubts(
    part: str, text: str, sources: Sources, examples: Sequence[str], *, past: bool = True
) -> list[Doubt]:
    """`past`: the part tells what happened; a request or a next step does not."""
    reasons = dict.fromkeys(_reasons(text[:LOOKED_AT], sources, examples, past=past))
    return [Doubt(part, reason) for reason in list(reasons)[:MOST_DOUBTS]]


def _reasons(text: str, sources: Sources, examples: Sequence[str], *, past: bool) -> Iterator[str]:
    if echoes(text, examples, sources):
        yield ECHO
    for claim in (*read_claims(text), *spelled(text)):
        if reason := doubt_of(claim, sources):
            yield reason
    if past:
        yield from outcome_doubts(text, sources)
        yield from plan_doubts(text, sources)


def _changed(events: Iterable[TurnEvent], root: str) -> tuple[str, ...]:
    return _paths(events, root, FileChanged)


def _looked(events: Iterable[TurnEvent], root: str) -> tuple[str, ...]:
    return _paths(events, root, FileRead)


def _paths(
    events: Iterable[TurnEvent], root: str, kind: type[FileChanged | FileRead]
) -> tuple[str, ...]:
    """What failed did not happen."""
    found: dict[str, None] = {}
    for item in events:
        what = item.event.what
        if isinstance(what, ToolUsed) and what.failure is None and isinstance(what.action, kind):
            found[relative(what.action.path, root)] = None
    return tuple(found)


def _files(
    looked: tuple[str, ...], named: Iterable[str], changed: tuple[str, ...], sources: Sources
) -> tuple[tuple[str, ...], list[Doubt]]:
    """The files that were read, then those the model named, by the name that the events use."""
    files = list(looked)
    known = [relative(seen.path, sources.turn.root) for seen in sources.seen if seen.path]
    doubts: list[Doubt] = []
    for name in named:
        if NO_FILE.fullmatch(name):
            continue
        path = relative(name, sources.turn.root).removeprefix("./")
        ends = {k for k in known if k == path or k.endswith("/" + path) or path.endswith("/" + k)}
        path = ends.pop() if len(ends) == 1 else path
        if path in files or path in changed:
            continue
        if not has_path(path, sources):
            doubts.append(
                Doubt(f"files_read {len(files)}", f"the file {path} occurs nowhere in the events")
            )
        files.append(path)
    return tuple(files), doubts


def _helper(evidence: Iterable[TurnEvent]) -> str | None:
    """The kind of sub-agent, if all of it is the work of one kind."""
    types = {item.event.subagent.type if item.event.subagent else "" for item in evidence}
    return (types.pop() or None) if len(types) == 1 else None
