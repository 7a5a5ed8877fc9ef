"""What every store finds: what was asked for, where it was asked for; its index follows what is stored."""

from typing import Any

import pytest

from aforesaid.clock import DAY, HOUR
from aforesaid.encoders.static_table import StaticTable
from aforesaid.model.jobs import OBSERVE
from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.model.search import MATCH_END, MATCH_START, Document, Filters
from aforesaid.recall import search as searching
from aforesaid.recall.render import render_item
from aforesaid.store.database import load_queries
from aforesaid.store.search_index import Index
from aforesaid.store.store import Store
from aforesaid.text import tokens
from tests.support.arrivals import START, Told
from tests.support.finding import assert_index_is_sound, search
from tests.support.memory import TEST, Memory


@pytest.fixture
def memory(store: Store, project: int) -> Memory:
    return Memory(store, project)


def found(store: Store, text: str, **filters: Any) -> list[tuple[str, str]]:
    return [(hit.kind, hit.title) for hit in search(store, text, **filters)]


def test_observations_facts_summaries_and_prompts_are_found(memory: Memory) -> None:
    memory.turn(
        "please mend the turnstile",
        ObservationDraft("bugfix", "Mended it", "a subtitle", ("the gasket leaked",), "narrated"),
        summary=SummaryDraft(
            "asked", "investigated", "learned", "completed", "onwards", notes="nb"
        ),
    )
    for word in ("mended", "subtitle", "gasket", "narrated"):
        assert found(memory.store, word)[0] == ("observation", "Mended it")
    for word in ("asked", "investigated", "learned", "completed", "onwards", "nb"):
        assert found(memory.store, word)[0] == ("summary", "asked")
    assert found(memory.store, "turnstile")[0] == ("prompt", "please mend the turnstile")


def test_an_observation_found_by_several_of_its_parts_is_one_finding(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "pump", "pump", ("pump one", "pump two"), "pump"))
    assert found(memory.store, "pump", kinds=("observation",)) == [("observation", "pump")]


def test_what_has_all_the_words_comes_before_what_has_some(memory: Memory) -> None:
    for title in ("red valve", "red pump", "green pump"):
        memory.turn("p", ObservationDraft("change", title))
    hits = found(memory.store, "red pump", kinds=("observation",))
    assert hits[0] == ("observation", "red pump")
    assert len(hits) == 3


def test_events_are_found_by_words_that_are_labels_too(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label that many bear is left out of a question, but not where there are no labels."""
    for n in range(5):
        memory.turn(f"p{n}", ObservationDraft("change", f"t{n}", concepts=("scheduler",)))
    asked: list[str] = []

    class Asked(Index):
        def match_events(self, terms: Any, filters: Any, limit: int) -> Any:
            asked.extend(terms)
            return super().match_events(terms, filters, limit)

    monkeypatch.setattr(memory.store.index, "__class__", Asked)
    search(memory.store, "scheduler deadlock", level="events")
    assert asked == ["scheduler", "deadlock"]


def test_a_name_that_only_events_have_brings_the_events(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "the calculator was changed", concepts=("co",)))
    store = memory.store
    said = "grep CoChangeCalculator lib/"
    store.index.add_event_texts([(each, said, None) for each in store.index.unread_events(100)])
    assert search(store, "CoChangeCalculator")[0].kind == "event"
    assert search(store, "calculator")[0].kind == "observation"
    assert {hit.kind for hit in search(store, "calculator changed")} == {"observation"}


def test_a_file_and_a_concept_of_one_name_are_two_things(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "pump one", concepts=("stripe",)))
    memory.turn("p", ObservationDraft("change", "pump two", files_modified=("pay/stripe",)))
    assert found(memory.store, "pump", concepts=("stripe",)) == [("observation", "pump one")]
    assert found(memory.store, "pump", files=("stripe",)) == [("observation", "pump two")]
    assert found(memory.store, "pump", files=("pay/stripe",)) == [("observation", "pump two")]


def test_what_a_session_costs_is_what_telling_it_costs(memory: Memory) -> None:
    for n in range(5):
        memory.turn(
            "p", ObservationDraft("change", f"pump {n}", facts=("rope " * 60,)), session="one"
        )
    (hit,) = search(memory.store, "pump", level="sessions")
    whole = render_item(memory.store, "session", hit.id, "full") or ""
    assert hit.tokens == pytest.approx(tokens(whole), rel=0.2)


def test_recently_alone_finds_nothing(memory: Memory) -> None:
    encoder = StaticTable()
    for n in range(60):
        memory.turn("p", ObservationDraft("change", f"retry backoff number {n}"))
    for text in ("xyzzyplugh", "xyzzyplugh recently"):
        assert search(memory.store, text, encoder=encoder, kinds=("observation",)) == []


def test_a_filter_that_many_pass_does_not_hide_the_newest(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "WITHIN", 5)
    for n in range(12):
        memory.turn("p", ObservationDraft("change", f"pump {n}"))
    hits = search(memory.store, "pump", agent="claude-code", kinds=("observation",), limit=3)
    assert [hit.title for hit in hits] == ["pump 11", "pump 10", "pump 9"]


def test_emoji_are_found_and_marked_as_a_whole(memory: Memory) -> None:
    worker = "👩\U0001f3fd\u200d💻"
    memory.turn(
        "p", ObservationDraft("change", "t", narrative=f"Released 🚀🎉 by {worker} at once")
    )
    memory.turn("p", ObservationDraft("change", "other", narrative="Released ✈ by nobody ✅"))
    for text in ("🚀", "released 🚀", "🎉🚀"):
        hit = search(memory.store, text, kinds=("observation",))[0]
        assert hit.title == "t"
        assert f"{MATCH_START}🚀🎉{MATCH_END}" in hit.excerpt
    (hit,) = search(memory.store, worker, kinds=("observation",))
    assert hit.title == "t"


def test_the_columns_of_a_document_are_its_fields(memory: Memory) -> None:
    """They are taken by their places."""
    assert isinstance(memory.store, Store)
    cursor = memory.store.database.reader().execute(
        load_queries("search")["documents"], {"ids": "[]"}
    )
    assert [column[0] for column in cursor.description] == [*Document._fields]


def test_names_of_code_are_found_whole_and_by_their_parts(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "parseHttpHeader in net/http_client.py 3.41.2"))
    memory.turn("p", ObservationDraft("change", "something else"))
    for text in ("parse_http_header", "header", "http_client.py", "net/http_client.py", "3.41.2"):
        assert len(found(memory.store, text, kinds=("observation",))) == 1, text


@pytest.mark.parametrize(
    "text", ["日本語", "ру́сский", "Ελληνικά", "العربية", "हिन्दी", "naïve café"]
)
def test_other_scripts_are_found(memory: Memory, text: str) -> None:
    memory.turn("p", ObservationDraft("change", f"a {text} b"))
    memory.turn("p", ObservationDraft("change", "nothing of it"))
    assert found(memory.store, text, kinds=("observation",)) == [("observation", f"a {text} b")]


def test_an_excerpt_marks_what_was_found(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "t", narrative="the old pump was worn out"))
    hit = search(memory.store, "pump")[0]
    assert f"{MATCH_START}pump{MATCH_END}" in hit.excerpt


def test_a_search_keeps_to_its_filters(memory: Memory, store: Store) -> None:
    other = Memory.of(store, "other")
    memory.turn(
        "pump here",
        ObservationDraft("bugfix", "pump a", concepts=("Hot-Water",), files_read=("src/pump.py",)),
        ObservationDraft("change", "pump b", files_modified=("src/valve.py",)),
        session="one",
    )
    memory.turn("on", ObservationDraft("decision", "pump c"), session="two")
    other.turn("pump there", ObservationDraft("change", "pump d"))
    there = other.project_id
    assert [title for _, title in found(store, "pump", project_id=there)] == ["pump d"]
    assert found(store, "pump", project_id=there, kinds=("prompt",)) == [("prompt", "pump there")]
    a, b, c = (("observation", f"pump {letter}") for letter in "abc")
    assert found(store, "pump", types=("bugfix",)) == [a]
    assert set(found(store, "pump", types=("bugfix", "decision"))) == {a, c}
    assert found(store, "pump", concepts=("hot_water",)) == [a]
    assert found(store, "pump", files=("src/pump.py",)) == [a]
    assert found(store, "pump", files=("valve.py",)) == [b]
    assert found(store, "pump", session_id=memory.session("two").id) == [c]
    assert found(store, "pump", agent="another-agent") == []
    assert len(found(store, "pump", agent="claude-code", kinds=("observation",))) == 4
    assert len(found(store, "pump", limit=2)) == 2


def test_a_search_keeps_to_its_times(memory: Memory, store: Store) -> None:
    memory.turn("p", ObservationDraft("change", "pump early"))
    between = memory.at + HOUR
    memory.at += DAY
    memory.turn("p", ObservationDraft("change", "pump late"))
    only = ("observation",)
    assert found(store, "pump", since=between, kinds=only) == [("observation", "pump late")]
    assert found(store, "pump", until=between, kinds=only) == [("observation", "pump early")]
    assert found(store, "pump", since=between, until=between + 1, kinds=only) == []


def test_better_matches_of_another_time_do_not_hide_those_asked_for(
    memory: Memory, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by month: `until` alone, and a period of many years, have too many."""
    for limit in ("COUNTED", "BY_WORDS"):
        monkeypatch.setattr(searching, limit, 5)
    memory.turn(
        "p", ObservationDraft("change", "early", narrative="a pump among" + " other words" * 9)
    )
    until = memory.at + HOUR
    memory.at += DAY
    for _ in range(12):
        memory.turn("p", ObservationDraft("change", "pump"))
    unread = store.index.unread_events(100)
    texts = ("pump" if each.event.at > until else "a pump among other words" for each in unread)
    store.index.add_event_texts(
        (each, text, None) for each, text in zip(unread, texts, strict=True)
    )
    for since in (None, 0):
        period: dict[str, Any] = {"since": since, "until": until}
        assert found(store, "pump", kinds=("observation",), **period) == [("observation", "early")]
        events = store.index.match_events(["pump"], Filters(**period), 1)
        assert [each.at < until for each in events] == [True]
        turns = store.index.match_turns(["pump"], Filters(**period), 1)
        assert len(turns) == 1


def test_each_level_finds_what_it_names(memory: Memory, store: Store) -> None:
    memory.turn(
        "mend the pump",
        ObservationDraft("bugfix", "It is mended", facts=("no leak", "the pump was worn")),
        summary=SummaryDraft("mend the pump"),
    )
    for level, kinds in (("sessions", {"session"}), ("summaries", {"summary"})):
        assert {kind for kind, _ in found(store, "pump", level=level)} == kinds
    (hit,) = search(store, "pump", level="facts")
    assert hit.excerpt == f"the {MATCH_START}pump{MATCH_END} was worn"


def test_the_index_follows_what_is_deleted(memory: Memory, store: Store) -> None:
    other = Memory.of(store, "other")
    memory.turn(
        "pump", ObservationDraft("change", "pump", facts=("pump",)), summary=SummaryDraft("pump")
    )
    other.turn("pump", ObservationDraft("change", "pump", facts=("pump",)))
    assert_index_is_sound(store)
    for session in store.sessions.recent(memory.project_id, 9):
        store.sessions.drop(session.id, memory.project_id)
    assert {hit.project_id for hit in search(store, "pump")} == {other.project_id}
    assert_index_is_sound(store)


def test_the_index_follows_what_is_replaced(memory: Memory, store: Store) -> None:
    """A second summary of a turn takes the first one's place."""
    told = Told(memory.project_id, session="twice")
    store.events.add([told.prompt("p")], START)
    for word in ("valve", "gasket"):
        store.events.add([told.tool(word), told.stop(word)], START)
        while job := store.jobs.claim("test", START, START + HOUR):
            if job.kind == OBSERVE:
                store.jobs.finish_observations(job, TEST, [], START, START)
            else:
                store.jobs.finish_summary(job, TEST, SummaryDraft(word), START, START)
    assert found(store, "valve") == []
    assert found(store, "gasket")[0] == ("summary", "gasket")
    assert_index_is_sound(store)


def test_a_store_without_vectors_is_searched_by_words(memory: Memory, store: Store) -> None:
    """The store has no encoder, the searcher has one: nothing to compare with, and no fault."""
    memory.turn("p", ObservationDraft("change", "pump"))
    assert ("observation", "pump") in found(store, "pump", encoder=StaticTable())


def test_many_texts_at_once_are_what_each_is_alone(store: Store, memory: Memory) -> None:
    draft = ObservationDraft(
        "bugfix",
        None,
        "a subtitle",
        ("b", "a", "“c”\n\x01"),
        files_read=("z.py", "a.py"),
        files_modified=("a.py",),
    )
    memory.turn("please", draft, ObservationDraft("change", "T"), summary=SummaryDraft("s"))
    folded = ObservationDraft("change", "T", repeats=memory.newest().id)
    memory.turn("again", folded)
    wanted = [
        (kind, n) for kind in ("observation", "summary", "prompt", "session") for n in range(5)
    ]
    assert len([key for key in wanted if store.index.document_text(*key)]) == 7
