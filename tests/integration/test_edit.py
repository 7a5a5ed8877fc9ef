"""`aforesaid edit`: a person's words, by option or in an editor, and nothing of them lost."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from aforesaid.paths import Paths
from tests.support.product import aforesaid, settled, work


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one remembered session: observation #1."""
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "shop"
    folder.mkdir()
    work(folder, "0b5f3c1e-session-one")
    settled(home)
    return folder


def shown() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(aforesaid("show", "1", "--json").stdout)["draft"]
    return found


def editor(folder: Path, change: str) -> dict[str, str]:
    """An editor that changes the form, a string called `text`, with a line of Python."""
    script = folder / "editor.py"
    script.write_text(
        "import sys, pathlib\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "text = file.read_text()\n"
        f"{change}\n"
        "file.write_text(text)\n"
    )
    return {"EDITOR": shlex.join([sys.executable, str(script)])}


def test_options_replace_what_they_name_and_leave_the_rest(project: Path) -> None:
    before = shown()
    arguments = ["--title", "Greets by name", "--type", "decision", "--fact", "A", "--fact", "B"]
    done = aforesaid("edit", "#1", *arguments, "--subtitle", "")
    assert done.stdout == "#1 was changed; `synthesize --again` keeps it.\n"
    after = shown()
    assert (after["title"], after["type"], after["facts"]) == (
        "Greets by name",
        "decision",
        ["A", "B"],
    )
    assert after["subtitle"] is None
    for same in ("narrative", "concepts", "files_modified", "evidence"):
        assert after[same] == before[same]
    assert "Greets by name" in aforesaid("search", "Greets", cwd=project).stdout
    assert "Greets by name" in aforesaid("context", "--json", cwd=project).stdout


def test_each_edit_can_be_taken_back(project: Path) -> None:
    before = json.loads(aforesaid("show", "1", "--json").stdout)
    aforesaid("edit", "1", "--title", "Mine")
    aforesaid("edit", "1", "--title", "Mine, again", "--fact", "Only this")
    done = aforesaid("edit", "1", "--undo")
    assert done.stdout == ("The last edit of #1 was undone. 1 earlier can be undone too.\n")
    assert shown()["title"] == "Mine"
    assert json.loads(aforesaid("edit", "1", "--undo", "--json").stdout) == {"id": 1, "left": 0}
    assert json.loads(aforesaid("show", "1", "--json").stdout) == before
    done = aforesaid("edit", "1", "--undo")
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is no edit of #1 to undo" in done.stderr
    done = aforesaid("edit", "1", "--undo", "--title", "Mine")
    assert done.returncode == 2
    assert "--undo" in done.stderr


def test_an_editor_opens_on_a_form(project: Path) -> None:
    env = editor(project, "text = text.replace('\\n---\\n', '\\n---\\nIt was me. ', 1)")
    done = json.loads(aforesaid("edit", "1", "--json", env=env).stdout)
    assert done == {"id": 1, "changed": ["narrative"]}
    assert shown()["narrative"].startswith("It was me.")


def test_a_form_that_was_not_changed_changes_nothing(project: Path) -> None:
    before = shown()
    for change in ("raise SystemExit", "pass"):
        done = aforesaid("edit", "1", env=editor(project, change))
        assert done.stdout == "No changes.\n"
    assert shown() == before


def test_a_form_that_cannot_be_taken_is_kept_and_can_be_mended(project: Path) -> None:
    before = shown()
    env = editor(project, "text = text.replace('type: ', 'type: novel ') + '\\nmy long thoughts'")
    done = aforesaid("edit", "1", env=env)
    assert done.returncode == 2
    assert "'novel" in done.stderr
    assert shown() == before
    command = re.search(r"aforesaid (edit 1 --form (\S+))", done.stderr)
    assert command is not None
    kept = Path(command[2])
    try:
        assert "my long thoughts" in kept.read_text()
        assert kept.stat().st_mode & 0o777 == 0o600
        kept.write_text(kept.read_text().replace("novel ", ""))
        assert aforesaid(*command[1].split()).returncode == 0
        assert "my long thoughts" in shown()["narrative"]
    finally:
        kept.unlink()


def test_a_form_of_older_words_does_not_overwrite_newer_ones(project: Path) -> None:
    command_line = [
        str(Path(sys.executable).with_name("aforesaid")),
        "edit",
        "1",
        "--title",
        "Newer",
    ]
    meanwhile = f"import subprocess; subprocess.run({command_line}, check=True)"
    env = editor(project, f"{meanwhile}; text = text.replace('\\ntitle: ', '\\ntitle: Older ')")
    done = aforesaid("edit", "1", env=env)
    assert done.returncode != 0
    assert shown()["title"] == "Newer"
    command = re.search(r"aforesaid (edit 1 --form (\S+))", done.stderr)
    assert command is not None
    try:
        assert aforesaid(*command[1].split()).returncode == 0
        assert shown()["title"].startswith("Older ")
    finally:
        Path(command[2]).unlink()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("999", "--title", "x"), "aforesaid search"),
        (("twelve", "--title", "x"), "12 or #12"),
        (("1", "--type", "novel"), "bugfix"),
        (("1",), "Set EDITOR"),
        (("1", "--title", "", "--fact", "", "--narrative", ""), "neither a title"),
        (("1", "--title", ""), "Give it one"),
    ],
)
def test_a_mistake_changes_nothing_and_names_the_fix(
    project: Path, arguments: tuple[str, ...], hint: str
) -> None:
    before = shown()
    done = aforesaid("edit", *arguments)
    assert done.returncode in (1, 2)
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
    assert shown() == before


def test_an_editor_that_fails_is_no_dead_end(project: Path) -> None:
    done = aforesaid("edit", "1", env={"EDITOR": "false"})
    assert done.returncode == 2
    assert "Nothing was changed. Set EDITOR to another editor, or" in done.stderr
    assert "--title" in done.stderr


def test_numbers_are_completed(project: Path) -> None:
    words = {
        "COMP_WORDS": "aforesaid edit ",
        "COMP_CWORD": "2",
        "_AFORESAID_COMPLETE": "bash_complete",
    }
    assert aforesaid(env=words, cwd=project).stdout.split() == ["plain,1"]
