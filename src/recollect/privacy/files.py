"""Files whose content is never kept, only that they were read or changed: keys, passwords, settings with
such.

Asked of a path, of a command's words, of `grep` lines and of a diff's parts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate

from recollect.privacy.rule import Places, lower

MARK = "[not kept: a file that may hold secrets]"
# A name alone matches in any folder; with a folder, at the end of a path.
PATTERNS = (
    *(
        ".env",
        ".env.*",
        "*.env",
        ".envrc",
        ".flaskenv",
        "id_rsa*",
        "id_dsa*",
        "id_ecdsa*",
        "id_ed25519*",
        "*_rsa",
    ),
    *(
        "*.pem",
        "*.key",
        "*.p12",
        "*.pfx",
        "*.jks",
        "*.keystore",
        "*.kdbx",
        "*.ppk",
        "*.p8",
        "*.agekey",
        "*.tfvars",
    ),
    *(
        ".netrc",
        "_netrc",
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".pgpass",
        ".my.cnf",
        ".git-credentials",
        ".htpasswd",
    ),
    *(
        ".dockercfg",
        ".docker/config.json",
        ".aws/credentials",
        ".kube/config",
        "kubeconfig",
        "*.kubeconfig",
    ),
    *(
        "credentials",
        "credentials.json",
        ".credentials.json",
        "credentials.y*ml",
        "credentials.toml",
    ),
    *(
        "service[-_]account*.json",
        "secrets.y*ml",
        "secrets.json",
        "secrets.toml",
        "secrets.env",
        ".secrets",
    ),
    *(
        ".ssh/*",
        ".gnupg/*",
        ".vault-token",
        "*.tfstate",
        "*.tfstate.backup",
        "gh/hosts.yml",
        ".boto",
        ".s3cfg",
    ),
    *(
        "etc/shadow",
        "etc/gshadow",
        "master.key",
        "gcloud/*.json",
        "gcloud/*.db",
        ".terraformrc",
        ".terraform.d/*.json",
    ),
)
HARMLESS = (
    *(
        "*.example",
        "*.sample",
        "*.template",
        "*.dist",
        "*.defaults",
        "*.schema",
        "*.pub",
        "*.md",
        "*.py",
        "*.ts",
    ),
    *("*.js", ".ssh/config", ".ssh/known_hosts", ".ssh/authorized_keys"),
)
_WORD = re.compile(r"[\w.~/@%+*\\:-]{2,300}")
_GREP = re.compile(r"(?P<path>[\w.~/@+-]{2,200})(?P<at>[:-]\d{1,7})?[:-](?P<rest>.*)")
_DIFF = re.compile(
    r"(?:diff --git a/(?P<old>\S{1,300}) b/|\+\+\+ (?:b/)?(?P<new>\S{1,300})|--- (?:a/)?(?P<was>\S{1,300}))"
)


def _matcher(patterns: Iterable[str]) -> re.Pattern[str]:
    parts = [rf"(?:.*/)?{translate(pattern).removesuffix(chr(92) + 'Z')}" for pattern in patterns]
    return re.compile("(?:" + "|".join(parts) + r")\Z" if parts else r"(?!)", re.IGNORECASE)


_LISTED, _HARMLESS, _NOTHING = map(_matcher, (PATTERNS, HARMLESS, ()))


@dataclass(frozen=True, slots=True)
class Guarded:
    """`own`: the user's own patterns. They hold whatever else is harmless."""

    own: tuple[str, ...] = ()
    _own: re.Pattern[str] = _NOTHING

    @classmethod
    def of(cls, own: Iterable[str] = ()) -> "Guarded":
        patterns = tuple(own)
        return cls(patterns, _own=_matcher(patterns))

    def holds(self, path: str) -> bool:
        path = path.replace("\\", "/").strip("\"'")
        if self._own.match(path):
            return True
        return bool(_LISTED.match(path)) and not _HARMLESS.match(path)

    def named_in(self, command: str) -> bool:
        """Whether one of a command's words is such a file."""
        return any(
            self.holds(word.partition(":")[0]) or self.holds(word.rpartition(":")[2])
            for word in _WORD.findall(command[:20_000])
        )

    def without_content(self, text: str, places: Places) -> str:
        """Lines that `grep` shows of such files, and their parts of a diff, without what they say. `places`:
        where HINTS are."""
        if "+++ " in text or "diff --git " in text:
            text = self._without_diffs(text)
        if self.own:
            return "\n".join(map(self._grepped, text.split("\n")))
        shown: list[str] = []
        done = 0
        for begin, end in _lines_with(HINTS & places.keys(), text):
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
        if found is None or not found["rest"].strip() or not self.holds(found["path"]):
            return line
        return f"{found['path']}{found['at'] or ''}:{MARK}"


def _lines_with(hints: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Where the lines begin and end that have one of them, in any letter case."""
    lowered = lower(text)
    found: set[tuple[int, int]] = set()
    for hint in hints:
        at = lowered.find(hint)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            found.add((text.rfind("\n", 0, at) + 1, end))
            at = lowered.find(hint, end)  # one look at a line is enough, however often it has it
    return sorted(found)


# One of them is in every path that PATTERNS match.
HINTS = frozenset(
    (
        *(
            ".env",
            "id_rsa",
            "id_dsa",
            "id_ecdsa",
            "id_ed25519",
            "_rsa",
            ".pem",
            ".key",
            ".p12",
            ".pfx",
            ".jks",
            ".keystore",
        ),
        *(
            ".kdbx",
            ".ppk",
            ".p8",
            ".agekey",
            ".tfvars",
            "netrc",
            ".npmrc",
            ".yarnrc",
            ".pypirc",
            ".pgpass",
            ".my.cnf",
        ),
        *(
            "credentials",
            ".htpasswd",
            ".docker",
            "kubeconfig",
            ".kube/",
            "service-account",
            "service_account",
            "secrets.",
        ),
        *(
            ".secrets",
            ".ssh/",
            ".gnupg/",
            ".vault-token",
            ".tfstate",
            "gh/hosts",
            ".boto",
            ".s3cfg",
            "etc/shadow",
        ),
        *("etc/gshadow", "master.key", "gcloud/", ".terraform", ".flaskenv"),
    )
)
