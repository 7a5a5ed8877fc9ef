"""What both writers of the spool do when the disk, the folders or the environment are against them."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aforesaid.agents.claude_code.install import HOOK_EVENTS
from tests.support.writers import (
    Writer,
    environment,
    failures,
    inside,
    published,
    reasons,
    run,
    shell_writer,
    start_no_worker,
    unfinished,
)

PAYLOAD = b'{"session_id":"s","hook_event_name":"Stop"}'
LARGE = b'{"a":"' + b"x" * (1 << 20) + b'"}'

Mount = Callable[..., None]


def silent(done: subprocess.CompletedProcess[bytes]) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def mount() -> Iterator[Mount]:
    """`mount(folder, options)`: a small file system in memory, gone after the test."""
    mounted: list[Path] = []

    def make(folder: Path, options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs root: a file system of its own is mounted")
        mounted.append(folder)

    yield make
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("missing", ["spool", "spool/new", "spool/tmp"])
def test_a_missing_folder_is_made_and_the_event_kept(
    writer: Writer, state: Path, missing: str
) -> None:
    """T5: a spool that is missing, or half of it."""
    for folder in ("spool", "spool/new", "spool/tmp"):
        if not folder.startswith(missing):
            (state / folder).mkdir(mode=0o700, parents=True)
    silent(run(writer, LARGE, environment(AFORESAID_HOME=str(state))))
    assert [c.body for c in published(state)] == [LARGE]
    assert (failures(state), unfinished(state)) == (0, [])


def test_the_first_capture_ever_makes_everything(writer: Writer, tmp_path: Path) -> None:
    if writer.name == "python" and sys.prefix == sys.base_prefix:
        pytest.skip("needs a virtual environment: the worker would be started")
    state = tmp_path / "not yet" / "there"
    silent(run(writer, PAYLOAD, environment(AFORESAID_HOME=str(state))))
    assert [c.body for c in published(state)] == [PAYLOAD]
    assert state.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("blocked", ["spool", "spool/tmp", "spool/new"])
def test_a_file_in_the_place_of_a_folder_is_counted_not_fatal(
    writer: Writer, state: Path, blocked: str
) -> None:
    """T5: the hook fails quietly."""
    (state / blocked).parent.mkdir(exist_ok=True)
    (state / blocked).write_text("in the way")
    silent(run(writer, PAYLOAD, environment(AFORESAID_HOME=str(state))))
    assert (state / blocked).read_text() == "in the way"
    assert failures(state) == 1
    assert unfinished(state) == []


def test_a_full_disk_publishes_nothing_and_is_counted(
    writer: Writer, state: Path, mount: Mount
) -> None:
    """T4: no room for the event; the gap is counted."""
    (state / "spool").mkdir()
    mount(state / "spool", "size=64k")
    env = environment(AFORESAID_HOME=str(state))
    silent(run(writer, LARGE, env))
    assert (published(state), unfinished(state), failures(state)) == ([], [], 1)
    assert reasons(state) == ["full"]
    silent(run(writer, PAYLOAD, env))  # what fits goes on being captured
    assert [c.body for c in published(state)] == [PAYLOAD]


def test_a_disk_too_full_to_count_on_is_still_silent(
    writer: Writer, tmp_path: Path, mount: Mount
) -> None:
    """T4: not even room for the count."""
    state = tmp_path / "aforesaid"
    state.mkdir()
    mount(state, "size=64k")
    start_no_worker(state)
    (state / "filling").write_bytes(b"x" * (64 * 1024 - 4096 * 4))
    silent(run(writer, LARGE, environment(AFORESAID_HOME=str(state))))
    assert (published(state), unfinished(state)) == ([], [])


def test_a_read_only_spool_is_counted(writer: Writer, state: Path, mount: Mount) -> None:
    """T5: nothing is written, and that is counted."""
    spool = state / "spool"
    spool.mkdir()
    mount(spool, "size=64k")
    for folder in ("tmp", "new"):
        (spool / folder).mkdir()
    subprocess.run(["mount", "-o", "remount,ro", str(spool)], check=True)
    silent(run(writer, PAYLOAD, environment(AFORESAID_HOME=str(state))))
    assert (published(state), failures(state)) == ([], 1)
    assert reasons(state) == ["other"]


def test_a_spool_on_two_file_systems_keeps_the_event_or_counts_it(
    writer: Writer, state: Path, mount: Mount
) -> None:
    """T5: where `new` is on another file system than `tmp`, `mv` copies; Python's rename cannot."""
    for folder in ("tmp", "new"):
        (state / "spool" / folder).mkdir(parents=True)
    mount(state / "spool/new", "size=4m")
    silent(run(writer, LARGE, environment(AFORESAID_HOME=str(state))))
    kept = [c.body for c in published(state)]
    assert (kept, failures(state)) in (([LARGE], 0), ([], 1))
    assert unfinished(state) == []


def test_a_limit_on_file_sizes_publishes_nothing(writer: Writer, state: Path) -> None:
    """T6: RLIMIT_FSIZE."""
    env = environment(AFORESAID_HOME=str(state))
    silent(run(writer, LARGE, env, around=inside("ulimit -f 64")))
    assert (published(state), unfinished(state), failures(state)) == ([], [], 1)


def test_too_few_descriptors_do_not_hang_or_speak(writer: Writer, state: Path) -> None:
    """T6: RLIMIT_NOFILE."""
    env = environment(AFORESAID_HOME=str(state))
    done = run(writer, PAYLOAD, env, around=inside("ulimit -n 3"))
    assert (done.returncode != 2, done.stdout) == (True, b"")
    assert unfinished(state) == []


def test_closed_input_leaves_nothing_half_written(writer: Writer, state: Path) -> None:
    """T6: closed stdin."""
    env = environment(AFORESAID_HOME=str(state))
    around = ("/bin/sh", "-c", 'exec "$@" <&-', "sh")
    done = run(writer, b"", env, around=around)
    # Alone, Python says that it has read nothing; the shell line around it then ends with 0.
    assert done.returncode == (1 if writer.name == "python" else 0)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert (published(state), unfinished(state)) == ([], [])


def test_input_that_never_ends_publishes_nothing_when_the_client_gives_up(
    writer: Writer, state: Path
) -> None:
    """T6: stdin that nobody closes. Every hook line has a time limit, after which the client ends the
    group."""
    assert all(0 < row.timeout <= 60 for row in HOOK_EVENTS)
    hook = subprocess.Popen(
        writer.command,
        env=environment(AFORESAID_HOME=str(state)),
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    assert hook.stdin is not None
    hook.stdin.write(PAYLOAD[:20])
    hook.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        hook.wait(0.5)
    os.killpg(hook.pid, signal.SIGKILL)
    hook.wait()
    hook.stdin.close()
    assert published(state) == []


@pytest.mark.parametrize("path", ["", "/nonexistent"])
def test_without_programs_to_be_found_the_hook_is_silent(
    writer: Writer, state: Path, path: str
) -> None:
    """T13: an empty PATH would mean the current directory: the system's programs are taken. Where there are
    none, the shell has no `cat` and keeps nothing; Python needs none."""
    done = run(writer, PAYLOAD, {"PATH": path, "AFORESAID_HOME": str(state)})
    silent(done)
    kept = writer.name == "python" or not path
    assert [c.body for c in published(state)] == ([PAYLOAD] if kept else [])


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"LANG": ""}])
def test_the_locale_changes_nothing(
    writer: Writer, state: Path, tmp_path: Path, locale: dict[str, str]
) -> None:
    """T13: locale C, and none."""
    body = '{"a":"größe 日本語"}'.encode()
    work = tmp_path / "größe"
    work.mkdir()
    silent(run(writer, body, environment(AFORESAID_HOME=str(state), **locale), cwd=work))
    (capture,) = published(state)
    assert (capture.body, capture.project_dir) == (body, str(work))


@pytest.mark.parametrize("empty", [True, False])
def test_without_home_the_password_database_knows_it(
    writer: Writer, tmp_path: Path, empty: bool
) -> None:
    """T13: no HOME."""
    user = tmp_path / "user"
    passwd = tmp_path / "passwd"
    passwd.write_text(f"root:x:0:0:root:{user}:/bin/sh\n")
    state = user / ".local/state/aforesaid"
    start_no_worker(state)
    namespace = ("unshare", "--mount", *inside(f"mount --bind '{passwd}' /etc/passwd || exit 77"))
    env = environment(HOME="") if empty else environment()
    done = run(writer, PAYLOAD, env, around=namespace)
    if done.returncode == 77 or done.stderr.startswith(b"unshare:"):
        pytest.skip("needs root: another password database is mounted")
    silent(done)
    assert [c.body for c in published(state)] == [PAYLOAD]


@pytest.mark.parametrize("spool_exists", [True, False])
def test_a_system_without_proc_is_served_by_mktemp(state: Path, spool_exists: bool) -> None:
    """As on macOS."""
    if spool_exists:
        for folder in ("spool/tmp", "spool/new"):
            (state / folder).mkdir(parents=True)
    namespace = ("unshare", "--mount", *inside("mount -t tmpfs none /proc || exit 77"))
    env = environment(AFORESAID_HOME=str(state))
    done = run(shell_writer("sh", "/bin/sh"), PAYLOAD, env, around=namespace)
    if done.returncode == 77 or done.stderr.startswith(b"unshare:"):
        pytest.skip("needs root: /proc is covered")
    silent(done)
    assert [c.body for c in published(state)] == [PAYLOAD]
    assert (unfinished(state), failures(state)) == ([], 0)


@pytest.mark.parametrize("hook", ["context", "new", "file", "compact"])
def test_a_hook_line_that_lost_its_script_is_silent(tmp_path: Path, hook: str) -> None:
    moved = tmp_path / "was here"
    line = f"set -- a {hook} '{moved}'; " + '[ ! -r "$3/capture.sh" ] || . "$3/capture.sh"'
    silent(run(Writer("sh", ("/bin/sh", "-c", line)), PAYLOAD, environment()))
