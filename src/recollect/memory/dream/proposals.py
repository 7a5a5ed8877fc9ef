"""What a model says a dream should do, as values. Nothing here is believed: see safety.py.

Total: from whatever came back, what can be read is taken, and what cannot is named with a reason. Small
models put JSON into fences, leave a comma too many, or stop in the middle of a word.
"""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from recollect.memory.dream.plan import Dropped, Refusal
from recollect.text import clean, one_line

MERGE, RETIRE, REWRITE = "merge", "retire", "rewrite"
KINDS = {
    MERGE: MERGE, "merges": MERGE, "combine": MERGE,
    RETIRE: RETIRE, "retired": RETIRE, "retires": RETIRE, "delete": RETIRE, "remove": RETIRE,
    REWRITE: REWRITE, "rewrites": REWRITE, "update": REWRITE, "edit": REWRITE,
}  # fmt: skip
TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
MOST = 200  # operations
LONGEST_WHY, LONGEST_FACT, LONGEST_DESCRIPTION, LONGEST_BODY = 300, 400, 200, 20_000
UNSAID = "no reason given"


@dataclass(frozen=True, slots=True)
class Merge:
    names: tuple[str, ...]
    description: str
    body: str
    why: str
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Retire:
    name: str
    why: str
    replaced_by: str | None = None
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`description` empty: it stays."""

    name: str
    body: str
    why: str
    description: str = ""


Proposed = Merge | Retire | Rewrite


@dataclass(frozen=True, slots=True)
class Proposal:
    operations: tuple[Proposed, ...] = ()
    ignored: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Unusable:
    why: str


def read_proposal(reply: str, names: Collection[str]) -> Proposal | Unusable:
    """`names`: the memories that the model was shown."""
    found = _json(clean(reply))
    if found is None:
        return Unusable("the model's reply holds no JSON")
    operations: list[Proposed] = []
    ignored: list[Refusal] = []
    for kind, entry in _entries(found):
        for read in _read(kind, entry, names):
            if isinstance(read, Refusal):
                ignored.append(read)
            elif read not in operations:
                operations.append(read)
    return Proposal(tuple(operations[:MOST]), tuple(ignored[:MOST]))


def _json(reply: str) -> Any:
    for text in (reply, TRAILING_COMMA.sub("", reply)):
        if start := re.search(r"[{\[]", text):
            with suppress(ValueError, RecursionError):
                return json.JSONDecoder(strict=False).raw_decode(text, start.start())[0]
    return list(_objects(TRAILING_COMMA.sub("", reply))) or None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """What is whole in a reply that was cut off: objects that name memories."""
    end = 0
    for mark in re.finditer(r"\{", text):
        if mark.start() < end:
            continue
        try:
            found, stop = json.JSONDecoder(strict=False).raw_decode(text, mark.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and {"name", "names"} & found.keys():
            end = stop
            yield found


def _entries(found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """`{"merge": […], "retire": […]}`, a list of operations that say what they are, or one of them."""
    if isinstance(found, dict) and not {"name", "names"} & found.keys():
        for key, value in found.items():
            listed = value if isinstance(value, list) else [value]
            for entry in listed:
                if isinstance(entry, dict):
                    yield KINDS.get(str(key).lower(), ""), entry
                elif isinstance(entry, str) and KINDS.get(str(key).lower()) == RETIRE:
                    yield RETIRE, {"name": entry}
        return
    for entry in found if isinstance(found, list) else [found]:
        if isinstance(entry, dict):
            yield "", entry


def _read(kind: str, entry: dict[str, Any], names: Collection[str]) -> Iterator[Proposed | Refusal]:
    match kind or _kind(entry):
        case "merge":
            yield from _merge(entry, names)
        case "retire":
            yield _retire(entry, names)
        case _:
            yield _rewrite(entry, names)


def _kind(entry: dict[str, Any]) -> str:
    for key in ("op", "operation", "action", "kind", "type"):
        if said := KINDS.get(str(entry.get(key, "")).lower()):
            return said
    if "names" in entry:
        return MERGE
    return REWRITE if entry.get("body") else RETIRE


def _merge(entry: dict[str, Any], names: Collection[str]) -> Iterator[Merge | Refusal]:
    listed = entry.get("names") or entry.get("memories") or []
    said = [_name(each) for each in (listed if isinstance(listed, list) else [listed])]
    known = tuple(dict.fromkeys(name for name in said if name in names))
    what = f"merge {', '.join(said)}"
    if unknown := [name for name in said if name not in names]:
        yield Refusal(what, f"there is no memory called {', '.join(unknown)}")
    into = entry.get("into")
    source = into if isinstance(into, dict) else entry
    body = _text(source, "body", "content", "text")
    description = one_line(_text(source, "description"), LONGEST_DESCRIPTION)
    if len(known) < 2:
        yield Refusal(what, "it names fewer than two memories")
    elif not body:
        yield Refusal(what, "it has no text to put in their place")
    else:
        yield Merge(known, description, body, _why(entry), _dropped(entry))


def _retire(entry: dict[str, Any], names: Collection[str]) -> Retire | Refusal:
    name, by = _name(entry.get("name") or entry.get("names")), _name(entry.get("replaced_by"))
    what = f"retire {name}"
    if name not in names:
        return Refusal(what, f"there is no memory called {name}")
    if by and by not in names:
        return Refusal(what, f"there is no memory called {by} to replace it")
    return Retire(name, _why(entry), by or None, _dropped(entry))


def _rewrite(entry: dict[str, Any], names: Collection[str]) -> Rewrite | Refusal:
    name = _name(entry.get("name") or entry.get("names"))
    body = _text(entry, "body", "content", "text")
    if name not in names:
        return Refusal(f"rewrite {name}", f"there is no memory called {name}")
    if not body:
        return Refusal(f"rewrite {name}", "it has no new text")
    description = one_line(_text(entry, "description"), LONGEST_DESCRIPTION)
    return Rewrite(name, body, _why(entry), description)


def _name(value: Any) -> str:
    """As a model may write it: with its ending, in a list of one, in brackets."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("name")
    if not isinstance(value, str) or value.strip().lower() in ("null", "none"):
        return ""
    return one_line(value, 200).strip("[]`\"' ").removesuffix(".md")


def _text(entry: dict[str, Any], *keys: str) -> str:
    found = next((entry[key] for key in keys if isinstance(entry.get(key), str)), "")
    return clean(found[:LONGEST_BODY]).strip()


def _why(entry: dict[str, Any]) -> str:
    return one_line(_text(entry, "why", "reason", "because"), LONGEST_WHY) or UNSAID


def _dropped(entry: dict[str, Any]) -> tuple[Dropped, ...]:
    """One without a reason counts as not listed: it is a fact lost in silence."""
    listed = entry.get("dropped") or []
    found = []
    for each in listed if isinstance(listed, list) else [listed]:
        if isinstance(each, dict):
            fact = one_line(_text(each, "fact", "text"), LONGEST_FACT)
            why = one_line(_text(each, "why", "reason"), LONGEST_WHY)
            if fact and why:
                found.append(Dropped(fact, why))
    return tuple(found[:MOST])
