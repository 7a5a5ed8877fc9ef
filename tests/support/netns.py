"""A network namespace for the tests: loopback and nothing else.

Inside it the client and the scripted API meet as usual, and nothing can call home, whatever a
client version may try. A process cannot be moved there with its threads, so the test command is
started again inside. Where the system allows no namespace, the tests run on plain loopback.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

GUARD = "AFORESAID_TEST_NETWORK"
"""Set once the choice is made. Set it to `host` beforehand to stay in the host's network."""

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1


def bring_loopback_up() -> None:
    """`ip link set lo up`, without needing iproute2."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        (flags,) = struct.unpack_from("h", asked, 16)
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def loopback_works() -> bool:
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.create_connection(server.getsockname(), timeout=5) as there,
            server.accept()[0] as here,
        ):
            there.sendall(b"x")
            return here.recv(1) == b"x"
    except OSError:
        return False


def in_namespace(command: Sequence[str]) -> list[str]:
    """The command, wrapped. Without root it takes a user namespace as well."""
    return ["unshare", "-n" if os.geteuid() == 0 else "-rn", *command]


def namespace_works() -> bool:
    """Try it in a child first: after an exec there is no way back."""
    probe = in_namespace([sys.executable, "-m", "tests.support.netns"])
    try:
        return subprocess.run(probe, capture_output=True, timeout=30, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def reexec_in_namespace(module: str, args: Sequence[str]) -> str:
    """Start `python -m module args` again in a namespace, once; then say which network it is.

    Does not return when it starts again. Call it before anything else.
    """
    chosen = os.environ.get(GUARD)
    if chosen is None and sys.platform == "linux" and namespace_works():
        os.environ[GUARD] = "namespace"
        command = in_namespace([sys.executable, "-m", module, *args])
        os.execvp(command[0], command)
    if chosen == "namespace":
        bring_loopback_up()
        return "a network namespace of its own"
    os.environ[GUARD] = "host"
    return "plain loopback of the host"


if __name__ == "__main__":
    bring_loopback_up()
    sys.exit(not loopback_works())
