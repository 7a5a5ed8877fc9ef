"""The readers of recall data: LoCoMo, BEAM, and our own lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from aforesaid.clock import DAY
from aforesaid.errors import NotFound, TransferError
from aforesaid.model.records import PromptRecord, SessionRecord, SummaryRecord
from benchmarks.recall import beam, coding, locomo, run

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a red kite."},
                {
                    "speaker": "Bo",
                    "dia_id": "D1:02",
                    "text": "Look!",
                    "blip_caption": "a photo of a lighthouse",
                },
            ],
            "session_2_date_time": "12:05 am on 1 June, 2023",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "The kite tore."}],
            "session_3_date_time": "12:06 am on 1 June, 2023",
        },
        "qa": [
            {"question": "What tore?", "answer": "k", "evidence": ["D2:1"], "category": 4},
            {"question": "Both?", "evidence": ["D:1:1; D01:002", "D9:9"], "category": 1},
            {"question": "Nobody knows", "evidence": [], "category": 5},
            {"question": "Wrong ids only", "evidence": ["D"], "category": 2},
        ],
    }
]
MESSAGES = [
    {
        "role": "user",
        "id": 0,
        "time_anchor": "March-15-2024",
        "content": "Plan the budget tracker.",
    },
    {"role": "assistant", "id": 1, "content": "Use Flask."},
    {"role": "user", "id": 2, "content": "Add a login.", "index": "1,2"},
    {"role": "assistant", "id": 3, "content": "Done with Flask-Login."},
]
PROBING: dict[str, Any] = {
    "abstention": [{"question": "Which cat?", "rubric": []}],
    "event_ordering": [{"question": "In which order?", "source_chat_ids": [0, 2, 2, 77]}],
    "knowledge_update": [
        {
            "question": "What is used for logins now?",
            "source_chat_ids": {"original_info": [1], "updated_info": [3]},
        }
    ],
}
BATCHES = [
    {"batch_number": 1, "turns": [MESSAGES[:2]]},
    {"batch_number": 2, "turns": [MESSAGES[2:]]},
]


def test_locomo_becomes_sessions_of_turns(tmp_path: Path) -> None:
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps(LOCOMO))
    data = locomo.read(file)
    (memory,) = data.memories
    assert [turn.observation for turn in memory.observations] == ["D1:1", "D1:2", "D2:1"]
    first, second, third = memory.observations
    assert second.narrative == "Look!\na photo of a lighthouse"
    assert second.concepts == ("Bo",)
    assert second.at == first.at + 1000
    assert third.at == locomo.moment("12:05 am on 1 June, 2023")
    assert len(memory.sessions) == 2


def test_locomos_evidence_is_repaired_and_what_nobody_can_find_left_out(tmp_path: Path) -> None:
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps(LOCOMO))
    (memory,) = locomo.read(file).memories
    asked = [(question.category, question.answers) for question in memory.questions]
    assert asked == [("4 single-hop", ("D2:1",)), ("1 multi-hop", ("D1:1", "D1:2"))]
    assert {question.at for question in memory.questions} == {memory.observations[-1].at}


def test_a_file_of_something_else_is_refused_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('[{"a": 1}]')
    with pytest.raises(TransferError, match=r"other\.json is not LoCoMo's JSON"):
        locomo.read(file)
    with pytest.raises(TransferError, match="no chat with questions"):
        beam.read(file)


@pytest.mark.parametrize("layout", ["folder", "flat folder", "row", "rows as text", "plans"])
def test_beam_is_read_in_every_layout(layout: str, tmp_path: Path) -> None:
    (memory,) = beam.read(_beam(layout, tmp_path)).memories
    assert [turn.observation for turn in memory.observations] == ["0", "1", "2", "3"]
    assert [turn.concepts for turn in memory.observations][:2] == [("user",), ("assistant",)]
    asked = {question.category: question.answers for question in memory.questions}
    assert asked == {"event_ordering": ("0", "2"), "knowledge_update": ("1", "3")}
    started = [part.started_at for part in _sessions(memory.sessions)]
    assert len(started) == 2
    assert started[1] == started[0] + DAY


def _beam(layout: str, folder: Path) -> Path:
    chat = folder / "100K" / "1"
    match layout:
        case "folder" | "flat folder":
            asked = chat / "probing_questions" if layout == "folder" else chat
            asked.mkdir(parents=True)
            (chat / "chat.json").write_text(json.dumps(BATCHES))
            (asked / "probing_questions.json").write_text(json.dumps(PROBING))
            return folder
        case "row":
            row: dict[str, Any] = {"conversation_id": "1", "chat": BATCHES}
            (folder / "beam.json").write_text(json.dumps([row | {"probing_questions": PROBING}]))
            return folder / "beam.json"
        case "rows as text":
            # Bare lists of messages, and the questions as Python would print them.
            row = {"chat": [MESSAGES[:2], MESSAGES[2:]], "probing_questions": str(PROBING)}
            (folder / "beam.jsonl").write_text(json.dumps(row) + "\n")
            return folder
        case _:
            row = {"chat": [{"plan-1": BATCHES[:1]}, {"plan-2": BATCHES[1:]}]}
            (folder / "beam.json").write_text(json.dumps(row | {"probing_questions": PROBING}))
            return folder / "beam.json"


def test_an_id_that_two_messages_have_is_no_answer(tmp_path: Path) -> None:
    again = [MESSAGES[0], MESSAGES[1], MESSAGES[0], MESSAGES[3]]
    row = {"chat": [again], "probing_questions": PROBING}
    (tmp_path / "beam.json").write_text(json.dumps(row))
    (memory,) = beam.read(tmp_path / "beam.json").memories
    assert [turn.observation for turn in memory.observations] == ["0", "1", "0#2", "3"]
    assert [question.answers for question in memory.questions] == [("1", "3")]


def test_our_own_lines(tmp_path: Path) -> None:
    data = run.read(str(_own(tmp_path)))
    (memory,) = data.memories
    parts = memory.sessions[0]
    assert [type(part) for part in parts[2:]].count(PromptRecord) == 2
    assert isinstance(parts[-1], SummaryRecord)
    assert [o.prompt_number for o in memory.observations] == [1, 2]
    assert memory.observations[0].type == "bugfix"
    assert memory.questions[0].at == coding.moment("2026-03-01T09:00:00Z")
    assert [len(data.half(half).memories[0].questions) for half in ("tune", "report", "all")] == [
        1,
        2,
        2,
    ]
    assert memory.prompts[0].relevant == ("o1",)
    assert data.kinds == ("observation",)


def test_an_answer_that_does_not_exist_is_the_authors_mistake(tmp_path: Path) -> None:
    file = _own(tmp_path)
    file.write_text(file.read_text().replace('["o2"]', '["o3"]'))
    with pytest.raises(TransferError, match="q2 names 'o3'"):
        coding.read(file)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    file = _own(tmp_path)
    file.write_text(file.read_text() + "{\n")
    with pytest.raises(TransferError, match="line 5, is not JSON"):
        coding.read(file)


def test_the_shipped_set_is_whole() -> None:
    data = coding.shipped()
    (memory,) = data.memories
    assert len(memory.sessions) >= 40
    assert len(memory.questions) >= 150
    assert {question.half for question in memory.questions} == {"tune", "report"}


def test_a_set_that_does_not_ship_asks_for_its_file() -> None:
    with pytest.raises(NotFound, match="--file"):
        run.read("locomo")
    with pytest.raises(NotFound, match=r"There is no .*Give coding, locomo, .*, or a JSONL file"):
        run.read("nothing.jsonl")


def _own(folder: Path) -> Path:
    lines = [
        {
            "session": "s1",
            "project": "shop",
            "started": "2026-02-01T09:00:00Z",
            "prompts": [
                {"at": "2026-02-01T09:00:00Z", "text": "Mend the basket"},
                {"at": "2026-02-01T10:00:00Z", "text": "And the till"},
            ],
            "observations": [
                {
                    "id": "o1",
                    "at": "2026-02-01T09:30:00Z",
                    "type": "fix",
                    "title": "Basket rounds once",
                    "facts": ["Totals are rounded at the end"],
                    "files_modified": ["shop/basket.py"],
                },
                {
                    "id": "o2",
                    "at": "2026-02-01T10:30:00Z",
                    "type": "change",
                    "title": "Till prints",
                },
            ],
            "summaries": [{"at": "2026-02-01T11:00:00Z", "request": "Mend", "completed": "Both"}],
        },
        {
            "id": "q1",
            "half": "report",
            "project": "shop",
            "question": "Where is a sum rounded?",
            "answers": ["o1"],
            "asked": "2026-03-01T09:00:00Z",
        },
        {
            "id": "q2",
            "question": "What prints?",
            "answers": ["o2"],
            "asked": "2026-03-01T09:00:00Z",
        },
        {
            "id": "p1",
            "project": "shop",
            "prompt": "round the basket",
            "relevant": ["o1"],
            "asked": "2026-03-01T09:00:00Z",
        },
    ]
    file = folder / "own.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def _sessions(blocks: tuple[tuple[Any, ...], ...]) -> list[SessionRecord]:
    return [part for block in blocks for part in block if isinstance(part, SessionRecord)]
