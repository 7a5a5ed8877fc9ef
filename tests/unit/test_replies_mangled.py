"""Thousands of replies, each broken in one to four ways: nothing raises, and no whole field is lost."""

import re
from collections.abc import Callable
from dataclasses import astuple
from random import Random

import pytest

from aforesaid.model.observations import ObservationDraft, SummaryDraft
from aforesaid.synthesis.parse import (
    Unusable,
    parse_observations,
    parse_summary,
)

TYPES = ("bugfix", "feature", "decision", "refactor", "discovery", "change")
WORDS = re.split(
    " ",
    "the worker keeps its lease while a slow request runs and retries it later with List<String> or "
    "`a < b && c` in src/core/lease.py because 漢字 and ümlauts need <div> tags or &amp; signs",
)
ANY_TAG = re.compile(r"</?[A-Za-z_]+>")
OUR_TAG = re.compile(r"</?(?!div>|String>)[a-z_]+>")
CLOSING = re.compile(r"</[A-Za-z_]+>")
# (field, where the result keeps it, the text as it was written, the text as it is read)
Field = tuple[str, str, str, str]


def text(rng: Random, mark: str) -> tuple[str, str]:
    written = " ".join([mark, *(rng.choice(WORDS) for _ in range(rng.randint(0, 8)))])
    return written, written.replace("&amp;", "&")


class Reply:
    """A reply in the form that models are asked for. No two of its texts are the same."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.fields: list[Field] = []

    def field(self, name: str, kept: str) -> str:
        written, read = text(self.rng, f"M{len(self.fields):02d}x{self.rng.randrange(10**6):06d}")
        self.fields.append((name, kept, written, read))
        return f"<{name}>{written}</{name}>"

    def items(self, name: str, item: str, kept: str, most: int) -> str:
        inner = "\n".join(self.field(item, kept) for _ in range(self.rng.randint(1, most)))
        return f"<{name}>\n{inner}\n</{name}>"

    def observation(self) -> str:
        fields = [
            f"<type>{self.rng.choice(TYPES)}</type>",
            self.field("title", "title"),
            self.field("subtitle", "subtitle"),
            self.items("facts", "fact", "facts", 3),
            self.field("narrative", "narrative"),
            self.items("concepts", "concept", "concepts", 2),
        ]
        if self.rng.random() < 0.3:
            fields.append(self.items("files_read", "file", "files_read", 2))
        gap = self.rng.choice(["\n", "", "\n  "])
        return f"<observation>{gap}{gap.join(fields)}{gap}</observation>"

    def summary(self) -> str:
        names = ("request", "investigated", "learned", "completed", "next_steps", "notes")
        fields = [self.field(name, name) for name in names]
        fields.append(self.items("files_read", "file", "files_read", 2))
        fields.append(self.items("files_edited", "file", "files_edited", 2))
        return "\n".join(["<summary>", *fields, "</summary>"])


def truncated(reply: str, rng: Random) -> str:
    return reply[: rng.randrange(len(reply) + 1)]


def without_a(tag: re.Pattern[str]) -> Callable[[str, Random], str]:
    def mangle(reply: str, rng: Random) -> str:
        found = list(tag.finditer(reply))
        if not found:
            return reply
        gone = rng.choice(found)
        return reply[: gone.start()] + reply[gone.end() :]

    return mangle


def with_a_stray(*pieces: str) -> Callable[[str, Random], str]:
    def mangle(reply: str, rng: Random) -> str:
        at = rng.randrange(len(reply) + 1)
        return reply[:at] + rng.choice(pieces) + reply[at:]

    return mangle


def fenced(reply: str, rng: Random) -> str:
    return f"```{rng.choice(['xml', '', 'html'])}\n{reply}\n```"


def with_chatter(reply: str, rng: Random) -> str:
    before = rng.choice(["Sure! Here is the XML:\n\n", "I see that a < b & c.\n", "<response>\n"])
    return before + reply + rng.choice(["", "\nLet me know if you need more.", "\n</response>"])


def in_other_case(reply: str, rng: Random) -> str:
    change = rng.choice([str.upper, str.title])
    return OUR_TAG.sub(lambda tag: change(tag[0]) if rng.random() < 0.7 else tag[0], reply)


def twice(reply: str, rng: Random) -> str:
    return reply + rng.choice(["\n", "", "\nAnd again:\n"]) + reply


def reordered(reply: str, rng: Random) -> str:
    lines = reply.split("\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return "\n".join(lines)


def without_wrappers(reply: str, rng: Random) -> str:
    return re.sub(r"</?(?:observation|summary)>", "", reply, flags=re.IGNORECASE)


def with_closings_swapped(reply: str, rng: Random) -> str:
    found = list(CLOSING.finditer(reply))
    if len(found) < 2:
        return reply
    at = rng.randrange(len(found) - 1)
    one, two = found[at], found[at + 1]
    between = reply[one.end() : two.start()]
    return reply[: one.start()] + two[0] + between + one[0] + reply[two.end() :]


def with_attributes(reply: str, rng: Random) -> str:
    return re.sub(r"<(observation|facts|summary)>", r'<\1 id="1" lang=en>', reply)


MANGLINGS: tuple[Callable[[str, Random], str], ...] = (
    truncated,
    without_a(CLOSING),
    without_a(ANY_TAG),
    with_a_stray("<", "&", "a<b", "x && y", "&nbsp", '"', ">", "</", "<!--", "<![CDATA[", "]]>"),
    with_a_stray("<div>", "</div>", "<impact>", "</impact>", "<br/>", "<b>bold</b>", "<T>"),
    with_a_stray("</fact>", "</title>", "</facts>", "<title>", "<fact>", "</notes>", "<file>"),
    with_a_stray("\x1b[31m", "\0", "\ud800", "\r\n", "\u202e"),
    fenced,
    with_chatter,
    in_other_case,
    twice,
    reordered,
    without_wrappers,
    with_closings_swapped,
    with_attributes,
)


def mangled(reply: str, rng: Random) -> str:
    for _ in range(rng.randint(1, 4)):
        reply = rng.choice(MANGLINGS)(reply, rng)
    return reply


def still_whole(fields: list[Field], reply: str) -> list[Field]:
    """Those whose opening tag, text and closing tag stand in the reply just as they were written."""
    lowered = reply.lower()
    return [f for f in fields if f"<{f[0]}>{f[2].lower()}</{f[0]}>" in lowered]


def told(drafts: tuple[ObservationDraft | SummaryDraft, ...]) -> str:
    return "\n".join(
        str(value) for draft in drafts for part in astuple(draft) for value in listed(part)
    )


def listed(part: object) -> tuple[object, ...]:
    return part if isinstance(part, tuple) else (part,)


def in_its_place(field: Field, drafts: tuple[ObservationDraft | SummaryDraft, ...]) -> bool:
    values = (str(v) for draft in drafts for v in listed(getattr(draft, field[1])))
    return any(field[3] in value.split("\n\n") for value in values)


def parsed(reply: str, *, of_summary: bool) -> tuple[ObservationDraft | SummaryDraft, ...]:
    if of_summary:
        one = parse_summary(reply)
        return (one,) if isinstance(one, SummaryDraft) else ()
    many = parse_observations(reply)
    return () if isinstance(many, Unusable) else many


@pytest.mark.parametrize("replies", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_no_whole_field_of_thousands_of_mangled_replies_is_lost(replies: int) -> None:
    rng = Random(20_250_301)
    whole = placed = 0
    for number in range(replies):
        made = Reply(rng)
        of_summary = number % 4 == 0
        source = (
            made.summary()
            if of_summary
            else "\n".join(made.observation() for _ in range(rng.randint(1, 2)))
        )
        reply = mangled(source, rng)
        drafts = parsed(reply, of_summary=of_summary)
        result = told(drafts)
        kept = still_whole(made.fields, reply)
        if not drafts and all(field[0] in ("concept", "file") for field in kept):
            continue  # words without a sentence are no observation; the caller keeps the raw reply
        for field in kept:
            assert field[3] in result, (number, field, reply)
            whole += 1
            placed += in_its_place(field, drafts)
    assert whole > 5 * replies, "most fields of most replies outlive the mangling"
    assert placed > 0.97 * whole, f"{placed} of {whole} stand in the field they were written for"
