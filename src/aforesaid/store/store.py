"""The store: what aforesaid keeps, grouped by what it is about.

Only the worker opens it for writing. Every writing method is one durable transaction and may run twice:
uniqueness in the database makes the second run harmless.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from aforesaid.encoders.base import Encoder
from aforesaid.model.events import Health
from aforesaid.store.database import Database
from aforesaid.store.events import Events
from aforesaid.store.jobs import Jobs
from aforesaid.store.observations import Observations
from aforesaid.store.projects import Projects
from aforesaid.store.purge import Maintenance, Purge
from aforesaid.store.requests import Requests
from aforesaid.store.search_index import Index
from aforesaid.store.sessions import Injections, Sessions, Summaries

if TYPE_CHECKING:
    from aforesaid.store.records import Transfer


class Store:
    def __init__(
        self,
        path: Path,
        *,
        writer: bool,
        encoder: Encoder | None = None,
        checked: bool = False,
    ) -> None:
        """`checked`: the file was checked already."""
        database = Database(path, writer=writer, checked=checked)
        self.database = database
        self.projects = Projects(database)
        self.sessions = Sessions(database)
        self.events = Events(database)
        self.jobs = Jobs(database)
        self.index = Index(database, encoder)
        self.observations = Observations(database, self.index)
        self.summaries = Summaries(database)
        self.injections = Injections(database)
        self.requests = Requests(database)
        self.purge = Purge(database)
        self.maintenance = Maintenance(database)

    @cached_property
    def transfer(self) -> "Transfer":
        """Most readers do not need it, and would wait for its imports."""
        from aforesaid.store.records import Transfer

        return Transfer(self.database)

    def health(self) -> Health:
        return self.database.all(Health, "jobs", "counts")[0]

    def close(self) -> None:
        """Nobody may be asking it anything: SQLite does not survive that."""
        self.database.close()
