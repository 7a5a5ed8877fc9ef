"""The catalogue of faults, and which tests hold it.

A row says what goes wrong and what must be true then. A test names the rows that it holds at the beginning of
its docstring (`T25: …`, or `T25, T31: …`), so the list of tests is collected, never written by hand.

    python -m tests.support.catalogue     writes the table into docs/reliability.md
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.catalogue_rows import ROWS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
BEGIN = "<!-- Generated: python -m tests.support.catalogue -->"
END = "<!-- End of what is generated -->"
MARK = re.compile(r"((?:T\d+, )*T\d+): ")


@dataclass(frozen=True, slots=True)
class Held:
    """A test that holds a row."""

    number: int
    file: str  # below tests/
    name: str

    @property
    def sentence(self) -> str:
        return self.name.removeprefix("test_").replace("_", " ")


@cache
def held() -> tuple[Held, ...]:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return tuple(mark for file in files for mark in _marks(file))


def missing() -> list[int]:
    """Rows that no test holds and that do not say why."""
    known = {mark.number for mark in held()}
    return [row.number for row in ROWS if row.number not in known and not row.why_not]


def unknown() -> list[Held]:
    """Marks of rows that there are not."""
    numbers = {row.number for row in ROWS}
    return [mark for mark in held() if mark.number not in numbers]


def table() -> str:
    lines: list[str] = []
    part = ""
    for row in ROWS:
        if row.part != part:
            part = row.part
            lines += [
                "",
                f"### {part}",
                "",
                "| | fault | what holds | tests |",
                "|---|---|---|---|",
            ]
        lines.append(f"| T{row.number} | {row.fault} | {row.holds} | {_shown(row.number)} |")
    return "\n".join(lines[1:]) + "\n"


def page() -> str:
    """The page with the table as it should be."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n{END}{after}"


def _shown(number: int) -> str:
    (row,) = (row for row in ROWS if row.number == number)
    tests = [f"[{mark.sentence}](../tests/{mark.file})" for mark in held() if mark.number == number]
    return "<br>".join([*tests, *([row.why_not] if row.why_not else [])])


def _marks(file: Path) -> Iterator[Held]:
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        if found := MARK.match(ast.get_docstring(node) or ""):
            for number in found[1].split(", "):
                yield Held(int(number[1:]), str(file.relative_to(ROOT / "tests")), node.name)


def main() -> None:
    PAGE.write_text(page())
    sys.stdout.write(f"{len(held())} marks; without a test: {missing() or 'none'}\n")


if __name__ == "__main__":
    main()
