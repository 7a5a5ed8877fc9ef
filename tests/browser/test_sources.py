"""What the viewer's files may not contain, whoever edits them."""

import gzip
import re
from pathlib import Path

import pytest

import aforesaid
from tests.support.tables import loop_over

VIEWER = Path(aforesaid.__file__).parent / "web/viewer"
FILES = sorted(path for path in VIEWER.rglob("*") if path.is_file())
SINKS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment"
    r"|DOMParser|setHTML|\.srcdoc|setTimeout\(\s*[\"'`]"
)


@pytest.mark.quick
@loop_over("path", FILES)
def test_no_file_makes_markup_from_text(path: Path) -> None:
    assert not SINKS.search(path.read_text())


@pytest.mark.quick
@loop_over("path", FILES)
def test_no_file_names_another_host(path: Path) -> None:
    found = re.findall(r"https?://[^\s\"'`)]+", path.read_text())
    assert [url for url in found if not url.startswith("http://www.w3.org/")] == []


@pytest.mark.quick
def test_the_page_has_nothing_inline() -> None:
    page = (VIEWER / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=|<style", page)


@pytest.mark.quick
def test_the_viewer_is_small_as_it_is_sent() -> None:
    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in FILES) < 80_000
