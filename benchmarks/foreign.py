"""Measures which shell commands are known to bring in text that a stranger may have written.

    .venv/bin/python -m benchmarks.foreign --half tune      # lists what is judged wrongly
    .venv/bin/python -m benchmarks.foreign --half report    # counts alone

The commands and their labels are in `foreign_tune.txt` and `foreign_report.txt`; the rule of
labelling is at the top of both.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from aforesaid.provenance.commands import Downloads
from benchmarks.secrets import HALVES

LABELS = ("FOREIGN", "OWN", "AMBIGUOUS")


def commands(half: str) -> list[tuple[str, str]]:
    """Labels and commands of a half."""
    rows = []
    text = Path(__file__).with_name(f"foreign_{half}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            label, _, command = line.partition("\t")
            if label not in LABELS or not command:
                raise ValueError(f"not LABEL<TAB>command: {line!r}")
            rows.append((label, unescape(command)))
    return rows


def unescape(command: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], command)


def measure(half: str) -> dict[str, object]:
    missed, wrong, counts = [], [], dict.fromkeys(LABELS, 0)
    for label, command in commands(half):
        counts[label] += 1
        foreign = Downloads().add_command(command)
        if label == "FOREIGN" and not foreign:
            missed.append(command)
        if label == "OWN" and foreign:
            wrong.append(command)
    return {
        "half": half,
        "foreign": counts["FOREIGN"],
        "recognised": counts["FOREIGN"] - len(missed),
        "recognised_percent": round(100 * (1 - len(missed) / counts["FOREIGN"]), 1),
        "own": counts["OWN"],
        "wrongly_recognised": len(wrong),
        "wrongly_recognised_percent": round(100 * len(wrong) / counts["OWN"], 1),
        "missed": missed,
        "wrong": wrong,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the detector of foreign text.")
    parser.add_argument("--half", choices=HALVES, default="tune")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", action="store_true", help="list errors of the half `report`, too")
    options = parser.parse_args()
    answer = measure(options.half)
    if options.half == "report" and not options.show:
        answer = {key: value for key, value in answer.items() if key not in ("missed", "wrong")}
    if options.json:
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
        return
    for key, value in answer.items():
        if isinstance(value, list):
            sys.stdout.writelines(f"{key}: {command!r}\n" for command in value)
        else:
            sys.stdout.write(f"{key}: {value}\n")


if __name__ == "__main__":
    main()
