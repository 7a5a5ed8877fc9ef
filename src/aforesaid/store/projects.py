"""Projects: which repository a directory belongs to."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from aforesaid.model.sessions import Project, ProjectTotals
from aforesaid.repository import (
    Identity,
    Known,
    Repository,
    find_owner,
    find_unproven_remote,
    identify,
    is_at,
    link_identities,
    new_identities,
)
from aforesaid.store.database import Connection, Part, Queries
from aforesaid.store.values import columns, read

Group = tuple[int, int]  # a project, and 0 or the number of a link


class Projects(Part):
    def resolve(self, repository: Repository, directory: str, now: int) -> int:
        """Creates a new one. Its name and root stay while that directory holds it."""
        while True:  # git answers outside of the transaction, until nothing has changed meanwhile
            known = known_in(self._db)
            owner = find_owner(repository, known)
            moved = owner is not None and self._is_moved(repository, owner)
            values = {"name": repository.name, "root": repository.root}
            with self._db.transaction() as db:
                if known_in(db) != known:
                    continue
                if owner is None:
                    key = db.number("projects", "add_project", **values, created_at=now)
                    owner = Known((key, 0), frozenset())
                project_id = owner.key[0]
                if moved:
                    db.run("projects", "move_project", **values, id=project_id)
                _add(db, owner.key, new_identities(repository, owner.identities))
                db.run("projects", "add_dir", dir=directory, project_id=project_id, now=now)
                return project_id

    def link(self, repository: Repository, project_id: int) -> None:
        """The user says that a repository belongs to a project. An earlier link of it ends."""
        self._replace_links(repository, project_id, link_identities(repository))

    def unlink(self, repository: Repository) -> list[int]:
        """The projects that a repository was linked to."""
        return [each.key[0] for each in self._replace_links(repository, 0, ())]

    def _replace_links(
        self, repository: Repository, project_id: int, identities: Iterable[Identity]
    ) -> list[Known[Group]]:
        """The links that ended."""
        while True:
            known = known_in(self._db)
            ended = _find_links(repository, known)
            number = 1 + max((each.key[1] for each in known), default=0)
            with self._db.transaction() as db:
                if known_in(db) == known:
                    for each in ended:
                        owner, link = each.key
                        db.run("projects", "drop_link", project_id=owner, link=link)
                    _add(db, (project_id, number), identities)
                    return ended

    def find(self, repository: Repository, *, local: bool = True) -> int | None:
        """Like resolve_project, for readers. `local`: see `find_owner`."""
        owner = find_owner(repository, known_in(self._db), local=local)
        return owner.key[0] if owner else None

    def find_at(self, directory: str, repository: Repository | None = None) -> int | None:
        """By the repository that is there now; of a directory that is gone, by its sessions."""
        if not Path(directory).is_dir():
            return self.find_by_dir(directory)
        return self.find(repository or identify(directory))

    def owning_repository(self, repository: Repository, project_id: int | None) -> Repository:
        """With the identities of the project that it belongs to. Memories are found by these."""
        own = self.identities(project_id) if project_id is not None else ()
        return Repository(repository.name, repository.root, own or repository.identities)

    def repository(self, project_id: int) -> Repository:
        """The same by the project, wherever it is."""
        project = self.get(project_id)
        own = self.identities(project_id) or identify(project.root).identities
        return Repository(project.name, project.root, own)

    def unproven_remote(
        self, repository: Repository, project_id: int
    ) -> tuple[str, list[int]] | None:
        """See `find_unproven_remote`. Only older projects count: they had the remote first."""
        older = (
            Known(k.key[0], k.identities, k.linked)
            for k in known_in(self._db)
            if k.key[0] < project_id
        )
        return find_unproven_remote(repository, older, project_id)

    def identities(self, project_id: int) -> tuple[Identity, ...]:
        """The project's own, strongest first."""
        return tuple(self._db.all(Identity, "transfer", "identities", id=project_id))

    def links(self, project_id: int) -> list[tuple[Identity, ...]]:
        """Of each repository that was linked to the project."""
        known = (each for each in known_in(self._db) if each.linked and each.key[0] == project_id)
        return [tuple(sorted(each.identities, key=lambda i: i.identity)) for each in known]

    def _is_moved(self, repository: Repository, owner: Known[Group]) -> bool:
        """Whether the project's root directory no longer holds it. A link moves nothing."""
        project_id, link = owner.key
        row = None if link else self._db.row("projects", "project", id=project_id)
        if row is None or row["root"] == repository.root:
            return False
        return not is_at(row["root"], owner.identities)

    def get(self, project_id: int) -> Project:
        return self._db.all(Project, "projects", "project", id=project_id)[0]

    def all(self) -> list[Project]:
        return self._db.all(Project, "projects", "projects")

    def find_by_dir(self, directory: str) -> int | None:
        return self._db.value(int, "projects", "dir", dir=directory)

    def dirs(self, project_id: int) -> list[str]:
        return self._db.column(str, "projects", "dirs", project_id=project_id)

    def totals(self) -> list[ProjectTotals]:
        """The one that was worked on last comes first."""
        return self._db.all(ProjectTotals, "listings", "projects")

    def known_since(self, project_id: int) -> int:
        return self._db.number("transcripts", "known_since", id=project_id)


def known_in(db: Queries) -> list[Known[Group]]:
    found: dict[Group, set[Identity]] = defaultdict(set)
    for row in db.rows("projects", "all_identities"):
        found[row["project_id"], row["link"]].add(read(Identity, row))
    return [
        Known(key, frozenset(identities), linked=key[1] > 0) for key, identities in found.items()
    ]


def _add(db: Connection, key: Group, identities: Iterable[Identity]) -> None:
    for each in identities:
        owner = {"project_id": key[0], "link": key[1]}
        db.run("projects", "add_identity", **owner, **columns(each))


def _find_links(repository: Repository, known: list[Known[Group]]) -> list[Known[Group]]:
    """Of a repository. By the path too: what lay there when it was linked may be gone."""
    paths = {each for each in repository.identities if each.kind == "path"}
    links = [each for each in known if each.linked]
    found = [each for each in links if each.identities & paths]
    if not found and (owner := find_owner(repository, links)):
        found = [owner]
    return found
