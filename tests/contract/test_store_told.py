"""What sessions were told: all of it, once each, with the reason."""

import pytest

from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.model.search import Injection
from aforesaid.store.store import Store
from tests.support.memory import Memory


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory.of(store, "shop")


def of(kind: str, source: int, tokens: int = 7) -> Injection:
    return Injection(kind, source, f"about {kind}", tokens)


def test_what_was_told_is_listed_in_its_order_with_what_it_was(memory: Memory) -> None:
    first = memory.turn(
        "p", ObservationDraft("change", "A title"), summary=SummaryDraft("Asked for it")
    )
    session = memory.turn("q")
    observation = memory.newest()
    (summary,) = memory.store.summaries.for_session(first.id)
    add = memory.store.injections.add
    add(session.id, "context", [of("summary", summary.id), of("observation", observation.id)], 10)
    add(session.id, "new", [of("observation", observation.id, 9)], 20)
    found = memory.store.injections.for_session(session.id)
    assert [(each.kind, each.source, each.hook, each.tokens, each.at) for each in found] == [
        ("summary", summary.id, "context", 7, 10),
        ("observation", observation.id, "context", 7, 10),
        ("observation", observation.id, "new", 9, 20),
    ]
    assert [(each.reason, each.title, each.session) for each in found] == [
        ("about summary", "Asked for it", first.ref),
        ("about observation", "A title", first.ref),
        ("about observation", "A title", first.ref),
    ]
    assert memory.store.injections.for_session(first.id) == []


def test_the_same_call_twice_counts_once_but_what_is_told_again_counts_again(
    memory: Memory,
) -> None:
    memory.turn("p", ObservationDraft("change", "A title"))
    session = memory.turn("q")
    told = [of("observation", memory.newest().id)]
    for at in (10, 10, 20):
        memory.store.injections.add(session.id, "context", told, at)
    (found,) = memory.store.injections.for_session(session.id)
    assert (found.tokens, found.at) == (14, 20)


def test_what_is_gone_was_not_told(memory: Memory) -> None:
    own = memory.turn("p", ObservationDraft("change", "t"), summary=SummaryDraft("s"))
    session = memory.turn("q")
    (summary,) = memory.store.summaries.for_session(own.id)
    told = [of("observation", memory.newest().id), of("summary", summary.id)]
    memory.store.injections.add(session.id, "context", told, 10)
    memory.store.sessions.drop(own.id, memory.project_id)
    assert memory.store.injections.for_session(session.id) == []


def test_any_reason_can_be_stored(memory: Memory) -> None:
    memory.turn("p", ObservationDraft("change", "t"))
    session = memory.turn("q")
    told = Injection("observation", memory.newest().id, "names \udcff\0", 1)
    memory.store.injections.add(session.id, "new", [told], 10)
    assert memory.store.injections.for_session(session.id)[0].reason.startswith("names ")
