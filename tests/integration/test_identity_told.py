"""What a session in each kind of repository is told of a project: by real hooks, worker, commands and MCP."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.mcp.context import Context, call
from aforesaid.paths import Paths
from tests.support.product import aforesaid, fire, settled, work
from tests.support.repositories import clone, copy, git, new_repository

pytestmark = pytest.mark.slow

REMOTE, OTHER = "git@example.org:org/shop.git", "git@example.org:me/shop.git"
SECRET = "quuxvault"
QUESTION = "When is the ledger closed, and is it open before hello.py is changed?"
EVERYTHING = ("brief", "prompt", "mcp", "search", "memories")


@pytest.fixture
def shop(home: Paths, tmp_path: Path) -> Path:
    """A project with a session and a memory, both of which speak of a secret."""
    shop = new_repository(tmp_path / "work/shop", remote=REMOTE)
    (shop / "src").mkdir()
    (shop / "src/main.py").write_text("print()\n")
    git(shop, "add", ".")
    git(shop, "commit", "--message", "second")
    work(shop, "s1", prompt=f"Always open the {SECRET} ledger before you change hello.py")
    settled(home)
    said = f"The {SECRET} ledger is closed at midnight"
    done = aforesaid("remember", "--type", "project", said, cwd=shop)
    assert done.returncode == 0, done.stderr
    return shop


def told(folder: Path, name: str) -> dict[str, str]:
    """All that a session in a folder gets, and what its start says to the user."""
    start = fire("SessionStart", {"session_id": name, "source": "startup"}, project=folder)
    prompt = {"session_id": name, "prompt_id": name, "prompt": QUESTION}
    said = json.loads(start.stdout or b"{}")
    env = os.environ | {"CLAUDE_PROJECT_DIR": str(folder), "AFORESAID_RECALL_ENCODER": "none"}
    place = Context(env, clock.now)
    found = call(place, "search", {"query": "ledger hello.py"}).text
    place.close()
    return {
        "brief": json.dumps(said.get("hookSpecificOutput", "")),
        "prompt": fire("UserPromptSubmit", prompt, project=folder).stdout.decode(),
        "mcp": found,
        "search": aforesaid("search", "ledger", cwd=folder).stdout,
        "memories": aforesaid("memory", "list", cwd=folder).stdout,
        "note": said.get("systemMessage", ""),
    }


def told_in_time(
    folder: Path, name: str, wanted: tuple[str, ...], *, noted: bool = False
) -> dict[str, str]:
    """A hook on a busy machine goes on without an answer: then the next session is asked."""
    for number in range(20):
        answers = told(folder, f"{name}-{number}")
        if knows(answers) == wanted and bool(answers["note"]) == noted:
            break
    return answers


def knows(answers: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(each for each in EVERYTHING if SECRET in answers[each])


def shallow(shop: Path, folder: Path) -> Path:
    return clone(shop, folder, "--depth=1", remote=REMOTE)


def worktree(shop: Path, folder: Path) -> Path:
    git(shop, "worktree", "add", str(folder))
    return folder


def subfolder(shop: Path, _: Path) -> Path:
    return shop / "src"


def submodule(shop: Path, _: Path) -> Path:
    library = new_repository(shop.parent / "library", commit="library")
    git(shop, "submodule", "add", str(library), "vendor/library")
    return shop / "vendor/library"


def named_remote(shop: Path, folder: Path) -> Path:
    return new_repository(folder, remote=REMOTE, commit="fake")


def unborn(shop: Path, folder: Path) -> Path:
    return new_repository(folder, remote=REMOTE, commit=None)


def shallow_file(shop: Path, folder: Path) -> Path:
    """It says that it goes back to a commit of the other one, and does not have it."""
    fake = new_repository(folder, remote=REMOTE, commit="fake")
    head = subprocess.check_output(["git", "-C", shop, "rev-parse", "HEAD"])
    (fake / ".git/shallow").write_bytes(head)
    return fake


def symlink(shop: Path, folder: Path) -> Path:
    folder.mkdir()
    (folder / ".git").symlink_to(shop / ".git")
    return folder


def gitfile(shop: Path, folder: Path) -> Path:
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {shop / '.git'}\n")
    return folder


Make = Callable[[Path, Path], Path]
SAME: dict[str, Make] = {
    "clone": lambda shop, folder: clone(shop, folder, remote=REMOTE),
    "clone over https": lambda shop, folder: clone(
        shop, folder, remote="https://user:key@example.org/org/shop/"
    ),
    "clone of the folder": clone,
    "clone of a known clone": lambda _, folder: clone(folder.with_name("clone"), folder),
    "copy": copy,
    "subfolder": subfolder,
    "worktree": worktree,
    "clone with --single-branch": lambda shop, folder: clone(
        shop, folder, "--single-branch", remote=REMOTE
    ),
}
OWN: dict[str, Make] = {
    "fork": lambda shop, folder: clone(shop, folder, remote=OTHER),
    "mirror": lambda shop, folder: clone(shop, folder, remote="https://mirror.example.net/shop"),
    "shallow clone": shallow,
    "submodule": submodule,
    "files without .git": lambda shop, folder: copy(shop, folder, with_git=False),
    "template": lambda shop, folder: new_repository(folder, commit="from a template"),
    "names the remote": named_remote,
    "names the remote, no commit": unborn,
    "names the remote, shallow file": shallow_file,
}
# Whether a repository's own directory elsewhere is accepted is for the reader of `.git` to decide.
LINKS: dict[str, Make] = {"symlink": symlink, "gitfile": gitfile}


def test_each_kind_of_repository_is_told_what_is_its_own(
    home: Paths, shop: Path, tmp_path: Path
) -> None:
    expected: dict[str, tuple[str, ...]] = dict.fromkeys(OWN, ())
    expected |= dict.fromkeys(("the project itself", *SAME), EVERYTHING)
    noting = {each for each in OWN if "remote" in each or each == "shallow clone"}
    seen = {"the project itself": told_in_time(shop, "itself", EVERYTHING)}
    for name, make in (SAME | OWN).items():
        folder = make(shop, tmp_path / "kinds" / name.replace(" ", "-").replace(".", ""))
        seen[name] = told_in_time(folder, name, expected[name], noted=name in noting)
    assert {name: knows(answers) for name, answers in seen.items()} == expected
    noted = {name for name, answers in seen.items() if answers["note"]}
    assert noted == noting
    assert "project link" not in told(shop, "s9")["note"]  # nothing was said of the project itself
    note = seen["names the remote"]["note"]
    assert "example.org/org/shop" in note
    assert str(shop) not in note
    store = settled(home)
    assert [p.root for p in store.projects.all() if p.name == "shop"] == [str(shop)]


@pytest.mark.quick
@pytest.mark.parametrize("kind", LINKS)
def test_a_folder_that_points_at_the_repository_of_a_project_is_told_nothing(
    home: Paths, shop: Path, tmp_path: Path, kind: str
) -> None:
    assert not knows(told(LINKS[kind](shop, tmp_path / "hostile"), "s2"))


def test_a_link_is_made_by_the_user_alone_and_can_be_undone(
    home: Paths, shop: Path, tmp_path: Path
) -> None:
    folder = shallow(shop, tmp_path / "shallow")
    assert "aforesaid project link" in told_in_time(folder, "s2", (), noted=True)["note"]
    refused = aforesaid("project", "link", cwd=folder, env={"CLAUDECODE": "1"})
    assert refused.returncode == 1
    assert "Only you" in refused.stderr
    assert knows(told(folder, "s3")) == ()
    linked = aforesaid("project", "link", "--json", cwd=folder)
    assert json.loads(linked.stdout) == {"root": str(folder), "project": "shop"}
    answers = told_in_time(folder, "s4", EVERYTHING)
    assert knows(answers) == EVERYTHING
    assert not answers["note"]
    shown = json.loads(aforesaid("project", "show", "shop", "--json", cwd=folder).stdout)
    assert shown["linked"] == [str(folder)]
    assert "already" in aforesaid("project", "link", "shop", cwd=folder).stdout
    assert aforesaid("project", "unlink", cwd=folder).returncode == 0
    assert knows(told(folder, "s5")) == ()
    assert "not linked" in aforesaid("project", "unlink", cwd=folder).stderr
    listed = json.loads(aforesaid("project", "list", "--json", cwd=folder).stdout)
    assert [each["name"] for each in listed] == ["shop", "shallow"]


def test_what_is_put_in_the_place_of_a_project_is_told_nothing_of_it(
    home: Paths, shop: Path, tmp_path: Path
) -> None:
    assert knows(told_in_time(shop, "s2", EVERYTHING)) == EVERYTHING
    shop.rename(tmp_path / "moved")
    new_repository(shop, remote=OTHER, commit="hostile")
    assert knows(told(shop, "s3")) == ()
    assert knows(told_in_time(tmp_path / "moved", "s4", EVERYTHING)) == EVERYTHING
    assert aforesaid("worker", "stop").returncode == 0
    assert knows(told(shop, "s5")) == ()
