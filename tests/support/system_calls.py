"""What a process asks of the system, in order, as strace tells it: files that are written, synced, removed.

A write counts from the moment it begins, and a sync only for what was written before it began: so the order
that is read here is never kinder than the real one.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

FILES = "openat,pwrite64,write,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2"
NETWORK = "connect,sendto,sendmsg,bind"
LONGEST = 1 << 20

_LINE = re.compile(r"^(?P<thread>\d+) +(?P<rest>.*)$")
_CALL = re.compile(r"^(?P<name>\w+)\((?P<arguments>.*)$")
_RESUMED = re.compile(r"^<\.\.\. (?P<name>\w+) resumed>")
_FILE = re.compile(r"^\d+<(?P<path>[^>]*)>")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    path: str
    data: bytes = b""
    offset: int = 0
    target: str = ""  # of a rename
    begun: int = 0  # for a sync: how many calls had been made when it began


def needs_strace() -> None:
    """Skips the test where nobody may be watched."""
    found = shutil.which("strace")
    if not found:
        pytest.skip("needs strace")
    if subprocess.run(
        [found, "-f", "--seccomp-bpf", "-qq", "true"], capture_output=True, check=False
    ).returncode:
        pytest.skip("strace may not watch processes here")


def watched(command: Sequence[str], trace: Path, calls: str) -> list[str]:
    """The command line that runs a command and writes down its calls. Only these are stopped at."""
    return _strace(command, trace, calls, "--seccomp-bpf")


def disturbed(
    command: Sequence[str], trace: Path, calls: str, fault: str, paths: Sequence[Path]
) -> list[str]:
    """The same, with a fault in those calls that name one of the paths."""
    places = [part for path in paths for part in ("-P", str(path))]
    return _strace(command, trace, calls, *places, "-e", f"inject={calls}:{fault}")


def _strace(command: Sequence[str], trace: Path, calls: str, *more: str) -> list[str]:
    shown = ("-qq", "-y", "-xx", "-s", str(LONGEST), "-e", "signal=none")
    return ["strace", "-f", *shown, "-e", f"trace={calls}", *more, "-o", str(trace), *command]


def calls_in(trace: Path) -> list[Call]:
    """Those that changed files, those that opened them, and the syncs."""
    found: list[Call] = []
    waiting: dict[str, Call] = {}  # syncs that have begun, by thread
    for line in trace.read_text(errors="replace").splitlines():
        parts = _LINE.match(line)
        if not parts:
            continue
        thread, rest = parts["thread"], parts["rest"]
        if _RESUMED.match(rest):
            if (begun := waiting.pop(thread, None)) is not None and rest.endswith("= 0"):
                found.append(begun)
            continue
        for call in _read(rest, len(found)):
            if call.name in ("fsync", "fdatasync") and rest.endswith("<unfinished ...>"):
                waiting[thread] = call
            elif "= -1 " not in rest:
                found.append(call)
    return found


def addresses_in(trace: Path) -> list[str]:
    """Whatever is no socket of this machine's own file system."""
    lines = trace.read_text(errors="replace").splitlines()
    return [line for line in lines if "sa_family=AF_INET" in line]


def _read(rest: str, begun: int) -> Iterator[Call]:
    match = _CALL.match(rest)
    if not match:
        return
    name, arguments = match["name"], match["arguments"]
    file = _FILE.match(arguments)
    path = _plain(file["path"]) if file else ""
    texts = [_bytes(text) for text in _TEXT.findall(arguments)]
    match name:
        case "pwrite64" if texts:
            yield Call(name, path, texts[0], int(_last(arguments)))
        case "write" if texts:
            yield Call(name, path, texts[0], -1)  # where the file ends
        case "ftruncate":
            yield Call(name, path, offset=int(_last(arguments)))
        case "fsync" | "fdatasync":
            yield Call(name, path, begun=begun)
        case "openat" | "unlink" | "unlinkat" if texts:
            yield Call(name, texts[0].decode())
        case "rename" | "renameat" | "renameat2" if len(texts) == 2:
            yield Call("rename", texts[0].decode(), target=texts[1].decode())


def _last(arguments: str) -> str:
    """The last argument, whether the call has ended on its line or not."""
    inner = arguments.removesuffix(" <unfinished ...>").rpartition(")")[0] or arguments
    return inner.removesuffix(" <unfinished ...>").rpartition(", ")[2].strip().rstrip(")")


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _plain(path: str) -> str:
    """`-y` escapes as `-xx` does."""
    return _bytes(path).decode() if path.startswith("\\x") else path
