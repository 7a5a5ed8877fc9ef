"""Docs that lie fail the build."""

import re
from pathlib import Path

import pytest

import recollect
from recollect.cli.main import COMMANDS
from tests.support import write_reference

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
COMMAND = re.compile(r"recollect ([a-z]+)(?: ([a-z]+))?")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("cli.md", write_reference.cli_page),
        ("settings.md", write_reference.settings_page),
        ("mcp.md", write_reference.tools_page),
        ("api.md", write_reference.api_page),
        ("python.md", write_reference.python_page),
    ],
)
def test_the_reference_is_what_the_code_says(name: str, written: object) -> None:
    assert callable(written)
    text = (ROOT / "docs/reference" / name).read_text()
    assert text == written(), "run: python -m tests.support.write_reference"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_is_mentioned_exists(page: Path) -> None:
    names = {row.name for row in COMMANDS}
    for code in re.findall(r"`([^`\n]+)`", page.read_text()):
        found = COMMAND.match(code)
        if found:
            assert found[1] in names, code


def test_the_two_commands_of_the_readme_are_targets() -> None:
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert {"demo", "test"} <= set(re.findall(r"^make (\w+)", readme, re.MULTILINE))


def test_agents_md_stays_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) < 90


def test_the_changelog_knows_this_version() -> None:
    assert f"## {recollect.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(page.name[:4]) for page in sorted((ROOT / "docs/adr").glob("[0-9]*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))
