"""The changes that a dream makes without a model: only what rules can be sure of. A pinned memory is never
touched; problems with it are reported.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import quote

from aforesaid import clock
from aforesaid.english import NUMBER_WORDS
from aforesaid.memory.changes import Memories
from aforesaid.memory.curation import MEMORY_LINK, dead_links, files_freshness, link_target
from aforesaid.memory.dream.duplicates import (
    add_stale_mark,
    find_duplicates,
    last_stated,
    merge_memories,
    merge_obstacle,
    remove_stale_mark,
)
from aforesaid.memory.dream.plan import Plan
from aforesaid.memory.format import SUFFIX, fold_name, slugify
from aforesaid.model.memories import OF_PROJECT
from aforesaid.text import words
from aforesaid.times import (
    DAY,
    MONTH,
    ONE_DAY,
    WEEK,
    WEEKDAY_NUMBERS,
    WEEKDAYS,
    containing,
    shifted,
)

LABEL = re.compile(r"\[([^\]\n]*)\]\(|\[\[[^\[\]|#\n]+(?:#[^\[\]|\n]*)?\|([^\[\]\n]*)\]\]")


def merge_duplicates(plan: Plan) -> None:
    stored = plan.stored
    for group in find_duplicates(list(stored.values())):
        kept, gone = stored[group.kept], [stored[name] for name, _ in group.gone]
        givers = [each.memory for each in gone if not merge_obstacle(kept, each)]
        same = "the same" if all(exact for _, exact in group.gone) else "nearly the same"
        plan.merge(
            merge_memories(kept.memory, givers),
            [each.memory.name for each in gone],
            f"{same} as {group.kept}",
        )


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


def fix_links(plan: Plan, memories: Memories) -> None:
    """A link is dead if no project has the name and it was a memory's: one was retired, or it is spelled like
    one and the repository has no such file."""
    folders = [memories.places.all, memories.places.retired]
    there, retired = ({fold_name(n) for each in fs for n in each.names()} for fs in folders)
    there |= {fold_name(each.stem) for each in memories.places.root.glob(f"projects/*/*{SUFFIX}")}
    there -= {fold_name(name) for name in plan.gone}
    replaced = {each.memory.name: each.memory.replaced_by for each in memories.retired().memories}
    replaced |= {name: gone.replaced_by for name, gone in plan.gone.items()}
    repository = memories.places.repository

    def is_dead(name: str) -> bool:
        if fold_name(name) in there:
            return False
        if name in plan.gone or fold_name(name) in retired:
            return True
        in_project = repository and (Path(repository.root) / f"{name}.md").exists()
        return name == slugify(name) and not in_project

    def find_successor(name: str) -> str | None:
        seen: set[str] = set()
        while name not in plan.standing and name not in seen:
            seen.add(name)
            name = replaced.get(name) or ""
        return name if name in plan.standing else None

    for memory in list(plan.standing.values()):
        dead = [name for name in dead_links(memory, there) if is_dead(name)]
        if dead and memory.pinned:
            plan.notice(memory, f"it links to what is no longer there: {', '.join(dead)}")
        elif dead:
            body = fix_dead_links(memory.body, dead.__contains__, find_successor)
            tied = [each for each in dead if each in plan.gone]
            plan.rewrite(replace(memory, body=body), f"no longer there: {', '.join(dead)}", tied)


def fix_dead_links(
    body: str, is_dead: Callable[[str], bool], successor: Callable[[str], str | None]
) -> str:
    """Links follow the memory that replaced their target; without one, only their text stays."""

    def fixed(link: re.Match[str]) -> str:
        name = link_target(link)
        if name is None or not is_dead(name):
            return link[0]
        by = successor(name)
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
        body = (
            add_stale_mark(memory.body, gone, today) if all_gone else remove_stale_mark(memory.body)
        )
        what = "gone" if all_gone else "there again"
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
    r"\b(?:tonight|last night|(?:this|yesterday|tomorrow) (?:morning|afternoon|evening)"
    r"|yesterday|today|tomorrow"
    rf"|(?:last|next) (?:(?P<weekday>{'|'.join(WEEKDAYS)})|(?P<unit>week|month|year))"
    rf"|(?:[0-9]{{1,3}}|{NUMBERS}) (?P<ago>day|week|month|year)s? ago)\b(?!['’-])",
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
    r"|phrase_date|came|got|ran|sent|found|lost|fell|met|gave|wrote|chose|since|until|from)\b",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n")
PREPOSITIONS = frozenset(
    words("on in since until till by before after from of for through to between and or as")
)
NOT_A_DATE = frozenset(("the", "how", "what", "like", "than"))  # `the last week` is any seven days
LAST_WORD = re.compile(r"(\w+)\s+\Z")
OFFSETS = {"yesterday": -1, "today": 0, "this": 0, "tomorrow": 1, "last": -1, "next": 1}


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
        try:
            phrase_date = None if word in NOT_A_DATE else _date_phrase(mark, today)
        except (ValueError, OverflowError):  # outside of the calendar
            phrase_date = None
        if phrase_date is None:
            return mark[0]
        lead, when = phrase_date
        if word in PREPOSITIONS or before.endswith(("(", "[")):
            return when
        return f"{lead.capitalize() if mark[0][0].isupper() else lead} {when}"

    return PHRASE.sub(replaced, text)


def _date_phrase(mark: re.Match[str], today: date) -> tuple[str, str] | None:
    """The preposition and the date; None if it is ambiguous."""
    phrase = mark[0].lower()
    first, _, rest = phrase.partition(" ")
    offset = OFFSETS.get(first, 0)
    if mark["unit"]:
        return _period(rest, shifted(rest, today, offset))
    if unit := (mark["ago"] or "").lower():
        number = 1 if first in ("a", "an") else int(NUMBER_WORDS.get(first, first))
        return _period(unit, shifted(unit, today, -number))
    if mark["weekday"]:  # only if it is the nearest such day, too
        week = containing(WEEK, shifted(WEEK, today, offset))[0]
        day = week + timedelta(days=WEEKDAY_NUMBERS[rest])
        return ("on", str(day)) if abs(day - today) <= timedelta(days=7) else None
    if phrase == "last night":
        return "in", f"the night to {today}"
    if phrase == "tonight":
        return "on", f"the evening of {today}"
    day = today + ONE_DAY * offset
    return "on", f"the {rest} of {day}" if rest else str(day)


def _period(unit: str, day: date) -> tuple[str, str]:
    if unit == DAY:
        return "on", str(day)
    if unit == WEEK:
        return "in", f"the week of {containing(WEEK, day)[0]}"
    return "in", f"{day:%Y-%m}" if unit == MONTH else f"{day:%Y}"
