"""Pictures of every view, for people to look at. They are made, checked and thrown away, but for

    VIEWER_IMAGES=docs/images make test ARGS="-m '' tests/browser/test_images.py"

which writes those of the documentation again. Every day there is one of each view."""

import os
from pathlib import Path

import pytest

from tests.browser.conftest import Visit

LARGEST = 250_000  # bytes
PATHS = {
    "now": "/now",
    "timeline": "/timeline",
    "search": "/search?q=why was stock reserved twice",
    "sessions": "/sessions",
    "session": "/sessions/200",
    "observation": "/observations/9990",
    "memories": "/memories?project=1",
    "memory": "/memories/address-form-1?project=1",
    "brief": "/brief?project=1",
    "cost": "/cost?in=tokens",
    "settings": "/settings",
}
SIZES = {"wide": (1280, 800), "narrow": (360, 740)}
LONG = pytest.mark.long


@pytest.mark.parametrize("size", ["wide", pytest.param("narrow", marks=LONG)])
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=LONG)])
@pytest.mark.parametrize("view", PATHS)
def test_a_picture(visit: Visit, tmp_path: Path, view: str, scheme: str, size: str) -> None:
    width, height = SIZES[size]
    watched = visit(PATHS[view], width=width, height=height, scheme=scheme)
    watched.page.wait_for_selector(".dot.good")
    folder = Path(os.environ.get("VIEWER_IMAGES") or tmp_path)
    image = folder / f"{view}-{scheme}-{size}.png"
    folder.mkdir(parents=True, exist_ok=True)
    watched.page.screenshot(path=image, animations="disabled")
    assert image.stat().st_size < LARGEST
