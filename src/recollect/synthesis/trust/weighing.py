"""Whose words each part of a draft is, and a doubt where nobody but the web says it.

Nothing is taken out: what only the web or recollect itself has said is kept, found and marked, and not told
unasked. Where nothing came over the network, a look at the tools is enough. Where something did, a part is as
good as the best that bears it out; what the agent has written itself, files and commands, bears nothing out
that the web says too; and what nothing at all bears out is as good as the worst that was read in that turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from recollect.model.observations import Doubt, ObservationDraft, SummaryDraft
from recollect.model.origins import HELD_BACK, REASONS, Origin, is_ours, origin_of
from recollect.model.turns import Turn
from recollect.statements import Statement
from recollect.synthesis.trust import passages
from recollect.synthesis.trust.passages import Passages, clauses

BETTER = (Origin.USER, Origin.REPOSITORY, Origin.COMMAND)
SUMMED_UP = ("investigated", "learned", "completed", "next_steps", "notes")


def weighed(draft: ObservationDraft, turn: Turn) -> ObservationDraft:
    """With its origins, and doubts on what must not be told unasked."""
    parts = [("title", draft.title), ("subtitle", draft.subtitle)]
    parts += [(f"facts {number}", fact) for number, fact in enumerate(draft.facts)]
    found, doubts = _weigh([*parts, ("narrative", draft.narrative)], turn, draft.evidence)
    sources = passages.web_sources(turn) if Origin.WEB in found else ()
    return replace(draft, origins=found, sources=sources, doubts=(*draft.doubts, *doubts))


def weighed_summary(draft: SummaryDraft, turn: Turn) -> SummaryDraft:
    found, doubts = _weigh([(part, getattr(draft, part)) for part in SUMMED_UP], turn, ())
    return replace(draft, origins=found, doubts=(*draft.doubts, *doubts))


def _weigh(
    parts: Sequence[tuple[str, str | None]], turn: Turn, evidence: Sequence[int]
) -> tuple[tuple[Origin, ...], list[Doubt]]:
    scale = Scale(turn, evidence)
    origins = {part: {scale.origin(said) for said in clauses(text)} for part, text in parts if text}
    doubts = [
        Doubt(part, REASONS[origin])
        for part, found in origins.items()
        for origin in HELD_BACK
        if origin in found
    ]
    every = {origin for found in origins.values() for origin in found}
    return tuple(sorted(every, key=lambda origin: origin.rank)), doubts


@dataclass(frozen=True, eq=False)
class Scale:
    """`evidence`: the events that a draft names; none means all of its turn."""

    turn: Turn
    evidence: Sequence[int] = ()

    def origin(self, said: Statement) -> Origin:
        if not (said.strong | said.exact):
            return self._usual
        echo = any(each.bears(said) for each in passages.told(self.turn))
        if not (echo or self._web):
            return Origin.USER if self._asked.bears(said) else self._usual
        by_web = any(each.bears(said) for each in self._seen if each.origin is Origin.WEB)
        for origin in BETTER:
            if any(
                each.origin is origin and not (each.own and by_web) and each.bears(said)
                for each in self._seen
            ):
                return origin
        if echo:
            return Origin.RECALLED
        return Origin.WEB if by_web or self._web_now else Origin.AGENT

    @cached_property
    def _seen(self) -> tuple[Passages, ...]:
        return tuple(passages.seen(self.turn))

    @cached_property
    def _asked(self) -> Passages:
        return Passages(Origin.USER, "", self.turn.prompt or "")

    @cached_property
    def _web(self) -> bool:
        return passages.has_web(self.turn)

    @cached_property
    def _web_now(self) -> bool:
        return any(each.now and each.origin is Origin.WEB for each in self._seen)

    @cached_property
    def _usual(self) -> Origin:
        """The best of the tools that it speaks of."""
        events = self.turn.events
        named = [item for item in events if item.id in self.evidence] or events
        found = [
            origin_of(item.event, self.turn.roots) for item in named if not is_ours(item.event)
        ]
        known = [origin for origin in found if origin in BETTER]
        return min(known, key=lambda origin: origin.rank, default=Origin.AGENT)
