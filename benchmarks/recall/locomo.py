"""LoCoMo: long conversations of two people, each question with the turns that answer it.

`locomo10.json` is a list of conversations. A conversation is a store, its sessions are sessions, a turn is an
observation: its words and what is on the picture it shows, under the speaker's name.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from aforesaid.errors import TransferError
from aforesaid.model.records import ObservationRecord, Record
from benchmarks.recall.sets import DataSet, Memory, Question, session_block, turn_record

CATEGORIES = {
    1: "1 multi-hop",
    2: "2 temporal",
    3: "3 world knowledge",
    4: "4 single-hop",
    5: "5 adversarial",
}
ANSWERABLE = frozenset(name for number, name in CATEGORIES.items() if number < 5)
SESSION = re.compile(r"session_(\d+)")
# `D8:6; D9:17` and `D:11:26` occur, and so do leading zeros.
EVIDENCE = re.compile(r"D:?0*(\d+):0*(\d+)")
WHEN = "%I:%M %p on %d %B, %Y"


def read(file: Path) -> DataSet:
    try:
        conversations = json.loads(file.read_text("utf-8"))
        memories = tuple(_memory(number, each) for number, each in enumerate(conversations, 1))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TransferError(f"{file} is not LoCoMo's JSON: {error!r}.") from error
    return DataSet("locomo", memories, (("categories 1–4", ANSWERABLE),))


def _memory(number: int, conversation: Mapping[str, Any]) -> Memory:
    name = str(conversation.get("sample_id") or f"conversation-{number}")
    told = conversation["conversation"]
    numbers = sorted(int(found[1]) for key in told if (found := SESSION.fullmatch(key)))
    sessions: list[tuple[Record, ...]] = []
    for session in numbers:
        ref = f"{name}-{session}"
        started = moment(told[f"session_{session}_date_time"])
        turns = [
            _turn(ref, started + place * 1000, turn)
            for place, turn in enumerate(told[f"session_{session}"])
        ]
        if turns:
            sessions.append(session_block(name, ref, started, turns))
    memory = Memory(name, tuple(sessions))
    turns = memory.observations
    last = max(turn.at for turn in turns)
    known = {turn.observation for turn in turns}
    asked = [
        Question(
            id=f"{name}-{place}",
            text=str(qa["question"]),
            category=CATEGORIES.get(qa.get("category"), str(qa.get("category"))),
            answers=answers,
            at=last,
        )
        for place, qa in enumerate(conversation["qa"], 1)
        if (answers := tuple(a for a in evidence(qa.get("evidence") or []) if a in known))
    ]
    return Memory(name, tuple(sessions), tuple(asked))


def _turn(ref: str, at: int, turn: Mapping[str, Any]) -> ObservationRecord:
    caption = turn.get("blip_caption")
    text = f"{turn['text']}\n{caption}" if caption else str(turn["text"])
    name = next(iter(evidence([turn["dia_id"]])), str(turn["dia_id"]))
    return turn_record(ref, name, at, text, (turn["speaker"],))


def evidence(said: list[str]) -> list[str]:
    """`D1:3` each, once each, however they were written."""
    found = (f"D{session}:{turn}" for text in said for session, turn in EVIDENCE.findall(str(text)))
    return list(dict.fromkeys(found))


def moment(said: str) -> int:
    """`1:56 pm on 8 May, 2023`, by the reader's own clock."""
    return int(datetime.strptime(said.strip(), WHEN).timestamp() * 1000)
