"""`aforesaid synthesize`: what waits is worked up now; what others wrote is written again, once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aforesaid.model.observations import Observation
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from tests.support.product import aforesaid, settled, until, work
from tests.support.scripted_models import Hang, Status
from tests.support.scripted_notes import MODEL, Notes, use

PROMPTS = {
    "aaaa1111": "Add a greeting to hello.py",
    "bbbb2222": "Make the mill wheel turn twice as fast",
    "cccc3333": "Count the sacks of flour in the cellar",
}


@pytest.fixture
def server() -> Iterator[Notes]:
    with Notes() as running:
        yield running


@pytest.fixture
def dead() -> str:
    """An address where nobody listens any more."""
    with Notes() as gone:
        return gone.url


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def by_session(store: Store) -> dict[str, list[Observation]]:
    return {s.ref: store.observations.for_session(s.id) for s in store.sessions.recent(None, 50)}


def synthesize(*arguments: str, code: int = 0) -> dict[str, Any]:
    done = aforesaid("synthesize", "--json", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def restart() -> None:
    assert aforesaid("worker", "restart").returncode == 0


def without_model(home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Three sessions with extracted notes."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    for session, prompt in PROMPTS.items():
        work(project, session, prompt=prompt)
    store = settled(home)
    until(lambda: store.health().pending == 0)
    return store


def test_notes_are_there_while_the_model_is_away(
    home: Paths, project: Path, dead: str, server: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, dead)
    work(project, "aaaa1111", prompt=PROMPTS["aaaa1111"])
    store = settled(home)
    until(lambda: store.health().summaries == 1)
    assert {o.provider for o in by_session(store)["aaaa1111"]} == {"rules"}
    assert store.health().pending == 2
    use(monkeypatch, server.url)
    restart()
    until(lambda: store.health().pending == 0)
    assert {o.provider for o in by_session(store)["aaaa1111"]} == {"openai"}


def test_another_author_replaces_what_the_rules_wrote(
    home: Paths, project: Path, server: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = by_session(without_model(home, project, monkeypatch))
    assert {o.provider for found in before.values() for o in found} == {"rules"}
    pinned, edited = before["aaaa1111"][0], before["bbbb2222"][0]
    assert aforesaid("pin", str(pinned.id)).returncode == 0
    assert aforesaid("edit", str(edited.id), "--title", "In my own words").returncode == 0
    use(monkeypatch, server.url)
    restart()
    plan = synthesize("--again", "--dry-run")
    assert (plan["jobs"], plan["author"].split()[:2]) == (6, ["openai", MODEL])
    assert server.requests == []
    done = synthesize("--again")
    assert (done["requeued"], done["done"], done["waiting"]) == (6, 6, 0)
    assert len(server.requests) == 6
    after = by_session(settled(home))
    assert (after["aaaa1111"][0].id, after["aaaa1111"][0].provider) == (pinned.id, "rules")
    assert (after["bbbb2222"][0].id, after["bbbb2222"][0].draft.title) == (
        edited.id,
        "In my own words",
    )
    assert {o.provider for o in after["cccc3333"]} == {"openai"}
    again = synthesize("--again")
    assert (again["requeued"], again["done"]) == (0, 0)
    assert len(server.requests) == 6
    assert "All notes are from openai" in aforesaid("synthesize", "--again").stdout


def test_a_part_of_it_can_be_chosen(
    home: Paths, project: Path, server: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_model(home, project, monkeypatch)
    use(monkeypatch, server.url)
    restart()
    assert synthesize("--again", "--dry-run", "--since", "1d")["jobs"] == 6
    assert synthesize("--again", "--dry-run", "--since", "2999-01-01")["jobs"] == 0
    assert synthesize("--again", "--dry-run", "--project", "shop")["jobs"] == 6
    assert synthesize("--again", "--session", "bbbb")["requeued"] == 2
    found = by_session(settled(home))
    assert {name: o[0].provider for name, o in found.items()} == {
        "aaaa1111": "rules",
        "bbbb2222": "openai",
        "cccc3333": "rules",
    }
    plan = synthesize("--again", "--dry-run")
    assert (plan["jobs"], plan["tokens"]) == (4, 2 * (server.sent + server.received))


def test_the_rules_have_nothing_to_replace_of_their_own(
    home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    work(project, "aaaa1111")
    settled(home)
    plan = synthesize("--again", "--dry-run")
    assert plan == {"author": plan["author"], "jobs": 0, "tokens": 0}
    assert synthesize("--again")["requeued"] == 0
    assert aforesaid("synthesize").stdout == "Nothing is pending.\n"


def test_the_rules_may_take_over_what_a_model_wrote(
    home: Paths, project: Path, server: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, server.url)
    work(project, "aaaa1111")
    assert {o.provider for o in by_session(settled(home))["aaaa1111"]} == {"openai"}
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    told = aforesaid("synthesize", "--again")
    assert told.returncode == 0
    assert "aforesaid worker restart" in told.stderr  # it knows nothing of the change yet
    restart()
    assert synthesize("--again")["requeued"] == 2
    assert {o.provider for o in by_session(settled(home))["aaaa1111"]} == {"rules"}


def test_what_waits_for_a_model_that_came_back_is_done_at_once(
    home: Paths, project: Path, dead: str, server: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, dead)
    work(project, "aaaa1111")
    until(lambda: "does not answer" in aforesaid("status").stdout)
    stopped = aforesaid("synthesize")
    assert stopped.returncode == 4
    assert "Not finished" in stopped.stderr
    use(monkeypatch, server.url)
    restart()  # the new worker tries at once; what it has not done yet is watched
    found = synthesize()
    assert (found["waiting"], found["stopped"]) == (0, None)


def test_a_key_that_is_refused_ends_it_with_the_reason(
    home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Notes(*[Status(401)] * 9) as server:
        use(monkeypatch, server.url)
        work(project, "aaaa1111")
        found = synthesize(code=4)
        assert "synthesis.api_key" in found["stopped"]
        assert found["waiting"] > 0


def test_ctrl_c_leaves_the_work_to_the_worker(
    home: Paths, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Notes(Hang()) as server:
        use(monkeypatch, server.url)
        work(project, "aaaa1111")
        until(lambda: server.requests)
        command = [str(Path(sys.executable).with_name("aforesaid")), "synthesize"]
        watching = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"FORCE_COLOR": "1"},
        )
        assert watching.stdout is not None
        shown = b""
        while b"Writing" not in shown:  # the bar: it is watching now
            piece = os.read(watching.stdout.fileno(), 4096)
            assert piece, shown
            shown += piece
        watching.send_signal(signal.SIGINT)
        _, told = watching.communicate(timeout=60)
        assert b"The worker continues" in told
        assert watching.returncode == 130


def test_limits_without_again_are_a_mistake_that_names_the_fix(home: Paths) -> None:
    done = aforesaid("synthesize", "--session", "aaaa")
    assert done.returncode == 2
    assert "--again" in done.stderr
