"""What bears on the work at hand: on the branch, on the files that changed lately, on what is left to do."""

from collections.abc import Iterator

from recollect.model.search import OBSERVATION, Filters
from recollect.recall.prompt import nearness
from recollect.recall.search import Searcher
from recollect.repository import Work
from recollect.store.protocol import Reading

MOST = 6
LOOKED_AT = 20
NEAR = 2.2  # less than a prompt asks for: a line of the brief is cheap
FILES_ASKED, PER_FILE = 6, 2


def bearing(
    searcher: Searcher, store: Reading, project_id: int, work: Work
) -> list[tuple[int, str]]:
    """Observations, each with the reason."""
    found: dict[int, str] = {}
    for text, reason in _questions(store, project_id, work):
        for key in _near(searcher, store, project_id, text):
            found.setdefault(key, reason)
        if len(found) >= MOST:
            break
    for path in work.files[:FILES_ASKED] if len(found) < MOST else ():
        about = [each.id for each in store.observations_on(project_id, path, PER_FILE)]
        standing = store.standing_observations(about)
        for key in about:
            if key in standing:
                found.setdefault(key, "on files that changed lately")
    return list(found.items())[:MOST]


def _questions(store: Reading, project_id: int, work: Work) -> Iterator[tuple[str, str]]:
    """What to look for, and why."""
    if work.branch:
        yield work.branch.replace("/", " "), f"near to the branch {work.branch}"
    for session in store.summarized_sessions(project_id, 1):
        for summary in store.last_summaries(session.id, 1):
            if left := summary.draft.sure.next_steps:
                yield left, "near to what was left to do"


def _near(searcher: Searcher, store: Reading, project_id: int, text: str) -> list[int]:
    _, candidates, _ = searcher.find(text, Filters(project_id=project_id, kinds=(OBSERVATION,)))
    total = searcher.how_many(None)
    best = [
        each.document.source for each in candidates[:LOOKED_AT] if nearness(each, total) >= NEAR
    ]
    standing = store.standing_observations(best)
    return [key for key in best if key in standing]
