"""Files whose content is never stored, only that they were read or changed: keys, passwords, credentials.

Checked for a path, the words of a command, the lines of `grep` and the parts of a diff.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fnmatch import translate
from functools import cached_property

from aforesaid.privacy.rules import Places
from aforesaid.privacy.values import load_words

MARK = "[not kept: a file that may hold secrets]"
# A name alone matches in any folder; with a folder, at the end of a path.
PATTERNS = tuple(load_words("guarded-files"))
HARMLESS = tuple(load_words("harmless-files"))
_WORD = re.compile(r"[\w.~/@%+*\\:-]{2,300}")
_GREP = re.compile(r"(?P<path>[\w.~/@+-]{2,200})(?P<at>[:-]\d{1,7})?[:-](?P<rest>.*)")
_DIFF = re.compile(
    r"(?:diff --git a/(?P<old>\S{1,300}) b/|\+\+\+ (?:b/)?(?P<new>\S{1,300})|--- (?:a/)?(?P<was>\S{1,300}))"
)


def _matcher(patterns: Iterable[str]) -> re.Pattern[str]:
    parts = [rf"(?:.*/)?{translate(pattern).removesuffix(chr(92) + 'Z')}" for pattern in patterns]
    return re.compile("(?:" + "|".join(parts) + r")\Z" if parts else r"(?!)", re.IGNORECASE)


_LISTED, _HARMLESS = _matcher(PATTERNS), _matcher(HARMLESS)


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of fields in an agent's payload. `given`: what a tool was asked to do, `results`: what came of it. In
    `given`, `files` name the file that a tool is about, and `paths` other ones. `kept`: what is kept of an event
    that touches a guarded file. `place`: where an event belongs; what is private elsewhere is not searched for
    there."""

    given: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    place: frozenset[str] = frozenset()

    @classmethod
    def of(cls, **names: str) -> "Fields":
        return cls(**{role: frozenset(each.split()) for role, each in names.items()})

    def __or__(self, other: "Fields") -> "Fields":
        return Fields(*(getattr(self, f.name) | getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Guarded:
    """`own`: the user's own patterns, which win over HARMLESS."""

    own: tuple[str, ...] = ()

    @cached_property
    def _own(self) -> re.Pattern[str]:
        return _matcher(self.own)

    def holds(self, path: str) -> bool:
        path = path.replace("\\", "/").strip("\"'")
        if self._own.match(path):
            return True
        return bool(_LISTED.match(path)) and not _HARMLESS.match(path)

    def named_in(self, command: str) -> bool:
        return any(
            self.holds(word.partition(":")[0]) or self.holds(word.rpartition(":")[2])
            for word in _WORD.findall(command[:20_000])
        )

    def without_content(self, text: str, places: Places) -> str:
        """The text without what `grep` and diffs show of such files. `places`: where HINTS are."""
        if "+++ " in text or "diff --git " in text:
            text = self._without_diffs(text)
        if self.own:
            return "\n".join(map(self._grepped, text.split("\n")))
        shown: list[str] = []
        done = 0
        for begin, end in _lines_with(text, places):
            shown += (text[done:begin], self._grepped(text[begin:end]))
            done = end
        return "".join((*shown, text[done:]))

    def _without_diffs(self, text: str) -> str:
        shown: list[str] = []
        hiding = False
        for line in text.split("\n"):
            if line.startswith(("diff --git ", "+++ ", "--- ")) and (head := _DIFF.match(line)):
                hiding = self.holds(head["old"] or head["new"] or head["was"] or "")
                shown.append(line)
            elif hiding and line[:1] in ("+", "-", " ", "@"):
                if shown[-1] != MARK:
                    shown.append(MARK)
            else:
                hiding = hiding and line.startswith(("index ", "new file", "deleted file", "\\"))
                shown.append(line)
        return "\n".join(shown)

    def _grepped(self, line: str) -> str:
        found = _GREP.match(line[:2000])
        if found and found["rest"].strip() and self.holds(found["path"]):
            return f"{found['path']}{found['at'] or ''}:{MARK}"
        return line


def _lines_with(text: str, places: Places) -> list[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for hint in HINTS & places.keys():
        end = -1
        for at in places[hint]:
            if at > end:
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                found.add((text.rfind("\n", 0, at) + 1, end))
    return sorted(found)


# One of them is in every path that PATTERNS match.
HINTS = load_words("file-hints")
