"""Sessions of the real client, as its hooks told them and as its transcripts do, in one store."""

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.model.events import Arrival, Capture, Event
from aforesaid.store.store import Store
from tests.support.arrivals import START, repository
from tests.support.blank import laid
from tests.support.transcripts import FIXTURES, FRAMING, read

SHOP = "/home/dev/shop"
LATE = 20  # milliseconds from a transcript's line to its hook
SESSIONS = sorted(path.name for path in FIXTURES.iterdir())
Rows = list[tuple[object, ...]]


@pytest.fixture(params=SESSIONS)
def recording(request: pytest.FixtureRequest) -> Path:
    return FIXTURES / str(request.param)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(laid(tmp_path / "aforesaid.db"), writer=True)) as opened:
        opened.projects.resolve(repository("shop"), SHOP, START)
        yield opened


def told(recording: Path) -> list[Arrival]:
    files = ClaudeCode().transcripts({"HOME": str(recording / "home")})
    every = [told for file in files for told in read(Path(file.path))]
    return [Arrival(t.capture, t.event, 1, boring=False, healed=True) for t in every]


def hooked(recording: Path) -> list[Arrival]:
    """In the order in which they fired; each a little later than the transcript says."""
    lines = told(recording)
    times = {a.event.key: a.capture.at for a in lines if a.event.key}
    compacted = iter([a.capture.at for a in lines if a.event.kind == "compact"])
    at = min(times.values()) - 1_000
    found = []
    for number, line in enumerate((recording / "hooks.jsonl").read_text().splitlines()):
        event = ClaudeCode().parse(Capture("", "claude-code", "save", SHOP, line.encode(), 0))
        if isinstance(event, Event):
            line_at = (
                next(compacted, 0) if event.kind == "compact" else times.get(event.key or "", 0)
            )
            at = max(at + 1, line_at + LATE)
            capture = Capture(f"hook-{number}", "claude-code", "save", SHOP, line.encode(), at)
            found.append(Arrival(capture, event, 1, boring=False))
    return found


def rows(store: Store, query: str) -> Rows:
    with store.database.transaction() as connection:
        return [tuple(row) for row in connection.execute(query)]


def state(store: Store) -> dict[str, Rows]:
    named = "FROM {0} JOIN sessions AS s ON s.id = {0}.session_id"
    return {
        "events": rows(
            store,
            f"SELECT ref, iif(key LIKE 'capture:%', kind, key), prompt_number {named.format('events')}"
            " ORDER BY ref, at, events.id",
        ),
        "prompts": rows(
            store, f"SELECT ref, number, text {named.format('prompts')} ORDER BY ref, number"
        ),
        "jobs": rows(
            store,
            f"SELECT DISTINCT ref, kind, prompt_number {named.format('jobs')} ORDER BY 1, 2, 3",
        ),
        "sessions": rows(store, "SELECT ref, status, prompts FROM sessions ORDER BY ref"),
    }


def test_of_what_hooks_told_nothing_is_told_again(recording: Path, store: Store) -> None:
    """What no hook tells is healed: a call that was refused, or interrupted."""
    delivered = hooked(recording)
    assert store.events.add(delivered, START).added == len(delivered)
    keys = {arrival.event.key for arrival in delivered}
    untold = [a for a in told(recording) if a.event.kind == "tool" and a.event.key not in keys]
    assert store.events.heal(told(recording), START).added == len(untold)
    assert rows(store, "SELECT key FROM events WHERE healed ORDER BY at, id") == [
        (arrival.event.key,) for arrival in untold
    ]


@pytest.mark.parametrize("seed", range(5))
def test_a_lossy_recording_heals_to_the_whole_one(
    recording: Path, store: Store, tmp_path: Path, seed: int
) -> None:
    delivered = hooked(recording)
    with closing(Store(laid(tmp_path / "whole.db"), writer=True)) as whole:
        whole.projects.resolve(repository("shop"), SHOP, START)
        whole.events.add(delivered, START)
        whole.events.heal(told(recording), START)
        expected = state(whole)
    chance = random.Random(seed)
    # What frames a session is told by hooks alone, if it was told at all.
    kept = [a for a in delivered if a.event.kind in FRAMING or chance.random() < 2 / 3]
    store.events.add(kept, START)
    store.events.heal(told(recording), START)
    assert state(store) == expected
