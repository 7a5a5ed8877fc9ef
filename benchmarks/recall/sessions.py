"""Real coding sessions: what the product stores of them, or their transcripts in long pieces, of which those
with the closing message of a turn answer.

Questions with the turns that answer them are in `recall_set/sessions.txt`. The transcripts are not ours: a
folder of them is named, or a store that `benchmarks.prompts --keep` left.
"""

import atexit
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aforesaid.model.records import Part
from benchmarks.recall.sets import DataSet, Memory, Question, session_block, turn_record
from benchmarks.secrets import half_of

QUESTIONS = Path(__file__).parents[1] / "recall_set/sessions.txt"
DATABASE = "aforesaid.db"
NOTHING = "-"
PROJECT = "entireio/cli"
LATEST = 1_769_800_000_000
LONGEST = 2_500  # characters of a piece
CATEGORIES = ("fact", "cause", "change", "decision", "convention", "open", "order", "many")
ANSWERABLE = (("with an answer", frozenset(CATEGORIES)),)
NO_PROMPT = re.compile(r"<command|<local-command|\[Request interrupted")


def read(folder: Path) -> DataSet:
    """What the product stores: notes, summaries and prompts."""
    if not (folder / DATABASE).exists():
        from benchmarks import prompts

        made = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, made)
        prompts.import_until(sorted(folder.glob("*.jsonl")), [("after", "9")], made)
        folder = made / "after"
    memory = Memory("sessions", (), tuple(_questions()), database=folder / DATABASE)
    return DataSet("sessions", (memory,), ANSWERABLE)


def read_pieces(folder: Path) -> DataSet:
    sessions = []
    for transcript in sorted(folder.glob("*.jsonl")):
        ref = transcript.stem[:8]
        parts: list[Part] = []
        for number, turn in enumerate(_turns(transcript), 1):
            pieces = list(_pieces(turn))
            closing = len(pieces) - len(list(_pieces(turn[-1:])))
            for place, piece in enumerate(pieces):
                at = LATEST - 10_000_000 + len(parts)
                name = f"{ref}/{number}{'#' if place >= closing else '~'}{place}"
                parts.append(turn_record(ref, name, at, piece, ()))
        sessions.append(session_block(PROJECT, ref, LATEST - 10_000_000, parts))
    return DataSet("pieces", (Memory("pieces", tuple(sessions), tuple(_questions())),), ANSWERABLE)


def _questions() -> Iterator[Question]:
    lines = QUESTIONS.read_text("utf-8").splitlines()
    for number, line in enumerate((each for each in lines if each and each[0] != "#"), 1):
        head, _, text = line.partition(" | ")
        category, *answers = head.split()
        answers = [each for each in answers if each != NOTHING]
        session = answers[0].partition("/")[0] if answers else f"none {number}"
        half = half_of(session)
        yield Question(f"s{number}", text, category, tuple(answers), LATEST, half=half)


def _turns(transcript: Path) -> Iterator[list[str]]:
    """What was said and done, by prompts, which are numbered as the product numbers them."""
    said: list[str] = []
    begun = False
    for line in transcript.read_text("utf-8").strip().split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        content = (entry.get("message") or {}).get("content")
        if entry.get("isSidechain") or entry.get("isMeta") or content is None:
            continue
        if prompt := _prompt(entry, content):
            if begun:
                yield said
            said, begun = [prompt], True
        elif entry.get("type") == "assistant" and isinstance(content, list):
            said += filter(None, map(_part, content))
    if begun:
        yield said


def _prompt(entry: dict[str, Any], content: Any) -> str:
    if entry.get("type") != "user":
        return ""
    if isinstance(content, list):
        if any(part.get("type") == "tool_result" for part in content):
            return ""
        content = "\n".join(part.get("text", "") for part in content)
    return "" if NO_PROMPT.match(content) else str(content)


def _part(part: dict[str, Any]) -> str:
    if part.get("type") == "tool_use":
        values = (str(value)[:300] for value in part["input"].values())
        return f"{part['name']} {' '.join(values)}"
    return str(part.get("text", ""))


def _pieces(turn: Sequence[str]) -> Iterator[str]:
    piece = ""
    for paragraph in "\n".join(turn).split("\n"):
        if piece and len(piece) + len(paragraph) > LONGEST:
            yield piece
            piece = ""
        piece += f"{paragraph[:LONGEST]}\n"
    if piece.strip():
        yield piece
