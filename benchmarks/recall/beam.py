"""BEAM ("Beyond a Million Tokens"): long chats with an assistant, probing questions by ability.

A chat is a store, a batch of it a session, a message an observation under its role. A chat is a folder with
`chat.json` and `probing_questions.json` (there or in a folder of that name), or a row of a JSON or JSONL file
with `chat` and `probing_questions`, which may be text. Batches are objects with `turns`, or bare lists of
messages; the longest chats have plans around their batches. Answers are messages' ids, in a list or by role.
"""

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from aforesaid.clock import DAY
from aforesaid.errors import TransferError
from aforesaid.model.records import Record
from benchmarks.recall.sets import DataSet, Memory, Question, session_block, turn_record

QUESTIONS = "probing_questions"
ANCHORS = ("%B-%d-%Y", "%B %d, %Y", "%B %d %Y", "%b-%d-%Y", "%Y-%m-%d", "%d %B %Y", "%m/%d/%Y")
BEGINNING = datetime(2024, 1, 1).timestamp()  # for chats that never say when
Json = Mapping[str, Any]


def read(place: Path) -> DataSet:
    memories = []
    try:
        for name, chat, questions in _chats(place):
            memory = _memory(name, chat, questions)
            if memory.questions:
                memories.append(memory)
    except (ValueError, SyntaxError, KeyError, TypeError, AttributeError) as error:
        raise TransferError(f"{place} is not laid out as BEAM is: {error!r}.") from error
    if not memories:
        raise TransferError(f"There is no chat with questions in {place}.")
    return DataSet("beam", tuple(memories))


def _chats(place: Path) -> Iterator[tuple[str, Any, Any]]:
    if place.is_dir():
        chats = sorted(place.rglob("chat.json"), key=_in_order)
        for chat in chats:
            for asked in (
                chat.parent / QUESTIONS / f"{QUESTIONS}.json",
                chat.parent / f"{QUESTIONS}.json",
            ):
                if asked.exists():
                    name = "-".join(chat.parent.relative_to(place).parts) or place.name
                    yield name, _json(chat), _json(asked)
                    break
        if chats:
            return
        for file in sorted((*place.rglob("*.json"), *place.rglob("*.jsonl"))):
            yield from _rows(file)
    else:
        yield from _rows(place)


def _in_order(path: Path) -> list[tuple[int, str]]:
    return [(int(part) if part.isdigit() else 0, part) for part in path.parts]


def _rows(file: Path) -> Iterator[tuple[str, Any, Any]]:
    text = file.read_text("utf-8")
    if file.suffix == ".jsonl":
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        found = json.loads(text)
        rows = found.get("rows", [found]) if isinstance(found, dict) else found
    for number, found in enumerate(rows, 1):
        row = found.get("row", found)
        if "chat" in row and QUESTIONS in row:
            name = str(row.get("conversation_id") or number)
            yield f"{file.stem}-{name}", _parsed(row["chat"]), _parsed(row[QUESTIONS])


def _json(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def _parsed(value: Any) -> Any:
    """Some copies hold the questions as text, of JSON or as Python would write it."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return ast.literal_eval(value)


def _memory(name: str, chat: Any, questions: Any) -> Memory:
    sessions: list[tuple[Record, ...]] = []
    ids: Counter[str] = Counter()
    at = int(BEGINNING * 1000)
    for number, messages in enumerate(_batches(chat), 1):
        at = _anchor(messages) or at + DAY
        ref = f"{name}-{number}"
        turns = []
        for place, message in enumerate(messages):
            said = str(message["id"])
            ids[said] += 1
            again = f"#{ids[said]}" if ids[said] > 1 else ""
            text, role = str(message["content"]), str(message["role"])
            turns.append(turn_record(ref, said + again, at + place * 1000, text, (role,)))
        if turns:
            sessions.append(session_block(name, ref, at, turns))
    # An id that two messages have names neither.
    known = {said for said, count in ids.items() if count == 1}
    last = max((turn.at for turn in Memory(name, tuple(sessions)).observations), default=at)
    asked: list[Question] = []
    for category, each in _questions(questions):
        answers = tuple(a for a in _ids(each.get("source_chat_ids")) if a in known)
        if answers:
            key = f"{name}-{len(asked) + 1}"
            asked.append(Question(key, str(each["question"]), category, answers, last))
    return Memory(name, tuple(sessions), tuple(asked))


def _batches(node: Any) -> Iterator[list[Json]]:
    """Each list of messages that belong together, in order."""
    if isinstance(node, Mapping):
        if "turns" in node:
            yield list(_messages(node["turns"]))
        else:
            for value in node.values():
                yield from _batches(value)
    elif isinstance(node, list):
        if any(_is_message(item) for item in node):
            yield list(_messages(node))
        else:
            for item in node:
                yield from _batches(item)


def _messages(node: Any) -> Iterator[Json]:
    if _is_message(node):
        yield node
    elif isinstance(node, list):
        for item in node:
            yield from _messages(item)


def _is_message(node: Any) -> bool:
    return isinstance(node, Mapping) and {"role", "content", "id"} <= node.keys()


def _questions(node: Any) -> Iterator[tuple[str, Json]]:
    for category, asked in node.items():
        for each in asked if isinstance(asked, list) else [asked]:
            yield str(category), each


def _ids(node: Any) -> list[str]:
    """Wherever they stand, each once."""
    if isinstance(node, Mapping):
        node = list(node.values())
    if isinstance(node, list):
        return list(dict.fromkeys(found for item in node for found in _ids(item)))
    return [] if node is None or isinstance(node, bool) else [str(node)]


def _anchor(messages: list[Json]) -> int | None:
    """When a batch takes place, in milliseconds; its messages seldom say it more than once."""
    for message in messages:
        said = str(message.get("time_anchor") or "").strip()
        for form in ANCHORS:
            try:
                return int(datetime.strptime(said, form).timestamp() * 1000)
            except ValueError:
                continue
    return None
