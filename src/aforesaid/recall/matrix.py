"""The vectors of all documents in memory, kept current, and searched as they are.

Rows of signed bytes, a quarter of the size of floats, turned into floats block by block while they are
searched: exact, and as fast as memory.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aforesaid.encoders.base import Encoder
from aforesaid.model.search import OBSERVATION, PROMPT, SUMMARY, Filters, StoredVector
from aforesaid.store.store import Store

BLOCK = 1_024  # rows at a time: as floats they stay in the processor's cache
BESIDE = 0.5  # how much a neighbour adds to the meaning of a document
EXCLUDED = -9.0
KINDS = (OBSERVATION, PROMPT, SUMMARY)  # as the store sorts them
FLOOR = -3.0  # standard deviations; further off is not worse


@dataclass(frozen=True, slots=True)
class Meaning:
    """How near documents are to a query: `context` with what stands beside them, in standard deviations;
    `own` by themselves, as a cosine. Documents outside the scope are at `EXCLUDED`."""

    ids: NDArray[np.int64]  # ascending
    context: NDArray[np.float32]
    own: NDArray[np.float32]

    def best(self, most: int) -> list[int]:
        """The nearest first."""
        values = -self.context
        some = (
            np.argpartition(values, most)[:most] if len(values) > most else np.arange(len(values))
        )
        places = some[np.argsort(values[some], kind="stable")]
        return [int(key) for key in self.ids[places[self.context[places] > EXCLUDED]]]

    def of(self, ids: Iterable[int]) -> dict[int, float]:
        return self._of(ids, self.context)

    def cosines(self, ids: Iterable[int]) -> dict[int, float]:
        return self._of(ids, self.own)

    def _of(self, ids: Iterable[int], all_of: NDArray[np.float32]) -> dict[int, float]:
        wanted = np.fromiter(ids, np.int64)
        places = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        values = all_of[places]
        known = (self.ids[places] == wanted) & (values > EXCLUDED)
        return {int(k): float(v) for k, v in zip(wanted[known], values[known], strict=True)}


Column = NDArray[np.int64]


class _Columns(NamedTuple):
    id: Column
    session: Column
    project: Column
    at: Column
    place: Column


class Matrix:
    """Not for several threads at once: its owner has a lock."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._newest = 0
        self._rows: NDArray[np.int8] = np.zeros((0, encoder.dimensions), np.int8)
        nothing: Column = np.zeros(0, np.int64)
        self._columns = _Columns(nothing, nothing, nothing, nothing, nothing)
        self._counts = self._first = self._order = nothing  # rows per document; its first; by id
        self._in_order = True
        self._previous = self._next = np.zeros(0, np.int64)
        # Of a vector with its neighbours'.
        self._length: NDArray[np.float32] = np.zeros(0, np.float32)

    def __len__(self) -> int:
        return len(self._columns.id)

    def refresh(self, store: Store) -> None:
        """What is new since the last time. A document that was indexed again takes the place of its former
        self; what was deleted stays until the next start, and the store does not know it any more."""
        if store.index.newest_vector() <= self._newest:
            return
        size = self.encoder.dimensions
        found = [v for v in store.index.vectors(self.encoder.name, self._newest) if v.vector]
        if not found:
            return
        self._newest = found[-1].id
        places = [(v.document_id, v.session_id, v.project_id, v.at, _place(v)) for v in found]
        new = _Columns(*np.array(places).T)
        counts = np.array([len(v.vector) // size for v in found], np.int64)
        rows = np.frombuffer(b"".join(v.vector for v in found), np.int8).reshape(-1, size)
        self._keep(~np.isin(self._columns.place, new.place))
        self._rows = np.concatenate([self._rows, rows])
        self._counts = np.concatenate([self._counts, counts])
        self._columns = _Columns(*map(np.concatenate, zip(self._columns, new, strict=True)))
        self._first = np.concatenate([[0], np.cumsum(self._counts)[:-1]]).astype(np.int64)
        self._order = np.argsort(self._columns.id, kind="stable")
        self._in_order = bool(np.all(np.diff(self._columns.id) > 0))
        self._place_neighbours()

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        if kept.all():
            return
        self._rows = self._rows[np.repeat(kept, self._counts)]
        self._counts = self._counts[kept]
        self._columns = _Columns(*(column[kept] for column in self._columns))
        self._previous = self._next = np.full(0, -1, np.int64)  # the places have changed
        self._length = np.zeros(0, np.float32)

    def _place_neighbours(self) -> None:
        order = np.lexsort((self._columns.place, self._columns.at, self._columns.session))
        session = self._columns.session[order]
        same = session[1:] == session[:-1]
        before, after = order[:-1][same], order[1:][same]
        previous, following = (np.full(len(order), -1, np.int64) for _ in range(2))
        previous[after] = before
        following[before] = after
        old = len(self._length)
        moved = np.ones(len(order), bool)
        moved[:old] = (previous[:old] != self._previous) | (following[:old] != self._next)
        self._previous, self._next = previous, following
        self._length = np.concatenate([self._length, np.ones(len(order) - old, np.float32)])
        places = np.flatnonzero(moved)
        for first in range(0, len(places), BLOCK):
            some = places[first : first + BLOCK]
            whole = self._head(some)
            for where in (previous[some], following[some]):
                whole += BESIDE * np.where(where[:, None] >= 0, self._head(where), 0.0)
            self._length[some] = np.maximum(np.linalg.norm(whole, axis=1), 0.1)

    def _head(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The first rows of documents, as floats of length one."""
        return self._rows[self._first[places]].astype(np.float32) / np.float32(127)

    def near(self, text: str, filters: Filters, within: Collection[int] | None) -> Meaning | None:
        """`within`: the documents that pass the other filters than project and time. None: there are none."""
        # Also for an empty store, to report a missing encoder.
        asked = self.encoder.encode([text])[0]
        if not len(self) or not asked.any():
            return None
        part = self._scope(filters, within)
        if part is not None and not part.any():
            return None
        own = self._own(asked)
        beside = np.append(
            own, np.float32(0)
        )  # without a neighbour the index is -1: the last, zero
        context = own + BESIDE * (beside[self._previous] + beside[self._next])
        context /= self._length
        there = context if part is None else context[part]
        usual = (context - there.mean()) / max(float(there.std()), 0.02)
        np.maximum(usual, np.float32(FLOOR), out=usual)
        if part is not None:
            usual[~part] = EXCLUDED
        if self._in_order:
            return Meaning(self._columns.id, usual, own)
        return Meaning(self._columns.id[self._order], usual[self._order], own[self._order])

    def _scope(self, filters: Filters, within: Collection[int] | None) -> NDArray[np.bool_] | None:
        columns = self._columns
        parts = []
        if filters.project_id is not None:
            parts.append(columns.project == filters.project_id)
        if filters.since is not None:
            parts.append(columns.at >= filters.since)
        if filters.until is not None:
            parts.append(columns.at < filters.until)
        if within is not None:
            parts.append(np.isin(columns.id, np.fromiter(within, np.int64)))
        return np.logical_and.reduce(parts) if parts else None

    def _own(self, asked: NDArray[np.float32]) -> NDArray[np.float32]:
        """Per document, the nearest of its rows."""
        rows = self._rows
        scores = np.empty(len(rows), np.float32)
        block = np.empty((BLOCK, rows.shape[1]), np.float32)
        for first in range(0, len(rows), BLOCK):
            last = min(first + BLOCK, len(rows))
            some = block[: last - first]
            np.copyto(some, rows[first:last])
            np.dot(some, asked, out=scores[first:last])
        best: NDArray[np.float32] = np.maximum.reduceat(scores, self._first)
        return best / np.float32(127)


def _place(stored: StoredVector) -> int:
    """Among things of one moment: the store's order, by kind and number, which outlives a rebuild."""
    return KINDS.index(stored.kind) << 48 | stored.source
