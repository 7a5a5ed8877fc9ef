"""What turns recording off, and what does not."""

from pathlib import Path

import pytest

from aforesaid import switches
from tests.support.tables import loop_over


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "shop/docs/old").mkdir(parents=True)
    return tmp_path / "shop"


def switch_off(folder: Path) -> None:
    (folder / ".aforesaid").mkdir()
    (folder / ".aforesaid/off").touch()


def test_a_file_in_the_repository_holds_for_all_below_it(repository: Path) -> None:
    below = repository / "docs/old"
    assert switches.off_reason(str(below)) is None
    switch_off(repository)
    for folder in (below, repository, repository / "docs/../docs/old/"):
        assert "/shop/.aforesaid/off" in str(switches.off_reason(str(folder)))


def test_a_file_above_the_repository_says_nothing_of_it(repository: Path) -> None:
    switch_off(repository.parent)
    assert switches.off_reason(str(repository / "docs")) is None
    assert switches.off_reason(str(repository.parent / "elsewhere"))


def test_a_directory_is_skipped_with_all_below_it(repository: Path) -> None:
    skipped = (str(repository / "docs"),)
    assert switches.off_reason(str(repository / "docs/old"), skipped)
    assert switches.off_reason(str(repository), skipped) is None
    assert switches.off_reason(f"{repository}/docs-too", skipped) is None


@pytest.mark.parametrize(("skipped", "directory"), [("docs", "link/old"), ("link", "docs/old")])
def test_a_directory_is_skipped_by_whichever_name_it_goes(
    repository: Path, skipped: str, directory: str
) -> None:
    (repository / "link").symlink_to(repository / "docs")
    assert switches.off_reason(str(repository / directory), (str(repository / skipped),))
    assert switches.off_reason(str(repository), (str(repository / skipped),)) is None
    assert switches.off_reason(str(Path.home() / "private"), ("~/private",))


@loop_over("name", ["", ".", "relative/path", "/a\0b", "/gone/for/good", "/\udcff"])
def test_whatever_a_directory_is_called_nothing_fails(name: str) -> None:
    assert switches.off_reason(name, ("~/private", "")) is None or name in (
        "",
        ".",
        "relative/path",
    )


@pytest.mark.parametrize(("value", "off"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_a_variable_is_off_unless_it_is_0_or_empty(value: str, off: bool) -> None:
    assert bool(switches.off_reason_in_env({"AFORESAID_PAUSED": value})) == off
