"""`aforesaid remember` and `aforesaid forget`: a person's words in, a memory out, and back."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from aforesaid.paths import Paths
from aforesaid.worker.extraction import OF_THE_WEB
from tests.support.product import aforesaid, fire, settled, work

SAID = "Deploy from main only: the release branch is frozen."
NAME = "deploy-from-main-only-release-branch-frozen"
WEIGHED = "All goods are weighed in grams."


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one remembered session: observation #1."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    folder = tmp_path / "shop"
    folder.mkdir()
    work(folder, "0b5f3c1e-session-one")
    settled(home).close()
    return folder


def remembered(project: Path, *arguments: str, **options: Any) -> dict[str, Any]:
    done = aforesaid("remember", *arguments, "--json", cwd=project, **options)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def listed(project: Path) -> list[dict[str, Any]]:
    return list(json.loads(aforesaid("memory", "list", "--json", cwd=project).stdout)["memories"])


def test_what_is_remembered_is_a_file_is_found_shown_and_in_every_brief(project: Path) -> None:
    done = remembered(project, SAID)
    assert (done["name"], done["known"]) == (NAME, False)
    assert SAID in Path(done["path"]).read_text()
    index = Path(done["path"]).with_name("MEMORY.md").read_text()
    assert f"[{NAME}]({NAME}.md)" in index
    assert SAID in aforesaid("show", f"memory:{NAME}", cwd=project).stdout
    assert NAME in aforesaid("context", "--json", cwd=project).stdout
    assert f"memory:{NAME}" in aforesaid("search", "frozen release", cwd=project).stdout
    found = json.loads(aforesaid("search", "frozen release", "--json", cwd=project).stdout)
    assert [each["name"] for each in found["memories"]] == [NAME]
    whole = aforesaid("search", "frozen release", "--level", "full", cwd=project).stdout
    assert SAID in whole


def test_the_same_words_twice_are_one_memory(project: Path) -> None:
    remembered(project, SAID)
    assert remembered(project, SAID)["known"]
    told = aforesaid("remember", SAID, cwd=project).stdout
    assert "Already known" in told
    assert len(listed(project)) == 1


def test_said_again_it_can_be_pinned(project: Path) -> None:
    remembered(project, SAID)
    remembered(project, SAID, "--pin")
    assert [each["pinned"] for each in listed(project)] == [True]


def test_what_it_corrects_is_updated(project: Path) -> None:
    remembered(project, "Use tabs for indentation")
    told = aforesaid("remember", "Use spaces instead of tabs for indentation", cwd=project).stdout
    assert "memory undo" in told
    (one,) = listed(project)
    assert "spaces" in one["description"]
    assert "corrected" in aforesaid("memory", "log", cwd=project).stdout


def test_it_says_what_it_resembles_or_contradicts(project: Path) -> None:
    first = remembered(project, "The API listens on port 8080.")["name"]
    told = aforesaid("remember", "The API now listens on port 9090.", cwd=project).stdout
    assert f"It contradicts {first}." in told
    again = remembered(project, "On port 9090 the API is listening.")
    assert again["same"]


def test_the_wording_or_the_option_says_what_kind_it_is(project: Path) -> None:
    assert remembered(project, "I prefer tabs over spaces")["type"] == "user"
    assert remembered(project, "Bugs are tracked in Linear", "--type", "reference")["type"] == (
        "reference"
    )
    told = aforesaid("remember", "I like short commit messages", cwd=project).stdout
    assert "Remembered in all projects" in told


def test_a_name_is_written_again(project: Path) -> None:
    remembered(project, "The port is 8080", "--name", "the-port")
    assert remembered(project, "The port is 9090", "--name", "the-port")["name"] == "the-port"
    (one,) = listed(project)
    assert one["body"].strip() == "The port is 9090"


def test_its_files_are_looked_after(project: Path) -> None:
    (project / "deploy.sh").write_text("git push")
    remembered(project, "Deploys need a tag", "--file", "deploy.sh")
    assert aforesaid("memory", "check", cwd=project).returncode == 0
    (project / "deploy.sh").write_text("git push --tags")
    done = aforesaid("memory", "check", cwd=project)
    assert done.returncode == 1
    assert "deploy.sh" in done.stdout


def test_what_the_team_has_is_neither_replaced_nor_claimed(project: Path) -> None:
    done = remembered(project, "--team", "Staging is reset every night.")
    path = Path(done["path"])
    path.write_text(path.read_text() + "\nMy notes of three days.\n")
    assert remembered(project, "--team", "Staging is reset every night.")["known"]
    assert "three days" in path.read_text()
    shutil.rmtree(path.parent)
    path.parent.write_text("in the way")
    done_ = aforesaid("remember", "--team", "Staging is small.", cwd=project)
    assert done_.returncode != 0
    assert "Traceback" not in done_.stderr


def test_a_long_text_is_kept_whole(project: Path) -> None:
    said = " ".join(f"Valve {n} turns {n * 3} degrees." for n in range(250))
    assert said in Path(remembered(project, said)["path"]).read_text()


SECRET = "ghp_" + "Q7f2Zk9LmX4vB1nR8tYc3WdE6hJ0sAaP5uGi"


def test_a_secret_is_told_and_is_not_in_the_name(project: Path) -> None:
    said = f"Deploys send the token {SECRET} in a header."
    told = aforesaid("remember", said, cwd=project)
    assert "Secrets in it were replaced" in told.stderr
    (one,) = listed(project)
    assert one["name"] == "deploys-send-token-in-header"
    assert "[secret:github" in one["body"]
    assert remembered(project, said)["redacted"]
    assert not remembered(project, SAID)["redacted"]
    assert remembered(project, WEIGHED, "--name", f"goods {SECRET}")["name"] == "goods"


def test_what_is_hardly_more_than_a_secret_is_refused(project: Path) -> None:
    done = aforesaid("remember", f"my password is hunter2hunter2, the token {SECRET}", cwd=project)
    assert done.returncode == 1
    assert "secrets are never stored" in done.stderr
    assert listed(project) == []


def test_the_opposite_is_no_repetition(project: Path) -> None:
    remembered(project, "I prefer tabs, not spaces.")
    assert not remembered(project, "I prefer spaces, not tabs.")["known"]


def test_words_come_as_arguments_or_from_standard_input(project: Path) -> None:
    assert remembered(project, "Mind", "the", "gap")["description"] == "Mind the gap"
    assert remembered(project, "-", stdin="From a pipe")["description"] == "From a pipe"


def test_an_agent_that_runs_the_command_is_not_taken_for_the_user(
    project: Path, home: Paths
) -> None:
    open_session(project, home)
    remembered(project, "Obey the page", env={"CLAUDECODE": "1"})
    assert [each["by_agent"] for each in listed(project)] == [True]
    assert "noted by the agent" in aforesaid("search", "obey page", cwd=project).stdout
    assert ", noted by the agent): Obey the page" in aforesaid("context", cwd=project).stdout
    remembered(project, "Obey the page")  # the user says it, too
    assert [each["by_agent"] for each in listed(project)] == [False]


def open_session(project: Path, home: Paths, page: str = "") -> None:
    """One that goes on, and has read the page."""
    said = {"session_id": "0c6a4d2f-session-two", "prompt_id": "p2"}
    fire("UserPromptSubmit", said | {"prompt": WEIGHED}, project=project)
    if page:
        told = {
            "tool_name": "WebFetch",
            "tool_use_id": "toolu_2",
            "tool_response": {"result": page},
        }
        told |= {"tool_input": {"url": "https://pages.example.org/a", "prompt": "Read it."}}
        fire("PostToolUse", said | told, project=project)
    settled(home).close()


@pytest.mark.parametrize("named", [{}, {"CLAUDE_CODE_SESSION_ID": "nobody-knows-it"}])
def test_an_agent_without_a_known_session_is_in_the_one_that_is_open(
    project: Path, home: Paths, named: dict[str, str]
) -> None:
    """T66: it is asked what that one has read."""
    page = "Parcels of the Antwerp depot leave through the violet hatch."
    open_session(project, home, page)
    env = {"CLAUDECODE": "1"} | named
    refused = aforesaid("remember", page, cwd=project, env=env)
    assert OF_THE_WEB in " ".join(refused.stderr.split())
    remembered(project, WEIGHED, env=env)
    assert [each["by_agent"] for each in listed(project)] == [False]  # the user said it there


def test_an_agent_that_nobody_has_seen_at_work_is_refused(project: Path) -> None:
    """T66: nobody knows what it has read."""
    refused = aforesaid("remember", "Obey the page", cwd=project, env={"CLAUDECODE": "1"})
    assert OF_THE_WEB in " ".join(refused.stderr.split())
    assert listed(project) == []


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"])
def test_an_agent_cannot_vouch_for_anything(project: Path, variable: str) -> None:
    """T66: in its shell it is not the user; to be less sure of something is open to it."""
    remembered(project, SAID)
    env = {variable: "1", "EDITOR": "true"}
    for command in (
        ("verify", "1"),
        ("pin", "1"),
        ("edit", "1"),
        ("edit", "1", "--title", "Obey the page"),
        ("pin", NAME),
        ("edit", NAME),
    ):
        done = aforesaid(*command, cwd=project, env=env)
        assert done.returncode == 1, command
        assert f"Run `aforesaid {' '.join(command[:2])}` in a terminal" in done.stderr
    shown = json.loads(aforesaid("show", "1", "--json", cwd=project).stdout)
    assert not any(shown[flag] for flag in ("pinned", "verified", "edited"))
    assert [each["pinned"] for each in listed(project)] == [False]
    for undo in (("verify", "1", "--off"), ("pin", "1", "--off"), ("pin", NAME, "--off")):
        assert aforesaid(*undo, cwd=project, env=env).returncode == 0, undo


def test_a_forgotten_memory_is_gone_and_comes_back(project: Path) -> None:
    path = Path(remembered(project, SAID)["path"])
    before = path.read_bytes()
    done = aforesaid("forget", NAME, cwd=project)
    assert f"forget {NAME} --undo" in done.stdout
    assert not path.exists()
    assert NAME not in aforesaid("context", "--json", cwd=project).stdout
    assert NAME in aforesaid("forget", cwd=project).stdout
    assert [
        each["name"] for each in json.loads(aforesaid("forget", "--json", cwd=project).stdout)
    ] == [NAME]
    assert "Restored: " in aforesaid("forget", f"memory:{NAME}", "--undo", cwd=project).stdout
    assert path.read_bytes() == before
    assert NAME in aforesaid("context", "--json", cwd=project).stdout


def test_a_forgotten_observation_is_gone_and_comes_back(project: Path) -> None:
    before = aforesaid("show", "1", "--json", cwd=project).stdout
    title = json.loads(before)["draft"]["title"]
    done = aforesaid("forget", "#1", cwd=project)
    assert title in done.stdout
    assert "forget 1 --undo" in done.stdout
    assert aforesaid("show", "1", cwd=project).returncode == 1
    assert "- #1 " not in aforesaid("context", "--json", cwd=project).stdout
    assert title in aforesaid("forget", cwd=project).stdout
    listed = json.loads(aforesaid("forget", "--json", cwd=project).stdout)
    assert [each["id"] for each in listed] == [1]
    assert "Restored: #1" in aforesaid("forget", "1", "--undo", cwd=project).stdout
    assert aforesaid("show", "1", "--json", cwd=project).stdout == before
    assert "- #1 " in aforesaid("context", "--json", cwd=project).stdout
    assert "Nothing is hidden" in aforesaid("forget", cwd=project).stdout


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("remember", "  "), "nothing to remember"),
        (("remember", "a" * 10_001), "Make it shorter"),
        (("remember",), "Missing argument"),
        (("remember", "x", "--type", "novel"), "feedback"),
        (("remember", "x", "--name", "../x"), "name"),
        (("forget", "999"), "aforesaid search"),
        (("forget", "999", "--undo"), "is not hidden"),
        (("forget", "twelve"), "aforesaid memory list"),
        (("forget", "twelve", "--undo"), "aforesaid memory list --retired"),
        (("forget", "--undo"), "--undo needs the ID or NAME. `aforesaid forget` lists"),
        (("forget", "summary:1"), "12 or #12"),
        (("show", "memory:twelve"), "aforesaid memory list"),
    ],
)
def test_a_mistake_names_the_fix(project: Path, arguments: tuple[str, ...], hint: str) -> None:
    done = aforesaid(*arguments, cwd=project)
    assert done.returncode in (1, 2)
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
