"""Settings, cost and the queue over HTTP. A secret never comes back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid import settings
from aforesaid.clock import HOUR, MINUTE
from aforesaid.model.requests import ANSWERED, DREAM, OBSERVE, Entry, Usage
from aforesaid.paths import Paths
from tests.support.arrivals import Told
from tests.support.web_store import Filled, filled

SECRET = "sk-very-secret-key-0123456789"


@pytest.fixture
def site(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Filled]:
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "none")
    with filled(home, tmp_path / "shop") as found:
        yield found


def setting(site: Filled, key: str) -> Any:
    (found,) = [each for each in site.get("/api/settings")["items"] if each["key"] == key]
    return found


def test_every_setting_is_listed_with_its_help(site: Filled) -> None:
    items = site.get("/api/settings")["items"]
    assert [each["key"] for each in items] == [row.name for row in settings.ROWS]
    assert all(each["help"] for each in items)
    brief = setting(site, "brief.tokens")
    assert (brief["value"], brief["default"], brief["source"]) == (1500, 1500, "default")
    assert (brief["kind"], brief["least"], brief["most"]) == ("number", 0, 2400)
    encoder = setting(site, "recall.encoder")
    assert (encoder["value"], encoder["source"], encoder["kind"]) == ("none", "env", "choice")
    assert "static" in encoder["choices"]


def test_a_setting_is_written_to_the_file_and_reset(site: Filled, home: Paths) -> None:
    home.config_file.parent.mkdir(parents=True, exist_ok=True)
    home.config_file.write_text("# mine\n[brief]\n# so few\ntokens = 900\n")
    changed = site.sent("PUT", "/api/settings/brief.tokens", {"value": 1200})
    assert (changed["value"], changed["source"], changed["restart"]) == (1200, "file", False)
    assert "# so few\ntokens = 1200" in home.config_file.read_text()
    assert site.sent("PUT", "/api/settings/brief.tokens", {"value": "1300"})["value"] == 1300
    listed = site.sent("PUT", "/api/settings/synthesis.skip", {"value": ["a", "b"]})
    assert listed["value"] == ["a", "b"]
    assert site.sent("PUT", "/api/settings/synthesis.skip", {"value": "a, c"})["value"] == [
        "a",
        "c",
    ]
    empty = site.sent("PUT", "/api/settings/memory.team_folder", {"value": ""})
    assert (empty["value"], empty["set"]) == ("", True)
    back = site.sent("DELETE", "/api/settings/brief.tokens")
    assert (back["value"], back["source"], back["restart"]) == (1500, "default", False)


def test_what_shapes_a_brief_holds_at_once(site: Filled) -> None:
    path = f"/api/brief?project={site.project}"
    assert site.get(path)["options"]["tokens"] == 1500
    for key, value in (("brief.tokens", 300), ("memory.tokens", 7), ("memory.client", "off")):
        assert not site.sent("PUT", f"/api/settings/{key}", {"value": value})["restart"]
        assert site.get(path)["options"]["settings"][key] == value
    assert site.get(path)["options"]["tokens"] == 300
    assert not site.sent("DELETE", "/api/settings/brief.tokens")["restart"]
    assert site.get(path)["options"]["tokens"] == 1500


def test_what_takes_a_new_start_says_so(site: Filled) -> None:
    said = {"web.port": 5000, "worker.idle_minutes": 5, "cost.daily_tokens": 9, "web.start": "off"}
    for key, value in said.items():
        assert site.sent("PUT", f"/api/settings/{key}", {"value": value})["restart"]
        assert setting(site, key)["restart"]
        assert not site.sent("DELETE", f"/api/settings/{key}")["restart"]


def test_a_file_that_somebody_has_broken_is_named(site: Filled, home: Paths) -> None:
    home.config_file.parent.mkdir(parents=True, exist_ok=True)
    home.config_file.write_text("[brief\n")
    for method, path, body in (
        ("GET", "/api/settings", None),
        ("DELETE", "/api/settings/brief.tokens", {}),
    ):
        assert "config.toml" in site.refused(409, method, path, body)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("brief.tokens", 99_999, "from 0 to 2400"),
        ("brief.tokens", "many", "whole number"),
        ("brief.tokens", True, "whole number"),
        ("memory.dream", "daily", "one of"),
        ("memory.dream", ["auto"], "memory.dream is one of: auto, off."),
        ("synthesis.api_key", ["sk-1"], "synthesis.api_key takes a text."),
        ("synthesis.language", 7, "synthesis.language takes a text."),
        ("synthesis.skip", [1], "list of strings"),
        ("cost.prices", ["odd"], "odd"),
        ("brief.tokens", None, "missing"),
    ],
)
def test_a_wrong_value_is_refused_and_nothing_is_written(
    site: Filled, home: Paths, monkeypatch: pytest.MonkeyPatch, key: str, value: object, said: str
) -> None:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "openai")
    message = site.refused(400, "PUT", f"/api/settings/{key}", {"value": value}, field="value")
    assert said in message
    assert "PUT" not in message
    assert not home.config_file.exists()


def test_an_unknown_setting_is_not_found(site: Filled) -> None:
    for method, body in (("PUT", {"value": 1}), ("DELETE", {})):
        assert "GET /api/settings" in site.refused(404, method, "/api/settings/no.such", body)


def test_a_secret_is_written_and_never_sent(site: Filled, home: Paths) -> None:
    path = "/api/settings/synthesis.api_key"
    answer = site.web.ask("PUT", path, {"value": SECRET})
    assert answer.status == 200
    assert SECRET.encode() not in answer.body
    assert SECRET in home.config_file.read_text()
    assert answer.json["set"]
    for row in site.web.app.endpoints:
        if row.method == "GET" and "{" not in row.path:
            query = "?q=secret" if row.path == "/api/search" else ""
            query = f"?project={site.project}" if row.path == "/api/brief" else query
            answer = site.web.ask("GET", row.path + query)
            assert answer.status == 200, (row.path, answer.body)
            assert SECRET.encode() not in answer.body, row.path
    again = site.sent("DELETE", path)
    assert (again["set"], again["value"]) == (False, None)


def spend(site: Filled, at: int, purpose: str, model: str, microdollars: int | None) -> None:
    session = site.store.sessions.recent(None, 1)[0]
    site.store.requests.add(
        Entry(
            at=at,
            provider="openai",
            model=model,
            prompts="v1",
            purpose=purpose,
            digest="d",
            session_id=session.id,
            job_id=None,
            outcome=ANSWERED,
            error=None,
            usage=Usage(100, 10, 0, 20),
            microdollars=microdollars,
            milliseconds=1,
            reply=None,
        )
    )


def test_cost_is_told_by_day_model_project_and_purpose(site: Filled) -> None:
    site.memory.turn("One")
    now = site.web.backend.clock()
    spend(site, now - MINUTE, OBSERVE, "small", 500)
    spend(site, now - MINUTE, DREAM, "large", None)
    spend(site, now - 40 * 24 * HOUR, OBSERVE, "small", 900)
    found = site.get("/api/cost?days=7")
    assert sum(day["sent"] for day in found["days"]) == 200
    assert all(len(day["day"]) == 10 for day in found["days"])
    assert [each["label"] for each in found["projects"]] == ["shop"]
    assert {each["label"] for each in found["models"]} == {"openai/small", "openai/large"}
    assert {each["label"]: each["unpriced"] for each in found["purposes"]} == {
        "observe": 0,
        "dream": 1,
    }
    assert (found["total"]["microdollars"], found["total"]["cached"]) == (500, 20)
    assert found["budget"] == {"daily_tokens": 0, "daily_cents": 0, "left": None}
    assert sum(day["requests"] for day in site.get("/api/cost?days=90")["days"]) == 3
    of_project = site.get(f"/api/cost?project={site.project}")
    assert of_project["total"]["requests"] == 2
    site.refused(404, "GET", "/api/cost?project=999")


def test_the_queue_shows_what_waits_and_tries_again_what_failed(site: Filled) -> None:
    told = Told(site.project)
    now = site.web.backend.clock()
    site.store.events.add([told.prompt("p"), told.tool("t"), told.stop()], now)
    found = site.get("/api/queue")
    assert (found["pending"], found["oldest_at"], found["given_up"]) == (2, now, 0)
    assert [job["kind"] for job in found["jobs"]] == ["observe", "summarize"]
    job = site.store.jobs.claim("test", now, now + MINUTE)
    assert job is not None
    site.store.jobs.skip(job, "it broke", now)
    (failed,) = site.get("/api/queue")["skipped"]
    assert (failed["id"], failed["why"], failed["tries"]) == (job.id, "it broke", 1)
    assert "`aforesaid status`" in site.refused(404, "POST", "/api/queue/retry", {"id": 999})
    assert site.sent("POST", "/api/queue/retry", {"id": job.id}) == {"requeued": 1}
    assert site.get("/api/queue")["skipped"] == []
    assert site.sent("POST", "/api/queue/retry") == {"requeued": 0}
