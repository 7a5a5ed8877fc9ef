"""The viewer's files: the same page for every view, and asked again only when they have changed."""

import asyncio
import gzip
import re
from pathlib import Path

import pytest

from aforesaid.paths import Paths
from aforesaid.web.app import Application
from aforesaid.web.auth import Authenticator
from aforesaid.web.viewer_files import FOLDER, PAGES, ViewerFiles
from tests.support.web import PORT, TOKEN, Answer, Site, ask, headers, site


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "viewer"
    (made / "views").mkdir(parents=True)
    (made / "index.html").write_text("<!doctype html><title>viewer</title>")
    (made / "app.js").write_text("export const a = 1;\n" * 200)
    (made / "views" / "now.js").write_text("//")
    (made / "notes.txt").write_text("not for the web")
    (made / "link.js").symlink_to("/etc/passwd")
    return made


def get(home: Paths, folder: Path, path: str, **more: str | None) -> Answer:
    with site(home) as web:
        return asked(web, folder, path, **more)


def asked(web: Site, folder: Path, path: str, **more: str | None) -> Answer:
    app = Application(
        web.backend, authenticator=Authenticator(TOKEN, PORT), files=ViewerFiles(folder)
    )
    try:
        return asyncio.run(ask(app, "GET", path, headers(**more)))
    finally:
        app.close()


def test_every_view_is_the_same_page(home: Paths, folder: Path) -> None:
    with site(home) as web:
        for page in PAGES:
            answer = asked(web, folder, page.replace("{id}", "1").replace("{name}", "a-memory"))
            assert (answer.status, b"viewer" in answer.body) == (200, True)
            assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_every_page_is_one_that_the_viewer_knows() -> None:
    router = (FOLDER / "router.js").read_text("utf-8")
    known = [
        re.compile(found.replace("\\/", "/")) for found in re.findall(r"\[/(\^.+?\$)/,", router)
    ]
    for page in PAGES:
        path = page.replace("{id}", "7").replace("{name}", "deploys")
        assert any(each.search(path) for each in known), page


def test_a_file_is_sent_packed_and_only_when_it_has_changed(home: Paths, folder: Path) -> None:
    first = get(home, folder, "/viewer/app.js", accept_encoding="gzip, br")
    assert gzip.decompress(first.body) == (folder / "app.js").read_bytes()
    assert len(first.body) < 200
    assert first.headers["cache-control"] == "no-cache"
    assert first.headers["content-type"].startswith("text/javascript")
    again = get(home, folder, "/viewer/app.js", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    (folder / "app.js").write_text("export const a = 2;\n")
    changed = get(home, folder, "/viewer/app.js", if_none_match=first.headers["etag"])
    assert (changed.status, changed.body) == (200, b"export const a = 2;\n")


@pytest.mark.parametrize(
    "path",
    ["/viewer/notes.txt", "/viewer/none.js", "/viewer/views/none.js", "/viewer/views%2Fnow.js%00"],
)
def test_what_is_not_in_the_listing_is_nowhere(home: Paths, folder: Path, path: str) -> None:
    """T48: only what is listed is served."""
    assert get(home, folder, path).status == 404


def test_a_link_leads_nowhere(home: Paths, folder: Path) -> None:
    """T48: links."""
    assert get(home, folder, "/viewer/link.js").status == 404


def test_files_of_a_folder_are_found(home: Paths, folder: Path) -> None:
    assert get(home, folder, "/viewer/views/now.js").body == b"//"
