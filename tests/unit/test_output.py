"""How commands speak: numbers as people say them, and tables that can be read in any terminal."""

import pytest

from aforesaid.cli.output import (
    LEAST,
    break_words,
    cell_width,
    duration,
    fit_columns,
    table,
    wrap,
)
from aforesaid.english import count
from tests.support.tables import loop_over

SESSIONS = ("session", "when", "project", "state", "prompts", "title")
SESSION = ("0b5f3c1e", "2026-10-08 14:50", "tidepool-web", "interrupted", "3", "Please mend " * 6)
WHY = ("when", "hook", "id", "title", "why", "tokens")
TOLD = ("2026-10-08 14:50", "context", "7d21aa90", "Steel valve " * 5, "near to it " * 7, "1,300")
FILES = ("file", "observations", "changed by", "when")
FILE = ("crates/kestrel-core/src/segment.rs", "17", "9", "2026-10-08 14:50")
NUMBERS = ("observations", "changed by", "tokens", "prompts")
TABLES = [(SESSIONS, SESSION), (WHY, TOLD), (FILES, FILE)]


@loop_over(
    ("seconds", "told"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (12.4, "12 s"),
        (60, "1 min 0 s"),
        (200.2, "3 min 20 s"),
        (3_900, "1 h 5 min"),
    ],
)
def test_a_duration_is_told_as_exactly_as_it_matters(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_a_count_has_its_plural() -> None:
    assert [count(n, "summary") for n in (0, 1, 2_000)] == [
        "0 summaries",
        "1 summary",
        "2,000 summaries",
    ]


@pytest.mark.parametrize(("columns", "row"), TABLES)
@pytest.mark.parametrize("width", [30, 40, 50, 60, 80, 120])
def test_a_table_fits_and_nothing_is_missing_or_shredded(
    columns: tuple[str, ...],
    row: tuple[str, ...],
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    table(columns, [row], numbers=NUMBERS)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    said = "".join("".join(lines).split())
    for name, cell in zip(columns, row, strict=True):
        assert all(word in said for word in name.split()), name
        if len(cell) < LEAST:
            assert cell in "\n".join(lines)
    assert len(lines) < 25  # not a letter each


@pytest.mark.parametrize(("columns", "row"), TABLES[:2])
def test_at_eighty_columns_there_is_a_table(columns: tuple[str, ...], row: tuple[str, ...]) -> None:
    widths = fit_columns(columns, [row], 80 - 2 * (len(columns) - 1), NUMBERS)
    assert widths is not None
    for name, cell, width in zip(columns, row, widths, strict=True):
        assert width >= min(len(cell), 10 if name == "when" else LEAST), name


def test_a_table_with_room_is_as_wide_as_its_cells() -> None:
    assert fit_columns(FILES, [FILE], 120, NUMBERS) == [34, 12, 10, 16]
    assert fit_columns(FILES, [FILE], 72, NUMBERS) == [34, 12, 10, 16]
    assert fit_columns(FILES, [FILE], 55, NUMBERS) == [23, 12, 10, 10]
    assert fit_columns(FILES, [FILE], 40, NUMBERS) is None
    assert fit_columns(FILES, [], 40, NUMBERS) == [4, 12, 10, 4]


def test_a_pipe_breaks_no_cell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    row = ("decided-keep-money-as-integer-cents-everywhere-never", "project", "word " * 60)
    table(("name", "type", "about"), [row])
    _, line = capsys.readouterr().out.splitlines()
    assert row[0] in line.split()
    assert line.endswith(row[2].strip())


def test_wide_characters_take_two_cells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table(("id", "title", "n"), [("#1", "\u8a18" * 40, "3")], numbers=("n",))
    lines = capsys.readouterr().out.splitlines()
    assert "".join(lines).count("\u8a18") == 40
    assert all(cell_width(line) <= 40 for line in lines)


@pytest.mark.parametrize("width", [20, 60, 100])
def test_a_line_is_wrapped_between_words_and_keeps_its_indent(width: int) -> None:
    text = (
        "  - " + "Please mend the importer of /var/lib/a/very/long/path/that/stays/whole now " * 3
    )
    lines = wrap(text, width).split("\n")
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    assert all(line.startswith("    ") for line in lines[1:])
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)


def test_a_word_in_a_table_is_broken_where_it_can_be_read() -> None:
    name = "decided-keep-money-as-integer-cents"
    assert break_words(f"see {name} now", 12).split("\n") == [
        "see decided-",
        "keep-money-",
        "as-integer-",
        "cents now",
    ]
