"""Our own format, JSON lines: sessions with what was kept of them, questions, prompts.

The set that ships with the product is in `recall_set/`; anybody's own is one file with the same kinds of
lines. `docs/reference/recall-benchmark.md` describes it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from aforesaid.errors import TransferError
from aforesaid.model.observations import known_type
from aforesaid.model.records import (
    ObservationRecord,
    Part,
    PromptRecord,
    Record,
    SummaryRecord,
    session_name,
)
from aforesaid.model.search import OBSERVATION
from benchmarks.recall.sets import (
    AGENT,
    AUTHOR,
    DataSet,
    Memory,
    Prompt,
    Question,
    session_block,
)

SHIPPED = Path(__file__).parents[1] / "recall_set"
SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")
Json = Mapping[str, Any]


def shipped() -> DataSet:
    folder = SHIPPED
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".jsonl"))
    return _set("coding", ((name, folder.joinpath(name).read_text("utf-8")) for name in names))


def read(file: Path) -> DataSet:
    return _set(file.stem, [(str(file), file.read_text("utf-8"))])


def _set(name: str, texts: Iterable[tuple[str, str]]) -> DataSet:
    sessions: list[tuple[Record, ...]] = []
    questions: list[Question] = []
    prompts: list[Prompt] = []
    for place, line in _lines(texts):
        try:
            if "question" in line:
                questions.append(_question(line))
            elif "prompt" in line:
                prompts.append(_prompt(line))
            else:
                sessions.append(_session(line))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise TransferError(f"{place} cannot be read: {error!r}.") from error
    memory = Memory(name, tuple(sessions), tuple(questions), tuple(prompts))
    _check(memory)
    return DataSet(name, (memory,), kinds=(OBSERVATION,))


def _lines(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Json]]:
    for name, text in texts:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                try:
                    yield f"{name}, line {number},", json.loads(line)
                except ValueError as error:
                    raise TransferError(f"{name}, line {number}, is not JSON: {error}.") from error


def _check(memory: Memory) -> None:
    """An answer that nobody can find would be held against the search."""
    known = [observation.observation for observation in memory.observations]
    if len(known) != len(set(known)):
        twice = sorted({name for name in known if known.count(name) > 1})
        raise TransferError(f"Two observations have the id {twice[0]!r}.")
    wanted = [(q.id, name) for q in memory.questions for name in q.answers]
    wanted += [(p.id, name) for p in memory.prompts for name in p.relevant]
    missing = sorted({name for _, name in wanted} - set(known))
    if missing:
        asked = next(key for key, name in wanted if name == missing[0])
        raise TransferError(f"{asked} names {missing[0]!r}, and there is no such observation.")


def _session(line: Json) -> tuple[Record, ...]:
    ref = str(line["session"])
    session = session_name(AGENT, ref)
    parts: list[Part] = []
    for number, said in enumerate(line.get("prompts", ()), 1):
        parts.append(PromptRecord(session, number, None, moment(said["at"]), said["text"]))
    asked = [part.at for part in parts if isinstance(part, PromptRecord)]
    for told in line.get("observations", ()):
        parts.append(_observation(session, told, asked))
    for number, told in enumerate(line.get("summaries", ()), 1):
        parts.append(_summary(session, told, number))
    return session_block(str(line["project"]), ref, moment(line["started"]), parts)


def _observation(session: str, told: Json, asked: list[int]) -> ObservationRecord:
    at = moment(told["at"])
    return ObservationRecord(
        session=session,
        observation=str(told["id"]),
        job=None,
        ordinal=0,
        prompt_number=sum(prompt <= at for prompt in asked),
        at=at,
        provider=AUTHOR,
        model=None,
        type=known_type(str(told.get("type", ""))),
        title=told.get("title"),
        subtitle=told.get("subtitle"),
        narrative=told.get("narrative"),
        subagent_type=None,
        pinned=False,
        edited=False,
        facts=tuple(told.get("facts", ())),
        concepts=tuple(told.get("concepts", ())),
        files_read=tuple(told.get("files_read", ())),
        files_modified=tuple(told.get("files_modified", ())),
    )


def _summary(session: str, told: Json, number: int) -> SummaryRecord:
    parts: dict[str, Any] = {part: told.get(part) or None for part in SUMMARY_PARTS}
    return SummaryRecord(
        session=session,
        prompt_number=number,
        at=moment(told["at"]),
        provider=AUTHOR,
        model=None,
        **parts,
    )


def _question(line: Json) -> Question:
    return Question(
        id=str(line["id"]),
        text=str(line["question"]),
        category=str(line.get("category", "all")),
        answers=tuple(dict.fromkeys(line["answers"])),
        at=moment(line["asked"]),
        project=line.get("project"),
        half=line.get("half"),
    )


def _prompt(line: Json) -> Prompt:
    return Prompt(
        id=str(line["id"]),
        text=str(line["prompt"]),
        relevant=tuple(dict.fromkeys(line["relevant"])),
        at=moment(line["asked"]),
        project=str(line["project"]),
        half=line.get("half"),
    )


def moment(said: str) -> int:
    """ISO 8601; without a zone it is the reader's own."""
    return int(datetime.fromisoformat(said).timestamp() * 1000)
