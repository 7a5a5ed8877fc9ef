"""Sixty memories with what a dream should find in them: duplicates, contradictions, stale facts, and pairs
that only look alike. And the reply that a good model gives about them."""

import json
from pathlib import Path

from aforesaid import settings
from aforesaid.clock import DAY
from aforesaid.memory.changes import Memories
from aforesaid.memory.folders import find_places
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from tests.support.stub_model import FakeClock

FILE = Path(__file__).parents[1] / "fixtures/memories/sixty.jsonl"
FIRST = 1_772_448_000_000  # noon of Monday, 2 March 2026, UTC
NOW = FIRST + 90 * DAY

# Same text, but for layout: the first of each stays.
EXACT = {
    "tabs-for-indentation": ("indent-with-tabs", "prefers-tabs"),
    "deploy-by-jenkins": ("jenkins-deploys",),
    "db-in-docker": ("postgres-container",),
}
# Same words, mostly.
NEAR = {
    "tests-before-commit": ("run-tests-first",),
    "no-mocked-database": ("database-not-mocked",),
    "invoices-in-cents": ("money-in-cents",),
    "linear-ingest-board": ("bugs-in-linear",),
}
# Which contradicts which: the newer one comes first.
CONTRADICTED = {
    "api-port-moved": "api-port",
    "python-version-now": "python-version",
    "release-day-thursday": "release-day",
    "review-by-maria": "review-by-tom",
}
# Those of them that need no model: a number in the place of a number, or a word such as `now`.
REPLACED = ("api-port", "python-version")
# What was over when the work lately was done, with the reason that the model gives.
OVER = {
    "auth-rewrite-running": "the auth rewrite was finished on 2026-05-20",
    "cache-bug-open": "the cache bug was fixed",
}
# Two that are one subject and are better told as one.
PARTS = ("search-index-path", "search-index-rebuild")
PINNED = ("tabs-for-indentation", "never-force-push", "secrets-in-vault")
SIGNALS = (
    "Auth rewrite finished",
    "Cache bug fixed: keys carry the tenant",
    "API moved to port 8081",
)


def rows() -> tuple[Memory, ...]:
    """`day`: days after FIRST; `evidence`: how much there is of it."""
    found = map(json.loads, FILE.read_text("utf-8").splitlines())
    return tuple(
        Memory(
            row["name"],
            row["description"],
            row["type"],
            row["body"],
            pinned=row["name"] in PINNED,
            created=FIRST + row["day"] * DAY,
            evidence=tuple(f"observation {row['day'] * 10 + n}" for n in range(row["evidence"])),
        )
        for row in found
    )


def store(home: Paths, project: Path, listed: tuple[Memory, ...] | None = None) -> Memories:
    """Written as by many sessions; the clock stands at NOW."""
    project.mkdir(exist_ok=True)
    memories = reopened(home, project)
    with memories.change("sixty memories") as change:
        for memory in rows() if listed is None else listed:
            change.write(memory)
    return memories


def reopened(home: Paths, project: Path) -> Memories:
    found = settings.load(home.config_file, {})
    return Memories(find_places(home, str(project), found), FakeClock(NOW))


def reply() -> str:
    """Contradictions retired with what is dropped, two parts merged, what is over named with the reason."""
    listed = {memory.name: memory for memory in rows()}
    retired: list[dict[str, object]] = [
        {
            "name": old,
            "replaced_by": new,
            "why": "the newer one says otherwise",
            "dropped": [{"fact": listed[old].body, "why": "no longer true"}],
        }
        for new, old in CONTRADICTED.items()
        if old not in REPLACED
    ]
    retired += [
        {
            "name": name,
            "why": why,
            "dropped": [
                {"fact": fact, "why": why} for fact in (listed[name].description, listed[name].body)
            ],
        }
        for name, why in OVER.items()
    ]
    merged = {
        "names": list(PARTS),
        "description": "The search index is in /srv/search/idx; rebuild it with bin/reindex",
        "body": "The search index is in /srv/search/idx. The search index is rebuilt with "
        "`bin/reindex --all`, which takes 40 minutes.",
        "why": "both are about the search index",
    }
    return json.dumps({"merge": [merged], "retire": retired})


def contents(memories: Memories) -> dict[str, bytes]:
    """Every file that is a memory or an index of them, to the byte; not the history and not the locks."""
    root = memories.places.root
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*.md"))
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
    }
