"""Which lasting statements of users are kept without a model, and what is kept wrongly.

    python -m benchmarks statements [PATH] [--half tune|report] [--list]

PATH is the folder of transcripts, with the folders below it, that memory_set/statements.txt was written for:
each prompt is read with the turns before it, as the worker does. Without PATH only the written sentences of
memory_set/spoken.txt are read, each alone.
"""

import hashlib
import json
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aforesaid.memory.extraction.rules import Statement, statements_by_rules
from aforesaid.model.memories import USER, Message
from aforesaid.text import one_line
from benchmarks.prompts import share
from benchmarks.secrets import half_of

SET = Path(__file__).parent / "memory_set"
KEPT, MAY_BE_KEPT = "+", "?"
TURNS = 4  # that are read, as the worker does
NO_PROMPT = re.compile(
    r"<(?:command-|local-command|task-notification)|\[Request interrupted|This session is being"
)
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Graded:
    """What should come of a text. `may`: it need not. Nothing, if there are no terms."""

    id: str
    half: str
    talk: tuple[Message, ...]
    terms: Groups = ()
    may: bool = False
    scope: str = ""
    reason: Groups = ()

    def fits(self, statement: Statement) -> bool:
        return bool(self.terms) and has_terms(statement, self.terms)


def has_terms(statement: Statement, terms: Groups) -> bool:
    text = f"{statement.description}\n{statement.body}".lower()
    return all(any(term in text for term in either) for either in terms)


def groups(terms: str) -> Groups:
    split = (each for each in terms.split(",") if each.strip())
    return tuple(tuple(term.strip().lower() for term in each.split("/")) for each in split)


def read_spoken() -> list[Graded]:
    found = []
    for line in (SET / "spoken.txt").read_text("utf-8").splitlines():
        if line[:2] not in ("+ ", "- "):
            continue
        marks, _, text = line.partition(" | ")
        half = ("tune", "report")[hashlib.sha256(text.encode()).digest()[0] & 1]
        talk = (Message("user", text.replace("\\n", "\n")),)
        name = one_line(text, 40)
        if marks.startswith(KEPT):
            terms, _, reason = marks[4:].partition("&")
            scope = marks[2]
            found.append(Graded(name, half, talk, groups(terms), False, scope, groups(reason)))
        else:
            found.append(Graded(name, half, talk))
    return found


def read_real(folder: Path) -> list[Graded]:
    expected: dict[str, tuple[Groups, bool, str]] = {}
    for line in (SET / "statements.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            turn, kind, rest = line.split(maxsplit=2)
            scope, _, text = rest.partition(" ") if kind == KEPT else ("", "", rest)
            expected[turn] = (groups(text.partition(" : ")[0]), kind == MAY_BE_KEPT, scope)
    found = []
    for transcript in sorted(folder.rglob("*.jsonl")):
        if "subagents" in transcript.parts:
            continue
        session = transcript.stem[:8]
        for number, talk in enumerate(turns_of(transcript), 1):
            turn = f"{session}/{number}"
            terms, may, scope = expected.get(turn, ((), False, ""))
            found.append(Graded(turn, half_of(session), talk, terms, may, scope))
    return found


def turns_of(transcript: Path) -> Iterator[tuple[Message, ...]]:
    """Each prompt behind the prompts and closing messages before it."""
    talk: list[Message] = []
    for line in transcript.read_text("utf-8").splitlines():
        message = message_of(line)
        if message is None:
            continue
        if message.role == "user":
            yield (*[each for each in talk if each.text][-2 * TURNS :], message)
        elif talk and talk[-1].role == "assistant":
            talk.pop()  # only the last one closes the turn
        talk.append(message)


def message_of(line: str) -> Message | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if (
        entry.get("type") not in ("user", "assistant")
        or entry.get("isMeta")
        or entry.get("isSidechain")
    ):
        return None
    content = entry["message"]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if any(part.get("type") == "tool_result" for part in parts):
        return None
    text = "\n".join(part["text"] for part in parts if part.get("type") == "text")
    if not text or (entry["type"] == "user" and NO_PROMPT.match(text)):
        return None
    return Message(entry["type"], text)


def report(title: str, graded: Sequence[Graded], *, listed: bool) -> None:
    wanted = kept = right = wrong = scoped = reasons = reasoned = 0
    for each in graded:
        statements = [one for one in statements_by_rules(each.talk) if one.stands]
        fitting = [one for one in statements if each.fits(one)]
        others = [one for one in statements if not each.fits(one)]
        if each.terms and not each.may:
            wanted += 1
            kept += bool(fitting)
            scoped += any((one.type == USER) == (each.scope == "u") for one in fitting)
            reasons += bool(each.reason)
            reasoned += bool(each.reason) and any(has_terms(one, each.reason) for one in fitting)
        right += len(fitting)
        wrong += len(others)
        if listed:
            if each.terms and not each.may and not fitting:
                sys.stdout.write(f"missed {each.id}: {one_line(each.talk[-1].text, 160)}\n")
            for one in others:
                sys.stdout.write(f"wrong {each.id}: {one_line(one.body, 160)}\n")
    sys.stdout.write(
        f"{title}: {len(graded)}\n  kept        {share(kept, wanted)}\n"
        f"  wrong       {share(wrong, right + wrong)}\n  scope right {share(scoped, kept)}\n"
        f"  reason kept {share(reasoned, reasons)}\n"
    )


def main() -> None:
    parser = ArgumentParser(
        "statements", description="Lasting statements of users, kept as memories."
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--half", choices=("tune", "report"))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    sets = {"sentences": read_spoken()}
    if options.folder:
        sets["real prompts"] = read_real(options.folder.resolve())
    for title, graded in sets.items():
        chosen = [each for each in graded if options.half in (None, each.half)]
        report(title, chosen, listed=options.list)


if __name__ == "__main__":
    main()
