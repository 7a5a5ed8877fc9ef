"""The search index, as `status` and `doctor` look at it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from recollect import wiring
from recollect.cli.output import count
from recollect.model.search import IndexHealth
from recollect.settings import Settings
from recollect.store.protocol import Reading

ENOUGH = 0.9  # of the documents; a few without a vector are on their way


class Problem(NamedTuple):
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what[:1].upper()}{self.what[1:]}. Fix: {self.fix}"


def held(settings: Settings, store: Reading) -> IndexHealth:
    """A reader has no encoder of its own; the settings name the one that counts."""
    encoder = wiring.encoder(settings)
    name = encoder.name if encoder else None
    vectors = store.how_many_vectors().get(name or "", 0)
    return replace(store.index_health(), encoder=name, vectors=vectors)


def off(missing: str) -> Problem:
    """`missing`: what the encoder lacks, and how to mend it."""
    what, _, fix = missing.partition(". ")
    return Problem(f"search by meaning is off: {what[:1].lower()}{what[1:]}", fix.rstrip("."))


def too_few(index: IndexHealth, worker: Mapping[str, Any] | None) -> Problem | None:
    """Most have no vector, and nobody is about to make them. `worker`: what it says of itself;
    one that was started with another encoder makes vectors of that."""
    busy = index.waiting or (worker is not None and not worker.get("idle", True))
    if index.encoder is None or busy or index.vectors >= ENOUGH * index.documents:
        return None
    held = f"{index.vectors:,} of {count(index.documents, 'document')} have a vector"
    of_another = worker is not None and worker.get("index", {}).get("encoder") != index.encoder
    fix = "recollect worker restart" if of_another else "recollect rebuild"
    return Problem(f"search by meaning finds little: {held} by {index.encoder}", fix)


def line(index: IndexHealth) -> str:
    waiting = f"; {count(index.waiting, 'thing')} still to be indexed" if index.waiting else ""
    documents = count(index.documents, "document")
    if index.encoder is None:
        return f"{documents}, found by words only (recall.encoder){waiting}"
    return f"{documents}, {count(index.vectors, 'vector')} by {index.encoder}{waiting}"
