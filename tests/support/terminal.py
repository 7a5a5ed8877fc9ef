"""An interactive Claude Code session in a terminal nobody sees.

The client runs in a tmux server of its own, so that a test can type, press keys such as Esc, and
read the screen. Nothing of the developer's tmux is used or touched.
"""

import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from tests.support.client import KEY, PATH, Client, until

_PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"


def missing() -> str | None:
    """Why there can be no terminal here, in words for a skipped test."""
    return None if shutil.which("tmux") else "tmux is not installed (`apt-get install tmux`)"


def skip_onboarding(client: Client, project: Path) -> None:
    """Answer beforehand what a first start asks: theme, API key, trust in the folder."""
    path = client.home / ".claude.json"
    config = json.loads(path.read_text()) if path.exists() else {}
    config["hasCompletedOnboarding"] = True
    config["customApiKeyResponses"] = {"approved": [KEY[-20:]], "rejected": []}
    config.setdefault("projects", {}).setdefault(str(project), {})["hasTrustDialogAccepted"] = True
    path.write_text(json.dumps(config))


class Terminal:
    """One interactive session. `args` go to the client, such as `--resume ID`."""

    def __init__(
        self,
        client: Client,
        *args: str,
        cwd: Path | None = None,
        columns: int = 160,
        rows: int = 50,
    ) -> None:
        project = cwd or client.project
        skip_onboarding(client, project)
        # A socket's path must be short, and a test's own folder often is not.
        self._folder = Path(tempfile.mkdtemp(prefix="aforesaid-tmux-"))
        config = self._folder / "tmux.conf"
        config.write_text("set -g remain-on-exit on\nset -g escape-time 0\n")
        variables = [f"{name}={value}" for name, value in client.environment().items()]
        size = ("-x", str(columns), "-y", str(rows))
        command = ("env", "-i", *variables, client.cli, "--permission-mode", "default", *args)
        # A shell notes the exit status, because tmux now and then misses that its child has ended.
        self._status = self._folder / "status"
        self._status.touch()
        noted = ("sh", "-c", '"$@"; echo $? >"$0"', str(self._status), *command)
        self._tmux("-f", str(config), "new-session", "-d", *size, "-c", str(project), *noted)

    def _tmux(self, *args: str) -> str:
        return subprocess.run(
            ["tmux", "-S", str(self._folder / "socket"), *args],
            env={"PATH": PATH, "LANG": "C.UTF-8", "TERM": "xterm-256color"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def wait_for(self, pattern: str, *, timeout: float = 30) -> str:
        """The screen, once it shows the regular expression."""
        until(
            lambda: bool(re.search(pattern, self.screen())),
            timeout=timeout,
            report=lambda: f"{pattern!r} on this screen:\n{self.screen()}",
        )
        return self.screen()

    def ready(self) -> None:
        """Wait until the client takes input and does nothing else."""

        def idle() -> bool:
            screen = self.screen()
            return _PROMPT in screen and "esc to interrupt" not in screen

        until(idle, report=self.screen)

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names: `Escape`, `Enter`, `C-c`."""
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def submit(self, text: str) -> None:
        self.type(text)
        # Enter in the same burst as the text is taken for a pasted line break.
        time.sleep(0.3)
        self.keys("Enter")

    def interrupt(self) -> None:
        """Press Esc and wait until the client has stopped what it was doing.

        A key sent at once would be read together with Esc, as Alt and that key.
        """
        self.keys("Escape")
        self.ready()

    def exit_status(self, *, timeout: float = 30) -> int:
        """Wait for the client to end; 128 and more is a signal, as in the shell."""
        until(lambda: bool(self._status.read_text()), timeout=timeout, report=self.screen)
        return int(self._status.read_text())

    def close(self) -> None:
        subprocess.run(
            ["tmux", "-S", str(self._folder / "socket"), "kill-server"],
            capture_output=True,
            check=False,
        )
        shutil.rmtree(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
