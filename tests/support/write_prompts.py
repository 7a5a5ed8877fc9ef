"""Writes tests/fixtures/prompts, what a model is sent. Run: python -m tests.support.write_prompts

A change of the wording is a new `VERSION` in synthesis/prompt.py: what was written with the old one can
then be told apart. `--same-version` is for a version that nobody has used yet.
"""

import json
import os
import sys
import time
from dataclasses import replace
from importlib import resources
from pathlib import Path

from aforesaid import synthesis
from aforesaid.ids import digest
from aforesaid.model.events import Subagent
from aforesaid.model.observations import ObservationDraft, Turn
from aforesaid.model.requests import Request
from aforesaid.synthesis import prompt
from aforesaid.synthesis.prompt import Style
from tests.support.observed import GREEN, MENDED, PRICING, RED
from tests.support.turns import by, edited, failed, ran, read, turn, wrote

FOLDER = Path(__file__).parents[1] / "fixtures" / "prompts"
VERSIONS = FOLDER / "versions.json"
STYLES = {
    "system-minimal": Style("minimal"),
    "system-normal": Style(),
    "system-verbose": Style("verbose"),
    "system-german-with-skip-rules": Style(
        language="German", skip=("formatting by the linter", "the daily version bump")
    ),
}
WORK = replace(
    turn(
        "The bulk discount is far too high, please mend it and add a test",
        read("shop/pricing.py", PRICING),
        read("shop/pricing.py", PRICING),
        failed("pytest -q", RED),
        *by(
            Subagent("a1", "Explore"),
            ran(
                "git log --oneline",
                "a1b2c3 A price list, a till and a clerk who knows them all by heart\n" * 60,
            ),
            said="One commit.",
        ),
        edited("shop/pricing.py", PRICING, MENDED),
        wrote(
            "tests/test_bulk.py", "def test_bulk():\n    assert apply_discount(90, 'BULK') == 81\n"
        ),
        ran("pytest -q", GREEN),
        said="The discount was multiplied instead of subtracted. Next I would check the voucher codes.",
        number=3,
        recorded=("Shop has a price list", "Vouchers expire after a year"),
    ),
    goal="Build a small shop with discounts",
    observed=(
        ObservationDraft(
            "bugfix",
            "Bulk discount subtracts its rate",
            facts=("apply_discount returned the rate.",),
        ),
    ),
)
LOOKED = turn("What is in here?", ran("ls", "shop\ntests"), interrupted=True)
CHATTER = "Sure! The discount was wrong & I think 1 < 2 now."


def snapshots() -> dict[str, str]:
    """By the name of the file. Times are told in UTC."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    observe = prompt.observe(WORK, Style(), 6_000)
    return {
        **{f"{name}.md": prompt.system(style) for name, style in STYLES.items()},
        "observe.md": _whole(observe),
        "observe-nothing-changed.md": prompt.observe(LOOKED, Style(), 6_000).message,
        "observe-cut-short.md": prompt.observe(_long(), Style(), 500).message,
        "summarize.md": _whole(prompt.summarize(WORK, Style())),
        "repair.md": prompt.repair(observe, CHATTER, "observe", prompt.UNREADABLE).message,
        "repair-of-an-empty-summary.md": prompt.repair(
            prompt.summarize(LOOKED, Style()), "", "summarize", prompt.UNREADABLE
        ).message,
    }


def wording() -> str:
    """One digest of all that is ours in a request."""
    folder = resources.files(synthesis).joinpath("prompts")
    files = sorted((file.name, file.read_text("utf-8")) for file in folder.iterdir())
    constants = (
        prompt.AMOUNTS,
        prompt.NARRATIVES,
        prompt.CHANGED,
        prompt.UNCHANGED,
        prompt.FORMS,
    )
    return digest(json.dumps([files, constants], sort_keys=True), 32)


def versions() -> dict[str, str]:
    """The wording of each version that there has been."""
    found: dict[str, str] = json.loads(VERSIONS.read_text("utf-8")) if VERSIONS.exists() else {}
    return found


def main(arguments: list[str]) -> int:
    known = versions()
    if known.get(prompt.VERSION, wording()) != wording() and "--same-version" not in arguments:
        sys.stderr.write(
            f"The prompts have changed since {prompt.VERSION}. Raise VERSION in "
            "synthesis/prompt.py and run this again.\n"
        )
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = snapshots()
    for stale in {file.name for file in FOLDER.glob("*.md")} - set(texts):
        (FOLDER / stale).unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text + "\n", "utf-8")
    known[prompt.VERSION] = wording()
    VERSIONS.write_text(json.dumps(known, indent=2) + "\n", "utf-8")
    return 0


def _long() -> Turn:
    steps = [ran(f"make step-{n}", f"step {n} says something\n" * 200) for n in range(40)]
    return turn("Run every step", *steps, said="All of them ran.")


def _whole(request: Request) -> str:
    parts = [("SYSTEM", request.system)]
    for asked, answered in request.examples:
        parts += [("EXAMPLE, ASKED", asked), ("EXAMPLE, ANSWERED", answered)]
    parts.append((f"MESSAGE, AT MOST {request.most_tokens} TOKENS IN REPLY", request.message))
    return "\n\n".join(f"===== {name} =====\n{text}" for name, text in parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
