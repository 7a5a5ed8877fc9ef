"""Reading on: nothing is missed and nothing told twice, wherever the writing was interrupted."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.events import TranscriptEvent
from tests.support.examples import examples
from tests.support.transcripts import FIXTURES, SESSIONS, Written, read

NAMES = [session.__name__ for session in SESSIONS]


def told_by(told: list[TranscriptEvent]) -> list[tuple[str, str, int]]:
    return [(t.capture.id, t.event.kind, t.capture.at) for t in told]


def busy() -> Written:
    """Of everything a little: calls at once, prompts in the queue, Esc, two results in a line."""
    w = Written()
    w.prompt("First")
    w.call("a", command="echo a")
    w.call("b", command="echo b")
    w.result("b", "b", {"stdout": "b"})
    w.add("queue-operation", operation="enqueue", content="Second")
    w.result("a", "a", {"stdout": "a"})
    w.says("Done.")
    w.add("system", subtype="stop_hook_summary")
    w.prompt("Second", promptSource="queued")
    w.call("c", command="echo c")
    w.call("d", command="echo d")
    block = {"type": "tool_result", "content": "x"}
    w.user([{**block, "tool_use_id": "c"}, {**block, "tool_use_id": "d"}])
    w.call("e", command="sleep 9")
    w.user([{"type": "text", "text": "[Request interrupted by user]"}])
    w.prompt("Third")
    w.call("f", command="sleep 9")
    w.prompt("Fourth")
    w.says("Ärger vorbei.")
    w.add("system", subtype="turn_duration")
    return w


def test_a_transcript_cut_at_any_byte_is_told_whole_in_the_end(tmp_path: Path) -> None:
    w = Written(session="s")
    w.prompt("First")
    w.call("a", command="x")
    w.call("b", command="y")
    block = {"type": "tool_result", "content": "é"}
    w.user([{**block, "tool_use_id": "b"}, {**block, "tool_use_id": "a"}])
    w.says("Done.")
    w.prompt("Second")
    w.call("c", command="z")
    w.prompt("Third")
    data, path = w.text(), w.write(tmp_path)
    whole = told_by(read(path))
    kinds = ["prompt", "tool", "tool", "stop", "prompt", "tool", "prompt"]
    assert [kind for _, kind, _ in whole] == kinds

    for size in range(len(data)):
        path.write_bytes(data[:size])
        begun = read(path)
        path.write_bytes(data)
        rest = read(path, begun[-1].mark if begun else None)
        assert told_by(begun) + told_by(rest) == whole, f"cut after {size} bytes"


@examples(10)
@given(cuts=st.lists(st.integers(0, 10_000), max_size=12))
def test_any_number_of_readings_tell_what_one_does(tmp_path: Path, cuts: list[int]) -> None:
    data = busy().text()
    path = busy().write(tmp_path)
    whole = told_by(read(path))

    found, mark = [], None
    for size in [*sorted(cuts), len(data)]:
        path.write_bytes(data[:size])
        told = read(path, mark)
        found += told_by(told)
        mark = told[-1].mark if told else mark
    assert found == whole


@pytest.mark.parametrize("name", NAMES)
def test_a_session_that_is_read_while_it_is_written_is_told_once(name: str, tmp_path: Path) -> None:
    """Line by line over all its files, each in halves."""
    home = FIXTURES / name / "home" / ".claude" / "projects"
    for main in sorted(home.glob("*/*.jsonl")):
        whole = told_by(read(main))
        copy = tmp_path / main.name
        for notes in main.with_suffix("").rglob("*.meta.json"):  # written when the sub-agent starts
            target = tmp_path / notes.relative_to(main.parent)
            target.parent.mkdir(parents=True)
            shutil.copy(notes, target)
        found, mark = [], None
        for path, line in _as_written(main):
            target = copy if path == main else tmp_path / path.relative_to(main.parent)
            for part in (line[: len(line) // 2], line[len(line) // 2 :]):
                with target.open("ab") as file:
                    file.write(part)
                told = read(copy, mark) if copy.exists() else []
                found += told_by(told)
                mark = told[-1].mark if told else mark
        if name == "forked":  # copied lines and the first prompt are written at once
            found = [t for t in found if t in whole]
        assert found == whole


def _as_written(main: Path) -> list[tuple[Path, bytes]]:
    """The lines of all files of a session, in the order of their times."""
    found = []
    for path in [main, *main.with_suffix("").rglob("agent-*.jsonl")]:
        at = ""
        for line in path.read_bytes().splitlines(keepends=True):
            at = max(at, json.loads(line).get("timestamp", at))
            found.append((at, path, line))
    return [(path, line) for _, path, line in sorted(found, key=lambda item: item[0])]


def test_a_file_that_was_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = busy().write(tmp_path)
    mark = read(path)[-1].mark
    other = busy()
    other.lines[0]["timestamp"] = "2026-11-16T00:00:00Z"
    path.write_bytes(other.text())

    assert len(read(path, mark)) == len(read(path))


def test_a_file_that_was_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = busy().write(tmp_path)
    mark = read(path)[-1].mark
    path.write_bytes(busy().text()[:-700])

    assert told_by(read(path, mark)) == told_by(read(path))


@pytest.mark.parametrize(
    "mark", ["", "x", "[]", "null", '{"v": 1}', '{"v":1,"f":"","m":{},"a":{}}']
)
def test_a_mark_that_is_none_counts_as_none(mark: str, tmp_path: Path) -> None:
    path = busy().write(tmp_path)

    assert len(read(path, mark)) == len(read(path))


def test_a_mark_stays_small_in_a_long_session(tmp_path: Path) -> None:
    w = Written()
    for number in range(300):
        w.prompt(f"Prompt {number}")
        for call in range(5):
            w.call(f"{number}-{call}", command="x" * 1000)
        for call in range(5):
            w.result(f"{number}-{call}", "y" * 1000, {"stdout": "y" * 1000})
        w.says("Done." * 200)
    w.add("system", subtype="turn_duration")

    told = read(w.write(tmp_path))

    assert len(told) == 300 * 7
    assert max(len(t.mark) for t in told) < 500


def test_reading_on_reads_only_what_is_new(tmp_path: Path) -> None:
    w = busy()
    path = w.write(tmp_path)
    mark = read(path)[-1].mark
    # What was read before is not looked at again, so that it could be anything.
    data = path.read_bytes()
    first, _, rest = data.partition(b"\n")
    path.write_bytes(
        first + b"\n" + b"\n".join(b"#" * len(x) for x in rest.split(b"\n")[:-1]) + b"\n"
    )
    w.prompt("Fifth")
    with path.open("ab") as file:
        file.write(json.dumps(w.lines[-1]).encode() + b"\n")

    assert [t.event.kind for t in read(path, mark)] == ["prompt"]
