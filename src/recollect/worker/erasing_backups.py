"""Backups, and databases that were put aside: they hold what was erased.

To change one would take the same care as to make one. So one is made anew, and then all others go.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from recollect import clock
from recollect.backups import shelf, withheld
from recollect.paths import Paths


def every(paths: Paths) -> list[Path]:
    folders = (each for each in (paths.backups, paths.damaged) if each.is_dir())
    return [each for folder in folders for each in folder.iterdir() if each.is_dir()]


def replace(paths: Paths, new_backup: Callable[[], str | None]) -> None:
    """`new_backup`: makes one and gives its name, None if there is no room; if it raises, all stay. An
    unfinished one goes, too, but not under the hands of whoever makes it."""
    withheld.note_erasure(paths, clock.now())
    if not every(paths):
        return
    new = new_backup()
    with shelf.alone(paths):
        for each in every(paths):
            if each.name != new:
                shutil.rmtree(each)
