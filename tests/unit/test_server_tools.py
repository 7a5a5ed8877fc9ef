"""The tools of the MCP server against a real store: what a model asks, and what it reads."""

import inspect
import json
import re
import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from aforesaid.clock import DAY
from aforesaid.errors import Misused, WorkerHung
from aforesaid.mcp import calls, results, tools
from aforesaid.mcp.context import Context, call
from aforesaid.mcp.server import INSTRUCTIONS
from aforesaid.mcp.tools import BY_NAME, TOOLS
from aforesaid.model.observations import Doubt, ObservationDraft, SummaryDraft
from aforesaid.paths import Paths
from aforesaid.recall import render
from aforesaid.recall.render import CLOSING
from aforesaid.store.store import Store
from aforesaid.text import tokens
from aforesaid.worker import rpc
from tests.support.arrivals import START
from tests.support.blank import laid
from tests.support.memory import Memory
from tests.support.tables import loop_over

LEASE = ObservationDraft(
    "bugfix",
    "Lease race fixed in the queue",
    facts=("jobs.py takes the lease in one statement",),
    narrative="Two workers took one job. " * 20,
    concepts=("leases",),
    files_modified=("src/jobs.py",),
)
TAX = ObservationDraft("decision", "Tax is counted in cents", facts=("No floats",))
NEXT_WEEK = START + 7 * DAY


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "AFORESAID_HOME": str(tmp_path / "aforesaid"),
        "AFORESAID_RECALL_ENCODER": "none",
        "CLAUDE_PROJECT_DIR": "/home/dev/shop",
        "HOME": str(tmp_path),
    }


@pytest.fixture
def store(env: dict[str, str]) -> Iterator[Store]:
    opened = Store(laid(Paths.of(env).database), writer=True)
    yield opened
    opened.close()


@pytest.fixture
def memory(store: Store) -> Memory:
    """Two projects; `shop` is the one that the agent is in."""
    bank = Memory.of(store, "bank")
    bank.turn("Sort out the lease of the bank", ObservationDraft("change", "Bank lease signed"))
    shop = Memory.of(store, "shop")
    shop.turn(
        "Why do jobs run twice?", LEASE, summary=SummaryDraft("Jobs ran twice", learned="A race")
    )
    shop.turn("How do we count tax?", TAX, session="second")
    return shop


@pytest.fixture
def place(env: dict[str, str], memory: Memory) -> Iterator[Context]:
    made = Context(env, lambda: NEXT_WEEK)
    yield made
    made.close()


def ask(place: Context, tool: str, **arguments: object) -> str:
    reply = call(place, tool, arguments)
    assert not reply.is_error, reply.text
    return reply.text


def refused(place: Context, tool: str, **arguments: object) -> str:
    reply = call(place, tool, arguments)
    assert reply.is_error, reply.text
    return reply.text


def number(memory: Memory, title: str) -> int:
    found = memory.store.observations.recent(memory.project_id, 50)
    return next(each.id for each in found if each.draft.title == title)


# Search: a compact index.


def test_search_gives_an_index_in_the_envelope(place: Context, memory: Memory) -> None:
    text = ask(place, "search", query="lease race")
    key = number(memory, "Lease race fixed in the queue")
    assert text.startswith('<aforesaid-memory project="shop">')
    assert text.endswith(CLOSING)
    assert "not instructions" in text
    (line,) = [line for line in text.split("\n") if line.startswith(f"#{key} ")]
    cells = line.split(" | ")
    assert cells[:3] == [f"#{key}", "bugfix", "6 d"]
    assert int(cells[4].removeprefix("~")) > 100
    assert cells[5] == "Lease race fixed in the queue"
    assert "Two workers" not in text


def test_search_stays_in_this_project_unless_all_is_asked_for(place: Context) -> None:
    assert "Bank lease" not in ask(place, "search", query="lease")
    everywhere = ask(place, "search", query="lease", project="all")
    assert "Bank lease signed | bank" in everywhere
    assert "Lease race fixed in the queue | shop" in everywhere
    assert "Bank lease" in ask(place, "search", query="lease", project="bank")
    assert "The projects are: bank, shop" in refused(place, "search", query="lease", project="moon")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"type": ["decision"]}, "Tax"),
        ({"type": "bugfix"}, "Lease"),
        ({"concept": ["leases"]}, "Lease"),
        ({"file": ["/home/dev/shop/src/jobs.py"]}, "Lease"),
        ({"file": "jobs.py"}, "Lease"),
        ({"session": "second"}, "Tax"),
        ({"since": "10d"}, "Lease"),
        ({"since": "1h"}, None),
        ({"until": "2020-01-01"}, None),
        ({"agent": "claude-code"}, "Lease"),
        ({"agent": "other"}, None),
    ],
)
def test_search_is_narrowed(place: Context, filters: dict[str, object], found: str | None) -> None:
    text = ask(place, "search", query="lease race tax cents", **filters)
    if found is None:
        assert text.startswith("Nothing was found")
    else:
        assert found in text
        other = {"Tax": "Lease race", "Lease": "Tax is"}[found]
        assert other not in text or not ({"type", "concept", "file", "session"} & set(filters))


def test_levels_go_from_sessions_to_facts(place: Context) -> None:
    assert "session:" in ask(place, "search", query="jobs twice", level="sessions")
    assert "summary:" in ask(place, "search", query="jobs twice", level="summaries")
    assert "takes the lease in one statement" in ask(place, "search", query="lease", level="facts")


def test_doubtful_findings_are_marked(place: Context, memory: Memory) -> None:
    memory.turn("Guess", ObservationDraft("change", "Moon landed", doubts=(Doubt("title", "no"),)))
    assert "(unverified)" in ask(place, "search", query="moon landed")


# Timeline, get, related, files.


def test_timeline_shows_what_stands_around(place: Context, memory: Memory) -> None:
    key = number(memory, "Tax is counted in cents")
    text = ask(place, "timeline", id=f"#{key}", before=3, after=0)
    assert f"> #{key} | decision | 20" in text
    assert "Lease race" in text
    assert text.index("Lease race") < text.index("Tax is")
    assert "Lease race" in ask(place, "timeline", at="2027-01-15")
    assert "either" in refused(place, "timeline")


def test_get_reads_several_at_the_level_that_is_wanted(place: Context, memory: Memory) -> None:
    lease, tax = (number(memory, each.title or "") for each in (LEASE, TAX))
    text = ask(place, "get", ids=[f"#{lease}", tax, "summary:1", "prompt:1", "session:1"])
    assert "Two workers took one job." in text
    assert "6 d ago, session" in text
    assert "written by test" in text
    assert "No floats" in text
    assert "Learned: A race" in text
    assert "There is no prompt:1 in this project" in text  # it is the bank's
    facts = ask(place, "get", ids=[lease], level="facts")
    assert "one statement" in facts
    assert "Two workers" not in facts
    assert ask(place, "get", ids=str(lease)) == ask(place, "get", ids=[lease, f"#{lease}"])


def test_what_another_project_knows_is_not_there_unless_asked_for(
    place: Context, memory: Memory
) -> None:
    bank = next(o.id for o in memory.store.observations.recent(1, 5))
    text = refused(place, "get", ids=[bank])
    assert f"There is no #{bank} in this project" in text
    assert "project='all'" in text
    assert "Bank lease" not in text
    assert "Bank lease signed" in ask(place, "get", ids=[bank], project="all")
    for tool in ("timeline", "related"):
        assert f"There is no #{bank}" in refused(place, tool, id=bank)
    assert "There is no #" in refused(place, "forget", id=bank)
    for kind in ("summary", "prompt", "session", "event"):
        assert "Bank" not in call(place, "get", {"ids": [f"{kind}:1"]}).text


def test_a_full_search_tells_everything(place: Context, memory: Memory) -> None:
    memory.turn("More", ObservationDraft("change", "Winch", narrative="rope " * 200 + "the end"))
    assert "the end" in ask(place, "search", query="winch", level="full")
    assert "the end" not in ask(place, "search", query="winch")


@pytest.mark.parametrize(
    ("tool", "arguments", "advice"),
    [
        ("search", {"query": "x"}, "project='all'"),
        ("timeline", {"at": "yesterday"}, "name of another project"),
        ("files", {"path": "a.py"}, "name of another project"),
        ("forget", {"id": "1"}, ""),
    ],
)
def test_in_a_place_that_nobody_knows_the_advice_can_be_followed(
    env: dict[str, str], memory: Memory, tool: str, arguments: dict[str, object], advice: str
) -> None:
    nowhere = Context(env | {"CLAUDE_PROJECT_DIR": "/nowhere"}, lambda: NEXT_WEEK)
    try:
        text = refused(nowhere, tool, **arguments)
    finally:
        nowhere.close()
    assert text.startswith("Nothing is remembered of /nowhere yet.")
    assert advice in text
    assert ("roject" in text) == bool(advice)


@pytest.mark.parametrize(
    "given",
    [
        {"level": "sessions", "type": ["decision"]},
        {"level": "events", "file": ["a.py"]},
        {"since": "2026-12-01", "until": "2026-01-01"},
    ],
)
def test_what_can_never_hold_is_refused(place: Context, given: dict[str, object]) -> None:
    assert "eave " in refused(place, "search", query="lease", **given)


def test_every_parameter_that_the_skill_names_exists() -> None:
    known = {parameter.name for tool in TOOLS for parameter in tool.parameters}
    skill = files("aforesaid").joinpath("skills/aforesaid/SKILL.md").read_text()
    assert set(re.findall(r"`(\w+): ", skill)) <= known


def test_related_and_files_tell_why_and_what(place: Context, memory: Memory) -> None:
    key = number(memory, LEASE.title or "")
    memory.turn("More", ObservationDraft("change", "Jobs log", files_modified=("src/jobs.py",)))
    assert "Jobs log" in ask(place, "related", id=key)
    text = ask(place, "files", path="/home/dev/shop/src/jobs.py")
    assert "Jobs log" in text
    assert "- jobs.py takes the lease in one statement" in text
    assert "Nothing was found" in ask(place, "files", path="moon.py")
    for directory in ("src", "src/", "./src", "/home/dev/shop/src"):
        assert "#" in ask(place, "files", path=directory), directory


# What goes wrong gets an answer that names the fix.


@pytest.mark.parametrize("bad", ["x", "", "#", "-1", "1.5", "summary:", "9" * 16, "#1 OR 1", "１"])
def test_a_bad_id_is_named_with_how_ids_are_written(place: Context, bad: str) -> None:
    for tool, arguments in (("get", {"ids": [bad, "x"]}), ("related", {"id": bad or " "})):
        text = refused(place, tool, **arguments)
        assert "Write 12 or #12" in text or "is missing" in text


@pytest.mark.parametrize(
    ("tool", "arguments", "hint"),
    [
        ("search", {}, "`query` is missing"),
        ("search", {"query": ""}, "`query` is missing"),
        ("search", {"query": None}, "`query` is missing"),
        ("search", {"query": ["a"]}, "must be text, not a list"),
        ("search", {"query": {"a": 1}}, "must be text, not an object"),
        ("search", {"query": True}, "must be text"),
        ("search", {"query": "a" * 10_000_000}, "at most 100000"),
        ("search", {"query": "a", "limit": "many"}, "whole number"),
        ("search", {"query": "a", "level": "deep"}, "one of sessions"),
        ("search", {"query": "a", "type": ["novel"]}, "one of decision"),
        ("search", {"query": "a", "since": "whenever"}, "is not a time"),
        ("search", {"query": "a", "words": "b"}, "There is no parameter"),
        ("search", {"query": "a", "session": "zzz"}, "There is none"),
        ("search", {"query": "a", "concept": ["a"] * 51}, "at most 50"),
        ("get", {"ids": []}, "`ids` is missing"),
        ("get", {"ids": [{}]}, "must be text"),
        ("get", {"ids": [10**400]}, "is not an id"),
        ("related", {"id": "summary:1"}, "Only observations"),
        ("files", {"path": "a", "project": "all"}, "one project"),
        ("forget", {"id": "summary:1"}, "Only observations"),
        ("forget", {"id": "1", "undo": "perhaps"}, "true or false"),
        ("remember", {"text": "a" * 10_001}, "at most 10000"),
        ("remember", {"text": "a", "type": "novel"}, "one of user"),
        ("fly", {}, "There are: search, timeline"),
    ],
)
def test_a_call_that_cannot_be_understood_says_what_to_send(
    place: Context, tool: str, arguments: dict[str, object], hint: str
) -> None:
    text = refused(place, tool, **arguments)
    assert hint in text
    assert len(text) < 600


def test_numbers_are_taken_as_meant(place: Context) -> None:
    for limit in ("1", 1, 1.0, -5, 0):
        assert ask(place, "search", query="lease tax", limit=limit).count("\n#") <= 1
    ask(place, "search", query="lease", limit=10**30)


def test_without_a_database_the_fix_is_named(env: dict[str, str]) -> None:
    place = Context(env, lambda: START)
    for tool, arguments in (("search", {"query": "a"}), ("forget", {"id": "1"})):
        assert "aforesaid install" in refused(place, tool, **arguments)


def test_a_damaged_database_is_named_and_a_new_one_is_found(env: dict[str, str]) -> None:
    database = Paths.of(env).database
    database.parent.mkdir(parents=True)
    database.write_bytes(b"not a database" * 1000)
    place = Context(env, lambda: START)
    assert "is damaged" in refused(place, "search", query="a")
    database.unlink()
    Store(database, writer=True).close()
    assert "Nothing is remembered of /home/dev/shop" in refused(place, "search", query="a")


def test_a_database_that_breaks_while_it_is_open_is_an_error_not_a_crash(
    place: Context, env: dict[str, str], memory: Memory
) -> None:
    ask(place, "search", query="lease")
    memory.store.close()
    place.close()  # the log is written into the file
    database = Paths.of(env).database
    data = bytearray(database.read_bytes())
    data[200:] = b"\xff" * (len(data) - 200)
    moved = database.with_suffix(".new")
    moved.write_bytes(bytes(data))
    moved.replace(database)
    for name in ("-wal", "-shm"):
        Path(f"{database}{name}").unlink(missing_ok=True)
    for tool, arguments in (("search", {"query": "lease"}), ("get", {"ids": ["1"]})):
        assert "aforesaid" in refused(place, tool, **arguments)


def test_a_database_of_a_newer_version_is_named(env: dict[str, str], memory: Memory) -> None:
    memory.store.close()
    connection = sqlite3.connect(Paths.of(env).database)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "`git pull` and `make setup`" in refused(
        Context(env, lambda: START), "search", query="a"
    )


def test_writing_without_a_worker_that_can_start_is_an_error_result(
    place: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise WorkerHung

    monkeypatch.setattr(rpc, "order", fail)
    assert "aforesaid worker restart" in refused(place, "remember", text="Mind the gap")


def test_a_bug_is_an_error_result(place: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Context, "scope", broken)
    text = refused(place, "search", query="a")
    assert "aforesaid doctor" in text
    assert "secret" not in text


# What it costs, and what it says of itself.


def test_the_list_of_tools_stays_cheap() -> None:
    described = [tool.describe() for tool in TOOLS]
    listed = [{k: v for k, v in each.items() if k != "annotations"} for each in described]
    assert tokens(json.dumps(listed)) < 1_100
    assert tokens(INSTRUCTIONS) < 150


def test_the_instructions_teach_the_three_steps_in_order() -> None:
    places = [INSTRUCTIONS.index(f"`{name}`") for name in ("search", "timeline", "get")]
    assert places == sorted(places)
    assert "never instructions" in INSTRUCTIONS


@loop_over("tool", TOOLS)
def test_every_tool_is_a_function_that_takes_its_parameters(tool: tools.Tool) -> None:
    signature = inspect.signature(getattr(calls, tool.name))
    signature.bind("context", **{parameter.name: None for parameter in tool.parameters})
    assert BY_NAME[tool.name] is tool
    for parameter in tool.parameters:
        default, choices = parameter.default, parameter.choices
        assert not default or not choices or default in choices


def test_ids_are_read_as_they_are_written() -> None:
    assert render.LEVELS == tools.DETAIL
    for kind in results.KINDS:
        assert results.parse_number(render.item_name(kind, 12)) == (kind, 12)
    assert (
        results.parse_number(" 12 ")
        == results.parse_number("#12")
        == results.parse_number("observation #12")
    )
    assert results.parse_number("Summary 5") == results.parse_number("summary: 5") == ("summary", 5)


@loop_over("text", ["event:-1", "event-1", "event - 1", "-1", "#-1", "event::1"])
def test_a_minus_is_no_part_of_an_id(text: str) -> None:
    with pytest.raises(Misused, match=r"is not an id\. Write 12 or #12"):
        results.parse_number(text)
