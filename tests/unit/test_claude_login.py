"""Whether the `claude` provider is usable: the package and a login, without a look at credentials."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from aforesaid.providers import claude_login
from aforesaid.providers.claude_login import NO_LOGIN, NO_PACKAGE, key_helper, usable

Put = Callable[[str, object], None]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def write(name: str, content: object) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    return write


def test_without_the_package_nothing_else_counts(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_login, "find_spec", lambda name: None)
    assert usable({**env, "ANTHROPIC_API_KEY": "k"}) == NO_PACKAGE


def test_an_empty_home_has_no_login(env: dict[str, str]) -> None:
    assert usable(env) == NO_LOGIN


@pytest.mark.parametrize("name", claude_login.VARIABLES)
def test_a_variable_is_a_login_unless_it_is_empty(env: dict[str, str], name: str) -> None:
    assert usable({**env, name: "1"}) is None
    assert usable({**env, name: ""}) == NO_LOGIN


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".claude/.credentials.json", "anything at all, it is not read"),
        (".claude.json", {"numStartups": 3, "oauthAccount": {"emailAddress": "a@example.com"}}),
        (".claude/settings.json", {"apiKeyHelper": "fetch-key"}),
    ],
)
def test_a_file_of_claude_codes_is_a_login(
    env: dict[str, str], put: Put, name: str, content: object
) -> None:
    put(name, content)
    assert usable(env) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".claude/.credentials.json", ""),
        (".claude.json", {"oauthAccount": None}),
        (".claude.json", '{"oauthAccount": {"emailAddress'),
        (".claude.json", "[" * 100_000),
        (".claude.json", ["oauthAccount"]),
        (".claude/settings.json", {"apiKeyHelper": ""}),
        (".claude/settings.json", "\udc80".encode("utf-8", "surrogateescape").decode("latin-1")),
    ],
)
def test_a_file_that_is_empty_or_broken_is_none(
    env: dict[str, str], put: Put, name: str, content: object
) -> None:
    put(name, content)
    assert usable(env) == NO_LOGIN


def test_a_folder_in_place_of_a_file_is_none(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".claude/.credentials.json").mkdir(parents=True)
    (tmp_path / ".claude.json").mkdir()
    assert usable(env) == NO_LOGIN


def test_the_config_folder_may_be_elsewhere(env: dict[str, str], put: Put, tmp_path: Path) -> None:
    moved = {**env, "CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
    put(".claude.json", {"oauthAccount": {"x": 1}})
    assert usable(moved) == NO_LOGIN
    put("moved/.claude.json", {"oauthAccount": {"x": 1}})
    assert usable(moved) is None


def test_the_key_helper_is_the_command_of_the_users_settings(env: dict[str, str], put: Put) -> None:
    assert key_helper(env) is None
    put(".claude/settings.json", {"apiKeyHelper": "fetch-key --now", "hooks": {}})
    assert key_helper(env) == "fetch-key --now"
