"""Whether a command line prints text that others may have written, and which files it brings in.

A line is parsed into its commands, and the text that each prints is followed through pipes, redirections,
variables and files. `programs.txt` holds the data. What only counts or reports status is not foreign.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from aforesaid.provenance import handlers, shell
from aforesaid.provenance import programs as data
from aforesaid.provenance.shell import Command, Pipeline, operands_of, skip_options

RUNNER_OPTIONS = "--with --from -p --python --group --extra --env-file -c"
DEEPEST = 6  # command lines within command lines
VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


def fetches_foreign_text(command: str) -> bool:
    return Downloads().add_command(command)


@dataclass(slots=True)
class Downloads:
    """What the command lines of one session have brought in: files and folders, git refs and remotes, and
    shell variables of the present line. `root`: the project, whose own place in the file system says
    nothing."""

    root: str = ""
    paths: set[str] = field(default_factory=set)
    refs: set[str] = field(default_factory=set)
    remotes: set[str] = field(default_factory=lambda: set(data.FOREIGN_REMOTES))
    _cwd: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    foreign_variables: set[str] = field(default_factory=set)
    place: str = handlers.HERE
    opened_socket: bool = False  # by `exec`, so that a number names it
    lists_foreign: bool = False  # a command earlier in the pipe lists files that are foreign
    _depth: int = 0

    def add_command(self, line: str, cwd: str = "") -> bool:
        self._cwd = cwd or self.root
        self.variables, self.foreign_variables, self.opened_socket = {}, set(), False
        return self.run_line(line)

    def is_foreign_path(self, path: str) -> bool:
        """Vendored, downloaded, a log or mail of the system, or a connection to another machine."""
        if not path or len(path) > 1_000:
            return False
        if socket := data.SOCKET.match(path):
            return not handlers.is_local_host(socket[1])
        whole = self._full(path)
        inside = whole.removeprefix(self.root.rstrip("/")) if self.root else whole
        if data.VENDORED.search(inside) or data.ELSEWHERE.search(inside):
            return True
        return any(
            fnmatchcase(whole, each.replace("[", "[[]"))
            if "*" in each
            else f"{whole}/".startswith(f"{each}/")
            for each in self.paths
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

    def run_line(self, line: str, stdin: bool = False, place: str | None = None) -> bool:
        if self._depth >= DEEPEST:
            return False
        before, self.place = self.place, place or self.place
        self._depth += 1
        try:
            return self._run(shell.parse(line), stdin)
        finally:
            self._depth -= 1
            self.place = before

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
        substituted = True in [
            self.run_line(each, place=handlers.HERE) for each in command.substitutions
        ]
        mentioned = substituted or any(map(self._mentions, (*command.words, *command.inputs)))
        for name, value in command.assigned:
            self.variables[name] = value
            if substituted or self._mentions(value):
                self.foreign_variables.add(name)
        reads = [self._expand(path) for path in command.reads]
        socket = any(path.isdigit() for path in reads) and self.opened_socket
        stdin = stdin or socket or any(map(self.is_foreign_path, reads))
        self.opened_socket |= command.words == ("exec",) and any(map(data.SOCKET.match, reads))
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
        self, words: list[str], stdin: bool, mentioned: bool, inputs: Sequence[str] = ()
    ) -> bool:
        """A simple command. `stdin`: it is given foreign text; `mentioned`: so do its words."""
        words, given = _unwrap(words)
        if not words:
            return stdin
        program = posixpath.basename(words[0].replace("\\", "/")).removesuffix(".exe").lower()
        program = re.sub(r"^(python|pip|ruby|perl|php|lua)[\d.]+$", r"\1", program)
        rest = words[1:]
        if program in ("cd", "pushd"):
            if operands := operands_of(rest):
                self._cwd = self._full(operands[0])
            return False
        if program in data.COUNTERS and not given:
            return False
        handler = handlers.HANDLERS.get(program)
        if handler is not None:
            return handler(
                self, handlers.Call(program, rest, stdin, mentioned, given, tuple(inputs))
            )
        if program in data.SUBCOMMANDS:
            remote = "--remote" in rest and any("select" in word.lower() for word in rest)
            return remote or handlers.has_subcommand(program, rest)
        if program in data.LOCAL_PROGRAMS:
            return False
        operands = operands_of(rest)
        if stdin or self.place == handlers.REMOTE or data.INBOXES & set(operands[:3]):
            return True
        if self.is_foreign_path(words[0]) and not data.TOOL.search(words[0]):
            return True
        return handlers.any_foreign(self, operands)


def _unwrap(words: list[str]) -> tuple[list[str], bool]:
    """Without `sudo`, `timeout 5`, `xargs -n1` and their like; whether `xargs` gives it operands."""
    given = False
    while words:
        name = posixpath.basename(words[0])
        if name == "xargs":
            words, given = skip_options(words[1:], "-n -I -P -L -d -a -s -E"), True
        elif tuple(words[:2]) in data.RUNNERS:
            words = skip_options(words[2:], RUNNER_OPTIONS)
        elif name in data.WRAPPERS:
            words = skip_options(words[1:], data.WRAPPERS[name])
            if name in ("timeout", "gtimeout"):
                words = words[1:]
        elif shell.ASSIGNMENT.fullmatch(words[0]) and len(words) > 1:
            words = words[1:]
        else:
            break
    return words, given


def repeats_files(command: str) -> bool:
    """Whether a command line prints what is in files, in its own words or in commits: copies prove
    nothing."""
    copying = data.READERS | data.PRINTERS | {"git"}
    words = (each.words for pipeline in _simple_commands(shell.parse(command)) for each in pipeline)
    return any(posixpath.basename(first) in copying for first, *_ in filter(None, words))


def _simple_commands(pipelines: Sequence[Pipeline]) -> Iterator[Pipeline]:
    for pipeline in pipelines:
        yield pipeline
        for command in pipeline:
            yield from _simple_commands(command.body)
