"""`aforesaid memory` and `aforesaid dream` as their users meet them."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aforesaid import clock, wiring
from aforesaid.memory.changes import Memories
from aforesaid.memory.dream.run import lock_dreams
from aforesaid.model.memories import Memory
from aforesaid.paths import Paths
from tests.support.product import aforesaid, on_a_terminal
from tests.support.scripted_memory import asked, scripted
from tests.support.scripted_models import ScriptedOpenAi, Status
from tests.support.scripted_notes import use
from tests.support.values import blob_id

TABS = Memory("prefers-tabs", "The user prefers tabs", "user", "I prefer tabs.")
AGAIN = replace(TABS, name="tabs-again")
PORT = Memory(
    "api-port",
    "The API listens on port 8081",
    "project",
    "It is set in server.py.",
    evidence=("event 7",),
)


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which nothing is remembered yet."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


@pytest.fixture
def filled(project: Path) -> Path:
    """The same with two memories, one of the user and one of the project."""
    remember(project, TABS)
    remember(project, PORT)
    return project


def memories(project: Path) -> Memories:
    return wiring.memories(wiring.home(), str(project), clock.now)


def remember(project: Path, *written: Memory) -> None:
    with memories(project).change(f"remembered: {written[0].name}") as change:
        for memory in written:
            change.write(memory)


def file_of(project: Path, name: str) -> Path:
    found = memories(project).get(name)
    assert found is not None
    return found.path


def names(project: Path) -> list[str]:
    return sorted(each.memory.name for each in memories(project).all().memories)


def words(command: str, *arguments: str) -> tuple[str, ...]:
    """`edit`, `pin` and `forget` take observations, too; the others are subcommands of `memory`."""
    group = () if command in ("edit", "pin", "forget") else ("memory",)
    return (*group, command, *arguments)


def said(project: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    done = aforesaid(*words(*arguments), cwd=project, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answer(project: Path, *arguments: str) -> Any:
    return json.loads(said(project, *arguments, "--json"))


def refused(
    project: Path, *arguments: str, code: int = 1, env: Mapping[str, str] | None = None
) -> str:
    """The error; it must say what can be done."""
    done = aforesaid(*words(*arguments), cwd=project, env=env)
    assert (done.returncode, done.stdout) == (code, ""), done
    assert "Traceback" not in done.stderr
    return done.stderr


def editor(folder: Path, change: str) -> dict[str, str]:
    """An editor that changes the text with a line of Python."""
    script = folder / "editor.py"
    lines = ("import sys, pathlib", "file = pathlib.Path(sys.argv[1])", "text = file.read_text()")
    script.write_text("\n".join([*lines, change, "file.write_text(text)", ""]))
    return {"EDITOR": shlex.join([sys.executable, str(script)])}


def test_where_nothing_is_remembered_it_is_said_and_nothing_is_made(
    home: Paths, project: Path
) -> None:
    assert said(project, "list").startswith(
        "There are no memories yet. Add one: aforesaid remember"
    )
    assert said(project, "list", "--retired") == "No memory is retired.\n"
    assert answer(project, "list") == {"memories": [], "broken": [], "left_out": 0}
    assert said(project, "log") == said(project, "diff") == "Nothing has been changed yet.\n"
    assert answer(project, "log") == []
    assert said(project, "check") == "0 checked, 0 of them possibly outdated.\n"
    assert "user" in said(project, "path")
    assert not list(home.memory.glob("**/*.md"))
    assert "Nothing has been changed yet." in refused(project, "undo")


def test_what_is_remembered_is_listed_and_shown(home: Paths, filled: Path) -> None:
    listed = said(filled, "list")
    assert listed.index("api-port") < listed.index("prefers-tabs")  # newest first
    for words in ("name", "about", "project", "The user prefers tabs"):
        assert words in listed
    port, tabs = answer(filled, "list")["memories"]
    assert (port["name"], port["scope"], port["type"]) == ("api-port", "project", "project")
    assert (tabs["name"], tabs["scope"], tabs["pinned"]) == ("prefers-tabs", "user", False)
    assert port["evidence"] == ["event 7"]
    shown = said(filled, "show", "api-port")
    for words in (
        "api-port (project)",
        "It is set in server.py.",
        "From: event 7",
        f"File: {file_of(filled, 'api-port')}",
    ):
        assert words in shown
    assert answer(filled, "show", "api-port.md") == port
    places = answer(filled, "path")
    assert places["user"] == str(home.memory / "user")
    assert Path(places["project"]).is_dir()


def test_another_project_has_the_users_memories_alone(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert [each["name"] for each in answer(other, "list")["memories"]] == ["prefers-tabs"]
    assert "`aforesaid memory list`" in refused(other, "show", "api-port")


@pytest.mark.parametrize("command", ["show", "edit", "pin", "forget"])
def test_a_name_that_nobody_has_is_answered_with_where_to_look(filled: Path, command: str) -> None:
    told = refused(filled, command, "nonesuch", env={"EDITOR": "true"})
    assert "'nonesuch'" in told
    assert "aforesaid memory list" in told
    if command != "edit":
        done = aforesaid(*words(command, "nonesuch", "--json"), cwd=filled)
        assert done.returncode == 1
        assert json.loads(done.stdout)["kind"] == "NotFound"


def test_a_subcommand_that_is_not_there_is_a_usage_error(project: Path) -> None:
    assert "No such command 'rm'" in refused(project, "rm", "x", code=2)
    assert "Missing argument 'NAME'" in refused(project, "show", code=2)


def test_colour_is_for_terminals_that_want_it(filled: Path) -> None:
    for command in (("list",), ("show", "api-port"), ("log",)):
        assert "\x1b[" not in said(filled, *command)
        plain = on_a_terminal(filled, "memory", *command, TERM="xterm", NO_COLOR="1")
        assert "\x1b[3" not in plain
        assert "api-port" in plain


def test_a_pinned_memory_comes_first_in_the_index(filled: Path) -> None:
    assert said(filled, "pin", "api-port") == "api-port is pinned.\n"
    assert "(pinned) The API listens" in said(filled, "list")
    assert "(project, pinned)" in said(filled, "show", "api-port")
    assert answer(filled, "pin", "api-port", "--off") == {"name": "api-port", "pinned": False}
    assert "(pinned)" not in said(filled, "list")
    assert names(filled) == ["api-port", "prefers-tabs"]


def test_a_retired_memory_is_kept_and_comes_back_as_it_was(filled: Path) -> None:
    file = file_of(filled, "api-port")
    before = file.read_bytes()
    assert "`aforesaid forget api-port --undo`" in said(filled, "forget", "api-port")
    assert names(filled) == ["prefers-tabs"]
    assert "api-port" not in said(filled, "list")
    assert "api-port" in said(filled, "list", "--retired")
    assert not (file.parent / "MEMORY.md").exists()  # it was the only one
    assert "by request" in said(filled, "diff")
    assert answer(filled, "forget", "api-port", "--undo") == {
        "name": "api-port",
        "forgotten": False,
    }
    assert file.read_bytes() == before
    assert "`aforesaid memory list --retired`" in refused(filled, "forget", "api-port", "--undo")
    said(filled, "forget", "api-port")
    remember(filled, PORT)
    assert "Rename or retire it" in refused(filled, "forget", "api-port", "--undo")


def test_an_editor_changes_a_memory(filled: Path) -> None:
    env = editor(filled, "text = text.replace('8081', '9000')")
    assert "`aforesaid memory undo` undoes it" in said(filled, "edit", "api-port", env=env)
    assert answer(filled, "show", "api-port")["description"] == "The API listens on port 9000"
    assert "9000" in (file_of(filled, "api-port").parent / "MEMORY.md").read_text()
    assert said(filled, "log", "-n", "1").count("edited: api-port") == 1
    same = editor(filled, "pass")
    assert said(filled, "edit", "api-port", env=same) == "No changes.\n"


def kept(error: str) -> str:
    """What somebody has typed in vain; for its owner alone."""
    found = re.search(r"Your text is kept: (\S+)\. Fix", error)
    assert found is not None
    file = Path(found[1])
    text = file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    file.unlink()
    return text


def test_a_text_that_is_no_memory_changes_nothing(filled: Path) -> None:
    before = file_of(filled, "api-port").read_bytes()
    env = editor(filled, "text = text.replace('type: project', 'type: novel')")
    told = refused(filled, "edit", "api-port", code=2, env=env)
    assert "use one of user, feedback, project, reference" in told
    assert file_of(filled, "api-port").read_bytes() == before
    assert "type: novel" in kept(told)


def test_who_edits_the_file_beside_the_editor_wins(filled: Path) -> None:
    file = file_of(filled, "api-port")
    by_hand = file.read_text().replace("8081", "7777")
    change = f"pathlib.Path({str(file)!r}).write_text({by_hand!r}); text += 'More.'"
    told = refused(filled, "edit", "api-port", env=editor(filled, change))
    assert "changed meanwhile" in told
    assert file.read_text() == by_hand
    assert kept(told).endswith("More.")


def test_without_a_terminal_and_an_editor_it_is_said_what_to_do(filled: Path) -> None:
    told = refused(filled, "edit", "api-port", code=2)
    assert "Set EDITOR" in told
    assert str(file_of(filled, "api-port")) in told


def test_what_is_the_teams_is_left_to_the_team(filled: Path) -> None:
    team = filled / ".aforesaid/memory"
    team.mkdir(parents=True)
    text = "---\ndescription: We deploy on Mondays\n---\n\nOn Mondays.\n"
    (team / "mondays.md").write_text(text)
    assert "(from the repository)" in said(filled, "show", "mondays")
    env = editor(filled, "raise SystemExit('it must not be opened')")
    for command in ("forget", "pin", "edit"):
        assert str(team / "mondays.md") in refused(filled, command, "mondays", env=env)
    assert (team / "mondays.md").read_text() == text


def test_check_flags_what_speaks_of_changed_files_and_nothing_else(project: Path) -> None:
    (project / "server.py").write_text("PORT = 8081\n")
    (project / "client.py").write_text("TIMEOUT = 5\n")
    seen = {name: blob_id((project / name).read_bytes()) for name in ("server.py", "client.py")}
    timeout = Memory("timeout", "The client waits five seconds", "project", "See client.py.")
    remember(
        project,
        TABS,
        replace(PORT, files=(("server.py", seen["server.py"]),)),
        replace(timeout, files=(("client.py", seen["client.py"]),)),
    )
    assert answer(project, "check") == {"checked": 3, "flagged": [], "broken": []}

    (project / "server.py").write_text("PORT = 9000\n")
    done = aforesaid("memory", "check", cwd=project)
    assert done.returncode == 1
    flagged, total = done.stdout.splitlines()
    assert flagged == "api-port: changed since: server.py"
    assert total.startswith("3 checked, 1 ")
    (project / "client.py").unlink()
    below = project / "docs"
    below.mkdir()
    done = aforesaid("memory", "check", "--json", cwd=below)
    assert done.returncode == 1
    found = {each["name"]: each for each in json.loads(done.stdout)["flagged"]}
    assert found.keys() == {"api-port", "timeout"}
    assert found["api-port"]["changed"] == ["server.py"]
    assert found["timeout"]["gone"] == ["client.py"]


def test_check_knows_dead_links_and_broken_files(home: Paths, filled: Path) -> None:
    linking = Memory("map", "Where things are", "project", "See [[api-port]] and [[gone-fishing]].")
    remember(filled, linking)
    broken = home.memory / "user/broken.md"
    broken.write_text("no front matter\n")
    done = aforesaid("memory", "check", cwd=filled)
    assert done.returncode == 1
    assert "map: dead links: gone-fishing" in done.stdout
    assert f"Not a memory: {broken}: it has no front matter: begin it with `---`" in done.stderr
    assert "broken.md" in aforesaid("memory", "list", cwd=filled).stderr
    (listed,) = answer(filled, "list")["broken"]
    assert listed["path"] == str(broken)
    assert broken.read_text() == "no front matter\n"


def test_every_change_is_listed_shown_and_can_be_taken_back(filled: Path) -> None:
    file = file_of(filled, "api-port")
    before = file.read_bytes()
    said(filled, "pin", "api-port")
    newest, added, first = answer(filled, "log")
    assert [each["reason"] for each in (newest, added, first)] == [
        "pinned: api-port",
        "remembered: api-port",
        "remembered: prefers-tabs",
    ]
    assert "+pinned: true" in said(filled, "diff")
    assert "+description: The user prefers tabs" in said(filled, "diff", first["id"][:8])
    assert "Undone: pinned: api-port" in said(filled, "undo")
    assert file.read_bytes() == before
    undone = answer(filled, "undo", added["id"])
    assert undone["undone"] == added["id"]
    assert not file.exists()
    assert names(filled) == ["prefers-tabs"]
    said(filled, "undo")  # of the undo
    assert file.read_bytes() == before
    assert len(answer(filled, "log", "-n", "2")) == 2


def test_a_hand_edit_is_in_the_history_and_is_not_undone_automatically(filled: Path) -> None:
    file = file_of(filled, "api-port")
    said(filled, "pin", "api-port")
    file.write_text(file.read_text().replace("8081", "7777"))
    told = refused(filled, "undo")
    assert "api-port.md" in told
    assert "--force" in told
    assert "7777" in file.read_text()
    said(filled, "undo", "--force")
    assert "8081" in file.read_text()
    assert "edited by hand" in said(filled, "log")


@pytest.mark.parametrize("command", ["diff", "undo"])
def test_a_change_that_nobody_knows_is_answered_with_where_to_look(
    filled: Path, command: str
) -> None:
    told = refused(filled, command, "0123456789")
    assert "There is no change '0123456789'" in told
    assert "aforesaid memory log" in told


@pytest.fixture
def doubled(filled: Path) -> Path:
    """The same with a memory that says what another one says."""
    remember(filled, AGAIN)
    return filled


def dreamed(project: Path, *arguments: str) -> str:
    done = aforesaid("dream", *arguments, cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def contents(project: Path) -> dict[str, bytes]:
    found = memories(project).places.own
    return {str(file): file.read_bytes() for each in found for file in each.path.glob("*.md")}


def test_a_dream_of_nothing_finds_everything_in_order(project: Path) -> None:
    assert dreamed(project) == "The memories are in order.\n"
    shown = json.loads(dreamed(project, "--json"))
    assert (shown["completed"], shown["entry"], shown["diff"]) == (True, None, "")


def test_a_dry_run_shows_what_a_dream_would_do(doubled: Path) -> None:
    before = contents(doubled)
    shown = dreamed(doubled, "--dry-run")
    assert "tabs-again" in shown
    assert "--- a/user/" in shown
    assert shown.endswith("Nothing was changed: this was a dry run.\n")
    assert json.loads(dreamed(doubled, "--dry-run", "--json"))["entry"] is None
    assert contents(doubled) == before
    assert "dream" not in said(doubled, "log")


def test_a_dream_is_one_change_that_can_be_taken_back(doubled: Path) -> None:
    before = contents(doubled)
    assert "`aforesaid dream undo` undoes all of it." in dreamed(doubled)
    assert len(names(doubled)) == 2
    assert said(doubled, "log").count("dream: ") == 1
    said(doubled, "pin", "api-port")
    said(doubled, "pin", "api-port", "--off")
    assert "Undone: dream: " in dreamed(doubled, "undo")
    assert names(doubled) == ["api-port", "prefers-tabs", "tabs-again"]
    after = contents(doubled)
    assert {path for path in before if "tabs" in path and after[path] != before[path]} == set()
    done = aforesaid("dream", "undo", cwd=doubled)
    assert done.returncode == 1
    assert "There is no dream to undo. See `aforesaid memory log`." in done.stderr


def test_a_dream_is_not_undone_over_a_later_edit_unless_forced(doubled: Path) -> None:
    dreamed(doubled)
    (kept,) = [name for name in names(doubled) if "tabs" in name]
    file = file_of(doubled, kept)
    file.write_text(file.read_text() + "\nBut two blanks in YAML.\n")
    done = aforesaid("dream", "undo", cwd=doubled)
    assert done.returncode == 1
    assert "--force" in done.stderr
    assert "two blanks" in file.read_text()
    assert json.loads(dreamed(doubled, "undo", "--force", "--json"))["files"]
    assert names(doubled) == ["api-port", "prefers-tabs", "tabs-again"]


def test_two_dreams_at_once_are_one_too_many(doubled: Path) -> None:
    with lock_dreams(memories(doubled).places.root):
        done = aforesaid("dream", cwd=doubled)
    assert done.returncode == 1
    assert "Another dream is running. Try again when it has finished" in done.stderr
    dreamed(doubled)


def test_a_model_has_its_say_in_a_dream(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The API listens on port 9000"
    moved = Memory("api-moved", text, "project", text, evidence=("event 8", "event 9"))
    remember(filled, moved)
    gone = [{"fact": text, "why": "it moved"} for text in (PORT.description, PORT.body)]
    proposal = {"name": PORT.name, "replaced_by": moved.name, "why": "it moved", "dropped": gone}
    said_by_model = json.dumps({"merge": [], "retire": [proposal], "rewrite": []})
    with ScriptedOpenAi(then=scripted(dream=said_by_model)) as model:
        use(monkeypatch, model.url)
        assert "would take away 1 of 3 memories" in dreamed(filled)
        remember(filled, Memory("mondays", "We deploy on Mondays", "project", "On Mondays alone."))
        assert "refused" not in dreamed(filled)
        assert names(filled) == ["api-moved", "mondays", "prefers-tabs"]
        model.then = Status(500)
        assert "The model gave no usable answer" in dreamed(filled)
    assert len(asked(model, "dream")) >= 3
