"""What is told to whoever watches: ids and short titles, of everything that happens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid.errors import StoreError
from aforesaid.paths import Paths
from tests.support.web import Site, site
from tests.support.web_content import work


@pytest.fixture
def web(home: Paths) -> Iterator[Site]:
    with site(home) as found:
        found.service.context.notifier.on = True
        yield found


def told(web: Site, kind: str) -> list[dict[str, Any]]:
    everything = web.backend.event_bus.after(0)
    assert everything is not None
    return [each.data for each in everything if each.kind == kind]


def test_a_turn_is_told_in_all_its_parts(web: Site, tmp_path: Path) -> None:
    work(web, "s", tmp_path, "Add a greeting to hello.py\x1b[31m " + "and more " * 100)
    captured = told(web, "captured")
    whats = ["session_start", "prompt", "tool", "tool", "stop"]
    assert [each["what"] for each in captured] == whats
    assert captured[1]["title"].startswith("Add a greeting to hello.py and more")
    assert all(len(each["title"]) <= 200 for each in captured)
    assert captured[2]["title"] == str(tmp_path / "hello.py")
    (observation, *_) = told(web, "observation")
    stored = web.backend.store.observations.get(observation["id"])
    assert stored is not None
    assert (observation["type"], observation["title"]) == (stored.draft.type, stored.draft.title)
    (summary,), (turn,) = told(web, "summary"), told(web, "turn")
    assert web.backend.store.summaries.get(summary["id"]) is not None
    assert {each["session_id"] for each in (*captured, observation, summary, turn)} == {1}


def test_memories_and_dreams_are_told(web: Site, tmp_path: Path) -> None:
    work(web, "s", tmp_path, "Remember that we never deploy on Fridays.")
    assert told(web, "memory"), "the prompt said so"
    web.backend.order("memories-changed", dir=str(tmp_path))
    assert told(web, "changed") == [{"what": "changed", "name": None, "project_id": 1}]
    web.backend.order("dream", dir=str(tmp_path), dry_run=True)
    assert told(web, "dream") == []
    web.backend.order("dream", dir=str(tmp_path), dry_run=False)
    (dream,) = told(web, "dream")
    assert (dream["project_id"], dream["completed"]) == (1, True)


def test_a_fault_is_told_without_what_was_captured(web: Site) -> None:
    web.service.context.note_fault("jobs", ValueError("a secret"))
    web.service.context.note_fault("ingest", StoreError())
    first, second = told(web, "fault")
    assert first == {"thread": "jobs", "title": "ValueError"}
    assert "aforesaid doctor" in second["title"]


def test_a_store_that_cannot_be_read_does_not_stop_ingest(
    web: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise StoreError

    web.ask("POST", "/sessions/s/init", {"project": str(tmp_path), "prompt": "Hello."})
    monkeypatch.setattr(type(web.backend.store.sessions), "find", locked)
    web.service._ingest.drain()
    monkeypatch.undo()
    assert web.backend.store.health().events == 2


def test_a_store_that_cannot_be_read_keeps_nobody_from_what_follows_a_job(
    web: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session's memory is written after the telling."""

    def locked(*_: object) -> None:
        raise StoreError

    monkeypatch.setattr(type(web.backend.store.summaries), "get", locked)
    work(web, "s", tmp_path, "Add a greeting to hello.py")
    monkeypatch.undo()
    assert told(web, "summary") == []
    assert list(web.service.answers.sessions.folder.glob("*.md"))


@pytest.mark.parametrize(
    ("deeds", "expected"),
    [
        ([("POST", "/pin", {"pinned": True})], [("pinned", 1)]),
        ([("POST", "/pin", {"pinned": False})], [("unpinned", 1)]),
        (
            [("PATCH", "", {"title": "Mine"}), ("POST", "/unedit", {})],
            [("edited", 1), ("unedited", 1)],
        ),
        ([("DELETE", "", {}), ("POST", "/restore", {})], [("forgotten", 1), ("restored", 1)]),
        (
            [("POST", "/merge", {"into": 2}), ("POST", "/unmerge", {})],
            [("merged", 1), ("merged", 2), ("unmerged", 1), ("unmerged", 2)],
        ),
    ],
)
def test_what_people_do_to_observations_is_told(
    web: Site,
    tmp_path: Path,
    deeds: list[tuple[str, str, dict[str, Any]]],
    expected: list[tuple[str, int]],
) -> None:
    work(web, "s", tmp_path, "Add a greeting to hello.py")
    work(web, "t", tmp_path, "Add a farewell to bye.py")
    for method, place, body in deeds:
        answer = web.ask(method, f"/api/observations/1{place}", body)
        assert answer.status == 200, answer.json
    assert [(each["what"], each["id"]) for each in told(web, "changed")] == expected
    assert {each["project_id"] for each in told(web, "changed")} == {1}


def test_what_people_do_to_memories_is_told(web: Site, tmp_path: Path) -> None:
    work(web, "s", tmp_path, "Remember that we never deploy on Fridays.")
    (name,) = (each["name"] for each in web.ask("GET", "/api/memories?project=1").json["items"])
    place = f"/api/memories/{name}"
    checksum = web.ask("GET", f"{place}?project=1").json["checksum"]
    web.ask("PUT", f"{place}?project=1", {"checksum": checksum, "pinned": True})
    web.ask("DELETE", f"{place}?project=1", {})
    web.ask("POST", f"{place}/restore?project=1", {})
    (last, *_) = web.ask("GET", "/api/memories-log?project=1").json["items"]
    web.ask("POST", f"/api/memories-log/{last['id']}/undo?project=1", {})
    assert told(web, "changed") == [
        {"what": what, "name": name, "project_id": 1}
        for what in ("changed", "retired", "restored", "changed")
    ]
