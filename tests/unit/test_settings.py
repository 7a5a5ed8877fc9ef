"""Settings: a row gives everything, and a typo is named."""

from pathlib import Path

import pytest

from aforesaid.errors import ConfigError
from aforesaid.settings import BY_NAME, ROWS, Row, load, parse, row_named
from tests.support.tables import loop_over


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_a_comma_in_braces_is_part_of_a_pattern() -> None:
    row = row_named("privacy.patterns")
    typed = "ACME-[A-Z0-9]{20,40}, x{2}y , z[0-9]{1,3}"
    assert parse(row, typed, "here") == ("ACME-[A-Z0-9]{20,40}", "x{2}y", "z[0-9]{1,3}")


def test_without_a_file_every_setting_has_its_default(file: Path) -> None:
    settings = load(file, {})
    assert {row.name: row.default for row in ROWS} == dict(settings.values)
    assert set(settings.origins.values()) == {"default"}


def test_the_environment_beats_the_file_and_the_file_the_default(file: Path) -> None:
    file.write_text("[brief]\ntokens = 100\n[recall]\ntokens = 200\n")
    settings = load(file, {"AFORESAID_BRIEF_TOKENS": "50"})
    assert (settings.number("brief.tokens"), settings.origins["brief.tokens"]) == (
        50,
        "AFORESAID_BRIEF_TOKENS",
    )
    assert (settings.number("recall.tokens"), settings.origins["recall.tokens"]) == (200, "file")


def test_a_list_is_typed_with_commas_and_written_as_a_list(file: Path) -> None:
    name = "capture.boring_tools"
    assert load(file, {"AFORESAID_CAPTURE_BORING_TOOLS": " Glob, Grep ,,"}).names(name) == (
        "Glob",
        "Grep",
    )
    file.write_text('[capture]\nboring_tools = ["LS"]\n')
    assert load(file, {}).names(name) == ("LS",)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[brief]\ntoken = 1\n", "brief.token"),
        ("[breif]\ntokens = 1\n", "breif.tokens"),
        ("tokens = 1\n", "tokens"),
        ("[brief.tokens]\nx = 1\n", "brief.tokens"),
        ('[brief]\ntokens = "many"\n', "brief.tokens"),
        ("[brief]\ntokens = true\n", "brief.tokens"),
        ("[brief]\ntokens = 1.5\n", "brief.tokens"),
        ("[brief]\ntokens = 99999\n", "brief.tokens"),
        ("[brief]\ntokens = -1\n", "brief.tokens"),
        ('[synthesis]\nprovider = "magic"\n', "synthesis.provider"),
        ("[synthesis]\nprovider = 1\n", "synthesis.provider"),
        ('[capture]\nboring_tools = "Glob"\n', "capture.boring_tools"),
        ("[capture]\nboring_tools = [1]\n", "capture.boring_tools"),
        ("[brief\n", "TOML"),
        ("a = 1\na = 2\n", "TOML"),
    ],
)
def test_a_mistake_in_the_file_is_an_error_that_names_it(file: Path, text: str, named: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=named):
        load(file, {})


def test_a_file_that_is_not_text_is_an_error(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="TOML"):
        load(file, {})


@pytest.mark.parametrize("typed", ["", "ten", "1.5", "-1", "99999", "9" * 5000])
def test_a_mistake_in_the_environment_names_the_variable(file: Path, typed: str) -> None:
    with pytest.raises(ConfigError, match="AFORESAID_BRIEF_TOKENS"):
        load(file, {"AFORESAID_BRIEF_TOKENS": typed})


def test_a_name_that_does_not_exist_lists_those_that_do() -> None:
    with pytest.raises(ConfigError, match=r"brief\.tokens"):
        row_named("brief.size")


@loop_over("row", ROWS)
def test_every_row_is_complete_and_its_default_is_valid(row: Row) -> None:
    assert BY_NAME[row.name] is row
    assert row.help.endswith(".")
    assert row.env == "AFORESAID_" + "_".join(row.section).upper()
    typed = ",".join(row.default) if isinstance(row.default, tuple) else str(row.default)
    assert parse(row, typed, "test") == row.default
    if isinstance(row.default, int):
        assert row.least is not None
        assert row.most is not None


def test_no_setting_is_shadowed_by_a_variable_that_means_something_else() -> None:
    taken = {"AFORESAID_HOME", "AFORESAID_INSIDE"}
    names = [row.env for row in ROWS]
    assert not taken & set(names)
    assert len(set(names)) == len(names)
