"""What is read from git repositories, and what they cannot claim. See test_hostile_repositories.py for those
that try to run something."""

import os
import shutil
import subprocess
import zlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import git as git_module
from aforesaid.git import Checkout, contains_commit, find_checkout, parse_config
from aforesaid.paths import find_program, read_regular, search_path
from aforesaid.repository import Work, current_work, identify, revision
from tests.support.hostile_repositories import git, ordinary

REMOTE = "remote.origin.url"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A repository that another folder would like to be taken for."""
    repo = ordinary(tmp_path / "victim")
    git(repo, "remote", "add", "origin", "git@example.org:victim.git")
    return repo


@pytest.fixture
def claimant(tmp_path: Path) -> Path:
    repo = tmp_path / "claimant"
    repo.mkdir()
    git(repo, "init", "--quiet")
    git(repo, "commit", "--quiet", "--allow-empty", "--message=of its own")
    return repo


def values(folder: Path) -> list[str]:
    return [identity.identity for identity in identify(str(folder)).identities]


def first_commit(folder: Path) -> str:
    return git(folder, "rev-list", "--max-parents=0", "HEAD").decode().strip()


def test_a_folder_cannot_call_itself_a_checkout_of_another_repository(
    victim: Path, tmp_path: Path
) -> None:
    """T69: by a `.git` that leads there."""
    git(victim, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    claims = {
        "file": f"gitdir: {victim}/.git\n",
        "relative": "gitdir: ../victim/.git\n",
        "worktree": (tmp_path / "linked/.git").read_text(),
    }
    for name, content in claims.items():
        (tmp_path / name / "below").mkdir(parents=True)
        (tmp_path / name / ".git").write_text(content)
    (tmp_path / "link").mkdir()
    (tmp_path / "link/.git").symlink_to(victim / ".git")
    for name in (*claims, "link"):
        assert values(tmp_path / name) == [f"path:{tmp_path / name}"], name
        assert revision(str(tmp_path / name)) is None
        assert current_work(str(tmp_path / name), 10.0) == Work()
        assert not contains_commit(str(tmp_path / name), first_commit(victim))
    assert values(tmp_path / "file/below") == [f"path:{tmp_path}/file"]
    assert values(tmp_path / "linked") == values(victim)


def test_a_worktree_counts_however_its_paths_are_written(victim: Path, tmp_path: Path) -> None:
    """Newer versions of git write relative ones."""
    linked = tmp_path / "deep/linked"
    git(victim, "worktree", "add", "--quiet", str(linked))
    assert values(linked) == values(victim)
    (linked / ".git").write_text("gitdir: ../../victim/.git/worktrees/linked\n")
    gitdir = victim / ".git/worktrees/linked/gitdir"
    gitdir.write_text("../../../../deep/linked/.git\n")
    assert values(linked) == values(victim)
    (tmp_path / "alias").symlink_to(tmp_path / "deep")
    assert values(tmp_path / "alias/linked") == values(victim)
    gitdir.write_text(f"{tmp_path}/elsewhere/.git\n")
    assert values(linked) == [f"path:{linked}"]


def test_a_worktree_of_a_bare_repository_belongs_to_it(victim: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(victim), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "linked"))
    found = identify(str(tmp_path / "linked"))
    assert found.root == str(tmp_path / "bare.git")
    assert f"commit:{first_commit(victim)}" in values(tmp_path / "linked")


def test_a_submodule_is_a_repository_of_its_own(victim: Path, claimant: Path) -> None:
    allow = ("-c", "protocol.file.allow=always")
    git(claimant, *allow, "submodule", "--quiet", "add", str(victim), "lib")
    found = identify(str(claimant / "lib"))
    assert found.root == str(claimant / "lib")
    assert f"commit:{first_commit(victim)}" in values(claimant / "lib")
    config = claimant / ".git/modules/lib/config"
    config.write_text(config.read_text().replace("../../../lib", "../../../other"))
    assert values(claimant / "lib") == [f"path:{claimant}/lib"]


def test_a_separate_git_directory_is_known_by_its_path_unless_it_names_its_working_tree(
    tmp_path: Path,
) -> None:
    apart = tmp_path / "apart"
    git(tmp_path, "init", "--quiet", f"--separate-git-dir={tmp_path}/data", str(apart))
    git(apart, "commit", "--quiet", "--allow-empty", "--message=first")
    assert values(apart) == [f"path:{apart}"]
    git(apart, "config", "core.worktree", str(apart))
    assert values(apart) == [f"commit:{first_commit(apart)}", f"path:{apart}"]


def test_files_of_a_bare_repository_in_another_one_are_just_files(
    victim: Path, claimant: Path
) -> None:
    shutil.copytree(victim / ".git", claimant / "data")
    assert values(claimant / "data") == values(claimant)


def test_an_ordinary_repository_does_not_move_its_working_tree(
    victim: Path, tmp_path: Path
) -> None:
    git(victim, "config", "core.worktree", str(tmp_path))
    checkout = find_checkout(str(victim))
    assert isinstance(checkout, Checkout)
    assert (checkout.top, checkout.root) == (victim, victim)


BORROWS = ("alternates", "objects", "pack", "folder", "object")


@pytest.mark.parametrize("how", BORROWS)
@pytest.mark.parametrize("packed", [False, True])
def test_borrowed_objects_prove_nothing(
    how: str, packed: bool, victim: Path, claimant: Path
) -> None:
    """T69: else a folder that knows where another repository lies could show its history as its own."""
    first = first_commit(victim)
    if packed:
        git(victim, "repack", "-a", "-d", "--quiet")
    theirs, own = victim / ".git/objects", claimant / ".git/objects"
    git(claimant, "update-ref", "--no-deref", "HEAD", "0" * 40)
    (claimant / ".git/HEAD").write_text(f"{revision(str(victim))}\n")
    match how:
        case "alternates":
            (own / "info").mkdir(exist_ok=True)
            (own / "info/alternates").write_text("../../../victim/.git/objects\n")
        case "objects":
            shutil.rmtree(own)
            own.symlink_to(theirs)
        case "pack":
            shutil.rmtree(own / "pack")
            (own / "pack").symlink_to(theirs / "pack")
        case "folder":
            for folder in theirs.glob("??"):
                if not (own / folder.name).exists():
                    (own / folder.name).symlink_to(folder)
        case "object":
            for file in (*theirs.glob("??/*"), *theirs.glob("pack/*")):
                target = own / file.parent.name / file.name
                target.parent.mkdir(exist_ok=True)
                target.symlink_to(file)
    assert f"commit:{first}" not in values(claimant)
    assert not contains_commit(str(claimant), first)
    assert contains_commit(str(victim), first)


def test_a_commit_is_known_by_its_content_not_by_its_name(victim: Path, claimant: Path) -> None:
    """A loose object, or the index of a pack, may claim any name."""
    first = first_commit(victim)
    other = git(claimant, "cat-file", "commit", "HEAD")
    place = claimant / ".git/objects" / first[:2] / first[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(b"commit %d\0%s" % (len(other), other)))
    assert not contains_commit(str(claimant), first)
    (claimant / ".git/HEAD").write_text(first)
    assert values(claimant) == [f"path:{claimant}"]
    real = git(victim, "cat-file", "commit", first)
    place.write_bytes(zlib.compress(b"commit %d\0%s" % (len(real), real)))
    assert contains_commit(str(claimant), first)


@pytest.mark.parametrize(
    "sha", ["", "HEAD", "--help", "-z", "a" * 39, "A" * 40, "a" * 40, "0" * 64]
)
def test_only_ids_of_commits_are_looked_up(sha: str, victim: Path) -> None:
    assert not contains_commit(str(victim), sha)
    tree = git(victim, "rev-parse", "HEAD^{tree}").decode().strip()
    assert not contains_commit(str(victim), tree)
    assert not contains_commit(str(victim / "missing"), first_commit(victim))


def test_a_forged_commit_graph_is_not_read(victim: Path, claimant: Path) -> None:
    """It says which commit has which parents, and git believes it."""
    git(claimant, "commit", "--quiet", "--allow-empty", "--message=second")
    before = values(claimant)
    git(claimant, "commit-graph", "write", "--reachable")
    graph = claimant / ".git/objects/info/commit-graph"
    graph.chmod(0o644)
    own, theirs = (bytes.fromhex(first_commit(each)) for each in (claimant, victim))
    body = graph.read_bytes()[:-20].replace(own, theirs)
    graph.write_bytes(body + sha1(body).digest())
    assert values(claimant) == before


def test_what_git_does_not_answer_in_time_is_not_asked_again_at_once(
    victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    running = git_module._running

    def count(
        checkout: Checkout, arguments: Sequence[str], limits: str
    ) -> AbstractContextManager[subprocess.Popen[bytes]]:
        started.append(arguments[0])
        return running(checkout, arguments, limits)

    before, now = values(victim), [0.0]
    monkeypatch.setattr(git_module, "_running", count)
    monkeypatch.setattr("aforesaid.git.time.monotonic", lambda: now[0])
    monkeypatch.setattr(git_module, "SECONDS", 0.0)
    for minutes in (0, 0.9, 4.9, 5, 9.9, 10):
        now[0] = minutes * 60
        assert values(victim) == [before[0], before[2]]
    assert started == ["rev-list"] * 3
    for _ in range(2):
        assert contains_commit(str(victim), first_commit(victim)) is None
    assert started == ["rev-list"] * 3 + ["cat-file"]
    monkeypatch.setattr(git_module, "SECONDS", 60.0)
    now[0] = 10_000.0
    assert values(victim) == before
    assert contains_commit(str(victim), first_commit(victim))


def test_sha256_shallow_and_packed_repositories_are_read(victim: Path, tmp_path: Path) -> None:
    new = tmp_path / "sha256"
    new.mkdir()
    git(new, "init", "--quiet", "--object-format=sha256", "--initial-branch=fix/x")
    (new / "a b.py").write_text("x")
    git(new, "add", ".")
    git(new, "commit", "--quiet", "--message=first")
    assert values(new)[0] == f"commit:{first_commit(new)}"
    assert contains_commit(str(new), first_commit(new))
    assert current_work(str(new), 10.0) == Work("fix/x", ("a b.py",))

    git(tmp_path, "clone", "--quiet", "--depth=2", victim.as_uri(), "shallow")
    assert current_work(str(tmp_path / "shallow"), 10.0) == Work(
        "fix/login", ("c.bin", "a.py", "src/b.py")
    )

    expected = values(victim), revision(str(victim)), current_work(str(victim), 10.0)
    git(victim, "gc", "--quiet", "--prune=now")
    git(victim, "multi-pack-index", "write")
    assert (values(victim), revision(str(victim)), current_work(str(victim), 10.0)) == expected


def test_staged_changed_removed_and_conflicting_files_are_told(victim: Path) -> None:
    (victim / "new.py").write_text("x")
    git(victim, "add", "new.py")
    (victim / "src/b.py").unlink()
    (victim / "untracked").write_text("x")
    os.utime(victim / "c.bin", (1, 1))  # touched, and the same
    assert current_work(str(victim), 10.0).files[:2] == ("new.py", "src/b.py")
    assert "untracked" not in current_work(str(victim), 10.0).files
    before = (victim / ".git/index").read_bytes()
    current_work(str(victim), 10.0)
    assert (victim / ".git/index").read_bytes() == before


def test_a_repository_of_another_user_above_the_directory_is_not_taken(
    tmp_path: Path, victim: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to give files to another user")
    below, expected = victim / "src", values(victim)
    os.chown(victim / ".git", 4321, 4321)
    assert values(below) == [f"path:{below}"]
    os.chown(below, 4321, 4321)
    assert values(below) == expected


def test_git_is_given_nothing_of_the_environment(
    victim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = values(victim)
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    for name in (
        "GIT_EXTERNAL_DIFF",
        "GIT_SSH_COMMAND",
        "GIT_ASKPASS",
        "GIT_PAGER",
        "GIT_EXEC_PATH",
    ):
        monkeypatch.setenv(name, str(program))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(program))
    (tmp_path / "user/.gitconfig").write_text(f"[core]\nfsmonitor = {program}\n")
    (victim / "a.py").write_text("changed")
    assert values(victim) == expected
    assert current_work(str(victim), 10.0).files[0] == "a.py"
    assert not (tmp_path / "ran").exists()


def test_programs_are_not_looked_for_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", ":", "./", "user:.", f"{tmp_path.name}"):
        monkeypatch.setenv("PATH", path)
        assert search_path(os.environ) == os.defpath
        assert find_program("git") != str(tmp_path / "git")
    monkeypatch.setenv("PATH", f".:{tmp_path}:")
    assert find_program("git") == str(tmp_path / "git")


CONFIGS = (
    b"",
    b"[a]\nb",
    b"[a]b=c",
    b"[A]\n\tB = c d  # no\n\tB = e;no\n",
    b'[a "B.c"]\nd = "x # y"  \n  e = "a\\tb\\\\" c\n',
    b"[a]\nb = one \\\n  two\n",
    b'[a "x\\"y\\\\"]\nb = \\"\n',
    b"\xef\xbb\xbf[a]\r\nb = c\r\nd = e\r\n",
    b"[remote.Origin]\nurl = x\n",
    b'[a]\nb = ""\nc =\n# comment\n; other\n[d]\n e = 1\n',
    b"[a] b = 1\n[a]\nb = 2",
    b'[include]\npath = other\n[includeIf "gitdir:**"]\npath = other\n',
)


def by_git(data: bytes, folder: Path) -> dict[str, str] | None:
    """None where git finds an error."""
    file = folder / "config"
    file.write_bytes(data)
    done = subprocess.run(
        ["git", "config", "--file", file, "--no-includes", "--list", "-z"],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return None
    entries = (
        entry.partition("\n") for entry in done.stdout.decode("utf-8", "replace").split("\0")
    )
    return {name: value if gap else "true" for name, gap, value in entries if name}


@pytest.mark.parametrize("data", CONFIGS)
def test_configuration_is_read_as_git_reads_it(data: bytes, tmp_path: Path) -> None:
    assert parse_config(data) == by_git(data, tmp_path)


TOKENS = (
    b"[a]",
    b'[b "C"]',
    b"\n",
    b"k",
    b" = ",
    b"=",
    b'"',
    b"\\",
    b"\\n",
    b" ",
    b"\t",
    b"#",
    b";",
    b"v w",
    b"\xff",
    b"]",
    b"[",
)


@given(st.lists(st.sampled_from(TOKENS), max_size=14).map(b"".join))
def test_any_bytes_can_be_a_configuration(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """What git refuses may give anything, but no error."""
    found, expected = parse_config(data), by_git(data, tmp_path_factory.getbasetemp())
    assert expected is None or found == expected


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(file, 5) == b"12345"
    assert read_regular(file, 4) is None
    assert read_regular(tmp_path / "link", 5) is None
    assert read_regular(tmp_path / "link", 5, follow=True) == b"12345"
    for strange in (
        tmp_path,
        tmp_path / "pipe",
        tmp_path / "none",
        Path("/dev/zero"),
        Path("a\0b"),
    ):
        assert read_regular(strange, 5, follow=True) is None, strange
