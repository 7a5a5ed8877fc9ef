"""Erasing for good: which rows an erasure comes to, and taking them out.

What was derived from something goes with it: it may say the same in other words. Events and prompts that are
erased stay as rows without content, because a transcript that tells of them again is compared with what is
there; a session that is erased as a whole leaves a hash of its name. Neither holds any text.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from recollect.ids import digest
from recollect.model.erasing import ERASED, Erasure, Reach, Rows
from recollect.store.sqlite import merges
from recollect.store.sqlite.bodies import pack
from recollect.store.sqlite.database import Database, write, write_one
from recollect.store.sqlite.forgotten import with_folded
from recollect.store.sqlite.pauses import keep_place

EMPTY = pack(b"")
AT_ONCE = 500  # rows in a transaction: hooks and captures come in between
BEFORE = (
    60_000  # milliseconds that the answer to a prompt's hook may be noted before the prompt itself
)
PERIODS = ("sessions", "prompts", "events", "observations", "summaries", "forgotten")


class Erasing(Database):
    def rows_of(self, wanted: Erasure) -> Rows:
        """What it names, without what was derived. Empty where there is no such thing."""
        key = wanted.id or 0
        there = self.row("erasing", "there", id=key)
        assert there is not None
        match wanted.what:
            case "observation" if there["observation"] or there["forgotten"]:
                return self._of_observation(key)
            case "prompt" if there["prompt"]:
                events = self._keys("events_of_turn", id=key)
                return Rows(prompts=frozenset({key}), events=events)
            case "session" if there["session"]:
                return Rows(sessions=frozenset({key}))
            case "project" if there["project"]:
                sessions = self._keys("session_of_project", id=key)
                return Rows(projects=frozenset({key}), sessions=sessions)
            case "period":
                time = {"since": wanted.since, "until": wanted.until, "project_id": wanted.id}
                return Rows(**{each: self._keys(f"{each}_of_period", **time) for each in PERIODS})
            case _:
                return Rows()

    def reach(self, rows: Rows) -> Reach:
        """With everything that was derived from it, and what is folded into that."""
        rows = self._with_derived(rows)
        named = {name: json.dumps(sorted(getattr(rows, name))) for name in PERIODS}
        sessions = self._keys("sessions_touched", **named)
        return Reach(
            rows,
            self._counts(rows),
            self._keys("projects_touched", ids=json.dumps(sorted(sessions))) | rows.projects,
            sessions,
        )

    def erase(self, rows: Rows, now: int) -> Iterator[int]:
        """In steps, each a transaction: how many rows it took. Killed and called again it goes on."""
        for part in _parts(rows.observations | rows.forgotten):
            with self.transaction() as connection:
                write(connection, "erasing", "drop_observations", {"ids": part})
                write(connection, "erasing", "drop_forgotten", {"ids": part})
                merges.settle(connection, ())
            yield part.count(",") + 1
        steps = (
            (rows.summaries, ("untitle", "drop_summaries")),
            (rows.events, ("forget_replies", "forget_errors", "empty_events", "drop_event_texts")),
            (rows.events, ("drop_jobs",)),
            (rows.prompts, ("forget_replies_of_prompts", "forget_errors_of_prompts")),
            (rows.prompts, ("untell", "untell_memories", "untitle_of_prompts", "empty_prompts")),
        )
        for ids, names in steps:
            for part in _parts(ids):
                values = {"ids": part, "empty": EMPTY, "erased": ERASED, "before": BEFORE}
                with self.transaction() as connection:
                    for name in names:
                        write(connection, "erasing", name, values)
                yield part.count(",") + 1
        for session_id in sorted(rows.sessions):
            self._erase_session(session_id, now)
            yield 1
        for project_id in sorted(rows.projects):
            with self.transaction() as connection:
                write(connection, "erasing", "forget_replies_of_project", {"id": project_id})
                keep_place(connection, project_id)
                write(connection, "erasing", "drop_project", {"id": project_id})
            yield 1

    def drop_quarantine(self, name: str) -> None:
        with self.transaction() as connection:
            write(connection, "erasing", "drop_quarantine", {"name": name})

    def erased_until(self, agent: str, ref: str) -> int | None:
        """The session was erased: what happened in it up to this time must not come back."""
        row = self.row("erasing", "buried", session=_grave(agent, ref))
        return int(row["until"]) if row else None

    def _erase_session(self, session_id: int, now: int) -> None:
        with self.transaction() as connection:
            session = write_one(connection, "sessions", "one", {"id": session_id})
            if session is None:
                return
            name = {"agent": session["agent"], "ref": session["ref"]}
            grave = {"session": _grave(**name), "until": max(now, session["last_event_at"])}
            write(connection, "erasing", "bury_session", grave)
            write(connection, "erasing", "forget_replies_of_session", {"id": session_id})
            write(connection, "erasing", "drop_pauses", name)
            write(connection, "erasing", "drop_session", {"id": session_id})
            merges.settle(connection, ())

    def _of_observation(self, key: int) -> Rows:
        """With what it was made of: from that it would be written again."""
        ids = with_folded(self._reader(), key)
        events = self._keys("events_of_observations", ids=json.dumps(ids))
        return Rows(observations=frozenset(ids), forgotten=frozenset({key}), events=events)

    def _with_derived(self, rows: Rows) -> Rows:
        prompts, sessions = (json.dumps(sorted(each)) for each in (rows.prompts, rows.sessions))
        events = rows.events | self._keys("events_of_prompts", ids=prompts)
        done = json.dumps(sorted(events))
        observations = (
            rows.observations
            | self._keys("observations_of_events", ids=done)
            | self._keys("observations_of_prompts", ids=prompts)
            | self._keys("observations_of_sessions", ids=sessions)
        )
        sources = {"sessions": sessions, "prompts": prompts, "events": done}
        folded = (with_folded(self._reader(), each) for each in observations)
        return replace(
            rows,
            events=events,
            observations=observations.union(*folded),
            forgotten=rows.forgotten | self._keys("forgotten_of", **sources),
            summaries=rows.summaries
            | self._keys("summaries_of_events", ids=done)
            | self._keys("summaries_of_prompts", ids=prompts),
        )

    def _counts(self, rows: Rows) -> dict[str, int]:
        named = {name: json.dumps(sorted(getattr(rows, name))) for name in PERIODS}
        whole = self.row("erasing", "counts", **named)
        assert whole is not None
        return {name: len(getattr(rows, name)) for name in ("projects", *PERIODS)} | dict(whole)

    def _keys(self, name: str, **values: object) -> frozenset[int]:
        return frozenset(int(row[0]) for row in self.rows("erasing", name, **values))


def _parts(ids: Iterable[int]) -> Iterator[str]:
    ordered = sorted(ids)
    for first in range(0, len(ordered), AT_ONCE):
        yield json.dumps(ordered[first : first + AT_ONCE])


def _grave(agent: str, ref: str) -> str:
    return digest(f"{agent}\0{ref}", 32)
