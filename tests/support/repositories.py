"""Git repositories of every kind, made for a test."""

import shutil
import subprocess
from pathlib import Path

AUTHOR = ("-c", "user.name=dev", "-c", "user.email=dev@example.org")
LOCAL = ("-c", "protocol.file.allow=always")


def git(folder: Path, *arguments: str) -> None:
    line = ["git", "-C", str(folder), *AUTHOR, *LOCAL, *arguments]
    subprocess.run(line, check=True, capture_output=True)


def new_repository(
    folder: Path, *, remote: str | None = None, commit: str | None = "first"
) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--initial-branch=main")
    if commit:
        git(folder, "commit", "--allow-empty", "--message", commit)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def clone(source: Path, folder: Path, *options: str, remote: str | None = None) -> Path:
    """`remote`: what `origin` is set to afterwards; None leaves the path of the source."""
    git(source, "clone", *options, source.as_uri(), str(folder))
    git(folder, "remote", "set-url", "origin", remote or str(source))
    return folder


def copy(source: Path, folder: Path, *, with_git: bool = True) -> Path:
    ignored = None if with_git else shutil.ignore_patterns(".git")
    shutil.copytree(source, folder, ignore=ignored)
    return folder
