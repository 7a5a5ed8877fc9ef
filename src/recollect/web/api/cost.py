"""What models were asked, and what that cost: by day, model, project and purpose."""

from collections.abc import Iterable
from dataclasses import asdict

from recollect.model.ledger import Spent
from recollect.parameters import Parameter
from recollect.periods import begin
from recollect.synthesis.costs import look
from recollect.web.api import parts
from recollect.web.api.parts import MAYBE_NUMBER, MAYBE_TEXT, NUMBER, PROJECT, TEXT, many, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row

GROUPS = {"models": "model", "projects": "project", "purposes": "purpose"}


def cost(backend: Backend, *, days: int, project: int | None) -> Json:
    found = parts.project(backend, project)
    since = begin(f"{days}d", backend.clock())
    costs = look(
        backend.store, backend.home.settings, backend.clock, by="day", since=since, project=found
    )
    groups = {
        name: _rows(backend.store.spent_by(by, since, costs.until, project_id=project))
        for name, by in GROUPS.items()
    }
    budget = costs.budget
    return {
        "since": since,
        "days": [{"day": each.pop("label"), **each} for each in _rows(costs.days)],
        **groups,
        "total": asdict(costs.total),
        "today": asdict(costs.today),
        "written": asdict(costs.written) | {"tokens_each": costs.each},
        "budget": {
            "daily_tokens": budget.tokens,
            "daily_cents": budget.cents,
            "left": budget.left(costs.today),
        },
    }


def _rows(found: Iterable[Spent]) -> list[Json]:
    return [asdict(each) for each in found]


FIGURES = dict.fromkeys(
    ("requests", "sent", "received", "cached", "microdollars", "unpriced"), NUMBER
)
GROUP = many(shape(label=TEXT, **FIGURES))
ROWS = (
    Row(
        "GET",
        "/api/cost",
        "Tokens and money, by day, model, project and purpose; `unpriced`: of unknown price.",
        cost,
        query=(
            Parameter("days", "How many days back.", "number", default=30, most=3660),
            PROJECT,
        ),
        answer=shape(
            since=NUMBER,
            days=many(shape(day=TEXT, **FIGURES)),
            models=GROUP,
            projects=GROUP,
            purposes=GROUP,
            total=shape(**FIGURES),
            today=shape(**FIGURES),
            budget=shape(daily_tokens=NUMBER, daily_cents=NUMBER, left=MAYBE_TEXT),
            written=shape(observations=NUMBER, summaries=NUMBER, tokens_each=MAYBE_NUMBER),
        ),
    ),
)
