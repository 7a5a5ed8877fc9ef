"""Whose process is at the other end of a connection, where the system tells (Linux does).

The token keeps others out; this keeps them out even with a token or a link that they have seen somewhere,
such as in the list of processes. Root may come: it reads everything anyway, and some systems pass a
browser's connections on as root. What the system does not tell is left to the token.
"""

import os
import socket
import struct
from pathlib import Path

TABLE = Path("/proc/self/net/tcp")
ROOT = 0
Address = tuple[str, int]


def is_foreign(client: Address, server: Address) -> bool:
    """Another user's. Also one that has hung up already: nobody can say whose it was."""
    wanted = f" {_hex(client)} {_hex(server)} "
    try:
        with TABLE.open(encoding="ascii") as lines:
            line = next((line for line in lines if wanted in line), None)
    except (OSError, ValueError):
        return False
    if line is None:
        return False
    fields = line.split()
    uid, inode = int(fields[7]), fields[9]
    return inode == "0" or uid not in (os.getuid(), ROOT)


def _hex(address: Address) -> str:
    """As the table has it: the address as the machine's own number, the port as the network's."""
    host, port = address
    (number,) = struct.unpack("=I", socket.inet_aton(host))
    return f"{number:08X}:{port:04X}"
