"""Capture one hook event into the spool, then print what the worker answers to it.

Run as `<python> -I -S capture.py <agent> <hook> [<project> [<session>]]` by capture.sh, for the events that
want an answer, and for every event where there is no `sh`. It is the hot path: os, sys and time at module
level, nothing of the package, ever. The event is in the spool before anybody is asked for anything, so a
worker that is dead, hung or old costs the answer and never the event. The hook `file` is a question only:
nothing is kept.

Exit status: 0 once our input is read, whatever happened then; 1 before, and capture.sh takes over.
"""

import os
import sys
import time

VERSION = "0.1.0"
# Seconds; the user is waiting. A compaction takes many of its own.
DEADLINE = {"context": 0.8, "new": 0.3, "file": 0.15, "compact": 1.0}
PRIVATE = tuple(a + b + b"private" for a in (b"<", b"u003c", b"lt;") for b in (b"", b"/", b"\\/"))
OFF = "/.aforesaid/off"
STALE_START = 10  # seconds after which a start that came to nothing is forgotten


def main(
    agent: str, hook: str, project: str = "", session: str = "", *, body: bytes | None = None
) -> int:
    """`project`, `session`: as the agent names them; empty if it does not."""
    if os.environ.get("AFORESAID_INSIDE"):
        return 0
    os.umask(0o077)
    state = state_dir()
    project = project or os.getcwd()
    given = read_all(0) if body is None else body
    # The user wants nothing recorded here: the same rule as in capture.sh.
    if os.environ.get("AFORESAID_PAUSED", "0") not in ("", "0") or os.path.exists(project + OFF):
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        hook, given = __import__("paused").instead(hook, given)
    data = header(agent, hook, project) + (without_private(given) if hook == "new" else given)
    try:
        if hook == "file":
            show(about_file(state, session, data))
            return 0
        keep(state, hook, data)
        if hook in DEADLINE:
            show(answer(state, agent, hook, project, data))
        else:
            start_if_down(state)
    except Exception:  # fail open: whatever went wrong here must not reach the agent
        return 0
    return 0


def state_dir() -> str:
    """The same rule as capture.sh and paths.py."""
    env = os.environ
    if env.get("AFORESAID_HOME", "").startswith("/"):
        return env["AFORESAID_HOME"]
    base = env.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):
        if not env.get("HOME"):
            env.pop("HOME", None)  # then expanduser asks the password database
        base = os.path.expanduser("~") + "/.local/state"
    return base + "/aforesaid"


def header(agent: str, hook: str, project: str) -> bytes:
    return b"aforesaid/1 %s %s %s\0\n" % tuple(map(os.fsencode, (agent, hook, project)))


def read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def without_private(body: bytes) -> bytes:
    """What a prompt marks as private does not reach the disk. Without a tag that costs a search."""
    if not any(map(body.lower().__contains__, PRIVATE)):
        return body
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    shown: bytes = __import__("private_prompt").hidden(body)
    return shown


def keep(state: str, hook: str, data: bytes) -> None:
    try:
        write_spool(state, data)
    except OSError as error:
        from errno import EDQUOT, ENOSPC

        why = b"full" if error.errno in (EDQUOT, ENOSPC) else b"other"
        note = os.open(state + "/capture-failures", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(note, b"%s %d %s\n" % (os.fsencode(hook), time.time(), why))
        os.close(note)


def write_spool(state: str, data: bytes) -> str:
    name = f"{time.time_ns()}-{os.getpid()}-{os.urandom(4).hex()}"
    tmp, new = state + "/spool/tmp/", state + "/spool/new/"
    try:
        write_file(tmp + name, data)
    except FileNotFoundError:
        os.makedirs(tmp, exist_ok=True)
        write_file(tmp + name, data)
    try:
        publish(tmp + name, new + name)
    except OSError:
        os.unlink(tmp + name)  # counted as lost, so it must not turn up later
        raise
    return name


def write_file(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        os.unlink(path)  # a full disk: a cut-off file must not look whole
        raise
    finally:
        os.close(descriptor)


def publish(path: str, target: str) -> None:
    try:
        os.rename(path, target)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(path, target)


def answer(state: str, agent: str, hook: str, project: str, data: bytes) -> bytes:
    """The bytes to print. Two installations at once ask twice; only the first is answered."""
    if not first_to_ask(state, data):
        return b""
    try:
        reply = ask(state + "/run", b"ask " + data, DEADLINE[hook])
        version, _, text = reply.partition(b"\n")
        if older(version.decode()):
            start_worker()  # it replaces the old one
        return text
    except (OSError, ValueError):
        in_vain = start_if_down(state)
        return prepared(state, agent, project, data, in_vain) if hook == "context" else b""


def about_file(state: str, session: str, data: bytes) -> bytes:
    """Of the files in the worker's list, if it left one. Nobody is started for this: the capture that
    follows does that."""
    files = state + "/run/files/" + (session or ".")
    if not os.path.exists(state + "/run/worker.sock"):
        return b""
    if os.path.isfile(files) and not any(name in data for name in read_file(files).splitlines()):
        return b""
    if not first_to_ask(state, data):
        return b""
    return ask(state + "/run", b"ask " + data, DEADLINE["file"]).partition(b"\n")[2]


def first_to_ask(state: str, data: bytes) -> bool:
    from binascii import crc32

    claims = state + "/run/claims"
    name = f"{claims}/{crc32(data):08x}-{len(data)}"
    os.makedirs(claims, exist_ok=True)
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if time.time() - os.stat(name).st_mtime < 5:
            return False
        os.utime(name)
    return True


def ask(run: str, request: bytes, seconds: float) -> bytes:
    """One question, one answer, within the deadline in total."""
    from _socket import AF_UNIX, SHUT_WR, SOCK_STREAM, socket

    end = time.monotonic() + seconds
    os.chdir(run)  # a socket's path may have 107 bytes only; a relative one always fits
    link = socket(AF_UNIX, SOCK_STREAM)
    parts = []
    try:
        link.settimeout(seconds)
        link.connect("worker.sock")
        link.sendall(request)
        link.shutdown(SHUT_WR)
        while True:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            link.settimeout(left)
            part = link.recv(1 << 16)
            if not part:
                break
            parts.append(part)
    finally:
        link.close()  # at once: so the worker knows that nobody hears a late answer
    if not parts:
        raise ValueError("no answer")
    return b"".join(parts)


def prepared(state: str, agent: str, project: str, data: bytes, in_vain: bool) -> bytes:
    """The copy that the worker left for this directory, with what is wrong put in front."""
    body = data.partition(b"\0\n")[2].replace(b'": "', b'":"')
    if b'"source":"resume"' in body or b'"source":"fork"' in body:
        return b""
    note = read_file(state + "/health.json").strip()
    if in_vain and not note:
        # It died before it could say why: its Python has no aforesaid, perhaps.
        note = b'"aforesaid is not recording: its worker does not start. Run `aforesaid doctor`."'
    copy = b""
    found, _, text = read_file(state + "/briefs/" + brief_name(agent, project)).partition(b"\0\n")
    if found == brief_head(project):  # names are cut and may collide; the content decides
        copy = text
    if not note:
        return copy
    return b'{"systemMessage":' + note + (b"," + copy[1:] if copy.startswith(b"{") else b"}")


def brief_name(agent: str, project: str) -> str:
    from binascii import crc32

    readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in project[-60:])
    return f"{agent}-{readable}-{crc32(os.fsencode(project)):08x}"


def brief_head(project: str) -> bytes:
    """What a prepared brief begins with: the directory, and the repository that it was prepared for."""
    return os.fsencode(project) + b"\0" + repository_mark(project).encode()


def repository_mark(project: str) -> str:
    """Another value once another repository is in that place, without running git. `description` is written
    when a repository is made and never again; its change time cannot be set."""
    folder = os.path.realpath(project)
    while True:
        try:
            found = os.lstat(folder + "/.git")
            break
        except OSError:
            above = os.path.dirname(folder)
            if above == folder:
                return "-"
            folder = above
    mark = f"{folder.count('/')}.{found.st_ino}"
    if found.st_mode & 0o170000 == 0o040000:  # a directory
        try:
            found = os.stat(folder + "/.git/description")
        except OSError:
            return mark
    return f"{mark}.{found.st_ino}.{found.st_ctime_ns}"


def read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def older(version: str) -> bool:
    its, ours = ([int(n) for n in each.split(".") if n.isdigit()] for each in (version, VERSION))
    return its < ours


def start_if_down(state: str) -> bool:
    """Starts a worker if there is none. True when an earlier start came to nothing."""
    try:
        os.kill(int(read_file(state + "/run/worker.pid")), 0)
        if ask_is_possible(state):
            return False
    except (OSError, ValueError):
        pass
    in_vain = False
    starting = state + "/run/starting"
    try:
        os.makedirs(state + "/run", exist_ok=True)
        try:
            if time.time() - os.stat(starting).st_mtime > STALE_START:
                os.unlink(starting)
                in_vain = True
        except FileNotFoundError:
            pass
        descriptor = os.open(starting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return in_vain
    os.write(descriptor, b"%d\n" % start_worker())
    os.close(descriptor)
    return in_vain


def ask_is_possible(state: str) -> bool:
    """The pid may be somebody else's by now; only the socket proves that it is ours."""
    try:
        ask(state + "/run", b"ping\n", 0.3)
    except TimeoutError:
        return True  # busy or hung: alive, and `aforesaid doctor` tells which
    except (OSError, ValueError):
        return False
    return True


def start_worker() -> int:
    """Detached: it has its own session and no descriptor of ours, so it outlives the agent."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.execv(sys.executable, [sys.executable, "-I", "-m", "aforesaid.worker.main"])
    finally:
        os._exit(127)


def show(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


if __name__ == "__main__":
    try:
        status = main(*sys.argv[1:])
    except BaseException:  # our input is unread: capture.sh can still keep the event
        status = 1
    os._exit(status)
