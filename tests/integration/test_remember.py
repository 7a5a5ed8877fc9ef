"""`recollect remember` and `recollect forget`: a person's words in, an observation out, and back."""

import json
from pathlib import Path

import pytest

from recollect.model.notes import NOTES_AGENT
from recollect.paths import Paths
from tests.support.product import recollect, settled, work

NOTE = "Deploy from main only.\nThe release branch is frozen."


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one remembered session: observation #1."""
    monkeypatch.setenv("RECOLLECT_SYNTHESIS_PROVIDER", "rules")
    folder = tmp_path / "shop"
    folder.mkdir()
    work(folder, "0b5f3c1e-session-one")
    settled(home).close()
    return folder


def test_what_is_remembered_is_found_shown_and_in_every_brief(project: Path, home: Paths) -> None:
    done = json.loads(recollect("remember", NOTE, "--json", cwd=project).stdout)
    assert done["title"] == "Deploy from main only."
    shown = json.loads(recollect("show", str(done["id"]), "--json", cwd=project).stdout)
    assert (shown["pinned"], shown["provider"]) == (True, "user")
    assert shown["draft"]["type"] == "discovery"
    assert shown["draft"]["narrative"] == NOTE
    brief = recollect("context", "--json", cwd=project).stdout
    assert "Deploy from main only. — The release branch is frozen." in brief
    assert "Deploy from main" in recollect("search", "frozen release", cwd=project).stdout
    again = json.loads(recollect("remember", NOTE, "--json", cwd=project).stdout)
    assert again["id"] == done["id"]


def test_notes_are_no_session(project: Path, home: Paths) -> None:
    recollect("remember", NOTE, cwd=project)
    assert "0b5f3c1e" in recollect("why", cwd=project).stdout
    (listed,) = json.loads(recollect("sessions", "--json", "-n", "1", cwd=project).stdout)
    assert listed["ref"] == "0b5f3c1e-session-one"
    assert "notes-" not in recollect("sessions", "--all", cwd=project).stdout
    (notes,) = (s for s in settled(home).sessions(None, 9) if s.agent == NOTES_AGENT)
    assert "Deploy from main" in recollect("show", notes.ref[:9], cwd=project).stdout
    assert "It was told nothing" in recollect("why", notes.ref, cwd=project).stdout


def test_a_note_is_shown_once_with_its_project(project: Path) -> None:
    recollect("remember", NOTE, cwd=project)
    heading, *rest = recollect("show", "2", cwd=project).stdout.splitlines()
    assert heading.startswith("#2 Deploy from main only.  discovery")
    assert rest == [
        "",
        "The release branch is frozen.",
        "",
        "project shop, in the user's own words",
    ]
    recollect("remember", "Mind the gap", cwd=project)
    assert recollect("show", "3", cwd=project).stdout.count("Mind the gap") == 1
    facts = recollect("show", "2", "--level", "facts", cwd=project).stdout
    assert facts.count("The release branch is frozen.") == 1


def test_words_come_as_arguments_or_from_standard_input(project: Path) -> None:
    assert "Remembered as #2" in recollect("remember", "Mind", "the", "gap", cwd=project).stdout
    assert "Remembered as #3" in recollect("remember", "-", cwd=project, stdin="From a pipe").stdout
    titles = [recollect("show", key, cwd=project).stdout for key in ("2", "3")]
    assert "Mind the gap" in titles[0]
    assert "From a pipe" in titles[1]


def test_an_agent_that_runs_the_command_is_not_taken_for_the_user(project: Path) -> None:
    done = recollect("remember", "Obey me", "--json", cwd=project, env={"CLAUDECODE": "1"})
    key = str(json.loads(done.stdout)["id"])
    assert json.loads(recollect("show", key, "--json").stdout)["provider"] == "agent"
    for command in (("show", key), ("search", "obey"), ("show", key, "--level", "title")):
        said = "noted by the agent" in recollect(*command, cwd=project).stdout
        assert said == ("title" not in command), command
    assert "[noted by the agent]: Obey me" in recollect("context", "--json", cwd=project).stdout


def test_a_long_first_line_goes_on_in_the_subtitle(project: Path) -> None:
    words = " ".join(f"word{n}" for n in range(40))
    recollect("remember", words, cwd=project)
    draft = json.loads(recollect("show", "2", "--json", cwd=project).stdout)["draft"]
    assert draft["title"].endswith("…")
    told = draft["title"].removesuffix("…") + " " + draft["subtitle"].removesuffix("…")
    assert words.startswith(told)


def test_a_forgotten_observation_is_gone_and_comes_back(project: Path) -> None:
    before = recollect("show", "1", "--json", cwd=project).stdout
    title = json.loads(before)["draft"]["title"]
    done = recollect("forget", "#1", cwd=project)
    assert title in done.stdout
    assert "forget 1 --undo" in done.stdout
    assert recollect("show", "1", cwd=project).returncode == 1
    assert title not in recollect("context", "--json", cwd=project).stdout
    assert title in recollect("forget", cwd=project).stdout
    listed = json.loads(recollect("forget", "--json", cwd=project).stdout)
    assert [each["id"] for each in listed] == [1]
    assert "#1 is back" in recollect("forget", "1", "--undo", cwd=project).stdout
    assert recollect("show", "1", "--json", cwd=project).stdout == before
    assert title in recollect("context", "--json", cwd=project).stdout
    assert "Nothing was forgotten" in recollect("forget", cwd=project).stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("remember", "  "), "nothing to remember"),
        (("remember", "a" * 10_001), "Say it shorter"),
        (("remember",), "Missing argument"),
        (("remember", "x", "--type", "novel"), "bugfix"),
        (("forget", "999"), "recollect search"),
        (("forget", "999", "--undo"), "was not forgotten"),
        (("forget", "twelve"), "12 or #12"),
        (("forget", "--undo"), "--undo needs the ID. `recollect forget` lists"),
        (("forget", "summary:1"), "12 or #12"),
    ],
)
def test_a_mistake_names_the_fix(project: Path, arguments: tuple[str, ...], hint: str) -> None:
    done = recollect(*arguments, cwd=project)
    assert done.returncode in (1, 2)
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
