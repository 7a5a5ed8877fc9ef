"""What the files were that an observation speaks of, noted while that can still be known.

A turn that ended a while ago tells of files that may have changed since, and of a commit that may have been
left: nothing is noted then, and nothing about a file that was changed after the turn.
"""

from dataclasses import dataclass, replace

from recollect import freshness
from recollect.clock import MINUTE, SECOND
from recollect.model.observations import ObservationDraft
from recollect.model.turns import Turn
from recollect.repository import revision

LIVE = 10 * MINUTE
SLACK = 2 * SECOND  # a file server's clock, or a formatter that ran last


@dataclass(frozen=True, slots=True)
class Stamp:
    """Taken before a model is asked: its answer may take minutes."""

    turn: Turn
    live: bool
    revision: str | None

    @classmethod
    def of(cls, turn: Turn, now: int) -> "Stamp":
        live = turn.at >= now - LIVE
        return cls(turn, live, revision(turn.root) if live else None)

    def on(self, draft: ObservationDraft) -> ObservationDraft:
        if not self.live:
            return draft
        until = self.turn.at + SLACK
        paths = dict.fromkeys((*draft.files_modified, *draft.files_read))
        seen = ((path, freshness.seen(self.turn.root, path, until=until)) for path in paths)
        blobs = tuple((path, blob) for path, blob in seen if blob is not None)
        return replace(draft, revision=self.revision, blobs=blobs)
