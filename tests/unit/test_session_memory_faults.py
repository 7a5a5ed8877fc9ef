"""A store that fails costs a session's memory its file, and nobody else anything."""

from typing import Any

import pytest

from aforesaid.agents.registry import AGENTS
from aforesaid.errors import StoreDamaged
from aforesaid.model.observations import SummaryDraft
from aforesaid.model.sessions import Session
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.session_memory import SessionMemories
from tests.support.memory import Memory


@pytest.fixture
def session(memory: Memory) -> Session:
    return memory.turn("Pay by card", summary=SummaryDraft("Pay by card", completed="It works"))


@pytest.fixture
def sessions(home: Paths, store: Store, memory: Memory) -> SessionMemories:
    return SessionMemories(home, store, AGENTS, lambda: memory.at)


def damage(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    def fail(*_: Any) -> None:
        raise StoreDamaged

    monkeypatch.setattr(type(store.summaries), "for_session", fail)


def test_a_file_that_cannot_be_brought_up_to_date_is_not_written(
    sessions: SessionMemories, session: Session, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(monkeypatch, store)
    sessions.write(session)
    assert not sessions.folder.exists()


def test_rather_no_file_than_one_that_tells_what_was_forgotten(
    sessions: SessionMemories, session: Session, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions.write(session)
    assert len(list(sessions.folder.iterdir())) == 1
    damage(monkeypatch, store)
    sessions.refresh(session.id)
    assert list(sessions.folder.iterdir()) == []
