"""A program that runs for long goes by what is written now, where a setting says so."""

from pathlib import Path

import pytest

from aforesaid import settings
from aforesaid.errors import ConfigError
from aforesaid.paths import write_private
from aforesaid.settings import follow


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_what_is_live_follows_the_file_and_the_rest_stays(file: Path) -> None:
    found = follow(file, {})
    assert found.number("brief.tokens") == 1500
    for tokens in (300, 301, 302):  # of one size, within one moment
        write_private(file, f"[brief]\ntokens = {tokens}\n[web]\nport = 5000\n".encode())
        assert found.number("brief.tokens") == tokens
        assert found.number("web.port") == settings.BY_NAME["web.port"].default
    file.unlink()
    assert found.number("brief.tokens") == 1500


def test_a_variable_wins_over_a_file_that_has_changed(file: Path) -> None:
    found = follow(file, {"AFORESAID_BRIEF_TOKENS": "700"})
    write_private(file, b"[brief]\ntokens = 300\n")
    assert found.number("brief.tokens") == 700


def test_a_file_that_has_been_broken_changes_nothing_until_it_is_mended(file: Path) -> None:
    write_private(file, b"[brief]\ntokens = 300\n")
    found = follow(file, {})
    for broken in (b"[brief\n", b"[brief]\ntokens = 99999\n", b"[breif]\ntokens = 3\n"):
        write_private(file, broken)
        assert found.number("brief.tokens") == 300
    write_private(file, b"[brief]\ntokens = 400\n")
    assert found.number("brief.tokens") == 400
    write_private(file, b"[brief\n")
    with pytest.raises(ConfigError):
        follow(file, {})


def test_it_is_a_mapping_of_all_settings(file: Path) -> None:
    found = follow(file, {})
    assert dict(found.values) == {row.name: row.default for row in settings.ROWS}
    assert len(found.values) == len(settings.ROWS)
    with pytest.raises(KeyError):
        found.values["no.such"]
