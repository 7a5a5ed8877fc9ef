"""Which source each part of a draft comes from, and a mark on what only foreign text says.

A part is marked when foreign text of the session says it, or has names that nothing else has, and no
better source says it too: the user, files that the agent did not write, what programs print, what the
agent did. An instruction needs less to be marked, and what the agent did does not clear it. What no source
says is the agent's own. Nothing is removed: a marked part is stored and can be found, and it is not injected.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from aforesaid.agents.base import Agent
from aforesaid.model.events import (
    SEARCH_KINDS,
    CommandRun,
    FileChanged,
    FileRead,
    OtherTool,
    ToolKind,
    ToolUsed,
)
from aforesaid.model.jobs import SUMMARIZE, Job
from aforesaid.model.observations import (
    HELD_BACK,
    REASONS,
    UNKNOWN_SOURCE,
    Doubt,
    ObservationDraft,
    Origin,
    SummaryDraft,
    Turn,
)
from aforesaid.model.search import Filters
from aforesaid.model.sessions import Session
from aforesaid.provenance.commands import repeats_files
from aforesaid.provenance.programs import VENDORED
from aforesaid.provenance.tracker import Tracker, is_ours, origin_of, source_of
from aforesaid.providers.extract.work import relative_path
from aforesaid.similarity import (
    COMMON_STEMS,
    WORD_TOKEN,
    Statement,
    canonical_stem,
    content_words,
    parse_statement,
)
from aforesaid.store.store import Store
from aforesaid.synthesis.evidence import PATTERNS, WORDS
from aforesaid.synthesis.turn import build_turn
from aforesaid.terms import query_terms

LONGEST_TEXT = 120_000  # of one text that is not foreign
LONGEST_LINE, OVERLAP = 1_000, 200  # a longer line is split into pieces that overlap
WINDOW = 3  # lines
NEARLY_ALL = 0.7  # of the words
# A line is a copy if another text has all of its content words, nearly all of four or more, or six.
LEAST_COPIED, COPIED_WORDS = 4, 6
COPIED_PAIRS = 4  # of neighbouring words; of a short line, half of them
INSTRUCTION = PATTERNS["instruction"]
NAME = re.compile(r"[a-z][A-Z]|_|[^\W\d][./]\w|[^\W\d]\d|\d[^\W\d]|\d\.\d+\.\d|\d{5}")


class Index:
    """Lines of text by their words. `pairs`: words that follow each other."""

    def __init__(self) -> None:
        self.lines: list[frozenset[str]] = []
        self.places: dict[str, list[int]] = defaultdict(list)
        self.pairs: set[tuple[str, str]] = set()

    def add(self, text: str) -> None:
        lines = _lines(text)
        self.add_lines(frozenset(words) for _, words in lines)
        self.pairs.update(pairwise(word for _, words in lines for word in words))

    def add_lines(
        self, lines: Iterable[frozenset[str]], head: frozenset[str] = frozenset()
    ) -> None:
        """`head`: words of what the text is about, which count for each of its lines."""
        for line in lines:
            if words := line | head:
                for word in words:
                    self.places[word].append(len(self.lines))
                self.lines.append(words)
        self.lines += [frozenset()] * WINDOW

    def has(self, statement: Statement, known: Iterable[str] = ()) -> bool:
        """Whether a statement is in it. Words that are `known` from elsewhere are not looked for."""
        return self._find(statement.strong - set(known), statement.exact - set(known), NEARLY_ALL)

    def has_copy(self, words: frozenset[str]) -> bool:
        """Whether a line of these words repeats a part of it."""
        share = NEARLY_ALL if len(words) >= LEAST_COPIED else 1.0
        enough = min(COPIED_WORDS, share * len(words)) / max(1, len(words))
        return len(words) > 1 and self._find(words, frozenset(), enough)

    def has_wording(self, order: Sequence[str]) -> bool:
        """Whether a line of these words repeats a part of it in its order: quicker, for long texts."""
        pairs = list(pairwise(order))
        shared = sum(pair in self.pairs for pair in pairs)
        return shared > 0 and shared >= min(COPIED_PAIRS, len(pairs) / 2)

    def _find(self, strong: frozenset[str], exact: frozenset[str], share: float) -> bool:
        wanted = strong | exact
        # A window that has enough of the words has one of the rarest of those it cannot do without.
        rare = sorted(exact or strong, key=lambda word: len(self.places.get(word, ())))
        spare = 0 if exact else int(len(strong) * (1 - share) + 1e-9)
        starts = {at for word in rare[: spare + 1] for at in self.places.get(word, ())}
        for start in starts:
            for first in range(max(0, start - WINDOW + 1), start + 1):
                near = wanted & frozenset().union(*self.lines[first : first + WINDOW])
                if exact <= near and len(near & strong) >= share * len(strong):
                    return True
        return False


@lru_cache(maxsize=4)
def _index(texts: tuple[str, ...]) -> Index:
    index = Index()
    for text in texts:
        index.add(text)
    return index


class Sources:
    """`foreign`: text that others may have written. `repository`, `output`: files that the agent
    has not written, and what programs print. `own`: what the agent has typed. None of these has copies of
    `foreign`; `copies` are those that the agent has typed. `typed`: the words of `own`. `hosts`: where the
    foreign text comes from. `queries`: what search tools were given. `dropped_foreign`: there was more
    foreign text than is indexed."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.foreign, self.repository, self.output = Index(), Index(), Index()
        self.own, self.copies = Index(), Index()
        self.typed: set[str] = set()
        self.hosts: set[str] = set()
        self.queries: list[str] = []
        self.dropped_foreign = False
        tracker = Tracker(self.turn.roots)
        events = [item.event for item in (*self.turn.before, *self.turn.events)]
        items = [(each, tracker.add_event(each)) for each in events if not is_ours(each)]
        used = [(each.what, origin) for each, origin in items if isinstance(each.what, ToolUsed)]
        written = {what.action.path for what, _ in used if isinstance(what.action, FileChanged)}
        texts = [text for what, origin in used for text in self._texts(what, origin, written)]
        self.has_foreign = any(kind == "foreign" and text.strip() for kind, _, text in texts)
        if not (self.has_foreign or self.turn.injected):
            return
        far = (source_of(event) for event, origin in items if origin is Origin.WEB)
        self.hosts = {host or UNKNOWN_SOURCE for host in far} or {UNKNOWN_SOURCE}
        self._add_typed(self.turn.project)
        for kind, head, text in self._choose(texts):
            if kind == "foreign":
                self.foreign.add(text)
            elif kind in ("typed", "own"):
                self._add_typed(text, head)
            else:
                # A command or a file repeats what was written into it.
                index: Index = getattr(self, kind)
                index.add_lines(
                    self._without_copies(text), frozenset[str]().union(*self._without_copies(head))
                )

    def _choose(self, texts: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        """The newest, as far as there is room, in their order. Foreign text has room of its own."""
        foreign, other = MOST_FOREIGN, MOST_OTHER
        chosen = []
        for kind, head, text in reversed(texts):
            if kind == "foreign":
                part = text[:foreign]
                foreign -= len(part)
                self.dropped_foreign |= bool(text[len(part) :].strip())
            else:
                part = text[: min(other, LONGEST_TEXT)]
                other -= len(part)
            if part:
                chosen.append((kind, head, part))
        return chosen[::-1]

    def _add_typed(self, text: str, head: str = "") -> None:
        """Without the lines that are copies of foreign text that was seen before; not at all if most of
        them are."""
        lines = [frozenset(words) for _, words in _lines(text) if words]
        own = {words for words in lines if not self.foreign.has_copy(words - COMMON_STEMS)}
        if 2 * sum(line in own for line in lines) < len(lines):
            own = set()
        about = frozenset[str]().union(*self._without_copies(head))
        for line in lines:
            if line in own:
                self.own.add_lines([line], about)
                self.typed |= line
        copied = (line for line in lines if line not in own and len(line) >= LEAST_COPIED)
        self.copies.add_lines(copied)

    def _without_copies(self, text: str) -> Iterator[frozenset[str]]:
        """The lines that do not repeat foreign text that was seen before, as lines that the agent has
        typed or instructions do. Other lines may say the same on their own."""
        lines = _lines(text)
        for at, (_, order) in enumerate(lines):
            words = frozenset(order)
            near = " ".join(piece for piece, _ in lines[max(0, at - 1) : at + WINDOW - 1])
            if not self.foreign.has_wording(order) or not (
                INSTRUCTION.search(near) or self.copies.has_copy(words - COMMON_STEMS)
            ):
                yield words

    def _texts(
        self, used: ToolUsed, origin: Origin | None, written: set[str]
    ) -> Iterator[tuple[str, str, str]]:
        """The texts of a tool call in their order: their kind, what they are about, and what they say."""
        error = used.failure.error if used.failure else ""
        foreign = origin is Origin.WEB
        names = {path.rpartition("/")[2] for path in written}
        match used.action:
            case CommandRun() as run:
                statement = "\n".join((run.stdout, run.stderr, error))
                copied = repeats_files(run.command) and (
                    "git " in run.command or any(name in run.command for name in names)
                )
                yield "typed", "", f"{run.command} {run.description or ''}"
                yield from _split(statement, foreign, "own" if copied else "output", run.command)
            case FileRead() as read:
                kind = "own" if read.path in written else "repository"
                kind = kind if origin is Origin.REPOSITORY or kind == "own" else "output"
                head = relative_path(read.path, self.turn.root)
                yield "typed", "", _path_words(head)
                yield ("foreign", "", read.content) if foreign else (kind, head, read.content)
            case FileChanged() as change:
                head = relative_path(change.path, self.turn.root)
                lines = [line for hunk in change.hunks for line in hunk.lines]
                yield "typed", "", _path_words(head)
                yield "repository", head, "\n".join(line[1:] for line in lines if line[:1] != "+")
                added = [line[1:] for line in lines if line[:1] == "+"]
                yield "own", head, "\n".join(added) or change.after or ""
            case OtherTool() as other:
                yield "typed", "", other.input
                if other.kind in SEARCH_KINDS:
                    self.queries.append(other.subject)
                kind = "own" if other.kind is ToolKind.SUBAGENT else "output"
                yield from _split(f"{_unescape(other.output)}\n{error}", foreign, kind, "")

    def knows(self, word: str) -> bool:
        """Whether anything but foreign text has it."""
        return word in self.typed or word in self.repository.places or word in self.output.places


def _lines(text: str) -> list[tuple[str, list[str]]]:
    """The lines of a text with their words in order. A long line is several, which overlap."""
    step = LONGEST_LINE - OVERLAP
    pieces = (
        line[at : at + LONGEST_LINE]
        for line in text.splitlines()
        for at in range(0, max(1, len(line) - OVERLAP), step)
    )
    return [(piece, content_words(piece)) for piece in pieces]


def _split(text: str, foreign: bool, kind: str, head: str) -> Iterator[tuple[str, str, str]]:
    """Lines of a dependency's file among the results of a search are foreign."""
    if foreign or not VENDORED.search(text):
        yield ("foreign", "", text) if foreign else (kind, head, text)
        return
    lines: dict[bool, list[str]] = {True: [], False: []}
    for line in text.splitlines():
        lines[VENDORED.search(_path_of(line)) is not None].append(line)
    yield kind, head, "\n".join(lines[False])
    yield "foreign", "", "\n".join(lines[True])


def _unescape(output: str) -> str:
    """The strings of a result in JSON, each on lines of its own."""
    try:
        return "\n".join(_strings(json.loads(output)))
    except (ValueError, RecursionError):
        return output.replace("\\n", "\n").replace('\\"', '"')


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value


def _path_words(path: str) -> str:
    """A path, and the shorter forms by which sentences name it."""
    parts = path.split("/")
    return " ".join("/".join(parts[at:]) for at in range(len(parts)))


def _path_of(line: str) -> str:
    """The path before `:12:` in a result of `grep`; empty for a line that is only a path."""
    found = re.match(r"(\S{1,300}?)[:-]\d+[:-]", line) or re.match(r"(\S{1,300}?):", line)
    return found[1] if found else ""


def find_names(text: str) -> set[str]:
    """What another word cannot replace: identifiers, paths, hosts, versions, long numbers."""
    found = WORD_TOKEN.findall(text.replace("-", " "))
    parts = (part for word in found for part in {word, word.rpartition("/")[2]})
    return {canonical_stem(part.lower()) for part in parts if len(part) > 3 and NAME.search(part)}


RULES = "rules"  # the provider that needs no model
SUMMARY_PARTS = ("investigated", "learned", "completed", "next_steps", "notes")
LEAST_WORDS = 3  # a statement of fewer words is in every text
HINTED = 0.6  # of the words of an instruction that only foreign text has
USER_SHARE, ORDER_SHARE = 0.7, 0.9  # of the words, and of those of an instruction
MOST_EVENTS = 40  # of earlier sessions, those that have most of its words
PHRASED = frozenset(map(canonical_stem, WORDS["phrased"]))  # words of generated sentences
QUOTED = re.compile(r"“[^”]+”|`[^`]+`|https?://\S+")
CLAUSES = re.compile(r"(?<=[.;!?”])\s+")


def add_provenance(
    draft: ObservationDraft, turn: Turn, *, composed: bool = False
) -> ObservationDraft:
    """With its origins, and marks on what must not be injected. `composed`: no model wrote it, so that all
    of its sentences but quotations are generated."""
    parts = [("title", draft.title), ("subtitle", draft.subtitle)]
    parts += [(f"facts {number}", fact) for number, fact in enumerate(draft.facts)]
    scale = _Comparison(turn, draft.evidence, composed)
    found, doubts = _compare([*parts, ("narrative", draft.narrative)], scale)
    hosts = tuple(sorted(scale.sources.hosts)) if Origin.WEB in found else ()
    return replace(draft, origins=found, sources=hosts, doubts=(*draft.doubts, *doubts))


def add_summary_provenance(
    draft: SummaryDraft, turn: Turn, *, composed: bool = False
) -> SummaryDraft:
    parts = [(part, getattr(draft, part)) for part in SUMMARY_PARTS]
    found, doubts = _compare(parts, _Comparison(turn, (), composed))
    return replace(draft, origins=found, doubts=(*draft.doubts, *doubts))


def is_foreign_note(store: Store, agents: Mapping[str, Agent], session: Session, text: str) -> bool:
    """Whether what an agent wants to keep is only what foreign text of its session says."""
    job = Job(0, SUMMARIZE, session.id, session.prompts, 0, "")
    turn = build_turn(store, agents, job, session)
    return add_provenance(ObservationDraft("change", text), turn).held_back


def was_fetched(store: Store, project_id: int, text: str) -> bool:
    """Whether foreign text of any session of the project says it."""
    events = store.index.match_events(
        query_terms(text), Filters(project_id=project_id), MOST_EVENTS
    )
    foreign = (each.text for each in events if each.origin == Origin.WEB)
    seen = _index(tuple(each.replace("\\n", "\n") for each in foreign))  # indexed as JSON
    said = (statement for statement, _ in _clauses(text))
    return any(each.strong | each.exact and seen.has(each) for each in said)


def _compare(
    parts: Sequence[tuple[str, str | None]], scale: "_Comparison"
) -> tuple[tuple[Origin, ...], list[Doubt]]:
    every: set[Origin] = set()
    doubts: list[Doubt] = []
    for part, text in parts:
        found = {scale.origin(*clause) for clause in _clauses(text or "")}
        doubts += [Doubt(part, REASONS[origin]) for origin in HELD_BACK if origin in found]
        every |= found
    return tuple(sorted(every, key=lambda origin: origin.rank)), doubts


def _clauses(text: str) -> list[tuple[Statement, str]]:
    """What a part of a draft says, one thing after the other, without the phrases of the rules."""
    found = []
    for clause in CLAUSES.split(text):
        if clause.strip():
            statement = parse_statement(PATTERNS["counted"].sub(" ", clause))
            strong, exact = statement.strong - PHRASED, statement.exact - PHRASED
            found.append((replace(statement, strong=strong, exact=exact), clause))
    return found


@dataclass(frozen=True, eq=False)
class _Comparison:
    """`evidence`: the events that a draft names; none means all of its turn."""

    turn: Turn
    evidence: Sequence[int] = ()
    composed: bool = False

    def origin(self, statement: Statement, text: str) -> Origin:
        if not statement.strong | statement.exact:
            return self._usual
        if self._is_the_users(statement, text):
            return Origin.USER
        sources = self.sources
        if sources.has_foreign and self._is_foreign(statement, text):
            return Origin.WEB
        if self.turn.injected and self._is_repeated(statement):
            return Origin.RECALLED
        if not sources.has_foreign:
            return self._usual
        return self._better(statement) or (
            Origin.COMMAND if sources.own.has(statement) else Origin.AGENT
        )

    def _is_the_users(self, statement: Statement, text: str) -> bool:
        content = statement.strong | statement.exact
        share = ORDER_SHARE if INSTRUCTION.search(text) else USER_SHARE
        shared = content & self._user_words
        return statement.exact <= self._user_words and len(shared) >= share * len(content)

    def _is_foreign(self, statement: Statement, text: str) -> bool:
        sources = self.sources
        orders = INSTRUCTION.search(text) is not None
        if self.composed and not orders:
            plain = QUOTED.sub(self._drop_query, text)
            if plain != text:
                statement, text = _clauses(plain)[0] if plain.strip() else (parse_statement(""), "")
        known = statement.exact & (sources.typed | self._user_words)
        fresh = (statement.strong | statement.exact) - known
        names = (find_names(text) & sources.foreign.places.keys()) - self._user_words
        if not all(map(sources.knows, names)):
            return True
        if orders and sources.dropped_foreign and not sources.repository.has(statement):
            return True
        alone = {word for word in fresh if not sources.knows(word)} - self._user_words
        hits = alone & sources.foreign.places.keys()
        hinted = orders and len(hits) >= LEAST_WORDS and len(hits) >= HINTED * len(alone)
        if not hinted and not (len(fresh) >= LEAST_WORDS and sources.foreign.has(statement, known)):
            return False
        if self._better(statement):
            return False
        return orders or not sources.own.has(statement)

    def _drop_query(self, quoted: re.Match[str]) -> str:
        """What the agent has searched for or opened is named by a generated sentence."""
        statement = quoted[0].strip("“”`.,").rstrip("…")
        return " " if any(statement in each for each in self.sources.queries) else quoted[0]

    def _better(self, statement: Statement) -> Origin | None:
        if self.sources.repository.has(statement):
            return Origin.REPOSITORY
        return Origin.COMMAND if self.sources.output.has(statement) else None

    def _is_repeated(self, statement: Statement) -> bool:
        """Whether only aforesaid said it before. A generated sentence is no repetition."""
        if not _index(self.turn.injected).has(statement):
            return False
        if self._better(statement) or self.sources.own.has(statement):
            return False
        message = self.turn.last_message
        return not self.composed if message is None else _index((message,)).has(statement)

    @cached_property
    def sources(self) -> Sources:
        return Sources(self.turn)

    @cached_property
    def _user_words(self) -> frozenset[str]:
        prompts = filter(None, (self.turn.prompt, self.turn.goal))
        return frozenset(word for text in prompts for word in parse_statement(text[:100_000]).order)

    @cached_property
    def _usual(self) -> Origin:
        """The best of the tools that it speaks of."""
        events = self.turn.events
        named = [item.event for item in events if item.id in self.evidence]
        used = named or [item.event for item in events]
        found = {origin_of(event, self.turn.roots) for event in used if not is_ours(event)}
        known = [each for each in found if each in (Origin.USER, Origin.REPOSITORY, Origin.COMMAND)]
        return min(known, key=lambda origin: origin.rank, default=Origin.AGENT)


# Characters of a session that are indexed, the newest first: foreign text, and all other.
MOST_FOREIGN, MOST_OTHER = 2_000_000, 1_000_000
