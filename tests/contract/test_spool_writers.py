"""What both writers of the spool do with anything an agent may send them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aforesaid.errors import ConfigError
from aforesaid.paths import Paths
from tests.support.rounds import rounds
from tests.support.writers import (
    Writer,
    environment,
    inside,
    published,
    run,
    shell_writer,
    start_no_worker,
    unfinished,
)

PAYLOAD = b'{"session_id":"s","hook_event_name":"Stop"}'
BODIES = {
    "nothing": b"",
    "10 KB": b'{"a":"' + b"x" * 10_000 + b'"}',
    "1 MB": bytes(range(256)) * 4096,
    "16 MB": os.urandom(1 << 20) * 16,
    "invalid UTF-8": b'{"a":"\xff\xfe\x80\xc3("}',
    "NUL bytes": b"\0\n\0\0\n{}\0",
    "CRLF": b'{\r\n"a":1\r\n}\r\n',
    "BOM": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a":"ü"}'.encode("utf-16"),
    "no final newline": b"{}",
    "newlines only": b"\n\n\n",
    "escapes": b"\x1b[31m\\n\\0%s%d$(touch x)`id`",
}
DIRECTORIES = {
    "newline": "/tmp/a\nb",
    "quotes": """/tmp/it's "quoted" """,
    "command": "/tmp/$(touch x)`touch y`",
    "leading dash": "-rf",
    "not UTF-8": os.fsdecode(b"/tmp/\xff\xfe"),
    "spaces": "/tmp/ two  spaces ",
    "backslash n": "/tmp/a\\nb\\0c\\",
    "percent": "/tmp/%s%d%%",
    "glob": "/tmp/*?[a]",
    "very long": "/" + "long/" * 20_000,
    "unicode": "/tmp/größe/日本語/😀",
}


def silent(done: subprocess.CompletedProcess[bytes]) -> None:
    """Whatever happened, the agent must not notice: exit 2 would block the user's prompt."""
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", BODIES)
def test_a_payload_arrives_byte_for_byte(writer: Writer, state: Path, name: str) -> None:
    """T7, T8: any size and any bytes, an empty one too (T6)."""
    silent(run(writer, BODIES[name], environment(AFORESAID_HOME=str(state))))
    (capture,) = published(state)
    assert capture.body == BODIES[name]
    assert (capture.agent, capture.hook) == ("claude-code", "save")
    assert unfinished(state) == []


@pytest.mark.parametrize("name", DIRECTORIES)
def test_a_hostile_project_directory_is_only_text(writer: Writer, state: Path, name: str) -> None:
    directory = DIRECTORIES[name]
    env = environment(AFORESAID_HOME=str(state), CLAUDE_PROJECT_DIR=directory)
    before = set(Path.cwd().iterdir())
    silent(run(writer, PAYLOAD, env))
    (capture,) = published(state)
    assert (capture.project_dir, capture.body) == (directory, PAYLOAD)
    assert set(Path.cwd().iterdir()) == before


@pytest.mark.parametrize("given", [{}, {"CLAUDE_PROJECT_DIR": ""}])
def test_without_a_project_directory_the_working_directory_stands_in(
    writer: Writer, state: Path, tmp_path: Path, given: dict[str, str]
) -> None:
    work = tmp_path / "work 'place'"
    work.mkdir()
    silent(run(writer, PAYLOAD, environment(AFORESAID_HOME=str(state), **given), cwd=work))
    assert published(state)[0].project_dir == str(work)


@pytest.mark.parametrize("way", ["variable", "file"])
def test_a_writer_that_is_off_notes_its_session_and_no_content(
    writer: Writer, state: Path, tmp_path: Path, way: str
) -> None:
    """The same from each, whatever the payload has in it; and 0 is not off."""
    project = tmp_path / "off 'here'"
    (project / ".aforesaid").mkdir(parents=True)
    place = {"AFORESAID_HOME": str(state), "CLAUDE_PROJECT_DIR": str(project)}
    body = b'{"session_id": "s-1", "tool_response": {"stdout": "\xff hidden \\"session_id\\": \\"x\\""}}'
    silent(run(writer, body, environment(**place, AFORESAID_PAUSED="0")))
    assert [each.hook for each in published(state)] == ["save"]
    if way == "variable":
        place["AFORESAID_PAUSED"] = "1"
    else:
        (project / ".aforesaid/off").touch()
    for payload in (body, b"{}", b"", body * 10_000):
        silent(run(writer, payload, environment(**place)))
    marks = [each for each in published(state) if each.hook == "paused"]
    assert [each.project_dir for each in marks] == [str(project)] * 4
    told = [each.body.replace(b" ", b"") for each in marks]
    assert told.count(b'{"session_id":"s-1"}') == 2
    assert not any(b"hidden" in each.body for each in marks)
    assert not (state / "capture-failures").exists()


def test_thirty_two_writers_at_once_never_collide(writer: Writer, state: Path) -> None:
    """T3: none waits for another, and each has a file of its own."""
    env = environment(AFORESAID_HOME=str(state))
    bodies = [b'{"n":%d}' % number for number in range(rounds(96, 3200))]
    for start in range(0, len(bodies), 32):
        hooks = [
            subprocess.Popen(
                writer.command,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in bodies[start : start + 32]
        ]
        for hook, body in zip(hooks, bodies[start:], strict=False):
            out, err = hook.communicate(body)
            assert (hook.returncode, out, err) == (0, b"", b"")
    assert sorted(c.body for c in published(state)) == sorted(bodies)
    assert unfinished(state) == []


def test_files_are_for_the_owner_alone_whatever_the_umask(writer: Writer, state: Path) -> None:
    """T13: umask 000."""
    env = environment(AFORESAID_HOME=str(state))
    silent(run(writer, PAYLOAD, env, around=inside("umask 000")))
    spool = state / "spool"
    modes = {path: path.stat().st_mode & 0o777 for path in (spool, *spool.rglob("*"))}
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items()), modes


def test_a_sender_that_dies_in_the_middle_leaves_a_file_to_be_judged_later(
    writer: Writer, state: Path
) -> None:
    """T2: the hook cannot know, so the reader judges."""
    half = '{"session_id":"s","tool_response":"cut of'
    code = (
        f"import os, signal; os.write(1, {half.encode()!r}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as sender:
        done = subprocess.run(
            writer.command,
            stdin=sender.stdout,
            env=environment(AFORESAID_HOME=str(state)),
            capture_output=True,
            check=False,
        )
    silent(done)
    assert published(state)[0].body == half.encode()


def test_the_memory_agent_does_not_remember_itself(writer: Writer, state: Path) -> None:
    silent(run(writer, PAYLOAD, environment(AFORESAID_HOME=str(state), AFORESAID_INSIDE="1")))
    assert not (state / "spool").exists()


@pytest.mark.parametrize("hook", ["context", "new", "compact"])
def test_an_event_that_wants_an_answer_is_kept_even_without_python(state: Path, hook: str) -> None:
    done = run(
        shell_writer("sh", "/bin/sh", hook=hook),
        PAYLOAD,
        environment(AFORESAID_HOME=str(state)),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"" or done.stdout.startswith(b'{"systemMessage":')
    assert [(c.hook, c.body) for c in published(state)] == [(hook, PAYLOAD)]


HOMES: dict[str, dict[str, str]] = {
    "HOME alone": {"HOME": "{tmp}/user"},
    "HOME with spaces and quotes": {"HOME": """{tmp}/it's "my" home"""},
    "HOME with a newline": {"HOME": "{tmp}/a\nb"},
    "HOME with a trailing slash": {"HOME": "{tmp}/user/"},
    "XDG absolute": {"HOME": "{tmp}/user", "XDG_STATE_HOME": "{tmp}/xdg state"},
    "XDG relative": {"HOME": "{tmp}/user", "XDG_STATE_HOME": "relative/state"},
    "XDG relative, odd": {"HOME": "{tmp}/user", "XDG_STATE_HOME": "x,/y"},
    "XDG empty": {"HOME": "{tmp}/user", "XDG_STATE_HOME": ""},
    "XDG without HOME": {"XDG_STATE_HOME": "{tmp}/xdg"},
    "all in one": {
        "HOME": "{tmp}/user",
        "XDG_STATE_HOME": "{tmp}/x",
        "AFORESAID_HOME": "{tmp}/r,/x",
    },
    "all in one, empty": {"HOME": "{tmp}/user", "AFORESAID_HOME": ""},
    "all in one, relative": {"HOME": "{tmp}/user", "AFORESAID_HOME": "relative"},
    "all in one, relative, odd": {"HOME": "{tmp}/user", "AFORESAID_HOME": "r,/x"},
}


@pytest.mark.parametrize("case", HOMES)
def test_hooks_and_commands_agree_on_the_state_directory(
    writer: Writer, tmp_path: Path, case: str
) -> None:
    """T13: HOME with spaces, quotes, a newline; none at all."""
    env = environment(**{k: v.replace("{tmp}", str(tmp_path)) for k, v in HOMES[case].items()})
    try:
        expected = Paths.of(env).state
    except ConfigError:  # commands refuse a relative AFORESAID_HOME; a hook must go on
        expected = Paths.of({k: v for k, v in env.items() if k != "AFORESAID_HOME"}).state
    start_no_worker(expected)
    work = tmp_path / "work"
    work.mkdir()
    silent(run(writer, PAYLOAD, env, cwd=work))
    assert [c.body for c in published(expected)] == [PAYLOAD]
    assert list(work.iterdir()) == []
