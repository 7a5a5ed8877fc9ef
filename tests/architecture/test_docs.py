"""Docs that lie fail the build."""

import re
from pathlib import Path

import aforesaid
from aforesaid.cli.main import COMMANDS
from tests.support import write_reference

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
COMMAND = re.compile(r"aforesaid ([a-z]+)(?: ([a-z]+))?")


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        for target in LINK.findall(page.read_text()):
            if not target.startswith(("http:", "https:", "mailto:")):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_the_reference_is_what_the_code_says() -> None:
    pages = {
        "cli.md": write_reference.cli_page,
        "settings.md": write_reference.settings_page,
        "mcp.md": write_reference.tools_page,
        "api.md": write_reference.api_page,
        "python.md": write_reference.python_page,
    }
    for name, written in pages.items():
        text = (ROOT / "docs/reference" / name).read_text()
        assert text == written(), f"{name}: run python -m tests.support.write_reference"


def test_every_command_that_is_mentioned_exists() -> None:
    names = {row.name for row in COMMANDS}
    for page in PAGES:
        for code in re.findall(r"`([^`\n]+)`", page.read_text()):
            if found := COMMAND.match(code):
                assert found[1] in names, f"{page.relative_to(ROOT)}: {code}"


def test_the_two_commands_of_the_readme_are_targets() -> None:
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert {"demo", "test"} <= set(re.findall(r"^make (\w+)", readme, re.MULTILINE))


def test_agents_md_stays_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) < 90


def test_the_changelog_knows_this_version() -> None:
    assert f"## {aforesaid.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(page.name[:4]) for page in sorted((ROOT / "docs/adr").glob("[0-9]*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))
