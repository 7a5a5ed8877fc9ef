"""Private words in a payload of many texts.

Texts of one list are parts of one: lines of a diff, blocks of a message. A tag that one of them opens,
another may close. What is private in one text is hidden in all others of the payload, line by line: an edit
tells a file in several parts, and only some of them show the tags.
"""

from collections.abc import Callable, Iterator
from typing import Any

from recollect.privacy import private

Json = Any
LEAST = 6  # characters of a line that is looked for elsewhere; shorter ones are everywhere
# Of an event: where it belongs. Private words do not reach there.
PLACE = frozenset(
    (
        *(
            "session_id",
            "hook_event_name",
            "transcript_path",
            "cwd",
            "tool_use_id",
            "prompt_id",
            "agent_id",
        ),
        *("agent_type", "tool_name", "permission_mode", "source", "session", "kind", "id"),
    )
)
SHAPE = frozenset(("type", "role", "id"))  # of a block in a list: what it is, not what it says
_JOINT = "\0"


def hidden(value: Json) -> Json:
    """The same object, if nothing in it is private."""
    lines: set[str] = set()
    after = _hidden(value, lines)
    if not lines:
        return after
    longest = sorted(lines, key=lambda line: (-len(line), line))
    if isinstance(after, dict):
        return {
            name: each if name in PLACE else mapped(each, lambda text: _without(text, longest))
            for name, each in after.items()
        }
    return mapped(after, lambda text: _without(text, longest))


def mapped(value: Json, change: Callable[[str], str], *, names: bool = True) -> Json:
    """With every text changed, also names of fields; the same object, if none was."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        pairs = {
            change(name) if names else name: mapped(each, change, names=names)
            for name, each in value.items()
        }
        same = pairs.keys() == value.keys() and all(pairs[name] is value[name] for name in value)
        return value if same else pairs
    if isinstance(value, list):
        items = [mapped(each, change, names=names) for each in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    return value


def texts(value: Json) -> Iterator[str]:
    """Every text of a list, in order, without what only says what a block is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in SHAPE:
                yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def _hidden(value: Json, lines: set[str]) -> Json:
    if isinstance(value, str):
        return _text(value, lines)
    if isinstance(value, dict):
        after = {_text(name, lines): _hidden(each, lines) for name, each in value.items()}
        same = after.keys() == value.keys() and all(after[name] is value[name] for name in value)
        return value if same else after
    if isinstance(value, list) and any(map(private.has_tag, texts(value))):
        shown = iter(_joined(list(texts(value)), lines))
        return _rebuilt(value, shown)
    return value


def _text(text: str, lines: set[str]) -> str:
    return _joined([text], lines)[0] if private.has_tag(text) else text


def _joined(parts: list[str], lines: set[str]) -> list[str]:
    whole = _JOINT.join(map(_bare, parts))
    shown: list[str] = []
    done = 0
    for start, end in private.spans(whole):
        inside = whole[start:end]
        for line in private.TAG.sub("\n", inside).replace(_JOINT, "\n").splitlines():
            lines.update(each for each in (line.strip(), line.strip(" \t+-")) if len(each) >= LEAST)
        # The joints stay, so that every part is still there.
        shown += (whole[done:start], private.MARK, *[_JOINT + private.MARK] * inside.count(_JOINT))
        done = end
    return "".join((*shown, whole[done:])).split(_JOINT)


def _rebuilt(value: Json, shown: Iterator[str]) -> Json:
    if isinstance(value, str):
        return next(shown)
    if isinstance(value, dict):
        return {n: e if n in SHAPE else _rebuilt(e, shown) for n, e in value.items()}
    if isinstance(value, list):
        return [_rebuilt(each, shown) for each in value]
    return value


def _bare(text: str) -> str:
    """A NUL of its own would be taken for a joint, and move what follows into another field. Nobody misses
    it: `text.clean` drops it, too."""
    return text.replace(_JOINT, "")


def _without(text: str, lines: list[str]) -> str:
    text = _bare(text)
    for line in lines:
        if line in text:
            text = text.replace(line, private.MARK)
    return text
