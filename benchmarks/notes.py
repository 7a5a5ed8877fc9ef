"""How much of what a colleague would want to know is in the notes of real sessions.

The folder holds the transcripts that notes_set/keys.txt was written for. They are imported into a temporary
home and processed without a model. A key counts as covered if one note of its turn, or the turn's summary,
has all of its terms. What `--read` prints is read against the transcripts (docs/benchmarks.md).
"""

import argparse
import itertools
import json
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from aforesaid.model.prose import sentences
from benchmarks.provenance import place_transcripts, process_transcripts
from benchmarks.secrets import HALVES, half_of

KEYS = Path(__file__).parent / "notes_set/keys.txt"
OBSERVATIONS = """
    SELECT s.ref, o.prompt_number, o.title, joined(o.title, o.subtitle, o.narrative,
        (SELECT group_concat(f.text, ' ') FROM observation_facts AS f WHERE f.observation_id = o.id))
    FROM observations AS o JOIN sessions AS s ON s.id = o.session_id"""
SUMMARIES = """
    SELECT s.ref, y.prompt_number, '', joined(y.investigated, y.learned, y.completed, y.next_steps, y.notes)
    FROM summaries AS y JOIN sessions AS s ON s.id = y.session_id"""
READ = """
    SELECT s.ref || '/' || o.prompt_number, o.title, o.subtitle, o.narrative, (
        SELECT json_group_array(f.text) FROM observation_facts AS f WHERE f.observation_id = o.id),
        NULL FROM observations AS o JOIN sessions AS s ON s.id = o.session_id
    UNION ALL SELECT s.ref || '/' || y.prompt_number, NULL, NULL, NULL, '[]', y.next_steps
    FROM summaries AS y JOIN sessions AS s ON s.id = y.session_id WHERE y.next_steps IS NOT NULL
    ORDER BY 1"""
Turn = tuple[str, int]


@dataclass(frozen=True)
class Key:
    turn: Turn
    kind: str
    meaning: str
    terms: tuple[tuple[str, ...], ...]  # one of each

    def is_in(self, note: str) -> bool:
        return all(any(term in note for term in either) for either in self.terms)


def read_keys() -> list[Key]:
    keys, turn = [], ("", 0)
    for line in KEYS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        kind, _, rest = line.partition(" ")
        if not rest:
            session, _, number = line.partition("/")
            turn = (session, int(number))
            continue
        meaning, _, terms = rest.partition("|")
        groups = tuple(
            tuple(term.strip().lower() for term in each.split("/")) for each in terms.split(",")
        )
        keys.append(Key(turn, kind, meaning.strip(), groups))
    return keys


def read_notes(database: sqlite3.Connection) -> dict[Turn, list[tuple[str, str]]]:
    """The title and the whole text of each note, by turn."""
    notes = defaultdict(list)
    database.create_function("joined", -1, lambda *parts: " ".join(filter(None, parts)))
    for query in (OBSERVATIONS, SUMMARIES):
        for session, number, title, text in database.execute(query):
            notes[session[:8], number].append((title, text.lower()))
    return notes


def print_statements(database: sqlite3.Connection, half: str | None) -> None:
    numbers = itertools.count(1)
    for turn, title, subtitle, narrative, facts, next_steps in database.execute(READ):
        if half not in (None, half_of(turn[:8])):
            continue
        sys.stdout.write(f"{turn[:8]}{turn[turn.index('/') :]} {title or ''}\n")
        texts = [
            subtitle,
            *json.loads(facts),
            *sentences(narrative or ""),
            *sentences(next_steps or ""),
        ]
        for said in filter(None, texts):
            sys.stdout.write(f"  {next(numbers)} {said}\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        "notes", description="Look for the keys of turns in their notes."
    )
    parser.add_argument("folder", type=Path, help="transcripts")
    parser.add_argument("--half", choices=HALVES, help="only these sessions")
    parser.add_argument("--list", action="store_true", help="list missing keys and all titles")
    parser.add_argument("--read", action="store_true", help="print every statement, numbered")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        place_transcripts(options.folder.resolve(), home)
        process_transcripts(home)
        with sqlite3.connect(home / "data/aforesaid.db") as database:
            notes = read_notes(database)
            if options.read:
                print_statements(database, options.half)
    keys = [key for key in read_keys() if options.half in (None, half_of(key.turn[0]))]
    covered, total = Counter[str](), Counter[str](key.kind for key in keys)
    for key in keys:
        if any(key.is_in(text) for _, text in notes[key.turn]):
            covered[key.kind] += 1
        elif options.list:
            sys.stdout.write(f"missing {key.turn[0]}/{key.turn[1]} {key.kind}: {key.meaning}\n")
    if options.list:
        for turn, found in notes.items():
            for title in (title for title, _ in found if title):
                sys.stdout.write(f"{turn[0]}/{turn[1]} {title}\n")
    for kind, count in (*total.items(), ("all", sum(total.values()))):
        got = covered[kind] if kind != "all" else sum(covered.values())
        sys.stdout.write(f"{kind:5} {got:3} of {count:3}  {100 * got / max(1, count):.0f} %\n")


if __name__ == "__main__":
    main()
