"""What bears on the work at hand: on the branch, on the files that changed lately, on what is left to do."""

from collections.abc import Iterator

from recollect.model.search import OBSERVATION, Filters
from recollect.recall.prompt import nearness
from recollect.recall.search import Searcher
from recollect.repository import Work
from recollect.store.protocol import Reading
from recollect.terms import whole

MOST = 6
LOOKED_AT = 20
NEAR = 2.2  # less than a prompt asks for: a line of the brief is cheap
FILES_ASKED = 6


def bearing(
    searcher: Searcher, store: Reading, project_id: int, work: Work
) -> list[tuple[int, str]]:
    """Observations, each with the reason."""
    filters = Filters(project_id=project_id, kinds=(OBSERVATION,))
    total = searcher.how_many(None)
    found: dict[int, str] = {}
    for text, reason, names in _questions(store, project_id, work):
        _, candidates, _ = searcher.find(text, filters)
        best = candidates[:LOOKED_AT]
        standing = store.standing_observations(each.document.source for each in best)
        for each in best:
            near = each.document.labels & names or nearness(each, total) >= NEAR
            if near and each.document.source in standing:
                found.setdefault(each.document.source, reason)
            if len(found) == MOST:
                return list(found.items())
    return list(found.items())


def _questions(
    store: Reading, project_id: int, work: Work
) -> Iterator[tuple[str, str, frozenset[str]]]:
    """What to look for, why, and the names that are reason enough."""
    if work.branch:
        yield work.branch.replace("/", " "), f"near to the branch {work.branch}", frozenset()
    for session in store.summarized_sessions(project_id, 1):
        for summary in store.last_summaries(session.id, 1):
            if left := summary.draft.sure.next_steps:
                yield left, "near to what was left to do", frozenset()
    if work.files:
        asked = work.files[:FILES_ASKED]
        names = frozenset(whole(path) for path in asked)
        yield " ".join(asked), "on files that changed lately", names
