"""What FTS5 finds by itself: the baseline. One column, `porter unicode61`, stop words out, OR, BM25."""

import re
import sqlite3
from collections.abc import Iterable, Iterator

from aforesaid.model.records import ObservationRecord, SessionRecord
from aforesaid.terms import ASKING
from benchmarks.recall.loading import Loaded
from benchmarks.recall.sets import Memory, Question

WORD = re.compile(r"\w+")
TABLE = "CREATE VIRTUAL TABLE plain USING fts5 (words, project UNINDEXED, tokenize = 'porter unicode61')"
ADD = "INSERT INTO plain (rowid, words, project) VALUES (?, ?, ?)"
FIND = "SELECT rowid FROM plain WHERE plain MATCH ? AND project LIKE ? ORDER BY rank LIMIT ?"


class Plain:
    def __init__(self, known: Loaded, memory: Memory) -> None:
        self._names: list[str] = []
        self._database = sqlite3.connect(":memory:")
        self._database.execute(TABLE)
        for name, words, project in _texts(known, memory):
            self._database.execute(ADD, (len(self._names), words, project))
            self._names.append(name)

    def search(self, question: Question, limit: int) -> list[str]:
        match = any_of(WORD.findall(question.text))
        if not match:
            return []
        values = (match, question.project or "%", limit)
        return [self._names[row[0]] for row in self._database.execute(FIND, values)]

    def close(self) -> None:
        self._database.close()


def _texts(known: Loaded, memory: Memory) -> Iterator[tuple[str, str, str]]:
    project = ""
    for block in memory.sessions:
        for part in block:
            if isinstance(part, SessionRecord):
                project = part.project
            elif isinstance(part, ObservationRecord):
                yield part.observation, text(part), project
    if memory.database:
        for key, name in known.names.items():
            if each := known.store.index.document_text(*key):
                yield name, f"{each.title}\n{each.body}", project


def text(record: ObservationRecord) -> str:
    """Everything that an observation says."""
    parts = (record.title, record.subtitle, *record.facts, record.narrative, *record.concepts)
    return "\n".join(part for part in (*parts, *record.files_read, *record.files_modified) if part)


def any_of(words: Iterable[str]) -> str:
    kept = dict.fromkeys(word.lower() for word in words)
    return " OR ".join(f'"{word}"' for word in kept if word not in ASKING)
