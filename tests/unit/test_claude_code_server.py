"""Our MCP server in Claude Code's configuration: put in once, taken out exactly, nothing else touched."""

import json
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.agents import claude_code_server as server
from recollect.agents.claude_code_server import (
    config_path,
    entry,
    install,
    installed,
    plan_install,
    plan_uninstall,
    uninstall,
)
from recollect.agents.settings_file import Change
from recollect.errors import InstallError
from tests.unit.test_json_edit import json_texts

PYTHON = Path("/opt/venv/bin/python")
THEIRS = {"command": "npx", "args": ["their-server"], "env": {"KEY": "secret"}}
CONFIG = {
    "numStartups": 3,
    "mcpServers": {"theirs": THEIRS},
    "projects": {"/home/dev/shop": {"mcpServers": {"recollect": THEIRS}}},
}
TEXTS = {
    "empty object": "{}",
    "no servers": json.dumps({"a": 1}, indent=2),
    "empty servers": '{\n  "mcpServers": {}\n}',
    "two spaces": json.dumps(CONFIG, indent=2),
    "four spaces": json.dumps(CONFIG, indent=4) + "\n",
    "tabs": json.dumps(CONFIG, indent="\t") + "\n",
    "single line": json.dumps(CONFIG),
    "no white space": json.dumps(CONFIG, separators=(",", ":")),
    "CRLF": json.dumps(CONFIG, indent=2).replace("\n", "\r\n") + "\r\n",
    "BOM": "\ufeff" + json.dumps(CONFIG, indent=2),
}
texts = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def parsed(text: str) -> dict[str, Any]:
    value = json.loads(text.removeprefix("\ufeff"))
    assert isinstance(value, dict)
    return value


class Place:
    def __init__(self, root: Path) -> None:
        self.path = root / "home" / ".claude.json"
        self.records = root / "state" / "installs"
        self.path.parent.mkdir(parents=True)

    def install(self, python: Path = PYTHON, *, dry_run: bool = False) -> Change:
        return install(self.path, python, self.records, dry_run=dry_run)

    def uninstall(self, *, dry_run: bool = False) -> Change:
        return uninstall(self.path, self.records, dry_run=dry_run)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@texts
def test_the_server_is_added_and_everything_else_stays(text: str) -> None:
    after = parsed(plan_install(text, PYTHON))
    assert after["mcpServers"].pop("recollect") == entry(PYTHON)
    before = parsed(text)
    before.setdefault("mcpServers", {})
    assert after == before


@texts
def test_installing_twice_equals_installing_once(text: str) -> None:
    once = plan_install(text, PYTHON)
    assert plan_install(once, PYTHON) == once


@texts
def test_a_moved_environment_is_replaced_not_doubled(text: str) -> None:
    moved = plan_install(plan_install(text, Path("/old/python")), PYTHON)
    assert parsed(moved)["mcpServers"]["recollect"] == entry(PYTHON)
    assert moved.count("recollect.server.mcp") == 1


@pytest.mark.parametrize("text", [*TEXTS.values(), "", " \n", "\ufeff"])
def test_uninstalling_gives_the_exact_bytes_back(place: Place, text: str) -> None:
    place.path.write_bytes(text.encode())
    place.path.chmod(0o640)
    assert place.install().changed
    assert not place.install().changed
    assert place.uninstall().changed
    assert place.path.read_bytes() == text.encode()
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o640
    assert list(place.records.iterdir()) == []


@given(text=json_texts())
def test_any_configuration_is_restored_or_left_alone(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    place = Place(tmp_path_factory.mktemp("any"))
    place.path.write_bytes(text.encode())
    try:
        place.install()
    except InstallError as error:
        assert str(place.path) in str(error)  # noqa: PT017 - the other way is fine too
    else:
        assert installed(place.path.read_text("utf-8")) == entry(PYTHON)
        place.install(Path("/moved/python"))
        place.uninstall()
    assert place.path.read_bytes() == text.encode()


SERVERS = st.dictionaries(st.sampled_from(["a", "é", "recollect2"]), st.just(THEIRS), max_size=3)


@given(SERVERS, st.sampled_from([None, 2, 4, "\t"]), st.booleans())
def test_other_servers_survive_in_any_mixture(
    servers: dict[str, Any], indent: int | str | None, before: bool
) -> None:
    assume(servers)
    config = {"mcpServers": servers, "z": 1} if before else {"z": 1, "mcpServers": servers}
    text = json.dumps(config, indent=indent)
    assert plan_uninstall(plan_install(text, PYTHON)) == text


def test_a_missing_file_comes_for_its_owner_only_and_goes(place: Place) -> None:
    place.install()
    assert parsed(place.path.read_text()) == {"mcpServers": {"recollect": entry(PYTHON)}}
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    place.uninstall()
    assert not place.path.exists()


def test_what_the_client_wrote_since_stays(place: Place) -> None:
    place.install()
    state = parsed(place.path.read_text()) | {"numStartups": 9, "userID": "x"}
    place.path.write_text(json.dumps(state, indent=2))
    place.uninstall()
    assert parsed(place.path.read_text()) == {"numStartups": 9, "userID": "x"}


def test_uninstalling_works_without_a_record(place: Place) -> None:
    place.path.write_text(json.dumps(CONFIG))
    place.install()
    for record in place.records.iterdir():
        record.write_text("{}")
    place.uninstall()
    assert parsed(place.path.read_text()) == CONFIG


def test_nothing_of_the_clients_file_is_copied(place: Place) -> None:
    place.path.write_text(json.dumps(CONFIG))
    place.install()
    (record,) = place.records.iterdir()
    assert "secret" not in record.read_text()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600


def test_a_dry_run_writes_nothing(place: Place) -> None:
    change = place.install(dry_run=True)
    assert "recollect.server.mcp" in change.diff()
    assert not place.path.exists()
    assert not place.records.exists()


def test_another_server_of_our_name_is_refused_and_left_alone(place: Place) -> None:
    text = json.dumps({"mcpServers": {"recollect": THEIRS}})
    place.path.write_text(text)
    with pytest.raises(InstallError, match="Rename that server"):
        place.install()
    assert not place.uninstall().changed
    assert place.path.read_text() == text


def test_one_that_was_added_by_hand_is_enough(place: Place) -> None:
    by_hand = {"type": "stdio", "command": "/usr/bin/recollect", "args": ["mcp"], "env": {}}
    place.path.write_text(json.dumps({"mcpServers": {"recollect": by_hand}}))
    assert not place.install().changed
    assert not place.uninstall().changed
    assert server.installed(place.path.read_text()) == by_hand


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', "{", "\x00", '{"mcpServers": 7}'])
def test_a_file_we_cannot_understand_is_left_alone(place: Place, text: str) -> None:
    place.path.write_text(text)
    with pytest.raises(InstallError, match=r"line 1: .*left alone"):
        place.install()
    assert place.path.read_text() == text


def test_the_configuration_is_where_claude_code_reads_it() -> None:
    where = partial(config_path, home=Path("/home/dev"), project=Path("/work/shop"))
    assert where("user") == Path("/home/dev/.claude.json")
    assert where("user", config_dir="/cfg") == Path("/cfg/.claude.json")
    assert where("project") == Path("/work/shop/.mcp.json")


def test_the_plugin_knows_whether_the_settings_name_us(place: Place) -> None:
    env = {"HOME": str(place.path.parent)}
    assert not server.registered(env)
    place.install()
    assert server.registered(env)
    assert not server.registered({"HOME": str(place.path.parent), "CLAUDE_CONFIG_DIR": "/nowhere"})
    place.path.write_text("{")
    assert not server.registered(env)
