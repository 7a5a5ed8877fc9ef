"""What a dream is sure of without a model: duplicates, dates, dead links, files that are gone."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.clock import DAY
from aforesaid.grounding import KnownText, invented_facts, lost_sentences
from aforesaid.memory.dream.plan import Plan
from aforesaid.memory.dream.rules import (
    absolute_dates,
    add_stale_mark,
    find_duplicates,
    fix_dead_links,
    merge_duplicates,
    merge_memories,
    remove_stale_mark,
    retire_replaced,
)
from aforesaid.model.memories import AGENT, BY, Memory, StoredMemory
from aforesaid.similarity import Relation, compare, contradict, parse_sentences
from tests.support.dream_set import EXACT, FIRST, NEAR, rows
from tests.support.tables import loop_over


def stored(memory: Memory, scope: str = "project") -> StoredMemory:
    scope = "user" if memory.type == "user" else scope
    return StoredMemory(memory, scope, Path(f"/{memory.name}.md"), memory.name, 0)


def one(name: str, body: str, description: str = "", **fields: object) -> Memory:
    return Memory(name, description or body, "project", body, **fields)  # type: ignore[arg-type]


def alike(first: str, second: str) -> bool:
    return bool(find_duplicates([stored(one("a", first)), stored(one("b", second))]))


# fmt: off
SAME = [
    ("Use tabs.", "use tabs"),
    ("Use tabs.", "**Use tabs.**"),
    ("Run `make test` before each commit.", "Always run make test before every commit."),
    ("Never mock the database in integration tests.", "Don't mock the database in integration tests."),
    ("The user prefers tabs for indentation.", "For indentation the user prefers tabs."),
    ("Commit messages should use the imperative mood.", "Commit messages must use the imperative mood"),
    ("Retry three times.", "Retry 3 times."),
    ("Logs are kept for 10,000 requests.", "Logs are kept for 10000 requests."),
    ("测试必须在提交之前运行", "测试必须在提交之前运行。"),
]
OTHER = [
    ("Use tabs.", "Never use tabs."),
    ("Use tabs.", "Don't use tabs."),
    ("Use tabs over spaces.", "Use spaces over tabs."),
    ("Indent with tabs, not spaces.", "Indent with spaces, not tabs."),
    ("The API listens on port 8080.", "The API listens on port 8081."),
    ("Python 3.1 is supported.", "Python 3.11 is supported."),
    ("Use C.", "Use C++."),
    ("You may use tabs.", "You must use tabs."),
    ("Only use tabs in Makefiles.", "Use tabs in Makefiles."),
    ("Deploy unless CI is red.", "Deploy, CI is red."),
    ("Ask Anna about billing.", "Ask Bernd about billing."),
    ("Questions about billing exports and invoices of the shop go to Anna in finance.",
     "Questions about billing exports and invoices of the shop go to Bernd in finance."),
    ("Unit tests run with pytest.", "Integration tests run with pytest."),
    ("The client calls the server.", "The server calls the client."),
    ("Enable the cache.", "Disable the cache."),
    ("Don't commit without tests.", "Don't commit tests."),
    ("Logs are in /var/log/a.", "Logs are in /var/log/b."),
    ("See https://a.example/x for the plan.", "See https://a.example/y for the plan."),
    ("Use `make test`.", "Use `make check`."),
    ("Releases happen on Tuesday.", "Releases happen on Thursday."),
    ("Retry three times.", "Retry four times."),
    ("Anna reviews Bernd.", "Bernd reviews Anna."),
    ("Use tabs.", "Use tabs. Use four spaces in YAML. Run the linter. Never push on Friday."),
    ("```\nmake a\n```", "```\nmake b\n```"),
    ("", ""),
]
# fmt: on


@loop_over(("first", "second"), SAME)
def test_these_say_the_same(first: str, second: str) -> None:
    assert alike(first, second)
    assert alike(second, first)


@loop_over(("first", "second"), OTHER)
def test_these_do_not(first: str, second: str) -> None:
    assert not alike(first, second)
    assert not alike(second, first)


def test_where_texts_say_little_the_descriptions_decide() -> None:
    billing = one("a", "See the wiki.", "Where billing is documented")
    deploys = one("b", "See the wiki.", "Where deploys are documented")
    assert not find_duplicates([stored(billing), stored(deploys)])
    assert find_duplicates(
        [stored(billing), stored(one("b", "See the wiki.", billing.description))]
    )


def test_reasons_that_contradict_each_other_keep_two_memories_apart() -> None:
    first = one("a", "Use tabs.\n**Why:** The linter takes 4 seconds.", "Use tabs")
    second = one("b", "Use tabs!\n**Why:** The linter takes 9 seconds.", "Use tabs")
    assert not find_duplicates([stored(first), stored(second)])


def test_of_sixty_memories_exactly_the_planted_duplicates_are_found() -> None:
    found = find_duplicates([stored(each) for each in rows()])
    assert {kept: set(gone) for kept, gone in found.items()} == {
        kept: set(gone) for kept, gone in (EXACT | NEAR).items()
    }


def test_the_pinned_stays_else_the_better_evidenced_else_the_newer() -> None:
    def kept(*memories: Memory) -> list[str]:
        return list(find_duplicates([stored(each) for each in memories]))

    old = one("old", "Use tabs.", created=FIRST)
    new = one("new", "Use tabs.", created=FIRST + DAY)
    proven = one("proven", "Use tabs.", created=FIRST, evidence=("event 1",))
    pinned = one("pinned", "Use tabs.", pinned=True)
    assert kept(old, new) == ["new"]
    assert kept(old, new, proven) == ["proven"]
    assert kept(pinned, old, new, proven) == ["pinned"]
    assert kept(pinned, one("pinned-too", "Use tabs.", pinned=True)) == []


def test_what_is_told_in_all_projects_is_not_replaced_by_what_is_told_in_one() -> None:
    mine = Memory("mine", "Use tabs", "user", "Use tabs.")
    here = one("here", "Use tabs.", "Use tabs", evidence=("event 1", "event 2"))
    assert list(find_duplicates([stored(mine), stored(here)])) == ["mine"]
    pinned = one("here", "Use tabs.", "Use tabs", pinned=True)
    assert find_duplicates([stored(mine), stored(pinned)]) == {}


BY_AGENT = {BY: AGENT}
ACME = "Use tabs. The ACME payroll backend lives at payroll.acme.example."
MINE = Memory("mine", "Use tabs", "user", "Use tabs.")
HERE = one("here", "Use tabs.", "Use tabs", evidence=("event 1",))
PINNED = one("pinned", "Use tabs.", "Use tabs", pinned=True)
# fmt: off
APART = [  # the one that stays; one that says the same; one that says more
    ("of all projects and of one", MINE, one("x", "Use tabs!", "Use tabs"), one("x", ACME, "Use tabs")),
    ("the user's and an agent's", HERE, one("x", "Use tabs!", "Use tabs", extra=BY_AGENT),
     one("x", ACME, "Use tabs", extra=BY_AGENT)),
    ("an agent's with more evidence", HERE,
     one("x", "Use tabs!", "Use tabs", extra=BY_AGENT, evidence=("event 2", "event 3")),
     one("x", ACME, "Use tabs", extra=BY_AGENT, evidence=("event 2", "event 3"))),
    ("pinned and not", PINNED, one("x", "Use tabs!", "Use tabs"), one("x", ACME, "Use tabs")),
]
# fmt: on


@pytest.mark.parametrize(
    ("kept", "same_again", "more"), [row[1:] for row in APART], ids=[row[0] for row in APART]
)
def test_what_must_not_be_mixed_goes_only_if_it_says_nothing_more_and_gives_nothing(
    kept: Memory, same_again: Memory, more: Memory
) -> None:
    told = replace(same_again, files=(("a.py", "1"),), commit="c0ffee", created=FIRST + 9 * DAY)
    for listed in ([kept, told], [told, kept]):
        plan = Plan({each.name: stored(each) for each in listed})
        merge_duplicates(plan)
        assert plan.standing == {kept.name: kept}
        assert plan.gone["x"].into == kept.name
    plan = Plan({each.name: stored(each) for each in (kept, more)})
    merge_duplicates(plan)
    assert not plan.operations


def test_two_of_an_agents_become_one_of_an_agents() -> None:
    plain = one("plain", "Use tabs.", "Use tabs", extra=BY_AGENT, evidence=("event 1",))
    plan = Plan({m.name: stored(m) for m in (plain, one("x", ACME, "Use tabs", extra=BY_AGENT))})
    merge_duplicates(plan)
    assert "payroll.acme.example" in plan.standing["plain"].body
    assert plan.standing["plain"].by_agent


def test_an_agents_pinned_note_and_the_users_word_both_stay() -> None:
    noted = one("noted", "Use tabs.", "Use tabs", pinned=True, extra=BY_AGENT)
    assert find_duplicates([stored(HERE), stored(noted)]) == {}
    wide = Memory("wide", "Use tabs", "user", "Use tabs.", extra=BY_AGENT)
    assert find_duplicates([stored(HERE), stored(wide)]) == {}


def test_being_like_one_that_is_like_the_other_is_not_enough() -> None:
    chain = [
        one("a", "Run make test. Ask Nadia for access.", "Run make test", evidence=("event 1",)),
        one("b", "Run make test.", "Run make test", evidence=("event 1", "event 2")),
        one("c", "Run make test. The log is in out.txt.", "Run make test"),
    ]
    found = find_duplicates([stored(each) for each in chain])
    assert {name: set(gone) for name, gone in found.items()} == {"b": {"a", "c"}}
    ends = [stored(chain[0]), stored(chain[2])]
    assert find_duplicates(ends) == {}


def test_the_one_that_stays_gains_evidence_and_every_sentence_that_only_the_others_had() -> None:
    kept = one(
        "kept",
        "Run make test before each commit.\n**Why:** Two broken builds.",
        created=FIRST,
        evidence=("event 1",),
        files=(("a.py", "1"),),
    )
    other = one(
        "other",
        "Always run make test before every commit. Nadia has the log.\n**Why:** Two broken builds.\n"
        "**How to apply:** Also for docs.",
        created=FIRST + DAY,
        evidence=("event 2", "event 1"),
        files=(("a.py", "2"), ("b.py", "3")),
    )
    merged = merge_memories(kept, [other])
    assert merged.body == (
        "Run make test before each commit.\nNadia has the log.\n**Why:** Two broken builds.\n"
        "**How to apply:** Also for docs."
    )
    assert merged.evidence == ("event 1", "event 2")
    assert dict(merged.files) == {"a.py": "1", "b.py": "3"}
    assert (merged.created, merged.updated) == (FIRST, FIRST + DAY)  # it was said again then
    assert merged.replaces == ("other",)
    assert not lost_sentences(other.body, KnownText(merged.body))


def test_what_is_there_keeps_its_layout_and_nothing_of_it_is_lost() -> None:
    body = (
        "Run make test.\n\n**Why:** Two broken builds.\n\n- one in March\n- one in May\n\n"
        "**Why:** Nadia wants it.\n"
    )
    other = one("b", "Run make test. The log is in out.txt.\n**How to apply:** Also for docs.")
    assert merge_memories(one("a", body), [other]).body == (
        "Run make test.\nThe log is in out.txt.\n\n**Why:** Two broken builds.\n\n- one in March\n"
        "- one in May\n\n**Why:** Nadia wants it.\n**How to apply:** Also for docs."
    )
    assert merge_memories(one("a", body), [one("c", body.upper())]).body == body


SENTENCES = (
    *(
        "Use tabs.",
        "Never use tabs.",
        "Run `make test` before each commit.",
        "Ask Nadia for the key.",
    ),
    *(
        "Always run make test before every commit.",
        "The API listens on port 8080.",
        "It is in src/a.py.",
    ),
    *(
        "The API listens on port 8081.",
        "See https://a.example/x.",
        "- a list item",
        "Retry three times.",
    ),
)
BODIES = st.lists(
    st.tuples(st.sampled_from(["", "**Why:** ", "**How to apply:** "]), st.sampled_from(SENTENCES)),
    min_size=1,
    max_size=5,
).map(lambda lines: "\n".join(f"{label}{text}" for label, text in lines))


@given(st.lists(BODIES, min_size=2, max_size=6))
def test_whatever_is_merged_by_rules_no_sentence_is_lost(bodies: list[str]) -> None:
    memories = {f"m{n}": one(f"m{n}", body, "Rules") for n, body in enumerate(bodies)}
    for name, found in find_duplicates([stored(each) for each in memories.values()]).items():
        gone = [memories[each] for each in found]
        kept = merge_memories(memories[name], gone)
        for each in (memories[name], *gone):
            assert {x.text for x in lost_sentences(each.body, KnownText(kept.body))} == set()
        told = [x.text for x in parse_sentences(kept.body)]
        assert all(x.text in told for x in parse_sentences(memories[name].body))
        assert merge_memories(kept, gone).body == kept.body


def test_the_mark_of_a_stale_memory_is_no_difference() -> None:
    marked = one("a", add_stale_mark("Use tabs.", ("a.py",), "2026-05-06"), "Use tabs")
    assert find_duplicates([stored(marked), stored(one("b", "Use tabs."))])
    assert merge_memories(marked, [one("b", "Use tabs.")]).body == "Use tabs."


def test_of_two_sentences_the_fuller_one_is_kept_and_a_pinned_one_keeps_its_own() -> None:
    short = "The nightly export of orders, invoices and refunds for the tax office runs from cron on host4."
    full = short.replace("nightly export", "nightly encrypted export")
    assert compare(short, full) is Relation.SAME
    assert merge_memories(one("a", short), [one("b", full)]).body == full
    assert merge_memories(one("a", full), [one("b", short)]).body == full
    pinned = stored(one("a", short, short, pinned=True))
    assert find_duplicates([pinned, stored(one("b", full, short))]) == {}
    assert find_duplicates([pinned, stored(one("b", short, short))])


# A Wednesday.
WRITTEN = int(datetime(2026, 5, 6, 12).timestamp() * 1000)
# fmt: off
DATED = [
    ("We deployed yesterday.", "We deployed on 2026-05-05."),
    ("Yesterday we moved to Postgres.", "On 2026-05-05 we moved to Postgres."),
    ("The freeze lasts until tomorrow.", "The freeze lasts until 2026-05-07."),
    ("Decided today: no new fields.", "Decided on 2026-05-06: no new fields."),
    ("Bob left last month.", "Bob left in 2026-04."),
    ("Moved last week.", "Moved in the week of 2026-04-27."),
    ("It was decided two weeks ago.", "It was decided in the week of 2026-04-20."),
    ("3 days ago it broke.", "on 2026-05-03 it broke."),
    ("The audit is next year.", "The audit is in 2027."),
    ("From yesterday to today", "From 2026-05-05 to 2026-05-06"),
]
LEFT = [
    "The release is next Friday.",  # this week's, or the next one's?
    "We met last Monday.",
    "Every Monday we look at last week's errors.",
    "Always mention what happened yesterday.",
    "If it broke today, ask Nadia.",
    "Look at `git log --since=yesterday`.",
    "```\ndeploy --at tomorrow\n```",
    'He said "ship it tomorrow".',
    "See https://a.example/today for it.",
    "Logs of the last week are kept.",
    "A few days ago it broke.",
    "It was 10 minutes ago.",
    "It works on 2026-05-05 and on Tuesday.",
    "today-only offers",
    "Who is on call this week stands in Opsgenie.",
    "The dashboard shows yesterday's sales.",
    "The report covers last month.",
    "The figures of last week are used for it.",
    "Look at what broke yesterday.",
    "",
]
# fmt: on


@loop_over(("text", "dated"), DATED)
def test_words_that_were_true_for_a_day_become_dates(text: str, dated: str) -> None:
    assert absolute_dates(text, WRITTEN) == dated
    assert absolute_dates(dated, WRITTEN + 9 * DAY) == dated


@loop_over("text", LEFT)
def test_what_may_mean_another_day_or_none_is_left_as_it_is(text: str) -> None:
    assert absolute_dates(text, WRITTEN) == text


def test_links_follow_what_replaced_their_memory_and_dead_ones_leave_their_words() -> None:
    body = "See [the rule](old.md), [[old]], [[old|that one]], [a guide](gone.md), [[gone]], [x](there.md)."
    mended = fix_dead_links(body, {"old": "new", "gone": None})
    assert mended == (
        "See [the rule](new.md), [[new]], [[new|that one]], a guide, gone, [x](there.md)."
    )


def test_the_mark_of_a_stale_memory_comes_once_and_goes_without_a_trace() -> None:
    body = "The parser is in src/a.py.\n**Why:** It was there."
    marked = add_stale_mark(body, ("src/a.py",), "2026-05-06")
    assert marked.startswith(
        f"{body}\n\n**Possibly stale:** the files it speaks of are gone (src/a.py;"
    )
    assert add_stale_mark(marked, ("src/a.py",), "2026-06-01") == marked
    assert remove_stale_mark(marked) == body
    assert remove_stale_mark(body) == body


def test_two_contradict_each_other_only_if_they_are_about_the_same() -> None:
    def both(first: str, second: str) -> bool:
        assert contradict(first, second) == contradict(second, first)
        return contradict(first, second)

    assert both("Use tabs.", "Use spaces.")
    assert both("Always squash commits.", "Never squash commits.")
    assert both("Use single quotes in Python.", "Use double quotes in Python.")
    assert not both("Use tabs in Go.", "Use spaces in Python.")

    assert both("The API listens on port 8080.", "The API listens on port 8081.")
    assert both("Use tabs.", "Never use tabs.")
    assert both("Releases happen on Tuesday.", "Releases happen on Thursday.")
    assert not both("The billing API listens on 8080.", "The orders API listens on 8081.")
    assert not both("The port is 8080.", "The debug port is 8081.")
    assert not both(
        "The search index is in /srv/idx.", "Rebuild the search index with bin/reindex."
    )
    assert not both("Use tabs.", "Use spaces in YAML.")


# fmt: off
PARAPHRASES = [
    ("Passwords are hashed with argon2.", "We hash passwords using argon2."),
    ("Delete merged branches.", "Branches should be deleted after merging."),
    ("The release notes are written by Paula.", "Paula writes the release notes."),
    ("Customer data must not leave the EU.", "Customer data has to stay in the EU."),
    ("Use injection instead of singletons.", "Prefer injection over singletons."),
]
REPLACED = [
    ("The API listens on port 8080.", "The API now listens on port 9090."),
    ("The request timeout is 30 seconds.", "The request timeout is 60 seconds."),
    ("The docs are hosted on Netlify.", "The docs have moved to GitHub Pages."),
    ("Clara is responsible for releases.", "Ben is responsible for releases now."),
    ("The office is closed on Friday.", "The office is no longer closed on Friday."),
    ("The frontend is built with webpack.", "The frontend is built with vite instead of webpack."),
]
DIFFERENT = [
    ("The API calls the worker.", "The API is called by the worker."),
    ("Copy data from staging to production.", "Copy data from production to staging."),
    ("Server 1 runs Debian.", "Server 2 runs Debian."),
    ("The timeout for uploads is 30 seconds.", "The timeout for downloads is now 60 seconds."),
    ("Staging uses PostgreSQL 15.", "Production uses PostgreSQL 15 now."),
    ("Ask before deleting a branch.", "Ask before deleting a local branch."),
    ("Use Redis for sessions.", "Redis is now used for locks."),
    ("Do not edit generated files.", "Do not commit generated files."),
]
# fmt: on


def test_paraphrases_and_newer_values_are_told_from_what_only_looks_alike() -> None:
    for pair in PARAPHRASES:
        assert compare(*pair) is compare(*pair[::-1]) is Relation.SAME, pair
    for pair in REPLACED:
        assert compare(*pair) is Relation.REPLACES, pair
    for pair in DIFFERENT:
        assert compare(*pair) is compare(*pair[::-1]) is None, pair


def test_a_newer_value_retires_the_older_one_unless_several_were_said_on_one_day() -> None:
    old = one("old", "The API listens on port 8080.", created=FIRST)
    new = one("new", "The API now listens on port 9090.", created=FIRST + DAY)
    rival = one("rival", "The API listens on port 8000.", created=FIRST)
    pinned = replace(old, pinned=True)
    for listed, gone in (
        ([old, new], {"old"}),
        ([replace(old, created=FIRST + 2 * DAY), new], {"new"}),
        ([old, replace(new, extra=BY_AGENT)], set()),
        ([pinned, new], set()),
        ([old, rival, new], set()),
    ):
        plan = Plan({each.name: stored(each) for each in listed})
        retire_replaced(plan)
        assert set(plan.gone) == gone


def test_what_is_kept_and_what_is_invented_is_told_by_hard_words_and_by_sentences() -> None:
    kept = KnownText(
        "Use tabs, never spaces, in Makefiles. The API listens on port 8081, see `make up`."
    )
    # fmt: off
    found = {
        "Use tabs.": True, "Never use spaces.": True, "Use spaces.": False, "Never use tabs.": False,
        "The API listens on 8081.": True, "The API listens on 8080.": False, "See make up.": True,
        "Run make down.": False, "Tabs are wanted by Anna.": False, "Jenkins listens on port 8081.": False,
    }
    # fmt: on
    assert {text: not lost_sentences(text, kept) for text in found} == found
    assert invented_facts("The API listens on port 8081 in Makefiles.", kept) == ()
    assert invented_facts("The API listens on port 9000.", kept) == ("9000",)
    assert invented_facts("Bob wants tabs.", kept) == ("Bob wants tabs.",)
    assert invented_facts("See docs/api.md.", kept) == ("docs/api.md",)
    linked = "See [the plan](https://a.example/plan) and [tabs](use-tabs.md)."
    assert lost_sentences(linked, KnownText("See the plan and tabs."))  # an address is a fact
    assert not lost_sentences(
        linked, KnownText("See the plan at https://a.example/plan, and tabs.")
    )
