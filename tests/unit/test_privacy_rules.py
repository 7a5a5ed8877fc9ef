"""Each rule is its own test: its example is found, what it must leave alone is not, and nothing makes it
slow."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from recollect.bench.redact import corpora
from recollect.privacy import keys, private
from recollect.privacy.redactor import NEEDLES, Redactor
from recollect.privacy.rule import VALUE, Rule, lower
from recollect.privacy.rules import ALL
from tests.support.planted import KINDS, planted

REDACTOR = Redactor()
SMALL, TIMES, TRIES = 4_000, 8, 5
LEAST = 100e-6  # seconds; what takes less says nothing
by_name = pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)


def spans(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    return rule.spans(text, NEEDLES.found(lower(text)))


def test_there_are_rules_for_at_least_thirty_kinds_and_no_two_have_one_name() -> None:
    assert len({rule.name for rule in ALL}) == len(ALL) >= 30


@by_name
def test_a_rule_finds_its_example(rule: Rule) -> None:
    assert list(spans(rule, rule.example))


@by_name
def test_the_example_is_replaced_whatever_stands_around_it(rule: Rule) -> None:
    (start, end), *_ = spans(rule, rule.example)
    secret = rule.example[start:end]
    for text in ("{}", "say: {} .", "a\n{}\nb", '"{}"', "x\\n{}\\n"):
        assert secret not in REDACTOR.text(text.format(rule.example)), text


@by_name
def test_a_rule_leaves_its_counter_examples_alone(rule: Rule) -> None:
    for text in rule.counters:
        assert not list(spans(rule, text)), text


@by_name
def test_no_text_makes_a_rule_slow(rule: Rule) -> None:
    """T61: time grows with the text, not with its square: eight times the text takes far less than 64 times
    as long."""
    for text in _hostile(rule):
        assert _growth(lambda t: list(spans(rule, t)), text) < TIMES * 4, text[:40]


@pytest.mark.parametrize(
    ("search", "text"),
    [
        (keys.spans, "-----BEGIN RSA PRIVATE KEY-----\n"),
        (keys.spans, "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789\n"),
        (keys.spans, "-----END RSA PRIVATE KEY-----\n"),
        (keys.spans, "MIIEpAIBAAKCAQEA0123456789\n"),
        (private.spans, "<private>"),
        (private.spans, "</private>"),
        (private.spans, "<private "),
        (REDACTOR.text, "eyJ."),
        (REDACTOR.text, "a" * 64 + "-"),
        (REDACTOR.text, "https://a:"),
        (REDACTOR.text, "password=token="),
        (REDACTOR.text, "diff --git a/.env b/.env\n+++ b/.env\n"),
        (REDACTOR.text, ".env:1:x\n"),
    ],
    ids=lambda given: repr(given) if isinstance(given, str) else "",
)
def test_no_text_makes_the_whole_slow(search: Callable[[str], Iterable[object]], text: str) -> None:
    """T61: keys are read by lines, tags and files in one pass."""
    assert _growth(lambda t: list(search(t)), text) < TIMES * 4


def test_a_secret_that_no_rule_was_made_for_is_found_as_well() -> None:
    """T60: held-out secrets, each in the words that it is met in."""
    found = planted()
    missed = [each for each in found if each.secret in REDACTOR.text(each.text)]
    kinds = {each.kind for each in found}
    sys.stdout.write(f"\n{len(found) - len(missed)} of {len(found)}, {len(kinds)} kinds\n")
    assert len(found) == 100
    assert len(kinds) == len(KINDS) >= 25
    assert len(missed) <= 5, [each.kind for each in missed]


@pytest.mark.parametrize("name", ["Python and its packages", "a lock file", "a log"])
def test_texts_without_secrets_have_at_most_one_false_hit_per_megabyte(name: str) -> None:
    """T60: on sources, lock files and logs."""
    texts = corpora(3_000_000)[name]
    hits = [text[f.start : f.end][:60] for text in texts for f in REDACTOR.find(text)]
    assert len(hits) <= sum(map(len, texts)) / 1_000_000, hits


def _hostile(rule: Rule) -> list[str]:
    """How it begins, again and again; how it goes on, without an end; its example, over and over."""
    (start, end), *_ = spans(rule, rule.example)
    head = (
        rule.example[:start]
        if VALUE in rule.pattern.groupindex
        else rule.example[: (end - start) // 4]
    )
    needles = rule.needles or (".", "-")
    return [
        needles[0],
        f"{needles[0]} ",
        head or needles[0],
        rule.example[:end],
        f"{rule.example} ",
        "a1",
        "=",
        "://",
    ]


def _growth(search: Callable[[str], object], part: str) -> float:
    """The best of several tries, in processor time: other programs on the machine do not count."""
    small, large = ((part * (size // len(part) + 1))[:size] for size in (SMALL, SMALL * TIMES))
    tries = (_took(search, large) / max(_took(search, small), LEAST) for _ in range(TRIES))
    return min(takewhile_over(TIMES * 2, tries))


def takewhile_over(limit: float, found: Iterator[float]) -> Iterator[float]:
    """Up to the first that is within the limit."""
    for each in found:
        yield each
        if each < limit:
            return


def _took(search: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    search(text)
    return time.thread_time() - began
