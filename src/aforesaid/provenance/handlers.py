"""How single programs are judged for `commands.py`: by their options, sub-commands and operands.

Each handler is given the state of the session and one call, and says whether the call prints foreign text.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aforesaid.provenance import programs as data
from aforesaid.provenance.shell import operands_of, split_operand

if TYPE_CHECKING:
    from aforesaid.provenance.commands import Downloads

# A drive of Windows is a capital letter.
REMOTE_PATH = re.compile(r"(?![A-Z]:)(?:[\w.-]+@)?[\w.-]+:(?!//|\\)\S*")
QUERY = re.compile(
    r"\b(?:select|show|with|table|copy|find|aggregate|get|scan|keys|hget\w*|lrange|smembers|explain)\b",
    re.I,
)
CHANGE = re.compile(
    r"^\s*(?:insert|update|delete|create|alter|drop|truncate|grant|vacuum|begin|set)\b", re.I
)
ARCHIVE = re.compile(
    r"(?:\.tar)?\.(?:gz|tgz|bz2|xz|zst|zip|tar|7z|whl|jar|egg|gem|crate|deb|rpm|nupkg|vsix)$|\.tgz$",
    re.IGNORECASE,
)
GIT_PRINTS = data.load_words("git-prints")
GIT_PLAIN = data.load_words("git-plain")
GROUPS = ("compose", "container")  # of sub-commands
# How a command is run: here, in a container, or on another machine, whose files belong to others.
HERE, CONTAINER, REMOTE = "here", "container", "remote"


@dataclass(frozen=True, slots=True)
class Call:
    """A simple command. `stdin`: it is given foreign text; `mentioned`: its words have such; `by_xargs`:
    it is given further words; `inputs`: its here-documents."""

    program: str
    rest: list[str]
    stdin: bool
    mentioned: bool
    by_xargs: bool
    inputs: tuple[str, ...]

    @property
    def any(self) -> bool:
        return self.stdin or self.mentioned


def is_local_host(host: str) -> bool:
    return data.LOCAL_HOST.fullmatch(host) is not None


def url_hosts(text: str) -> list[str]:
    """The hosts of the URLs in a text that are not on this machine or in its network."""
    hosts = (_host(url).removeprefix("www.") for url in data.URL.findall(text))
    return [host for host in hosts if host and not is_local_host(host)]


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).hostname or ""
    return ""


def _is_foreign_address(word: str) -> bool:
    if "://" in word:
        return bool(url_hosts(word)) or word.startswith("file:")
    host = re.split(r"[:/?]", word.rpartition("@")[2], maxsplit=1)[0]
    return bool(host) and not is_local_host(host) and not word.startswith((":", "/", "."))


def _read_variables(state: "Downloads", call: Call) -> bool:
    if call.stdin:
        state.foreign_variables |= {word for word in call.rest if not word.startswith("-")}
    return False


def _read_files(state: "Downloads", call: Call) -> bool:
    short = "".join(word[1:] for word in call.rest if re.fullmatch(r"-[A-Za-z]+", word))
    grep = call.program in ("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ugrep")
    if grep and (set("clq") & set(short) or {"--count", "--files", "--quiet"} & set(call.rest)):
        return False
    edits = any(re.fullmatch(r"-[a-zA-Z]*i\S*|--in-place\S*", word) for word in call.rest)
    if call.program in ("sed", "gsed", "perl", "yq", "sd") and edits:
        return False
    operands = operands_of(call.rest)
    if call.program in data.PATTERN_FIRST and not {"-e", "-f", "--regexp"} & set(call.rest):
        if operands[:1] == ["length"]:
            return False
        operands = operands[1:]
    if call.program == "tee" and call.stdin:
        for path in operands:
            state.add_path(path)
    elsewhere = state.place != HERE and bool(operands)
    listed = call.by_xargs and state.lists_foreign
    return call.any or elsewhere or listed or any_foreign(state, operands)


def _is_foreign_operand(state: "Downloads", word: str) -> bool:
    return state.is_foreign_path(word) or bool(data.URL.match(word) and url_hosts(word))


def any_foreign(state: "Downloads", operands: Sequence[str]) -> bool:
    return any(_is_foreign_operand(state, each) for each in operands)


def _copy_files(state: "Downloads", call: Call) -> bool:
    """`cp`, `mv`, `scp`, `rsync`: what is copied from elsewhere stays foreign."""
    operands = operands_of(call.rest, "-e -i -P -F -o -l -J -c -S --rsh --exclude --include")
    *sources, target = operands or [""]
    for source in sources:
        far = call.program in ("scp", "rsync") and REMOTE_PATH.fullmatch(source)
        if far or state.is_foreign_path(source):
            state.add_copy(source, target)
    return False


def _find(state: "Downloads", call: Call) -> bool:
    at = next((n for n, word in enumerate(call.rest) if word[:1] in "-(!"), len(call.rest))
    roots = call.rest[:at] or ["."]
    for number, word in enumerate(call.rest):
        if word in ("-exec", "-execdir", "-ok", "-x", "-X"):
            inner = [each for each in call.rest[number + 1 :] if each not in (";", "+")]
            for root in roots:
                named = [each.replace("{}", f"{root}/{{}}") for each in inner]
                if state.run_words(named, False, False):
                    return True
    return False


def _run_shell(state: "Downloads", call: Call) -> bool:
    if call.program == "eval":
        return state.run_line(" ".join(call.rest)) or call.any
    for word, after in pairwise(call.rest):
        if re.fullmatch(r"-[a-z]*c", word):
            return state.run_line(after, call.stdin) or call.mentioned
    operands = operands_of(call.rest)
    if operands:
        return any_foreign(state, operands) or call.mentioned
    if call.inputs:
        return True in [state.run_line(each) for each in call.inputs] or call.any
    return call.stdin


def _run_code(state: "Downloads", call: Call) -> bool:
    if call.program in ("python", "pypy", "pypy3") and "-m" in call.rest[:3]:
        module = call.rest[call.rest.index("-m") + 1 :]
        if module[:1] == ["json.tool"]:
            return _read_files(state, replace(call, program="cat", rest=module[1:]))
        return bool(module) and state.run_words(module, call.stdin, call.mentioned)
    code = [after for word, after in pairwise(call.rest) if word in data.CODE_OPTIONS]
    code += call.inputs
    if not code and call.program in ("powershell", "pwsh"):
        code = [" ".join(operands_of(call.rest))]
    if not code:
        operands = operands_of(call.rest)[:2]
        scripts = [word for word in operands if not data.TOOL.search(word)]
        return call.any or any_foreign(state, scripts)
    if call.program == "perl" and _read_files(
        state, replace(call, program="cat", rest=[w for w in call.rest if w not in code])
    ):
        return True
    if any(word.startswith("-M") for word in call.rest):
        code = [" ".join(call.rest)]  # modules of Perl
    return call.any or any(map(partial(_is_foreign_code, state), code))


def _is_foreign_code(state: "Downloads", code: str) -> bool:
    if data.REQUESTS.search(code):
        return bool(url_hosts(code)) or not data.URL.search(code)
    if url_hosts(code) and data.GETS.search(data.URL.sub(" ", code)):
        return True
    quoted = re.findall(r"['\"]([^'\"\s]+)['\"]", code)
    return bool(data.READS_FILE.search(code)) and any(map(state.is_foreign_path, quoted))


def _fetch(state: "Downloads", call: Call) -> bool:
    wget = call.program.startswith(("wget", "aria2c", "axel"))
    if wget and "--spider" in call.rest:
        return False
    target = _output_file(call.rest, "O" if wget else "o")
    operands = operands_of(call.rest, data.FETCH_OPTIONS | ({"-O", "-o"} if wget else {"-o"}))
    if call.program in data.ONE_ADDRESS:
        operands = [word for word in operands if word.upper() != word or "." in word][:1]
    operands += [word.partition("=")[2] for word in call.rest if word.startswith("--url=")]
    addresses = [word.removeprefix("TCP:").removeprefix("tcp:") for word in operands]
    foreign = any(map(_is_foreign_address, addresses)) or call.any
    if not foreign and not (call.by_xargs and not operands):
        return False
    names = "".join(word for word in call.rest if re.fullmatch(r"-[A-Za-z#]+", word))
    if target and target not in ("-", "/dev/stdout"):
        state.add_path(target)
        return False
    if (wget and not target) or (not wget and ("O" in names or "--remote-name" in call.rest)):
        for word in operands:
            name = posixpath.basename(re.split(r"[?#]", word)[0].rstrip("/")) if "/" in word else ""
            folder = _option_value(call.rest, "-P")
            state.add_path(posixpath.join(folder, name or "index.html"))
        return False
    return True


def _ssh(state: "Downloads", call: Call) -> bool:
    host, inner = split_operand(call.rest, "-i -p -l -o -F -J -L -R -D -W -b -c -m -E -S -w -I")
    options = [word for word in call.rest if word.startswith("-")]
    if not host or host.startswith("git@") or {"-N", "-fN", "-V", "-Q", "-O"} & set(options):
        return False
    if inner:
        return state.run_line(" ".join(inner), call.stdin, REMOTE)
    if call.inputs:
        return True in [state.run_line(each, False, REMOTE) for each in call.inputs]
    return True


def _contain(state: "Downloads", call: Call) -> bool:
    """`docker`, `kubectl`: logs, copies, or a command that runs in a container."""
    if has_subcommand(call.program, call.rest) or _match_line(state, call):
        return True
    verb = next((word for word in operands_of(call.rest, data.VALUED) if word not in GROUPS), "")
    if verb == "cp":
        return _download(state, call)
    if verb not in ("exec", "run", "debug"):
        return False
    rest = call.rest[call.rest.index(verb) + 1 :]
    clustered = call.program in ("kubectl", "oc")
    if clustered and "--" in rest:
        inner = rest[rest.index("--") + 1 :]
    else:
        _, inner = split_operand(rest, data.VALUED if clustered else data.CONTAINER_OPTIONS)
    return bool(inner) and _inside(state, inner, call, REMOTE if clustered else CONTAINER)


def _inside(state: "Downloads", inner: list[str], call: Call, place: str) -> bool:
    before, state.place = state.place, place
    try:
        if inner[0] in data.SHELLS and len(inner) == 1:
            return True in [state.run_line(each) for each in call.inputs]
        return state.run_words(inner, call.stdin, call.mentioned, call.inputs)
    finally:
        state.place = before


def _git(state: "Downloads", call: Call) -> bool:
    operands = operands_of(
        call.rest, "-C -c --git-dir --work-tree -n -m -b --depth --format --branch -o --since"
    )
    verb, names = (operands[0], operands[1:]) if operands else ("", [])
    foreign = any(map(partial(_is_foreign_ref, state), names))
    if verb in GIT_PRINTS:
        vendored = any_foreign(state, names[verb == "grep" :])
        here = "HEAD" in state.refs and not names
        plain = verb == "diff" and GIT_PLAIN & set(call.rest)
        return (foreign or here or (vendored and verb != "log")) and not plain
    if verb == "ls-remote":
        return foreign or any(map(url_hosts, names))
    _track_git(state, verb, names, call.rest, foreign)
    return False


def _track_git(
    state: "Downloads", verb: str, names: list[str], rest: list[str], foreign: bool
) -> None:
    new = _option_value(rest, "-b -B -c")
    if verb in ("clone", "submodule", "subtree"):
        sources = [name for name in names if "://" in name or REMOTE_PATH.fullmatch(name)]
        if sources:
            target = names[-1] if names[-1] != sources[0] else posixpath.basename(sources[0])
            prefix = next((w.partition("=")[2] for w in rest if w.startswith("--prefix=")), "")
            state.add_path(prefix or target.removesuffix(".git"))
    elif verb == "remote" and names[:1] == ["add"] and len(names) > 2 and names[1] != "origin":
        state.remotes.add(names[1])
    elif verb in ("fetch", "pull"):
        for name in names:
            source, _, local = name.partition(":")
            if local and any(_is_foreign_ref(state, each) for each in (source, names[0] + "/")):
                state.refs.add(local.removeprefix("refs/heads/"))
    elif verb in ("checkout", "switch", "branch", "tag"):
        if verb in ("checkout", "switch"):
            (state.refs.add if foreign else state.refs.discard)("HEAD")
        if foreign:
            state.refs.update(filter(None, (new, *names[:1])))
    elif verb == "worktree" and foreign and len(names) > 1:
        state.add_path(names[1])


def _is_foreign_ref(state: "Downloads", name: str) -> bool:
    known = data.FOREIGN_REF.format("|".join(map(re.escape, sorted(state.remotes))))
    if re.search(rf"(?:^|\.\.|\^){known}", name):
        return True
    return any(part in state.refs for part in re.split(r"\.{2,3}|[:^~@]", name) if part)


def _gh(state: "Downloads", call: Call) -> bool:
    operands = operands_of(
        call.rest, data.VALUED | {"--json", "-q", "--jq", "-X", "--method", "-f", "-F"}
    )
    line = " ".join(call.rest)
    if operands[:2] in (["repo", "clone"], ["gist", "clone"]) and len(operands) > 2:
        state.add_path(operands[3] if len(operands) > 3 else posixpath.basename(operands[2]))
        return False
    if operands[:2] == ["pr", "checkout"]:
        state.refs.add("HEAD")
        return False
    if operands[:1] == ["api"]:
        method = re.search(r"(?:-X|--method)[ =]?(\w+)", line)
        changes = method and method[1].upper() not in ("GET", "HEAD")
        return not changes and "mutation" not in line
    fields = re.search(r"--json[ =](\S+)", line)
    if fields and set(fields[1].split(",")) <= data.PLAIN_FIELDS:
        return False
    return has_subcommand(call.program, call.rest)


def _aws(state: "Downloads", call: Call) -> bool:
    """Also `gsutil` and their like: `cp` from a bucket to a file or to standard output."""
    operands = operands_of(call.rest, data.VALUED)
    if any(word in ("cp", "mv", "sync", "copy", "download", "get") for word in operands[:3]):
        places = operands[operands.index("cp") + 1 :] if "cp" in operands else operands[1:]
        if len(places) > 1 and re.match(r"[a-z0-9]+://", places[-2]):
            if places[-1] == "-" or call.rest[-1] == "-":
                return True
            state.add_copy(places[-2], places[-1])
            return False
        return call.rest[-1:] == ["-"] and any("://" in word for word in call.rest)
    if call.program in data.ELSEWHERE_PROGRAMS and _run_elsewhere(state, call):
        return True
    path = " ".join(operands[:5])
    reads = call.program in ("aws", "gcloud", "az") and data.CLOUD_READS.search(path)
    return bool(reads) or has_subcommand(call.program, call.rest)


def _run_elsewhere(state: "Downloads", call: Call) -> bool:
    """A command for another machine: behind `--`, or the value of an option."""
    if "--" in call.rest and call.rest[-1] != "--":
        return _inside(state, call.rest[call.rest.index("--") + 1 :], call, REMOTE)
    options = ("-c", "-C", "-a", "--command", "cmd.run")
    lines = [b for a, b in pairwise(call.rest) if a in options]
    lines += [word.partition("=")[2] for word in call.rest if word.startswith("--command=")]
    inner = operands_of(call.rest)[1:] if call.rest[:1] == ["run"] else []
    lines += [" ".join(inner)] if inner and call.program == "heroku" else []
    known = call.program in data.SUBCOMMANDS and has_subcommand(call.program, call.rest)
    return known or True in [state.run_line(each, False, REMOTE) for each in lines]


def _download(state: "Downloads", call: Call) -> bool:
    """Package managers: what they print, and archives and folders that they put somewhere."""
    operands = operands_of(call.rest, "-d --dest -D --dir -p --pattern -o --output -P")
    folder = _option_value(call.rest, "-d --dest -D --dir -o --output")
    verb, names = (operands[0], operands[1:]) if operands else ("", [])
    if verb in ("cp", "checkout", "co", "export") and len(names) > 1:
        if REMOTE_PATH.fullmatch(names[0]) or "://" in names[0]:
            state.add_copy(names[0], names[-1])
        return False
    if verb in ("download", "pack", "fetch", "source", "unpack", "pull"):
        if folder:
            state.add_path(folder)
        for name in names:
            if not name.startswith((".", "/")):
                state.add_path(f"{re.split(r'[@=<>~]', name.lstrip('@'))[0].replace('/', '-')}-*")
        return False
    if call.program == "go":
        return verb == "doc" and any("." in name.partition("/")[0] for name in names[:1])
    if call.program in ("svn", "hg"):
        return verb in ("cat", "log", "diff", "blame") and any(map(url_hosts, names))
    return has_subcommand(call.program, call.rest)


def _query(state: "Downloads", call: Call) -> bool:
    """A database of another machine. Changes print a status."""
    line = " ".join(call.rest)
    host = re.search(r"(?:^|\s)(?:-h|--host|--hostname|-S|--server)(?:\s+|=)?([^\s,]+)", line)
    uri = re.search(r"[a-z+]{2,}://\S+", line)
    host = host or re.search(r"\bhost=([^\s'\"]+)", line)
    named = host[1] if host else (_host(uri[0]) if uri else "")
    named = named or state.variables.get("PGHOST") or state.variables.get("MYSQL_HOST") or ""
    named = "hosted" if call.program in data.HOSTED_DATABASES else named
    variable = any(word.startswith("$") for word in call.rest) and not host
    local = not named or re.fullmatch(r"localhost|127[\d.]*|::1|0\.0\.0\.0|/.*", named)
    if (local and not variable and state.place != CONTAINER) or "dump" in call.program:
        return state.place == REMOTE
    queries = [b for a, b in pairwise(call.rest) if a in data.QUERY_OPTIONS] + list(call.inputs)
    inline = (re.match(r"--(?:command|execute|eval|query)=(.*)", w, re.DOTALL) for w in call.rest)
    queries += [found[1] for found in inline if found]
    if not queries and call.program.endswith("-cli"):
        operands = operands_of(call.rest, "-h -p -n -a -u --user --pass")
        return bool(operands) and bool(QUERY.search(operands[0]))
    if not queries:
        lists = re.search(r"(?:^|\s)(?:-f|--file|-l|--list|--version)\b", line)
        return not lists and not call.stdin
    return any(QUERY.search(each) and not CHANGE.match(each) for each in queries)


def _unpack(state: "Downloads", call: Call) -> bool:
    operands = [word for word in call.rest if not word.startswith("-")]
    letters = "".join(word.lstrip("-") for word in call.rest[:1] if not word.startswith("--"))
    archive = next((word for word in operands if ARCHIVE.search(word)), "")
    folder = _option_value(call.rest, "-C -d --directory")
    extracts = call.program not in ("tar", "bsdtar") or "x" in letters or "--extract" in call.rest
    foreign = call.stdin or state.is_foreign_path(archive)
    if not extracts or {"-l", "-t", "-Z"} & set(call.rest):
        return False
    prints = {"unzip": "-p" in call.rest, "tar": "O" in letters}.get(call.program, False)
    if prints or "-c" in call.rest:
        return foreign
    if folder:
        state.add_path(folder)
    elif foreign:
        state.add_path(ARCHIVE.sub("", posixpath.basename(archive)))
    return False


def _option_value(words: Sequence[str], options: str) -> str:
    return next((after for word, after in pairwise(words) if word in options.split()), "")


def has_subcommand(program: str, rest: Sequence[str]) -> bool:
    operands = operands_of(rest, data.VALUED)
    return any(
        row == ("*",) or tuple(operands[: len(row)]) == row for row in data.SUBCOMMANDS[program]
    )


def _output_file(words: Sequence[str], letter: str) -> str:
    """The value of `-o FILE`, `-sSo FILE`, `-oFILE`, `--output FILE`, `--output=FILE`."""
    option = re.compile(rf"--output(?:-document)?(?:=(.*))?|-[A-NP-Za-np-z#]*{letter}(.*)")
    for word, after in zip(words, (*words[1:], ""), strict=False):
        if found := option.fullmatch(word):
            return found[1] or found[2] or after
    return ""


def _match_line(_: "Downloads", call: Call) -> bool:
    pattern = data.FOREIGN_LINES.get(call.program)
    return pattern is not None and pattern.search(" ".join(call.rest)) is not None


Handler = Callable[["Downloads", Call], bool]
GROUPED: tuple[tuple[Iterable[str], Handler], ...] = (
    (data.PRINTERS, lambda _, call: call.mentioned),
    (("read", "mapfile", "readarray"), _read_variables),
    (data.READERS, _read_files),
    (("cp", "mv", "scp", "rsync", "ln", "sftp"), _copy_files),
    (("find", "fd", "fdfind"), _find),
    (data.SHELLS, _run_shell),
    (data.INTERPRETERS, _run_code),
    (data.URL_PROGRAMS, _fetch),
    (("ssh", "mosh", "autossh"), _ssh),
    (("docker", "podman", "nerdctl", "docker-compose", "podman-compose"), _contain),
    (("kubectl", "oc"), _contain),
    (("git",), _git),
    (("gh",), _gh),
    (("aws", "gsutil", "mc", "s3cmd", "gcloud", "rclone", "az"), _aws),
    (data.ELSEWHERE_PROGRAMS - {"gcloud"}, _run_elsewhere),
    (("pip", "pip3", "npm", "pnpm", "gem", "cargo", "go", "svn", "hg", "apt-get"), _download),
    (("tcpdump", "xclip", "xsel", "dig", "nslookup", "host", "drill", "openssl"), _match_line),
    (data.DATABASES, _query),
    (("tar", "bsdtar", "unzip", "7z", "gunzip", "unar"), _unpack),
)
HANDLERS = {name: handler for names, handler in GROUPED for name in names}
