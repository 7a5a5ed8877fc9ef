"""What leaves a store and enters another is the same; what enters twice is there once."""

import io
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given

from aforesaid.clock import DAY, HOUR
from aforesaid.errors import TransferError
from aforesaid.model.jobs import OBSERVE, Job
from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.model.records import Counts, DirRecord, ProjectRecord, Record
from aforesaid.model.requests import ANSWERED, Entry, Usage
from aforesaid.repository import Identity
from aforesaid.store.store import Store
from aforesaid.transfer import export, importer
from aforesaid.transfer.import_file import ExportFile
from tests.support.arrivals import START, Told, repository
from tests.support.blank import laid
from tests.support.canonical import dump
from tests.support.examples import examples
from tests.support.finding import search
from tests.support.generated_stores import DEEDS, Deed, Doer
from tests.support.memory import Memory

NOTHING = Counts()
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # durable commits, but quick ones


def exported(store: Store, file: Path, *, project_id: int | None = None) -> Path:
    with file.open("wb") as out:
        export.write(store.transfer.export(project_id, replies=True), out, at=START, replies=True)
    return file


def taken(store: Store, file: Path, *, undo: bool = False) -> Counts:
    return [importer.Progress(), *importer.run(store, ExportFile(file), undo=undo)][-1].new


class Stores:
    """A filled store, and empty ones."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._opened = folder, list[Store]()

    def new(self, name: str) -> Store:
        store = Store(laid(self._folder / name / "aforesaid.db"), writer=True)
        self._opened.append(store)
        return store

    def dump(self, name: str) -> dict[str, list[str]]:
        return dump(self._folder / name / "aforesaid.db")

    def file(self, name: str) -> Path:
        return self._folder / name

    def close(self) -> None:
        for store in self._opened:
            store.close()


@pytest.fixture
def stores(tmp_path: Path) -> Iterable[Stores]:
    found = Stores(tmp_path)
    yield found
    found.close()


@examples(8)
@given(DEEDS)
def test_an_export_enters_an_empty_store_as_the_same_content(deeds: list[Deed]) -> None:
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    stores = Stores(folder)
    try:
        source, target = stores.new("source"), stores.new("target")
        doer = Doer(source)
        for deed in deeds:
            doer.do(deed)
        source.jobs.release_leases()
        file = exported(source, folder / "a.jsonl")
        planned = taken(target, file, undo=True)
        assert target.transfer.count(None) == 0
        assert planned.total() == source.transfer.count(None)
        assert taken(target, file) == planned
        assert stores.dump("target") == stores.dump("source")
        # Twice is the same as once; and what comes out again is the same file.
        assert taken(target, file) == NOTHING
        assert stores.dump("target") == stores.dump("source")
        assert exported(target, folder / "b.jsonl").read_bytes() == file.read_bytes()
    finally:
        stores.close()
        shutil.rmtree(folder)


@examples(5)
@given(DEEDS, DEEDS)
def test_a_later_export_brings_what_was_missing(early: list[Deed], late: list[Deed]) -> None:
    """Only additions: pins, edits and jobs of the early part that were finished later stay as they are."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    stores = Stores(folder)
    try:
        source, target = stores.new("source"), stores.new("target")
        doer = Doer(source)
        for deed in early:
            doer.do(deed)
        source.jobs.release_leases()
        taken(target, exported(source, folder / "early.jsonl"))
        for deed in late:
            doer.do(deed)
        source.jobs.release_leases()
        file = exported(source, folder / "late.jsonl")
        planned = taken(target, file, undo=True)
        assert taken(target, file) == planned
        once = stores.dump("target")
        assert taken(target, file) == NOTHING
        assert stores.dump("target") == once
        for table in ("projects", "project_identities", "project_dirs", "prompts"):
            assert once[table] == stores.dump("source")[table]
        assert source.health().events == target.health().events
    finally:
        stores.close()
        shutil.rmtree(folder)


def filled(store: Store) -> Memory:
    memory = Memory.of(store, "shop")
    draft = ObservationDraft("feature", "Adds the mill", facts=("It turns.",))
    memory.turn("Build a mill", draft, summary=SummaryDraft("mill"), session="s1")
    memory.turn("Oil it", ObservationDraft("change", "Oils the wheel"), session="s1")
    return memory


def request(job: Job) -> Entry:
    return Entry(
        at=START,
        provider="test",
        model="m",
        prompts="p1",
        purpose="observe",
        digest="d",
        session_id=job.session_id,
        job_id=job.id,
        outcome=ANSWERED,
        error=None,
        usage=Usage(10, 2, 1, 5),
        microdollars=None,
        milliseconds=7,
        reply="words",
    )


def test_one_project_leaves_alone(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    filled(source)
    Memory.of(source, "mill").turn("Else", ObservationDraft("change", "Elsewhere"))
    mill = source.projects.all()[1].id
    new = taken(target, exported(source, stores.file("mill.jsonl"), project_id=mill))
    assert (new["projects"], new["sessions"], new["observations"]) == (1, 1, 1)
    assert [project.name for project in target.projects.all()] == ["mill"]


def test_what_is_hidden_stays_hidden_with_what_is_folded_into_it(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    memory = Memory.of(source, "shop")
    for title in ("Zebra", "Giraffe", "Lion"):
        memory.turn("p", ObservationDraft("change", title))
    source.observations.edit(1, ObservationDraft("change", "Zebra"))
    source.observations.merge(1, 2, START)
    source.observations.hide(2, START)
    assert source.transfer.count_hidden(None) == 2
    file = exported(source, stores.file("a.jsonl"))
    taken(target, file)
    assert stores.dump("target") == stores.dump("source")
    assert [each.draft.title for each in target.observations.recent(1, 9)] == ["Lion"]
    assert [each.title for each in target.observations.hidden([1])] == ["Giraffe"]
    assert target.index.find_document("observation", 2) is None
    assert target.observations.restore(2)
    assert target.observations.duplicates(2) == [1]
    merged = target.observations.get_merge(1)
    assert merged == source.observations.get_merge(1)
    assert [hit.id for hit in search(target, "zebra") if hit.kind == "observation"] == [2]
    source.observations.restore(2)
    target.observations.hide(3, START)
    assert taken(target, exported(source, file)) == NOTHING
    assert [each.title for each in target.observations.hidden([1])] == ["Lion"]


def test_what_is_here_wins(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    filled(source)
    file = exported(source, stores.file("a.jsonl"))
    taken(target, file)
    mine = target.observations.recent(1, 5)[0]
    target.observations.edit(mine.id, ObservationDraft("decision", "In my own words"))
    target.observations.pin(mine.id, pinned=True)
    assert taken(target, file) == NOTHING
    assert [o.draft.title for o in target.observations.for_session(1)] == [
        "Adds the mill",
        "In my own words",
    ]


def test_what_a_person_wrote_elsewhere_is_kept_beside_it(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    filled(source)
    taken(target, exported(source, stores.file("a.jsonl")))
    source.observations.edit(1, ObservationDraft("decision", "In my own words"))
    later = exported(source, stores.file("b.jsonl"))
    assert taken(target, later) == Counts(observations=1)
    titles = {o.draft.title for o in target.observations.for_session(1)}
    assert titles == {"Adds the mill", "In my own words", "Oils the wheel"}
    assert taken(target, later) == NOTHING


def test_what_waits_there_is_worked_up_here(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    found = repository("shop")
    told = Told(source.projects.resolve(found, found.root, START))
    source.events.add([told.prompt("Go"), told.tool("t1"), told.stop()], told.at)
    source.events.add([told.prompt("On"), told.tool("t2")], told.at)  # a turn that is still open
    assert source.jobs.claim("there", told.at, told.at + HOUR) is not None  # and one under way
    taken(target, exported(source, stores.file("a.jsonl")))
    job = target.jobs.claim("here", told.at, told.at + HOUR)
    assert job is not None
    assert (job.kind, job.tries) == (OBSERVE, 1)
    assert len(target.events.for_job(job.id)) == 1
    assert target.sessions.interrupt_stale(told.at + DAY, told.at + DAY) == 1
    assert target.health().pending == 4


def test_a_project_that_is_known_here_keeps_its_name_and_place(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    there = repository("shop", remote="host/shop", commit="c1")
    source.projects.resolve(there, "/home/dev/shop", START)
    here = repository("my-shop", remote="host/shop", commit="c1")
    target.projects.resolve(here, here.root, START)
    assert taken(target, exported(source, stores.file("a.jsonl"))) == NOTHING
    assert [p.name for p in target.projects.all()] == ["my-shop"]


def test_an_import_claims_nothing_of_a_project_that_is_known_here(stores: Stores) -> None:
    """A file may name any remote, path and directory; only what knows the history is the same project."""
    target = stores.new("target")
    victim = repository("shop", remote="host/shop", commit="c1")
    project = target.projects.resolve(victim, victim.root, START)
    known = target.projects.identities(project), target.projects.dirs(project)
    claims = (
        ("remote:host/shop", "commit:evil"),
        ("remote:host/shop",),
        ("path:/home/dev/shop", "remote:host/evil", "commit:evil"),
        ("commit:c1", "remote:host/evil"),
        ("commit:c1",),
        ("remote:host/shop", "commit:c1", "commit:evil", "remote:host/evil"),
    )
    for number, claim in enumerate(claims):
        named = tuple(Identity(each.partition(":")[0], each) for each in claim)  # type: ignore[arg-type]
        dirs = (DirRecord("/home/dev/shop", START), DirRecord("/tmp/evil", START))
        record = ProjectRecord("p1", "evil", f"/tmp/evil{number}", START, named, dirs)
        target.transfer.begin()
        target.transfer.import_records([record])
        target.transfer.end()
        assert (target.projects.identities(project), target.projects.dirs(project)) == known, claim
        assert target.projects.find(victim) == project, claim
        evil = repository("evil", remote="host/evil", commit="evil")
        assert target.projects.find(evil) != project, claim
    assert len(target.projects.all()) == len(claims)  # the last one knew the history


def test_a_session_that_cannot_be_stored_leaves_nothing_of_itself(stores: Stores) -> None:
    store = stores.new("target")
    project = ProjectRecord("p1", "shop", "/shop", START)

    def broken() -> Iterable[Record]:
        yield project
        raise OSError("the disk is gone")

    store.transfer.begin()
    with pytest.raises(OSError, match="gone"):
        store.transfer.import_records(broken())
    assert store.transfer.count(None) == 0


def test_wherever_a_file_is_cut_no_session_is_taken_in_part(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    memory = filled(source)
    memory.turn("More", ObservationDraft("change", "More"), session="s2")
    whole = exported(source, stores.file("whole.jsonl"))
    data = whole.read_bytes()
    there = stores.dump("source")
    sessions = set()
    for size in range(1, len(data), 131):
        cut = stores.file("cut.jsonl")
        cut.write_bytes(data[:size])
        with pytest.raises(TransferError, match=r"line \d+: "):
            taken(target, cut)
        found = stores.dump("target")
        sessions.add(len(found["sessions"]))
        for table in ("events", "observations", "summaries"):
            for name in (f"claude-code/s{number}" for number in range(1, 3)):
                mine = [row for row in found[table] if name in row]
                assert mine in ([], [row for row in there[table] if name in row])
    assert sessions == {0, 1}  # the last one is not known to be whole without the end
    taken(target, whole)
    assert stores.dump("target") == there


def test_what_was_spent_leaves_even_when_its_session_or_project_is_gone(stores: Stores) -> None:
    source, target = stores.new("source"), stores.new("target")
    shop, mill = filled(source), Memory.of(source, "mill")
    mill.turn("Saw", session="s2")
    shop.turn("Paint it", session="s3")  # this project stays
    for memory, ref in ((shop, "s1"), (mill, "s2")):
        source.events.add([memory.sessions[ref].stop("More.")], START)
        job = source.jobs.claim("test", START + DAY, START + DAY + HOUR)
        assert job is not None
        source.requests.add(request(job))
        source.sessions.drop(job.session_id, memory.project_id)
    file = exported(source, stores.file("all"))
    new = taken(target, file)
    assert (new.total(), new["requests"]) == (source.transfer.count(None), 2)
    assert stores.dump("target") == stores.dump("source")
    assert taken(target, file) == NOTHING


def test_an_export_sees_one_moment(stores: Stores) -> None:
    """What is written while it is read is not in it."""
    source = stores.new("source")
    memory = filled(source)
    reading = Store(stores.file("source") / "aforesaid.db", writer=False)
    records = reading.transfer.export(None, replies=False)
    first = next(records)
    memory.turn("Later", ObservationDraft("change", "Later"), session="s2")
    out = io.BytesIO()
    counts = export.write([first, *records], out, at=START)
    assert (counts["sessions"], counts["observations"]) == (1, 2)
    assert reading.health().sessions == 2
    reading.close()
