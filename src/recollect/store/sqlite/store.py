"""The SQLite store: the protocol of `store/protocol.py`, one file per noun."""

from recollect.store.sqlite.events import Events
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.projects import Projects
from recollect.store.sqlite.records import Records
from recollect.store.sqlite.search import Search


class SqliteStore(Projects, Events, Jobs, Records, Search):
    pass
