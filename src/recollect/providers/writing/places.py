"""Files and symbols as a person names them: the short path, the main file of a change, its area."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from recollect.providers.reading.patches import Patch
from recollect.providers.reading.symbols import Symbol
from recollect.providers.writing.phrases import code, join

TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|specs|__tests__|e2e)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.[^/]+$"
    r"|Test\.\w+$"
)
DOCS = re.compile(r"\.(?:md|mdx|rst|adoc|txt)$|(?:^|/)docs?/", re.IGNORECASE)
CONFIG = re.compile(
    r"\.(?:toml|ya?ml|json|ini|cfg|lock|env|conf)$|(?:^|/)(?:Dockerfile|Makefile|\.[^/]+)$",
    re.IGNORECASE,
)
LABELLED = frozenset(("section", "test", "rule", "target", "stage"))


def is_test(path: str) -> bool:
    return bool(TEST.search(path))


def is_docs(path: str) -> bool:
    return bool(DOCS.search(path))


def is_config(path: str) -> bool:
    return bool(CONFIG.search(path))


def short(path: str) -> str:
    """The last two parts of a path, enough to know the file by."""
    parts = PurePosixPath(path).parts
    return "/".join(parts[-2:]) if len(parts) > 2 else path


def weight(patch: Patch) -> tuple[int, int]:
    """How much a patch is the point of a change: source before tests before settings and docs."""
    if is_test(patch.path):
        rank = 2
    elif is_docs(patch.path):
        rank = 1
    elif is_config(patch.path):
        rank = 0
    else:
        rank = 3
    return rank, patch.plus + patch.minus


def by_weight(patches: Sequence[Patch]) -> list[Patch]:
    return sorted(patches, key=weight, reverse=True)


def telling(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Functions and classes before single values; what stands inside a named one is left out."""
    kept = [s for s in symbols if s.kind not in ("value", "module")] or list(symbols)
    names = {s.name for s in kept}
    return [s for s in kept if s.name.rpartition(".")[0] not in names]


def named(symbols: Sequence[Symbol], most: int = 3) -> str:
    """Symbols in a sentence: `a`, `b` and 2 more; sections `Install` and `Use`."""
    kept = telling(symbols)
    kinds = {symbol.kind for symbol in kept}
    if len(kinds) == 1 and kinds <= LABELLED and len(kept) > 1:
        return f"{kept[0].kind}s {join([code(s.name, 50) for s in kept], most)}"
    return join([_called(symbol) for symbol in kept], most)


def done(symbols: Sequence[Symbol], verb: str, most: int = 3) -> str:
    """`a and b were added`."""
    return f"{named(symbols, most)} {'was' if len(telling(symbols)) == 1 else 'were'} {verb}"


def _called(symbol: Symbol) -> str:
    if symbol.kind in LABELLED:
        return f"{symbol.kind} {code(symbol.name, 50)}"
    return code(symbol.name, 60)


def paths(found: Sequence[str], most: int = 3) -> str:
    return join([short(path) for path in found], most)
