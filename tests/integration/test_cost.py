"""`aforesaid cost`: what the ledger says is what the API counted; and a budget holds."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid.paths import Paths
from tests.support.product import aforesaid, settled, work
from tests.support.scripted_notes import MODEL, Notes, use

FIGURES = ("requests", "sent", "cached", "received")


@pytest.fixture
def server() -> Iterator[Notes]:
    with Notes() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], Path]:
    def made(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        return folder

    return made


def cost(*arguments: str) -> dict[str, Any]:
    done = aforesaid("cost", "--json", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figures(row: dict[str, Any]) -> dict[str, int]:
    return {name: row[name] for name in FIGURES}


def restart(monkeypatch: pytest.MonkeyPatch, **settings: object) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"AFORESAID_{name.upper()}", str(value))
    assert aforesaid("worker", "restart").returncode == 0


def test_a_day_costs_what_the_api_counted(
    home: Paths, project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Notes("I would rather not answer in that form.") as server:  # so one is asked to be mended
        use(monkeypatch, server.url)
        work(project("shop"), "session-a", prompt="Add a greeting to hello.py")
        work(project("shop"), "session-b", prompt="Greet in Portuguese as well, please")
        work(project("mill"), "session-c", prompt="Make the mill wheel turn twice as fast")
        settled(home)
        found = cost()
        assert figures(found["total"]) == server.added_up
        assert server.cached > 0
        assert found["rows"] == found["days"]
        assert found["today"]["sent"] == server.sent
        by_project = {row["label"]: figures(row) for row in cost("--by", "project")["rows"]}
        assert by_project == server.by_project
        (model,) = cost("--by", "model")["rows"]
        assert (model["label"], figures(model)) == (f"openai/{MODEL}", server.added_up)
        mill = cost("--project", "mill")
        assert figures(mill["total"]) == server.by_project["mill"]
        purposes = {row["label"]: row["requests"] for row in cost("--by", "purpose")["rows"]}
        assert purposes == {"observe": 3, "summarize": 3, "repair": 1}
        sessions = cost("--by", "session")["rows"]
        assert len(sessions) == 3
        assert sum(row["sent"] for row in sessions) == server.sent
        written = found["written"]
        assert (written["observations"], written["summaries"]) == (3, 3)
        assert written["tokens_each"] == (server.sent + server.received) // 6


def test_dollars_follow_the_price_that_was_told(
    home: Paths, server: Notes, project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, server.url, cost_prices=f"{MODEL}=2/0.5/10")
    work(project("shop"), "session-a")
    settled(home)
    fresh = server.sent - server.cached
    expected = fresh * 2 + server.cached * 0.5 + server.received * 10
    assert cost()["total"]["microdollars"] == pytest.approx(expected, abs=len(server.requests))


def test_people_get_a_table_a_chart_and_the_budget(
    home: Paths, server: Notes, project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, server.url, cost_daily_tokens=1_000_000)
    work(project("shop"), "session-a")
    settled(home)
    shown = aforesaid("cost").stdout
    assert f"{server.sent:,}" in shown
    assert "█" in shown
    assert "1 observation and 1 summary written by models" in shown
    assert f"Budget: {server.sent + server.received:,} of 1,000,000 tokens used today." in shown
    assert "\x1b[" not in shown
    plain = aforesaid("cost", "--by", "model", env={"PYTHONIOENCODING": "ascii", "COLUMNS": "60"})
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout.isascii()
    assert "##" in plain.stdout
    assert all(len(line) <= 60 for line in plain.stdout.splitlines() if "#" in line)


def test_what_the_rules_write_costs_nothing(
    home: Paths, project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    work(project("shop"), "session-a")
    settled(home)
    assert "The rules are free" in aforesaid("cost").stdout
    assert cost()["total"]["requests"] == 0


def test_a_wrong_option_gets_an_answer_that_names_the_right_ones(
    home: Paths, project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    work(project("shop"), "session-a")
    settled(home)
    for arguments, hint in (
        (("--by", "colour"), "purpose"),
        (("--since", "soon"), "30d"),
        (("--project", "nope"), "shop"),
    ):
        done = aforesaid("cost", *arguments)
        assert done.returncode in (1, 2), arguments
        assert hint in done.stderr
        assert "Traceback" not in done.stderr
    words = {
        "COMP_WORDS": "aforesaid cost --project ",
        "COMP_CWORD": "3",
        "_AFORESAID_COMPLETE": "bash_complete",
    }
    assert aforesaid(env=words).stdout.split() == ["plain,shop"]


def test_a_used_up_budget_stops_requests_but_not_capture_and_says_so(
    home: Paths, server: Notes, project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, server.url)
    work(project("shop"), "session-a", prompt="Add a greeting to hello.py")
    work(project("shop"), "session-b", prompt="Greet in Portuguese as well, please")
    work(project("mill"), "session-c", prompt="Make the mill wheel turn twice as fast")
    before = settled(home).health()
    asked, used = len(server.requests), server.sent + server.received
    restart(monkeypatch, cost_daily_tokens=used + 100)
    work(project("mill"), "session-d", prompt="Stop the wheel when the river is low")
    after = settled(home).health()
    assert after.events > before.events
    assert after.pending == 2
    assert len(server.requests) == asked
    status = aforesaid("status")
    assert status.returncode == 4
    assert f"budget of {used + 100:,} tokens a day is used up" in status.stdout
    stopped = aforesaid("synthesize")
    assert stopped.returncode == 4
    assert "tokens a day is used up" in stopped.stderr
    assert len(server.requests) == asked
    restart(monkeypatch, cost_daily_tokens=1_000_000)
    done = aforesaid("synthesize", "--json")
    assert done.returncode == 0, done.stdout
    assert settled(home).health().pending == 0
    assert aforesaid("status").returncode == 0
    assert figures(cost()["total"]) == server.added_up
    assert len(server.requests) == asked + 2


def test_a_money_budget_without_a_price_names_the_fix(
    home: Paths, project: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent, so the address need not exist."""
    use(monkeypatch, "https://models.invalid/v1", cost_daily_cents=50, synthesis_api_key="k")
    work(project("shop"), "session-a")
    settled(home)
    status = aforesaid("status")
    assert status.returncode == 4
    assert f"aforesaid config set cost.prices {MODEL}=INPUT/OUTPUT" in status.stdout
    assert cost()["total"]["requests"] == 0
