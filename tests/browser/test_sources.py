"""What the viewer's files may not contain, whoever edits them."""

import re
from pathlib import Path

import pytest

import recollect

VIEWER = Path(recollect.__file__).parent / "web/viewer"
FILES = sorted(path for path in VIEWER.rglob("*") if path.is_file())
SINKS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment"
    r"|DOMParser|setHTML|\.srcdoc|setTimeout\(\s*[\"'`]"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_makes_markup_from_text(path: Path) -> None:
    assert not SINKS.search(path.read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_names_another_host(path: Path) -> None:
    found = re.findall(r"https?://[^\s\"'`)]+", path.read_text())
    assert [url for url in found if not url.startswith("http://www.w3.org/")] == []


def test_the_page_has_nothing_inline() -> None:
    page = (VIEWER / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|<style", page)


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.suffix == ".js"], ids=lambda path: path.name
)
def test_a_module_stays_small_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300


def test_what_a_first_visit_needs_is_small() -> None:
    assert sum(path.stat().st_size for path in FILES) < 200_000
