"""A site over a store that tests fill themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.memory import Memory
from tests.support.web import Answer, Site, site


class Filled:
    """`memory`: a project in a folder that is there."""

    def __init__(self, web: Site, folder: Path) -> None:
        self.web = web
        self.store: Store = web.service.context.store
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.memory = Memory(
            self.store, self.store.projects.resolve(identify(str(folder)), str(folder), START)
        )

    @property
    def project(self) -> int:
        return self.memory.project_id

    def get(self, path: str) -> Any:
        return self.web.get(path)

    def sent(self, method: str, path: str, body: Any = None) -> Any:
        """What comes of it, if all is well."""
        answer = self.web.ask(method, path, {} if body is None else body)
        assert answer.status == 200, answer.body
        return answer.json

    def refused(
        self, status: int, method: str, path: str, body: Any = None, field: str | None = None
    ) -> str:
        """Why."""
        answer: Answer = self.web.ask(method, path, body)
        assert answer.status == status, (answer.status, answer.body)
        error = answer.json["error"]
        assert error["field"] == field, error
        return str(error["message"])


@contextmanager
def filled(paths: Paths, folder: Path) -> Iterator[Filled]:
    with site(paths) as web:
        yield Filled(web, folder)
