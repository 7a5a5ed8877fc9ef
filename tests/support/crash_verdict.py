"""What became of the events of a crash test: lost, doubled, corrupted, or all there once.

It looks at the store and the spool after everybody has settled, and says what it finds in numbers and
sentences; who asked decides whether that is a failure.
"""

import json
import sqlite3
import zlib
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.support.crash import Crash
from tests.support.finding import check_words

UNSETTLED = "SELECT count(*) FROM jobs WHERE state <> 'done' OR lease_until IS NOT NULL"
# Whatever was done in a turn that is over is claimed by a job.
UNCLAIMED = """
    SELECT count(*) FROM events AS event
    WHERE event.kind = 'tool' AND event.job_id IS NULL AND EXISTS (
        SELECT 1 FROM prompts AS later
        WHERE later.session_id = event.session_id AND later.number > event.prompt_number
    )
"""
# A job's observations are numbered from 0; a second run of it would leave a number twice, or a gap.
MISNUMBERED = """
    SELECT count(*) FROM (
        SELECT 1 FROM observations GROUP BY job_id
        HAVING job_id IS NULL OR count(*) <> count(DISTINCT ordinal) OR count(*) <> max(ordinal) + 1
    )
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    acknowledged: int
    lost: int
    doubled: int
    corrupted: int
    faults: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.corrupted or self.faults)


def judge(crash: Crash) -> Verdict:
    """Of a crash that has settled."""
    database = crash.paths.database
    stored = stored_payloads(database)
    found = (
        unsound(database),
        _faults_of_the_spool(crash),
        _faults_of_the_jobs(database),
        _faults_of_the_memory(database),
    )
    return Verdict(
        len(crash.acknowledged),
        len(crash.acknowledged - set(stored)),
        sum(number - 1 for number in stored.values()),
        len(set(stored) - crash.sent),
        tuple(fault for part in found for fault in part),
    )


def unsound(database: Path) -> list[str]:
    """No worker may be alive: we write, which is what the index's own check wants."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        faults = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        faults = [fault for fault in faults if fault != "ok"]
        faults += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            return faults  # no worker has lived long enough yet
        try:
            check_words(connection)
        except (AssertionError, sqlite3.Error) as error:
            faults.append(f"the index: {error}")
    return faults


def stored_payloads(database: Path) -> Counter[bytes]:
    bodies = _rows(database, "SELECT body FROM events")
    return Counter(zlib.decompress(body) for (body,) in bodies if isinstance(body, bytes))


def _faults_of_the_spool(crash: Crash) -> list[str]:
    paths = crash.paths
    bad = [file.read_bytes().partition(b"\0\n")[2] for file in paths.spool_bad.iterdir()]
    return _said(
        (len(list(paths.spool_new.iterdir())), "files still wait in the spool"),
        (sum(body not in crash.cut for body in bad), "whole captures are in quarantine"),
        (
            max(0, crash.counts["halves acknowledged"] - len(bad)),
            "cut-off captures are missing in quarantine",
        ),
        (int((paths.state / "capture-failures").exists()), "hooks noted a failure"),
    )


def _faults_of_the_jobs(database: Path) -> list[str]:
    return _said(
        (_number(database, UNSETTLED), "jobs are not done"),
        (_number(database, UNCLAIMED), "events of turns that are over belong to no job"),
        (_number(database, MISNUMBERED), "jobs have observations that are misnumbered"),
    )


def _faults_of_the_memory(database: Path) -> list[str]:
    """Each tool wrote a file of its own, so a doubled effect names one twice. A note is about its whole turn,
    so it may name files of events that wait for a job of their own."""
    paths = "SELECT path FROM observation_files WHERE role = 'modified'"
    told = Counter(str(path) for (path,) in _rows(database, paths))
    written, claimed = Counter[str](), Counter[str]()
    for body, job in _rows(database, "SELECT body, job_id FROM events WHERE tool = 'Write'"):
        if isinstance(body, bytes):
            name = json.loads(zlib.decompress(body))["tool_use_id"] + ".py"
            written[name] += 1
            claimed[name] += job is not None
    return _said(
        ((told - written).total(), "files are remembered too often"),
        ((claimed - told).total(), "files are not remembered"),
    )


def _said(*counted: tuple[int, str]) -> list[str]:
    return [f"{number} {what}" for number, what in counted if number]


def _number(database: Path, query: str) -> int:
    ((number,),) = _rows(database, query)
    assert isinstance(number, int)
    return number


def _rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()
