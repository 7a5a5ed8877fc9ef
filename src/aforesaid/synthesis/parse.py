"""A model's reply as drafts in the house form. Total: an unusable reply is a value too.

A tag is what has a known name and stands where a tag does; every other `<` and `&` is text, as in `a < b`
or `List<String>` in prose. No field is required and no word is dropped: text of unknown elements joins the
narrative, and what is too long for its field moves there. Nothing here knows whether a statement is true.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain

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
    CONCEPTS,
    FACT_LENGTH,
    FACTS,
    SUBTITLE_WORDS,
    TITLE_WORDS,
    sentences,
)
from aforesaid.providers.extract.titles import without_loose_end
from aforesaid.text import ELLIPSIS, clean, cut, words

LONGEST_REPLY = 1_000_000  # characters; no model writes as much, a broken one may
LOOK_BACK = 200  # characters before a tag
NOTHING = ("none", "nothing", "no_observations", "no_observation", "no_summary")
WORD_FIELDS = ("type", "concept", "file")  # they hold no sentence
TEXT_ATTRIBUTES = ("value", "text", "name", "path", "reason")  # of an element without content
THINKING = re.compile(r"\A\s*<think.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
NO_TEXT = re.compile("[\0\ud800-\udfff]|<!\\[CDATA\\[|\\]\\]>")
CUT_TAG = re.compile(r"</?([A-Za-z_-]*)(\s++[\w-]*+(?:\s*+=[^<>]{0,200})?)?\Z")
UNKNOWN_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)(?:\s[^<>]{0,300})?>")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/]+))")
OPENING_QUOTES = tuple("`\"'“‘«([{")


class Form:
    """`block` holds fields and lists; `lists` names each list's item. Items are fields too. A field holds
    text alone."""

    def __init__(self, block: str, lists: Mapping[str, str], fields: Iterable[str]) -> None:
        self.block, self.lists, self.fields = block, lists, tuple(fields)
        self.names = (*self.fields, *lists, block, *NOTHING, "skip")
        known = "|".join(self.names).replace("_", "[-_]")
        self.tag = re.compile(rf"<(/?)\s*({known}|skip[\w-]*)(\s[^<>]*|/)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """A text of the reply. `name` is its field, the block's where one begins, or empty for text that stands
    in no field; `within` is the list it stands in, None outside of any block."""

    name: str
    within: str | None
    text: str


def says_nothing(name: str) -> bool:
    return name in NOTHING or name.startswith("skip")


def read_parts(reply: str, form: Form) -> list[Part]:
    """A field is open until its own closing tag, or the next tag that is markup and not a part of its
    text. Text outside of any block is chatter, unless it is a field's."""
    source = THINKING.sub("", NO_TEXT.sub("", reply[:LONGEST_REPLY]))
    source = _without_cut_tag(source, form)
    found: list[Part] = []
    field, within, at = "", None, 0
    for tag in form.tag.finditer(source):
        name = tag[2].lower().replace("-", "_")
        if not _is_markup(tag, name, field, at):
            continue
        found.append(_part(field, within, source[at : tag.start()]))
        at, field = tag.end(), ""
        closes, empty = bool(tag[1]), (tag[3] or "").endswith("/")
        if name == form.block:
            within = None if closes else ""
            if not closes:
                found.append(Part(name, None, ""))
                fields = _attributes(tag).items()
                found += [_part(key, "", text) for key, text in fields if key in form.fields]
        elif name in form.lists:
            if within is not None or not closes:
                within = "" if closes or empty else name
        elif not closes:
            if within and form.lists[within] != name:
                within = ""
            # `<skip_summary reason="…">` needs no closing tag.
            given = _attributes(tag) if empty or says_nothing(name) else {}
            texts = [given[key] for key in TEXT_ATTRIBUTES if key in given]
            if texts or empty:
                found.append(_part(name, within, "".join(texts[:1])))
            else:
                field = name
    rest = source[at:]
    if field and rest.rstrip()[-1:].isalnum() and field not in WORD_FIELDS:
        rest += ELLIPSIS  # the reply was cut off
    found.append(_part(field, within, rest))
    return [part for part in found if part.name or (part.within is not None and part.text.strip())]


def _without_cut_tag(source: str, form: Form) -> str:
    """A tag in which the reply was cut off holds no word yet. Its name may be cut off too."""
    cut_tag = CUT_TAG.search(source)
    if cut_tag is None:
        return source
    name, is_whole = cut_tag[1].lower().replace("-", "_"), cut_tag[2] is not None
    known = name in form.names if is_whole else any(each.startswith(name) for each in form.names)
    return source[: cut_tag.start()] if known or says_nothing(name) else source


def _attributes(tag: re.Match[str]) -> dict[str, str]:
    return {key.lower(): "".join(value) for key, *value in ATTRIBUTE.findall(tag[3] or "")}


def _is_markup(tag: re.Match[str], name: str, field: str, at: int) -> bool:
    """It begins a line, follows another tag, or is glued to the text before it: a tag that a sentence
    mentions stands between words, in quotes or in the form of a type, as in `Vec<File>`. `at`: where the text
    before it begins."""
    closes = bool(tag[1])
    if field and (says_nothing(name) or (closes and name == field)):
        return closes and name == field
    before = tag.string[max(at, tag.start() - LOOK_BACK) : tag.start()]
    bare = before.rstrip()
    if not bare or (field in WORD_FIELDS and not closes):
        return True
    if closes:
        return tag.string[tag.end() : tag.end() + 20].lstrip(" ")[:1] in ("", "\n", "<")
    if bare.endswith(">") or "\n" in before[len(bare) :]:
        return True
    is_type = bare[-1].isalnum() and tag[2].istitle()
    return bare == before and not bare.endswith(OPENING_QUOTES) and not is_type


def _part(field: str, within: str | None, text: str) -> Part:
    if not field and within is not None:  # an element that was not asked for is a paragraph
        gap = "\n" if within else "\n\n"
        closed = {name for slash, name in UNKNOWN_TAG.findall(text) if slash}
        text = UNKNOWN_TAG.sub(lambda tag: gap if tag[2] in closed else tag[0], text)
    return Part(field, within, ENTITY.sub(lambda entity: html.unescape(entity[0]), text))


LONGEST_FIELD = 20_000  # characters: many times what is asked for
QUOTES = tuple("`\"'")
# What small models write where they have nothing to say.
PLACEHOLDERS = frozenset(words("none null nil nothing tbd title subtitle fact narrative")) | {"n/a"}


def _one_line(text: str) -> str:
    """On one line, however many it was written on; empty if it says nothing."""
    return cut(" ".join(_filled(clean(text)).split()), LONGEST_FIELD)


def _filled(text: str) -> str:
    """Empty if only a placeholder stands where words should be."""
    bare = text.strip("[]{}<>.… \n").lower()
    return text if any(map(str.isalnum, bare)) and bare not in PLACEHOLDERS else ""


def _paragraphs(text: str) -> list[str]:
    """Lines and paragraphs kept, spaces put right, without a code fence that nothing matches."""
    lines = [line.rstrip() for line in clean(text).strip().split("\n")]
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith("```")]
    if len(fences) % 2:
        del lines[fences[-1]]
    plain = _filled(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip())
    return [plain] if plain else []


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
LINES, BODY = ("type", "title", "subtitle"), ("facts", "narrative")
OBSERVATION = Form(
    "observation",
    lists={"facts": "fact", "concepts": "concept", **FILE_LISTS},
    fields=(*LINES, "fact", "concept", "file", "narrative"),
)
SUMMARY = Form("summary", lists=FILE_LISTS, fields=(*SUMMARY_PARTS, "file"))


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
    """An observation while its parts are read."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = defaultdict(list)

    def ends_before(self, part: Part) -> bool:
        """At the next block; without one, at a second type or title, once this one has a body."""
        if part.name in ("type", "title") and any(self.texts[name] for name in BODY):
            known = self.texts[part.name]
            return bool(known) and _one_line(part.text) not in known
        return part.name == OBSERVATION.block and self.has_text

    def take(self, part: Part) -> None:
        name, text = part.name or part.within or "narrative", part.text
        if name in LINES:
            self.texts[name] += filter(None, [_one_line(text)])
        elif name in ("fact", "facts"):
            self.texts["facts"] += _items(text, bulleted=name == "fact")
        elif name in ("concept", "concepts"):
            self.texts["concepts"] += _words(text)
        elif name == "file" or name in FILE_LISTS:
            self.texts["files_modified" if part.within in EDITED else "files_read"] += _words(text)
        else:
            self.texts["narrative"] += _paragraphs(text)

    @property
    def has_text(self) -> bool:
        return any(self.texts[name] for name in ("title", "subtitle", *BODY))

    def draft(self) -> ObservationDraft:
        kinds, titles, subtitles = (self.texts[name] for name in LINES)
        title, subtitle = next(iter(titles), None), next(iter(subtitles), None)
        narrative = [*titles[1:], *subtitles[1:], *self.texts["narrative"]]
        facts, concepts, files_read, files_modified = (
            tuple(dict.fromkeys(self.texts[name]))
            for name in ("facts", "concepts", "files_read", "files_modified")
        )
        return ObservationDraft(
            type=known_type(kinds[0]) if kinds else FALLBACK_TYPE,
            title=title,
            subtitle=subtitle,
            facts=facts,
            narrative=_joined(each for each in narrative if each not in (title, subtitle)),
            concepts=tuple(each for each in concepts if each.lower() not in TYPES),
            files_read=files_read,
            files_modified=files_modified,
        )


def _gather(parts: Iterable[Part]) -> list[_Gathered]:
    """A field outside any block belongs to the block before it, which may have been closed too early; so do
    the details at the end of a reply that stand in a block without text."""
    found = [_Gathered()]
    for part in parts:
        if found[-1].ends_before(part):
            found.append(_Gathered())
        if part.name != OBSERVATION.block and not says_nothing(part.name):
            found[-1].take(part)
    if not found[-1].has_text and len(found) > 1:
        for name, texts in found.pop().texts.items():
            found[-1].texts[name] += texts
    return [each for each in found if each.has_text]


def shape_draft(draft: ObservationDraft) -> ObservationDraft:
    """Within the lengths of the house form: what is too long moves to the narrative."""
    title, subtitle = _shorten_title(draft.title), _shorten_subtitle(draft.subtitle)
    split = (sentences(fact) if len(fact) > FACT_LENGTH else [fact] for fact in draft.facts)
    facts = list(dict.fromkeys(chain.from_iterable(split)))
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


def _shorten_title(title: str | None) -> str | None:
    found = (title or "").rstrip(".").split()
    if len(found) <= TITLE_WORDS:
        return " ".join(found) or None
    return without_loose_end(found[:TITLE_WORDS]).rstrip(",;:")


def _shorten_subtitle(subtitle: str | None) -> str | None:
    if subtitle is None or len(subtitle.split()) <= SUBTITLE_WORDS:
        return subtitle
    first = sentences(subtitle)[0]
    if len(first.split()) <= SUBTITLE_WORDS:
        return first
    return " ".join(subtitle.split()[:SUBTITLE_WORDS]).rstrip(",;:") + ELLIPSIS
