"""Curated memories over HTTP: read, written, retired, and every change taken back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid.hook.capture import brief_name
from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.repositories import git
from tests.support.web_store import Filled, filled

TEXT = "We never deploy on Fridays, because nobody is there on Saturday."
NAME = "no-fridays"


@pytest.fixture
def site(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Filled]:
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "none")
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    with filled(home, tmp_path / "shop") as found:
        yield found


def remember(site: Filled, text: str = TEXT, name: str = NAME, **more: object) -> Any:
    body = {"text": text, "name": name} | more
    return site.sent("POST", f"/api/memories?project={site.project}", body)


def of(site: Filled, name: str = NAME, more: str = "") -> str:
    return f"/api/memories/{name}{more}?project={site.project}"


def test_a_new_memory_is_called_by_its_first_sentence(site: Filled) -> None:
    text = "We deploy on Tuesdays. The pipeline takes an hour, and the release notes are written first."
    made = site.sent("POST", f"/api/memories?project={site.project}", {"text": text})
    found = site.get(f"/api/memories/{made['name']}?project={site.project}")
    assert found["description"] == "We deploy on Tuesdays"
    assert text in found["body"]


def test_a_secret_that_is_removed_is_told(site: Filled) -> None:
    secret = "ghp_" + "Q7f2Zk9LmX4vB1nR8tYc3WdE6hJ0sAaP5uGi"
    path = f"/api/memories?project={site.project}"
    made = site.sent("POST", path, {"text": f"Deploys send the token {secret} in a header."})
    assert made["redacted"]
    assert made["name"] == "deploys-send-token-in-header"
    site.refused(409, "POST", path, {"text": f"The token is {secret}."})


def test_what_is_remembered_is_listed_and_shown_whole(site: Filled) -> None:
    made = {"name": NAME, "scope": "project", "known": False, "redacted": False}
    assert remember(site, pin=True) == made
    listed = site.get(f"/api/memories?project={site.project}")
    (item,) = listed["items"]
    assert (item["name"], item["scope"], item["pinned"], item["ours"]) == (
        NAME,
        "project",
        True,
        True,
    )
    assert (listed["broken"], listed["left_out"], item["flagged"]) == ([], 0, None)
    found = site.get(of(site))
    assert found["text"].startswith("---\n")
    assert "Saturday" in found["body"]
    assert Path(found["path"]).read_text("utf-8") == found["text"]
    assert site.get("/api/memories")["items"] == []  # it is the project's


def test_memories_about_what_is_gone_are_flagged_and_broken_files_reported(site: Filled) -> None:
    remember(site)
    path = Path(site.get(of(site))["path"])
    path.write_text(path.read_text("utf-8") + "\nSee [other](gone-one.md).\n")
    path.with_name("broken.md").write_text("no front matter")
    listed = site.get(f"/api/memories?project={site.project}")
    flags = {item["name"]: item["flagged"] for item in listed["items"]}
    assert flags[NAME] == {"changed": [], "gone": [], "dead_links": ["gone-one"]}
    (broken,) = listed["broken"]
    assert broken["path"].endswith("broken.md")
    assert "front matter" in broken["why"]


def test_a_file_is_written_again_only_by_who_has_seen_it(site: Filled) -> None:
    remember(site)
    seen = site.get(of(site))
    text = seen["text"].replace("Saturday", "Sunday")
    after = site.sent("PUT", of(site), {"text": text, "checksum": seen["checksum"]})
    assert "Sunday" in after["body"]
    assert after["checksum"] != seen["checksum"]
    late = {"text": text, "checksum": seen["checksum"]}
    assert "changed meanwhile" in site.refused(409, "PUT", of(site), late)
    assert site.get(of(site)) == after


def test_parts_are_changed_one_by_one(site: Filled) -> None:
    remember(site)
    seen = site.get(of(site))["checksum"]
    after = site.sent("PUT", of(site), {"pinned": True, "checksum": seen})
    assert after["pinned"]
    assert "Saturday" in after["body"]
    body = {"body": "Never.", "description": "Deploys", "checksum": after["checksum"]}
    after = site.sent("PUT", of(site), body)
    assert (after["body"], after["description"], after["pinned"]) == ("Never.", "Deploys", True)
    for wrong in ({}, {"text": "a", "body": "b"}):
        given = wrong | {"checksum": after["checksum"]}
        site.refused(400, "PUT", of(site), given, field="text")
    site.refused(400, "PUT", of(site), {"pinned": True}, field="checksum")
    bad = {"text": "no front matter", "checksum": after["checksum"]}
    assert "not a valid memory" in site.refused(400, "PUT", of(site), bad)


def test_a_retired_memory_comes_back(site: Filled) -> None:
    remember(site)
    before = site.get(of(site))
    assert site.sent("DELETE", of(site)) == {"name": NAME, "undo": True}
    assert "memory list" in site.refused(404, "GET", of(site))
    (item,) = site.get(f"/api/memories?project={site.project}&retired=1")["items"]
    assert (item["name"], item["because"]) == (NAME, "by request")
    assert "Saturday" in site.get(f"{of(site)}&retired=1")["text"]
    after = site.sent("POST", of(site, more="/restore"))
    assert after["text"] == before["text"]
    assert "retired" in site.refused(404, "POST", of(site, more="/restore"), {})
    assert "retired=1" in site.refused(404, "GET", f"{of(site)}&retired=1")


def test_every_change_is_in_the_log_and_can_be_undone(site: Filled) -> None:
    remember(site)
    seen = site.get(of(site))
    text = seen["text"].replace("Saturday", "Sunday")
    site.sent("PUT", of(site), {"text": text, "checksum": seen["checksum"]})
    log = f"/api/memories-log?project={site.project}"
    first = site.get(f"{log}&limit=1")
    (change,) = first["items"]
    assert change["reason"] == f"edited: {NAME}"
    assert [file.endswith(f"{NAME}.md") for file in change["files"]].count(True) == 1
    older = site.get(f"{log}&before={first['next']}")
    assert older["next"] is None
    assert len(older["items"]) == 1
    diff = site.get(f"/api/memories-log/{change['id']}?project={site.project}")
    assert "-" in diff["diff"]
    assert "Sunday" in diff["diff"]
    undo = f"/api/memories-log/{change['id']}/undo?project={site.project}"
    assert site.sent("POST", undo)["undone"] == change["id"]
    assert "Saturday" in site.get(of(site))["body"]
    site.refused(400, "GET", f"{log}&before=nothing", field="before")
    assert "memory log" in site.refused(
        404, "GET", f"/api/memories-log/0000ffff?project={site.project}"
    )


def test_the_log_of_one_memory_goes_on_over_another_name_and_retirement(site: Filled) -> None:
    remember(site)
    remember(site, name="another", text="The release manager signs every tag.")
    file = Path(site.get(of(site))["path"])
    file.rename(file.with_name("never-on-fridays.md"))
    site.sent("DELETE", of(site, "never-on-fridays"))
    site.sent("POST", of(site, "never-on-fridays", "/restore"))
    path = f"/api/memories-log?project={site.project}&name=never-on-fridays"
    reasons = [each["reason"] for each in site.get(path)["items"]]
    assert reasons[:3] == [
        "restored: never-on-fridays",
        "retired: never-on-fridays",
        "edited by hand",
    ]
    assert len(reasons) == 4, "and how it came, under its first name"
    first = site.get(f"{path}&limit=3")
    rest = site.get(f"{path}&before={first['next']}")
    assert [each["reason"] for each in first["items"] + rest["items"]] == reasons
    assert rest["next"] is None
    (only,) = site.get(f"/api/memories-log?project={site.project}&name=another")["items"]
    assert only["files"][0].endswith("another.md")
    assert site.get(f"/api/memories-log?project={site.project}&name=nothing")["items"] == []
    site.refused(400, "GET", f"{path}&before={only['id']}", field="before")


def test_an_undo_does_not_overwrite_what_was_edited_since(site: Filled) -> None:
    remember(site)
    path = Path(site.get(of(site))["path"])
    (change,) = site.get(f"/api/memories-log?project={site.project}")["items"]
    path.write_text(path.read_text("utf-8").replace("Saturday", "Sunday"))
    undo = f"/api/memories-log/{change['id']}/undo?project={site.project}"
    assert "Changed since" in site.refused(409, "POST", undo, {})
    assert "Sunday" in path.read_text("utf-8")
    site.sent("POST", undo, {"force": True})
    assert not path.exists()


def test_a_dream_shows_what_it_would_do(site: Filled) -> None:
    remember(site)
    remember(site, f"{TEXT} ", "never-deploy-on-friday")
    remember(site, TEXT, "deploys")
    path = f"/api/dream?project={site.project}"
    shown = site.sent("POST", path, {"dry_run": True})
    assert shown["dry_run"]
    assert shown["entry"] is None
    names = {item["name"] for item in site.get(f"/api/memories?project={site.project}")["items"]}
    assert shown == site.sent("POST", path)  # nothing was asked for: nothing is changed
    done = site.sent("POST", path, {"dry_run": False})
    assert done["diff"] == shown["diff"]
    left = {item["name"] for item in site.get(f"/api/memories?project={site.project}")["items"]}
    assert left < names or not shown["diff"]


def test_the_brief_follows_also_where_sessions_were_in_a_folder_below(site: Filled) -> None:
    below = site.folder / "below"
    below.mkdir()
    git(site.folder, "init")
    remember(site)
    assert isinstance(site.store, Store)
    with site.store.database.transaction() as connection:
        connection.execute("DELETE FROM project_dirs")
    site.store.projects.resolve(identify(str(site.folder)), str(below), START)
    copy = site.web.service.context.paths.briefs / brief_name("claude-code", str(below))
    seen = site.get(of(site))["checksum"]
    site.sent("PUT", of(site), {"description": "Deploys", "checksum": seen})
    assert f"{NAME} (project): Deploys" in copy.read_text("utf-8")
    site.sent("DELETE", of(site))
    assert NAME not in copy.read_text("utf-8")


def test_names_that_lead_elsewhere_find_nothing(site: Filled) -> None:
    """T48: names of memories."""
    (site.folder / "secret.md").write_text("---\ndescription: d\n---\n\nsecret\n")
    for name in ("..%2Fsecret", "%2Fetc%2Fpasswd", ".hidden", "a%00b"):
        answer = site.web.ask("GET", f"/api/memories/{name}?project={site.project}")
        assert answer.status in (400, 404), answer.body
        assert b"secret\\n" not in answer.body


def test_a_team_s_memory_is_shown_and_not_changed(site: Filled) -> None:
    folder = site.folder / ".aforesaid/memory"
    folder.mkdir(parents=True)
    (folder / "ours.md").write_text("---\ndescription: The team's\n---\n\nAll of us.\n")
    found = site.get(of(site, "ours"))
    assert (found["scope"], found["ours"]) == ("team", False)
    given = {"pinned": True, "checksum": found["checksum"]}
    assert str(folder) in site.refused(409, "PUT", of(site, "ours"), given)
