"""The SQLite store: the protocol of `store/protocol.py`, one file per noun."""

from recollect.store.sqlite.editing import Editing
from recollect.store.sqlite.erasing import Erasing
from recollect.store.sqlite.events import Events
from recollect.store.sqlite.forgotten import ForgottenThings
from recollect.store.sqlite.healing import Healing
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.ledger import Ledger
from recollect.store.sqlite.listings import Listings
from recollect.store.sqlite.lookups import Lookups
from recollect.store.sqlite.merges import Merges
from recollect.store.sqlite.observations import Observations
from recollect.store.sqlite.opened_files import OpenedFiles
from recollect.store.sqlite.pauses import Pauses
from recollect.store.sqlite.projects import Projects
from recollect.store.sqlite.retention import Retention
from recollect.store.sqlite.search import Search
from recollect.store.sqlite.sessions import Sessions
from recollect.store.sqlite.summaries import Summaries
from recollect.store.sqlite.tallies import Tallies
from recollect.store.sqlite.told import ToldThings
from recollect.store.sqlite.traces import Traces
from recollect.store.sqlite.transcripts import Transcripts
from recollect.store.sqlite.transfer import Transfer
from recollect.store.sqlite.weights import Weights


class SqliteStore(
    Projects,
    Sessions,
    Events,
    Healing,
    Transcripts,
    Tallies,
    Jobs,
    Editing,
    ForgottenThings,
    Listings,
    Lookups,
    Merges,
    OpenedFiles,
    Observations,
    Summaries,
    Search,
    Ledger,
    ToldThings,
    Transfer,
    Weights,
    Pauses,
    Retention,
    Erasing,
    Traces,
):
    pass
