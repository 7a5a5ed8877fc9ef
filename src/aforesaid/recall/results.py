"""Search results with what a reader needs beside them: their source, whether they still hold, and why."""

import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, replace
from functools import cache, partial
from typing import Any

from aforesaid import freshness
from aforesaid.freshness import Freshness
from aforesaid.model.observations import Observation, Summary
from aforesaid.model.search import (
    MATCH_END,
    MATCH_START,
    OBSERVATION,
    SESSION,
    SUMMARY,
    Hit,
    Reason,
)
from aforesaid.recall.excerpts import marked, without_marks
from aforesaid.recall.render import item_name
from aforesaid.store.store import Store
from aforesaid.terms import name_term
from aforesaid.text import one_line

TITLE_LENGTH = 100
MATCHED = re.compile(f"{MATCH_START}(.*?){MATCH_END}")
MOST_WORDS = 8
SHORT_ID = 8  # letters of a session's id, where they are enough


class HitDetails:
    """Of hits, each session looked up once. `terms`: of the query."""

    def __init__(self, store: Store, *, terms: Collection[str] = ()) -> None:
        self.terms = terms
        self._store = store
        self._short_id = cache(partial(short_id, store))
        self._project = cache(store.projects.get)
        self._sessions: dict[int, tuple[str | None, str]] = {}

    def ref(self, hit: Hit) -> str | None:
        return self._session(hit.session_id, hit.project_id)[0]

    def short_id(self, ref: str | None) -> str:
        """Of a session, by which other commands take it."""
        return self._short_id(ref) if ref else ""

    def project(self, hit: Hit) -> str:
        return self._project(hit.project_id).name

    def observation(self, hit: Hit) -> Observation | None:
        return self._store.observations.get(hit.id) if hit.kind == OBSERVATION else None

    def summary(self, hit: Hit) -> Summary | None:
        return self._store.summaries.get(hit.id) if hit.kind == SUMMARY else None

    def freshness(self, hit: Hit) -> Freshness | None:
        """Of the files that an observation speaks of; None: it speaks of none."""
        observation = self.observation(hit) if hit.files else None
        return self.freshness_of(observation) if observation else None

    def freshness_of(self, observation: Observation) -> Freshness:
        _, folder = self._session(observation.session_id, observation.project_id)
        return freshness.check_files(observation, folder)

    def name(self, hit: Hit) -> str:
        return self.short_id(self.ref(hit)) if hit.kind == SESSION else item_name(hit.kind, hit.id)

    def title(self, hit: Hit) -> str:
        return marked(one_line(hit.title, TITLE_LENGTH), self.terms)

    def reasons(self, hit: Hit) -> tuple[Reason, ...]:
        """With the words and the names as they are written in the hit."""
        because = {"words": self._matched, "names": self._names}
        return tuple(
            replace(each, because=because[each.name](hit, each)) if each.name in because else each
            for each in hit.reasons
        )

    def _matched(self, hit: Hit, reason: Reason) -> str:
        words: dict[str, str] = {}
        for word in MATCHED.findall(f"{self.title(hit)} {hit.excerpt}"):
            words.setdefault(word.lower(), word)
        return ", ".join(list(words.values())[:MOST_WORDS]) or reason.because

    def _names(self, hit: Hit, reason: Reason) -> str:
        observation = self.observation(hit)
        concepts = observation.draft.concepts if observation else ()
        ends = (path.rpartition("/")[2] for path in hit.files)
        written = {name_term(each): each for each in (*ends, *hit.files, *concepts)}
        return ", ".join(written.get(each, each) for each in reason.because.split(", "))

    def json(self, hit: Hit) -> dict[str, Any]:
        """The excerpt without its marks."""
        fresh = self.freshness(hit)
        values = {name: getattr(hit, name) for name in Hit.__dataclass_fields__}
        return values | {
            "reasons": [
                {"name": each.name, "points": each.points, "because": each.because}
                for each in self.reasons(hit)
            ],
            "name": self.name(hit),
            "excerpt": without_marks(hit.excerpt),
            "project": self.project(hit),
            "session": self.ref(hit),
            "freshness": asdict(fresh) if fresh else None,
        }

    def _session(self, session_id: int, project_id: int) -> tuple[str | None, str]:
        if session_id not in self._sessions:
            session = self._store.sessions.get(session_id)
            root = self._project(project_id).root
            folder = freshness.directory(session.project_dir if session else root, root)
            self._sessions[session_id] = (session.ref if session else None, folder)
        return self._sessions[session_id]


def describe_reasons(reasons: Iterable[Reason]) -> str:
    """What speaks against it comes last, and as such."""
    texts = [(f"{one.name}: {one.because}" if one.because else one.name, one) for one in reasons]
    for_it = "; ".join(text for text, one in texts if one.points > 0)
    return ", though in the ".join([for_it, *(text for text, one in texts if one.points < 0)])


def short_id(store: Store, ref: str) -> str:
    """The first letters of a session's id, as many as tell it from all others."""
    for length in range(SHORT_ID, len(ref)):
        if all(each.ref == ref for each in store.sessions.find_by_prefix(ref[:length])):
            return ref[:length]
    return ref
