"""A real browser at a real worker: pages that are signed in, and that tell of everything that goes wrong."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
)

REPOSITORY = Path(__file__).parents[2]
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
MISSING = "chromium is not installed. As root: apt-get install chromium"
VIEWS = ("now", "timeline", "search", "sessions", "memories", "brief", "cost", "settings")


@dataclass
class Served:
    """A worker with the viewer, over one home."""

    home: Path
    link: str
    token: str
    process: subprocess.Popen[str]
    cookies: dict[str, object] | None = None

    @property
    def root(self) -> str:
        return self.link.split("/enter", 1)[0]

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """What another program asks of the same worker."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(f"{self.root}{path}", data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@contextmanager
def serving(home: Path, log: Path, port: int = 0) -> Iterator[Served]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AFORESAID_", "ANTHROPIC_", "OPENAI_", "CLAUDE_"))
    } | {"HOME": str(home.parent), "AFORESAID_WEB_PORT": "0"}
    command = [sys.executable, "-m", "tests.support.web_server", "--home", str(home), "--token"]
    command += ["--port", str(port)] if port else []
    with log.open("w") as errors:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    try:
        link = process.stdout.readline().strip()
        assert "/enter?" in link, f"{link} {log.read_text()[-2000:]}"
        yield Served(home, link, process.stdout.readline().strip(), process)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@dataclass
class Watched:
    """A page, and what it did that no page of ours may do."""

    page: Page
    root: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.root}{path}")
        self.settled()
        return self.page

    def settled(self) -> None:
        """The view is there, and asks for nothing more."""
        self.page.wait_for_selector("#main:not([aria-busy]) h1", state="attached")

    def go(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def check(self) -> None:
        assert self.faults == []


@contextmanager
def visiting(
    browser: Browser,
    served: Served,
    *,
    width: int = 1280,
    height: int = 800,
    scheme: str = "light",
) -> Iterator[Watched]:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="Europe/London",
        storage_state=served.cookies,  # type: ignore[arg-type]
    )
    context.set_default_timeout(30_000)
    try:
        page = context.new_page()
        watched = Watched(page, served.root)
        _watch(context, page, watched)
        if served.cookies is None:  # the link is good once
            page.goto(served.link)
            watched.settled()
            served.cookies = context.storage_state()  # type: ignore[assignment]
        yield watched
    finally:
        context.close()


def _watch(context: BrowserContext, page: Page, watched: Watched) -> None:
    def fault(text: str) -> None:
        watched.faults.append(text)

    def dialog(shown: Dialog) -> None:
        fault(f"dialog: {shown.message}")
        shown.dismiss()

    def console(said: ConsoleMessage) -> None:
        if said.type == "error":
            fault(f"console: {said.text}")

    def request(sent: Request) -> None:
        if not sent.url.startswith(f"{watched.root}/"):
            fault(f"request: {sent.url}")

    page.on("dialog", dialog)
    page.on("pageerror", lambda error: fault(f"error: {error}"))
    page.on("console", console)
    page.on("popup", lambda popup: fault(f"popup: {popup.url}"))
    context.on("request", request)
    # Before any script of the page: what the policy refused is a fault, too.
    context.add_init_script(
        "document.addEventListener('securitypolicyviolation', (e) => {"
        "  console.error('csp ' + e.violatedDirective + ' ' + e.blockedURI); });"
    )
