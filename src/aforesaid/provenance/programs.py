"""Data for `commands.py`: the lists of `programs.txt`, and patterns of commands, paths and addresses."""

import re
from pathlib import Path

from aforesaid.text import load_sections

Rows = dict[str, tuple[tuple[str, ...], ...]]


def load_words(section: str) -> frozenset[str]:
    return frozenset(" ".join(_DATA[section]).split())


def _rows(lines: list[str]) -> Rows:
    rows = (line.partition(":") for line in lines)
    return {
        name: tuple(tuple(each.split()) for each in rest.split(" | ") if each.strip())
        for names, _, rest in rows
        for name in names.split()
    }


_DATA = load_sections(Path(__file__).with_name("programs.txt"))
SUBCOMMANDS = _rows(_DATA["subcommands"])
WRAPPERS = {name: options for name, _, options in (r.partition(":") for r in _DATA["wrappers"])}
RUNNERS = frozenset(tuple(each.split("/")) for each in load_words("runners"))
LOCAL_PROGRAMS = load_words("local-programs")
COUNTERS = load_words("counters")
READERS = load_words("readers")
PATTERN_FIRST = load_words("pattern-first")
INTERPRETERS = load_words("interpreters")
URL_PROGRAMS = load_words("url-programs")
DATABASES = load_words("databases")
VALUED = load_words("valued")
CONTAINER_OPTIONS = load_words("container-options")
FETCH_OPTIONS = load_words("fetch-options")
PLAIN_FIELDS = load_words("plain-fields")
INBOXES = load_words("inboxes")
ELSEWHERE_PROGRAMS = load_words("elsewhere-programs")
CODE_OPTIONS = load_words("code-options")
QUERY_OPTIONS = load_words("query-options")
ONE_ADDRESS = load_words("one-address")
PRINTERS = load_words("printers")
SHELLS = load_words("shells")
VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|jspm_packages|site-packages|dist-packages|vendor|vendored|third_party"
    r"|third-party|thirdparty|3rdparty|Pods|Carthage|elm-stuff|_deps|\.cargo/(?:registry|git)|pkg/mod|\.gradle"
    r"|\.m2|\.ivy2|\.nuget/packages|\.pub-cache|\.yarn/(?:cache|unplugged)|\.pnpm-store|\.bun/install|\.npm/_cacache"
    r"|\.terraform|\.opam|\.stack|\.cabal|\.hex|\.mix/archives|\.gem|\.bundle|gems/[\w.-]+-\d[\w.]*"
    r"|\.rustup/toolchains|deps/\w+/(?:lib|src|priv|guides|README\S*|mix\.exs|CHANGELOG\S*)|\.eggs|\.tox"
    r"|\.claude/plugins|\.vscode/extensions|conda/pkgs|\.julia/packages|Library/Caches|vcpkg_installed|\.conan2?"
    r"|lib/ruby/gems|luarocks|\.luarocks|DerivedData/[^/]+/SourcePackages|\.build/checkouts|\.dub/packages)(?:/|$)"
    r"|GOMODCACHE|\$\((?:go list -m|npm root|bundle (?:show|info)|gem (?:contents|env)|composer|pip show"
    r"|python\S* -c .*__(?:file|path)__|node -\w .*require\.resolve)"
)
ELSEWHERE = re.compile(
    r"^/var/(?:log|mail|spool/mail)(?:/|$)|(?:^|/)Downloads(?:/|$)|(?:^|/)(?:Maildir|Library/(?:Messages|Mail))(?:/|$)"
)
SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)")  # as the shell opens them in redirections
# Programs of dependencies are tools; only their other files are text.
TOOL = re.compile(r"(?:^|/)\.?bin/[^/]*$|/bin/[\w.-]+\.(?:js|cjs|mjs|py|php)$")
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,14}://[^\s'\"<>)\]}\\]+", re.IGNORECASE)
LOCAL_HOST = re.compile(
    r"localhost|host\.docker\.internal|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?|10(?:\.\d+){3}|192\.168(?:\.\d+){2}"
    r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|.*\.(?:local|localhost|test|internal|lan|svc)",
    re.IGNORECASE,
)
REQUESTS = re.compile(
    r"\burlopen\b|\burlretrieve\b|\brequests\s*\.\s*(?:get|post|put|patch|request|head|Session)\b"
    r"|\bhttpx\s*\.\s*(?:get|post|request|stream|Client|AsyncClient)\b|\baiohttp\.|\bfetch\s*\(|\baxios\b"
    r"|\bhttps?\.(?:get|request)\s*\(|\bHTTPS?Connection\b|\bNet::HTTP\b|\bURI\.(?:open|parse)\b|\bopen-uri\b"
    r"|LWP::|(?<!set )\bthe clipboard\b|\bapplication \"(?:Mail|Messages|Notes|Safari|Reminders)"
    r"|\bfile_get_contents\s*\(\s*['\"]https?:|\bcurl_(?:init|exec)\b|\bReq\.get|\bHTTPoison\b"
    r"|\bfeedparser\.parse|\bInvoke-(?:WebRequest|RestMethod)\b|\bi(?:wr|rm)\b\s|\bWebClient\b|\bURLSession\b"
    r"|\bpd\.read_(?:csv|json|html)\(\s*['\"]https?:|\bgot\(|\bimaplib\b|\bsubprocess\b.{0,80}\b(?:curl|wget|gh)\b"
    r"|\bGet-Clipboard\b|\bpyperclip\.paste\b"
)
# Calls of libraries that are not listed above, in code that has a foreign URL.
GETS = re.compile(
    r"(?<!environ\.)\b(?!getenv|getattr)(?:\w+\.)?(?:get|open|fetch|request|download|scrape|crawl)\w*[\s(!]",
    re.IGNORECASE,
)
READS_FILE = re.compile(
    r"\bopen\s*\(|read_text|readFile|require\s*\(|\bimport\(|\bcat\b|File\.read|slurp|Path\("
)
FOREIGN_REF = (
    r"(?:FETCH_HEAD|(?:refs/)?pull/\d+|pr/\d+|(?:refs/)?merge-requests/\d+"
    r"|(?:(?:refs/)?remotes/)?(?:{})/)"
)
FOREIGN_REMOTES = ("upstream", "fork")

CLOUD_READS = re.compile(
    r"\blogs?\b.*\b(?:tail|show|read|download|filter\S*|get-log\S*)|\bquery\b|\b(?:receive|peek)\S*"
)
HOSTED_DATABASES = frozenset(("snowsql", "bq", "trino", "presto"))
_RECORDS = re.compile(r"(?:^|[ =])(?:txt|any|spf)\b", re.IGNORECASE)
_OBJECTS = re.compile(
    r"\bget (?:.* )?(?:cm|configmaps?|secrets?|issues?)\b.*(?:-o|--output)[ =]?"
    r"(?:yaml|json|go-template|template)"
)
# Programs whose whole line shows whether they print foreign text.
FOREIGN_LINES = {
    "tcpdump": re.compile(r"(?:^| )-\w*[AX]"),
    "xclip": re.compile(r"(?:^| )-(?:\w*o\b|-out)"),
    "xsel": re.compile(r"^(?!.*(?:^| )-(?:\w*[icd]|-(?:input|clear|delete)))"),
    "openssl": re.compile(r"^s_client\b"),
    **dict.fromkeys(("dig", "nslookup", "host", "drill"), _RECORDS),
    **dict.fromkeys(("kubectl", "oc"), _OBJECTS),
}
