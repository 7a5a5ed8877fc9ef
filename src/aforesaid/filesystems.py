"""Whether SQLite's write-ahead log is safe in a folder.

The log is shared memory, so every process must be on one machine, and locks must work. Network file systems,
folders shared with a virtual machine's host, and folders that a cloud service copies do not promise that:
there a rollback journal is used. Without `/proc` a folder is taken for a local one.
"""

import os
import re
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
SHARED = frozenset(
    (
        *("nfs", "nfs3", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afs", "ncpfs", "coda", "ceph"),
        *("glusterfs", "lustre", "gpfs", "beegfs", "ocfs2", "gfs2", "davfs", "orangefs"),
        *("9p", "v9fs", "drvfs", "vboxsf", "vmhgfs", "prl_fs", "virtiofs", "fakeowner"),
        *("fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.ceph"),
        *("fuse.gvfsd-fuse", "fuse.davfs2", "fuse.vmhgfs-fuse", "fuse.juicefs", "fuse.smbnetfs"),
    )
)
SYNCED = ("Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "iCloudDrive", "Mobile Documents")


def why_shared(folder: Path) -> str | None:
    """Who else may have a hand in it, in words; None for a folder on a disk of this machine."""
    real = folder.resolve()
    kind = kind_of(real)
    if kind in SHARED:
        return f"{folder} is on a file system that other machines may use ({kind})"
    if service := next((part for part in real.parts if part.startswith(SYNCED)), None):
        return f"{folder} is in a folder that a cloud service copies ({service})"
    return None


def kind_of(folder: Path) -> str | None:
    """As the kernel names it; None where nobody tells."""
    try:
        lines = MOUNTS.read_bytes().splitlines()
    except OSError:
        return None
    name, best, kind = os.fsencode(folder), b"", None
    for line in lines:
        before, _, after = line.partition(b" - ")
        fields = before.split(b" ")
        if len(fields) < 5 or not after:
            continue
        # Spaces, tabs, newlines and backslashes are written as octal numbers.
        place = re.sub(rb"\\(\d{3})", lambda octal: bytes([int(octal[1], 8)]), fields[4])
        inside = place in (b"/", name) or name.startswith(place + b"/")
        if inside and len(place) >= len(best):  # the last of two on the same place covers the first
            best, kind = place, after.split(b" ", 1)[0].decode("utf-8", "replace")
    return kind
