"""A memory as a file: what we write we read back, what others write is understood or left alone."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.memory.folders import Folder
from aforesaid.memory.format import (
    MAX_FILE_BYTES,
    checksum,
    name_problem,
    normalize,
    parse_memory,
    render_memory,
    slugify,
)
from aforesaid.model.memories import OF_USER, TYPES, Broken, Memory, StoredMemory
from tests.support.tables import loop_over

anything = st.text(max_size=80) | st.text(
    alphabet=" \t\n-:#'\"[]{}&*!|>%@`,?~\\\r\x1b\u2028\x85a0", max_size=40
)
words = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | anything
    | st.dates()
    | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)
memories = st.builds(
    Memory,
    name=words,
    description=anything,
    type=st.sampled_from(TYPES),
    body=anything,
    pinned=st.booleans(),
    created=st.integers(-10, 10**15),
    updated=st.integers(-10, 10**15),
    evidence=st.lists(anything, max_size=3).map(tuple),
    commit=st.none() | anything,
    files=st.lists(st.tuples(anything, anything), max_size=3).map(tuple),
    replaces=st.lists(anything, max_size=3).map(tuple),
    replaced_by=st.none() | anything,
    extra=st.dictionaries(anything, values, max_size=3),
)


def read(text: str | bytes, name: str = "a") -> Memory:
    found = parse_memory(text, Path(f"{name}.md"))
    assert isinstance(found, Memory), found
    return found


def broken(text: str | bytes) -> str:
    found = parse_memory(text, Path("a.md"))
    assert isinstance(found, Broken), found
    return found.why


def filed(head: str, body: str = "Body.") -> str:
    return f"---\n{head}\n---\n\n{body}\n"


@given(memories)
def test_what_we_write_we_read_back(memory: Memory) -> None:
    text = render_memory(memory)
    tidy = normalize(memory)
    found = parse_memory(text.encode(), Path(f"{memory.name}.md"))
    if isinstance(found, Broken):
        assert not tidy.description, found
        return
    assert found == tidy
    assert render_memory(found) == text
    assert normalize(tidy) == tidy


@given(st.text() | st.binary())
def test_no_content_makes_reading_fail(data: str | bytes) -> None:
    for content in (
        data,
        b"---\n" + (data if isinstance(data, bytes) else data.encode("utf-8", "ignore")),
    ):
        assert isinstance(parse_memory(content, Path("a.md")), Memory | Broken)


@given(st.text(alphabet="-: \n'\"#&*!{}[]a\t", max_size=60))
def test_no_front_matter_makes_reading_fail(head: str) -> None:
    found = parse_memory(filed(head), Path("a.md"))
    if isinstance(found, Memory):
        assert read(render_memory(found)) == normalize(found)


def test_a_memory_looks_as_people_would_write_it() -> None:
    memory = Memory(
        name="prefers-tabs",
        description="Tabs: not spaces",
        type="user",
        body="Indent with tabs.\n**Why:** The code does.",
        pinned=True,
        created=1_763_285_400_000,
        updated=1_763_285_400_123,
        evidence=("observation 12", "event 345"),
        commit="0123456",
        files=(("src/a b.py", "e69de29"),),
        replaces=("spaces",),
        extra={"since": "2025-11-16", "version": "1.10", "tags": ["a", "b"]},
    )
    assert render_memory(memory) == (
        "---\n"
        "name: prefers-tabs\n"
        "description: 'Tabs: not spaces'\n"
        "type: user\n"
        "pinned: true\n"
        "created: 2025-11-16T09:30:00Z\n"
        "updated: 2025-11-16T09:30:00.123Z\n"
        "evidence:\n- observation 12\n- event 345\n"
        "commit: '0123456'\n"
        "files:\n  src/a b.py: e69de29\n"
        "replaces:\n- spaces\n"
        "since: 2025-11-16\n"
        "version: 1.10\n"
        "tags:\n- a\n- b\n"
        "---\n"
        "\n"
        "Indent with tabs.\n"
        "**Why:** The code does.\n"
    )


def test_front_matter_that_we_do_not_know_is_kept_as_it_was_meant() -> None:
    head = "description: d\nversion: 1.10\nwhen: 2025-01-02\nok: yes\nempty:\nhex: 0x1F"
    extra = read(filed(head)).extra
    assert extra == {
        "version": "1.10",
        "when": "2025-01-02",
        "ok": "yes",
        "empty": "",
        "hex": "0x1F",
    }
    written = render_memory(read(filed(head)))
    for line in ("version: 1.10", "when: 2025-01-02", "ok: yes", "hex: 0x1F"):
        assert f"\n{line}\n" in written


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("description: d", "project"),
        ("description: d\ntype: User", "user"),
        ("description: d\nmetadata:\n  type: feedback", "feedback"),
        ("description: d\ntype: reference\nmetadata:\n  type: feedback", "reference"),
    ],
    ids=["none", "capital", "the client's", "both"],
)
def test_a_type_is_found_where_others_put_it(head: str, kind: str) -> None:
    memory = read(filed(head))
    assert memory.type == kind
    assert read(render_memory(memory)) == memory


def test_what_else_the_client_notes_is_kept() -> None:
    memory = read(filed("description: d\nmetadata:\n  type: user\n  session: s1"))
    assert memory.type == "user"
    assert memory.extra == {"metadata": {"session": "s1"}}


def test_a_file_is_called_as_it_is_called_and_its_title_is_kept() -> None:
    memory = read(filed("name: User prefers tabs\ndescription: d"), "user_tabs")
    assert memory.name == "user_tabs"
    assert memory.extra == {"title": "User prefers tabs"}
    assert read(render_memory(memory), "user_tabs") == memory


def test_a_description_is_taken_from_the_body_where_there_is_none() -> None:
    assert read(filed("type: user", "# Tabs, always\nand more")).description == "Tabs, always"
    assert "description" in broken(filed("type: user", ""))


@pytest.mark.parametrize(
    "written", ["2025-11-16T09:30:00Z", "2025-11-16 10:30:00+01:00", "2025-11-16T09:30"]
)
def test_dates_are_read_in_the_forms_that_people_use(written: str) -> None:
    assert read(filed(f"description: d\ncreated: {written}")).created == 1_763_285_400_000


def test_a_bare_list_of_files_is_understood() -> None:
    assert read(filed("description: d\nfiles:\n- a.py\n- b.py")).files == (
        ("a.py", ""),
        ("b.py", ""),
    )
    assert read(filed("description: d\nevidence: event 1")).evidence == ("event 1",)


@loop_over(
    ("content", "fix"),
    [
        ("just a note\n", "begin it with `---`"),
        ("---\ndescription: d\n", "begin it with `---`"),
        (filed("description: a: b"), "quotes"),
        (filed("description: [a"), "Fix it"),
        (filed("- a\n- b"), "description"),
        (filed("description: d\ndescription: e"), "take one away"),
        (filed("description: d\ntype: todo"), "user, feedback, project, reference"),
        (filed("description: d\ncreated: yesterday"), "2025-11-16T09:30:00Z"),
        (filed("description: d\npinned: maybe"), "true or false"),
        (filed("description:\n- a"), "on one line"),
        (filed("description: d\nevidence:\n- {a: b}"), "`- …` lines"),
        (filed("description: d\nx: !!python/object/apply:os.system ['true']"), "tag away"),
        (filed("description: d\nx: !!timestamp 2025-01-01"), "tag away"),
        (filed("description: d\nx: !!binary aGk="), "tag away"),
        (filed("description: d\nx: &a [1]\ny: [*a, *a]"), "write the value out"),
        (filed("description: d\nx: " + "[" * 50 + "]" * 50), "flat"),
        (filed("description: d\nx: " + "[" * 100_000), "flat"),
        (filed("description: d\n? [a]\n: b"), "make it one"),
        (b"---\ndescription: d\n---\n\0", "not text"),
        (b"---\ndescription: \xff\n---\n", "UTF-8"),
        (b"---\ndescription: d\n---\n" + b"x" * MAX_FILE_BYTES, "split it"),
    ],
)
def test_what_cannot_be_read_is_reported_with_the_fix(content: str | bytes, fix: str) -> None:
    assert fix in broken(content)


def test_no_tag_of_yaml_builds_anything(tmp_path: Path) -> None:
    made = tmp_path / "made"
    for tag in ("!!python/object/apply:pathlib.Path.touch", "!!python/name:os.system", "!new"):
        broken(filed(f"description: d\nx: {tag} ['{made}']"))
    assert not made.exists()


def test_a_bomb_of_anchors_costs_nothing() -> None:
    lines = ["description: d", "a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    assert "anchor" in broken(filed("\n".join(lines)))


def test_control_characters_and_foreign_line_ends_are_cleaned() -> None:
    memory = read(
        b'\xef\xbb\xbf---\r\ndescription: "a\\e[31mb"\r\n---\r\none\r\ntwo \x1b[1m\x07\xe2\x80\xaethree\r\n'
    )
    assert memory.description == "ab"
    assert memory.body == "one\ntwo three"


def test_an_indented_first_line_and_inner_rules_stay() -> None:
    memory = read(filed("description: d", "\n   \n    code\n\n---\n\nmore   \n\n"))
    assert memory.body == "    code\n\n---\n\nmore"
    assert read(render_memory(memory)) == memory


@loop_over(
    ("text", "name"),
    [
        ("User prefers Tabs!", "user-prefers-tabs"),
        ("Dépôt à Zürich", "depot-a-zurich"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語の設定", "日本語の設定"),
        ("snake_case_name.md", "snake-case-name-md"),
        ("x" * 100, "x" * 60),
        ("word " * 40, "word-" * 11 + "word"),
    ],
)
def test_a_slug_is_made_of_words(text: str, name: str) -> None:
    assert slugify(text) == name


@given(st.text())
def test_every_slug_is_a_safe_name_and_its_own_slug(text: str) -> None:
    name = slugify(text)
    assert name_problem(name) is None
    assert 0 < len(name) <= 80
    assert len(f".{name}.md.{'0' * 12}.writing".encode()) <= 255
    assert "/" not in name
    assert not name.startswith((".", "-"))
    assert name.lower() not in ("memory", "nul")
    assert slugify(name) == name or len(name) > 60


@loop_over(
    "name", ["", ".", "..", "../a", "a/b", "a\\b", ".git", "MEMORY", "a\n", "a\x1b", "é" * 150]
)
def test_names_that_could_leave_the_folder_are_refused(name: str) -> None:
    assert name_problem(name)


def listed(folder: Path) -> tuple[dict[str, StoredMemory], dict[str, str]]:
    found = Folder(folder, OF_USER).list()
    return (
        {each.memory.name: each for each in found.memories},
        {each.path.name: each.why for each in found.broken},
    )


def test_only_memories_are_looked_at_and_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(filed("description: secret"))
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text(filed("description: d"))
    (folder / "MEMORY.md").write_text("index")
    (folder / ".hidden.md").write_text(filed("description: d"))
    (folder / "notes.txt").write_text("text")
    (folder / "deep.md").mkdir()
    (folder / "out.md").symlink_to(secret)
    (folder / "dead.md").symlink_to(tmp_path / "nowhere")
    (folder / "large.md").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    memories, bad = listed(folder)
    assert set(memories) == {"a"}
    assert set(bad) == {"out.md", "dead.md", "large.md"}
    assert "links are not followed" in bad["out.md"]
    assert memories["a"].checksum == checksum((folder / "a.md").read_bytes())


def test_a_pipe_does_not_make_reading_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert "not a file" in listed(tmp_path)[1]["pipe.md"]


def test_a_name_that_is_no_text_is_reported(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text(filed("description: d"))
    memories, bad = listed(tmp_path)
    assert not memories
    assert "rename it" in next(iter(bad.values()))


def test_at_most_200_files_are_looked_at_newest_first_and_the_rest_is_counted(
    tmp_path: Path,
) -> None:
    for number in range(205):
        path = tmp_path / f"m{number}.md"
        path.write_text(filed(f"description: number {number}"))
        os.utime(path, (number, number))
    found = Folder(tmp_path, OF_USER).list()
    assert [each.memory.name for each in found.memories] == [f"m{n}" for n in range(204, 4, -1)]
    assert found.left_out == 5
    assert len(Folder(tmp_path, OF_USER).list(most=None).memories) == 205


def test_extra_values_of_any_kind_can_be_written() -> None:
    extra: dict[str, Any] = {
        "set": {1},
        "float": 1.5,
        "path": Path("a"),
        "big": 10**30,
        "name": "dropped",
    }
    memory = Memory("a", "d", "user", "b", extra=extra)
    assert read(render_memory(memory)).extra == {
        "set": ["1"],
        "float": "1.5",
        "path": "a",
        "big": str(10**30),
    }


@given(memories)
def test_without_libyaml_the_same_is_read(memory: Memory) -> None:
    text = render_memory(memory)
    quick = parse_memory(text, Path("a.md"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aforesaid.memory.format.LOADER", yaml.BaseLoader)
        slow = parse_memory(text, Path("a.md"))
    assert slow == quick
