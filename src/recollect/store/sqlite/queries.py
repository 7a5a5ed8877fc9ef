"""SQL by name, out of the `.sql` files beside this module."""

import re
from functools import cache
from importlib import resources

NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def load(noun: str) -> dict[str, str]:
    """All statements of `sql/<noun>.sql`. What stands before a name is comment."""
    text = resources.files(__package__).joinpath("sql", f"{noun}.sql").read_text("utf-8")
    parts = NAME.split(text)
    return dict(zip(parts[1::2], (body.strip() for body in parts[2::2]), strict=True))


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """(number, script), in order."""
    folder = resources.files(__package__).joinpath("migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple((int(f.name.partition("_")[0]), f.read_text("utf-8")) for f in files)
