"""Whether a command line prints text that others may have written, and which files it brings in.

A line is parsed into its commands, and the text that each prints is followed through pipes, redirections,
variables and files. `programs.txt` holds the data. What only counts or reports status is not foreign.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise

from aforesaid.provenance import programs, shell
from aforesaid.provenance.programs import REMOTE_PATH, SUBCOMMANDS, WORDS, url_hosts
from aforesaid.provenance.shell import Command, Pipeline, operands_of, skip_options

DEEPEST = 6  # command lines within command lines
VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
RUNNERS = frozenset(tuple(each.split("/")) for each in WORDS["runners"])
# How a command is run: here, in a container, or on another machine, whose files belong to others.
HERE, CONTAINER, REMOTE = "here", "container", "remote"


@dataclass(frozen=True, slots=True)
class Call:
    """A simple command. `stdin`: it is given foreign text; `mentioned`: its words have such; `by_xargs`:
    it is given further words; `inputs`: its here-documents."""

    program: str
    rest: list[str]
    stdin: bool = False
    mentioned: bool = False
    by_xargs: bool = False
    inputs: Sequence[str] = ()

    @property
    def any(self) -> bool:
        return self.stdin or self.mentioned

    def value_of(self, *options: str) -> str:
        return next((after for word, after in pairwise(self.rest) if word in options), "")

    def has_foreign_subcommand(self) -> bool:
        operands = operands_of(self.rest, WORDS["valued"])
        rows = SUBCOMMANDS.get(self.program, ())
        return any(row == ["*"] or operands[: len(row)] == row for row in rows)

    def has_foreign_line(self) -> bool:
        pattern = programs.FOREIGN_LINES.get(self.program)
        return pattern is not None and pattern.search(" ".join(self.rest)) is not None


@dataclass(slots=True)
class Downloads:
    """What the command lines of one session have brought in: files and folders, git refs and remotes, and
    shell variables of the present line. `root`: the project, whose own place in the file system says
    nothing."""

    root: str = ""
    paths: set[str] = field(default_factory=set)
    refs: set[str] = field(default_factory=set)
    remotes: set[str] = field(default_factory=lambda: {"upstream", "fork"})
    variables: dict[str, str] = field(default_factory=dict)
    foreign_variables: set[str] = field(default_factory=set)
    place: str = HERE
    opened_socket: bool = False  # by `exec`, so that a number names it
    lists_foreign: bool = False  # a command earlier in the pipe lists files that are foreign
    _cwd: str = ""
    _depth: int = 0

    def add_command(self, line: str, cwd: str = "") -> bool:
        self._cwd = cwd or self.root
        self.variables, self.foreign_variables, self.opened_socket = {}, set(), False
        return self.run_line(line)

    def is_foreign_path(self, path: str) -> bool:
        """Vendored, downloaded, a log or mail of the system, or a connection to another machine."""
        if not path or len(path) > 1_000:
            return False
        if socket := programs.SOCKET.match(path):
            return not programs.is_local_host(socket[1])
        whole = self._full(path)
        inside = whole.removeprefix(self.root.rstrip("/")) if self.root else whole
        if programs.VENDORED.search(inside) or programs.ELSEWHERE.search(inside):
            return True
        return any(
            fnmatchcase(whole, each.replace("[", "[[]"))
            if "*" in each
            else f"{whole}/".startswith(f"{each}/")
            for each in self.paths
        )

    def has_foreign(self, operands: Iterable[str]) -> bool:
        return any(
            self.is_foreign_path(word) or (programs.URL.match(word) and url_hosts(word))
            for word in operands
        )

    def _full(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._cwd, path.replace("\\", "/")))

    def add_path(self, path: str) -> None:
        if path and not path.startswith(("/dev/", "-", "&")) and path not in (".", "./", "/"):
            self.paths.add(self._full(path))

    def add_copy(self, source: str, target: str) -> None:
        """A copy of `source`, which another machine may have. `target`: a file or a folder."""
        name = posixpath.basename(source.rstrip("/").rpartition(":")[2])
        if source.endswith("/") or not target.endswith(("/", "..")):
            self.add_path(target)
        self.add_path(posixpath.join(target, name))

    # Lines, pipelines, commands: each says whether it prints foreign text.

    def run_line(self, line: str, stdin: bool = False, place: str = "") -> bool:
        if self._depth >= DEEPEST:
            return False
        before, self.place = self.place, place or self.place
        self._depth += 1
        try:
            return self._run(shell.parse(line), stdin)
        finally:
            self._depth -= 1
            self.place = before

    def run_lines(self, lines: Iterable[str], place: str = "") -> bool:
        return True in [self.run_line(each, False, place) for each in lines]

    def _run(self, pipelines: Sequence[Pipeline], stdin: bool) -> bool:
        return True in [self._run_pipeline(each, stdin) for each in pipelines]

    def _run_pipeline(self, pipeline: Pipeline, stdin: bool) -> bool:
        stream, named = stdin, self.lists_foreign
        for command in pipeline:
            stream = self._run_command(command, stream)
            self.lists_foreign |= any(map(self.is_foreign_path, command.words[1:]))
        self.lists_foreign = named
        return stream

    def _run_command(self, command: Command, stdin: bool) -> bool:
        substituted = self.run_lines(command.substitutions, HERE)
        mentioned = substituted or any(map(self._mentions, (*command.words, *command.inputs)))
        for name, value in command.assigned:
            self.variables[name] = value
            if substituted or self._mentions(value):
                self.foreign_variables.add(name)
        reads = [self._expand(path) for path in command.reads]
        socket = any(path.isdigit() for path in reads) and self.opened_socket
        stdin = stdin or socket or any(map(self.is_foreign_path, reads))
        self.opened_socket |= command.words == ["exec"] and any(map(programs.SOCKET.match, reads))
        stdin = stdin or (bool(command.inputs) and mentioned)
        prints = bool(command.body) and self._run(command.body, stdin)
        if command.words and not command.body:
            words = [self._expand(word) for word in command.words]
            prints = self.run_words(words, stdin, mentioned, command.inputs)
        for path in command.writes if prints else ():
            self.add_path(self._expand(path))
        return prints and not command.writes

    def _expand(self, word: str) -> str:
        return VARIABLE.sub(lambda found: self.variables.get(found[1], found[0]), word)

    def _mentions(self, word: str) -> bool:
        return any(name in self.foreign_variables for name in VARIABLE.findall(word))

    def run_words(
        self,
        words: list[str],
        stdin: bool = False,
        mentioned: bool = False,
        inputs: Sequence[str] = (),
    ) -> bool:
        """A simple command. `stdin`: it is given foreign text; `mentioned`: so do its words."""
        words, by_xargs = _unwrap(words)
        if not words:
            return stdin
        program = posixpath.basename(words[0].replace("\\", "/")).removesuffix(".exe").lower()
        program = re.sub(r"^(python|pip|ruby|perl|php|lua)[\d.]+$", r"\1", program)
        rest = words[1:]
        if program in ("cd", "pushd"):
            if operands := operands_of(rest):
                self._cwd = self._full(operands[0])
            return False
        if program in WORDS["counters"] and not by_xargs:
            return False
        call = Call(program, rest, stdin, mentioned, by_xargs, inputs)
        if handler := HANDLERS.get(program):
            return handler(self, call)
        if program in SUBCOMMANDS:
            remote = "--remote" in rest and any("select" in word.lower() for word in rest)
            return remote or call.has_foreign_subcommand()
        if program in WORDS["local-programs"]:
            return False
        operands = operands_of(rest)
        if stdin or self.place == REMOTE or WORDS["inboxes"] & set(operands[:3]):
            return True
        script = not programs.TOOL.search(words[0]) and self.is_foreign_path(words[0])
        return script or self.has_foreign(operands)

    def run_inside(self, inner: list[str], call: Call, place: str) -> bool:
        """A command that `call` runs at another place."""
        before, self.place = self.place, place
        try:
            if inner[0] in WORDS["shells"] and len(inner) == 1:
                return self.run_lines(call.inputs)
            return self.run_words(inner, call.stdin, call.mentioned, call.inputs)
        finally:
            self.place = before


def _unwrap(words: list[str]) -> tuple[list[str], bool]:
    """Without `sudo`, `timeout 5`, `xargs -n1` and their like; whether `xargs` gives it operands."""
    by_xargs = False
    while words:
        name = posixpath.basename(words[0])
        if name == "xargs":
            words, by_xargs = skip_options(words[1:], WORDS["xargs-options"]), True
        elif tuple(words[:2]) in RUNNERS:
            words = skip_options(words[2:], WORDS["runner-options"])
        elif name in programs.WRAPPERS:
            words = skip_options(words[1:], programs.WRAPPERS[name])
            if name in ("timeout", "gtimeout"):
                words = words[1:]
        elif shell.ASSIGNMENT.fullmatch(words[0]) and len(words) > 1:
            words = words[1:]
        else:
            break
    return words, by_xargs


def repeats_files(command: str) -> bool:
    """Whether a command line prints what is in files, in its own words or in commits: copies prove
    nothing."""
    copying = WORDS["readers"] | WORDS["printers"] | {"git"}
    commands = _simple_commands(shell.parse(command))
    return any(posixpath.basename(each.words[0]) in copying for each in commands if each.words)


def _simple_commands(pipelines: Sequence[Pipeline]) -> Iterator[Command]:
    for pipeline in pipelines:
        for command in pipeline:
            yield command
            yield from _simple_commands(command.body)


# How single programs are judged: by their options, sub-commands and operands.


def _read_variables(state: Downloads, call: Call) -> bool:
    if call.stdin:
        state.foreign_variables.update(operands_of(call.rest))
    return False


def _read_files(state: Downloads, call: Call) -> bool:
    short = "".join(word[1:] for word in call.rest if re.fullmatch(r"-[A-Za-z]+", word))
    grep = call.program in ("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ugrep")
    if grep and (set("clq") & set(short) or {"--count", "--files", "--quiet"} & set(call.rest)):
        return False
    edits = any(re.fullmatch(r"-[a-zA-Z]*i\S*|--in-place\S*", word) for word in call.rest)
    if call.program in ("sed", "gsed", "perl", "yq", "sd") and edits:
        return False
    operands = operands_of(call.rest)
    if call.program in WORDS["pattern-first"] and not {"-e", "-f", "--regexp"} & set(call.rest):
        operands = operands[1:]
    if call.program == "tee" and call.stdin:
        for path in operands:
            state.add_path(path)
    elsewhere = state.place != HERE and bool(operands)
    listed = call.by_xargs and state.lists_foreign
    return call.any or elsewhere or listed or state.has_foreign(operands)


def _copy_files(state: Downloads, call: Call) -> bool:
    """`cp`, `mv`, `scp`, `rsync`."""
    valued = "-e -i -P -F -o -l -J -c -S --rsh --exclude --include"
    return _copy(state, operands_of(call.rest, valued))


def _copy(state: Downloads, operands: list[str]) -> bool:
    """What is copied from elsewhere stays foreign. To `-` it is printed."""
    *sources, target = operands or [""]
    for source in sources:
        far = "://" in source or REMOTE_PATH.fullmatch(source)
        if far and target == "-":
            return True
        if far or state.is_foreign_path(source):
            state.add_copy(source, target)
    return False


def _find(state: Downloads, call: Call) -> bool:
    """`find DIR… -exec COMMAND`"""
    at = next((n for n, word in enumerate(call.rest) if word[:1] in "-(!"), len(call.rest))
    for number, word in enumerate(call.rest):
        if word in ("-exec", "-execdir", "-ok", "-x", "-X"):
            inner = [each for each in call.rest[number + 1 :] if each not in (";", "+")]
            for root in call.rest[:at] or ["."]:
                if state.run_words([each.replace("{}", f"{root}/{{}}") for each in inner]):
                    return True
    return False


def _run_shell(state: Downloads, call: Call) -> bool:
    if call.program == "eval":
        return state.run_line(" ".join(call.rest)) or call.any
    for word, after in pairwise(call.rest):
        if re.fullmatch(r"-[a-z]*c", word):
            return state.run_line(after, call.stdin) or call.mentioned
    if operands := operands_of(call.rest):
        return state.has_foreign(operands) or call.mentioned
    if call.inputs:
        return state.run_lines(call.inputs) or call.any
    return call.stdin


def _run_code(state: Downloads, call: Call) -> bool:
    if call.program in ("python", "pypy", "pypy3") and "-m" in call.rest[:3]:
        module = call.rest[call.rest.index("-m") + 1 :]
        return bool(module) and state.run_words(module, call.stdin, call.mentioned)
    # The whole line: options may load modules.
    code = [" ".join(call.rest)] if WORDS["code-options"] & set(call.rest) else []
    code += call.inputs
    if not code:
        operands = operands_of(call.rest)
        if call.program in ("powershell", "pwsh") and _is_foreign_code(state, " ".join(operands)):
            return True  # they run their operands as code
        scripts = [word for word in operands[:2] if not programs.TOOL.search(word)]
        return call.any or state.has_foreign(scripts)
    if call.program == "perl" and _read_files(state, replace(call, program="cat")):
        return True
    return call.any or any(map(partial(_is_foreign_code, state), code))


def _is_foreign_code(state: Downloads, code: str) -> bool:
    if programs.REQUESTS.search(code):
        return bool(url_hosts(code)) or not programs.URL.search(code)
    if url_hosts(code) and programs.GETS.search(programs.URL.sub(" ", code)):
        return True
    quoted = re.findall(r"['\"]([^'\"\s]+)['\"]", code)
    return bool(programs.READS_FILE.search(code)) and any(map(state.is_foreign_path, quoted))


def _fetch(state: Downloads, call: Call) -> bool:
    wget = call.program.startswith(("wget", "aria2c", "axel"))
    if wget and "--spider" in call.rest:
        return False
    target = _output_file(call.rest, "O" if wget else "o")
    options = WORDS["fetch-options"] | ({"-O", "-o"} if wget else {"-o"})
    operands = operands_of(call.rest, options)
    if call.program in WORDS["one-address"]:
        operands = [word for word in operands if word.upper() != word or "." in word][:1]
    operands += [word.partition("=")[2] for word in call.rest if word.startswith("--url=")]
    addresses = [word.removeprefix("TCP:").removeprefix("tcp:") for word in operands]
    foreign = any(map(programs.is_foreign_address, addresses)) or call.any
    if not foreign and not (call.by_xargs and not operands):
        return False
    names = "".join(word for word in call.rest if re.fullmatch(r"-[A-Za-z#]+", word))
    if target and target not in ("-", "/dev/stdout"):
        state.add_path(target)
        return False
    if (wget and not target) or (not wget and ("O" in names or "--remote-name" in call.rest)):
        for word in operands:
            name = posixpath.basename(re.split(r"[?#]", word)[0].rstrip("/")) if "/" in word else ""
            state.add_path(posixpath.join(call.value_of("-P"), name or "index.html"))
        return False
    return True


def _output_file(words: Sequence[str], letter: str) -> str:
    """The value of `-o FILE`, `-sSo FILE`, `-oFILE`, `--output FILE`, `--output=FILE`."""
    option = re.compile(rf"--output(?:-document)?(?:=(.*))?|-[A-NP-Za-np-z#]*{letter}(.*)")
    for word, after in pairwise((*words, "")):
        if found := option.fullmatch(word):
            return found[1] or found[2] or after
    return ""


def _ssh(state: Downloads, call: Call) -> bool:
    host, *inner = skip_options(call.rest, WORDS["ssh-options"]) or [""]
    if not host or host.startswith("git@") or WORDS["ssh-no-shell"] & set(call.rest):
        return False
    if inner:
        return state.run_line(" ".join(inner), call.stdin, REMOTE)
    return state.run_lines(call.inputs, REMOTE) if call.inputs else True


def _contain(state: Downloads, call: Call) -> bool:
    """`docker`, `kubectl`: logs, copies, or a command that runs in a container."""
    if call.has_foreign_subcommand() or call.has_foreign_line():
        return True
    operands = operands_of(call.rest, WORDS["valued"])
    verb = next((word for word in operands if word not in ("compose", "container")), "")
    if verb == "cp":
        return _download(state, call)
    if verb not in ("exec", "run", "debug"):
        return False
    rest = call.rest[call.rest.index(verb) + 1 :]
    if "--" in rest:
        inner = rest[rest.index("--") + 1 :]
    else:
        inner = skip_options(rest, WORDS["container-options"])[1:]
    place = REMOTE if call.program in ("kubectl", "oc") else CONTAINER
    return bool(inner) and state.run_inside(inner, call, place)


def _git(state: Downloads, call: Call) -> bool:
    operands = operands_of(
        call.rest, "-C -c --git-dir --work-tree -n -m -b --depth --format --branch -o --since"
    )
    verb, names = (operands[0], operands[1:]) if operands else ("", [])
    foreign = any(map(partial(_is_foreign_ref, state), names))
    if verb in WORDS["git-prints"]:
        vendored = state.has_foreign(names[verb == "grep" :])
        here = "HEAD" in state.refs and not names
        plain = verb == "diff" and WORDS["git-plain"] & set(call.rest)
        return (foreign or here or (vendored and verb != "log")) and not plain
    if verb == "ls-remote":
        return foreign or any(map(url_hosts, names))
    _track_git(state, call, verb, names, foreign)
    return False


def _track_git(state: Downloads, call: Call, verb: str, names: list[str], foreign: bool) -> None:
    if verb in ("clone", "submodule", "subtree"):
        sources = [name for name in names if "://" in name or REMOTE_PATH.fullmatch(name)]
        if sources:
            target = names[-1] if names[-1] != sources[0] else posixpath.basename(sources[0])
            prefix = next((w.partition("=")[2] for w in call.rest if w.startswith("--prefix=")), "")
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
            new = call.value_of("-b", "-B", "-c")
            state.refs.update(filter(None, (new, *names[:1])))
    elif verb == "worktree" and foreign and len(names) > 1:
        state.add_path(names[1])


def _is_foreign_ref(state: Downloads, name: str) -> bool:
    known = "|".join(map(re.escape, sorted(state.remotes)))
    if re.search(programs.FOREIGN_REF.format(known), name):
        return True
    return any(part in state.refs for part in re.split(r"\.{2,3}|[:^~@]", name) if part)


def _gh(state: Downloads, call: Call) -> bool:
    valued = WORDS["valued"] | {"--json", "-q", "--jq", "-X", "--method", "-f", "-F"}
    operands, line = operands_of(call.rest, valued), " ".join(call.rest)
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
    if fields and set(fields[1].split(",")) <= WORDS["plain-fields"]:
        return False
    return call.has_foreign_subcommand()


def _aws(state: Downloads, call: Call) -> bool:
    """Also `gsutil` and their like: `cp` from a bucket to a file or to standard output."""
    operands = operands_of(call.rest, WORDS["valued"])
    if any(word in ("cp", "mv", "sync", "copy", "download", "get") for word in operands[:3]):
        return _copy(state, operands)
    if call.program in WORDS["elsewhere-programs"] and _run_elsewhere(state, call):
        return True
    path = " ".join(operands[:5])
    reads = call.program in ("aws", "gcloud", "az") and programs.CLOUD_READS.search(path)
    return bool(reads) or call.has_foreign_subcommand()


def _run_elsewhere(state: Downloads, call: Call) -> bool:
    """A command for another machine: behind `--`, or the value of an option."""
    if "--" in call.rest and call.rest[-1] != "--":
        return state.run_inside(call.rest[call.rest.index("--") + 1 :], call, REMOTE)
    options = ("-c", "-C", "-a", "--command", "cmd.run")
    lines = [b for a, b in pairwise(call.rest) if a in options]
    lines += [word.partition("=")[2] for word in call.rest if word.startswith("--command=")]
    return call.has_foreign_subcommand() or state.run_lines(lines, REMOTE)


def _download(state: Downloads, call: Call) -> bool:
    """Package managers: what they print, and archives and folders that they put somewhere."""
    operands = operands_of(call.rest, "-d --dest -D --dir -p --pattern -o --output -P")
    verb, names = (operands[0], operands[1:]) if operands else ("", [])
    if verb in ("cp", "checkout", "co", "export") and len(names) > 1:
        return _copy(state, names)
    if verb in ("download", "pack", "fetch", "source", "unpack", "pull"):
        state.add_path(call.value_of("-d", "--dest", "-D", "--dir", "-o", "--output"))
        for name in names:
            if not name.startswith((".", "/")):
                state.add_path(f"{re.split(r'[@=<>~]', name.lstrip('@'))[0].replace('/', '-')}-*")
        return False
    if call.program == "go":
        return verb == "doc" and any("." in name.partition("/")[0] for name in names[:1])
    if call.program in ("svn", "hg"):
        return verb in ("cat", "log", "diff", "blame") and any(map(url_hosts, names))
    return call.has_foreign_subcommand()


def _query(state: Downloads, call: Call) -> bool:
    """A database of another machine. Changes print a status."""
    line = " ".join(call.rest)
    host = re.search(r"(?:^|\s)(?:-h|--host|--hostname|-S|--server)(?:\s+|=)?([^\s,]+)", line)
    host = host or re.search(r"\bhost=([^\s'\"]+)", line)
    uri = re.search(r"[a-z+]{2,}://\S+", line)
    named = host[1] if host else (programs.host_of(uri[0]) if uri else "")
    named = named or state.variables.get("PGHOST") or state.variables.get("MYSQL_HOST") or ""
    named = "hosted" if call.program in ("snowsql", "bq", "trino", "presto") else named
    variable = any(word.startswith("$") for word in call.rest) and not host
    local = not named or re.fullmatch(r"localhost|127[\d.]*|::1|0\.0\.0\.0|/.*", named)
    if (local and not variable and state.place != CONTAINER) or "dump" in call.program:
        return state.place == REMOTE
    queries = [b for a, b in pairwise(call.rest) if a in WORDS["query-options"]]
    inline = (re.match(r"--(?:command|execute|eval|query)=(.*)", w, re.DOTALL) for w in call.rest)
    queries += [*call.inputs, *(found[1] for found in inline if found)]
    if not queries and call.program.endswith("-cli"):
        operands = operands_of(call.rest, "-h -p -n -a -u --user --pass")
        return bool(operands) and bool(programs.QUERY.search(operands[0]))
    if not queries:
        lists = re.search(r"(?:^|\s)(?:-f|--file|-l|--list|--version)\b", line)
        return not lists and not call.stdin
    return any(programs.QUERY.search(q) and not programs.CHANGE.match(q) for q in queries)


def _unpack(state: Downloads, call: Call) -> bool:
    operands = [word for word in call.rest if not word.startswith("-")]
    letters = "".join(word.lstrip("-") for word in call.rest[:1] if not word.startswith("--"))
    archive = next((word for word in operands if programs.ARCHIVE.search(word)), "")
    extracts = call.program not in ("tar", "bsdtar") or "x" in letters or "--extract" in call.rest
    foreign = call.stdin or state.is_foreign_path(archive)
    if not extracts or {"-l", "-t", "-Z"} & set(call.rest):
        return False
    prints = {"unzip": "-p" in call.rest, "tar": "O" in letters}.get(call.program, False)
    if prints or "-c" in call.rest:
        return foreign
    if folder := call.value_of("-C", "-d", "--directory"):
        state.add_path(folder)
    elif foreign:
        state.add_path(programs.ARCHIVE.sub("", posixpath.basename(archive)))
    return False


Handler = Callable[[Downloads, Call], bool]
GROUPED: tuple[tuple[Iterable[str], Handler], ...] = (
    (WORDS["printers"], lambda _, call: call.mentioned),
    (("read", "mapfile", "readarray"), _read_variables),
    (WORDS["readers"], _read_files),
    (("cp", "mv", "scp", "rsync", "ln", "sftp"), _copy_files),
    (("find", "fd", "fdfind"), _find),
    (WORDS["shells"], _run_shell),
    (WORDS["interpreters"], _run_code),
    (WORDS["url-programs"], _fetch),
    (("ssh", "mosh", "autossh"), _ssh),
    (("docker", "podman", "nerdctl", "docker-compose", "podman-compose"), _contain),
    (("kubectl", "oc"), _contain),
    (("git",), _git),
    (("gh",), _gh),
    (("aws", "gsutil", "mc", "s3cmd", "gcloud", "rclone", "az"), _aws),
    (WORDS["elsewhere-programs"] - {"gcloud"}, _run_elsewhere),
    (("pip", "pip3", "npm", "pnpm", "gem", "cargo", "go", "svn", "hg", "apt-get"), _download),
    (programs.FOREIGN_LINES.keys() - {"kubectl", "oc"}, lambda _, call: call.has_foreign_line()),
    (WORDS["databases"], _query),
    (("tar", "bsdtar", "unzip", "7z", "gunzip", "unar"), _unpack),
)
HANDLERS = {name: handler for names, handler in GROUPED for name in names}
