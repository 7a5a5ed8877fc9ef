"""What a `recollect.Memory` is made of, from what somebody gives; and what is wrong with it, with the fix."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from recollect import hiding, settings
from recollect.encoders.protocol import Encoder
from recollect.errors import ConfigError, MemoryRefused
from recollect.memory.claude_code.client import theirs
from recollect.memory.own_agent.own_model import Ask, OwnModel
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.folders import places
from recollect.paths import Paths
from recollect.providers.protocol import Model

CLIENT = ("off", "adopt")


def memories(directory: Path, home: str | os.PathLike[str] | None, client: str) -> Memories:
    """Those that hold in a directory. Nothing is made."""
    if not directory.is_dir():
        raise ConfigError(f"{directory} is not a directory. Give the one that the agent works in.")
    if client not in CLIENT:
        raise ConfigError(f"client is {client!r}. Use 'off' or 'adopt'.")
    env = dict(os.environ)
    if home is not None:
        env["RECOLLECT_HOME"] = str(Path(home).expanduser().absolute())
    paths = Paths.of(env)
    other = theirs(str(directory), env, client)
    with explained(paths.memory):
        found = settings.load(paths.config_file, env)
        redactor = hiding.redactor(paths, found, env)
        return Memories(places(paths, str(directory), found, other), redactor=redactor)


def model(given: Model | Ask | None) -> Model | None:
    if given is None:
        return None
    if hasattr(given, "ask"):
        return cast(Model, given)
    if callable(given):
        return OwnModel(given)
    raise ConfigError(
        f"model is of type {type(given).__name__}. Give a function `(system, user) -> text`, or None."
    )


def encoder(name: str) -> Encoder | None:
    """Loaded when it is first needed."""
    from recollect.encoders.lazy import Lazy
    from recollect.encoders.minilm import MiniLm
    from recollect.encoders.static_table import StaticTable

    match name:
        case "none":
            return None
        case "static":
            return Lazy(StaticTable.name, instant=StaticTable.instant, load=StaticTable)
        case "minilm":
            return Lazy(MiniLm.name, instant=MiniLm.instant, load=MiniLm)
    raise ConfigError(f"encoder is {name!r}. Use 'static', 'minilm' or 'none'.")


@contextmanager
def explained(root: Path) -> Iterator[None]:
    """A disk that is full or not ours, in words."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise MemoryRefused(
            f"{root} cannot be used: {why}. Make room, give yourself the right to write there, or use "
            "another `home`."
        ) from error
