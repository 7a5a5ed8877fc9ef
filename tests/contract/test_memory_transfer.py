"""Memories that leave one folder and enter another are the same, to the byte; nothing is overwritten."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.errors import TransferError
from aforesaid.memory.changes import Memories, undo_change
from aforesaid.memory.folders import (
    MAX_FILES,
    PROJECT_FILE,
    Folder,
    Places,
    find_project_folder,
    new_project_folder,
    read_project_note,
    render_index,
    write_project_note,
)
from aforesaid.memory.format import MAX_FILE_BYTES, MAX_FOREIGN_NAME_BYTES, fold_name, name_problem
from aforesaid.memory.history import Entry, History
from aforesaid.memory.transfer import (
    EDITED_MESSAGE,
    IMPORT_REASON,
    MemoryExport,
    MemoryImport,
    user_places,
)
from aforesaid.model.memories import OF_PROJECT, OF_USER
from aforesaid.model.records import (
    MemoryImportResult,
    MemoryRecord,
    ProjectRecord,
    Record,
)
from aforesaid.repository import Identity
from aforesaid.store.store import Store
from aforesaid.transfer import export, importer
from aforesaid.transfer.import_file import ExportFile
from tests.support.arrivals import START
from tests.support.blank import laid
from tests.support.examples import examples

ROOT = Path(__file__).parents[2]
QUICK = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a sync costs nothing there
TABS = "---\nname: tabs\ndescription: Tabs\ntype: user\npinned: true\n---\n\nTabs.\n"
SPACES = TABS.replace("Tabs", "Spaces")
RETIRED = TABS.replace(
    "---\n\n",
    "retired_from: projects/shop/tabs.md\nretired_at: 2026-01-01T00:00:00Z\n"
    "retired_because: old\n---\n\n",
)


def project(name: str, *identities: str) -> ProjectRecord:
    """`identities`: such as `remote:host/shop`."""
    given = identities or (f"path:/{name}",)
    known = tuple(Identity(each.partition(":")[0], each) for each in given)  # type: ignore[arg-type]
    return ProjectRecord("p1", name, f"/{name}", START, known)


SHOP, MILL = project("shop"), replace(project("mill"), project="p2")


def folder_of(root: Path, record: ProjectRecord | None) -> Path:
    if record is None:
        return root / "user"
    found = find_project_folder(root, record.repository)
    return found or new_project_folder(root, record.repository)


def put(
    root: Path, owner: ProjectRecord | None, name: str, text: str | bytes, *, retired: bool = False
) -> Path:
    """A file, as a person would put it there."""
    folder = folder_of(root, owner)
    if owner is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_project_note(folder, owner.repository)
    if retired:
        folder = root / "retired" / folder.relative_to(root)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def exported(root: Path, file: Path, *records: Record, only: ProjectRecord | None = None) -> Path:
    with file.open("wb") as out:
        export.write(export.joined(records, MemoryExport(root, only)), out, at=START)
    return file


def taken(root: Path, file: Path, *, trial: bool = False) -> MemoryImportResult:
    found, incoming = MemoryImportResult(), MemoryImport(root, lambda: START)
    with closing(ExportFile(file)) as source:
        for block in source.blocks():
            list(block.records)
            found += incoming.take(block.project, block.memories, undo=trial)
    return found


def take(
    root: Path, owner: ProjectRecord | None, *memories: tuple[str, str], retired: bool = False
) -> MemoryImportResult:
    whose = owner.project if owner else None
    records = [MemoryRecord(whose, name, retired, text) for name, text in memories]
    return MemoryImport(root, lambda: START).take(owner, records, undo=False)


def state(root: Path) -> dict[str, bytes]:
    """Without the history, and without indexes."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*.md"))
        if path.name != "MEMORY.md" and not path.relative_to(root).parts[0].startswith(".")
    }


def assert_indexed(root: Path) -> None:
    for folder in (root / "user", *(root / "projects").glob("*")):
        index = folder / "MEMORY.md"
        expected = render_index(Folder(folder, OF_USER).list(None))
        assert (index.read_text() if index.exists() else "") == expected, folder


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=QUICK))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


NAMES = st.text(st.sampled_from("abZé·ß.- 2漢"), min_size=1, max_size=5).filter(
    lambda n: not name_problem(n)
)
BODIES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
TEXTS = BODIES | BODIES.map(lambda body: f"\ufeff---\r\ndescription: x\r\n---\r\n{body}")
KEPT = st.lists(
    st.tuples(st.sampled_from((None, SHOP, MILL)), NAMES, TEXTS, st.booleans()),
    max_size=8,
    unique_by=lambda each: fold_name(each[1]),
)


@examples(15)
@given(KEPT)
def test_any_text_comes_back_byte_for_byte(
    kept: list[tuple[ProjectRecord | None, str, str, bool]],
) -> None:
    with scratch() as folder:
        source, target = folder / "source", folder / "target"
        for owner, name, text, retired in kept:
            put(source, owner, name, text, retired=retired)
        file = exported(source, folder / "a.jsonl", SHOP)
        planned = taken(target, file, trial=True)
        assert not target.exists()
        assert taken(target, file) == planned == MemoryImportResult(new=len(kept))
        assert state(target) == state(source)
        assert_indexed(target)
        # Twice is the same as once; and what comes out again is the same file.
        assert taken(target, file) == MemoryImportResult(known=len(kept))
        assert state(target) == state(source)
        again = exported(target, folder / "b.jsonl", SHOP)
        assert [line for line in lines(again) if '"memory"' in line] == [
            line for line in lines(file) if '"memory"' in line
        ]


def lines(file: Path) -> list[str]:
    return file.read_text().split("\n")


def test_all_are_exported_however_many_there_are(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 5):
        put(tmp_path, None, f"m{number}", TABS)
    assert len(list(MemoryExport(tmp_path).of_user())) == MAX_FILES + 5


def test_a_name_that_another_text_has_gets_a_number(tmp_path: Path) -> None:
    put(tmp_path, SHOP, "tabs", TABS)
    told = take(tmp_path, SHOP, ("tabs", SPACES), ("tabs-2", "mine"))
    assert told == MemoryImportResult(new=2, renamed=("tabs-2", "tabs-2-2"))
    folder = folder_of(tmp_path, SHOP)
    found = [(folder / f"{name}.md").read_text() for name in ("tabs", "tabs-2", "tabs-2-2")]
    assert found == [TABS, SPACES, "mine"]
    assert take(tmp_path, SHOP, ("tabs", SPACES), ("tabs-2", "mine")) == MemoryImportResult(known=2)
    assert_indexed(tmp_path)


def test_what_the_user_and_a_project_have_is_told_together_so_names_differ(tmp_path: Path) -> None:
    put(tmp_path, SHOP, "tabs", TABS)
    assert take(tmp_path, None, ("tabs", SPACES), ("port", TABS)).renamed == ("tabs-2",)
    assert take(tmp_path, SHOP, ("port", SPACES)).renamed == ("port-2",)
    assert take(tmp_path, SHOP, ("port", SPACES)) == MemoryImportResult(known=1)
    assert take(tmp_path, None, ("tabs", SPACES)) == MemoryImportResult(known=1)
    # Another project's are its own, and so are retired ones.
    assert take(tmp_path, MILL, ("tabs", SPACES)) == MemoryImportResult(new=1)
    assert take(tmp_path, SHOP, ("tabs", RETIRED), retired=True) == MemoryImportResult(new=1)


def test_a_name_that_differs_in_case_alone_gets_a_number(tmp_path: Path) -> None:
    put(tmp_path, None, "Tabs", TABS)
    assert take(tmp_path, None, ("tabs", SPACES)) == MemoryImportResult(new=1, renamed=("tabs-2",))


def test_a_long_name_with_a_number_is_not_too_long(tmp_path: Path) -> None:
    name = "ä" * (MAX_FOREIGN_NAME_BYTES // 2)
    put(tmp_path, None, name, TABS)
    (renamed,) = take(tmp_path, None, (name, SPACES)).renamed
    assert name_problem(renamed) is None
    assert take(tmp_path, None, (name, SPACES)) == MemoryImportResult(known=1)


def test_what_stands_in_the_way_and_is_no_file_is_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(TABS)
    root = tmp_path / "memory"
    (root / "user" / "folder.md").mkdir(parents=True)
    (root / "user" / "link.md").symlink_to(outside)
    (root / "user" / "dangling.md").symlink_to(tmp_path / "created.md")
    told = take(root, None, ("folder", TABS), ("link", TABS), ("dangling", SPACES))
    assert told.renamed == ("folder-2", "link-2", "dangling-2")
    assert outside.read_text() == TABS
    assert not (tmp_path / "created.md").exists()


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("../../evil", TABS, "it is not a valid file name"),
        ("/etc/evil", TABS, "it is not a valid file name"),
        ("a\\b", TABS, "it is not a valid file name"),
        ("", TABS, "it is not a valid file name"),
        (".project", TABS, "it is not a valid file name"),
        ("..", TABS, "it is not a valid file name"),
        ("MEMORY", TABS, "the name is reserved"),
        ("con", TABS, "the name is reserved"),
        ("a\nb", TABS, "invisible characters"),
        ("a\u202eb", TABS, "invisible characters"),
        ("\udcff", TABS, "invisible characters"),
        ("n" * (MAX_FOREIGN_NAME_BYTES + 1), TABS, "it is too long"),
        ("large", "x" * (MAX_FILE_BYTES + 1), "larger than 256 KB"),
        ("binary", "\0", "it is not text"),
        ("half", "\ud83d", "it is not text"),
    ],
)
def test_what_can_be_no_memory_is_refused_and_the_rest_goes_on(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    root = tmp_path / "a" / "b" / "memory"
    for retired in (False, True):
        told = take(root, SHOP, (name, text), (f"sound-{retired}", TABS), retired=retired)
        assert (told.new, told.refused, why in told.reasons[0]) == (1, 1, True)
        assert told.reasons[0].isprintable()
    found = {path.name for path in tmp_path.rglob("*.md")}
    assert found == {"sound-False.md", "sound-True.md", "MEMORY.md"}


def test_where_all_is_refused_nothing_is_made(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    many = [(f"../{number}", TABS) for number in range(30)]
    told = take(root, None, *many)
    assert (told.new, told.refused, len(told.reasons)) == (0, 30, 20)
    assert not root.exists()


def test_the_largest_text_is_taken(tmp_path: Path) -> None:
    assert take(tmp_path, None, ("large", "x" * MAX_FILE_BYTES)).new == 1


def test_retired_ones_stay_retired_and_can_be_restored_here(tmp_path: Path) -> None:
    """Also where a project has no others."""
    source, target = tmp_path / "source", tmp_path / "target"
    put(source, SHOP, "tabs", RETIRED, retired=True)
    assert taken(target, exported(source, tmp_path / "a.jsonl")) == MemoryImportResult(new=1)
    memories = at(target, SHOP)
    assert not memories.all().memories
    assert [each.memory.name for each in memories.retired().memories] == ["tabs"]
    with memories.change("restored") as change:
        change.restore("tabs")
    assert folder_of(target, SHOP).joinpath("tabs.md").read_text() == TABS


def at(root: Path, record: ProjectRecord) -> Memories:
    folder = Folder(folder_of(root, record), OF_PROJECT)
    user = user_places(root).user
    return Memories(Places(root, user, folder, repository=record.repository), lambda: START)


def test_an_import_is_one_change_for_each_owner_and_can_be_undone(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for owner in (None, SHOP):
        for name in ("one", "two"):
            put(source, owner, f"{name}-{owner.name if owner else 'user'}", TABS)
    put(source, SHOP, "old", RETIRED, retired=True)
    put(target, SHOP, "here", TABS)
    before = state(target)
    taken(target, exported(source, tmp_path / "a.jsonl"))
    memories = at(target, SHOP)
    entries = [each for each in memories.history.log(None) if each.reason == IMPORT_REASON]
    assert [len(each.paths) for each in entries] == [3, 2]
    undo_change(memories)
    assert set(state(target)) == {*before, "user/one-user.md", "user/two-user.md"}
    undo_change(memories, entries[1].id)
    assert state(target) == before
    assert_indexed(target)


def test_a_project_that_is_known_here_keeps_its_folder_name_and_place(tmp_path: Path) -> None:
    here = project("my-shop", "remote:host/shop", "commit:abc", "path:/my-shop")
    put(tmp_path, here, "tabs", TABS)
    there = project("shop", "remote:host/shop", "commit:abc", "path:/there", "remote:host/evil")
    assert take(tmp_path, there, ("port", SPACES)).new == 1
    (folder,) = (tmp_path / "projects").iterdir()
    assert {path.name for path in folder.glob("*.md")} == {"tabs.md", "port.md", "MEMORY.md"}
    said = read_project_note(folder)
    assert said is not None
    assert (said.name, said.root) == ("my-shop", "/my-shop")
    assert said.identities == here.repository.identities  # it takes none from a file


def test_memories_do_not_go_to_a_folder_whose_remote_alone_they_name(tmp_path: Path) -> None:
    here = project("shop", "remote:host/shop", "commit:abc", "path:/shop")
    kept = put(tmp_path, here, "tabs", TABS)
    there = project("shop", "remote:host/shop", "commit:evil", "path:/there")
    assert take(tmp_path, there, ("port", SPACES)).new == 1
    assert {path.name for path in kept.parent.glob("*.md")} == {"tabs.md"}
    assert len(list((tmp_path / "projects").iterdir())) == 2


def test_a_project_of_many_names_is_found_again(tmp_path: Path) -> None:
    names = [f"path:/{number}" for number in range(3000)]
    many = project("shop", "remote:host/shop", "path:/" + "x" * MAX_FILE_BYTES, *names)
    assert take(tmp_path, many, ("tabs", TABS)).new == 1
    assert take(tmp_path, many, ("tabs", TABS)).known == 1
    (folder,) = (tmp_path / "projects").iterdir()
    assert read_project_note(folder) is not None


def test_a_project_without_identities_is_known_by_its_place(tmp_path: Path) -> None:
    nameless = replace(SHOP, identities=())
    take(tmp_path, nameless, ("tabs", TABS))
    assert folder_of(tmp_path, SHOP).joinpath("tabs.md").read_text() == TABS


def test_what_somebody_writes_in_that_moment_is_kept_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = History.apply

    def meanwhile(history: History, entry: Entry) -> tuple[tuple[Path, ...], str | None]:
        put(tmp_path, None, "tabs", "by hand")
        return apply(history, entry)

    monkeypatch.setattr(History, "apply", meanwhile)
    told = take(tmp_path, None, ("tabs", TABS), ("port", SPACES))
    assert (told.new, told.refused, EDITED_MESSAGE in told.reasons[0]) == (0, 2, True)
    assert (tmp_path / "user" / "tabs.md").read_text() == "by hand"
    monkeypatch.undo()
    assert take(tmp_path, None, ("tabs", TABS), ("port", SPACES)) == MemoryImportResult(
        new=2, renamed=("tabs-2",)
    )


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file")
    with pytest.raises(TransferError, match="cannot be written"):
        take(tmp_path / "memory", None, ("tabs", TABS))


def test_what_cannot_come_back_is_left_out_and_named(tmp_path: Path) -> None:
    put(tmp_path, None, "broken", "no front matter")
    put(tmp_path, None, "latin", b"caf\xe9")
    put(tmp_path, None, "binary", b"a\0b")
    put(tmp_path, None, "large", "x" * (MAX_FILE_BYTES + 1))
    put(tmp_path, None, "con", TABS)
    (tmp_path / "user" / "link.md").symlink_to("broken.md")
    (tmp_path / "user" / "MEMORY.md").write_text("index")
    put(tmp_path, SHOP, "latin", b"caf\xe9", retired=True)
    found = MemoryExport(tmp_path)
    assert [each.name for each in found.of_user()] == ["broken"]
    why = {path_below(tmp_path, each.path): each.why for each in found.left_out}
    assert [*why] == [
        *(f"user/{name}.md" for name in ("binary", "con", "large", "latin", "link")),
        f"retired/projects/{folder_of(tmp_path, SHOP).name}/latin.md",
    ]
    assert "save it as UTF-8" in why["user/latin.md"]
    assert "rename it" in why["user/con.md"]


def path_below(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def test_memories_of_nobody_are_named(tmp_path: Path) -> None:
    put(tmp_path, SHOP, "tabs", TABS).with_name(PROJECT_FILE).unlink()
    put(tmp_path, MILL, "tabs", TABS)
    found = MemoryExport(tmp_path)
    assert [each.project for each in found.of_others(0)] == ["p1", "p1"]
    assert [each.path for each in found.left_out] == [new_project_folder(tmp_path, SHOP.repository)]
    # Whoever asks for the project finds the folder by its name.
    assert [each.name for each in MemoryExport(tmp_path).of(SHOP)] == ["tabs"]


def test_one_project_goes_without_the_users_and_the_others(tmp_path: Path) -> None:
    for owner in (None, SHOP, MILL):
        put(tmp_path, owner, f"of-{owner.name if owner else 'user'}", TABS)
    put(tmp_path, None, "latin", b"caf\xe9")
    found = MemoryExport(tmp_path, SHOP)
    assert (len(found), found.left_out) == (1, [])
    joined = list(export.joined([SHOP], found))
    assert joined == [SHOP, MemoryRecord("p1", "of-shop", False, TABS)]


def test_a_project_that_the_store_does_not_know_goes_along(tmp_path: Path) -> None:
    put(tmp_path, MILL, "tabs", TABS)
    joined = list(export.joined([SHOP], MemoryExport(tmp_path)))
    found = joined[1]
    assert isinstance(found, ProjectRecord)
    assert (found.project, found.name, found.identities) == ("p2", "mill", MILL.identities)
    assert joined[2] == MemoryRecord("p2", "tabs", False, TABS)


@pytest.mark.parametrize(
    "records",
    [
        [MemoryRecord("p1", "tabs", False, TABS)],
        [SHOP, MemoryRecord(None, "tabs", False, TABS)],
        [SHOP, MILL, MemoryRecord("p1", "tabs", False, TABS)],
    ],
)
def test_a_memory_out_of_its_place_is_a_fault(
    tmp_path: Path, records: list[ProjectRecord | MemoryRecord]
) -> None:
    file = tmp_path / "a.jsonl"
    with file.open("wb") as out:
        export.write(records, out, at=START)
    with (
        closing(ExportFile(file)) as source,
        pytest.raises(TransferError, match="a memory stands behind its project"),
    ):
        list(source.blocks())


def test_a_file_that_is_cut_off_brings_all_memories_of_a_project_or_none(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for owner in (None, SHOP):
        for name in ("one", "two"):
            put(source, owner, f"{name}-{owner.name if owner else 'user'}", TABS)
    whole = exported(source, tmp_path / "whole.jsonl").read_bytes()
    store = Store(laid(tmp_path / "aforesaid.db"), writer=True)
    seen = set()
    for number, size in enumerate(range(1, len(whole), 97)):
        cut, root = tmp_path / "cut.jsonl", tmp_path / f"target{number}"
        cut.write_bytes(whole[:size])
        with pytest.raises(TransferError, match=r"line \d+: ") as told:
            list(
                importer.run(store, ExportFile(cut), MemoryImport(root, lambda: START), undo=False)
            )
        number_taken = len(state(root))
        seen.add(number_taken)
        assert ("and 2 memories" in str(told.value)) == (number_taken == 2)
    assert seen == {0, 2}  # the last ones are not known to be all without the end
    store.close()


def test_an_export_of_a_release_without_memories_is_read(tmp_path: Path) -> None:
    file = exported(tmp_path / "none", tmp_path / "a.jsonl", SHOP)
    file.write_bytes(file.read_bytes().replace(b'"version":2', b'"version":1'))
    store = Store(laid(tmp_path / "aforesaid.db"), writer=True)
    incoming = MemoryImport(tmp_path / "memory", lambda: START)
    progress = list(importer.run(store, ExportFile(file), incoming, undo=False))[-1]
    assert (progress.new["projects"], progress.new["memories"]) == (1, 0)
    assert not (tmp_path / "memory").exists()
    store.close()


def test_the_store_is_told_which_projects_know_more(tmp_path: Path) -> None:
    put(tmp_path / "source", SHOP, "tabs", TABS)
    file = exported(tmp_path / "source", tmp_path / "a.jsonl", SHOP)
    store = Store(laid(tmp_path / "aforesaid.db"), writer=True)
    (project_id,) = [*importer.run(store, ExportFile(file), undo=False)][-1].projects
    incoming = MemoryImport(tmp_path / "memory", lambda: START)
    progress = list(importer.run(store, ExportFile(file), incoming, undo=False))[-1]
    assert progress.projects == {project_id}
    assert progress.known["projects"] == 1
    store.close()


@pytest.mark.timeout(900)
def test_an_import_that_is_killed_at_any_step_and_run_again_ends_the_same(tmp_path: Path) -> None:
    with scratch() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.import_crash", folder],
            env=os.environ | {"PATH": "/nonexistent"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        sys.stdout.write(done.stdout)
        assert done.returncode == 0, done.stderr
