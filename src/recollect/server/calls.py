"""One call of a tool, from what a model sent to what it gets back. Whatever happens, it gets something."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from recollect import clock, log
from recollect.errors import RecollectError
from recollect.parameters import Misused, read
from recollect.server.place import Place
from recollect.server.tools import BY_NAME
from recollect.text import fenced, sqlite_safe

PAUSED = "(recollect is paused here: {why}. Nothing of this session is recorded.)"
FAILED = "recollect could not do this ({why}). Run `recollect doctor` to find out why."


@dataclass(frozen=True, slots=True)
class Reply:
    """`wrong`: the text says what to do about it."""

    text: str
    wrong: bool = False


@cache
def place_of_this_process() -> Place:
    return Place(os.environ, clock.now)


def call(place: Place, name: str, arguments: Mapping[str, object] | None) -> Reply:
    tool = BY_NAME.get(name)
    if tool is None:
        return Reply(f"There is no such tool. There are: {', '.join(BY_NAME)}.", wrong=True)
    try:
        values = read(tool.parameters, arguments)
        with place.visit() as visit:
            said = tool.run(visit, values)
            if why := visit.paused():
                said = f"{said}\n{PAUSED.format(why=why)}"
            return Reply(sqlite_safe(said))
    except (Misused, RecollectError) as error:
        return _wrong(str(error))
    except (
        Exception
    ) as error:  # a bug, a damaged file: a server that died would take all tools with it
        log.warning("tool.failed", tool=name, error=log.cause(error))
        return _wrong(FAILED.format(why=type(error).__name__))


def _wrong(text: str) -> Reply:
    return Reply(sqlite_safe(fenced(text)), wrong=True)
