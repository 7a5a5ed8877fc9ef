"""A model's reply as drafts in the house form. Total: an unusable reply is a value too.

A tag is what has a known name and the shape of a tag; every other `<` and `&` is text, as in `a < b`
or `List<String>` in prose. No field is required and no word is dropped: text of unknown elements joins the
narrative, and what is too long for its field moves there. Nothing here knows whether a statement is true.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from aforesaid.model.observations import (
    FALLBACK_TYPE,
    SUMMARY_PARTS,
    TYPES,
    ObservationDraft,
    SummaryDraft,
    SummarySkipped,
    known_type,
)
from aforesaid.model.prose import (
    BULLET,
    CLAUSE_END,
    CONCEPTS,
    FACT_LENGTH,
    FACTS,
    LEAST_TITLE_WORDS,
    SENTENCE_END,
    SUBTITLE_WORDS,
    TITLE_WORDS,
    split,
)
from aforesaid.text import ELLIPSIS, clean, cut, words

LONGEST_REPLY = 1_000_000  # characters; no model writes as much, a broken one may
LOOK_BACK = 200  # characters before a tag
WRAPPERS = ("observations", "response", "reply", "answer", "output", "result", "xml")
NOTHING = ("none", "nothing", "no_observations", "no_observation", "no_summary")
CARRIERS = ("value", "text", "name", "path", "reason")  # attributes that may hold an element's text
WORD_FIELDS = ("type", "concept", "file")  # they hold no sentence
LIST_TAGS = ("ul", "ol", "li", "item")

ATTRIBUTE = re.compile(r"""([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""")
ANY_TAG = re.compile(r"(?:(?<!\w)<|</)([A-Za-z][\w-]*)(?:\s[^<>]{0,300})?>")
CLOSED = re.compile(r"</\s*([A-Za-z][\w-]*)")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
UNREADABLE = re.compile("[\0\ud800-\udfff]")
THINKING_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
OPENING_QUOTES = tuple("`\"'“‘«([{")
CDATA, CDATA_END = "<![CDATA[", "]]>"


class Vocabulary:
    """`block` holds fields and lists; `lists` names each list's item. Items are fields too. A field holds
    text alone."""

    def __init__(self, block: str, lists: Mapping[str, str], fields: Iterable[str]) -> None:
        self.block, self.lists, self.fields = block, lists, frozenset(fields)
        self.names = (*self.fields, *lists, block, *WRAPPERS, *NOTHING)
        known = "|".join(self.names).replace("_", "[-_]")
        self.tag = re.compile(
            rf"<(?P<close>/\s*)?(?P<name>{known}|skip[\w-]*)"
            r"""(?P<attributes>(?:\s+[A-Za-z_][\w.-]*\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*)"""
            r"\s*(?P<empty>/?)>",
            re.IGNORECASE,
        )


class Tag:
    def __init__(self, match: re.Match[str]) -> None:
        self.start, self.end = match.span()
        self.name = match["name"].lower().replace("-", "_")
        self.closes, self.empty = bool(match["close"]), bool(match["empty"])
        found = ATTRIBUTE.findall(match["attributes"])
        self.attributes = [(key.lower(), one or two or bare) for key, one, two, bare in found]


@dataclass(frozen=True, slots=True)
class Part:
    """A text of the reply. `name` is its field, the block's where one begins, or empty for text that stands
    in no field; `within` is the list it stands in, None outside of any block."""

    name: str
    within: str | None
    text: str


def says_nothing(name: str) -> bool:
    return name in NOTHING or name.startswith("skip")


def read_parts(reply: str, vocabulary: Vocabulary) -> list[Part]:
    source = UNREADABLE.sub("", reply[:LONGEST_REPLY])
    if source.lstrip().lower().startswith("<think"):  # in drafts that the model then does not mean
        end = THINKING_END.search(source)
        source = source[end.end() :] if end else source
    source = _complete(_without_cdata(source, vocabulary), vocabulary)
    found = _Scanner(source, vocabulary).scan()
    return [part for part in found if part.name or part.text.strip()]


def _complete(reply: str, vocabulary: Vocabulary) -> str:
    """With the tag finished in whose midst the reply was cut off. If not even its name is known, it is
    left out: it holds no word yet."""
    start = reply.rfind("<")
    rest = reply[start:]
    if start < 0 or ">" in rest:
        return reply
    for end in (">", '">', "'>"):
        if vocabulary.tag.fullmatch(rest + end):
            return reply + end
    begun = rest[1:].lstrip("/ ").lower()
    if "=" in begun:
        begun = begun.split(None, 1)[0]
    return reply[:start] if any(name.startswith(begun) for name in vocabulary.names) else reply


def _without_cdata(reply: str, vocabulary: Vocabulary) -> str:
    """What a CDATA section holds is text, written with entities from here on. A section around a whole
    block, and one that never ends, only loses its marks."""
    first, *sections = reply.split(CDATA)
    parts = [first]
    for section in sections:
        inner, end, after = section.partition(CDATA_END)
        if end and f"<{vocabulary.block}" not in inner.lower():
            inner = inner.replace("&", "&amp;").replace("<", "&lt;")
        parts += [inner, after]
    return "".join(parts)


def _unescape(text: str) -> str:
    return ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


class _Scanner:
    """One pass over the tags. A field is open until its own closing tag, or the next tag that is markup and
    not a part of its text."""

    def __init__(self, source: str, vocabulary: Vocabulary) -> None:
        self.source, self.vocabulary = source, vocabulary
        self.closed = {name.lower() for name in CLOSED.findall(source)}
        self.within: str | None = None  # as in `Part`
        self.field: Tag | None = None

    def scan(self) -> Iterator[Part]:
        at = 0
        for tag in map(Tag, self.vocabulary.tag.finditer(self.source)):
            if self._is_markup(tag, at):
                yield self._part(self.source[at : tag.start])
                yield from self._enter(tag)
                at = tag.end
        rest = self.source[at:]
        if self.field and rest.rstrip()[-1:].isalnum() and self.field.name not in WORD_FIELDS:
            rest += ELLIPSIS
        yield self._part(rest)

    def _is_markup(self, tag: Tag, at: int) -> bool:
        """It begins a line, follows another tag, or is glued to the text before it: a tag that a sentence
        mentions stands between words, in quotes or in the form of a type, as in `Vec<File>`."""
        if self.field and tag.name == self.field.name and tag.closes:
            return True
        if self.field and says_nothing(tag.name):
            return False
        before = self.source[max(at, tag.start - LOOK_BACK) : tag.start]
        bare = before.rstrip()
        if tag.closes and bare:
            return self.source[tag.end : tag.end + 20].lstrip(" ")[:1] in ("", "\n", "<")
        in_word = self.field is not None and self.field.name in WORD_FIELDS
        if not bare or bare.endswith(">") or "\n" in before[len(bare) :] or in_word:
            return True
        name = self.source[tag.start + 1 : tag.end - 1]
        is_type = bare[-1].isalnum() and name[:1].isupper() and not name.isupper()
        return bare == before and not bare.endswith(OPENING_QUOTES) and not is_type

    def _enter(self, tag: Tag) -> Iterator[Part]:
        vocabulary = self.vocabulary
        if tag.name == vocabulary.block or tag.name in WRAPPERS:
            opens = tag.name == vocabulary.block and not tag.closes
            self.within = "" if opens and not tag.empty else None
            if opens:
                yield Part(tag.name, None, "")
                known = (each for each in tag.attributes if each[0] in vocabulary.fields)
                yield from (Part(name, "", _unescape(value)) for name, value in known)
        elif tag.name in vocabulary.lists:
            if self.within is not None or not tag.closes:
                self.within = "" if tag.closes or tag.empty else tag.name
        elif not tag.closes:
            if self.within and vocabulary.lists[self.within] != tag.name:
                self.within = ""
            self.field = tag
            if tag.empty or (says_nothing(tag.name) and tag.name not in self.closed):
                yield self._part("")

    def _part(self, text: str) -> Part:
        """The text before a tag: of the open field, or outside fields. There an element that was not asked
        for is a paragraph of the block's own text; outside of any block it is chatter."""
        field, self.field = self.field, None
        if field is not None:
            if not text.strip():
                text = next((value for key, value in field.attributes if key in CARRIERS), "")
            return Part(field.name, self.within, _unescape(text))
        if self.within is None:
            return Part("", None, "")
        return Part("", self.within, _unescape(ANY_TAG.sub(self._replace_unknown, text)))

    def _replace_unknown(self, tag: re.Match[str]) -> str:
        name = tag[1].lower()
        if self.within:
            return "\n" if name in LIST_TAGS and name in self.closed else tag[0]
        return "\n\n" if name in self.closed or tag[0].endswith("/>") else tag[0]


LONGEST_FIELD = 20_000  # characters: many times what is asked for
QUOTES = tuple("`\"'")
# What small models copy from a description of the form instead of filling it in.
PLACEHOLDERS = frozenset(
    {"n/a", "none", "null", "nil", "nothing", "tbd", "title", "subtitle", "fact", "narrative"}
    | {"short title", "short title (3-8 words)", "title (3-8 words)", "path/to/file"}
)


def _one_line(text: str) -> str:
    """On one line, however many it was written on; empty if it says nothing."""
    line = cut(" ".join(clean(text).split()), LONGEST_FIELD)
    return "" if _is_empty(line) else line


def _is_empty(text: str) -> bool:
    """Nothing, or what only stands where words should be."""
    if not any(map(str.isalnum, text)):
        return True
    return len(text) < 40 and text.strip("[]{}<>.… ").lower() in PLACEHOLDERS


def _paragraphs(text: str) -> list[str]:
    """Lines and paragraphs kept, spaces put right, without a code fence that nothing matches."""
    lines = [line.rstrip() for line in clean(text).strip().split("\n")]
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith("```")]
    if len(fences) % 2:
        del lines[fences[-1]]
    plain = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return [] if _is_empty(plain) else [plain]


def _joined(texts: Iterable[str]) -> str | None:
    return cut("\n\n".join(dict.fromkeys(texts)), LONGEST_FIELD) or None


def _items(text: str, *, bulleted: bool = False) -> list[str]:
    """One per line, or one per bullet if there are bullets. `bulleted`: only bullets divide it."""
    lines = [line for line in clean(text).split("\n") if line.strip()]
    bullets = [bool(BULLET.match(line)) for line in lines]
    if bulleted and not all(bullets):
        lines = [" ".join(lines)]
    elif any(bullets):
        found: list[str] = []
        for line, begins in zip(lines, bullets, strict=True):
            found += [line] if begins or not found else [f"{found.pop()} {line}"]
        lines = found
    return list(filter(None, (_one_line(BULLET.sub("", line)) for line in lines)))


def _words(text: str) -> list[str]:
    """Paths or concepts: one per line, or divided by commas, without the quotes around each."""
    found = (part.strip() for line in _items(text) for part in line.split(","))
    bare = (part[1:-1] if part[:1] in QUOTES and part[-1:] == part[:1] else part for part in found)
    return [part.strip() for part in bare if part.strip()]


FILE_LISTS = dict.fromkeys(("files_read", "files_modified", "files_edited", "files"), "file")
EDITED = ("files_modified", "files_edited")
LINES = ("type", "title", "subtitle")
BODY, DETAILS = ("facts", "narrative"), ("concepts", "files_read", "files_modified")
OBSERVATION = Vocabulary(
    "observation",
    lists={"facts": "fact", "concepts": "concept", **FILE_LISTS},
    fields=(*LINES, "fact", "concept", "file", "narrative"),
)
SUMMARY = Vocabulary("summary", lists=FILE_LISTS, fields=(*SUMMARY_PARTS, "file"))


@dataclass(frozen=True, slots=True)
class Unusable:
    why: str


def parse_observations(reply: str) -> tuple[ObservationDraft, ...] | Unusable:
    """None at all if the model said that there is nothing worth keeping."""
    parts = read_parts(reply, OBSERVATION)
    drafts = dict.fromkeys(gathered.draft() for gathered in _gather(parts))
    nothing = any(says_nothing(part.name) for part in parts)
    if drafts or nothing or " ".join(clean(reply).split()).strip(" .`<>/").lower() == "none":
        return tuple(drafts)
    return _unusable(reply, parts, "observation")


def parse_summary(reply: str) -> SummaryDraft | SummarySkipped | Unusable:
    """Several blocks are one summary: their text is put together under its headings."""
    parts = read_parts(reply, SUMMARY)
    texts: dict[str, list[str]] = {name: [] for name in SUMMARY_PARTS}
    files: dict[bool, list[str]] = {True: [], False: []}
    skipped = None
    for part in parts:
        if says_nothing(part.name):
            skipped = skipped or SummarySkipped(_one_line(part.text) or "no reason given")
        elif part.name == "file" or part.within in FILE_LISTS:
            files[part.within in EDITED] += _words(part.text)
        elif part.name != SUMMARY.block:
            texts[part.name if part.name in texts else "notes"] += _paragraphs(part.text)
    if not any(texts.values()):
        return skipped or _unusable(reply, parts, "summary")
    files_read, files_edited = (tuple(dict.fromkeys(files[edited])) for edited in (False, True))
    found = {name: _joined(each) for name, each in texts.items()}
    return SummaryDraft(**found, files_read=files_read, files_edited=files_edited)  # type: ignore[arg-type]


def _unusable(reply: str, parts: list[Part], what: str) -> Unusable:
    if not reply.strip():
        return Unusable("it is empty")
    return Unusable(f"there is no text in its {what}" if parts else f"there is no {what} in it")


class _Gathered:
    """An observation while its parts are read. `lines`: type, title and subtitle; `lists`: all else."""

    def __init__(self) -> None:
        self.lines = dict.fromkeys(LINES, "")
        self.lists: dict[str, list[str]] = {name: [] for name in (*BODY, *DETAILS)}

    def ends_before(self, part: Part) -> bool:
        """Fields without a block around them: a second type or title is another observation's, once this
        one has a body."""
        if part.name in ("type", "title") and any(self.lists[name] for name in BODY):
            return self.lines[part.name] not in ("", _one_line(part.text))
        return part.name == OBSERVATION.block

    def take(self, part: Part) -> None:
        name, text = part.name or part.within or "", part.text
        if name in LINES:
            line, known = _one_line(text), self.lines[name]
            if known and name != "type" and line not in ("", known):
                self.lists["narrative"].append(line)
            self.lines[name] = known or line
        elif name in ("fact", "facts"):
            self.lists["facts"] += _items(text, bulleted=name == "fact")
        elif name in ("concept", "concepts"):
            self.lists["concepts"] += _words(text)
        elif name == "file" or name in FILE_LISTS:
            self.lists["files_modified" if part.within in EDITED else "files_read"] += _words(text)
        elif not name and text.strip() in TYPES and not self.lines["type"]:
            self.lines["type"] = text.strip()
        else:
            self.lists["narrative"] += _paragraphs(text)

    @property
    def has_text(self) -> bool:
        texts = (self.lines["title"], self.lines["subtitle"], *(self.lists[name] for name in BODY))
        return any(texts)

    def join(self, other: "_Gathered") -> None:
        """The details of one that has no text."""
        self.lines["type"] = self.lines["type"] or other.lines["type"]
        for name in DETAILS:
            self.lists[name] += other.lists[name]

    def draft(self) -> ObservationDraft:
        kind = self.lines["type"]
        lists = {name: tuple(dict.fromkeys(found)) for name, found in self.lists.items()}
        return ObservationDraft(
            type=known_type(kind) if kind else FALLBACK_TYPE,
            title=self.lines["title"] or None,
            subtitle=self.lines["subtitle"] or None,
            facts=lists["facts"],
            narrative=_joined(lists["narrative"]),
            concepts=tuple(each for each in lists["concepts"] if each.lower() not in TYPES),
            files_read=lists["files_read"],
            files_modified=lists["files_modified"],
        )


def _gather(parts: Iterable[Part]) -> list[_Gathered]:
    """A field outside any block belongs to the block before it, which may have been closed too early. One
    without text is none: its details are those of the one before, or of the first."""
    found = [_Gathered()]
    for part in parts:
        if found[-1].ends_before(part):
            found.append(_Gathered())
        if part.name != OBSERVATION.block and not says_nothing(part.name):
            found[-1].take(part)
    kept = [each for each in found if each.has_text]
    last = next(iter(kept), None)
    for each in found:
        if each in kept:
            last = each
        elif last is not None:
            last.join(each)
    return kept


SHORT_FACT = 50  # characters
# Before these a title can end early and still say what it is about.
BREAKS = frozenset(words("to by for with and in so via using when while after before on from"))


def shape_draft(draft: ObservationDraft) -> ObservationDraft:
    """Within the lengths of the house form: what is too long moves to the narrative."""
    title, subtitle = _shorten_title(draft.title), _shorten_subtitle(draft.subtitle)
    facts = list(dict.fromkeys(piece for fact in draft.facts for piece in _pieces(fact)))
    moved = [
        draft.title if title != (draft.title or "").rstrip(".") else None,
        draft.subtitle if subtitle != draft.subtitle else None,
        *(fact for fact in facts[:FACTS] if len(fact) > FACT_LENGTH),
        *facts[FACTS:],
        ", ".join(draft.concepts[CONCEPTS:]),
    ]
    new = [text for text in moved if text and text not in (draft.narrative or "")]
    return replace(
        draft,
        title=title,
        subtitle=subtitle,
        facts=tuple(cut(fact, FACT_LENGTH) for fact in facts[:FACTS]),
        narrative="\n\n".join(filter(None, (draft.narrative, *new))) or None,
        concepts=draft.concepts[:CONCEPTS],
    )


def add_path_to_facts(draft: ObservationDraft) -> ObservationDraft:
    """A short fact about the only file that was changed says which file that is."""
    if len(draft.files_modified) != 1:
        return draft
    path = draft.files_modified[0]
    facts = list(draft.facts)
    for at, fact in enumerate(facts):
        fits = len(fact) < SHORT_FACT and len(path) + len(fact) + 2 <= FACT_LENGTH
        if fits and path.rpartition("/")[2] not in fact:
            facts[at] = f"{path}: {fact}"
    return replace(draft, facts=tuple(facts))


def _shorten_title(title: str | None) -> str | None:
    found = (title or "").rstrip(".").split()
    if len(found) <= TITLE_WORDS:
        return " ".join(found) or None
    ends = (n for n in range(TITLE_WORDS, LEAST_TITLE_WORDS - 1, -1) if found[n].lower() in BREAKS)
    return " ".join(found[: next(ends, TITLE_WORDS)]).rstrip(",;:")


def _shorten_subtitle(subtitle: str | None) -> str | None:
    if subtitle is None or len(subtitle.split()) <= SUBTITLE_WORDS:
        return subtitle
    first = split(subtitle, SENTENCE_END)[0]
    if len(first.split()) <= SUBTITLE_WORDS:
        return first
    return " ".join(subtitle.split()[:SUBTITLE_WORDS]).rstrip(",;:") + ELLIPSIS


def _pieces(fact: str) -> list[str]:
    """One thing per fact: a long one is divided into its sentences, or else its clauses."""
    if len(fact) <= FACT_LENGTH:
        return [fact]
    for ends in (SENTENCE_END, CLAUSE_END):
        parts = [part.rstrip(",;") for part in split(fact, ends)]
        if len(parts) > 1 and min(map(len, parts)) >= SHORT_FACT:
            return parts
    return [fact]
