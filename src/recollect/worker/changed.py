"""Projects of which something else is to be told than their prepared briefs tell."""

import threading


class Changed(set[int]):
    """`wake`: whoever writes briefs waits for it."""

    def __init__(self, wake: threading.Event) -> None:
        super().__init__()
        self._wake = wake

    def at_once(self, project_id: int) -> None:
        """For whoever is not followed by that work anyway."""
        self.add(project_id)
        self._wake.set()
