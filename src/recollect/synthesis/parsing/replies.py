"""What a model wrote, as drafts. Total: a reply that nothing can be taken from is a value too.

No field is required, no word is dropped for standing in the wrong place: text in elements we did not ask for
joins the narrative, or the notes of a summary. What is missing is None. Nothing here knows whether a word
is true.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from recollect.model.flat import lifted
from recollect.model.observations import (
    FALLBACK_TYPE,
    SUMMARY_PARTS,
    TYPES,
    ObservationDraft,
    SummaryDraft,
    SummarySkipped,
    known_type,
)
from recollect.synthesis.parsing.fields import (
    capped,
    items,
    more,
    once,
    paragraphs,
    parted,
    paths,
    said,
    unwrapped,
)
from recollect.synthesis.parsing.markup import Part, parts
from recollect.synthesis.parsing.tags import Vocabulary, says_nothing

FILE_LISTS = {
    "files_read": "file",
    "files_modified": "file",
    "files_edited": "file",
    "files": "file",
}
EDITED = frozenset({"files_modified", "files_edited"})
ONE_LINE = frozenset({"type", "title", "subtitle", "fact", "concept", "file"})
OBSERVATION = Vocabulary(
    block="observation",
    lists={"facts": "fact", "concepts": "concept", **FILE_LISTS},
    fields=ONE_LINE | {"narrative", "text"},
    lines=ONE_LINE,
)
SUMMARY = Vocabulary(
    block="summary",
    lists=FILE_LISTS,
    fields=frozenset({*SUMMARY_PARTS, "file"}),
    lines=frozenset({"file"}),
)


@dataclass(frozen=True, slots=True)
class ParsedObservations:
    """`none`: the model said that there is nothing worth keeping."""

    drafts: tuple[ObservationDraft, ...]
    none: bool


@dataclass(frozen=True, slots=True)
class ParsedSummary:
    draft: SummaryDraft | SummarySkipped


@dataclass(frozen=True, slots=True)
class Unusable:
    why: str


def observations(reply: str) -> ParsedObservations | Unusable:
    found = parts(reply, OBSERVATION)
    drafts = dict.fromkeys(gathered.draft() for gathered in _with_text(_gathered(found)))
    if drafts:
        return ParsedObservations(tuple(drafts), none=False)
    if _skipped(found) or unwrapped(reply).strip(" .`<>/").lower() == "none":
        return ParsedObservations((), none=True)
    return _unusable(reply, found, "observation")


def summary(reply: str) -> ParsedSummary | Unusable:
    found = parts(reply, SUMMARY)
    draft = _summary(found)
    if draft is not None:
        return ParsedSummary(draft)
    skipped = _skipped(found)
    if skipped:
        return ParsedSummary(SummarySkipped(unwrapped(skipped[0].text) or "no reason given"))
    return _unusable(reply, found, "summary")


def _unusable(reply: str, found: list[Part], what: str) -> Unusable:
    if not reply.strip():
        return Unusable("it is empty")
    return Unusable(f"there is no text in its {what}" if found else f"there is no {what} in it")


def _skipped(found: Iterable[Part]) -> list[Part]:
    return [part for part in found if says_nothing(part.name)]


@dataclass(slots=True)
class _Gathered:
    """An observation while its parts are read."""

    type: str = ""
    title: str | None = None
    subtitle: str | None = None
    facts: list[str] = field(default_factory=list)
    narrative: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    concepts: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    modified: list[str] = field(default_factory=list)

    def ends_before(self, name: str, text: str) -> bool:
        """Fields without a block around them: a second type or title is another observation's, once this
        one has a body."""
        if not (self.facts or self.narrative or self.text):
            return False
        again = (name == "title" and self.title is not None) or (name == "type" and self.type != "")
        return again and not (name == "title" and unwrapped(text) == self.title)

    def take(self, part: Part) -> None:
        name, text = part.name or part.within or "", part.text
        match name:
            case "type":
                self.type = self.type or unwrapped(text)
            case "title" | "subtitle" if getattr(self, name) is None:
                setattr(self, name, said(text))
            case "title" | "subtitle":
                self.narrative += more(said(text), self.title, self.subtitle)
            case "fact" | "facts":
                self.facts += items(text, bulleted=name == "fact")
            case "concept" | "concepts":
                self.concepts += (each for line in items(text) for each in parted(line))
            case "file" | "files" | "files_read" | "files_modified" | "files_edited":
                (self.modified if part.within in EDITED else self.read).extend(paths(text))
            case "text":
                self.text += more(paragraphs(text))
            case "" if not self.type and unwrapped(text) in TYPES:
                self.type = unwrapped(text)
            case _:
                self.narrative += more(paragraphs(text))

    @property
    def has_text(self) -> bool:
        return bool(self.title or self.subtitle or self.facts or self.narrative or self.text)

    def join(self, other: "_Gathered") -> None:
        self.type = self.type or other.type
        self.concepts += other.concepts
        self.read += other.read
        self.modified += other.modified

    def draft(self) -> ObservationDraft:
        kind = known_type(self.type) if self.type else FALLBACK_TYPE
        narrative, text = "\n\n".join(once(self.narrative)), "\n\n".join(once(self.text))
        if text and not (self.facts or narrative):
            flat = lifted(kind, capped(text))
            title, subtitle = self.title or flat.title, self.subtitle or flat.subtitle
            draft = replace(flat, title=title, subtitle=subtitle)
        else:
            whole = "\n\n".join(filter(None, (narrative, text)))
            facts = once(self.facts)
            draft = ObservationDraft(kind, self.title, self.subtitle, facts, capped(whole) or None)
        concepts = (each for each in once(self.concepts) if each.lower() not in TYPES)
        return replace(
            draft,
            concepts=tuple(concepts),
            files_read=once(self.read),
            files_modified=once(self.modified),
        )


def _gathered(found: Iterable[Part]) -> list[_Gathered]:
    """A field outside any block belongs to the block before it, which may have been closed too early."""
    all_of_them = [_Gathered()]
    for part in _with_attributes(found, OBSERVATION.block):
        begins = part.name == OBSERVATION.block
        if begins or all_of_them[-1].ends_before(part.name, part.text):
            all_of_them.append(_Gathered())
        if not begins and not says_nothing(part.name):
            all_of_them[-1].take(part)
    return all_of_them


def _with_text(gathered: Iterable[_Gathered]) -> list[_Gathered]:
    """One without text is none; the concepts and files in it are those of the one before, or the first."""
    kept: list[_Gathered] = []
    early: list[_Gathered] = []
    for each in gathered:
        if each.has_text:
            kept.append(each)
        else:
            (kept[-1].join if kept else early.append)(each)
    for each in early if kept else ():
        kept[0].join(each)
    return kept


def _with_attributes(found: Iterable[Part], block: str) -> Iterator[Part]:
    """A block's attributes are fields that were written in another place."""
    for part in found:
        yield part
        if part.name == block:
            yield from (Part(name, "", value) for name, value in part.attributes)


def _summary(found: Iterable[Part]) -> SummaryDraft | None:
    """Several blocks are one summary: what they say is put together under its headings."""
    texts: dict[str, list[str]] = {name: [] for name in SUMMARY_PARTS}
    read: list[str] = []
    edited: list[str] = []
    for part in _with_attributes(found, SUMMARY.block):
        if part.name == SUMMARY.block or says_nothing(part.name):
            continue
        if part.name == "file" or part.within in FILE_LISTS:
            (edited if part.within in EDITED else read).extend(paths(part.text))
        else:
            texts[part.name if part.name in texts else "notes"] += more(paragraphs(part.text))
    if not any(texts.values()):
        return None
    request, investigated, learned, completed, next_steps, notes = (
        capped("\n\n".join(once(texts[name]))) or None for name in SUMMARY_PARTS
    )
    files = once(read), once(edited)
    return SummaryDraft(request, investigated, learned, completed, next_steps, *files, notes)
