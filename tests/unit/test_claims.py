"""What prose claims that can be looked up, and what only looks as if it did."""

from aforesaid.synthesis.evidence import is_command, read_claims
from tests.support.tables import loop_over


def _of(prose: str, *kinds: str) -> set[str]:
    return {claim.text for claim in read_claims(prose) if claim.kind in kinds}


@loop_over(
    ("prose", "expected"),
    [
        ("in src/auth/session.ts and server.go", {"src/auth/session.ts", "server.go"}),
        ("the file /etc/hosts, and ~/.bashrc", {"/etc/hosts", "~/.bashrc"}),
        ("`tests/unit/` holds them", {"tests/unit/"}),
        ("edited .gitignore and the Dockerfile.", {".gitignore", "Dockerfile"}),
        ("the route /api/users answers", {"/api/users"}),
        ("修复了auth.ts中的错误", {"auth.ts"}),
        ("read/write and/or client/server, true/false", set()),
        ("Node.js, Vue.js and socket.io, e.g. in Next.js", set()),
        ("all files that match src/**/*.ts", set()),
        ("see https://example.org/a/b.html.", set()),
    ],
)
def test_paths_are_told_from_prose(prose: str, expected: set[str]) -> None:
    assert _of(prose, "path") == expected


@loop_over(
    ("prose", "expected"),
    [
        ("applyDiscount, RATE_LIMIT and apply_discount", {"applyDiscount", "RATE_LIMIT", "apply_discount"}),
        ("the class PoolExhaustedError", {"PoolExhaustedError"}),
        ("release() and pool.acquire()", {"release", "pool.acquire"}),
        ("Store.finish_observe and Turn::before", {"Store.finish_observe", "Turn::before"}),
        ("with --max-warnings set", {"--max-warnings"}),
        ("GitHub, JavaScript, TypeScript, SQLite, PostgreSQL and macOS", set()),
        ("APIs, URLs, IDs and JWTs of the OAuth2 server", set()),
        ("Plain English words, even Capitalised ones - and hyphenated-words", set()),
        ("Die Größe wurde geändert. Préférences, año, naïve", set()),
    ],
)  # fmt: skip
def test_names_in_code_form_are_told_from_words(prose: str, expected: set[str]) -> None:
    assert _of(prose, "symbol") == expected


def test_numbers_stand_for_themselves_and_not_inside_names() -> None:
    prose = "12 tests in 0.03s on port 5432, 1,024 entries"
    assert _of(prose, "number") == {"12", "0.03", "5432", "1,024"}
    assert _of("utils2.py, UTF-8, sha256, H2 and v2", "number") == set()


def test_a_command_that_is_said_to_have_been_run_is_more_than_one_that_is_named() -> None:
    prose = "Ran `make lint`, then running npm test showed it; `git push` comes later."
    assert _of(prose, "run") == {"make lint", "npm test showed it"}
    assert _of(prose, "command") == {"git push"}


@loop_over(
    ("code", "expected"),
    [
        ("git push origin main", True),
        ("./deploy.sh --now", True),
        ("pytest -q", True),
        ("total * RATE", False),
        ("if x == 1", False),
        ("const size = 12", False),
        ("import os", False),
    ],
)
def test_a_command_line_is_told_from_an_expression(code: str, expected: bool) -> None:
    assert is_command(code) is expected


def test_quotations_need_three_words() -> None:
    prose = (
        'It said "too many waiters in queue" for "ok" and “no such file here”; don\'t isn\'t one.'
    )
    assert _of(prose, "quote") == {"too many waiters in queue", "no such file here"}
