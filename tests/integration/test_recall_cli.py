"""Looking back on the command line: search with its filters and levels, timeline, related, files, rebuild."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aforesaid.cli import data, output
from aforesaid.clock import DAY
from aforesaid.encoders.static_table import StaticTable
from aforesaid.errors import install_command
from aforesaid.model.observations import Doubt, ObservationDraft, SummaryDraft
from aforesaid.model.search import Reason
from aforesaid.paths import Paths
from aforesaid.recall.results import describe_reasons
from aforesaid.repository import identify
from aforesaid.store.store import Store
from tests.support.blank import laid
from tests.support.memory import Memory
from tests.support.product import aforesaid, on_a_terminal, settled

DOUBTS = (Doubt("title", "it occurs nowhere"),)
PUMP = ObservationDraft(
    "bugfix",
    "Pump mended",
    "It runs again",
    ("the gasket of the pump was worn", "the seal held"),
    "A long story about water.",
    ("plumbing",),
    files_modified=("src/pump.py",),
)
VALVE = ObservationDraft("decision", "Steel valve beside the pump", files_read=("src/valve.py",))
LATER = ObservationDraft("change", "Pump painted", follows=1, files_modified=("src/pump.py",))
WRONG = ObservationDraft("discovery", "Pump floats", doubts=DOUBTS)


@pytest.fixture
def project(home: Paths, tmp_path: Path) -> Path:
    """A repository with two remembered sessions, thirty days apart; no worker runs."""
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src/pump.py").write_text("pump = 1\n")
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    store = Store(laid(home.database), writer=True, encoder=StaticTable())
    memory = Memory(store, store.projects.resolve(identify(str(folder)), str(folder), 0))
    memory.turn("mend the pump", PUMP, VALVE, summary=SummaryDraft("Mend the pump"), session="a1")
    memory.at += 30 * DAY
    memory.turn("paint it", LATER, WRONG, session="b2")
    store.observations.pin(2, pinned=True)
    store.close()
    return folder


def answer(project: Path, *arguments: str) -> Any:
    done = aforesaid(*arguments, "--json", cwd=project)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def titles(project: Path, *arguments: str) -> list[str]:
    return [hit["title"] for hit in answer(project, "search", *arguments)["hits"]]


def test_search_tells_what_a_finding_is_worth(project: Path) -> None:
    found = answer(project, "search", "gasket", "pump")
    assert (found["query"], found["level"], found["without"]) == ("gasket pump", "titles", None)
    hit = next(hit for hit in found["hits"] if hit["name"] == "#1")
    assert hit["superseded"]
    assert not hit["pinned"]
    assert hit["tokens"] > 10
    assert hit["session"] == "a1"
    assert hit["freshness"]["state"] == "unknown"
    assert "\x02" not in hit["excerpt"]
    assert {"words", "meaning"} <= {reason["name"] for reason in hit["reasons"]}
    shown = aforesaid("search", "pump", "-n", "20", cwd=project).stdout
    for words in ("#1 Pump mended", "superseded", "pinned", "unverified", "tokens"):
        assert words in shown
    explained = aforesaid("search", "worn gaskets", "--explain", "-n", "1", cwd=project).stdout
    assert re.search(r"  words +gasket, worn\n", explained)
    assert "  in all\n" in explained


def test_names_are_explained_as_they_are_written(project: Path) -> None:
    asked = ("search", "what about src/pump.py and plumbing", "--type", "bugfix")
    explained = aforesaid(*asked, "--explain", cwd=project).stdout
    assert re.search(r"  names +plumbing, pump.py, src/pump.py\n", explained), explained
    (hit,) = answer(project, *asked)["hits"]
    because = {reason["name"]: reason["because"] for reason in hit["reasons"]}
    assert because["names"] == "plumbing, pump.py, src/pump.py"
    assert "Pump" in because["words"]


def test_an_excerpt_says_what_the_title_does_not(project: Path) -> None:
    shown = aforesaid("search", "gasket", "--type", "bugfix", cwd=project).stdout.split("\n")
    assert shown[1].startswith("   It runs again · the gasket of the pump was worn · the seal held")
    found = aforesaid("search", "mend", "--level", "sessions", cwd=project).stdout.split("\n")
    assert found[0].startswith("a1 mend the pump  session")
    assert found[1] == "   Steel valve beside the pump · Pump mended"
    assert "  #1" in aforesaid("timeline", "1", "--before", "0", cwd=project).stdout.replace(
        "▶", " "
    )
    prompts = aforesaid("timeline", "prompt:1", "--after", "0", cwd=project).stdout
    assert prompts.count("mend the pump") == 2  # of the session, and its own


def test_matches_are_highlighted_on_a_terminal_if_colour_is_wanted(project: Path) -> None:
    question = ("search", "gasket", "-n", "1")
    shown = on_a_terminal(project, *question, TERM="xterm")
    assert "\x1b[1m\x1b[4mgasket\x1b[0m" in shown
    titled = on_a_terminal(project, "search", "mended", "--type", "bugfix", TERM="xterm")
    assert "\x1b[1mPump \x1b[0m\x1b[1m\x1b[4mmended\x1b[0m" in titled
    assert "\x1b[" not in on_a_terminal(project, *question, TERM="xterm", NO_COLOR="1")
    assert "\x1b[" not in aforesaid(*question, cwd=project).stdout


def test_search_keeps_to_its_filters(project: Path) -> None:
    for arguments, expected in (
        (("--type", "decision"), {"Steel valve beside the pump"}),
        (
            ("--type", "decision", "--type", "discovery"),
            {"Steel valve beside the pump", "Pump floats"},
        ),
        (("--concept", "plumbing"), {"Pump mended"}),
        (("--file", "src/valve.py"), {"Steel valve beside the pump"}),
        (("--file", str(project / "src/valve.py")), {"Steel valve beside the pump"}),
        (("--session", "b2"), {"Pump painted", "Pump floats"}),
        (("--agent", "another"), set()),
        (("--until", "2027-01-20", "--type", "bugfix"), {"Pump mended"}),
        (("--since", "2027-01-20", "--until", "2027-03-01", "--type", "change"), {"Pump painted"}),
    ):
        assert set(titles(project, "pump", *arguments)) == expected, arguments


def test_a_file_of_another_project_is_named_from_there_even_if_it_exists_here(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/valve.py").write_text("another = 1\n")
    asked = ("pump", "--project", "shop", "--file", "src/valve.py")
    assert titles(tmp_path, *asked) == ["Steel valve beside the pump"]
    found = answer(tmp_path, "files", "src/valve.py", "--project", "shop")
    assert [each["id"] for each in found["observations"]] == [2]
    assert titles(project / "src", "pump", "--file", "../src/valve.py") == titles(tmp_path, *asked)


def test_search_looks_in_this_project_in_another_or_in_all(project: Path, tmp_path: Path) -> None:
    assert titles(project, "gasket", "--project", "shop")
    assert titles(tmp_path, "gasket", "--all")
    for where, arguments, named in (
        (project, ("--all",), True),
        (tmp_path, (), True),  # it belongs to no project
        (project, (), False),
        (tmp_path, ("--project", "shop"), False),
    ):
        first = aforesaid("search", "gasket", *arguments, cwd=where).stdout.split("\n")[0]
        assert ("shop" in first.split("  ")) == named, first
        assert answer(where, "search", "gasket", *arguments)["hits"][0]["project"] == "shop"
    both = aforesaid("search", "x", "--all", "--project", "shop", cwd=project)
    assert both.returncode == 2
    unknown = aforesaid("search", "x", "--project", "nope", cwd=project)
    assert unknown.returncode == 1
    assert "shop" in unknown.stderr


def test_a_project_is_named_by_any_folder_of_it(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    for where, name in (
        (tmp_path, "./shop"),
        (tmp_path, "shop/"),
        (tmp_path, "shop/src"),
        (tmp_path, "link"),
        (project / "src", ".."),
        (project / "src", "../../shop"),
        (project, "."),
        (project, str(project)),
    ):
        assert titles(where, "gasket", "--project", name), (where, name)
    nothing = aforesaid("search", "x", "--project", "..", cwd=project)
    assert nothing.returncode == 1
    assert f"Nothing was ever recorded in {tmp_path}. The projects are: shop." in nothing.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--level", "sessions", "--file", "x"), "have no file: leave out the file or the level."),
        (("--level", "sessions", "--type", "decision"), "have no type:"),
        (("--level", "events", "--type", "decision"), "have no type:"),
        (("--level", "summaries", "--concept", "x"), "have no concept:"),
        (
            ("--since", "2026-10-09", "--until", "2026-10-01"),
            "The start (since) is later than the end (until).",
        ),
        (("--session", ""), "'--session': it is empty."),
        (("--project", " "), "'--project': it is empty."),
    ],
)
def test_what_can_never_hold_is_an_error(
    project: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = aforesaid("search", "pump", *arguments, cwd=project)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_name_that_nothing_bears_is_told(project: Path) -> None:
    shown = aforesaid(
        "search", "pump", "--concept", "plumbing", "--concept", "cats", "--agent", "x", cwd=project
    ).stdout.splitlines()
    assert "Fewer filters find more." in shown[0]
    assert shown[1:] == [
        "Nothing in this project is tagged with the concept 'cats'.",
        "Nothing in this project is of the agent 'x'. Known agents: claude-code.",
    ]
    common = aforesaid("search", "zebra", "--agent", "claude-code", cwd=project).stdout
    assert common.count("\n") == 1


def test_search_has_levels(project: Path) -> None:
    sessions = answer(project, "search", "pump", "--level", "sessions")["hits"]
    assert {hit["kind"] for hit in sessions} == {"session"}
    summaries = answer(project, "search", "pump", "--level", "summaries")["hits"]
    assert [hit["name"] for hit in summaries] == ["summary:1"]
    facts = answer(project, "search", "gasket", "--level", "facts")["hits"]
    assert facts[0]["excerpt"] == "the gasket of the pump was worn"
    full = answer(project, "search", "gasket", "--level", "full")["hits"]
    assert "A long story about water." in full[0]["text"]
    shown = aforesaid("search", "gasket", "--level", "full", "-n", "1", cwd=project).stdout
    assert "A long story about water." in shown
    assert "Show one in full" not in shown
    assert answer(project, "search", "gasket", "--level", "events")["hits"] == []


def test_search_without_an_encoder_is_no_fault_and_with_a_missing_one_it_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "none")
    assert answer(project, "search", "gasket")["without"] is None
    monkeypatch.setenv("AFORESAID_RECALL_ENCODER", "minilm")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/onnxruntime.py").write_text("raise ImportError('none here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    found = answer(project, "search", "gasket")
    assert found["hits"]
    assert "search by meaning is off" in found["without"]
    shown = aforesaid("search", "gasket", cwd=project).stdout
    assert install_command("minilm") in shown
    assert "Only words were matched." in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "gasket", "--all", "--level", "events"),
        ("timeline", "1"),
        ("files", "src/pump.py"),
        ("show", "1"),
    ],
)
def test_what_needs_no_vectors_starts_without_numpy(
    project: Path, arguments: tuple[str, ...]
) -> None:
    program = (
        "import sys; from aforesaid.cli.main import cli\n"
        f"cli({list(arguments)!r}, standalone_mode=False)\n"
        "heavy = {'numpy', 'rich', 'mcp', 'onnxruntime'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_timeline_shows_what_stands_around(project: Path) -> None:
    names = [hit["name"] for hit in answer(project, "timeline", "#2", "--after", "2")]
    assert names == ["prompt:1", "#1", "#2", "summary:1", "prompt:2"]
    shown = aforesaid("timeline", "2", cwd=project).stdout
    assert "▶ #2 Steel valve" in shown
    assert "── b2" in shown
    around = answer(project, "timeline", "--at", "2027-01-20", "--before", "1", "--after", "1")
    assert [hit["name"] for hit in around] == ["summary:1", "prompt:2"]
    assert answer(project, "timeline", "a1", "--after", "1")[0]["name"] == "prompt:1"
    for arguments, code in (
        (("timeline", "999"), 1),
        (("timeline", "summary:99"), 1),
        (("timeline", "1", "--at", "yesterday"), 2),
        (("timeline", "--at", "nonsense"), 2),
    ):
        assert aforesaid(*arguments, cwd=project).returncode == code, arguments


def test_what_a_timeline_is_around_is_marked(project: Path) -> None:
    assert "\n▶ event:1 " in aforesaid("timeline", "event:1", "--after", "1", cwd=project).stdout
    session = aforesaid("timeline", "a1", "--after", "3", cwd=project).stdout.splitlines()
    assert session[0] == "▶ a1 mend the pump"
    assert len(session) == 5
    assert len(answer(project, "timeline", "prompt:1", "--before", "0", "--after", "1")) == 2


def test_a_timeline_of_another_project_than_named_is_refused(
    project: Path, home: Paths, tmp_path: Path
) -> None:
    store = Store(laid(home.database), writer=True)
    other = tmp_path / "kestrel"
    other.mkdir()
    store.projects.resolve(identify(str(other)), str(other), 0)
    store.close()
    for name, what in (("1", "#1"), ("a1", "This session")):
        done = aforesaid("timeline", name, "--project", "kestrel", cwd=project)
        assert done.returncode == 2
        assert f"{what} is of project shop, not of kestrel. Leave --project out." in done.stderr
    assert aforesaid("timeline", "1", "--project", "shop", cwd=other).returncode == 0


def test_related_says_why(project: Path) -> None:
    found = answer(project, "related", "1")
    assert found[0]["name"] == "#3"
    assert {reason["name"] for reason in found[0]["reasons"]} >= {"story", "same file"}
    shown = aforesaid("related", "#1", cwd=project).stdout
    assert "story: what came after it; same file: src/pump.py" in shown
    against = [Reason("like words", 0.9), Reason("same session", -0.2)]
    assert describe_reasons(against) == "like words, though in the same session"
    assert aforesaid("related", "999", cwd=project).returncode == 1
    assert aforesaid("related", "a1", cwd=project).returncode == 1


def test_files_tells_what_is_known_about_one_and_about_which_most_is_known(project: Path) -> None:
    for path in ("src/pump.py", "pump.py", str(project / "src/pump.py")):
        found = answer(project, "files", path)["observations"]
        assert [each["id"] for each in found] == [3, 1], path
    assert [o["id"] for o in answer(project / "src", "files", "pump.py")["observations"]] == [3, 1]
    assert "the gasket of the pump was worn" in aforesaid("files", "pump.py", cwd=project).stdout
    assert "Nothing is known about x.py" in aforesaid("files", "x.py", cwd=project).stdout
    most = answer(project, "files")
    assert [(f["path"], f["observations"]) for f in most] == [
        ("src/pump.py", 2),
        ("src/valve.py", 1),
    ]
    assert len(answer(project, "files", "src/")) == 2
    assert answer(project, "files", "lib/") == []


def test_a_directory_that_is_not_on_this_disk_is_known_by_its_files(project: Path) -> None:
    shutil.rmtree(project / "src")
    assert [f["path"] for f in answer(project, "files", "src")] == ["src/pump.py", "src/valve.py"]
    assert "src/valve.py" in aforesaid("files", "./src", cwd=project).stdout
    assert "Nothing is known about sr." in aforesaid("files", "sr", cwd=project).stdout


def test_show_has_levels_and_shows_whatever_a_search_found(project: Path) -> None:
    title = aforesaid("show", "1", "--level", "title", cwd=project).stdout
    assert title.startswith("#1 [bugfix] Pump mended")
    assert title.count("\n") == 1
    facts = aforesaid("show", "1", "--level", "facts", cwd=project).stdout
    assert "the seal held" in facts
    assert "A long story" not in facts
    assert answer(project, "show", "1", "--level", "facts")["level"] == "facts"
    assert "project shop, session a1, prompt 1, " in aforesaid("show", "1", cwd=project).stdout
    summary = aforesaid("show", "summary:1", cwd=project).stdout
    assert "Mend the pump" in summary
    assert summary.endswith("\nproject shop, session a1\n")
    assert "mend the pump" in aforesaid("show", "prompt:1", cwd=project).stdout
    assert answer(project, "show", "event:1")["kind"] == "event"
    assert "Pump mended" in aforesaid("show", "a1", "--level", "facts", cwd=project).stdout
    gone = aforesaid("show", "summary:9", cwd=project)
    assert gone.returncode == 1
    assert "aforesaid search --level summaries" in gone.stderr


def test_a_rebuild_makes_the_index_again(project: Path, home: Paths) -> None:
    before = set(titles(project, "pump"))
    index = answer(project, "rebuild")
    assert index["documents"] == index["vectors"] == 7
    assert index["waiting"] == 0
    assert set(titles(project, "pump")) == before
    assert "The index has 7 documents, 7 vectors by" in aforesaid("rebuild", cwd=project).stdout
    settled(home)
    assert answer(project, "search", "capture", "--level", "events")["hits"] == []
    status = answer(project, "status")["index"]
    assert (status["documents"], status["vectors"], status["waiting"]) == (7, 7, 0)
    aforesaid("worker", "stop")
    status = answer(project, "status")["index"]
    assert (status["documents"], status["vectors"]) == (7, 7)
    assert "7 documents, 7 vectors by static" in aforesaid("status", cwd=project).stdout


def test_an_interrupted_rebuild_goes_on_in_the_background(
    project: Path, home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted at its first look at the worker, which it has given the order to by then."""

    def interrupted(*_: object) -> dict[str, Any]:
        raise KeyboardInterrupt

    aforesaid("worker", "start")
    monkeypatch.setattr(output, "bar", interrupted)
    done = CliRunner().invoke(data.rebuild, [])
    assert done.exit_code == 130
    assert "It continues in the background." in done.stderr
    assert settled(home).index.health().documents == 7


QUERIES = (
    ("search", "pump", "--explain"),
    ("search", "pump", "--level", "full", "--json"),
    ("search", "nothing-like-it", "--concept", "gears"),
    ("search", "pump", "--level", "sessions", "--concept", "gears"),
    ("search", "pump", "--project", "nope"),
    ("timeline", "2"),
    ("related", "1"),
    ("files", "src/pump.py"),
    ("files",),
    ("show", "1"),
    ("show", "a1"),
    ("show", "summary:1", "--json"),
    ("show", "99"),
    ("sessions",),
    ("why", "a1"),
)


def test_a_command_prints_the_same_whether_or_not_the_worker_answers_it(
    project: Path, home: Paths
) -> None:
    def outputs() -> list[tuple[int, str, str]]:
        done = (aforesaid(*each, cwd=project) for each in QUERIES)
        return [(each.returncode, each.stdout, each.stderr) for each in done]

    alone = outputs()
    assert [code for code, _, _ in alone] == [0, 0, 0, 2, 1, *(0,) * 7, 1, 0, 0]
    aforesaid("worker", "start")
    settled(home).close()
    assert outputs() == alone


def test_a_running_worker_spares_a_command_the_store(project: Path, home: Paths) -> None:
    """With other settings than the worker's it answers itself."""
    aforesaid("worker", "start")
    settled(home).close()
    program = (
        "import sys; from aforesaid.cli.main import cli\n"
        "cli(['search', 'pump'], standalone_mode=False)\n"
        "sys.exit(7 if 'aforesaid.store.store' in sys.modules else 0)"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, cwd=project, check=False).returncode == 0
    other = os.environ | {"AFORESAID_RECALL_ENCODER": "none"}
    assert subprocess.run(command, cwd=project, env=other, check=False).returncode == 7
