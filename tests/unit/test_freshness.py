"""Whether files are what they were: told by their content alone, inside the project alone."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import freshness
from aforesaid.freshness import CHANGED, GONE, LARGEST, UNCHANGED, UNKNOWN, Freshness
from aforesaid.model.observations import Observation, ObservationDraft
from aforesaid.paths import open_regular
from tests.support.tables import loop_over

HOUR_AGO = 3_600
ALWAYS = 2**50
SECRET = b"out of reach\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one file, and something outside of it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.py").write_bytes(b"a = 1\n")
    (tmp_path / "secret").write_bytes(SECRET)
    return folder


def aged(path: Path) -> Path:
    """As if nobody had touched its content for an hour."""
    then = path.stat().st_mtime - HOUR_AGO
    os.utime(path, (then, then))
    return path


def blob(path: Path) -> str | None:
    """What its content is called now."""
    return freshness.unchanged_blob(str(path.parent), path.name, until=ALWAYS)


def name_of(content: bytes, folder: Path) -> str:
    done = subprocess.run(
        ["git", "hash-object", "--stdin"],
        cwd=folder,
        input=content,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def about(*modified: str, read: tuple[str, ...] = (), **blobs: str) -> Observation:
    draft = ObservationDraft("change", "t", files_modified=modified, files_read=read)
    known = tuple((path.replace("_py", ".py"), blob) for path, blob in blobs.items())
    return Observation(1, 1, 1, 1, 1, "test", None, False, replace(draft, blobs=known))


@pytest.mark.parametrize(
    "content", [b"", b"a\n", b"\0\xff" * 70_000], ids=["none", "text", "bytes"]
)
def test_a_content_has_the_name_that_git_gives_it(root: Path, content: bytes) -> None:
    (root / "a.py").write_bytes(content)
    assert blob(root / "a.py") == name_of(content, root)


def test_what_is_no_file_of_sensible_size_has_no_name(root: Path) -> None:
    large = root / "large"
    with large.open("wb") as file:
        file.truncate(LARGEST + 1)
    os.mkfifo(root / "pipe")
    for name in ("missing", "large", "pipe", ".", "a.py/below", "nul\0"):
        assert freshness.unchanged_blob(str(root), name, until=ALWAYS) is None, name
    with large.open("wb") as file:
        file.truncate(LARGEST)
    assert blob(large) is not None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_unknown(root: Path) -> None:
    known = blob(root / "a.py")
    (root / "a.py").chmod(0)
    assert blob(root / "a.py") is None
    assert freshness.state(str(root), "a.py", known) == UNKNOWN


def test_a_file_is_unchanged_changed_and_gone(root: Path) -> None:
    file, here = root / "a.py", str(root)
    known = blob(file)
    assert freshness.state(here, "a.py", known) == UNCHANGED
    assert freshness.state(here, str(file), known) == UNCHANGED
    file.touch()  # another time, the same content
    assert freshness.state(here, "a.py", known) == UNCHANGED
    file.write_bytes(b"a = 2\n")
    assert freshness.state(here, "a.py", known) == CHANGED
    file.write_bytes(b"a = 1\n")
    assert freshness.state(here, "a.py", known) == UNCHANGED
    file.unlink()
    assert freshness.state(here, "a.py", known) == GONE
    file.mkdir()
    assert freshness.state(here, "a.py", known) == CHANGED
    assert freshness.state(here, "a.py", None) == UNKNOWN
    assert freshness.state(f"{here}-gone", "a.py", known) == UNKNOWN


def test_what_leads_out_of_the_project_is_not_looked_at(root: Path, tmp_path: Path) -> None:
    known = name_of(SECRET, root)
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    (root / "loop").symlink_to(root / "loop")
    for path in ("link", "folder/secret", "../secret", str(tmp_path / "secret"), "loop/x", "nul\0"):
        assert freshness.state(str(root), path, known) == UNKNOWN, path
        assert freshness.unchanged_blob(str(root), path, until=ALWAYS) is None, path


def test_a_link_inside_the_project_is_followed(root: Path) -> None:
    (root / "link.py").symlink_to("a.py")
    assert freshness.state(str(root), "link.py", blob(root / "a.py")) == UNCHANGED


def test_a_project_may_be_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to(root)
    here = str(tmp_path / "short")
    known = blob(root / "a.py")
    assert freshness.state(here, "a.py", known) == UNCHANGED
    assert freshness.state(here, f"{here}/a.py", known) == UNCHANGED


def test_a_quiet_file_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = aged(root / "a.py")
    monkeypatch.setattr(freshness, "QUIET_NS", 0)
    read: list[Path] = []

    def counted(path: Path) -> BinaryIO:
        read.append(path)
        return open_regular(path)

    monkeypatch.setattr(freshness, "open_regular", counted)
    known = [blob(file) for _ in range(50)]
    assert len(read) == len(set(known)) == 1
    file.write_bytes(b"a = 2\n")
    assert blob(file) not in known


def test_a_file_that_just_changed_is_read_again(root: Path) -> None:
    """Its size and its time may be the same."""
    file = root / "a.py"
    for content in (b"a = 3\n", b"a = 4\n", b"a = 5\n"):
        file.write_bytes(content)
        os.utime(file, (1, 1))
        assert blob(file) == name_of(content, root)


def test_what_was_seen_is_what_has_not_changed_since(root: Path) -> None:
    file = root / "a.py"
    changed = max(file.stat().st_mtime_ns, file.stat().st_ctime_ns) // 1_000_000
    assert freshness.unchanged_blob(str(root), "a.py", until=changed + 1) == name_of(
        b"a = 1\n", root
    )
    assert freshness.unchanged_blob(str(root), "a.py", until=changed - 1) is None
    assert freshness.unchanged_blob(str(root), "b.py", until=changed + 1) is None


def test_a_file_that_was_moved_into_place_was_not_seen(root: Path) -> None:
    other = root / "b.py"
    other.write_bytes(b"another\n")
    until = aged(other).stat().st_mtime_ns // 1_000_000 + 1_000
    other.rename(root / "a.py")
    assert freshness.unchanged_blob(str(root), "a.py", until=until) is None


def test_an_observation_is_as_fresh_as_its_worst_file(root: Path) -> None:
    here = str(root)
    known = blob(root / "a.py") or ""
    other = "0" * 40
    assert freshness.check_files(about("a.py", a_py=known), here) == Freshness(UNCHANGED)
    assert freshness.check_files(about("a.py", a_py=other), here) == Freshness(
        CHANGED, changed=("a.py",)
    )
    assert freshness.check_files(about("a.py"), here) == Freshness(UNKNOWN)
    assert freshness.check_files(about(), here) == Freshness(UNKNOWN)
    # One that was not seen then is no reason to call all of them unchanged.
    assert freshness.check_files(about("a.py", read=("b.py",), a_py=known), here).state == UNKNOWN
    both = freshness.check_files(about("a.py", read=("b.py",), a_py=other, b_py=other), here)
    assert both == Freshness(GONE, changed=("a.py",), gone=("b.py",))
    # Files of others are nobody's business.
    elsewhere = about("a.py", read=("/etc/hostname", "../x"), a_py=known)
    assert freshness.check_files(elsewhere, here) == Freshness(UNCHANGED)


@loop_over(
    ("found", "words"),
    [
        (Freshness(UNCHANGED), "unchanged"),
        (Freshness(UNKNOWN), ""),
        (Freshness(CHANGED, changed=("a.py", "b.py")), "changed since: a.py, b.py"),
        (Freshness(GONE, gone=("c.py",)), "gone: c.py"),
        (Freshness(GONE, changed=("a.py",), gone=("c.py",)), "changed since: a.py; gone: c.py"),
        (Freshness(GONE, gone=tuple("abcdefg")), "gone: a, b, c, d, e and 2 more"),
    ],
)
def test_people_get_a_few_words(found: Freshness, words: str) -> None:
    assert str(found) == words


@given(st.text(), st.text() | st.none())
def test_any_name_can_be_asked_about(path: str, blob: str | None) -> None:
    assert freshness.state("/proc/self/fdinfo", path, blob) in (CHANGED, GONE, UNKNOWN)
    freshness.check_files(about(path), "/nowhere")


def test_the_files_of_a_worktree_that_is_gone_are_looked_for_in_the_project(root: Path) -> None:
    assert freshness.directory(str(root), "/elsewhere") == str(root)
    assert freshness.directory(f"{root}-gone", str(root)) == str(root)
