"""What a search returns."""

from dataclasses import dataclass

MATCH_START, MATCH_END = "\x02", "\x03"  # stand around the matched words of an excerpt


@dataclass(frozen=True, slots=True)
class Hit:
    """One finding: an observation (`kind` observation) or a turn (`kind` summary or prompt). `doubted`: the
    events do not bear out what was found."""

    kind: str
    id: int
    session_id: int
    project_id: int
    at: int
    type: str | None
    title: str
    excerpt: str
    doubted: bool
