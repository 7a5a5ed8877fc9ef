"""The provenance of what was imported, exported, or is to be kept because an agent asks for it."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from aforesaid import clock, wiring
from aforesaid.agents.registry import AGENTS
from aforesaid.errors import MemoryRefused
from aforesaid.model.observations import ObservationDraft
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.extraction import OF_THE_WEB, Extractor
from aforesaid.worker.indexing import index
from tests.support.context import make_context
from tests.support.injected import ROOT, Sessions, feed, imported
from tests.support.injections import INJECTIONS
from tests.support.memory import Memory


@pytest.fixture
def sessions(home: Paths) -> Iterator[Sessions]:
    store = Store(home.database, writer=True)
    yield Sessions(store)
    store.close()


def test_what_has_no_events_has_no_origin(sessions: Sessions) -> None:
    imported(sessions.store, INJECTIONS[0])
    list(index(sessions.store, AGENTS))
    (found,) = sessions.store.observations.recent(sessions.project(), 9)
    assert not found.draft.origins


def test_a_confirmed_observation_goes_with_an_export(sessions: Sessions, home: Paths) -> None:
    memory = Memory.of(sessions.store, "shop")
    memory.turn("p", ObservationDraft("change", "Known"))
    sessions.store.observations.verify(memory.newest().id, verified=True)
    other = Store(home.data / "other" / "aforesaid.db", writer=True)
    other.transfer.begin()
    other.transfer.import_records(sessions.store.transfer.export(None, replies=False))
    other.transfer.end()
    (found,) = other.observations.recent(1, 9)
    assert found.verified
    other.close()


@pytest.mark.parametrize(("way", "kept"), [("WebFetch", False), ("Read", True)])
def test_an_agent_cannot_have_a_page_kept_for_good(
    way: str, kept: bool, sessions: Sessions, home: Paths
) -> None:
    """T64, T66: a memory is told in every session, so it takes more than a page to make one."""
    one = INJECTIONS[0]
    feed(sessions, way, one)
    context = make_context(home, sessions.store, clock.now)
    remembering = Extractor(
        context, lambda directory: wiring.memories(context.home, directory, clock.now)
    )
    text = f"Builds fail because {one.canary} was not run"
    order: dict[str, Any] = {
        "dir": ROOT,
        "text": text,
        "type": None,
        "name": None,
        "team": False,
        "pin": False,
    }
    order |= {
        "pin": False,
        "by": "agent",
        "files": [],
        "agent": "claude-code",
        "session": f"{way}-0",
    }
    refused = nullcontext() if kept else pytest.raises(MemoryRefused, match=re.escape(OF_THE_WEB))
    with refused:
        remembering.remember(order)
    list(index(sessions.store, AGENTS))
    for later in (None, "another-session"):  # what it was fetched in makes no difference
        with refused:
            remembering.remember(order | {"session": later})
