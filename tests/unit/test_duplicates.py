"""Pairs of observations that say the same, carry a story on, or have nothing to do with each other."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.observations import Doubt, Observation, ObservationDraft, Turn
from aforesaid.providers.rules import Rules
from aforesaid.synthesis.duplicates import drop_repeated, link_duplicates, search_words
from tests.support.examples import examples
from tests.support.tables import loop_over
from tests.support.turns import edited, turn

Said = tuple[str, ...]  # a title, then facts; a file is written as `@path`, a narrative as `: text`


def noted(*said: str, kind: str = "change") -> ObservationDraft:
    title, *rest = said
    return ObservationDraft(
        kind,
        title,
        facts=tuple(each for each in rest if each[0] not in "@:#"),
        narrative=" ".join(each[2:] for each in rest if each[0] == ":") or None,
        concepts=tuple(each[1:] for each in rest if each[0] == "#"),
        files_modified=tuple(each[1:] for each in rest if each[0] == "@"),
    )


def stored(draft: ObservationDraft, number: int = 7, at: int = 1) -> Observation:
    return Observation(number, 1, 1, 1, at, "rules", None, False, draft)


def relation(new: Said, old: Said) -> str:
    found = link_duplicates(noted(*new), [stored(noted(*old))])
    assert found.repeats is None or found.follows is None
    return "repeats" if found.repeats == 7 else "follows" if found.follows == 7 else "neither"


COMMAS = (
    "Importer accepts decimal commas",
    "Importing data/brest.csv panicked at src/parse.rs:88 with an invalid float literal.",
    "src/parse.rs now calls parse_level(cell, station.decimal_comma) instead of cell.parse().",
    "After the fix the import of data/brest.csv read 8760 readings with 0 rejected.",
    "@src/parse.rs",
)
RETRIES = (
    "Worker retries failed jobs 3 times",
    "The worker retries a failed job 3 times before it gives up.",
    "@src/worker.py",
)
CACHE = (
    "Search results cached in Redis",
    "Search results are cached in Redis for 60 seconds.",
    "The cache key is the normalised query.",
    "@src/search.py",
)
SAME: list[tuple[Said, Said]] = [
    (COMMAS, COMMAS),
    (COMMAS[:3], COMMAS),
    ((COMMAS[0], *COMMAS[3:1:-1]), COMMAS),
    (("Importer now accepts decimal commas", *COMMAS[1:]), COMMAS),
    (("The importer takes decimal commas", COMMAS[2], COMMAS[4]), COMMAS),
    (
        (
            "Decimal commas accepted by importer",
            "The import of data/brest.csv panicked at parse.rs:88 with an invalid float literal.",
        ),
        COMMAS,
    ),
    (RETRIES, RETRIES),
    (("Worker retries failed jobs three times", RETRIES[1]), RETRIES),
    (
        ("Failed jobs are retried 3 times", "Each failed job is retried 3 times."),
        RETRIES,
    ),
    (("Worker retries failed jobs 3 times",), RETRIES),
    (CACHE[:2], CACHE),
    (
        (
            "Search results are cached in Redis",
            "The search results are cached in Redis for 60 seconds.",
        ),
        CACHE,
    ),
    (
        (*CACHE[:3], ": Search results are cached in Redis for 60 seconds, by normalised query."),
        CACHE,
    ),
    (
        ("修复登录重定向循环", "登录页面重定向循环已修复。"),
        ("修复登录重定向循环", "登录页面重定向循环已修复。"),
    ),
    (
        ("Login does not work in Safari", "Safari drops the cookie, so login does not work there."),
        ("Login does not work in Safari", "Safari drops the cookie, so login does not work there."),
    ),
]
FOLLOWS: list[tuple[Said, Said]] = [
    (("Worker retries failed jobs 5 times", "The worker retries a failed job 5 times."), RETRIES),
    (("Worker retries failed jobs five times",), RETRIES),
    (
        ("Worker no longer retries failed jobs", "Failed jobs are not retried.", "@src/worker.py"),
        RETRIES,
    ),
    (
        ("Search results cached in Redis", "Search results are cached in Redis for 300 seconds."),
        CACHE,
    ),
    (
        ("Cache of search results removed from Redis", "The cache was slower.", "@src/search.py"),
        CACHE,
    ),
    (
        (
            *COMMAS[:2],
            "Cuxhaven files have a byte order mark, which the importer skips.",
            COMMAS[4],
        ),
        COMMAS,
    ),
    (
        ("Login works in Safari", "The cookie is SameSite=Lax now.", "@src/auth.py"),
        ("Login does not work in Safari", "Safari drops the cookie.", "@src/auth.py"),
    ),
    (
        ("Test suite passes on Windows", "All 412 tests pass.", "@ci.yml"),
        ("Test suite fails on Windows", "14 of 412 tests fail.", "@ci.yml"),
    ),
    (
        ("Dark mode enabled by default", "The setting theme is dark for new users.", "@ui.ts"),
        ("Dark mode disabled by default", "The setting theme is light for new users.", "@ui.ts"),
    ),
    (
        ("Invoice export to PDF", "Page numbers were added to the PDF.", "@export.py"),
        ("Invoice export to PDF", "Invoices can be exported as PDF.", "@export.py"),
    ),
]
DIFFERENT: list[tuple[Said, Said]] = [
    (CACHE, COMMAS),
    (RETRIES, CACHE),
    (
        ("Fixed login timeout", "The session timeout is 30 minutes.", "@auth.py"),
        ("Fixed login redirect loop", "The return URL is kept in the session.", "@auth.py"),
    ),
    (
        ("Added logout page", "The logout page clears the session.", "@routes.py"),
        ("Added login page", "The login page asks for a password.", "@routes.py"),
    ),
    (
        ("Sessions stored in Postgres", "Sessions are stored in Postgres."),
        ("Users stored in SQLite", "Users are stored in SQLite."),
    ),
    (
        (
            "Search results cached in memcached",
            "Search results are cached in memcached.",
            "#memcached",
        ),
        ("Search pages cached in redis", "Search pages are cached in redis.", "#redis"),
    ),
    (
        ("Added tests for parser", "12 tests were added."),
        ("Added tests for worker", "12 tests were added."),
    ),
    (
        ("Fixed bug in the parser", "The parser lost the last line."),
        ("Fixed bug in the printer", "The printer lost the last line."),
    ),
    (
        ("Updated dependencies", "click is 8.2 now."),
        ("Updated documentation", "The README has a table."),
    ),
    (("parse_level added to parser", "parse_level reads one cell."), COMMAS),
    (
        ("Decided to use SQLite", "SQLite needs no server."),
        ("Decided to use Postgres", "Postgres has full-text search."),
    ),
    (("Refactored the worker loop", "The loop is in its own file.", "@src/worker.py"), RETRIES),
    (("", "Some fact without a title."), RETRIES),
]
NOT_THE_SAME: list[tuple[Said, Said]] = [
    (
        ("SQLite replaced by Postgres", "SQLite was replaced by Postgres."),
        ("Postgres replaced by SQLite", "Postgres was replaced by SQLite."),
    ),
    ((CACHE[0], "Search results are cached in Memcached for 60 seconds."), CACHE),
    ((CACHE[0], "Search results are cached in Redis for 60 minutes."), CACHE),
    ((CACHE[0], "The cache key is the raw query."), CACHE),
    ((CACHE[0], "The cache key is not the normalised query."), CACHE),
    ((RETRIES[0], "The worker retries a failed job 3 times after it gives up."), RETRIES),
    ((RETRIES[0], RETRIES[1], ": The limit is WORKER_TRIES in settings.py."), RETRIES),
    (
        (RETRIES[0], RETRIES[1], ": Between tries it waits longer and longer, up to an hour."),
        RETRIES,
    ),
    ((COMMAS[0], "src/print.rs now calls parse_level(cell, station.decimal_comma)."), COMMAS),
    (
        ("Uploads limited to images", "The upload endpoint accepts png and jpeg."),
        ("Uploads limited to images", "The upload endpoint rejects png and jpeg."),
    ),
]


@loop_over(("new", "old"), SAME)
def test_what_says_nothing_new_repeats(new: Said, old: Said) -> None:
    assert relation(new, old) == "repeats"


@loop_over(("new", "old"), FOLLOWS)
def test_what_says_something_else_about_the_same_thing_follows(new: Said, old: Said) -> None:
    assert relation(new, old) == "follows"


@loop_over(("new", "old"), [*DIFFERENT, *((old, new) for new, old in DIFFERENT)])
def test_what_is_about_something_else_stands_alone(new: Said, old: Said) -> None:
    assert relation(new, old) == "neither"


@loop_over(("new", "old"), NOT_THE_SAME)
def test_a_word_in_place_of_another_is_no_repetition(new: Said, old: Said) -> None:
    assert relation(new, old) != "repeats"


def test_types_may_differ() -> None:
    new = noted(*RETRIES, kind="feature")
    assert link_duplicates(new, [stored(noted(*RETRIES, kind="change"))]).repeats == 7


def test_a_repetition_points_at_the_first_that_said_it() -> None:
    again = stored(replace(noted(*RETRIES), repeats=3), 9)
    assert link_duplicates(noted(*RETRIES), [again]).repeats == 3
    more = noted("Worker retries failed jobs 5 times")
    assert link_duplicates(more, [again]).follows == 3


def test_a_repetition_is_preferred_and_among_equals_the_newest_counts() -> None:
    five = noted("Worker retries failed jobs 5 times", "The worker retries a failed job 5 times.")
    known = [stored(five, 1), stored(noted(*RETRIES), 2), stored(noted(*CACHE), 3)]
    assert link_duplicates(noted(*RETRIES), known).repeats == 2
    six = noted("Worker retries failed jobs 6 times")
    assert link_duplicates(six, [stored(five, 4, at=10), stored(five, 5, at=20)]).follows == 5


def test_what_was_in_doubt_is_not_repeated_by_what_is_certain() -> None:
    doubted = replace(noted(*RETRIES), doubts=(Doubt("facts 0", "not in the events"),))
    found = link_duplicates(noted(*RETRIES), [stored(doubted)])
    assert (found.repeats, found.follows) == (None, 7)
    assert link_duplicates(doubted, [stored(doubted)]).repeats == 7


def test_older_links_of_a_draft_are_replaced() -> None:
    assert link_duplicates(replace(noted(*RETRIES), repeats=5, follows=6), []) == noted(*RETRIES)


def test_candidates_are_asked_for_with_the_telling_words() -> None:
    draft = noted(
        "Fixed the importer so that it accepts commas", "#csv-import", "@src/gauges/parse.rs"
    )
    assert search_words(draft) == ["importer", "commas", "csv", "import", "parse"]
    long = noted(" ".join(f"word{chr(97 + n)}" for n in range(20)))
    assert len(search_words(long)) == 12
    assert search_words(noted("", "Only a fact about leases.")) == ["fact", "leases"]


DRAFTS = st.builds(
    ObservationDraft,
    st.just("change"),
    st.none() | st.text(max_size=40),
    facts=st.lists(st.text(max_size=40), max_size=3).map(tuple),
    narrative=st.none() | st.text(max_size=80),
    concepts=st.lists(st.text(max_size=8), max_size=2).map(tuple),
    files_read=st.lists(st.text(max_size=8), max_size=2).map(tuple),
)


@examples(60)
@given(DRAFTS, st.lists(DRAFTS.map(stored), max_size=3))
def test_any_drafts_can_be_placed(draft: ObservationDraft, known: list[Observation]) -> None:
    found = link_duplicates(draft, known)
    assert found.repeats is None or found.follows is None
    assert replace(found, repeats=None, follows=None) == draft
    assert len(search_words(draft)) <= 12


@loop_over(
    ("title", "facts", "follows"),
    [
        ("Drop the cache", ("`orders/pricing.py`: removed `Cache`, `warm`",), 7),
        ('Revert "Add a price cache"', (), 7),
        ("Rename the rate", ("`orders/pricing.py`: removed `RATE`",), None),
    ],
)
def test_what_takes_back_what_was_added_follows_it(
    title: str, facts: tuple[str, ...], follows: int | None
) -> None:
    files = ("orders/pricing.py",)
    added = ("`orders/pricing.py`: added `Cache`, `warm`",)
    old = ObservationDraft("feature", "Add a price cache", facts=added, files_modified=files)
    new = ObservationDraft("change", title, facts=facts, files_modified=files)
    assert link_duplicates(new, [stored(old)]).follows == follows


PLAIN = "def load(key):\n    return read(key)\n"
CACHED = f"class Cache:\n    def get(self, key):\n        return self.rows[key]\n\n\n{PLAIN}"


@loop_over(
    ("first", "then"),
    [
        (
            turn("add a price cache", edited("orders/cache.py", PLAIN, CACHED)),
            turn("drop that approach", edited("orders/cache.py", CACHED, PLAIN)),
        ),
        (
            turn("From now on, use Postgres for the job queue."),
            turn("We decided to use Redis for the job queue instead of Postgres."),
        ),
        (
            turn("We decided that all ids are ULIDs."),
            turn("we agreed that all ids are ULIDs, not UUIDs"),
        ),
    ],
)
def test_a_dropped_approach_and_an_older_decision_are_superseded(first: Turn, then: Turn) -> None:
    old, new = Rules().observe(first)[0], Rules().observe(then)[0]
    assert link_duplicates(new, [stored(old)]).follows == 7


def test_a_decision_that_is_repeated_is_kept_once() -> None:
    old, new = (
        Rules().observe(turn(said))[0]
        for said in ("From now on, all ids are ULIDs.", "We decided that all ids are ULIDs.")
    )
    assert link_duplicates(new, [stored(old)]).repeats == 7


def test_a_note_leaves_out_what_earlier_notes_of_the_session_quote() -> None:
    old = ObservationDraft("discovery", "One", "“Said first.”", ("“A.”",))
    new = ObservationDraft("discovery", "Two", "“A.”", ("“Said first.”", "“B.”"))
    found = drop_repeated(new, [stored(old)])
    assert (found.subtitle, found.facts) == (None, ("“B.”",))
    assert drop_repeated(old, [stored(old)]) == old
