"""What of a row can be found: its words for the full-text index, and its text for the encoder."""

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.model.erasing import ERASED
from recollect.periods import date_words, says
from recollect.store.sqlite.database import Row, write, write_one
from recollect.store.sqlite.values import file_name
from recollect.terms import prepared, whole

LONGEST = 20_000  # characters of one thing that are indexed; what is longer is a pasted file
QUESTION = 240  # characters; what is longer and ends with a question says something too
SAID = 500  # characters in which a time or a number must stand to be what a text is about
# What was tried in vain is worth knowing, but it is not what was asked for.
DEAD_END = re.compile(
    r"\b(?:dead end|in vain|gave up|given up|abandoned|did(?: not|n't) (?:work|help)|no improvement"
    r"|reverted|rolled back|was wrong|turned out (?:wrong|not to)|made (?:it|things) worse)\b",
    re.IGNORECASE,
)
SUMMARY_TEXTS = ("investigated", "learned", "completed", "next_steps", "notes")


@dataclass(frozen=True, slots=True)
class DocumentText:
    """`names`: what somebody tagged it with: concepts, files, a sub-agent. `facts`: words by row id."""

    row: Row
    title: str
    body: str
    names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    type: str | None = None
    pinned: bool = False
    doubted: bool = False
    superseded: bool = False
    by_user: bool = False
    facts: tuple[tuple[int, str], ...] = ()

    @property
    def plain(self) -> str:
        """For the encoder."""
        return f"{self.title}\n{self.body}".strip()[:LONGEST]

    def _named(self) -> Iterable[str]:
        """For filters: a file and a concept of one name are two things."""
        yield from (f"f_{label}" for label in labels(self.files))
        yield from (f"c_{label}" for label in labels(set(self.names) - set(self.files)))

    def values(self, kind: str) -> dict[str, object]:
        body = self.body[:LONGEST]
        when, number = says(body[:SAID])
        return {
            "kind": kind,
            "source": self.row["id"],
            "session_id": self.row["session_id"],
            "project_id": self.row["project_id"],
            "at": self.row["at"],
            "asks": len(body) <= QUESTION and body.rstrip().endswith(("?", "？")),
            "says_when": when,
            "says_number": number,
            "pinned": self.pinned,
            "doubted": self.doubted,
            "superseded": self.superseded,
            "by_user": self.by_user,
            "dead_end": DEAD_END.search(f"{self.title}\n{body[:SAID]}") is not None,
            "labels": " ".join(labels(self.names)),
            "dates": date_words(self.row["at"]),
            "scope": " ".join((*scope(self.row, kind, self.type), *self._named())),
            "title": prepared(self.title[:LONGEST]),
            "body": prepared("\n".join((body, *self.names))),
        }


def scope(row: Row | Mapping[str, Any], kind: str, type_: str | None) -> Iterable[str]:
    """Terms that filters ask for."""
    yield f"p_{row['project_id']}"
    yield f"s_{row['session_id']}"
    yield f"k_{kind}"
    yield f"a_{whole(row['agent'])}"
    yield f"m_{month(row['at'])}"
    yield f"y_{month(row['at']) // 12}"
    if type_:
        yield f"t_{type_}"


def month(at: int) -> int:
    """Months of thirty days since the epoch: coarse, the same everywhere, and easy to count."""
    return at // (30 * 86_400_000)


def read(connection: sqlite3.Connection, kind: str, source: int) -> DocumentText | None:
    """None: there is nothing to find, or no longer."""
    row = write_one(connection, "index", kind, {"id": source})
    if row is None:
        return None
    match kind:
        case "observation":
            return _observation(connection, row)
        case "summary":
            paths = _column(connection, "summary_files", source)
            return DocumentText(
                row,
                row["request"] or "",
                _joined(row[part] for part in SUMMARY_TEXTS),
                tuple(paths),
                tuple(paths),
                doubted=bool(row["doubted"]),
            )
        case "prompt":
            return None if row["text"] == ERASED else DocumentText(row, "", row["text"])
        case _:
            titles = _column(connection, "session_titles", source)
            requests = _column(connection, "session_requests", source)
            return DocumentText(
                row, row["title"] or "", _joined([row["subtitle"], *requests, *titles])
            )


def _observation(connection: sqlite3.Connection, row: Row) -> DocumentText:
    key = row["id"]
    facts = write(connection, "index", "facts", {"id": key}).fetchall()
    concepts = _column(connection, "concepts", key)
    files = _column(connection, "files", key)
    who = [row["subagent_type"]] if row["subagent_type"] else []
    return DocumentText(
        row,
        row["title"] or "",
        _joined([row["subtitle"], *(fact["text"] for fact in facts), row["narrative"]]),
        (*concepts, *who, *files),
        tuple(files),
        type=row["type"],
        pinned=bool(row["pinned"]),
        doubted=bool(row["doubted"]),
        superseded=bool(row["superseded"]),
        by_user=bool(row["edited"]),
        facts=tuple((fact["id"], prepared(fact["text"])) for fact in facts),
    )


def labels(names: Iterable[str]) -> tuple[str, ...]:
    """Each name as one term. A file is known by its path and by its name."""
    found = (whole(name) for path in names for name in (path, file_name(path)))
    return tuple(dict.fromkeys(name for name in found if name))


def _column(connection: sqlite3.Connection, name: str, key: int) -> list[str]:
    return [row[0] for row in write(connection, "index", name, {"id": key}).fetchall()]


def _joined(parts: Iterable[str | None]) -> str:
    return "\n".join(part for part in parts if part)
