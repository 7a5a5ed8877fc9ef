"""Whose process is at the other end of a connection, where the system tells (Linux does).

The token keeps others out; this keeps them out even with a token or a link that they have seen somewhere,
such as in the list of processes. Root may come: it reads everything anyway, and some systems pass a
browser's connections on as root. Whoever cannot be found is refused, too: one that has hung up, and one that
is not of this machine although it came over loopback. Only where the system tells nothing at all, for nobody,
is it left to the token.

The kernel is asked for that one connection (sock_diag), which takes microseconds however many there are, and
finds an IPv6 socket that was connected to an IPv4 address as well. Where it cannot be asked so, the tables in
/proc are read: both, for the same reason.
"""

import os
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TABLES = (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6"))
MAPPED = "0000000000000000FFFF0000"  # before an IPv4 address, as the table of IPv6 has it
ROOT = 0
SECONDS = 1.0  # for the kernel, which answers at once
OPEN_STATES = (1, 8)  # of TCP: established, and closed by the other end for sending alone
SOCK_DIAG, BY_FAMILY, REQUEST = 4, 20, 1
HEADER, ASKED, ADDRESSES, COOKIE = "=IHHII", "=BBBBI", "!HH16s16sI", b"\xff" * 8
OWNER = struct.calcsize(HEADER) + 4 + struct.calcsize(ADDRESSES) + len(COOKIE) + 12
Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Owner:
    """`inode`: 0 once the process has let go of its socket; then the user is nobody's, too."""

    uid: int
    inode: int

    @property
    def is_foreign(self) -> bool:
        return self.inode == 0 or self.uid not in (os.getuid(), ROOT)


def is_foreign(link: socket.socket) -> bool:
    """Of a connection over IPv4 that was taken: whether another user's process holds its other end, or nobody
    can say whose it is."""
    try:
        client, server = link.getpeername(), link.getsockname()
        found = _of_kernel(client, server)
        # Only while it stands it is sure that who has the other end's port is who had it when it sent.
        if not _is_open(link):
            return True
    except OSError:  # it hung up before it was looked at
        return True
    if found is None:
        tables = _tables()
        found = _in_tables(tables, client, server)
        return bool(tables) if found is None else found.is_foreign
    return found.is_foreign


def _of_kernel(client: Address, server: Address) -> Owner | None:
    """None: there is no such connection, or the kernel was built without an answer."""
    ends = struct.pack(
        ADDRESSES, client[1], server[1], socket.inet_aton(client[0]), socket.inet_aton(server[0]), 0
    )
    asked = struct.pack(ASKED, socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
    body = asked + ends + COOKIE
    size = struct.calcsize(HEADER) + len(body)
    if not hasattr(socket, "AF_NETLINK"):  # Linux alone has it
        return None
    with suppress(OSError):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as link:
            link.settimeout(SECONDS)
            link.send(struct.pack(HEADER, size, BY_FAMILY, REQUEST, 1, 0) + body)
            answer = link.recv(4096)
        _, kind, *_ = struct.unpack_from(HEADER, answer)
        if kind == BY_FAMILY and len(answer) >= OWNER + 8:
            return Owner(*struct.unpack_from("=II", answer, OWNER))
    return None


def _is_open(link: socket.socket) -> bool:
    if not hasattr(socket, "TCP_INFO"):
        return True
    return link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] in OPEN_STATES


def _tables() -> list[str]:
    """Those that can be read."""
    found = []
    for table in TABLES:
        with suppress(OSError, ValueError):
            found.append(table.read_text("ascii"))
    return found


def _in_tables(tables: list[str], client: Address, server: Address) -> Owner | None:
    ours, theirs = _hex(server), _hex(client)
    for wanted in (f" {theirs} {ours} ", f" {MAPPED}{theirs} {MAPPED}{ours} "):
        for table in tables:
            place = table.find(wanted)
            if place >= 0:
                fields = table[place : table.find("\n", place)].split()
                return Owner(int(fields[6]), int(fields[8]))
    return None


def _hex(address: Address) -> str:
    """As the table has it: the address as the machine's own number, the port as the network's."""
    host, port = address
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"
