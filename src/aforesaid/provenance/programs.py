"""Data for `commands.py`: the lists of `programs.txt`, and patterns of paths and addresses."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from aforesaid.text import load_sections

_DATA = load_sections(Path(__file__).with_name("programs.txt"))
_BY_PROGRAM = ("subcommands", "wrappers", "foreign-lines")
WORDS = {
    section: frozenset(" ".join(lines).split())
    for section, lines in _DATA.items()
    if section not in _BY_PROGRAM
}


def _by_program(section: str) -> dict[str, str]:
    rows = (line.partition(":") for line in _DATA[section])
    return {name: rest.strip() for names, _, rest in rows for name in names.split()}


def _any_of(section: str) -> str:
    return "|".join(" ".join(_DATA[section]).split())


SUBCOMMANDS = {
    name: [each.split() for each in rest.split(" | ") if each]
    for name, rest in _by_program("subcommands").items()
}
WRAPPERS = {name: options.split() for name, options in _by_program("wrappers").items()}
FOREIGN_LINES = {
    name: re.compile(pattern) for name, pattern in _by_program("foreign-lines").items()
}
VENDORED = re.compile(
    rf"(?:^|/)(?:{_any_of('vendored')})(?:/|$)|GOMODCACHE|\$\((?:{_any_of('vendored-commands')})"
)
REQUESTS, READS_FILE = re.compile(_any_of("requests")), re.compile(_any_of("file-reads"))
LOCAL_HOST = re.compile(_any_of("local-hosts"), re.IGNORECASE)
ELSEWHERE = re.compile(
    r"^/var/(?:log|mail|spool/mail)(?:/|$)|(?:^|/)Downloads(?:/|$)|(?:^|/)(?:Maildir|Library/(?:Messages|Mail))(?:/|$)"
)
SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)")  # as the shell opens them in redirections
# Programs of dependencies are tools; only their other files are text.
TOOL = re.compile(r"(?:^|/)\.?bin/[^/]*$|/bin/[\w.-]+\.(?:js|cjs|mjs|py|php)$")
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,14}://[^\s'\"<>)\]}\\]+", re.IGNORECASE)
# A drive of Windows is a capital letter.
REMOTE_PATH = re.compile(r"(?![A-Z]:)(?:[\w.-]+@)?[\w.-]+:(?!//|\\)\S*")
ARCHIVE = re.compile(
    r"(?:\.tar)?\.(?:gz|tgz|bz2|xz|zst|zip|tar|7z|whl|jar|egg|gem|crate|deb|rpm|nupkg|vsix)$",
    re.IGNORECASE,
)
# Calls of libraries that [requests] does not list, in code that has a foreign URL.
GETS = re.compile(
    r"(?<!environ\.)\b(?!getenv|getattr)(?:\w+\.)?(?:get|open|fetch|request|download|scrape|crawl)\w*[\s(!]",
    re.IGNORECASE,
)
QUERY = re.compile(
    r"\b(?:select|show|with|table|copy|find|aggregate|get|scan|keys|hget\w*|lrange|smembers|explain)\b",
    re.IGNORECASE,
)
CHANGE = re.compile(
    r"^\s*(?:insert|update|delete|create|alter|drop|truncate|grant|vacuum|begin|set)\b", re.I
)
FOREIGN_REF = (
    r"(?:^|\.\.|\^)(?:FETCH_HEAD|(?:refs/)?pull/\d+|pr/\d+|(?:refs/)?merge-requests/\d+"
    r"|(?:(?:refs/)?remotes/)?(?:{})/)"
)
CLOUD_READS = re.compile(
    r"\blogs?\b.*\b(?:tail|show|read|download|filter\S*|get-log\S*)|\bquery\b|\b(?:receive|peek)\S*"
)


def is_local_host(host: str) -> bool:
    return LOCAL_HOST.fullmatch(host) is not None


def host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def url_hosts(text: str) -> list[str]:
    """The hosts of the URLs in a text that are not on this machine or in its network."""
    hosts = (host_of(url).removeprefix("www.") for url in URL.findall(text))
    return [host for host in hosts if host and not is_local_host(host)]


def is_foreign_address(word: str) -> bool:
    if "://" in word:
        return bool(url_hosts(word)) or word.startswith("file:")
    host = re.split(r"[:/?]", word.rpartition("@")[2], maxsplit=1)[0]
    return bool(host) and not is_local_host(host) and not word.startswith((":", "/", "."))
