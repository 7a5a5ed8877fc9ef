"""Search, timeline, activity and the brief over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.clock import HOUR, MINUTE
from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.paths import Paths
from tests.support.web_store import Filled, filled


@pytest.fixture
def site(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Filled]:
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "none")
    with filled(home, tmp_path / "shop") as found:
        yield found


def fill(site: Filled, now: int | None = None) -> None:
    site.memory.at = (now or site.web.backend.clock()) - HOUR
    for number in range(3):
        draft = ObservationDraft(
            ("decision", "bugfix")[number % 2],
            f"Lease number {number} is renewed",
            facts=("Workers renew the lease every minute",),
            concepts=("leases",),
            files_modified=(f"src/lease_{number}.py",),
        )
        site.memory.turn(f"Renew lease {number}", draft, summary=SummaryDraft(f"Lease {number}"))


def test_search_marks_what_matched_and_says_why(site: Filled) -> None:
    fill(site)
    found = site.get(f"/api/search?q=renew+the+lease&project={site.project}&limit=2")
    assert len(found["hits"]) == 2
    assert found["query"] == "renew the lease"
    hit = next(each for each in found["hits"] if each["kind"] == "observation")
    assert "\x02lease\x03" in hit["excerpt"]
    assert "\x02" in hit["marked_title"]
    assert "\x02" not in hit["title"]
    assert hit["reasons"][0].keys() == {"name", "points", "because"}
    assert (hit["project"], hit["name"]) == ("shop", f"#{hit['id']}")
    assert hit["freshness"] == {"state": "unknown", "changed": [], "gone": []}


def test_facets_count_what_the_best_have_in_common(site: Filled) -> None:
    fill(site)
    facets = site.get("/api/search?q=lease&limit=1")["facets"]
    assert facets["type"] == [{"value": "decision", "count": 2}, {"value": "bugfix", "count": 1}]
    assert facets["concept"] == [{"value": "leases", "count": 3}]
    assert {each["value"] for each in facets["file"]} == {f"src/lease_{n}.py" for n in range(3)}
    (project,) = facets["project"]
    assert (project["value"], project["label"]) == (site.project, "shop")
    assert [each["value"] for each in facets["agent"]] == ["claude-code"]
    assert len(facets["day"]) in (1, 2)


def test_filters_narrow_it_down(site: Filled) -> None:
    fill(site)
    found = site.get("/api/search?q=lease&type=bugfix")["hits"]
    assert [each["title"] for each in found] == ["Lease number 1 is renewed"]
    path = site.folder / "src/lease_2.py"
    found = site.get(f"/api/search?q=lease&project={site.project}&file={path}")["hits"]
    assert {each["title"] for each in found} == {"Lease number 2 is renewed"}
    assert site.get("/api/search?q=lease&until=2020-12-31&since=2020-01-01")["hits"] == []
    assert site.get("/api/search?q=lease&since=30d")["hits"]
    assert site.get("/api/search?q=lease&agent=another")["hits"] == []
    session = site.store.sessions.recent(None, 1)[0]
    found = site.get(f"/api/search?q=lease&session={session.id}")["hits"]
    assert {each["session_id"] for each in found} == {session.id}


def test_what_can_never_be_found_is_a_mistake(site: Filled) -> None:
    for query, field in (
        ("q=", "q"),
        ("q=a&level=summaries&type=bugfix", "type"),
        ("q=a&level=odd", "level"),
        ("q=a&since=soonish", "since"),
        ("q=a&since=today&until=last+year", "since"),
        ("q=a&type=odd", "type"),
    ):
        site.refused(400, "GET", f"/api/search?{query}", field=field)
    site.refused(404, "GET", "/api/search?q=a&session=999")


def test_memories_are_found_too(site: Filled) -> None:
    text = "We never deploy on Fridays, because nobody is there on Saturday."
    site.sent("POST", f"/api/memories?project={site.project}", {"text": text, "name": "no-fridays"})
    found = site.get(f"/api/search?q=deploy+on+fridays&project={site.project}")["memories"]
    assert [each["name"] for each in found] == ["no-fridays"]
    assert found[0]["why"]
    assert found[0]["project_id"] == site.project
    assert site.get("/api/search?q=deploy+on+fridays&level=sessions")["memories"] == []


def test_a_memory_of_the_user_is_found_as_one_of_no_project(site: Filled) -> None:
    said = {"text": "I prefer terse answers.", "name": "terse", "type": "user"}
    assert site.sent("POST", f"/api/memories?project={site.project}", said)["scope"] == "user"
    for path in (f"search?q=terse+answers&project={site.project}", "search?q=terse+answers"):
        (found,) = site.get(f"/api/{path}")["memories"]
        assert (found["name"], found["project_id"]) == ("terse", None)
    (listed,) = site.get(f"/api/memories?project={site.project}")["items"]
    assert listed["project_id"] is None


def test_it_is_said_whether_there_is_more(site: Filled) -> None:
    fill(site)
    for level in ("titles", "facts", "sessions"):
        every = site.get(f"/api/search?q=lease&level={level}&limit=200")
        assert not every["more"]
        few = site.get(f"/api/search?q=lease&level={level}&limit=2")
        assert few["more"]
        assert [each["id"] for each in few["hits"]] == [each["id"] for each in every["hits"][:2]]
        exact = len(every["hits"])
        assert not site.get(f"/api/search?q=lease&level={level}&limit={exact}")["more"]


def test_counts_pages_and_facets_agree(site: Filled) -> None:
    """Near-duplicates are folded before the page is cut; a facet's count is what its filter finds."""
    site.memory.at = site.web.backend.clock() - HOUR
    for number in range(60):
        copy = number % 3 == 0
        title = (
            "Renew the lease of the worker every minute" if copy else f"Lease w{number} x{number}"
        )
        fact = "The worker renews it" if copy else f"Fact a{number} b{number} c{number} d{number}"
        kind = "bugfix" if number % 2 and not copy else "discovery"
        site.memory.turn(f"p{number}", ObservationDraft(kind, title, facts=(fact,)))
    every = site.get("/api/search?q=lease&limit=200")
    total = every["total"]
    assert (len(every["hits"]), every["more"], every["complete"]) == (total, False, True)
    assert total > 30
    for limit in (1, 12, 30):
        page = site.get(f"/api/search?q=lease&limit={limit}")
        assert (len(page["hits"]), page["total"], page["more"]) == (limit, total, True)
        assert page["facets"] == every["facets"]
    for each in every["facets"]["type"]:
        found = site.get(f"/api/search?q=lease&type={each['value']}&limit=200")
        assert len(found["hits"]) == found["total"] == each["count"]


def test_a_timeline_has_a_band_for_each_session_with_its_marks(site: Filled) -> None:
    fill(site)
    first = site.get(f"/api/timeline?project={site.project}&limit=2")
    assert [len(band["marks"]) for band in first["sessions"]] == [1, 1]
    rest = site.get(f"/api/timeline?limit=2&before={first['next']}")
    assert [band["title"] for band in first["sessions"] + rest["sessions"]] == [
        f"Renew lease {n}" for n in (2, 1, 0)
    ]
    band = first["sessions"][0]
    assert band["from"] <= band["marks"][0]["at"] <= band["to"]
    assert rest["next"] is None
    until = site.get("/api/timeline?until=last+week&since=last+year")
    assert until["sessions"] == []
    site.refused(400, "GET", "/api/timeline?since=today&until=yesterday", field="since")


def test_activity_counts_each_day(site: Filled) -> None:
    fill(site)
    items = site.get(f"/api/activity?project={site.project}&days=3")["items"]
    assert sum(each["events"] for each in items) == 9
    assert sum(each["observations"] for each in items) == 3
    assert sum(each["sessions"] for each in items) == 3
    assert items == site.get("/api/activity")["items"]
    fill(site, site.web.backend.clock() - 100 * 24 * HOUR)
    assert site.get("/api/activity?days=3")["items"] == items


def test_a_session_over_midnight_belongs_to_both_days(site: Filled) -> None:
    now = site.web.backend.clock()
    midnight = int(clock.local(now).replace(hour=0, minute=0, second=0).timestamp()) * 1000
    midnight -= 24 * HOUR
    site.memory.at = midnight - 10 * MINUTE
    first = site.memory.turn("Late", ObservationDraft("change", "Before"), session="night")
    site.memory.at = midnight + 10 * MINUTE
    site.memory.turn("Early", ObservationDraft("change", "After"), session="night")
    found = site.get("/api/activity?days=5")
    assert found["sessions"] == 1
    items = found["items"]
    assert [(each["sessions"], each["observations"], each["events"]) for each in items] == [
        (1, 1, 3),
        (1, 1, 3),
    ]
    day = 24 * HOUR
    for since, until, title in (
        (midnight - day, midnight, "Before"),
        (midnight, midnight + day, "After"),
    ):
        (band,) = site.get(f"/api/timeline?since={since}&until={until}")["sessions"]
        assert band["id"] == first.id
        assert [mark["title"] for mark in band["marks"]] == [title]
    only = site.get("/api/activity?days=2")["items"]
    assert [each["sessions"] for each in only] == [1], "it began before, and went on"


def test_a_time_that_no_calendar_has_breaks_nothing(site: Filled) -> None:
    fill(site)
    site.memory.at = 10**15
    site.memory.turn("Renew the lease", ObservationDraft("change", "Lease of the far future"))
    assert all(each["day"] for each in site.get("/api/activity")["items"])
    assert all(each["value"] for each in site.get("/api/search?q=lease")["facets"]["day"])
    assert site.get("/api/timeline")["sessions"][0]["to"] > 10**15


def test_the_brief_is_what_the_next_session_is_told_and_tells_nobody(site: Filled) -> None:
    fill(site)
    site.web.service.answers.prepare_brief(site.project)
    (copy,) = site.web.service.context.paths.briefs.iterdir()
    found = site.get(f"/api/brief?project={site.project}")
    assert "Lease number 2 is renewed" in found["text"]
    assert found["text"].splitlines()[2] in copy.read_text("utf-8")
    assert sum(part["tokens"] for part in found["parts"]) == found["tokens"]
    kinds = {part["kind"] for part in found["parts"]}
    assert kinds == {"observation", "frame"}
    assert all(part["title"] and part["reason"] for part in found["parts"])
    for session in site.store.sessions.recent(None, 9):
        assert site.store.injections.for_session(session.id) == []


def test_knobs_change_the_brief(site: Filled) -> None:
    fill(site)
    text = "We never deploy on Fridays, because nobody is there on Saturday."
    site.sent("POST", f"/api/memories?project={site.project}", {"text": text, "name": "no-fridays"})
    path = f"/api/brief?project={site.project}"
    whole = site.get(path)
    assert "no-fridays" in whole["text"]
    assert whole["options"]["tokens"] == whole["options"]["settings"]["brief.tokens"] == 1500
    without = site.get(f"{path}&memories=0")
    assert "no-fridays" not in without["text"]
    assert not without["options"]["memories"]
    small = site.get(f"{path}&tokens=200")
    assert small["tokens"] < whole["tokens"]
    assert site.get(f"{path}&tokens=0")["parts"] == []
    site.refused(400, "GET", f"{path}&tokens=99999", field="tokens")
    site.refused(400, "GET", "/api/brief", field="project")
    site.refused(404, "GET", "/api/brief?project=999")
