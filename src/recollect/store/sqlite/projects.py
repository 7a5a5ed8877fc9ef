"""Projects: which repository a directory belongs to."""

import sqlite3
from collections.abc import Callable, Iterable

from recollect.model.sessions import Project
from recollect.repository import Identity, Repository
from recollect.store.sqlite.database import Database, Row, write, write_one
from recollect.store.sqlite.pauses import keep_place
from recollect.text import sqlite_safe

KindsOf = Callable[[str], list[Row]]  # of an identity: the kinds that its project has


class Projects(Database):
    def resolve_project(self, repository: Repository, directory: str, now: int) -> int:
        """The project of a repository, created when it is new, moved when it was known elsewhere."""
        with self.transaction() as connection:
            project_id = known_project(repository.identities, kinds_in(connection))
            values = {"name": repository.name, "root": repository.root, "now": now}
            if project_id is None:
                added = write_one(connection, "projects", "add_project", values)
                assert added is not None
                project_id = int(added["id"])
            else:
                write(connection, "projects", "move_project", values | {"id": project_id})
            for identity in repository.identities:
                write(
                    connection,
                    "projects",
                    "add_identity",
                    {"identity": identity.value, "kind": identity.kind, "project_id": project_id},
                )
            write(
                connection,
                "projects",
                "add_dir",
                {"dir": sqlite_safe(directory), "project_id": project_id, "now": now},
            )
        return project_id

    def drop_session(self, session_id: int, project_id: int) -> None:
        """With everything that hangs on it, and its project if that was the only one."""
        with self.transaction() as connection:
            write(connection, "projects", "drop_session", {"id": session_id})
            keep_place(connection, project_id)
            write(connection, "projects", "drop_if_empty", {"id": project_id})

    def find_project(self, repository: Repository) -> int | None:
        """Like resolve_project, for readers."""
        return known_project(
            repository.identities,
            lambda value: self.rows("projects", "identity_kinds", identity=value),
        )

    def project(self, project_id: int) -> Project:
        row = self.row("projects", "project", id=project_id)
        assert row is not None, project_id
        return Project(row["id"], row["name"], row["root"])

    def projects(self) -> list[Project]:
        return [Project(r["id"], r["name"], r["root"]) for r in self.rows("projects", "projects")]

    def project_of_dir(self, directory: str) -> int | None:
        row = self.row("projects", "dir", dir=sqlite_safe(directory))
        return int(row[0]) if row else None

    def dirs_of_project(self, project_id: int) -> list[str]:
        return [row[0] for row in self.rows("projects", "dirs", project_id=project_id)]


def kinds_in(connection: sqlite3.Connection) -> KindsOf:
    """Within a transaction."""
    return lambda value: write(
        connection, "projects", "identity_kinds", {"identity": value}
    ).fetchall()


def known_project(identities: Iterable[Identity], kinds_of: KindsOf) -> int | None:
    """The strongest identity that is known decides. But a weaker one may only find a project that has none
    of the stronger kinds this repository has too: a fork shares its first commit with the original, and
    another repository may lie in the same place, while a repository that got its remote today is the one
    we knew by its first commit."""
    stronger: set[str] = set()
    for identity in identities:
        rows = kinds_of(identity.value)
        if rows and not stronger & {row["kind"] for row in rows}:
            return int(rows[0]["project_id"])
        stronger.add(identity.kind)
    return None
