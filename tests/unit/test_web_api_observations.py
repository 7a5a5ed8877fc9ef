"""Observations over HTTP: listed by the page, shown whole, and everything that people do to them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid.clock import HOUR
from aforesaid.model.observations import Doubt, ObservationDraft
from aforesaid.paths import Paths
from tests.support.web_content import work
from tests.support.web_store import Filled, filled

BIG = "9" * 15


@pytest.fixture
def site(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Filled]:
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "none")
    with filled(home, tmp_path / "shop") as found:
        yield found


def add(site: Filled, title: str, **more: Any) -> int:
    fields: dict[str, Any] = {"facts": (f"{title} holds", "It is so"), "narrative": "A story."}
    session = site.memory.turn(f"About {title}", ObservationDraft("bugfix", title, **fields | more))
    return site.store.observations.for_session(session.id)[-1].id


def brief(site: Filled) -> str:
    (copy,) = site.web.service.context.paths.briefs.iterdir()
    return copy.read_text("utf-8")


def test_the_list_goes_on_where_the_page_before_ended(site: Filled) -> None:
    ids = [add(site, f"Thing {number}") for number in range(5)]
    found: list[int] = []
    path = f"/api/observations?limit=2&project={site.project}"
    cursor = ""
    while True:
        page = site.get(path + cursor)
        found += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&before={page['next']}"
    assert found == ids[::-1]
    assert site.get("/api/observations?type=bugfix")["items"][0]["project"] == "shop"
    assert site.get("/api/observations?type=decision") == {"items": [], "next": None}


def test_the_list_has_all_the_filters_that_a_search_has(site: Filled) -> None:
    site.memory.at = site.web.backend.clock() - HOUR
    files = {"files_modified": ("src/pump.py",), "concepts": ("pumps",)}
    pump = add(site, "Pump", **files)
    valve = add(site, "Valve", concepts=("valves",), files_read=("docs/pump.py",))
    both = add(site, "Both", concepts=("pumps", "valves"))
    session = site.store.sessions.recent(None, 1)[0].id
    for query, expected in (
        ("concept=pumps", [both, pump]),
        ("concept=pumps&concept=valves", [both, valve, pump]),
        ("concept=pumps&file=src/pump.py", [pump]),
        ("file=src/pump.py", [pump]),
        ("file=src/pump.py&file=docs/pump.py", [valve, pump]),
        ("file=pump.py", [valve, pump]),
        ("file=nothing-like-this.py", []),
        (f"project={site.project}&file={site.folder}/src/pump.py", [pump]),
        ("agent=claude-code", [both, valve, pump]),
        ("agent=nobody", []),
        (f"session={session}", [both]),
        (f"session={session}&type=decision", []),
        ("type=bugfix&type=decision", [both, valve, pump]),
        ("type=decision&type=change", []),
        ("since=30d", [both, valve, pump]),
        ("until=2020-12-31", []),
        (f"until={site.memory.at}", [valve, pump]),
        (f"since={site.memory.at}", [both]),
        (f"type=bugfix&agent=claude-code&since={site.memory.at}", [both]),
    ):
        items = site.get(f"/api/observations?{query}")["items"]
        assert [each["id"] for each in items] == expected, query
    site.refused(400, "GET", "/api/observations?since=today&until=last+year", field="since")
    site.refused(404, "GET", "/api/observations?session=999")


def test_a_filtered_list_goes_on_where_the_page_before_ended(site: Filled) -> None:
    ids = [add(site, f"Thing {number}", concepts=("things",)) for number in range(5)]
    path = f"/api/observations?limit=2&concept=things&until={site.memory.at}"
    first = site.get(path)
    rest = site.get(f"{path}&before={first['next']}")
    assert [each["id"] for each in first["items"] + rest["items"]] == ids[-2::-1]
    assert rest["next"] is None


@pytest.mark.parametrize("cursor", ["x", "1", "1.2.3", "1.-2", "1.2;drop", "%D9%A1.%D9%A2"])
def test_a_cursor_of_ones_own_is_refused(site: Filled, cursor: str) -> None:
    path = f"/api/observations?before={cursor}"
    assert "`next`" in site.refused(400, "GET", path, field="before")


def test_one_is_shown_with_all_that_hangs_on_it(site: Filled) -> None:
    file = site.folder / "pump.py"
    file.write_text("x = 1\n")
    doubts = (Doubt("facts 1", "nobody saw it"),)
    blobs = (("pump.py", "0" * 40),)
    draft: dict[str, Any] = {"files_modified": ("pump.py",), "concepts": ("pumps",)}
    one = add(site, "Pump", doubts=doubts, blobs=blobs, **draft)
    other = add(site, "Pump again", **draft)
    same = add(site, "Pump, once more", repeats=one, **draft)
    found = site.get(f"/api/observations/{one}")
    assert found["facts"] == [
        {"text": "Pump holds", "doubt": None},
        {"text": "It is so", "doubt": "nobody saw it"},
    ]
    assert found["freshness"] == {"state": "changed", "changed": ["pump.py"], "gone": []}
    assert found["duplicates"] == [same]
    assert other in [each["id"] for each in found["related"]]
    assert all(each["why"] for each in found["related"])
    assert (found["project"], found["pinned"], found["edited"]) == ("shop", False, False)
    assert (found["repeats"], found["merged"], found["prompt_number"]) == (None, None, 1)
    assert found["tokens"] > 40


def test_what_names_no_events_is_shown_with_the_tools_of_its_turn(
    site: Filled, tmp_path: Path
) -> None:
    work(site.web, "s", tmp_path, "Add a greeting to hello.py")
    session = site.store.sessions.recent(None, 1)[0].id
    (written,) = site.store.observations.for_session(session)
    assert (written.provider, written.draft.evidence) == ("rules", ())
    shown = site.get(f"/api/observations/{written.id}")
    assert shown["evidence_of"] == "turn"
    assert [each["tool"] for each in shown["evidence"]] == ["Write", "Bash"]


def test_the_tools_of_a_turn_are_in_the_order_of_time_whatever_they_name(
    site: Filled, tmp_path: Path
) -> None:
    file = {"file_path": str(tmp_path / "hello.py"), "content": "def greet():\n    return 1\n"}
    for what, body in (
        ("init", {"project": str(tmp_path), "prompt": "Add a greeting to hello.py"}),
        ("observations", {"tool_name": "Bash", "tool_input": {"command": "pytest --quick"}}),
        (
            "observations",
            {"tool_name": "Write", "tool_input": file, "tool_response": {"type": "create"}},
        ),
        ("summarize", {"last_message": "Added it."}),
    ):
        assert site.web.ask("POST", f"/sessions/s/{what}", body).status == 202
    site.web.ingest()
    site.web.work()
    for each in site.store.index.unread_events(100):  # what a call names is read from its text
        text = "hello.py" if "file_path" in str(each.event.capture) else "pytest --quick"
        site.store.index.add_event_texts([(each, text, None)])
    (written, *_) = site.store.observations.for_session(site.store.sessions.recent(None, 1)[0].id)
    shown = site.get(f"/api/observations/{written.id}")["evidence"]
    assert [each["tool"] for each in shown] == ["Bash", "Write"]


def test_an_edit_changes_what_it_names_and_the_brief_follows(site: Filled) -> None:
    one = add(site, "Old words", subtitle="Below", doubts=(Doubt("title", "no"),))
    found = site.sent(
        "PATCH", f"/api/observations/{one}", {"title": "New words", "subtitle": "", "facts": ["A"]}
    )
    assert (found["title"], found["subtitle"], found["narrative"]) == (
        "New words",
        None,
        "A story.",
    )
    assert [fact["text"] for fact in found["facts"]] == ["A"]
    assert found["edited"]
    assert found["doubts"] == []
    assert "New words" in brief(site)
    assert site.sent("PATCH", f"/api/observations/{one}", {"facts": []})["facts"] == []
    assert site.sent("PATCH", f"/api/observations/{one}", {}) == site.get(
        f"/api/observations/{one}"
    )


def test_each_edit_is_taken_back_and_nothing_of_it_stays(site: Filled) -> None:
    one = add(site, "Pump", doubts=(Doubt("title", "nobody saw it"),), concepts=("pumps",))
    place = f"/api/observations/{one}"
    before = site.get(place)
    assert (before["edited"], before["edits"]) == (False, 0)
    first = site.sent("PATCH", place, {"title": "Mine", "facts": ["Only this"], "concepts": []})
    assert (first["edited"], first["edits"], first["doubts"]) == (True, 1, [])
    site.sent("PATCH", place, {"title": "Mine, again", "type": "decision"})
    assert "Mine, again" in brief(site)
    assert site.sent("POST", f"{place}/unedit") == first
    assert site.sent("POST", f"{place}/unedit") == before
    assert site.get(place) == before
    assert "Mine" not in brief(site)
    assert "no edit" in site.refused(404, "POST", f"{place}/unedit", {})
    site.refused(404, "POST", "/api/observations/999/unedit", {})


def test_what_cannot_be_written_is_refused_and_nothing_changes(site: Filled) -> None:
    one = add(site, "Words")
    before = site.get(f"/api/observations/{one}")
    empty = {"title": "", "facts": [], "narrative": ""}
    assert "neither a title" in site.refused(400, "PATCH", f"/api/observations/{one}", empty)
    wrong = {"type": "novel"}
    assert "decision" in site.refused(400, "PATCH", f"/api/observations/{one}", wrong, field="type")
    assert site.get(f"/api/observations/{one}") == before


def test_a_pin_puts_it_first_in_the_brief(site: Filled) -> None:
    one = add(site, "Pin me")
    assert site.sent("POST", f"/api/observations/{one}/pin", {"pinned": True})["pinned"]
    assert "## Pinned" in brief(site)
    assert not site.sent("POST", f"/api/observations/{one}/pin", {"pinned": False})["pinned"]
    assert "## Pinned" not in brief(site)
    assert "missing" in site.refused(
        400, "POST", f"/api/observations/{one}/pin", {}, field="pinned"
    )


def test_a_pin_is_answered_with_what_bears_it(site: Filled) -> None:
    one, other = add(site, "Pump"), add(site, "Valve")
    site.sent("POST", f"/api/observations/{one}/merge", {"into": other})
    answer = site.sent("POST", f"/api/observations/{one}/pin", {"pinned": True})
    assert answer == {"id": other, "pinned": True}
    assert site.get(f"/api/observations/{other}")["pinned"]


def test_who_has_read_older_words_does_not_overwrite_newer_ones(site: Filled) -> None:
    path = f"/api/observations/{add(site, 'Pump')}"
    read = site.get(path)["version"]
    first = site.sent("PATCH", path, {"title": "First", "version": read})
    site.refused(409, "PATCH", path, {"title": "Second", "version": read})
    now = site.get(path)
    assert (now["title"], now["edits"]) == ("First", 1)
    assert now["version"] == first["version"] != read
    second = site.sent("PATCH", path, {"title": "Second", "version": now["version"]})
    assert second["title"] == "Second"
    for _ in range(2):
        site.sent("POST", f"{path}/unedit")
    assert site.get(path)["version"] == read


def test_a_title_can_be_changed_but_not_taken_away(site: Filled) -> None:
    path = f"/api/observations/{add(site, 'Pump')}"
    site.refused(400, "PATCH", path, {"title": "  "}, field="title")
    assert site.get(path)["title"] == "Pump"


def test_what_is_hidden_is_nowhere_until_it_is_restored(site: Filled) -> None:
    one = add(site, "Zanzibar")
    add(site, "Other")
    answer = site.sent("DELETE", f"/api/observations/{one}")
    assert answer == {"id": one, "title": "Zanzibar", "count": 1, "undo": True}
    assert "Zanzibar" not in brief(site)
    assert "--undo" in site.refused(404, "GET", f"/api/observations/{one}")
    assert "--undo" in site.refused(404, "DELETE", f"/api/observations/{one}")
    (gone,) = site.get(f"/api/hidden?project={site.project}")["items"]
    assert (gone["id"], gone["title"]) == (one, "Zanzibar")
    assert site.get("/api/hidden?limit=1") == {"items": [gone], "next": None}
    assert site.sent("POST", f"/api/observations/{one}/restore")["title"] == "Zanzibar"
    assert "Zanzibar" in brief(site)
    assert "not hidden" in site.refused(404, "POST", f"/api/observations/{one}/restore", {})


def test_a_merge_folds_one_into_another_and_can_be_taken_back(site: Filled) -> None:
    one, other = add(site, "Zebra"), add(site, "Giraffe")
    session = site.store.observations.get(one)
    assert session is not None
    answer = site.sent("POST", f"/api/observations/{one}/merge", {"into": other})
    assert answer == {"id": one, "into": other, "undo": True}
    found = site.get(f"/api/observations/{one}")
    assert found["repeats"] == found["merged"]["into"] == other
    assert site.get(f"/api/observations/{other}")["duplicates"] == [one]
    assert "Zebra" not in brief(site)
    assert [item["id"] for item in site.get("/api/observations")["items"]] == [other]
    assert site.sent("POST", f"/api/observations/{one}/unmerge") == {"id": one, "into": other}
    assert "Zebra" in brief(site)
    assert "merged" in site.refused(404, "POST", f"/api/observations/{one}/unmerge", {})


def test_what_cannot_be_merged_says_why(site: Filled) -> None:
    one = add(site, "Zebra")
    path = f"/api/observations/{one}/merge"
    assert "itself" in site.refused(400, "POST", path, {"into": one}, field="into")
    assert "#999" in site.refused(404, "POST", path, {"into": 999})
    assert "missing" in site.refused(400, "POST", path, {}, field="into")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/pin"),
        ("POST", "/merge"),
        ("POST", "/unmerge"),
        ("POST", "/restore"),
    ],
)
@pytest.mark.parametrize("number", ["77", BIG])
def test_an_unknown_number_is_not_found_and_the_fix_is_named(
    site: Filled, method: str, path: str, number: str
) -> None:
    body = {"/pin": {"pinned": True}, "/merge": {"into": 1}}.get(path, {})
    given = None if method == "GET" else body
    assert "`aforesaid " in site.refused(404, method, f"/api/observations/{number}{path}", given)


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "9" * 30])
def test_what_is_no_number_is_a_bad_request(site: Filled, number: str) -> None:
    site.refused(400, "GET", f"/api/observations/{number}", field="id")


def test_an_unknown_project_is_not_found(site: Filled) -> None:
    for path in ("observations", "sessions", "hidden", "timeline", "activity", "memories"):
        assert "/api/projects" in site.refused(404, "GET", f"/api/{path}?project=999")
