"""What claude-mem remembers, as blocks: a session each, with its prompts, observations and summaries.

There are no events, so nothing is worked up. The sessions get an agent and a name of their own: the same
session may be told by its transcript too, and then has events, prompts and numbers of another make.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from recollect.errors import TransferError
from recollect.model.flat import lifted
from recollect.model.observations import known_type
from recollect.model.records import (
    DirRecord,
    IdentityKind,
    IdentityRecord,
    ObservationRecord,
    ProjectRecord,
    PromptRecord,
    SessionRecord,
    SummaryRecord,
    session_name,
)
from recollect.model.sessions import Project
from recollect.repository import Repository
from recollect.text import one_line
from recollect.transfer import claude_mem_database as database
from recollect.transfer.blocks import Block
from recollect.transfer.claude_mem_values import list_of, number_of, text_of, time_of
from recollect.transfer.claude_mem_views import QUERIES, make_views

AGENT = PROVIDER = "claude-mem"
PLACEHOLDER = "claude-mem:"
USUAL_PLATFORMS = ("", "claude", "claude-code")
MAIN_AGENT = ("main", "primary")
UNKNOWN = "unknown"
TITLE = 80
LISTED = 30

Row = sqlite3.Row
Told = PromptRecord | ObservationRecord | SummaryRecord


@dataclass(frozen=True, slots=True)
class Home:
    """Where a project of theirs goes: `into` one that is known, or to the one that the record names."""

    record: ProjectRecord
    into: int | None = None


class ClaudeMem:
    """`only`: one of their projects. `folders`: what the user says of a name."""

    def __init__(
        self,
        path: Path,
        *,
        only: str | None,
        folders: Mapping[str, Repository],
        known: Iterable[Project],
        now: int,
    ) -> None:
        self.done = self.total = 0
        self._path, self._only, self._now = path, only, now
        self._folders, self._known = folders, list(known)
        self._copy: sqlite3.Connection | None = None
        self.homes: dict[str, Home] = {}

    def blocks(self) -> Iterator[Block]:
        copy = self._copy = database.open_copy(self._path)
        make_views(copy)
        self.total = copy.execute(QUERIES["count"]).fetchone()[0]
        names = set()
        for row in copy.execute(QUERIES["sessions"]):
            self.done += 1
            name = text_of(row["project"]) or UNKNOWN
            names.add(name)
            if self._only in (None, name):
                home = self.homes.get(name) or self._home(name)
                told = _session(copy, row, home.record)
                if len(told) > 1:
                    self.homes[name] = home
                    yield Block(home.record.project, (home.record, *told), home.into)
        if self._only is not None and self._only not in names:
            there = ", ".join(sorted(names)[:LISTED]) or "none"
            raise TransferError(f"Claude-mem has no project {self._only!r}. Its projects: {there}.")

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()

    def _home(self, name: str) -> Home:
        if repository := self._folders.get(name):
            identities = tuple(
                IdentityRecord(cast(IdentityKind, i.kind), i.value) for i in repository.identities
            )
            dirs = (DirRecord(repository.root, self._now),)
            root = repository.root
            return Home(ProjectRecord(name, repository.name, root, self._now, identities, dirs))
        same = [p for p in self._known if p.name == name and not p.root.startswith(PLACEHOLDER)]
        if len(same) == 1:
            return Home(ProjectRecord(name, name, same[0].root, self._now), same[0].id)
        placeholder = f"{PLACEHOLDER}{name}"
        identity = IdentityRecord("path", placeholder)
        return Home(ProjectRecord(name, name, placeholder, self._now, (identity,)))


def _session(
    copy: sqlite3.Connection, row: Row, project: ProjectRecord
) -> tuple[SessionRecord | Told, ...]:
    """The session, then its parts."""
    ref = _ref(row)
    name = session_name(AGENT, ref)
    start = time_of(row["started_epoch"], row["started_text"])
    ids = {"id": row["id"], "content": row["content"], "memory": row["memory"]}
    prompts = _prompts(copy.execute(QUERIES["prompts"], ids).fetchall(), row, name, start)
    observed = copy.execute(QUERIES["observations"], ids).fetchall()
    summed = copy.execute(QUERIES["summaries"], ids).fetchall()
    begin = start or next((at for r in (*observed, *summed) if (at := _time(r, None))), 0)
    observations = [_observation(r, name, n, prompts, begin) for n, r in enumerate(observed, 1)]
    summaries = _summaries(summed, name, prompts, begin)
    told: list[Told] = [*prompts, *observations, *summaries]
    ended = time_of(row["completed_epoch"], row["completed_text"])
    times = [begin, *(part.at for part in told), *([ended] if ended else [])]
    first_words = prompts[0].text if prompts else row["user_prompt"] or ""
    session = SessionRecord(
        session=name,
        project=project.project,
        agent=AGENT,
        ref=ref,
        project_dir=project.root,
        transcript=None,
        status="completed" if row["status"] == "completed" else "interrupted",
        started_at=min(filter(None, times), default=0),
        last_event_at=max(times),
        ended_at=ended or max(times),
        title=text_of(row["custom_title"]) or one_line(first_words, TITLE) or None,
        subtitle=None,
        prompts=max((prompt.number for prompt in prompts), default=0),
    )
    return (session, *told)


def _ref(row: Row) -> str:
    platform = text_of(row["platform"]) or ""
    own = "" if platform in USUAL_PLATFORMS else f"-{platform}"
    return f"{text_of(row['content']) or text_of(row['memory']) or row['id']}@{AGENT}{own}"


def _prompts(rows: list[Row], session: Row, name: str, start: int | None) -> list[PromptRecord]:
    """A release without a table of prompts kept the first one with its session."""
    taken: set[int] = set()
    found = []
    for row in rows:
        number = number_of(row["number"])
        if not number or number in taken:
            number = max(taken, default=0) + 1
        taken.add(number)
        at = _time(row, start) or 0
        found.append(PromptRecord(name, number, None, at, str(row["text"] or "")))
    if not found and text_of(session["user_prompt"]):
        found.append(PromptRecord(name, 1, None, start or 0, str(session["user_prompt"])))
    return found


def _observation(
    row: Row, session: str, place: int, prompts: list[PromptRecord], begin: int
) -> ObservationRecord:
    at = _time(row, begin) or 0
    kind, whole = str(row["type"] or ""), text_of(row["text"])
    title, narrative = text_of(row["title"]), text_of(row["narrative"])
    subtitle, facts = text_of(row["subtitle"]), list_of(row["facts"])
    if whole and not (title or narrative or facts):
        draft = lifted(kind, whole)
        title, subtitle, narrative, facts = (
            draft.title,
            draft.subtitle,
            draft.narrative,
            draft.facts,
        )
    elif whole and whole != narrative:
        narrative = f"{narrative}\n\n{whole}" if narrative else whole
    agent = text_of(row["agent_type"])
    return ObservationRecord(
        session=session,
        observation=f"{session}#{place}",
        job=None,
        ordinal=place,
        prompt_number=_number(row, prompts, at),
        at=at,
        provider=PROVIDER,
        model=text_of(row["model"]),
        type=known_type(kind),
        title=title,
        subtitle=subtitle,
        narrative=narrative,
        subagent_type=None if agent in MAIN_AGENT else agent,
        pinned=False,
        edited=False,
        facts=facts,
        concepts=list_of(row["concepts"]),
        files_read=list_of(row["files_read"]),
        files_modified=list_of(row["files_modified"]),
    )


def _summaries(
    rows: list[Row], session: str, prompts: list[PromptRecord], begin: int
) -> list[SummaryRecord]:
    """A turn has one here. A second one of theirs gets a number behind all the others: it is not lost."""
    numbers = [_number(row, prompts, _time(row, begin) or 0) for row in rows]
    taken: set[int] = set()
    found = []
    for row, told in zip(rows, numbers, strict=True):
        number = told if told not in taken else max(*taken, *numbers) + 1
        taken.add(number)
        found.append(
            SummaryRecord(
                session=session,
                prompt_number=number,
                at=_time(row, begin) or 0,
                provider=PROVIDER,
                model=text_of(row["model"]),
                request=text_of(row["request"]),
                investigated=text_of(row["investigated"]),
                learned=text_of(row["learned"]),
                completed=text_of(row["completed"]),
                next_steps=text_of(row["next_steps"]),
                notes=text_of(row["notes"]),
                files_read=list_of(row["files_read"]),
                files_edited=list_of(row["files_edited"]),
            )
        )
    return found


def _number(row: Row, prompts: list[PromptRecord], at: int) -> int:
    """Where none is told: of the last prompt before it."""
    told = number_of(row["number"])
    if told is not None:
        return told
    return max((prompt.number for prompt in prompts if prompt.at <= at), default=0)


def _time(row: Row, default: int | None) -> int | None:
    return time_of(row["created_epoch"], row["created_text"]) or default
