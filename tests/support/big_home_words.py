"""What the work of `big_home` is about: three projects, with the words that people would use there."""

import random
from dataclasses import dataclass

from aforesaid.model.observations import ObservationDraft


@dataclass(frozen=True)
class Domain:
    """`parts`: (thing, file, concept)."""

    name: str
    parts: tuple[tuple[str, str, str], ...]
    troubles: tuple[str, ...]


DOMAINS = (
    Domain(
        "lantern-shop",
        (
            ("checkout total", "src/checkout/total.py", "pricing"),
            ("cart session cookie", "src/cart/session.py", "sessions"),
            ("voucher codes", "src/checkout/vouchers.py", "pricing"),
            ("stock reservation", "src/stock/reserve.py", "concurrency"),
            ("order confirmation mail", "src/mail/confirmation.py", "mail"),
            ("payment webhook", "src/payments/webhook.py", "idempotency"),
            ("product search index", "src/search/index.py", "search"),
            ("VAT table", "src/checkout/vat.py", "rounding"),
            ("address form", "web/forms/address.ts", "forms"),
            ("image thumbnails", "src/media/thumbnails.py", "caching"),
        ),
        (
            "rounded twice",
            "lost on a redirect",
            "ran out of connections",
            "was read before it was written",
        ),
    ),
    Domain(
        "tide-tables",
        (
            ("harmonic constants loader", "crates/harmonics/src/load.rs", "parsing"),
            ("station catalogue", "crates/stations/src/catalogue.rs", "data"),
            ("leap second handling", "crates/time/src/leap.rs", "time"),
            ("prediction cache", "crates/predict/src/cache.rs", "caching"),
            ("command line output", "crates/cli/src/print.rs", "cli"),
            ("chart renderer", "crates/chart/src/svg.rs", "rendering"),
            ("datum conversion", "crates/predict/src/datum.rs", "units"),
            ("release workflow", ".github/workflows/release.yml", "release"),
        ),
        (
            "drifted by one hour",
            "overflowed on old dates",
            "ignored the datum",
            "was slow on cold start",
        ),
    ),
    Domain(
        "field-notes",
        (
            ("note sync", "app/sync/merge.ts", "sync"),
            ("offline queue", "app/sync/queue.ts", "offline"),
            ("photo upload", "app/photos/upload.ts", "uploads"),
            ("map tiles", "app/map/tiles.ts", "caching"),
            ("species picker", "app/forms/species.tsx", "forms"),
            ("export to CSV", "server/export/csv.go", "export"),
            ("login with passkeys", "server/auth/passkeys.go", "auth"),
            ("database migrations", "server/db/migrate.go", "migrations"),
        ),
        (
            "was sent twice",
            "blocked the main thread",
            "dropped the last entry",
            "failed without a network",
        ),
    ),
)

TITLES = {
    "decision": (
        "Keep {thing} in one place instead of two",
        "{thing}: chose a plain file over a table",
        "{thing} stays synchronous until it hurts",
    ),
    "bugfix": (
        "{thing} {trouble}; fixed with a regression test",
        "Fixed {thing} that {trouble}",
        "{thing} {trouble} when two requests arrived together",
    ),
    "feature": (
        "Added a dry run to {thing}",
        "{thing} can be paused and resumed",
        "{thing} now reports what it skipped",
    ),
    "refactor": (
        "Split {thing} into reading and deciding",
        "Moved {thing} behind one small interface",
        "{thing}: named the three states it has",
    ),
    "discovery": (
        "{thing} {trouble} only on the CI machine",
        "{thing} depends on the order of the files",
        "{thing} is called from two places, not one",
    ),
    "change": (
        "Renamed the settings of {thing}",
        "Updated the dependencies of {thing}",
        "{thing}: shorter log lines",
    ),
}
FACTS = (
    "{file} is the only writer of {thing}",
    "The test `test_{slug}` fails without the change",
    "{thing} is retried {count} times with a pause of {pause} ms",
    "The limit for {thing} is {count} entries per request",
    "{thing} reads its settings once, when it starts",
    "Two callers pass the time in seconds, the rest in milliseconds",
)
PROMPTS = (
    "Why does {thing} sometimes fail? It {trouble} again. Find the cause before you change anything.",
    "Add a dry run to {thing} so that I can see what it would do",
    "{thing} {trouble}. Fix it and add a test that fails without the fix.",
    "Please tidy up {file}, it has grown too long. Keep the behaviour.",
    "What did we decide about {thing} last month?",
)


KNOWN = (
    "Go through {file} whenever you touch {thing}",
    "{thing}: never more than {count} entries at once",
    "Tests of {thing} run on the CI machine only",
    "{thing} {trouble} unless it is retried",
    "Ask before you change the format of {thing}",
)


def description(words: dict[str, str], number: int) -> str:
    text = KNOWN[number % len(KNOWN)].format(**words)
    return f"{text[0].upper()}{text[1:]}"


def draft(rng: random.Random, domain: Domain, index: int) -> ObservationDraft:
    kind = rng.choices(tuple(TITLES), (12, 22, 18, 12, 26, 10))[0]
    words = said(rng, domain)
    title = rng.choice(TITLES[kind]).format(**words)
    facts = tuple(fact.format(**words) for fact in rng.sample(FACTS, rng.randint(1, 3)))
    return ObservationDraft(
        type=kind,
        title=f"{title[0].upper()}{title[1:]}",
        subtitle=f"{words['file']}, seen in run {index + 1}",
        facts=facts,
        narrative=f"While working on {words['thing']} it turned out that it {words['trouble']}. "
        f"The cause is in `{words['file']}`: the value is taken before the lock is held. "
        f"A test in `tests/test_{words['slug']}.py` shows it.",
        concepts=tuple(
            sorted({words["concept"], rng.choice(("testing", "gotcha", "how-it-works"))})
        ),
        files_read=(words["file"],),
        files_modified=(words["file"],) if kind in ("bugfix", "feature", "refactor") else (),
    )


def prompt(rng: random.Random, domain: Domain) -> str:
    text = rng.choice(PROMPTS).format(**said(rng, domain))
    return f"{text[0].upper()}{text[1:]}"


def said(rng: random.Random, domain: Domain) -> dict[str, str]:
    thing, file, concept = rng.choice(domain.parts)
    return {
        "thing": thing,
        "file": file,
        "concept": concept,
        "slug": thing.casefold().replace(" ", "_"),
        "trouble": rng.choice(domain.troubles),
        "count": str(rng.choice((3, 5, 8, 20, 64))),
        "pause": str(rng.choice((50, 200, 1500))),
    }
