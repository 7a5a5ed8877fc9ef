"""Reads a claude-mem database as blocks: a session each, with its prompts, observations and summaries.

It is read from a copy of our own. Claude-mem may be running, so its files are opened read-only at most, and
where even that would create a file beside them, not at all. Columns have had several names over time, and
tables may be missing. Nothing in the columns is taken for granted.

There are no events, so nothing is processed. The sessions get an agent and a name of their own: the same
session may be known from its transcript too, and then has events, prompts and numbers of another make.
"""

import itertools
import json
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from aforesaid.clock import SECOND
from aforesaid.errors import TransferError
from aforesaid.model.observations import SUMMARY_PARTS, known_type
from aforesaid.model.prose import sentences
from aforesaid.model.records import (
    DirRecord,
    ObservationRecord,
    ProjectRecord,
    PromptRecord,
    SessionRecord,
    SummaryRecord,
    session_name,
)
from aforesaid.model.sessions import Project
from aforesaid.repository import Identity, Repository
from aforesaid.text import clean, one_line
from aforesaid.transfer.importer import Block

Row = Mapping[str, Any]
Part = PromptRecord | ObservationRecord | SummaryRecord


FOLDER = ".claude-mem"
FILE = "claude-mem.db"
FOLDER_VARIABLE = "CLAUDE_MEM_DATA_DIR"
OWN = f"Claude-mem's own is usually ~/{FOLDER}/{FILE}."
BUSY_SECONDS = 30.0
SECONDS_BELOW = 100_000_000_000  # in milliseconds, that is in 1973
LARGEST = 2**53
AGENT = PROVIDER = "claude-mem"
PLACEHOLDER = "claude-mem:"
USUAL_PLATFORMS = ("", "claude", "claude-code")
MAIN_AGENT = ("main", "primary")
UNKNOWN = "unknown"
TITLE = 80
LISTED = 30

# The names that a column has had over time.
MEMORY = ("memory_session_id", "sdk_session_id")
CONTENT = ("content_session_id", "claude_session_id", "session_id", "sdk_session_id")
NEEDED = (("sdk_sessions", CONTENT[:3]), ("sdk_sessions", MEMORY), ("observations", MEMORY))
PARTS = ("user_prompts", "observations", "session_summaries")


class Home(NamedTuple):
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
        copy = self._copy = sqlite3.connect("", check_same_thread=False)
        _fill(copy, self._path)
        sessions = _read_sessions(copy)
        self.total = len(sessions)
        names = set()
        for session in sessions:
            self.done += 1
            name = parse_text(session.row.get("project")) or UNKNOWN
            names.add(name)
            if self._only in (None, name):
                home = self.homes.get(name) or self._home(name)
                records = _session(copy, session, home.record)
                if len(records) > 1:
                    self.homes[name] = home
                    yield Block((home.record, *records), home.record, home.into)
        if self._only is not None and self._only not in names:
            there = ", ".join(sorted(names)[:LISTED]) or "none"
            raise TransferError(f"Claude-mem has no project {self._only!r}. Its projects: {there}.")

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()

    def _home(self, name: str) -> Home:
        if it := self._folders.get(name):
            dirs = (DirRecord(it.root, self._now),)
            return Home(ProjectRecord(name, it.name, it.root, self._now, it.identities, dirs))
        same = [p for p in self._known if p.name == name and not p.root.startswith(PLACEHOLDER)]
        if len(same) == 1:
            return Home(ProjectRecord(name, name, same[0].root, self._now), same[0].id)
        placeholder = f"{PLACEHOLDER}{name}"
        identity = Identity("path", placeholder)
        return Home(ProjectRecord(name, name, placeholder, self._now, (identity,)))


class _Session(NamedTuple):
    """A row of theirs, or what is left of it; and the ids of its parts, by table."""

    row: dict[str, Any]
    ids: dict[str, list[int]]


def _read_sessions(copy: sqlite3.Connection) -> list[_Session]:
    """In their order; those whose row is gone behind the others."""
    found = [_Session(row, defaultdict(list)) for row in _rows(copy, "sdk_sessions")]
    by_id = {each.row["id"]: each for each in found}
    by_name: dict[object, _Session] = {}
    for names in (MEMORY, CONTENT[:3]):
        for each in found:
            if (name := _first(each.row, names)) is not None:
                by_name.setdefault(name, each)
    for table in PARTS:
        for row in _rows(copy, table):
            name = _first(row, CONTENT if table == "user_prompts" else MEMORY)
            session = by_id.get(row.get("session_db_id")) or by_name.get(name)
            if session is None:
                left = {"id": None, MEMORY[0]: name, CONTENT[0]: name}
                session = by_name[name] = _Session(left, defaultdict(list))
                found.append(session)
            if session.row.get("project") is None:
                session.row["project"] = row.get("project")
            session.ids[table].append(row["id"])
    return found


def _rows(
    copy: sqlite3.Connection, table: str, ids: list[int] | None = None
) -> Iterator[dict[str, Any]]:
    """All, or these; none of a missing table. Nothing of the file's content becomes SQL."""
    if _columns(copy, table):
        wanted = "" if ids is None else "WHERE id IN (SELECT value FROM json_each(?))"
        values = () if ids is None else (json.dumps(ids),)
        rows = copy.execute(f"SELECT * FROM {table} {wanted} ORDER BY id", values)
        yield from map(dict, rows)


def _first(row: Row, names: Iterable[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _session(
    copy: sqlite3.Connection, session: _Session, project: ProjectRecord
) -> tuple[SessionRecord | Part, ...]:
    """The session, then its parts."""
    row = session.row
    ref = _ref(row)
    name = session_name(AGENT, ref)
    start = parse_time(row.get("started_at_epoch"), row.get("started_at"))
    asked, observed, summed = (list(_rows(copy, table, session.ids[table])) for table in PARTS)
    prompts = _prompts(asked, row, name, start)
    begin = start or next((at for r in (*observed, *summed) if (at := _time(r, None))), 0)
    places = [_place(row, name, prompts, begin) for row in (*observed, *summed)]
    observations = map(_observation, observed, itertools.count(1), places)
    summaries = _summaries(summed, places[len(observed) :])
    parts: list[Part] = [*prompts, *observations, *summaries]
    ended = parse_time(row.get("completed_at_epoch"), row.get("completed_at"))
    times = [begin, *(part.at for part in parts), *([ended] if ended else [])]
    first_words = prompts[0].text if prompts else row.get("user_prompt") or ""
    record = SessionRecord(
        session=name,
        project=project.project,
        agent=AGENT,
        ref=ref,
        project_dir=project.root,
        transcript=None,
        status="completed" if row.get("status") == "completed" else "interrupted",
        started_at=min(filter(None, times), default=0),
        last_event_at=max(times),
        ended_at=ended or max(times),
        title=parse_text(row.get("custom_title")) or one_line(first_words, TITLE) or None,
        subtitle=None,
        prompts=max((prompt.number for prompt in prompts), default=0),
    )
    return (record, *parts)


def _ref(row: Row) -> str:
    platform = parse_text(row.get("platform_source")) or ""
    own = "" if platform in USUAL_PLATFORMS else f"-{platform}"
    names = (_first(row, CONTENT[:3]), _first(row, MEMORY))
    name = next(filter(None, map(parse_text, names)), None) or row["id"]
    return f"{name}@{AGENT}{own}"


def _prompts(
    rows: list[dict[str, Any]], session: Row, name: str, start: int | None
) -> list[PromptRecord]:
    """A release without a table of prompts kept the first one with its session."""
    rows.sort(key=lambda row: parse_number(row.get("prompt_number")) or 0)
    taken: set[int] = set()
    found = []
    for row in rows:
        number = parse_number(row.get("prompt_number"))
        if not number or number in taken:
            number = max(taken, default=0) + 1
        taken.add(number)
        at = _time(row, start) or 0
        found.append(PromptRecord(name, number, None, at, str(row.get("prompt_text") or "")))
    first = session.get("user_prompt")
    if not found and parse_text(first):
        found.append(PromptRecord(name, 1, None, start or 0, str(first)))
    return found


def _place(row: Row, session: str, prompts: list[PromptRecord], begin: int) -> dict[str, Any]:
    """What an observation and a summary have in common. Without a number: that of the last prompt before."""
    at = _time(row, begin) or 0
    number = parse_number(row.get("prompt_number"))
    if number is None:
        number = max((prompt.number for prompt in prompts if prompt.at <= at), default=0)
    return {
        "session": session,
        "prompt_number": number,
        "at": at,
        "provider": PROVIDER,
        "model": parse_text(row.get("generated_by_model")),
        "files_read": parse_list(row.get("files_read")),
    }


def _observation(row: Row, ordinal: int, place: dict[str, Any]) -> ObservationRecord:
    whole = parse_text(row.get("text"))
    names = ("title", "subtitle", "narrative")
    texts: dict[str, Any] = {name: parse_text(row.get(name)) for name in names}
    facts = parse_list(row.get("facts"))
    if whole and not (texts["title"] or texts["narrative"] or facts):
        facts = tuple(dict.fromkeys(sentences(whole)))
        texts |= {"title": one_line(facts[0] if facts else whole, TITLE), "narrative": whole}
    elif whole and whole != texts["narrative"]:
        texts["narrative"] = "\n\n".join(filter(None, (texts["narrative"], whole)))
    agent = parse_text(row.get("agent_type"))
    return ObservationRecord(
        **place,
        **texts,
        observation=f"{place['session']}#{ordinal}",
        job=None,
        ordinal=ordinal,
        type=known_type(str(row.get("type") or "")),
        subagent_type=None if agent in MAIN_AGENT else agent,
        pinned=False,
        edited=False,
        facts=facts,
        concepts=parse_list(row.get("concepts")),
        files_modified=parse_list(row.get("files_modified")),
    )


def _summaries(rows: list[dict[str, Any]], places: list[dict[str, Any]]) -> list[SummaryRecord]:
    """A turn has one here. A second one of theirs gets a number behind all the others: it is not lost."""
    taken: set[int] = set()
    found = []
    for row, place in zip(rows, places, strict=True):
        if place["prompt_number"] in taken:
            place["prompt_number"] = max(*taken, *(each["prompt_number"] for each in places)) + 1
        taken.add(place["prompt_number"])
        texts: dict[str, Any] = {part: parse_text(row.get(part)) for part in SUMMARY_PARTS}
        edited = parse_list(row.get("files_edited"))
        found.append(SummaryRecord(**place, **texts, files_edited=edited))
    return found


def _time(row: Row, default: int | None) -> int | None:
    return parse_time(row.get("created_at_epoch"), row.get("created_at")) or default


def default_path(env: Mapping[str, str]) -> Path:
    folder = env.get(FOLDER_VARIABLE)
    return (Path(folder).expanduser() if folder else Path.home() / FOLDER) / FILE


def _fill(copy: sqlite3.Connection, path: Path) -> None:
    """Rows by name; text that is not UTF-8 is read as far as it goes."""
    try:
        _copy_database(path, copy)
        faults = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if faults != "ok":
            raise sqlite3.DatabaseError(faults)
    except OSError as error:
        raise TransferError(
            f"{path} cannot be read: {error.strerror}. Give the path of claude-mem's database, or set "
            f"{FOLDER_VARIABLE}."
        ) from None
    except sqlite3.DatabaseError as error:
        raise TransferError(
            f"{path} cannot be read ({error}). {OWN} If claude-mem is running, stop it and try again; if the "
            "file is damaged, repair it with `sqlite3 old.db .recover | sqlite3 new.db` and import new.db."
        ) from None
    copy.row_factory = sqlite3.Row
    copy.text_factory = lambda data: data.decode("utf-8", "replace")
    for table, names in NEEDED:
        if not _columns(copy, table).intersection(names):
            what = f"it has no table {table!r} as claude-mem makes it"
            raise TransferError(f"{path} is not a claude-mem database: {what}. {OWN}")


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """Empty for a table that is not there."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(row[0] for row in rows)


def _copy_database(path: Path, copy: sqlite3.Connection) -> None:
    """If no process has the file open, opening it could create files beside it: its files are copied then."""
    with tempfile.TemporaryDirectory() as folder:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        if not path.with_name(f"{path.name}-shm").exists():
            shutil.copyfile(path, Path(folder, path.name))
            with suppress(FileNotFoundError):
                log = f"{path.name}-wal"
                shutil.copyfile(path.with_name(log), Path(folder, log))
            uri = Path(folder, path.name).as_uri()
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)) as source:
            source.backup(copy)


def parse_time(epoch: object, text: object) -> int | None:
    """Milliseconds. Some releases wrote seconds; some rows have only the date in words."""
    try:
        number = int(float(str(epoch)))
    except (ValueError, OverflowError):
        number = 0
    if 0 < number < LARGEST:
        return number * SECOND if number < SECONDS_BELOW else number
    try:
        return round(datetime.fromisoformat(str(text)).timestamp() * SECOND)
    except (ValueError, OverflowError, OSError):
        return None


def parse_number(value: object) -> int | None:
    try:
        number = int(str(value))
    except ValueError:
        return None
    return number if 0 <= number < LARGEST else None


def parse_text(value: object) -> str | None:
    """Clean; None where there is nothing."""
    if value is None:
        return None
    return clean(str(value)).strip() or None


def parse_list(value: object) -> tuple[str, ...]:
    """A JSON list, as it should be. What is no JSON is one item."""
    if not isinstance(value, str) or not value.strip():
        return ()
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = value
    items = found if isinstance(found, list) else [found]
    texts = (parse_text(_plain(item)) for item in items if item is not None)
    return tuple(dict.fromkeys(text for text in texts if text))


def _plain(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and len(item) == 1:
        return _plain(next(iter(item.values())))
    return json.dumps(item, ensure_ascii=False)
