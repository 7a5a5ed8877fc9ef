"""The SQLite store: the protocol of `store/protocol.py`, one file per noun."""

from recollect.store.sqlite.events import Events
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.ledger import Ledger
from recollect.store.sqlite.observations import Observations
from recollect.store.sqlite.projects import Projects
from recollect.store.sqlite.search import Search
from recollect.store.sqlite.sessions import Sessions
from recollect.store.sqlite.summaries import Summaries


class SqliteStore(Projects, Sessions, Events, Jobs, Observations, Summaries, Search, Ledger):
    pass
