"""Findings, as commands show them: for people with marks and colours, for programs as JSON."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from recollect import clock, freshness
from recollect.cli.output import TYPE_COLOURS, heading, say, styled
from recollect.cli.places import short_id
from recollect.freshness import CHANGED, GONE, UNCHANGED, Freshness
from recollect.model.observations import Observation
from recollect.model.search import (
    EVENT,
    MATCH_END,
    MATCH_START,
    OBSERVATION,
    SESSION,
    Hit,
    Reason,
)
from recollect.recall.excerpts import BETWEEN, marked
from recollect.recall.telling import name
from recollect.store.protocol import Reading
from recollect.terms import whole
from recollect.text import ELLIPSIS, one_line

FILES = {UNCHANGED: ("files unchanged", "green"), CHANGED: ("files changed since", "yellow")}
FILES |= {GONE: ("files gone", "yellow")}
TITLE_LENGTH = 100
PROJECT_LENGTH = 40
MATCHED = re.compile(f"{MATCH_START}(.*?){MATCH_END}")
MOST_WORDS = 8


class Shown:
    """What hits need beside themselves, looked up once per session. `everywhere`: they may be of any project,
    so each says of which. `terms`: what was asked for."""

    def __init__(
        self, store: Reading, *, everywhere: bool = False, terms: Collection[str] = ()
    ) -> None:
        self.everywhere = everywhere
        self.terms = terms
        self._store = store
        self._short_ids: dict[str, str] = {}
        self._sessions: dict[int, tuple[str | None, str]] = {}
        self._projects: dict[int, str] = {}

    def ref(self, hit: Hit) -> str | None:
        """The agent's own id of the session; None: it is gone."""
        return self._session(hit.session_id, hit.project_id)[0]

    def short_id(self, ref: str | None) -> str:
        """Of a session, by which other commands take it."""
        if ref and ref not in self._short_ids:
            self._short_ids[ref] = short_id(self._store, ref)
        return self._short_ids[ref] if ref else ""

    def project(self, hit: Hit) -> str:
        if hit.project_id not in self._projects:
            self._projects[hit.project_id] = self._store.project(hit.project_id).name
        return self._projects[hit.project_id]

    def observation(self, hit: Hit) -> Observation | None:
        return self._store.observation(hit.id) if hit.kind == OBSERVATION else None

    def freshness(self, hit: Hit) -> Freshness | None:
        """Of the files that an observation speaks of; None: it speaks of none."""
        observation = self.observation(hit) if hit.files else None
        return self.freshness_of(observation) if observation else None

    def freshness_of(self, observation: Observation) -> Freshness:
        _, folder = self._session(observation.session_id, observation.project_id)
        return freshness.of(observation, folder)

    def name(self, hit: Hit) -> str:
        """By which other commands take it."""
        return self.short_id(self.ref(hit)) if hit.kind == SESSION else name(hit.kind, hit.id)

    def title(self, hit: Hit) -> str:
        """With the matches marked."""
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
        written = {whole(each): each for each in (*ends, *hit.files, *concepts)}
        return ", ".join(written.get(each, each) for each in reason.because.split(", "))

    def json(self, hit: Hit) -> dict[str, Any]:
        fresh = self.freshness(hit)
        return asdict(replace(hit, reasons=self.reasons(hit))) | {
            "name": self.name(hit),
            "excerpt": plain(hit.excerpt),
            "project": self.project(hit),
            "session": self.ref(hit),
            "freshness": asdict(fresh) if fresh else None,
        }

    def _session(self, session_id: int, project_id: int) -> tuple[str | None, str]:
        if session_id not in self._sessions:
            session = self._store.session(session_id)
            root = self._store.project(project_id).root
            folder = freshness.directory(session.project_dir if session else root, root)
            self._sessions[session_id] = (session.ref if session else None, folder)
        return self._sessions[session_id]


def print_hit(shown: Shown, hit: Hit, *, excerpt: bool = True, lead: str = "") -> None:
    kind = hit.type if hit.kind in (OBSERVATION, EVENT) else hit.kind
    parts = [
        heading(shown.name(hit)),
        highlighted(shown.title(hit), bold=True),
        styled(kind or hit.kind, fg=TYPE_COLOURS.get(kind or "")),
        styled(clock.day_and_time(hit.at), dim=True),
        *([styled(one_line(shown.project(hit), PROJECT_LENGTH))] if shown.everywhere else []),
        *_marks(shown, hit),
        styled(f"~{hit.tokens:,} tokens", dim=True),
    ]
    say(f"{heading(lead)}{parts[0]} {'  '.join(parts[1:])}")
    if excerpt and (said := BETWEEN.join(_beyond_title(hit))):
        say("   " + highlighted(said))
    if hit.folded:
        same = ", ".join(name(hit.kind, other) for other in hit.folded)
        say(styled(f"   The same: {same}", dim=True))


def print_reasons(reasons: Iterable[Reason], score: float) -> None:
    """The points by name, the largest first, and their sum."""
    rows = sorted(reasons, key=lambda reason: -abs(reason.points))
    width = max((len(reason.name) for reason in rows), default=0)
    for reason in rows:
        because = f"  {one_line(reason.because, TITLE_LENGTH)}" if reason.because else ""
        colour = "red" if reason.points < 0 else None
        points = styled(f"{reason.points:+8.2f}", fg=colour)
        say(f"   {points}  {styled(f'{reason.name:<{width}}{because}'.rstrip(), dim=True)}")
    say(f"   {styled(f'{score:8.2f}', bold=True)}  {styled('in all', dim=True)}")


def highlighted(text: str, *, bold: bool = False) -> str:
    """Cleaned piece by piece: the marks are control characters themselves."""
    parts = text.replace(MATCH_END, MATCH_START).split(MATCH_START)
    beside, matched = {"bold": bold or None}, {"bold": True, "underline": True}
    return "".join(
        styled(" ".join(part.split("\n")), **(matched if number % 2 else beside))
        for number, part in enumerate(parts)
        if part
    )


def plain(excerpt: str) -> str:
    return excerpt.replace(MATCH_START, "").replace(MATCH_END, "")


def _beyond_title(hit: Hit) -> Iterator[str]:
    """The lines of the excerpt that do not say what the title says."""
    title = hit.title.casefold()
    for line in hit.excerpt.split(BETWEEN):
        if plain(line).strip(ELLIPSIS).casefold() not in title:
            yield line


def _marks(shown: Shown, hit: Hit) -> list[str]:
    found = []
    observation = shown.observation(hit)
    if hit.pinned:
        found.append(styled("pinned", fg="magenta"))
    if hit.doubted:
        found.append(styled("unverified", fg="yellow"))
    if hit.superseded:
        found.append(styled("carried on later", fg="yellow"))
    fresh = shown.freshness_of(observation) if observation and hit.files else None
    if fresh and fresh.state in FILES:
        said, colour = FILES[fresh.state]
        found.append(styled(said, fg=colour))
    return found
