"""Made-up observations by the thousand: a vocabulary as uneven as a language's, in the shape of real ones.

Words are drawn by Zipf's law, the commonest of them English stop words; a session has words and files of its
own, as real work has. The same seed makes the same text.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from aforesaid.english import STOP_WORDS
from aforesaid.model.observations import TYPES, ObservationDraft
from aforesaid.model.records import ObservationRecord, Record, session_name
from benchmarks.recall.sets import AGENT, AUTHOR, session_block

VOCABULARY = 50_000
EXPONENT, SHIFT = 1.05, 2.7  # of the Zipf-Mandelbrot law
DRAWN = 1 << 20  # words at a time
PER_SESSION = 34
PROJECTS = 8  # the first has half of all sessions
FILES = 400  # per project
OF_ITS_OWN = 40  # words of a session, and the share of the text that they make up
SHARE = 0.25
BEGINNING = 1_600_000_000_000
STEP = 7 * 60_000  # between two observations
SYLLABLES = tuple(
    onset + vowel + coda
    for onset in (
        "b",
        "br",
        "c",
        "cr",
        "d",
        "f",
        "g",
        "gl",
        "k",
        "l",
        "m",
        "n",
        "p",
        "pl",
        "r",
        "s",
        "st",
        "t",
    )
    for vowel in ("a", "e", "i", "o", "u")
    for coda in ("", "l", "n", "r", "s")
)


class Text:
    """Not for several threads."""

    def __init__(self, seed: int = 7) -> None:
        self._chance = np.random.default_rng(seed)
        self._words = self._vocabulary()
        ranks = np.arange(VOCABULARY)
        self._upto = np.cumsum(1.0 / (ranks + SHIFT) ** EXPONENT)
        self._upto /= self._upto[-1]
        self._drawn: Iterator[int] = iter(())
        self._files = [[self._file() for _ in range(FILES)] for _ in range(PROJECTS)]

    def blocks(self, size: int, most: int) -> Iterator[tuple[list[tuple[Record, ...]], int]]:
        """Sessions of one project, with at most so many observations in all, and how many there are."""
        made = number = 0
        while made < size:
            project = self._project()
            sessions: list[tuple[Record, ...]] = []
            count = 0
            while count < most and made < size:
                each = min(PER_SESSION, size - made)
                sessions.append(self._session(number, project, each))
                number += 1
                count += each
                made += each
            yield sessions, count

    def drafts(self, count: int) -> list[ObservationDraft]:
        """Of one session, as a provider writes them."""
        own, files = self._theme(0)
        return [self._draft(place, own, files) for place in range(count)]

    def query(self, made: ObservationRecord | ObservationDraft) -> list[str]:
        """Three to five words of it that are no stop words."""
        said = f"{made.title} {made.narrative}".replace(".", " ").split()
        words = [word for word in dict.fromkeys(said) if word.lower() not in STOP_WORDS]
        wanted = int(self._chance.integers(3, 6))
        chosen = self._chance.choice(len(words), size=min(wanted, len(words)), replace=False)
        return [words[place] for place in sorted(chosen)]

    def _session(self, number: int, project: int, count: int) -> tuple[Record, ...]:
        ref, name = f"made-{number}", f"project-{project}"
        own, files = self._theme(project)
        started = BEGINNING + number * STEP * (PER_SESSION + 1)
        parts = [
            self._observation(ref, place, started + place * STEP, own, files)
            for place in range(count)
        ]
        return session_block(name, ref, started, parts)

    def _theme(self, project: int) -> tuple[list[str], list[str]]:
        """Words and files that a session keeps coming back to."""
        own = [self._words[int(self._chance.integers(200, 20_000))] for _ in range(OF_ITS_OWN)]
        files = [self._files[project][int(n)] for n in self._chance.integers(0, FILES, 6)]
        return own, files

    def _observation(
        self, ref: str, place: int, at: int, own: list[str], files: list[str]
    ) -> ObservationRecord:
        draft = self._draft(place, own, files)
        return ObservationRecord(
            session=session_name(AGENT, ref),
            observation=f"{ref}#{place}",
            job=None,
            ordinal=place,
            prompt_number=0,
            at=at,
            provider=AUTHOR,
            model=None,
            type=draft.type,
            title=draft.title,
            subtitle=draft.subtitle,
            narrative=draft.narrative,
            subagent_type=None,
            pinned=False,
            edited=False,
            facts=draft.facts,
            concepts=draft.concepts,
            files_read=draft.files_read,
            files_modified=draft.files_modified,
        )

    def _draft(self, place: int, own: list[str], files: list[str]) -> ObservationDraft:
        lengths = self._chance.integers((4, 8, 40), (9, 16, 151))
        chosen = self._chance.integers(0, len(files), 2)
        name = self._identifier()
        return ObservationDraft(
            type=TYPES[place % len(TYPES)],
            title=self._prose(int(lengths[0]), own),
            subtitle=self._prose(12, own),
            narrative=f"{self._prose(int(lengths[2]), own)} {name} {files[chosen[0]]}",
            facts=tuple(f"{name} {self._prose(int(lengths[1]), own)}" for _ in range(3)),
            concepts=(own[0], own[place % OF_ITS_OWN]),
            files_read=(files[chosen[0]],),
            files_modified=(files[chosen[1]],),
        )

    def _prose(self, count: int, own: list[str]) -> str:
        ours = self._chance.random(count) < SHARE
        places = self._chance.integers(0, OF_ITS_OWN, count)
        drawn = self._some(count)
        words = [
            own[place] if mine else self._words[rank]
            for mine, place, rank in zip(ours.tolist(), places.tolist(), drawn, strict=True)
        ]
        return " ".join(words) + "."

    def _some(self, count: int) -> list[int]:
        found = list(islice(self._drawn, count))
        while len(found) < count:
            ranks = np.searchsorted(self._upto, self._chance.random(DRAWN))
            self._drawn = iter(ranks.tolist())
            found += islice(self._drawn, count - len(found))
        return found

    def _identifier(self) -> str:
        one, other = (self._words[n] for n in self._chance.integers(200, 5_000, 2).tolist())
        return f"{one}_{other}" if self._chance.random() < 0.5 else f"{one}{other.title()}"

    def _file(self) -> str:
        folder, name = (self._words[n] for n in self._chance.integers(200, 3_000, 2).tolist())
        return f"src/{folder}/{name}.py"

    def _project(self) -> int:
        return 0 if self._chance.random() < 0.5 else int(self._chance.integers(1, PROJECTS))

    def _vocabulary(self) -> list[str]:
        """The commonest are stop words, then short words before long ones."""
        words = dict.fromkeys(sorted(STOP_WORDS))
        while len(words) < VOCABULARY:
            count = 2 if len(words) < 8_000 else 3
            chosen = self._chance.integers(0, len(SYLLABLES), count).tolist()
            words["".join(SYLLABLES[n] for n in chosen)] = None
        return list(words)
