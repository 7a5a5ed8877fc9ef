import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.agents import settings_file
from aforesaid.agents.claude_code.install import CONNECTION, HOOK_EVENTS
from aforesaid.agents.connection import is_our_command
from aforesaid.agents.settings_file import Change
from aforesaid.errors import InstallError
from aforesaid.model.events import HOOKS
from tests.support.tables import loop_over

HOOK_DIR = Path("/opt/aforesaid/hook")
PYTHON = Path("/opt/venv/bin/python")
EVENTS = [row.event for row in HOOK_EVENTS]

THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "their-linter"}]}
THEIR_SETTINGS = {
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {"Stop": [THEIRS], "Notification": [THEIRS], "PostToolUse": [THEIRS, THEIRS]},
    "model": "opus",
}

TEXTS = {
    "empty object": "{}",
    "empty object with a line break": "{\n}\n",
    "two spaces": json.dumps(THEIR_SETTINGS, indent=2) + "\n",
    "four spaces": json.dumps(THEIR_SETTINGS, indent=4) + "\n",
    "tabs": json.dumps(THEIR_SETTINGS, indent="\t") + "\n",
    "single line": json.dumps(THEIR_SETTINGS),
    "no white space": json.dumps(THEIR_SETTINGS, separators=(",", ":")),
    "CRLF": json.dumps(THEIR_SETTINGS, indent=2).replace("\n", "\r\n") + "\r\n",
    "BOM": "\ufeff" + json.dumps(THEIR_SETTINGS, indent=2),
    "no trailing newline": json.dumps({"model": "opus"}, indent=2),
    "groups on one line": '{\n  "hooks": {\n    "Stop": [{"hooks": []}]\n  }, "z": "é"\n}\n',
}
texts = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def plan_install(text: str, hook_dir: Path, python: Path | None) -> str:
    edit = partial(CONNECTION.add_hooks, hook_dir=hook_dir, python=python)
    return settings_file.edited(text.encode(), edit).decode()


def plan_uninstall(text: str) -> str:
    return settings_file.edited(text.encode(), partial(CONNECTION.remove_hooks, keep=())).decode()


def planned(text: str) -> str:
    return plan_install(text, HOOK_DIR, PYTHON)


def parsed(text: str) -> dict[str, Any]:
    value = json.loads(text.removeprefix("\ufeff"))
    assert isinstance(value, dict)
    return value


class Place:
    """One settings file and its undo records."""

    def __init__(self, root: Path) -> None:
        self.path = root / "home" / ".claude" / "settings.json"
        self.records = root / "state" / "undo"
        self.path.parent.parent.mkdir(parents=True)

    def write(self, data: bytes | str) -> bytes:
        data = data.encode() if isinstance(data, str) else data
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_bytes(data)
        return data

    def install(self, hook_dir: Path = HOOK_DIR, *, dry_run: bool = False) -> Change:
        return CONNECTION.hooks_file(self.path, self.records, hook_dir, PYTHON).install(
            dry_run=dry_run
        )

    def uninstall(self, *, dry_run: bool = False) -> Change:
        return CONNECTION.hooks_file(self.path, self.records, HOOK_DIR, PYTHON).uninstall(
            dry_run=dry_run
        )

    def edit(self, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        data = parsed(self.path.read_text())
        change(data)
        self.path.write_text(json.dumps(data, indent=2))
        return data


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# The plan: text in, text out.


@texts
def test_every_event_gets_one_hook_and_everything_else_stays(text: str) -> None:
    before, after = parsed(text), parsed(planned(text))
    hooks = after.pop("hooks")
    old_hooks = before.pop("hooks", {})
    assert after == before
    for event, groups in hooks.items():
        theirs = old_hooks.get(event, [])
        assert groups[: len(theirs)] == theirs
        assert len(groups) == len(theirs) + (event in EVENTS)


@texts
def test_installing_twice_equals_installing_once(text: str) -> None:
    assert planned(planned(text)) == planned(text)


def test_uninstalling_what_was_installed_gives_the_same_text() -> None:
    for name in (
        "two spaces",
        "four spaces",
        "tabs",
        "single line",
        "no white space",
        "CRLF",
        "BOM",
    ):
        assert plan_uninstall(planned(TEXTS[name])) == TEXTS[name]


@texts
def test_a_line_of_a_moved_environment_is_replaced_not_doubled(text: str) -> None:
    old = plan_install(text, Path("/old place/lib/aforesaid/hook"), None)
    assert planned(old) == planned(text)


def test_hooks_of_the_former_name_are_replaced_and_noticed(place: Place) -> None:
    place.install(Path("/opt/venv/lib/recollect/hook"))
    change = place.install()
    none = Change(place.path, None, None)
    assert CONNECTION.replaces_former(change, none)
    assert not CONNECTION.replaces_former(Change(place.path, change.after, None), none)
    assert parsed(place.path.read_text()) == parsed(planned(""))


def test_installing_keeps_the_key_order_when_it_replaces_lines() -> None:
    old = plan_install('{"hooks": {}, "z": 1}', Path("/old"), None)
    assert list(parsed(planned(old))) == ["hooks", "z"]


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_no_settings_become_settings_with_two_spaces_and_a_final_newline(text: str) -> None:
    after = planned(text).removeprefix("\ufeff")
    assert after == json.dumps(parsed(after), indent=2) + "\n"
    assert plan_uninstall(after) == "{}\n"


@given(
    st.dictionaries(
        st.sampled_from([*EVENTS, "Notification"]),
        st.lists(st.sampled_from([THEIRS, {"hooks": []}, {}, 7]), min_size=1, max_size=3),
        min_size=1,
    ),
    st.sampled_from([None, 2, 4, "\t"]),
)
def test_hooks_of_others_survive_in_any_mixture(
    hooks: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps({"hooks": hooks, "z": 1}, indent=indent)
    assert plan_uninstall(planned(text)) == text


def test_a_group_that_the_user_shares_with_us_keeps_the_users_part() -> None:
    settings = parsed(planned(""))
    group = settings["hooks"]["Stop"][0]
    group["hooks"].append({"type": "command", "command": "their-linter"})
    text = json.dumps(settings, indent=2)
    assert planned(text) == text
    hooks = parsed(plan_uninstall(text))["hooks"]
    assert hooks == {"Stop": [{"hooks": [{"type": "command", "command": "their-linter"}]}]}


def test_our_line_under_an_event_we_no_longer_use_is_removed() -> None:
    settings = {"hooks": {"Notification": parsed(planned(""))["hooks"]["Stop"]}}
    assert list(parsed(planned(json.dumps(settings)))["hooks"]) == EVENTS


def test_our_line_that_stands_twice_is_reduced_to_one() -> None:
    settings = parsed(planned(""))
    settings["hooks"]["Stop"] *= 3
    assert parsed(planned(json.dumps(settings)))["hooks"]["Stop"] == settings["hooks"]["Stop"][:1]


def test_a_hook_has_a_type_a_command_and_a_timeout_and_nothing_else() -> None:
    hooks = parsed(planned(""))["hooks"]
    for row in HOOK_EVENTS:
        (group,) = hooks[row.event]
        (entry,) = group["hooks"]
        assert set(group) == ({"matcher", "hooks"} if row.matcher else {"hooks"})
        assert entry == {
            "type": "command",
            "command": CONNECTION.hook_command(row.hook, HOOK_DIR, PYTHON),
            "timeout": 5 if row.hook in {"context", "new", "file", "compact"} else 10,
        }


def test_the_doctor_is_told_our_commands_by_event() -> None:
    commands = CONNECTION.installed_commands(planned(TEXTS["tabs"]))
    assert commands == {
        r.event: [CONNECTION.hook_command(r.hook, HOOK_DIR, PYTHON)] for r in HOOK_EVENTS
    }
    assert CONNECTION.installed_commands(TEXTS["tabs"]) == {}
    assert CONNECTION.installed_commands("") == {}


# The shell line.


def run_line(line: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["plain", "two words", "it's", 'quote"d', "$HOME `id`", "é\n"])
def test_the_line_sources_the_script_with_its_arguments(name: str, tmp_path: Path) -> None:
    hook_dir = tmp_path / name
    hook_dir.mkdir()
    (hook_dir / "capture.sh").write_text("""printf '%s|' "$@"\n""")
    python = tmp_path / "a b" / "python"
    assert run_line(CONNECTION.hook_command("save", hook_dir, python)).stdout == (
        f"claude-code|save|{hook_dir}|{python}|||"
    )
    assert run_line(CONNECTION.hook_command("end", hook_dir, None)).stdout == (
        f"claude-code|end|{hook_dir}||||"
    )


def test_the_line_is_silent_and_succeeds_when_the_script_is_gone(tmp_path: Path) -> None:
    done = run_line(CONNECTION.hook_command("new", tmp_path / "gone", PYTHON))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@given(st.sampled_from(HOOKS), st.text("a é'\"$`;\\\n/", min_size=1))
def test_every_line_we_write_is_recognised_as_ours(hook: str, folder: str) -> None:
    assert is_our_command(CONNECTION.hook_command(hook, Path("/") / folder, None))
    assert is_our_command(CONNECTION.hook_command(hook, HOOK_DIR, Path(folder)))


@loop_over("line", ["", "set -- save x", "sh capture.sh", "offset -- saved", None, 3])
def test_lines_of_others_are_not_ours(line: object) -> None:
    assert not is_our_command(line)


# The file.


def test_the_settings_of_a_scope_are_where_claude_code_reads_them() -> None:
    at, moved = Path("/h/.claude/settings.json"), Path("/c/settings.json")
    assert CONNECTION.hooks_path("user", {"HOME": "/h"}) == at
    assert CONNECTION.hooks_path("user", {"HOME": "/h", "CLAUDE_CONFIG_DIR": ""}) == at
    assert CONNECTION.hooks_path("user", {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}) == moved
    local = CONNECTION.hooks_path("project", {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"})
    assert local == Path.cwd() / ".claude/settings.json"


def test_a_missing_file_and_its_directory_come_and_go(place: Place) -> None:
    change = place.install()
    assert (change.before, change.after) == (None, place.path.read_bytes())
    change = place.uninstall()
    assert change.after is None
    assert not place.path.parent.exists()
    assert list(place.records.iterdir()) == []


def test_a_directory_that_was_there_or_is_in_use_stays(place: Place) -> None:
    place.path.parent.mkdir()
    place.install()
    place.uninstall()
    assert list(place.path.parent.iterdir()) == []
    place.path.parent.rmdir()
    place.install()
    (place.path.parent / "CLAUDE.md").touch()
    place.uninstall()
    assert [file.name for file in place.path.parent.iterdir()] == ["CLAUDE.md"]


@pytest.mark.parametrize("text", [*TEXTS.values(), "", " ", '{ "hooks" : { "Stop" : [ ] } }'])
def test_uninstalling_gives_the_exact_bytes_back(place: Place, text: str) -> None:
    original = place.write(text)
    assert place.install().changed
    assert place.uninstall().changed
    assert place.path.read_bytes() == original


def test_the_first_original_is_kept_when_installing_again(place: Place) -> None:
    original = place.write('{"hooks": {"Stop": []}}')
    place.install(Path("/old"))
    place.install()
    assert not place.install().changed
    place.uninstall()
    assert place.path.read_bytes() == original


def test_user_edits_after_installing_survive_uninstalling(place: Place) -> None:
    place.write(TEXTS["four spaces"])
    place.install()
    place.edit(lambda data: data.update(theme="dark", model="haiku"))
    place.uninstall()
    expected = {**THEIR_SETTINGS, "theme": "dark", "model": "haiku"}
    assert parsed(place.path.read_text()) == expected


def test_user_edits_between_two_installs_survive_uninstalling(place: Place) -> None:
    place.write("{}")
    place.install(Path("/old"))
    place.edit(lambda data: data.update(theme="dark"))
    place.install()
    place.uninstall()
    assert parsed(place.path.read_text()) == {"theme": "dark"}


def test_a_file_we_made_goes_even_when_it_was_reformatted(place: Place) -> None:
    place.install()
    place.edit(lambda _: None)
    place.uninstall()
    assert not place.path.parent.exists()


def test_a_file_that_the_user_emptied_or_deleted_is_no_obstacle(place: Place) -> None:
    place.install()
    place.write("")
    place.uninstall()
    assert not place.path.exists()
    place.install()
    place.path.unlink()
    assert not place.uninstall().changed
    assert not place.path.parent.exists()


@pytest.mark.parametrize("record", [None, b"", b"[]", b'{"original": "%", "written": 1}'])
def test_uninstalling_works_without_a_readable_record(place: Place, record: bytes | None) -> None:
    original = place.write(TEXTS["tabs"])
    place.install()
    for file in place.records.iterdir():
        file.unlink() if record is None else file.write_bytes(record)
    place.uninstall()
    assert place.path.read_bytes() == original


def test_uninstalling_what_was_never_installed_changes_nothing(place: Place) -> None:
    assert not place.uninstall().changed
    original = place.write(TEXTS["tabs"])
    assert not place.uninstall().changed
    assert place.path.read_bytes() == original


def test_a_dry_run_writes_nothing(place: Place, tmp_path: Path) -> None:
    assert place.install(dry_run=True).changed
    assert not place.path.parent.exists()
    assert not place.records.exists()
    place.install()
    assert place.uninstall(dry_run=True).after is None
    assert place.path.exists()
    assert len(list(place.records.iterdir())) == 1


def test_the_diff_shows_what_changes(place: Place) -> None:
    place.write('{\n  "model": "opus"\n}')
    diff = place.install().diff()
    assert diff.startswith(f"--- {place.path}\n+++ {place.path}\n@@ ")
    assert '-  "model": "opus"\n' in diff
    assert '+  "model": "opus",\n+  "hooks": {\n' in diff
    assert place.install().diff() == ""
    assert Change(place.path, None, b"x").diff() == (
        f"--- /dev/null\n+++ {place.path}\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    )


def test_the_undo_record_is_for_the_owner_only(place: Place) -> None:
    place.install()
    (record,) = place.records.iterdir()
    assert stat.S_IMODE(place.records.stat().st_mode) == 0o700
    assert stat.S_IMODE(record.stat().st_mode) == 0o600


def test_the_file_keeps_its_mode_and_no_temporary_file_stays(place: Place) -> None:
    place.write("{}")
    place.path.chmod(0o640)
    place.install()
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o640
    assert list(place.path.parent.iterdir()) == [place.path]
    place.uninstall()
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o640


@pytest.mark.parametrize("original", [b'{"model":"opus"}', None])
def test_a_linked_file_is_written_at_its_target(
    place: Place, tmp_path: Path, original: bytes | None
) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    if original is not None:
        target.write_bytes(original)
    place.path.parent.mkdir()
    place.path.symlink_to(target)
    place.install()
    assert place.path.is_symlink()
    assert CONNECTION.installed_commands(target.read_text())
    place.uninstall()
    assert place.path.is_symlink()
    assert settings_file.read(target) == original


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{\n  // mine\n  "a": 1\n}', "line 2: this is not valid JSON"),
        (b'{"a": 1,}', "line 1: this is not valid JSON"),
        (b"[]", "the file must hold a JSON object"),
        (b'{\n\n"hooks": []}', "`hooks` must be an object"),
        (b'{"hooks": {\n"Stop": {}}}', "`hooks.Stop` must be an array"),
        (b'{"hooks": {\n"Unknown": 1}}', "`hooks.Unknown` must be an array"),
        (b'{"hooks": {},\n"hooks": {}}', "the key `hooks` stands twice"),
        (b'{"a": {"b": 1, "b": 2}}', "the key `b` stands twice"),
        (b'{"a": NaN}', "NaN is not a JSON value"),
        (b'{"a": "\xff"}', "UTF-8"),
    ],
)
def test_a_file_we_cannot_understand_is_left_alone(place: Place, data: bytes, why: str) -> None:
    place.write(data)
    for action in (place.install, place.uninstall):
        with pytest.raises(InstallError) as error:
            action()
        assert str(place.path) in str(error.value)
        assert why in str(error.value)
        assert f"then run `aforesaid {action.__name__}` again" in str(error.value)
    assert place.path.read_bytes() == data
    assert not place.records.exists()


def test_a_path_that_cannot_be_a_file_is_named(place: Place) -> None:
    place.path.parent.write_text("a file where the directory should be")
    with pytest.raises(InstallError, match="Not a directory"):
        place.install()
    place.path.parent.unlink()
    place.path.mkdir(parents=True)
    with pytest.raises(InstallError, match="Not a regular file"):
        place.install()
    place.path.rmdir()
    place.path.symlink_to(place.path)
    with pytest.raises(InstallError, match="Too many levels of symbolic links"):
        place.install()


def test_a_write_by_another_program_in_between_is_not_overwritten(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("{}")
    real_apply = settings_file.apply

    def slow_apply(change: Change, mode: int) -> None:
        place.write('{"theme": "dark"}')
        real_apply(change, mode)

    monkeypatch.setattr(settings_file, "apply", slow_apply)
    with pytest.raises(InstallError, match="Another program changed"):
        place.install()
    assert place.path.read_text() == '{"theme": "dark"}'
    assert list(place.path.parent.iterdir()) == [place.path]
    assert list(place.records.iterdir()) == []


@pytest.fixture
def unprivileged() -> Iterator[Place]:
    """A place seen by a user whom permissions apply to, also when root runs the tests."""
    root = Path(tempfile.mkdtemp())
    nobody = 65534
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(root, nobody, nobody)
        os.seteuid(nobody)
    try:
        yield Place(root)
    finally:
        if is_root:
            os.seteuid(0)
        for folder, _, _ in os.walk(root):
            Path(folder).chmod(0o700)
        shutil.rmtree(root)


def test_a_read_only_directory_is_named_and_nothing_is_left_behind(unprivileged: Place) -> None:
    place = unprivileged
    original = place.write("{}")
    place.path.parent.chmod(0o555)
    with pytest.raises(InstallError) as error:
        place.install()
    assert "Permission denied" in str(error.value)
    assert f"{place.path} was left alone" in str(error.value)
    assert place.path.read_bytes() == original
    assert list(place.records.iterdir()) == []


def test_a_read_only_file_is_respected(unprivileged: Place) -> None:
    place = unprivileged
    original = place.write("{}")
    place.path.chmod(0o444)
    with pytest.raises(InstallError, match=r"settings\.json cannot be .*: Permission denied"):
        place.install()
    assert place.path.read_bytes() == original


def test_a_home_that_cannot_be_written_gets_no_directory(unprivileged: Place) -> None:
    place = unprivileged
    place.path.parent.parent.chmod(0o555)
    with pytest.raises(InstallError, match="Permission denied"):
        place.install()
    assert list(place.path.parent.parent.iterdir()) == []
