"""Each rule is its own test: its example is found, what it must leave alone is not, and nothing makes it
slow."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator

import pytest

from aforesaid.privacy import keys, private
from aforesaid.privacy.redactor import Redactor, find_places
from aforesaid.privacy.rules import CONTEXT, TOKENS, VALUE, Rule, expand
from benchmarks.redact import corpora
from tests.support.planted import KINDS, planted
from tests.support.tables import loop_over

REDACTOR = Redactor()
SMALL, TIMES, TRIES = 4_000, 8, 5
LEAST = 100e-6  # seconds; what takes less says nothing
RULES = (*TOKENS, *CONTEXT)
by_name = pytest.mark.parametrize("rule", CONTEXT, ids=lambda rule: rule.name)


def spans(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    return rule.spans(text, find_places(text))


def test_there_are_at_least_250_formats() -> None:
    assert sum(len(rule.needles) for rule in TOKENS) >= 250


def test_a_rule_finds_its_example() -> None:
    assert [rule.name for rule in RULES if not list(spans(rule, rule.example))] == []


def test_the_example_is_replaced_whatever_stands_around_it() -> None:
    for rule in RULES:
        (start, end), *_ = spans(rule, rule.example)
        secret = rule.example[start:end]
        for text in ("{}", "say: {} .", "a\n{}\nb", '"{}"', "x\\n{}\\n"):
            assert secret not in REDACTOR.text(text.replace("{}", rule.example)), (rule.name, text)


def test_a_rule_leaves_its_counter_examples_alone() -> None:
    for rule in RULES:
        for text in rule.counters:
            assert not list(spans(rule, text)), (rule.name, text)


def test_a_token_is_replaced_to_its_end() -> None:
    """However long it is, and also if it is written as joined strings."""
    long = expand("ghp_{A5000}")
    assert REDACTOR.text(f"x {long} y") == "x [secret:github] y"
    assert REDACTOR.text(f"amqp://app:{long[4:]}@mq/") == "amqp://app:[secret:url]@mq/"
    for joint in ('" + "', '"\n    "', "\\\n"):
        text = f'"{long[:20]}{joint}{long[20:60]}"'
        assert REDACTOR.text(text) == '"[secret:github]"', joint


@pytest.mark.long
@pytest.mark.parametrize("rule", TOKENS, ids=lambda rule: rule.needles[0])
def test_no_text_makes_a_token_slow(rule: Rule) -> None:
    """T61: as below."""
    test_no_text_makes_a_rule_slow(rule)


@by_name
def test_no_text_makes_a_rule_slow(rule: Rule) -> None:
    """T61: time grows with the text, not with its square: eight times the text takes far less than 64 times
    as long."""
    for text in _hostile(rule):
        assert _growth(lambda t: list(spans(rule, t)), text) < TIMES * 4, text[:40]


@loop_over(
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
        (REDACTOR.text, "password="),
        (REDACTOR.text, "password: '"),
        (REDACTOR.text, 'token="x'),
        (REDACTOR.text, "a="),
        (REDACTOR.text, "key key "),
        (REDACTOR.text, "<password>"),
        (REDACTOR.text, "a_" + "b" * 20),
        (REDACTOR.text, "password%3D%22"),
        (REDACTOR.text, '"a" + "b" + '),
        (REDACTOR.text, "ghp_" + '" + "'),
        (REDACTOR.text, "kind: Secret\ndata:\n  a: b123\n"),
        (REDACTOR.text, "login x password "),
        (REDACTOR.text, "\\u0070"),
    ],
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


@pytest.mark.parametrize("name", ["Python", "a lock file", "a log"])
def test_texts_without_secrets_have_at_most_one_false_hit_per_megabyte(name: str) -> None:
    """T60: on sources, lock files and logs."""
    texts = corpora(3_000_000)[name]
    hits = [text[f.start : f.end][:60] for text in texts for f in REDACTOR.find(text)]
    assert len(hits) <= sum(map(len, texts)) / 1_000_000, hits


@loop_over(
    "text",
    [
        'HEX_PAT = "[0-9A-Fa-f]{1,4}"',
        'TOKEN_PAT = r"(?P<name>[a-z]{3,9}_\\d+)"',
        '_INIT_FACTORY_PAT = "__attr_factory_%s"',
        'SECRET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"',
        "username, password = split\n",
        "user, passwd = splituserpass2(x)",
        'username, password = base64decode(auth.encode("latin1"))',
        "join(pwd, './data/pcg64dxsm-testset-1.csv')",
        "Cookie: CUSTOMER=WILE_E_COYOTE; PART_NUMBER=ROCKET_LAUNCHER_0001",
        "Set-Cookie: c=foo; expires=Foo Bar 12 33:22:11 2000",
        "HMAC = rust_openssl.hmac.HMAC\n",
    ],
)
def test_what_programs_have_where_a_secret_could_be_is_left_alone(text: str) -> None:
    assert REDACTOR.text(text) == text


@loop_over(
    ("text", "secret"),
    [
        ('password = "aB3%s9xQ"', "aB3%s9xQ"),
        ('password = "[x9-k2]Lm!"', "[x9-k2]Lm!"),
        ('API_SECRET = "abcdef123456"', "abcdef123456"),
        ('user, token = "bob", "aB3xK9s0QpZ1mN7v"', "aB3xK9s0QpZ1mN7v"),
        ("host: db, password: hunter2X", "hunter2X"),
        ("password is hunter2X (for now)", "hunter2X"),
        ("login with bob/Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("Cookie: session=aZ9kQ2mX7Lp0Rt5W; path=/", "aZ9kQ2mX7Lp0Rt5W"),
        ("export API_TOKEN=correct-horse-battery-staple", "correct-horse-battery-staple"),
        ("API_TOKEN=ROCKET_9_XK22_PQ", "ROCKET_9_XK22_PQ"),
    ],
)
def test_a_secret_that_looks_a_little_like_a_program_is_found(text: str, secret: str) -> None:
    assert secret not in REDACTOR.text(text)


def _hostile(rule: Rule) -> list[str]:
    """How it begins, again and again; how it goes on, without an end; its example, over and over."""
    (start, end), *_ = spans(rule, rule.example)
    head = (
        rule.example[:start]
        if VALUE in rule.regex.groupindex
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
