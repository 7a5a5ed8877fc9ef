"""Which provider `auto` takes, and what wrong settings come to."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from aforesaid import settings as settings_module
from aforesaid import wiring
from aforesaid.clock import now
from aforesaid.model.requests import Misconfigured, Request
from aforesaid.paths import Paths

KEY = {"ANTHROPIC_API_KEY": "k"}


def choice(**env: str) -> wiring.Choice:
    named = {f"AFORESAID_{name.upper()}": value for name, value in env.items() if name.islower()}
    seen = {"AFORESAID_HOME": "/nonexistent", "HOME": "/nonexistent"} | named
    seen |= {name: value for name, value in env.items() if not name.islower()}
    settings = settings_module.load(Path("/nonexistent"), seen)
    return wiring.provider(wiring.Home(Paths.of(seen), settings), now, seen)


def test_without_a_login_and_a_key_the_rules_write_and_nobody_chose_them() -> None:
    found = choice()
    assert (str(found.author), found.model, found.fallback) == ("rules", None, True)
    assert "no login" in found.why
    assert not choice(synthesis_provider="rules").fallback


def test_the_agents_own_login_comes_first() -> None:
    found = choice(**KEY)
    assert found.author.provider == "claude"
    assert "login" in found.why


def test_a_key_serves_where_the_agents_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str) -> object:
        return None if name == "claude_agent_sdk" else find_spec(name)

    monkeypatch.setattr("aforesaid.providers.claude_login.find_spec", without)
    assert choice(**KEY).author.provider == "anthropic"


def test_another_party_is_chosen_only_when_the_user_names_it() -> None:
    assert choice(OPENAI_API_KEY="k").author.provider == "rules"
    found = choice(synthesis_endpoint="ollama", synthesis_model="qwen", **KEY)
    assert found.author.provider == "openai"
    assert found.why == "synthesis.endpoint is set"


@pytest.mark.parametrize(
    ("setting", "value"), [("synthesis_endpoint", "olama"), ("cost_prices", "rubbish")]
)
def test_wrong_settings_are_said_by_the_model_and_stop_nothing(setting: str, value: str) -> None:
    found = choice(synthesis_provider="openai", **{setting: value})
    assert found.model is not None
    answer = found.model.ask(Request("", (), "", 1))
    assert isinstance(answer, Misconfigured)
    assert setting.replace("_", ".", 1) in answer.why


def test_a_setting_that_no_provider_can_take_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from aforesaid.cli.main import cli
    from aforesaid.errors import ConfigError

    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "openai")
    done = CliRunner().invoke(cli, ["config", "set", "synthesis.endpoint", "olama"])
    assert isinstance(done.exception, ConfigError)
    assert "ollama" in str(done.exception)
    listed = CliRunner().invoke(cli, ["config", "list", "--json"])
    assert json.loads(listed.stdout)["synthesis.endpoint"]["value"] == ""


def test_a_key_is_written_and_never_shown() -> None:
    from click.testing import CliRunner

    from aforesaid.cli.main import cli

    shown = [
        CliRunner().invoke(cli, ["config", "set", "synthesis.api_key", "sk-secret"]).stdout,
        CliRunner().invoke(cli, ["config", "get", "synthesis.api_key"]).stdout,
        CliRunner().invoke(cli, ["config", "list"]).stdout,
        CliRunner().invoke(cli, ["config", "list", "--json"]).stdout,
    ]
    assert "(set)" in shown[1]
    assert not any("sk-secret" in text for text in shown)
