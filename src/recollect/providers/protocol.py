"""What every provider can do. It sees one turn and returns values; it never touches the store."""

from typing import Protocol

from recollect.model.observations import ObservationDraft, SummaryDraft, SummarySkipped
from recollect.model.turns import Turn


class Provider(Protocol):
    @property
    def name(self) -> str: ...

    def observe(self, turn: Turn) -> list[ObservationDraft]: ...

    def summarize(self, turn: Turn) -> SummaryDraft | SummarySkipped: ...
