"""What a dream changes without a model: only what rules can be sure of. Memories that say the same are merged
without losing a sentence, one that a newer one replaces is retired, relative dates become absolute, links
follow what replaced their memory, and a memory whose files are gone is marked. A pinned memory is never
touched; problems with it are reported.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple
from urllib.parse import quote

from aforesaid import clock
from aforesaid.english import NUMBER_WORDS
from aforesaid.memory.curation import MEMORY_LINK, dead_links, files_freshness, link_target
from aforesaid.memory.dream.plan import Plan
from aforesaid.memory.format import SUFFIX, fold_name
from aforesaid.model.memories import NOTED_BY_AGENT, OF_PROJECT, OF_USER, Memory, StoredMemory
from aforesaid.similarity import (
    Relation,
    compare,
    contradict,
    parse_claim,
    parse_sentences,
)
from aforesaid.text import one_line, words
from aforesaid.times import DAY, MONTH, WEEK, containing, shifted

LABEL = re.compile(r"\[([^\]\n]*)\]\(|\[\[[^\[\]|#\n]+(?:#[^\[\]|\n]*)?\|([^\[\]\n]*)\]\]")
PART = re.compile(r"^[ \t]*\*\*(why|how to apply):?\*\*:?", re.IGNORECASE | re.MULTILINE)
FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
EDGES = re.compile(r"(?<!\w)[\"'“”‘’*_`(\[]+|[\"'“”‘’*_`)\],;:!?.]+(?!\w)")
STALE_MARK = "**Possibly stale:**"
STALE_PATTERN = re.compile(rf"\n*^{re.escape(STALE_MARK)}[^\n]*\s*\Z", re.MULTILINE)
MAX_NAMED_FILES = 3
MAX_QUOTED = 120  # characters of a sentence, in a reason


class _Parsed(NamedTuple):
    """`core`: the sentences of the statement; `rest`: why, and how to apply it. `keys`: of all words."""

    body: str
    description: tuple[str, ...]
    core: tuple[str, ...]
    rest: tuple[str, ...]
    keys: frozenset[str]

    def describes(self, other: "_Parsed") -> bool:
        """Where texts say little (`See the wiki`), the descriptions may be the whole difference."""
        return all(
            _keys([each]) <= other.keys or _contains_all([each], (*other.description, *other.core))
            for each in self.description
        )


def _parse(stored: StoredMemory) -> _Parsed:
    body = remove_stale_mark(stored.memory.body)
    (_, statement), *labelled = _split_parts(body)
    description = _sentences(stored.memory.description)
    core = _sentences(statement) or description
    rest = tuple(each for _, text in labelled for each in _sentences(text))
    return _Parsed(body, description, core, rest, _keys((*description, *core, *rest)))


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(each.text for each in parse_sentences(text))


def _keys(sentences: Iterable[str]) -> frozenset[str]:
    return frozenset(key for each in sentences for key in parse_claim(each).keys)


def merge_duplicates(plan: Plan) -> None:
    stored = plan.stored
    for name, found in find_duplicates(list(stored.values())).items():
        givers = [stored[each] for each in found if not merge_obstacle(stored[name], stored[each])]
        merged = merge_memories(stored[name].memory, [each.memory for each in givers])
        plan.merge(merged, found, f"the same as {name}")


def find_duplicates(memories: Sequence[StoredMemory]) -> dict[str, list[str]]:
    """By the memory that stays, those that say the same as it; similarity is not transitive."""
    left = sorted(((each, _parse(each)) for each in memories), key=lambda pair: quality(pair[0]))
    groups: dict[str, list[str]] = {}
    while left:
        kept, parsed = left.pop()
        gone = [
            other.memory.name
            for other, others in reversed(left)
            if _say_same(parsed, others)
            and not replace_obstacle(kept, other)
            and (not merge_obstacle(kept, other) or _adds_nothing(kept.memory, other.memory))
        ]
        if gone:
            groups[kept.memory.name] = gone
            left = [pair for pair in left if pair[0].memory.name not in gone]
    return groups


def _say_same(one: _Parsed, other: _Parsed) -> bool:
    # First what is cheap: among hundreds of similar memories every pair comes here.
    differing = "".join(one.keys - other.keys), "".join(other.keys - one.keys)
    if all(any(map(str.isdigit, each)) for each in differing) or one.keys.isdisjoint(other.keys):
        return False
    if not (one.describes(other) and other.describes(one)):
        return False
    if normalize_text(one.body) == normalize_text(other.body):
        return True
    if FENCE.search(one.body) or FENCE.search(other.body):
        return False  # code has to be identical
    if not (_contains_all(one.core, other.core) or _contains_all(other.core, one.core)):
        return False
    if abs(len(one.core) - len(other.core)) > min(len(one.core), len(other.core)):
        return False  # it is one of many things that the other states
    return not any(contradict(x, y) for x in one.rest for y in other.rest)


def _contains_all(ones: Sequence[str], others: Sequence[str]) -> bool:
    return all(any(compare(x, y) is Relation.SAME for y in others) for x in ones)


def retire_replaced(plan: Plan) -> None:
    """Retires what a newer memory replaces. Several values from one day may all hold: they stay."""
    newest = sorted(plan.stored.values(), key=lambda each: last_stated(each.memory), reverse=True)
    parsed = {each.memory.name: _parse(each) for each in newest}
    for place, new in enumerate(newest):
        name = new.memory.name
        if name not in plan.standing:
            continue
        older = [
            old
            for old in newest[place + 1 :]
            if old.memory.name in plan.standing
            and last_stated(old.memory) < last_stated(new.memory)
            and _is_replaced(parsed[old.memory.name].core, parsed[name].core)
            and not replace_obstacle(new, old)
        ]
        for old in older:
            core = parsed[old.memory.name].core
            rivals = (o for o in older if o is not old and _day(o) == _day(old))
            others = [each for rival in rivals for each in parsed[rival.memory.name].core]
            if not any(contradict(one, other) for one in core for other in others):
                why = f"{name} is newer and says “{one_line(parsed[name].core[0], MAX_QUOTED)}”"
                plan.retire(old.memory.name, why, name)


def _day(stored: StoredMemory) -> date:
    return clock.local(last_stated(stored.memory)).date()


def _is_replaced(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the newer one says again or replaces every sentence, and replaces one at least."""
    found = [{compare(each, other) for other in new} for each in old]
    known = {Relation.SAME, Relation.REPLACES}
    return all(each & known for each in found) and any(Relation.REPLACES in each for each in found)


def quality(stored: StoredMemory) -> tuple[bool, bool, bool, int, int, str]:
    """Sorts memories that say the same: the pinned, the user's, the better evidenced, the newer is higher."""
    memory = stored.memory
    kind = memory.pinned, not memory.by_agent, stored.scope == OF_USER
    return *kind, len(memory.evidence), last_stated(memory), memory.name


def last_stated(memory: Memory) -> int:
    return max(memory.created, memory.updated)


def replace_obstacle(kept: StoredMemory, gone: StoredMemory) -> str | None:
    """Why a memory may not be retired in favour of another: it is pinned, or the user's word and the other an
    agent's, or applies in all projects and the other in one."""
    old, new = gone.memory, kept.memory
    if old.pinned:
        return f"{old.name} is pinned"
    if new.by_agent and not old.by_agent:
        return f"{old.name} is the user's word, and {new.name} was {NOTED_BY_AGENT}"
    if gone.scope == OF_USER and kept.scope != OF_USER:
        return f"{old.name} applies in all projects, and {new.name} in one"
    return None


def merge_obstacle(kept: StoredMemory, gone: StoredMemory) -> str | None:
    """Why nothing of a retired memory may be added to the one that stays: a pinned memory stays to the byte,
    what belongs to one project does not apply in all, and an agent's note does not become the user's word."""
    if kept.memory.pinned:
        return f"{kept.memory.name} is pinned"
    if kept.scope != gone.scope:
        return "they are in different folders: some apply in all projects, some in one"
    if kept.memory.by_agent != gone.memory.by_agent:
        return f"one is the user's word, and the other was {NOTED_BY_AGENT}"
    return None


def merge_memories(kept: Memory, others: Iterable[Memory]) -> Memory:
    """Adds the evidence and files of the others, and every sentence that only they have."""
    for other in others:
        kept = replace(
            kept,
            body=_merge_bodies(kept, other),
            updated=last_stated(other) if last_stated(other) > last_stated(kept) else kept.updated,
            evidence=tuple(dict.fromkeys((*kept.evidence, *other.evidence))),
            files=tuple((dict(other.files) | dict(kept.files)).items()),
            commit=kept.commit or other.commit,
            replaces=tuple(dict.fromkeys((*kept.replaces, other.name))),
        )
    return kept


def normalize_text(text: str) -> str:
    """Without layout and markup: equal results mean the same text."""
    return EDGES.sub("", " ".join(text.casefold().split()))


def add_stale_mark(body: str, gone: tuple[str, ...], day: str) -> str:
    """`gone`: the files that no longer exist. An existing mark stays as it is."""
    if STALE_PATTERN.search(body):
        return body
    names = ", ".join(one_line(path, 100) for path in gone[:MAX_NAMED_FILES])
    more = f" and {len(gone) - MAX_NAMED_FILES} more" if len(gone) > MAX_NAMED_FILES else ""
    mark = f"{STALE_MARK} the files it speaks of are gone ({names}{more}; seen on {day})."
    return f"{body.rstrip()}\n\n{mark}".strip()


def remove_stale_mark(body: str) -> str:
    return STALE_PATTERN.sub("", body)


def _adds_nothing(kept: Memory, other: Memory) -> bool:
    return _merge_bodies(kept, other).strip() == remove_stale_mark(kept.body).strip()


def _merge_bodies(kept: Memory, other: Memory) -> str:
    """The kept text, and in its parts the sentences that only the other one has. Of two equal ones, the
    fuller stays."""
    mine, theirs = remove_stale_mark(kept.body), remove_stale_mark(other.body)
    if normalize_text(mine) == normalize_text(theirs):
        return mine
    parts = [[label, text] for label, text in _split_parts(mine)]
    known = _sentences(f"{kept.description}\n{mine}")
    for label, text in _split_parts(theirs):
        for new in _sentences(text):
            twins = [old for old in known if compare(old, new) is Relation.SAME]
            if any(_length(new) <= _length(twin) for twin in twins):
                continue
            key = label.strip("*: \t").lower()
            part = next((each for each in parts if each[0].strip("*: \t").lower() == key), None)
            if part is None:
                parts[-1][1] = f"{parts[-1][1].rstrip()}\n"
                parts.append(part := [label, ""])
            trimmed = part[1].rstrip()
            if twin := next((each for each in twins if each in part[1]), None):
                part[1] = part[1].replace(twin, new, 1)
            elif trimmed:  # before the blank lines at the end
                part[1] = f"{trimmed}\n{new}{part[1][len(trimmed) :]}"
            else:
                part[1] = f" {new}\n"
    return "".join(f"{label}{text}" for label, text in parts).strip()


def _length(sentence: str) -> int:
    return len(parse_claim(sentence).words)


def _split_parts(body: str) -> list[tuple[str, str]]:
    """The statement, then the parts labelled `**Why:**` and `**How to apply:**`, each with its label."""
    marks = list(PART.finditer(body))
    ends = [*(mark.start() for mark in marks), len(body)]
    labelled = [
        (mark[0], body[mark.end() : end]) for mark, end in zip(marks, ends[1:], strict=True)
    ]
    return [("", body[: ends[0]]), *labelled]


def fix_dates(plan: Plan) -> None:
    """Only if the text is of one day: after a change, nobody knows which words are new."""
    for memory in list(plan.standing.values()):
        written = clock.local(memory.created).date()
        edited = memory.updated and clock.local(memory.updated).date() != written
        if memory.pinned or not memory.created or edited:
            continue
        dated = replace(
            memory,
            description=absolute_dates(memory.description, memory.created),
            body=absolute_dates(memory.body, memory.created),
        )
        plan.rewrite(dated, f"dates in place of words that were true on {written}")


def fix_links(plan: Plan) -> None:
    """Of links to retired memories. Others may lead to another project or to a file of the repository."""
    retired = plan.retired_before.keys() | plan.gone.keys()
    for memory in list(plan.standing.values()):
        links = dead_links(memory, set(map(fold_name, plan.standing)))
        dead = {name: plan.successor(name) for name in links if name in retired}
        if dead and memory.pinned:
            plan.notice(memory, f"it links to what is no longer there: {', '.join(dead)}")
        elif dead:
            body = fix_dead_links(memory.body, dead)
            plan.rewrite(replace(memory, body=body), f"no longer there: {', '.join(dead)}")


def fix_dead_links(body: str, dead: Mapping[str, str | None]) -> str:
    """Links follow the memory that replaced their target; without one, only their text stays. `dead`: the
    replacements by name."""

    def fixed(link: re.Match[str]) -> str:
        name = link_target(link)
        if name is None or name not in dead:
            return link[0]
        by = dead[name]
        found = LABEL.match(link[0])
        label = found[found.lastindex or 1] if found else ""
        if by is None:
            return label or name
        if link[2]:
            return f"[[{by}|{label}]]" if label else f"[[{by}]]"
        return f"[{label or by}]({quote(by)}{SUFFIX})"

    return MEMORY_LINK.sub(fixed, body)


def mark_stale(plan: Plan, root: str, today: str) -> None:
    """Not for the user's memories: their files may be in any project."""
    for name, memory in list(plan.standing.items()):
        if not root or plan.read[name].scope != OF_PROJECT or not memory.files:
            continue
        gone = files_freshness(memory, root).gone
        all_gone = len(gone) == len(memory.files)
        if memory.pinned and all_gone:
            plan.notice(memory, f"the files it speaks of are gone: {', '.join(gone)}")
        if memory.pinned:
            continue
        body, what = remove_stale_mark(memory.body), "there again"
        if all_gone:
            body, what = add_stale_mark(memory.body, gone, today), "gone"
        plan.rewrite(replace(memory, body=body), f"the files it speaks of are {what}")


def set_updated(plan: Plan, now: int) -> None:
    """`updated` is when a memory was last stated, which decides between contradicting ones. A change of form
    alone adds one millisecond."""
    for name, memory in plan.changed.items():
        if memory.updated in (0, plan.read[name].memory.updated):
            stated = last_stated(memory)
            plan.standing[name] = replace(memory, updated=stated + 1 if stated else now)


NUMBERS = "|".join(sorted((NUMBER_WORDS.keys() - {"zero", "twice", "thrice"}) | {"an?"}))
PHRASE = re.compile(
    r"\b(?:yesterday|today|tomorrow|(?P<which>last|next) (?P<unit>week|month|year)"
    rf"|(?P<number>[0-9]{{1,3}}|{NUMBERS}) (?P<ago>day|week|month|year)s? ago)\b(?!['’-])",
    re.IGNORECASE,
)
# Code, quotations, addresses and link targets are not the memory's own words.
NOT_PROSE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|[a-z]+://\S+|\]\([^)\n]*\)", re.DOTALL
)
# A sentence about something that recurs, or may happen, has no date.
HABIT = re.compile(
    r"\b(?:every|each|always|never|whenever|daily|weekly|monthly|yearly|usually|often|sometimes|when|if|per"
    r"|any|who|what|which|where|how)\b",
    re.IGNORECASE,
)
# A sentence about the past says so: `the report covers last month` is true in every month.
PAST = re.compile(
    r"\b(?:(?<!is )(?<!are )(?<!be )\w{3,}ed|was|were|had|did|has|have|went|left|broken?|began|took|made|said"
    r"|told|came|got|ran|sent|found|lost|fell|met|gave|wrote|chose|since|until|from)\b",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n")
PREPOSITIONS = frozenset(
    words("on in since until till by before after from of for through to between and or as")
)
NOT_A_DATE = frozenset(("the", "how", "what", "like", "than"))  # `the last week` is any seven days
LAST_WORD = re.compile(r"(\w+)\s+\Z")
OFFSETS = {"yesterday": -1, "today": 0, "tomorrow": 1, "last": -1, "next": 1}


def absolute_dates(text: str, written: int) -> str:
    """Replaces words such as `yesterday` by the date they meant. `written`: when, in milliseconds."""
    today = clock.local(written).date()
    prose = NOT_PROSE.sub(lambda mark: "\0" * len(mark[0]), text)

    def replaced(mark: re.Match[str]) -> str:
        start = max((e.end() for e in SENTENCE_END.finditer(prose, 0, mark.start())), default=0)
        end = SENTENCE_END.search(prose, mark.end())
        sentence = prose[start : end.start() if end else len(prose)]
        dated = mark[0].lower().startswith(("tomorrow", "next")) or PAST.search(sentence)
        if prose[mark.start()] == "\0" or HABIT.search(sentence) or not dated:
            return mark[0]
        before = text[: mark.start()]
        word = found[1].lower() if (found := LAST_WORD.search(before)) else ""
        if word in NOT_A_DATE:
            return mark[0]
        try:
            lead, when = _date_phrase(mark, today)
        except (ValueError, OverflowError):  # outside of the calendar
            return mark[0]
        if word in PREPOSITIONS or before.endswith(("(", "[")):
            return when
        return f"{lead.capitalize() if mark[0][0].isupper() else lead} {when}"

    return PHRASE.sub(replaced, text)


def _date_phrase(mark: re.Match[str], today: date) -> tuple[str, str]:
    """The preposition and the date."""
    unit = (mark["unit"] or mark["ago"] or DAY).lower()
    if mark["ago"]:
        number = mark["number"].lower()
        offset = -1 if number in ("a", "an") else -int(NUMBER_WORDS.get(number, number))
    else:
        offset = OFFSETS[(mark["which"] or mark[0]).lower()]
    day = shifted(unit, today, offset)
    if unit == DAY:
        return "on", str(day)
    if unit == WEEK:
        return "in", f"the week of {containing(WEEK, day)[0]}"
    return "in", f"{day:%Y-%m}" if unit == MONTH else f"{day:%Y}"
