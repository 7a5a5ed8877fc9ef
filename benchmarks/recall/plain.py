"""What FTS5 finds by itself: the baseline. One column, `porter unicode61`, stop words out, OR, BM25."""

import re
import sqlite3
from collections.abc import Iterable

from aforesaid.model.records import ObservationRecord, SessionRecord
from aforesaid.terms import ASKING
from benchmarks.recall.sets import Memory, Question

WORD = re.compile(r"\w+")
TABLE = "CREATE VIRTUAL TABLE plain USING fts5 (words, project UNINDEXED, tokenize = 'porter unicode61')"
ADD = "INSERT INTO plain (rowid, words, project) VALUES (?, ?, ?)"
FIND = "SELECT rowid FROM plain WHERE plain MATCH ? AND project LIKE ? ORDER BY rank LIMIT ?"


class Plain:
    def __init__(self, memory: Memory) -> None:
        self._names: list[str] = []
        self._database = sqlite3.connect(":memory:")
        self._database.execute(TABLE)
        project = ""
        for block in memory.sessions:
            for part in block:
                if isinstance(part, SessionRecord):
                    project = part.project
                elif isinstance(part, ObservationRecord):
                    self._database.execute(ADD, (len(self._names), text(part), project))
                    self._names.append(part.observation)

    def search(self, question: Question, limit: int) -> list[str]:
        match = any_of(WORD.findall(question.text))
        if not match:
            return []
        values = (match, question.project or "%", limit)
        return [self._names[row[0]] for row in self._database.execute(FIND, values)]

    def close(self) -> None:
        self._database.close()


def text(record: ObservationRecord) -> str:
    """Everything that an observation says."""
    parts = (record.title, record.subtitle, *record.facts, record.narrative, *record.concepts)
    return "\n".join(part for part in (*parts, *record.files_read, *record.files_modified) if part)


def any_of(words: Iterable[str]) -> str:
    kept = dict.fromkeys(word.lower() for word in words)
    return " OR ".join(f'"{word}"' for word in kept if word not in ASKING)
