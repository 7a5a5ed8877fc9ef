"""From one thing to others: around it, related to it, about a file; each as short or as long as wanted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid.clock import HOUR, day_and_time
from aforesaid.encoders.base import Encoder
from aforesaid.encoders.static_table import StaticTable
from aforesaid.model.observations import Doubt, ObservationDraft, SummaryDraft
from aforesaid.recall import lookup
from aforesaid.recall.render import render_item
from aforesaid.recall.search import Searcher
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.blank import laid
from tests.support.memory import Memory
from tests.support.stored import events_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(laid(tmp_path / "aforesaid.db"), writer=True, encoder=StaticTable())
    yield opened
    opened.close()


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")


def searcher(store: Store, encoder: Encoder | None = None) -> Searcher:
    return Searcher(store, encoder, lambda: START)


def draft(
    title: str,
    *facts: str,
    files: tuple[str, ...] = (),
    read: tuple[str, ...] = (),
    concepts: tuple[str, ...] = (),
    follows: int | None = None,
    repeats: int | None = None,
    doubts: tuple[Doubt, ...] = (),
) -> ObservationDraft:
    return ObservationDraft(
        "change",
        title,
        facts=facts,
        files_modified=files,
        files_read=read,
        concepts=concepts,
        follows=follows,
        repeats=repeats,
        doubts=doubts,
    )


def around(memory: Memory, what: tuple[str, int], before: int = 9, after: int = 9) -> list[str]:
    assert isinstance(memory.store, Store)
    found = lookup.timeline(
        searcher(memory.store),
        memory.store,
        project_id=None,
        around=what,
        before=before,
        after=after,
    )
    assert [hit.at for hit in found] == sorted(hit.at for hit in found)
    return [f"{hit.kind} {hit.title}" for hit in found]


def related(memory: Memory, number: int, encoder: Encoder | None = None) -> dict[str, list[str]]:
    """Titles, best first, each with its reasons."""
    assert isinstance(memory.store, Store)
    found = lookup.related(searcher(memory.store, encoder), memory.store, number)
    return {
        hit.title: [f"{r.name} {r.because}".strip() for r in hit.reasons if r.points > 0]
        for hit in found
    }


def test_a_timeline_goes_across_sessions_in_the_order_of_time(memory: Memory) -> None:
    memory.turn("first", draft("one"), session="a")
    memory.turn("second", draft("two"), summary=SummaryDraft("done"), session="b")
    memory.turn("third", draft("three"), session="a")
    assert around(memory, ("observation", 2)) == [
        "prompt first",
        "observation one",
        "prompt second",
        "observation two",
        "summary done",
        "prompt third",
        "observation three",
    ]
    assert around(memory, ("observation", 2), before=1, after=0) == [
        "prompt second",
        "observation two",
    ]
    assert around(memory, ("prompt", 1), after=1) == ["prompt first", "observation one"]


def test_a_timeline_keeps_the_order_of_what_stands_at_the_same_moment(memory: Memory) -> None:
    """Also when some of it was indexed again since."""
    memory.turn("p", *(draft(f"number {n}") for n in range(1, 8)))
    for number in (1, 4):
        memory.store.observations.pin(number, pinned=True)
    titles = [f"observation number {n}" for n in range(1, 8)]
    assert around(memory, ("observation", 4), before=2, after=2) == titles[1:6]
    assert around(memory, ("observation", 1), before=0, after=9) == titles


def test_a_timeline_keeps_to_its_project(memory: Memory, store: Store) -> None:
    memory.turn("here", draft("one"))
    Memory.of(store, "other").turn("there", draft("two"))
    assert around(memory, ("observation", 1)) == ["prompt here", "observation one"]


def test_a_timeline_around_a_time_a_session_or_an_event(memory: Memory, store: Store) -> None:
    session = memory.turn("first", draft("one"))
    memory.at += HOUR
    memory.turn("second", draft("two"))
    found = lookup.timeline(
        searcher(store), store, project_id=memory.project_id, at=START + HOUR, before=1, after=1
    )
    assert [hit.title for hit in found] == ["one", "second"]
    assert around(memory, ("session", session.id), after=1) == ["prompt first"]
    event = events_of(store, session.id)[-1]
    assert "prompt second" in around(memory, ("event", event.id))


def test_an_event_stands_in_its_timeline_behind_its_prompt(memory: Memory, store: Store) -> None:
    session = memory.turn("first", draft("one"))
    first = events_of(store, session.id)[0]
    found = lookup.timeline(searcher(store), store, project_id=None, around=("event", first.id))
    assert [(hit.kind, hit.id) for hit in found] == [
        ("prompt", 1),
        ("event", first.id),
        ("observation", 1),
    ]
    assert "not indexed" in found[1].title


def test_a_directory_is_one_by_what_is_recorded(memory: Memory, store: Store) -> None:
    memory.turn("p", draft("one", files=("payments/tasks.py",)))
    memory.turn("p", draft("two", files=("payments/tasks.py", "payments/api/refunds.py")))
    memory.turn("p", draft("other", files=("payments_old.py", "setup/payments.py")))
    memory.turn("p", draft("file", files=("bin/payments",)))

    def about(path: str, limit: int = 9) -> list[str | None]:
        found = lookup.about_file(store, memory.project_id, path, limit)
        return [each.draft.title for each in found]

    for path, is_directory in (
        ("payments/api", True),
        ("/home/dev/shop/payments/api/", True),
        ("payments", False),  # the end of a file's path
        ("setup", True),
        ("pay", False),
        ("", False),
    ):
        assert lookup.is_directory(store, memory.project_id, path) == is_directory, path
    assert about("payments/api") == ["two"]
    assert about("payments") == ["file"]
    store.observations.hide(4, 0)
    assert about("payments") == about("./payments/") == ["two", "one"]
    assert about("payments", 1) == ["two"]


@pytest.mark.parametrize("kind", ["observation", "summary", "prompt", "session", "event", "x"])
def test_there_is_nothing_around_nothing(memory: Memory, store: Store, kind: str) -> None:
    memory.turn("first", draft("one"))
    assert around(memory, (kind, 999)) == []
    assert lookup.timeline(searcher(store), store, project_id=None) == []
    assert render_item(store, kind, 999, "full") is None


def test_a_folded_observation_has_its_place_in_time(memory: Memory) -> None:
    memory.turn("p", draft("one"))
    memory.turn("p", draft("one again", repeats=1))
    assert around(memory, ("observation", 2), before=0) == ["observation one again"]


def test_related_are_those_of_the_same_story_files_and_concepts(memory: Memory) -> None:
    memory.turn("p", draft("Pump mended", files=("src/pump.py",), concepts=("water",)))
    memory.turn("p", draft("Tap replaced", read=("src/pump.py",)))
    memory.turn("p", draft("Drain cleaned", concepts=("water",)))
    memory.turn("p", draft("Seal changed", follows=1))
    memory.turn("p", draft("Pump was mended", repeats=1))
    memory.turn("p", draft("Login page", files=("web/login.py",), concepts=("auth",)))
    found = related(memory, 1)
    assert list(found)[:2] == ["Seal changed", "Pump was mended"]
    assert found["Seal changed"] == ["story what came after it"]
    assert found["Pump was mended"] == ["repetition it says the same"]
    assert "same file src/pump.py" in found["Tap replaced"]
    assert found["Drain cleaned"] == ["same concept water"]
    assert "Login page" not in found
    assert "Pump mended" not in found
    assert related(memory, 4)["Pump mended"] == ["story what came before it"]
    assert related(memory, 999) == {}


def test_a_file_that_everything_is_about_relates_less_than_a_rare_one(memory: Memory) -> None:
    memory.turn("p", draft("one", files=("README.md", "src/rare.py")))
    memory.turn("p", draft("rare", files=("src/rare.py",)))
    for n in range(8):
        memory.turn("p", draft(f"common {n}", files=("README.md",)))
    assert next(iter(related(memory, 1))) == "rare"


def test_of_what_very_many_have_in_common_only_some_are_looked_at(memory: Memory) -> None:
    common = [draft(f"common {n}", files=("README.md",)) for n in range(130)]
    memory.turn("p", *common, draft("one", files=("README.md", "src/rare.py")))
    one = memory.newest()
    memory.turn("p", draft("rare", files=("src/rare.py",)))
    shared = [(name, len(ids)) for _, name, ids in memory.store.observations.sharing(one)]
    assert sorted(shared) == [("README.md", 100), ("src/rare.py", 1)]
    assert next(iter(related(memory, one.id))) == "rare"


def test_related_are_those_that_speak_of_the_same(memory: Memory) -> None:
    facts = ("The connection pool of the payment worker runs dry when retries pile up",)
    memory.turn("p", draft("Payment worker stalls under load", *facts))
    memory.turn("p", draft("Retries exhaust the payment worker's connection pool", "It was 5."))
    for n in range(6):
        memory.turn("p", draft(f"Button {n} got another colour", f"The colour is number {n}."))
    assert related(memory, 1)["Retries exhaust the payment worker's connection pool"][0] == (
        "like words"
    )
    by_meaning = related(memory, 1, StaticTable())
    assert next(iter(by_meaning)) == "Retries exhaust the payment worker's connection pool"
    assert "like meaning" in next(iter(by_meaning.values()))


def test_what_is_related_in_another_session_comes_before_its_like_in_the_same(
    memory: Memory,
) -> None:
    memory.turn("p", draft("one", files=("a.py",)), draft("two", files=("a.py",)), session="a")
    memory.turn("p", draft("three", files=("a.py",)), session="b")
    assert list(related(memory, 1)) == ["three", "two"]


def test_what_is_known_about_a_file_comes_most_telling_first(memory: Memory, store: Store) -> None:
    doubts = (Doubt("title", "it occurs nowhere"),)
    memory.turn("p", draft("read", read=("src/pump.py",)))
    memory.turn("p", draft("changed", files=("src/pump.py",)))
    memory.turn("p", draft("changed later", files=("src/pump.py",), read=("src/pump.py",)))
    memory.turn("p", draft("doubtful", files=("src/pump.py",), doubts=doubts))
    memory.turn("p", draft("pinned", read=("src/pump.py",)))
    memory.turn("p", draft("other", files=("lib/pump.py", "src/pump.py.orig")))
    store.observations.pin(5, pinned=True)

    def about(path: str, limit: int = 10) -> list[str | None]:
        found = lookup.about_file(store, memory.project_id, path, limit)
        return [each.draft.title for each in found]

    assert about("src/pump.py") == ["pinned", "changed later", "changed", "read", "doubtful"]
    assert about("/home/dev/shop/src/pump.py", 2) == ["pinned", "changed later"]
    assert about("./src/pump.py", 1) == ["pinned"]
    assert len(about("pump.py")) == 6
    assert about("ump.py") == about("%") == about("") == []
    known = [
        (f.path, f.observations, f.changes)
        for f in store.observations.known_files(memory.project_id, "", 9)
    ]
    assert known[0] == ("src/pump.py", 5, 3)
    assert [f.path for f in store.observations.known_files(memory.project_id, "lib/", 9)] == [
        "lib/pump.py"
    ]


def test_one_thing_is_told_at_each_level(memory: Memory, store: Store) -> None:
    doubts = (Doubt("facts 1", "it occurs nowhere"),)
    written = ObservationDraft(
        "bugfix",
        "Pump mended",
        "It runs",
        ("the seal was worn", "it cost 5"),
        "A story.",
        ("water",),
        files_modified=("src/pump.py",),
        doubts=doubts,
    )
    summary = SummaryDraft("Mend it", "looked", "learned", "completed", "onwards")
    session = memory.turn("mend the pump", written, summary=summary)
    observation = store.observations.get(1)
    assert observation is not None
    title = f"#1 [bugfix] Pump mended ({day_and_time(observation.at)})"
    facts = f"{title}\nIt runs\n- the seal was worn\n- it cost 5 (unverified: it occurs nowhere)"
    assert render_item(store, "observation", 1, "title") == title
    assert render_item(store, "observation", 1, "facts") == facts
    rest = "\nA story.\nConcepts: water\nChanged: src/pump.py"
    assert render_item(store, "observation", 1, "full") == facts + rest
    for kind, number, words in (
        ("summary", 1, ["summary:1 Mend it", "Learned: learned", "Investigated: looked"]),
        ("prompt", 1, ["prompt:1", "mend the pump"]),
        ("session", session.id, [f"session:{session.id} mend the pump", "Pump mended"]),
        ("event", 1, ["event:1"]),
    ):
        full = render_item(store, kind, number, "full")
        assert full is not None
        assert all(word in full for word in words), full
        short = render_item(store, kind, number, "title")
        assert short is not None
        assert "\n" not in short
