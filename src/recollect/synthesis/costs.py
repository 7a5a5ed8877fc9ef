"""What models took: the ledger of some time, as a whole and by what it is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.clock import Clock
from recollect.model.ledger import Spent, Written
from recollect.model.sessions import Project
from recollect.settings import Settings
from recollect.store.protocol import Reading
from recollect.synthesis.budget import Budget, day_of


@dataclass(frozen=True, slots=True)
class Costs:
    """All that one look shows. `rows`: by `by`, one of GROUPINGS."""

    by: str
    project: str | None
    since: int
    until: int
    rows: list[Spent]
    days: list[Spent]
    total: Spent
    today: Spent
    budget: Budget
    written: Written

    @property
    def each(self) -> int | None:
        """Tokens for one remembered thing."""
        things = self.written.observations + self.written.summaries
        return tokens(self.total) // things if things else None


def look(
    store: Reading,
    settings: Settings,
    clock: Clock,
    *,
    by: str,
    since: int,
    project: Project | None = None,
) -> Costs:
    key = project.id if project else None
    now = clock()
    days = store.spent_by("day", since, now + 1, project_id=key)
    return Costs(
        by=by,
        project=project.name if project else None,
        since=since,
        until=now + 1,
        rows=days if by == "day" else store.spent_by(by, since, now + 1, project_id=key),
        days=days,
        total=total(days),
        today=replace(store.spent(*day_of(now)), label="today"),
        budget=Budget(
            settings.number("cost.daily_tokens"), settings.number("cost.daily_cents"), clock
        ),
        written=store.written(since, now + 1, project_id=key),
    )


def total(rows: Sequence[Spent]) -> Spent:
    return Spent(
        "total",
        sum(row.requests for row in rows),
        sum(row.sent for row in rows),
        sum(row.cached for row in rows),
        sum(row.received for row in rows),
        sum(row.microdollars for row in rows),
        sum(row.unpriced for row in rows),
    )


def tokens(spent: Spent) -> int:
    return spent.sent + spent.received
