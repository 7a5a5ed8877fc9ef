"""What is off, for whoever asks how things are: by command, by a variable, a file or a setting."""

import os
from contextlib import suppress

from recollect import switches, wiring
from recollect.cli.pause import line
from recollect.errors import StoreError
from recollect.model.pauses import COMMAND, ENDS, Where
from recollect.repository import project_directory
from recollect.wiring import Home


def why_told_nothing(home: Home, project_id: int | None, now: int) -> str | None:
    """In this directory, whatever is remembered about it."""
    if switched := _switched_off(home):
        return switched[0]
    where = Where(project_id)
    for each in wiring.open_for_reading(home.paths).pauses():
        if each.origin == COMMAND and each.holds(now) and each.covers(where, None):
            return f"it is paused; {ENDS}"
    return None


def paused_lines(home: Home, now: int) -> list[str]:
    """A line each, the whole machine's and this directory's."""
    found = [f"here: {why}" for why in _switched_off(home)]
    with suppress(StoreError):
        store = wiring.open_for_reading(home.paths)
        names = {each.id: each.name for each in store.projects()}
        for each in store.pauses():
            if each.origin == COMMAND and each.holds(now):
                place = {"project": names.get(each.project_id or 0), "session": each.ref}
                told = place | {"scope": each.scope, "until": each.ends_at}
                found.append(f"{line(told)}; {ENDS}")
    return found


def _switched_off(home: Home) -> list[str]:
    """Without a command, in this directory."""
    off = switches.off(project_directory(os.environ), home.settings.names("capture.skip_dirs"))
    return [why for why in (off, switches.told_off(os.environ)) if why]
