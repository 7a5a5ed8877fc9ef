"""What the rules provider reads out of commands, outputs, patches, prompts and messages."""

import pytest

from aforesaid.model.events import CommandRun, Failure, FileChanged
from aforesaid.providers.extract.choose import find_open_ends
from aforesaid.providers.extract.commands import read_command
from aforesaid.providers.extract.patches import read_patches
from aforesaid.providers.extract.prompts import read_decisions
from aforesaid.providers.extract.results import (
    error_window,
    find_error,
    read_commits,
    read_outcome,
    read_test_counts,
)
from tests.support.tables import loop_over
from tests.support.turns import hunks


@loop_over(
    ("line", "kind", "text"),
    [
        ("cd /x && FOO=1 timeout 60 uv run pytest -q 2>&1 | tail -20", "test", "uv run pytest -q"),
        (".venv/bin/python -m pytest -x", "test", ".venv/bin/python -m pytest -x"),
        ("npm run test:unit -- --watch=false", "test", "npm run test:unit -- --watch=false"),
        ("./gradlew :app:test", "test", "./gradlew :app:test"),
        ("go test ./... -run TestX", "test", "go test ./... -run TestX"),
        ("docker compose exec web python manage.py test", "test", None),
        ("make -j4 lint", "lint", "make -j4 lint"),
        ("make", "build", "make"),
        ("npx tsc --noEmit", "type check", "npx tsc --noEmit"),
        ("mix compile 2>&1 | head -40", "build", "mix compile"),
        ("sudo apt-get install -y jq", "install", None),
        ("uv add httpx", "install", "uv add httpx"),
        ('git add -A && git commit -m "a; b" && git push', "commit", "git commit && git push"),
        ("git checkout -- orders/tax.py", "undo", None),
        ("git checkout main", "routine", None),
        ("git stash", "undo", None),
        ("git status && git diff | head", "routine", None),
        ("ls -la | grep x", "routine", "ls -la"),
        ("bd show spotter-1", "routine", None),
        ("cat > x.py <<'EOF'\nprint(1)\nEOF", "files", "cat > x.py"),
        ("cd x && python3 - <<'EOF'\nprint(1)\nEOF", "run", "a Python script"),
        ("python3 <<EOF\nprint(1)\nEOF\npytest -q", "test", "python3 (a script); pytest -q"),
        ("bash <<EOF\nls\nEOF", "run", "a shell script"),
        ("python3 load.py <<EOF\n1\nEOF", "run", "python3 load.py"),
        ("sed -i s/a/b/ x.py", "files", None),
        ("alembic upgrade head", "migration", None),
        ("fly deploy", "deploy", None),
        ("python scripts/import.py data.csv", "run", None),
        ("", "routine", ""),
        ("'", "routine", ""),
        ("&& || ;", "routine", ""),
    ],
)
def test_a_command_is_known_by_what_it_does(line: str, kind: str, text: str | None) -> None:
    command = read_command(line)
    assert command.kind == kind
    assert text is None or command.text == text


def test_scripts_in_a_line_are_told_apart_by_their_text() -> None:
    one, same, other = (
        read_command(f"{lead}python3 - <<'EOF'\n{body}\nEOF")
        for lead, body in (("", "f(1)"), ("cd x && ", "f(1)"), ("", "f( 1)"))
    )
    assert one.program == same.program != other.program
    assert read_command("python3 -c 'f(1)'").program != read_command("python3 -c 'f(2)'").program


PYTEST_RED = (
    "FAILED tests/test_a.py::test_x - AssertionError: assert 9 == 81\n1 failed, 2 passed in 0.1s"
)


@loop_over(
    ("output", "passed", "failed", "failing"),
    [
        (PYTEST_RED, 2, 1, ("tests/test_a.py::test_x",)),
        ("== 2 failed, 10 passed, 1 warning, 1 error in 3.2s (0:00:03) ==", 10, 3, ()),
        ("3 passed in 0.01s", 3, 0, ()),
        ("FAIL: test_x (tests.A)\nRan 3 tests in 0.1s\n\nFAILED (failures=1)", 2, 1, ("test_x",)),
        ("Ran 3 tests in 0.001s\n\nOK", 3, 0, ()),
        ("  ● cart › totals\nTests:       1 failed, 2 passed, 3 total", 2, 1, ("cart › totals",)),
        (
            " FAIL  src/a.test.ts > cart > total\n      Tests  1 failed | 5 passed (6)",
            5,
            1,
            ("cart > total",),
        ),
        ("  5 passing (10ms)\n  1 failing\n\n  1) cart total:\n", 5, 1, ("cart total",)),
        ("--- FAIL: TestX (0.00s)\nFAIL\tshop/pricing\t0.003s", None, 1, ("TestX",)),
        ("ok  \tshop/pricing\t0.003s", None, 0, ()),
        ("test a::b ... FAILED\n\ntest result: FAILED. 5 passed; 1 failed;", 5, 1, ("a::b",)),
        ("test result: ok. 5 passed; 0 failed;\ntest result: ok. 2 passed; 0 failed;", 7, 0, ()),
        ("14 doctests, 397 tests, 0 failures", 397, 0, ()),
        ("  1) test foo bar (A.BTest)\n\n10 tests, 1 failure", 9, 1, ("foo bar",)),
        ("rspec ./spec/a_spec.rb:3 # Cart\n5 examples, 1 failure", 4, 1, ("./spec/a_spec.rb:3",)),
        ("Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", 4, 1, ()),
        ("OK (5 tests, 9 assertions)", 5, 0, ()),
        ("# pass 5\n# fail 1", 5, 1, ()),
        ("100% tests passed, 0 tests failed out of 5", 5, 0, ()),
    ],
)
def test_a_runner_s_counts_are_read(
    output: str, passed: int | None, failed: int, failing: tuple[str, ...]
) -> None:
    tally = read_test_counts(output)
    assert tally is not None
    assert (tally.passed, tally.failed, tally.failing) == (passed, failed, failing)


@pytest.mark.parametrize("output", ["", "hello", "we did it in 5s", "no tests ran in 0.01s"])
def test_an_output_without_counts_has_no_tally(output: str) -> None:
    assert read_test_counts(output) is None


@loop_over(
    ("output", "line"),
    [
        (PYTEST_RED, "AssertionError: assert 9 == 81"),
        ("Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'", "KeyError: 'x'"),
        ("error[E0425]: cannot find value `x`\n --> a.rs", "error[E0425]: cannot find value `x`"),
        ("\x1b[31msrc/a.ts(3,5): error TS2322: no\x1b[0m", "src/a.ts(3,5): error TS2322: no"),
        ("cc main.c\nld: cannot find -lssl\nmake: *** [app] Error 1", "ld: cannot find -lssl"),
        ("make: *** [Makefile:3: test] Error 2", "make: *** [Makefile:3: test] Error 2"),
        ("npm ERR! code ELIFECYCLE\nnpm ERR! missing script: foo", "missing script: foo"),
        ("    Expected: 81\n    Received: 90\n", "Expected: 81, Received: 90"),
        (
            "Pre-commit failed:\\n\\n[FORMAT] not formatted",
            "Pre-commit failed: [FORMAT] not formatted",
        ),
        ("Exit code 1", None),
    ],
)
def test_the_line_that_says_what_went_wrong_is_found(output: str, line: str | None) -> None:
    assert find_error(error_window(output)) == line


@loop_over(
    ("line", "stdout", "verdict"),
    [
        ("pytest | tail -3", "1 failed, 2 passed in 0.1s", "failed"),
        ("pytest | tail -3", "3 passed in 0.1s", "passed"),
        ("pytest | head -2", "===== test session starts =====", "unseen"),
        ("mix compile 2>&1 | head", "", "quiet"),
        ("make 2>&1 | tail", "main.c:1:2: error: no", "failed"),
        ("mypy src | grep models", "src/models.py:3: note: x", "unseen"),
        ("mypy src 2>&1 | tail -1", "Success: no issues found in 3 source files", "passed"),
        ("mypy src || true", "src/a.py:3: error: Incompatible types", "failed"),
        ("mypy src", "", "passed"),
    ],
)
def test_a_hidden_exit_status_is_read_from_the_output(line: str, stdout: str, verdict: str) -> None:
    run = CommandRun(line, None, stdout, "", False)
    assert read_outcome(read_command(line), run, None).verdict == verdict


@pytest.mark.parametrize(
    ("failure", "verdict"),
    [
        (Failure("Exit code 1\nboom", 1, False), "failed"),
        (Failure("", None, True), "stopped"),
        (Failure("Command timed out after 2m 0s", None, False), "stopped"),
        (Failure("The user doesn't want to proceed with this tool use.", None, False), "refused"),
    ],
)
def test_a_command_that_never_ran_has_not_failed(failure: Failure, verdict: str) -> None:
    run = CommandRun("make", None, "", "", False)
    assert read_outcome(read_command("make"), run, failure).verdict == verdict


@pytest.mark.parametrize(
    ("command", "output", "subject", "short"),
    [
        ('git commit -m "fix: a b"', "[main 1a2b3c4] fix: a b\n 1 file", "fix: a b", "1a2b3c4"),
        ("git commit -am 'Add x'", "", "Add x", None),
        ("git commit -m \"$(cat <<'EOF'\nfeat(x): y\n\nbody\nEOF\n)\"", "", "feat(x): y", None),
        ("git commit --amend --no-edit", "[a/b (root-commit) abcdef12] Hey", "Hey", "abcdef1"),
    ],
)
def test_a_commit_is_read_from_git_or_from_the_command(
    command: str, output: str, subject: str, short: str | None
) -> None:
    (commit,) = read_commits(command, output)
    assert (commit.subject, commit.hash) == (subject, short)


def test_a_conventional_subject_gives_its_label() -> None:
    (commit,) = read_commits('git commit -m "fix(pricing)!: round half up"', "")
    assert (commit.label, commit.subject) == ("fix", "fix(pricing)!: round half up")


PYTHON = """\
RATE = 0.1


class Cart:
    def total(self, code):
        s = 0
        for i in self.items:
            s += i.price
        if code:
            s *= RATE
        return s


def helper(
    a,
) -> int:
    x = a
    return x
"""
TYPESCRIPT = """\
export class Cart {
  async total(code: string): Promise<number> {
    if (code) {
      return 1;
    }
    return 0;
  }
}

describe('cart', () => {
  it('adds up', () => {
    expect(1).toBe(2);
  });
});
"""
GO = "type Cart struct {\n\tn int\n}\n\nfunc (c *Cart) Total() int {\n\ts := 0\n\treturn s\n}\n"
RUST = "impl Cart {\n    pub fn total(&self) -> i32 {\n        let s = 0;\n        s\n    }\n}\n"
JAVA = "public class Cart {\n    public int total(String code) {\n        return 1;\n    }\n}\n"
C = "static int helper(int a)\n{\n    return a;\n}\n"
RUBY = "class Cart\n  def total\n    1\n  end\nend\n"
ELIXIR = "defmodule A.B do\n  @max 5\n\n  def total(x) do\n    x\n  end\nend\n"
MARKDOWN = "# Title\n\nintro\n\n## Install\n\npip\n\n## Use\n\nbar\n"
TOML = '[project]\nversion = "1"\n\n[tool.ruff]\nline-length = 100\n'
YAML = "server:\n  port: 80\n  hosts:\n    - x\n"
JSON = '{\n  "scripts": {\n    "test": "jest"\n  }\n}\n'
SQL = "create table users (\n  id int,\n  name text\n);\n"
CSS = ".a {\n  color: red;\n}\n"


@loop_over(
    ("path", "before", "old", "new", "changed"),
    [
        ("a.py", PYTHON, "s *= RATE", "s *= 1 - RATE", ["Cart.total"]),
        ("a.py", PYTHON, "return x", "return x * 2", ["helper"]),
        ("a.py", PYTHON, "RATE = 0.1", "RATE = 0.2", ["RATE"]),
        ("a.py", PYTHON, "def total(self, code)", "def total(self, code, n)", ["Cart.total"]),
        ("a.py", PYTHON, "def helper(", "@cache\ndef helper(", ["helper"]),
        ("a.ts", TYPESCRIPT, "return 1", "return 5", ["Cart.total"]),
        ("a.ts", TYPESCRIPT, "toBe(2)", "toBe(1)", ["adds up"]),
        ("a.go", GO, "return s", "return s + 1", ["Cart.Total"]),
        ("a.go", GO, "n int", "n int64", ["Cart"]),
        ("a.rs", RUST, "let s = 0", "let s = 1", ["Cart.total"]),
        ("A.java", JAVA, "return 1", "return 2", ["Cart.total"]),
        ("a.c", C, "return a", "return a + 1", ["helper"]),
        ("a.rb", RUBY, "    1", "    2", ["Cart.total"]),
        ("a.ex", ELIXIR, "    x\n", "    x + 1\n", ["total"]),
        ("a.md", MARKDOWN, "pip", "uv", ["Install"]),
        ("a.toml", TOML, "100", "120", ["tool.ruff.line-length"]),
        ("a.yml", YAML, "80", "81", ["server.port"]),
        ("a.yml", YAML, "- x", "- y", ["server.hosts"]),
        ("package.json", JSON, "jest", "vitest", ["scripts.test"]),
        ("a.sql", SQL, "name text", "name varchar", ["create table users"]),
        ("a.css", CSS, "red", "blue", [".a"]),
        ("a.sh", "foo() {\n  echo 1\n}\n", "1", "2", ["foo"]),
        ("Makefile", "test:\n\tpytest\n", "pytest", "pytest -q", ["test"]),
        ("a.unknown", "x\ny\n", "y", "z", []),
    ],
)
def test_a_change_falls_into_its_function_section_or_key(
    path: str, before: str, old: str, new: str, changed: list[str]
) -> None:
    after = before.replace(old, new, 1)
    (patch,) = read_patches([(path, FileChanged(path, False, hunks(before, after), before, after))])
    assert [symbol.name for symbol in patch.changed] == changed
    assert patch.added == ()


def test_new_and_gone_symbols_are_told_apart() -> None:
    after = PYTHON.replace("def helper(", "def assist(") + "\n\ndef extra():\n    return 1\n"
    (patch,) = read_patches(
        [("a.py", FileChanged("a.py", False, hunks(PYTHON, after), PYTHON, after))]
    )
    assert [symbol.name for symbol in patch.added] == ["assist", "extra"]
    assert [symbol.name for symbol in patch.removed] == ["helper"]


def test_a_file_without_known_text_is_read_from_its_hunks_alone() -> None:
    after = PYTHON.replace("s += i.price", "s += i.cents")
    (patch,) = read_patches(
        [("a.py", FileChanged("a.py", False, hunks(PYTHON, after), None, None))]
    )
    assert (patch.plus, patch.minus) == (1, 1)


def test_edits_that_cancel_each_other_leave_the_file_as_it_was() -> None:
    other = PYTHON.replace("0.1", "0.2")
    there = FileChanged("a.py", False, hunks(PYTHON, other), PYTHON, other)
    back = FileChanged("a.py", False, hunks(other, PYTHON), other, PYTHON)
    (patch,) = read_patches(("a.py", change) for change in (there, back))
    assert patch.undone


@loop_over(
    ("prompt", "what"),
    [
        ("We decided to use Postgres instead of MySQL.", "Use Postgres instead of MySQL"),
        ("ok let's go with SQLite, not Postgres", "Go with SQLite, not Postgres"),
        ("From now on, run make check first.", "Run make check first"),
        ("Always write tests first.", "Always write tests first"),
        ("Never commit directly to main.", "Never commit directly to main"),
        ("Don't use mocks in the integration tests.", "Don't use mocks in the integration tests"),
        ("Prefer composition over inheritance.", "Prefer composition over inheritance"),
        ("We'll go with FastAPI for the API.", "Go with FastAPI for the API"),
        ("Use pnpm instead of npm", "Use pnpm instead of npm"),
        ("we no longer support Python 3.9", "We no longer support Python 3.9"),
        ("The convention is that all ids are ULIDs.", "All ids are ULIDs"),
        ("We settled on Redis for the queue", "Use Redis for the queue"),
    ],
)
def test_a_decision_is_read_from_the_prompt(prompt: str, what: str) -> None:
    assert [decision.what for decision in read_decisions(prompt)] == [what]


@loop_over(
    "prompt",
    [
        "Should we use Postgres instead of MySQL?",
        "maybe let's use httpx",
        "what if we used redis",
        "if we decided to use X, what would break?",
        "I'm thinking we'll use X",
        "it always fails",
        "It never works on CI",
        "Never mind",
        "never seen this before",
        "don't commit yet",
        "let's go with option 2",
        "let's use it",
        "let's keep going",
        "let's write the tests",
        "let's not worry about that",
        "Can you use X instead of Y?",
        "why do you always use mocks",
        "> we decided to use X",
        "```\nalways run make check\n```",
        "",
    ],
)
def test_a_question_a_doubt_or_a_complaint_is_no_decision(prompt: str) -> None:
    assert read_decisions(prompt) == ()


def test_a_decision_keeps_its_reason() -> None:
    (decision,) = read_decisions("Let's use httpx instead of requests because we need async.")
    assert decision.reason == "we need async"


@loop_over(
    ("message", "steps"),
    [
        ("Done.\n\n## Next steps\n\n- wire it up\n- document it", ["wire it up", "document it"]),
        ("**Remaining:**\n1. the docs", ["the docs"]),
        ("Next: run the migration.", ["run the migration."]),
        ("Added it. Next: call it from the CLI. All tests pass.", ["call it from the CLI."]),
        ("It is in. Next step: wire it up.", ["wire it up."]),
        ("It is in. Next up, the docs of it.", ["the docs of it."]),
        ("It is in. Still to do: the docs.", ["the docs."]),
        ("It is in. Remaining: the docs.", ["the docs."]),
        (
            "Done.\n\nNext: the docs,\nand the client. Both wait.",
            ["the docs, and the client."],
        ),
        ("The next-step wizard works.", []),
        ("All good. The client still needs a retry.", ["The client still needs a retry."]),
        ("You may want to bump the version.", ["You may want to bump the version."]),
        ("All done, everything works.", []),
        (None, []),
    ],
)
def test_what_is_left_to_do_is_read_from_the_last_message(
    message: str | None, steps: list[str]
) -> None:
    assert find_open_ends(message) == steps
