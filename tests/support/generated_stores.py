"""Stores that have been through all sorts of things, for Hypothesis: a list of deeds, done one by one."""

import json
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from aforesaid.clock import HOUR
from aforesaid.model.jobs import OBSERVE, Job
from aforesaid.model.observations import (
    TYPES,
    Author,
    Doubt,
    ObservationDraft,
    Origin,
    SummaryDraft,
)
from aforesaid.model.requests import ANSWERED, Entry, Usage
from aforesaid.model.sessions import SessionTitle
from aforesaid.store.store import Store
from tests.support.arrivals import START, Told, repository

TEXTS = st.one_of(
    st.sampled_from(
        ["", "mill wheel", "naïve\nline", "\ud800 half", "nul \0", "\u2028 \x1b[31m", "水車"]
    ),
    st.text(max_size=12),
)
BODIES = st.one_of(
    st.binary(max_size=20),
    st.dictionaries(st.text(max_size=4), st.one_of(st.integers(), TEXTS), max_size=3).map(
        lambda value: json.dumps(value).encode()
    ),
    st.dictionaries(st.text(max_size=4), st.booleans(), max_size=3).map(
        lambda value: json.dumps(value, separators=(",", ":")).encode()
    ),
    st.sampled_from([b'{"a":1,"a":2}', b"[NaN]", b"1.50", b'"\\ud800"', b"\xff", b"[" * 3]),
)
DRAFTS = st.builds(
    ObservationDraft,
    type=st.sampled_from(TYPES),
    title=st.one_of(st.none(), TEXTS),
    subtitle=st.one_of(st.none(), TEXTS),
    facts=st.lists(TEXTS, max_size=3).map(tuple),
    narrative=st.one_of(st.none(), TEXTS),
    concepts=st.lists(TEXTS, max_size=2).map(tuple),
    files_read=st.lists(TEXTS, max_size=2).map(tuple),
    files_modified=st.lists(TEXTS, max_size=2).map(tuple),
    subagent_type=st.sampled_from([None, "Explore"]),
    doubts=st.lists(st.builds(Doubt, st.sampled_from(["title", "facts 0"]), TEXTS), max_size=1).map(
        tuple
    ),
)
STAMPED = st.builds(
    lambda draft, number: replace(
        draft,
        revision="c" * 40 if number else None,
        blobs=tuple((path, f"{number:040x}") for path in draft.files_modified if number),
        origins=(None, (), (Origin.USER, Origin.WEB))[number],
        sources=("example.org", "*") if number == 2 else (),
    ),
    DRAFTS,
    st.integers(0, 2),
)
SUMMARIES = st.builds(
    SummaryDraft,
    request=st.one_of(st.none(), TEXTS),
    learned=st.one_of(st.none(), TEXTS),
    files_edited=st.lists(TEXTS, max_size=2).map(tuple),
    doubts=st.lists(st.builds(Doubt, st.just("learned"), TEXTS), max_size=1).map(tuple),
    origins=st.sampled_from([None, (Origin.REPOSITORY, Origin.AGENT)]),
)
HAPPENINGS = ("start", "prompt", "tool", "boring", "stop", "compact", "end")


@dataclass(frozen=True)
class Deed:
    what: str
    who: int
    text: str
    body: bytes
    drafts: tuple[ObservationDraft, ...]
    summary: SummaryDraft
    number: int


DEEDS = st.lists(
    st.builds(
        Deed,
        st.sampled_from([*["turn", "pin", "edit", "ask", "work"] * 3, "hide", *HAPPENINGS, "skip"]),
        st.integers(0, 3),
        TEXTS,
        BODIES,
        st.lists(STAMPED, min_size=1, max_size=2).map(tuple),
        SUMMARIES,
        st.integers(0, 5),
    ),
    min_size=14,
    max_size=24,
)


class Doer:
    def __init__(self, store: Store) -> None:
        self._store, self._at = store, START
        self._sessions: dict[int, Told] = {}
        self._observations: list[int] = []
        for name in ("shop", "mill"):  # two sessions each
            found = repository(name, remote=f"host/{name}" if name == "mill" else None)
            project = store.projects.resolve(found, found.root, START)
            for _ in range(2):
                number = len(self._sessions)
                self._sessions[number] = Told(project, session=f"session-{number}")

    def do(self, deed: Deed) -> None:
        self._at += HOUR
        told = self._sessions[deed.who]
        told.at = max(told.at, self._at)
        if deed.what == "turn":
            for what in ("prompt", "tool", "boring", "stop"):
                self._happen(told, replace(deed, what=what))
            self._work(replace(deed, what="work"))
        elif deed.what in HAPPENINGS:
            self._happen(told, deed)
        elif deed.what in ("work", "skip", "ask"):
            self._work(deed)
        elif self._observations:
            chosen = self._observations[deed.number % len(self._observations)]
            if deed.what == "pin":
                self._store.observations.pin(chosen, pinned=bool(deed.number % 2))
            elif deed.what == "hide":
                self._store.observations.hide(chosen, self._at)
            elif deed.drafts:
                self._store.observations.edit(chosen, deed.drafts[0])

    def _happen(self, told: Told, deed: Deed) -> None:
        use = f"t{told.count}"
        arrival: Any = {
            "start": told.start,
            "prompt": lambda: told.prompt(deed.text, id=use if deed.number else None),
            "tool": lambda: told.tool(use, subagent="Explore" if deed.number == 1 else None),
            "boring": lambda: told.tool(use, boring=True),
            "stop": lambda: told.stop(deed.text),
            "compact": told.compact,
            "end": told.end,
        }[deed.what]()
        arrival = replace(arrival, capture=replace(arrival.capture, body=deed.body))
        self._store.events.add([replace(arrival, healed=deed.number == 2)], self._at)

    def _work(self, deed: Deed) -> None:
        job = self._store.jobs.claim("test", self._at, self._at + HOUR)
        if job is None:
            return
        if deed.what == "skip":
            self._store.jobs.skip(job, deed.text, self._at)
            return
        if deed.what == "ask":
            self._ask(job, deed)
            self._store.jobs.retry(job, deed.text, self._at)
            return
        author = Author("test", deed.text or None, "p1")
        if job.kind == OBSERVE:
            links = [None, *self._observations]
            events = tuple(event.id for event in self._store.events.for_job(job.id))
            drafts = [
                replace(
                    draft,
                    evidence=events,
                    repeats=links[deed.number % len(links)],
                    follows=links[deed.who % len(links)],
                )
                for draft in deed.drafts
            ]
            found = self._store.jobs.finish_observations(job, author, drafts, self._at, self._at)
            assert isinstance(found, tuple)
            self._observations += found
        else:
            title = SessionTitle(deed.text or None, None)
            self._store.jobs.finish_summary(
                job, author, deed.summary, self._at, self._at, title=title
            )

    def _ask(self, job: Job, deed: Deed) -> None:
        for _ in range(1 + deed.number % 2):  # the very same request twice
            self._store.requests.add(
                Entry(
                    at=self._at,
                    provider="test",
                    model="m",
                    prompts="p1",
                    purpose="observe",
                    digest="d",
                    session_id=job.session_id,
                    job_id=job.id,
                    outcome=ANSWERED,
                    error=None,
                    usage=Usage(10, 2, 1, 5),
                    microdollars=deed.number or None,
                    milliseconds=7,
                    reply=deed.text,
                )
            )
