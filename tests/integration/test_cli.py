"""The command line: what people and scripts get to see."""

import json
import os
import re
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import aforesaid, settled, work


@pytest.fixture
def project(home: Paths, tmp_path: Path) -> Path:
    """A directory with one remembered session."""
    folder = tmp_path / "shop"
    folder.mkdir()
    work(folder, "0b5f3c1e-session-one")
    settled(home)
    return folder


def test_sessions_are_listed_for_people_and_for_programs(project: Path) -> None:
    shown = aforesaid("sessions", cwd=project)
    assert "0b5f3c1e" in shown.stdout
    (session,) = json.loads(aforesaid("sessions", "--json", cwd=project).stdout)
    assert (session["status"], session["prompts"], session["project"]) == ("completed", 1, "shop")
    narrow = aforesaid("sessions", cwd=project, env={"COLUMNS": "80"}).stdout.splitlines()
    assert narrow[0].split() == ["session", "when", "project", "state", "prompts", "title"]


def test_a_session_is_shown_by_the_first_letters_of_its_id(project: Path) -> None:
    shown = aforesaid("show", "0b5f", cwd=project)
    assert "Add a greeting to hello.py" in shown.stdout
    assert "Next steps" in shown.stdout


def test_the_scope_of_a_list_is_said(project: Path, tmp_path: Path) -> None:
    assert (
        "Project shop only; --all lists all projects" in aforesaid("sessions", cwd=project).stdout
    )
    elsewhere = aforesaid("sessions", cwd=tmp_path).stdout
    assert "0b5f3c1e" in elsewhere
    assert f"Nothing was recorded in {tmp_path}; these are of all projects." in elsewhere
    everywhere = aforesaid("sessions", "--all", cwd=tmp_path).stdout
    assert "0b5f3c1e" in everywhere
    assert "all projects" not in everywhere


def test_a_number_as_long_as_a_listed_id_may_begin_a_session(project: Path, home: Paths) -> None:
    for session in ("55601234-aaaa", "77001111-a", "77001111-b"):
        work(project, session)
    settled(home)
    assert "55601234" in aforesaid("show", "55601234").stdout
    assert json.loads(aforesaid("show", "55601234", "--json").stdout)["ref"] == "55601234-aaaa"
    assert "several sessions" in aforesaid("show", "77001111").stderr
    assert "no observation #5560" in aforesaid("show", "5560").stderr
    assert json.loads(aforesaid("show", "1", "--json").stdout)["id"] == 1


def test_an_observation_is_shown_by_its_number(project: Path) -> None:
    observation = json.loads(aforesaid("show", "#1", "--json", cwd=project).stdout)
    assert observation["draft"]["files_modified"] == ["hello.py"]
    assert observation["project"] == "shop"
    assert "hello.py" in aforesaid("show", "1", cwd=project).stdout


def test_search_finds_by_words_and_tells_when_there_is_nothing(project: Path) -> None:
    answer = json.loads(aforesaid("search", "greeting", "--json", cwd=project).stdout)
    assert answer["hits"][0]["kind"] == "observation"
    nothing = aforesaid("search", "zebra", cwd=project)
    assert "Nothing found for 'zebra'" in nothing.stdout
    assert nothing.returncode == 0


def test_the_brief_can_be_read_by_hand(project: Path) -> None:
    brief = json.loads(aforesaid("context", "--json", cwd=project).stdout)
    assert "call it from the command line" in brief["brief"]
    assert brief["tokens"] > 0


def test_a_brief_that_is_off_or_too_small_says_so(project: Path, tmp_path: Path) -> None:
    def told(folder: Path, tokens: int) -> str:
        return aforesaid("context", cwd=folder, env={"AFORESAID_BRIEF_TOKENS": str(tokens)}).stdout

    assert told(project, 0) == "The brief is turned off: brief.tokens is 0.\n"
    assert "fits in brief.tokens = 100. Raise it with" in told(project, 100)
    assert told(tmp_path, 100) == "Nothing is remembered about this directory yet.\n"


def test_a_hook_command_works_by_hand_with_a_payload(project: Path, home: Paths) -> None:
    payload = {"session_id": "s9", "hook_event_name": "SessionStart", "source": "startup"}
    done = aforesaid(
        "context", cwd=project, stdin=json.dumps(payload), env={"CLAUDE_PROJECT_DIR": str(project)}
    )
    assert "aforesaid-memory" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    settled(home)


def test_a_pinned_observation_comes_first_in_the_brief(project: Path) -> None:
    assert aforesaid("pin", "1").stdout == "#1 is pinned.\n"
    brief = json.loads(aforesaid("context", "--json", cwd=project).stdout)["brief"]
    assert brief.index("## Pinned") < brief.index("## Last sessions")
    assert aforesaid("pin", "1", "--off").returncode == 0
    assert "## Pinned" not in aforesaid("context", "--json", cwd=project).stdout


def test_what_does_not_exist_gets_an_error_that_names_the_fix(project: Path) -> None:
    for arguments, hint in (
        (("show", "999"), "aforesaid search"),
        (("show", "nope"), "aforesaid sessions"),
        (("pin", "999"), "aforesaid search"),
        (("retry", "999"), "aforesaid status"),
        (("config", "get", "nope"), "aforesaid config list"),
        (("config", "set", "brief.token", "5"), "Did you mean brief.tokens?"),
        (("search", ""), "no words to search for"),
        (("import", __file__), f"aforesaid import file {__file__}"),
        (("config", "set", "brief.tokens", "many"), "whole number"),
        (("config", "set", "brief.tokens", "99999"), "from 0 to 2400"),
    ):
        done = aforesaid(*arguments, cwd=project)
        assert done.returncode in (1, 2), arguments
        assert hint in done.stderr, arguments
        assert "Traceback" not in done.stderr
        assert len(done.stderr) < 400, arguments
    answer = json.loads(aforesaid("show", "999", "--json", cwd=project).stdout)
    assert answer["kind"] == "NotFound"


def test_before_anything_is_recorded_the_next_step_is_told(home: Paths) -> None:
    for command in ("sessions", "status"):
        done = aforesaid(command)
        assert "aforesaid install" in done.stdout + done.stderr
        assert "aforesaid import claude-code" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_mistyped_command_gets_a_suggestion(home: Paths) -> None:
    assert "Did you mean `aforesaid search`?" in aforesaid("serach").stderr


def test_settings_are_written_where_comments_stay(home: Paths) -> None:
    home.make()
    home.config_file.write_text("# mine\n[brief]\ntokens = 900  # short\n")
    assert aforesaid("config", "set", "worker.idle_minutes", "5").returncode == 0
    assert aforesaid("config", "set", "brief.tokens", "800").returncode == 0
    text = home.config_file.read_text()
    assert "# mine" in text
    assert "800  # short" in text
    assert aforesaid("config", "get", "worker.idle_minutes").stdout == "5\n"
    assert aforesaid("config", "unset", "worker.idle_minutes").returncode == 0
    assert "idle_minutes" not in home.config_file.read_text()
    assert home.config_file.stat().st_mode & 0o777 == 0o600


def test_a_config_file_that_cannot_be_parsed_gets_one_error_from_all(home: Paths) -> None:
    home.make()
    home.config_file.write_text("[brief]\ntokens = 900\n\0")
    listed, changed = aforesaid("config", "list"), aforesaid("config", "set", "brief.tokens", "7")
    assert changed.returncode == listed.returncode == 2
    assert changed.stderr == listed.stderr
    assert f"{home.config_file} is not valid TOML" in changed.stderr
    assert "at line 3" in changed.stderr
    home.config_file.write_text("[brief]\ntoken = 900\n")
    assert "Did you mean brief.tokens?" in aforesaid("config", "list").stderr


def test_a_variable_wins_over_the_file_and_is_named_as_origin(home: Paths) -> None:
    listed = aforesaid("config", "list", "--json", env={"AFORESAID_BRIEF_TOKENS": "700"})
    setting = json.loads(listed.stdout)["brief.tokens"]
    assert (setting["value"], setting["origin"]) == (700, "AFORESAID_BRIEF_TOKENS")


def test_colour_is_for_terminals_only(project: Path) -> None:
    assert "\x1b[" not in aforesaid("show", "1", cwd=project).stdout
    assert "\x1b[" not in aforesaid("sessions", cwd=project).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str, home: Paths) -> None:
    assert "_AFORESAID_COMPLETE" in aforesaid("completion", shell).stdout


def test_completion_knows_the_commands(home: Paths) -> None:
    words = {
        "COMP_WORDS": "aforesaid se",
        "COMP_CWORD": "1",
        "_AFORESAID_COMPLETE": "bash_complete",
    }
    assert aforesaid(env=words).stdout.split() == ["plain,search", "plain,sessions"]


def test_the_worker_is_started_looked_at_and_stopped_by_hand(home: Paths) -> None:
    assert aforesaid("worker", "status").returncode == 3
    started = json.loads(aforesaid("worker", "start", "--json").stdout)
    assert json.loads(aforesaid("worker", "status", "--json").stdout)["pid"] == started["pid"]
    again = json.loads(aforesaid("worker", "restart", "--json").stdout)
    assert again["pid"] != started["pid"]
    assert "worker.started" in aforesaid("worker", "logs").stdout
    assert aforesaid("worker", "stop").stdout == "Stopped.\n"
    assert aforesaid("worker", "stop").stdout == "It was not running.\n"


def test_install_twice_equals_once_and_uninstall_restores_the_bytes(home: Paths) -> None:
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    settings.parent.mkdir(parents=True)
    original = b'{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": []}]}}'
    settings.write_bytes(original)
    dry = aforesaid("install", "--dry-run")
    assert "+" in dry.stdout
    assert settings.read_bytes() == original
    assert aforesaid("install").returncode == 0
    once = settings.read_bytes()
    assert "has the hooks already" in aforesaid("install").stdout
    assert settings.read_bytes() == once
    assert aforesaid("uninstall").returncode == 0
    assert settings.read_bytes() == original


def test_install_names_the_server_and_uninstall_restores_the_bytes(home: Paths) -> None:
    config = Path(os.environ["HOME"], ".claude.json")
    original = b'{"numStartups": 3,\n  "mcpServers": {"theirs": {"command": "x"}}}'
    config.write_bytes(original)
    done = json.loads(aforesaid("install", "--json").stdout)
    assert (done["server"]["file"], done["server"]["changed"]) == (str(config), True)
    servers = json.loads(config.read_text())["mcpServers"]
    assert list(servers) == ["theirs", "aforesaid"]
    assert servers["aforesaid"]["alwaysLoad"] is True
    assert aforesaid("uninstall").returncode == 0
    assert config.read_bytes() == original


def test_one_file_that_cannot_be_understood_keeps_the_other_as_it_is(home: Paths) -> None:
    config = Path(os.environ["HOME"], ".claude.json")
    config.write_text('{"mcpServers": []}')
    done = aforesaid("install")
    assert done.returncode == 1
    assert str(config) in done.stderr
    assert not Path(os.environ["HOME"], ".claude/settings.json").exists()


def test_settings_that_are_not_json_are_left_alone(home: Paths) -> None:
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    settings.parent.mkdir(parents=True)
    settings.write_text('{"hooks": // mine\n}')
    done = aforesaid("install")
    assert done.returncode == 1
    assert str(settings) in done.stderr
    assert settings.read_text() == '{"hooks": // mine\n}'


def test_the_demo_runs_to_its_end_and_leaves_nothing(home: Paths) -> None:
    done = aforesaid("demo")
    assert done.returncode == 0, done.stderr
    assert "What is injected into the third session at its start" in done.stdout
    assert not home.database.exists()
    # The README shows its brief, wrapped, and says how many tokens it has.
    readme = Path(__file__).parents[2].joinpath("README.md").read_text("utf-8")
    assert brief_in(readme) == brief_in(done.stdout)
    found = re.search(r"About ([\d,]+) tokens\.", done.stdout)
    assert found
    assert f"the one above has about {found[1]}." in readme


def brief_in(text: str) -> str:
    found = re.search(r"<aforesaid-memory.*?</aforesaid-memory>", text, re.DOTALL)
    assert found
    shown = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "DATE", found[0])
    return " ".join(shown.split())


def test_a_home_that_cannot_be_used_is_named_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = aforesaid("remember", "Mind the gap", env={"AFORESAID_HOME": f"{tmp_path}/file/home"})
    assert done.returncode == 1
    assert f"{tmp_path}/file" in done.stderr
    assert "aforesaid doctor" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "group", ["", "import", "memory", "backup", "project", "worker", "config", "dream"]
)
def test_help_cuts_no_line(group: str, home: Paths) -> None:
    arguments = [group, "--help"] if group else ["--help"]
    lines = aforesaid(*arguments, env={"COLUMNS": "80"}).stdout.splitlines()[1:]
    assert [line for line in lines if line.endswith("...")] == []


def test_status_says_that_the_config_file_cannot_be_read(home: Paths) -> None:
    rpc.start(home)
    home.config_file.parent.mkdir(parents=True, exist_ok=True)
    home.config_file.write_text("[worker\n")
    done = aforesaid("status")
    assert done.returncode == 4
    assert str(home.config_file) in done.stdout
    assert "All is well" not in done.stdout
