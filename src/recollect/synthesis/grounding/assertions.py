"""How English prose asserts that a thing passed, failed, was run or was delivered: patterns for a clause."""

import re

# Finer than `prose.CLAUSE_END`, which parts what is shown: here a hedge must excuse its own clause alone, so
# every comma and every turn of thought ends one, and the words that end it may go.
CLAUSE = re.compile(
    r"(?:[.;:,!?](?=\s|$))|\s[-–—]\s|\n|\b(?:but|although|though|while|whereas|because|which|after"
    r"|and then)\b"
)
HEDGE = re.compile(
    r"\b(?:should|would|could|may|might|must|can|cannot|will|until|if|once|when|whenever|unless"
    r"|ensur\w+|make sure|to (?:make|get|let|have|see|be|pass|keep)|makes?|so|in order|not|never"
    r"|no longer|expect\w*|need\w*|requir\w+|whether|previously|earlier|initially|originally|only"
    r"|some|most|many|planned|goal|aim|want\w*|ask\w*|request\w*|verify|checked (?:that|if)|confirm"
    r"|before|how|why|either|or)\b|n't\b",
    re.IGNORECASE,
)
NOUNS = {
    "test": r"(?:tests?|specs?|test (?:suite|case|run|file)s?|suite|pytest|jest|vitest|go test"
    r"|cargo test)",
    "build": r"(?:builds?|compilation|compile|compiler)",
    "lint": r"(?:lint(?:er|ing|s)?(?: checks?)?|ruff(?: check)?|eslint|flake8|pylint|clippy"
    r"|golangci-lint)",
    "type check": r"(?:type[- ]?check(?:s|er|ing)?|mypy|pyright|tsc)",
}
_ADVERBS = r"(?:now |all |still |then |again |finally |also |both |already |currently )*"
# A test that "passes the token to the handler" has not passed.
_PASS = (
    r"pass(?:es|ed|ing)?(?! (?:an?|the|its|this|to|through|on|along|it|them|null|None|as|into"
    r"|\w+ as|\w+ to)\b)"
)
_FINE = (
    r"(?:green|passing|successful(?:ly)?|clean(?:ly)?"
    r"|without (?:any )?(?:errors?|failures?|issues?|problems?))"
)
GOOD = (
    rf"{_ADVERBS}(?:{_PASS}|succeed(?:s|ed)?"
    rf"|(?:is|are|was|were|ran|runs?|completes?|completed|finish(?:es|ed)) {_ADVERBS}{_FINE})"
)
BAD = rf"{_ADVERBS}(?:fail(?:s|ed)?\b(?! to)|(?:is|are|was|were) {_ADVERBS}(?:failing|broken|red))"
_SPECIAL = {
    "test": r"|\bpass(?:es|ed) (?:all |the |\d+ |of |existing )*tests?\b",
    "build": r"|\b(?:built|compiled|compiles|builds) (?:successfully|cleanly|fine"
    r"|without (?:any )?(?:errors?|warnings?))|\bsuccessful(?:ly)? (?:built|compiled|build)\b"
    r"|\bno (?:build|compil\w+) errors?\b",
    "lint": r"|\bno (?:lint\w*) (?:errors?|issues?|warnings?)\b",
    "type check": r"|\bno type errors?\b",
}
SAID_GOOD = {
    kind: re.compile(
        rf"\b{noun}(?: \([^)]*\))?(?: (?:in|of|under) \S+)? {GOOD}(?!\w){_SPECIAL[kind]}", re.I
    )
    for kind, noun in NOUNS.items()
}
SAID_BAD = {
    kind: re.compile(rf"\b{noun}(?: \([^)]*\))?(?: (?:in|of|under) \S+)? {BAD}(?!\w)", re.I)
    for kind, noun in NOUNS.items()
}
MENDED = {
    kind: re.compile(
        rf"\b(?:fix(?:ed|es)?|resolved?|mended|repaired) (?:the |all |both |every |\d+ )*"
        rf"(?:failing |broken |remaining |flaky |red )*(?:{noun})(?: suite| errors?| failures?)?"
        r"(?= by| in|$|[,.;])",
        re.I,
    )
    for kind, noun in (
        NOUNS | {"type check": r"type(?: errors?|[- ]check\w*)", "lint": "lint(?:er|ing)?"}
    ).items()
}
RAN_TESTS = re.compile(
    r"^\W*(?:re-?)?(?:ran|executed) (?:\w+ ){0,4}?tests?\b(?! (?:script|command|server))",
    re.I,
)
VERIFIED = re.compile(
    r"\b(?:fix(?:ed|es)? and (?:verified|tested)"
    r"|(?:verified|confirmed) (?:that )?(?:the |this )?(?:fix|change|solution)\w*"
    r"|(?:fix|change|solution|it)e?s? (?:was|were|is|has been|have been) (?:verified|tested)"
    r"|verified (?:by|with|via|through|using) (?:\w+ ){0,3}(?:tests?|run\w*|build\w*))\b",
    re.I,
)
DELIVERED = {
    "commit": re.compile(
        r"^\W*(?:\w+ and )?committed\b(?! to)|\b(?:was|were|been|and) committed\b", re.I
    ),
    "push": re.compile(
        r"^\W*(?:\w+ and )?pushed (?!to (?:an? |the )?(?:stack|queue|array|list))"
        r"|\b(?:was|were|been|and) pushed to\b",
        re.I,
    ),
}
COUNT = re.compile(
    r"\b([0-9]+) (?:\w+ ){0,2}?tests? (?:\w+ ){0,2}?pass|\b([0-9]+) (?:tests? )?passed\b"
    r"|\bpass(?:es|ed)? (?:all )?([0-9]+) tests?\b",
    re.I,
)
REASSURING = re.compile(r"\b(?:pass(?:e[sd]|ing)?|success\w*|succeeded|PASS|OK|green)\b|✓|✔")
SAID_FAILING = re.compile(
    r"\b(?:fail\w*|broken?|breaks|red|errors?|crash\w*|not work\w*|doesn't work)\b", re.I
)
PASSED, FAILED = re.compile(rf"{GOOD}(?!\w)", re.I), re.compile(rf"{BAD}(?!\w)", re.I)
NAMED = re.compile(r"`([^`\n]{2,200})`(?: (?:command|run|script|step|check|suite))?\s+(.{0,60})")


def clauses(prose: str) -> list[str]:
    return [part.strip() for part in CLAUSE.split(prose) if part and part.strip()]
