"""Our MCP server in Claude Code's configuration: put in once, taken out exactly, nothing else touched."""

import itertools
import json
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aforesaid.agents import settings_file
from aforesaid.agents.claude_code.install import CONNECTION
from aforesaid.agents.settings_file import Change
from aforesaid.errors import InstallError

PYTHON = Path("/opt/venv/bin/python")
THEIRS = {"command": "npx", "args": ["their-server"], "env": {"KEY": "secret"}}
CONFIG = {
    "numStartups": 3,
    "mcpServers": {"theirs": THEIRS},
    "projects": {"/home/dev/shop": {"mcpServers": {"aforesaid": THEIRS}}},
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


def plan_install(text: str, python: Path) -> str:
    return settings_file.edited(
        text.encode(), partial(CONNECTION.add_server, python=python)
    ).decode()


def plan_uninstall(text: str) -> str:
    return settings_file.edited(text.encode(), partial(CONNECTION.remove_server, keep=())).decode()


# Any JSON, with any white space between any two tokens, written by hand or by a serialiser.

KEYS = st.sampled_from(["hooks", "Stop", "a", "é", 'quote"d', ""])
SPACE = st.sampled_from(["", "", " ", "\n", "\n  ", "\n\t", "\r\n  ", "\r", "  \n\n \t"])
STRINGS = st.text(' aé"\\\n{}[]:,', max_size=4)
SCALARS = st.none() | st.booleans() | st.integers() | STRINGS | st.just(1.5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
ARRAYS = st.lists(VALUES, max_size=3)
OBJECTS = st.dictionaries(KEYS, ARRAYS | st.dictionaries(KEYS, ARRAYS, max_size=2), max_size=3)
TREES = st.dictionaries(KEYS, OBJECTS | VALUES, max_size=4)
INDENTS: st.SearchStrategy[int | str | None] = st.sampled_from([None, 0, 1, 2, 4, "\t"])
COLONS = st.sampled_from([":", ": ", " : "])
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)


def write_by_hand(value: object, spaces: Iterator[str]) -> str:
    if isinstance(value, dict):
        members = [
            next(spaces) + json.dumps(key) + next(spaces) + ":" + write_by_hand(child, spaces)
            for key, child in value.items()
        ]
        token = "{" + (",".join(members) or next(spaces)) + "}"
    elif isinstance(value, list):
        elements = [write_by_hand(element, spaces) for element in value]
        token = "[" + (",".join(elements) or next(spaces)) + "]"
    else:
        token = json.dumps(value, ensure_ascii=False)
    return next(spaces) + token + next(spaces)


@st.composite
def json_texts(draw: st.DrawFn, trees: st.SearchStrategy[dict[str, Any]] = TREES) -> str:
    tree = draw(trees)
    if draw(st.booleans()):
        spaces = draw(st.lists(SPACE, min_size=1, max_size=9))
        text = write_by_hand(tree, itertools.cycle(spaces))
    else:
        separators = (draw(st.sampled_from([",", ", "])), draw(COLONS))
        text = json.dumps(tree, indent=draw(INDENTS), separators=separators, ensure_ascii=False)
        text += draw(st.sampled_from(["", "\n"]))
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


class Place:
    def __init__(self, root: Path) -> None:
        self.path = root / "home" / ".claude.json"
        self.records = root / "state" / "installs"
        self.path.parent.mkdir(parents=True)

    def install(self, python: Path = PYTHON, *, dry_run: bool = False) -> Change:
        return CONNECTION.server_file(self.path, self.records, python).install(dry_run=dry_run)

    def uninstall(self, *, dry_run: bool = False) -> Change:
        return CONNECTION.server_file(self.path, self.records, PYTHON).uninstall(dry_run=dry_run)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_server_of_the_former_name_is_replaced() -> None:
    former = CONNECTION.server_entry(PYTHON) | {"args": ["-I", "-m", "recollect.server.mcp"]}
    other = json.dumps({"mcpServers": {"recollect": THEIRS}})
    text = plan_install(json.dumps({"mcpServers": {"recollect": former}}), PYTHON)
    assert parsed(text)["mcpServers"] == {"aforesaid": CONNECTION.server_entry(PYTHON)}
    assert parsed(plan_install(other, PYTHON))["mcpServers"]["recollect"] == THEIRS


@texts
def test_the_server_is_added_and_everything_else_stays(text: str) -> None:
    after = parsed(plan_install(text, PYTHON))
    assert after["mcpServers"].pop("aforesaid") == CONNECTION.server_entry(PYTHON)
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
    assert parsed(moved)["mcpServers"]["aforesaid"] == CONNECTION.server_entry(PYTHON)
    assert moved.count("aforesaid.mcp.server") == 1


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
        assert CONNECTION.installed_server(
            place.path.read_text("utf-8")
        ) == CONNECTION.server_entry(PYTHON)
        kept = b"".join(path.read_bytes() for path in place.records.iterdir())
        assert b'"original": null' in kept or not parsed(text or "{}"), "it holds credentials"
        place.install(Path("/moved/python"))
        place.uninstall()
        assert parsed(place.path.read_text("utf-8")) == parsed(text)
        return
    assert place.path.read_bytes() == text.encode()


SERVERS = st.dictionaries(st.sampled_from(["a", "é", "aforesaid2"]), st.just(THEIRS), max_size=3)


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
    assert parsed(place.path.read_text()) == {
        "mcpServers": {"aforesaid": CONNECTION.server_entry(PYTHON)}
    }
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
    assert "aforesaid.mcp.server" in change.diff()
    assert not place.path.exists()
    assert not place.records.exists()


def test_another_server_of_our_name_is_refused_and_left_alone(place: Place) -> None:
    text = json.dumps({"mcpServers": {"aforesaid": THEIRS}})
    place.path.write_text(text)
    with pytest.raises(InstallError, match="Rename that server"):
        place.install()
    assert not place.uninstall().changed
    assert place.path.read_text() == text


def test_one_that_was_added_by_hand_is_enough(place: Place) -> None:
    by_hand = {"type": "stdio", "command": "/usr/bin/aforesaid", "args": ["mcp"], "env": {}}
    place.path.write_text(json.dumps({"mcpServers": {"aforesaid": by_hand}}))
    assert not place.install().changed
    assert not place.uninstall().changed
    assert CONNECTION.installed_server(place.path.read_text()) == by_hand


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', "{", "\x00", '{"mcpServers": 7}'])
def test_a_file_we_cannot_understand_is_left_alone(place: Place, text: str) -> None:
    place.path.write_text(text)
    with pytest.raises(InstallError, match="left alone"):
        place.install()
    assert place.path.read_text() == text


def test_the_configuration_is_where_claude_code_reads_it() -> None:
    assert CONNECTION.server_path("user", {"HOME": "/home/dev"}) == Path("/home/dev/.claude.json")
    assert CONNECTION.server_path("user", {"CLAUDE_CONFIG_DIR": "/cfg"}) == Path(
        "/cfg/.claude.json"
    )
    assert CONNECTION.server_path("project", {}) == Path.cwd() / ".mcp.json"


def test_the_plugin_knows_whether_the_settings_name_us(place: Place) -> None:
    env = {"HOME": str(place.path.parent)}
    assert not CONNECTION.is_server_registered(env)
    place.install()
    assert CONNECTION.is_server_registered(env)
    assert not CONNECTION.is_server_registered(
        {"HOME": str(place.path.parent), "CLAUDE_CONFIG_DIR": "/nowhere"}
    )
    place.path.write_text("{")
    assert not CONNECTION.is_server_registered(env)
