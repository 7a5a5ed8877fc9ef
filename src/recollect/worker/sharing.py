"""Our memories in the client's own folder, if that is asked for, and nothing of ours there if it is not.

The client reads its index when a session begins, before any hook has its say: what is put there counts from
the next session on. So it is done whenever something was remembered, and when a session begins for what
others did.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect import log
from recollect.clock import Clock
from recollect.errors import RecollectError
from recollect.memory.claude_code import client
from recollect.model.memories import OF_USER
from recollect.wiring import Home, memories


@dataclass(frozen=True, slots=True)
class Sharing:
    home: Home
    clock: Clock
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def settle(self, directory: str) -> None:
        """As the settings say. Whatever fails here is tried again the next time."""
        try:
            if self.home.settings.text("memory.client") == client.SHARE:
                self._share(directory)
            elif folders := client.withdraw(self.home.paths.memory):
                log.action("memory.withdrawn", folders=folders)
        except (OSError, RecollectError) as error:
            log.warning("memory.not_shared", error=log.cause(error))

    def _share(self, directory: str) -> None:
        found = client.find(directory, self.env)
        # A folder that the client has not made is of a directory that it does not work in.
        if found is None or not found.path.parent.is_dir():
            return
        known = memories(self.home, directory, self.clock, self.env).all().memories
        if found.everybodys:
            known = tuple(each for each in known if each.scope == OF_USER)
        client.note(self.home.paths.memory, found.path)
        done = client.share(known, found.path)
        if done.written or done.removed:
            counts = {"written": len(done.written), "removed": len(done.removed)}
            log.action("memory.shared", **counts, edited=len(done.edited), taken=len(done.taken))
