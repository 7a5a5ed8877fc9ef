"""Measures the redactor: secrets removed whole, false hits in ordinary text, time.

    .venv/bin/python -m benchmarks.redaction --half tune            # lists what fails
    .venv/bin/python -m benchmarks.redaction --half report          # counts alone
    .venv/bin/python -m benchmarks.redaction --half report --json

A secret is removed whole if no piece of it of 6 characters is left (12 for a line of a private key),
public prefixes such as `ghp_` aside. Rules are tuned on the half `tune`, on any seed; figures in
documents come from the half `report`. Ordinary text is what the machine has: sources, bundles, lock
files, logs, documentation, and transcripts that are named; the hash of a file's path decides its half.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aforesaid.agents.registry import FIELDS
from aforesaid.privacy import payloads
from aforesaid.privacy.redactor import Redactor
from benchmarks.secrets import HALVES, Kind, Sample, half_of, samples

MARK = re.compile(r"\[secret:[^\]\n]{1,80}\]")
LARGEST_FILE = 2_000_000
LONGEST_EXCERPT = 160


@dataclass
class KindResult:
    name: str
    area: str
    group: str
    values: int = 0
    whole: int = 0
    example: str = ""  # a text whose secret is not removed whole
    left: str = ""  # and what is left of it


@dataclass
class CorpusResult:
    name: str
    files: int = 0
    size: int = 0
    hits: int = 0
    seconds: float = 0.0
    found: list[dict[str, str]] = field(default_factory=list)


def group_of(kind: Kind) -> str:
    if not kind.in_scope:
        return "out of scope"
    return "weak" if kind.area == "weak" else "in scope"


def measure_secrets(half: str, seed: int, per_kind: int) -> list[KindResult]:
    redactor = Redactor(fields=FIELDS)
    results: dict[str, KindResult] = {}
    for kind, sample in samples(half, seed, per_kind):
        result = results.setdefault(kind.name, KindResult(kind.name, kind.area, group_of(kind)))
        result.values += 1
        output = redact(redactor, sample)
        left = sample.left_in(output)
        if left is None:
            result.whole += 1
        elif not result.example:
            result.left = left
            result.example = excerpt(output, left)
    return list(results.values())


def redact(redactor: Redactor, sample: Sample) -> str:
    if sample.payload:
        return payloads.redacted(redactor, sample.text.encode()).decode()
    return redactor.text(sample.text)


def excerpt(output: str, left: str) -> str:
    start = max(0, output.find(left) - LONGEST_EXCERPT // 2)
    return output[start : start + LONGEST_EXCERPT]


# --- ordinary text -------------------------------------------------------------------------------

LOCKS = (
    "package-lock.json",
    "yarn.lock",
    "Cargo.lock",
    "go.sum",
    "uv.lock",
    "poetry.lock",
    "RECORD",
)


def corpus_of(path: Path, library: Path, packages: Path) -> str | None:
    """Which kind of ordinary text a file is."""
    path = path.with_suffix("") if path.suffix == ".gz" else path
    name = path.name
    if name.endswith(LOCKS) or (name.endswith(".lock") and "." in name[:-5]):
        return "lock files"
    if ".min." in name and path.suffix in (".js", ".css", ".mjs"):
        return "minified"
    if path.suffix == ".py":
        if packages in path.parents:
            return "packages"
        return "library" if library in path.parents else None
    if path.suffix in (".js", ".mjs", ".ts"):
        return "javascript"
    if path.suffix == ".log" or Path("/var/log") in path.parents:
        return "logs"
    if path.suffix in (".md", ".rst", ".html", ".txt"):
        return "documentation"
    return None


def files(roots: list[Path]) -> Iterator[Path]:
    for root in roots:
        if root.is_file():
            yield root
        for folder, _, names in os.walk(root):
            yield from (Path(folder, name) for name in names)


def ordinary_files(half: str, limit: int, transcripts: list[Path]) -> dict[str, list[Path]]:
    """Files of a half by kind of text, each kind up to a size, in the order of their hashes."""
    library, packages = (Path(sysconfig.get_paths()[key]) for key in ("stdlib", "purelib"))
    home = Path.home()
    roots = [library, packages, Path("/usr/lib/node_modules"), Path("/usr/share"), Path("/var/log")]
    roots += [home / ".npm/_logs", home / ".cargo/registry", home / ".rustup"]
    found: dict[str, set[Path]] = {}
    for path in files(roots):
        kind = corpus_of(path, library, packages)
        if kind is not None and half_of(str(path)) == half:
            found.setdefault(kind, set()).add(path)
    for path in files(transcripts):
        if path.suffix in (".jsonl", ".json", ".txt", ".md") and half_of(str(path)) == half:
            found.setdefault("transcripts", set()).add(path)
    return {kind: list(up_to(limit, paths)) for kind, paths in sorted(found.items())}


def up_to(limit: int, paths: set[Path]) -> Iterator[Path]:
    total = 0
    for path in sorted(paths, key=lambda path: hash_key(str(path))):
        try:
            size = path.stat().st_size
        except OSError:
            continue
        if path.suffix != ".jsonl" and size > LARGEST_FILE:
            continue
        if total >= limit:
            return
        total += size
        yield path


def hash_key(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()


def measure_ordinary(half: str, limit: int, transcripts: list[Path]) -> list[CorpusResult]:
    redactor = Redactor(fields=FIELDS)
    results = []
    for name, paths in ordinary_files(half, limit, transcripts).items():
        result = CorpusResult(name)
        for path in paths:
            text = read(path)
            if text is None or "PRIVATE KEY-----" in text:
                continue  # keys of tests are right to be removed
            began = time.perf_counter()
            output = redactor.text(text)
            result.seconds += time.perf_counter() - began
            result.files += 1
            result.size += len(text.encode())
            hits = list(hits_in(text, output))
            result.hits += len(hits)
            result.found += [{"file": str(path), **hit} for hit in hits]
        results.append(result)
    return results


def read(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, UnicodeDecodeError, EOFError):
        return None


def hits_in(text: str, output: str) -> Iterator[dict[str, str]]:
    """What the redactor replaced, with the text around it."""
    if text == output:
        return
    pieces = MARK.split(output)
    marks = MARK.findall(output)
    at = len(pieces[0])
    for mark, following in zip(marks, pieces[1:], strict=True):
        if text.startswith(mark, at):  # the text had this mark before
            at += len(mark) + len(following)
            continue
        end = text.find(following, at) if following else len(text)
        end = end if end >= 0 else at
        yield {"mark": mark, "removed": text[at:end][:200], "before": text[max(0, at - 60) : at]}
        at = end + len(following)


# --- the report ----------------------------------------------------------------------------------


def totals(results: list[KindResult]) -> dict[str, dict[str, float]]:
    groups: dict[str, list[KindResult]] = {
        "in scope": [],
        "weak": [],
        "out of scope": [],
        "all": results,
    }
    for result in results:
        groups[result.group].append(result)
    return {name: total(rows) for name, rows in groups.items()}


def total(rows: list[KindResult]) -> dict[str, float]:
    values, whole = sum(row.values for row in rows), sum(row.whole for row in rows)
    return {
        "kinds": len(rows),
        "kinds_whole": sum(row.whole == row.values for row in rows),
        "values": values,
        "whole": whole,
        "percent": round(100 * whole / values, 1) if values else 0.0,
    }


def by_area(results: list[KindResult]) -> dict[str, dict[str, float]]:
    areas: dict[str, list[KindResult]] = {}
    for result in results:
        areas.setdefault(result.area, []).append(result)
    return {area: total(rows) for area, rows in areas.items()}


def corpus_row(result: CorpusResult) -> dict[str, Any]:
    size = result.size / 1e6
    return {
        "files": result.files,
        "mb": round(size, 2),
        "hits": result.hits,
        "hits_per_mb": round(result.hits / size, 2) if size else 0.0,
        "ms_per_mb": round(result.seconds * 1000 / size, 1) if size else 0.0,
    }


def report(options: argparse.Namespace) -> dict[str, Any]:
    shown = options.half == "tune" or options.show
    answer: dict[str, Any] = {"half": options.half, "seed": options.seed}
    if not options.no_secrets:
        results = measure_secrets(options.half, options.seed, options.per_kind)
        answer |= {"totals": totals(results), "areas": by_area(results)}
        if shown:
            failing = [asdict(result) for result in results if result.whole < result.values]
            answer["failing"] = sorted(failing, key=lambda row: row["whole"] / row["values"])
    if not options.no_corpora:
        corpora = measure_ordinary(options.half, int(options.mb * 1e6), options.transcripts)
        everything = CorpusResult("all")
        for corpus in corpora:
            everything.files += corpus.files
            everything.size += corpus.size
            everything.hits += corpus.hits
            everything.seconds += corpus.seconds
        answer["corpora"] = {corpus.name: corpus_row(corpus) for corpus in [*corpora, everything]}
        if shown:
            answer["hits"] = [{"corpus": c.name, **hit} for c in corpora for hit in c.found]
    return answer


def lines(answer: dict[str, Any]) -> Iterator[str]:
    yield f"half {answer['half']}, seed {answer['seed']}"
    for title in ("totals", "areas"):
        if title in answer:
            yield f"\n{title:14} {'kinds':>6} {'whole':>6} {'values':>7} {'whole':>6} {'%':>6}"
            for name, row in answer[title].items():
                yield (
                    f"{name:14} {row['kinds']:6} {row['kinds_whole']:6} {row['values']:7} "
                    f"{row['whole']:6} {row['percent']:6}"
                )
    if "corpora" in answer:
        yield f"\n{'ordinary text':14} {'files':>6} {'MB':>7} {'hits':>6} {'per MB':>7} {'ms/MB':>7}"
        for name, row in answer["corpora"].items():
            yield (
                f"{name:14} {row['files']:6} {row['mb']:7} {row['hits']:6} "
                f"{row['hits_per_mb']:7} {row['ms_per_mb']:7}"
            )
    for row in answer.get("failing", ()):
        yield f"\n{row['name']} ({row['area']}): {row['whole']} of {row['values']} whole"
        yield f"    left {row['left']!r} in {row['example']!r}"
    for row in answer.get("hits", ()):
        yield f"\n{row['corpus']} {row['file']}: {row['mark']}"
        yield f"    {row['before']!r} >>> {row['removed']!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the redactor.")
    parser.add_argument("--half", choices=HALVES, default="tune")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-kind", type=int, default=20, help="texts of each kind")
    parser.add_argument("--mb", type=float, default=3.0, help="ordinary text of each kind, at most")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--show", action="store_true", help="list failures of the half `report`, too"
    )
    parser.add_argument("--no-secrets", action="store_true")
    parser.add_argument("--no-corpora", action="store_true")
    parser.add_argument(
        "transcripts", nargs="*", type=Path, help="more ordinary text: files, folders"
    )
    answer = report(options := parser.parse_args())
    text = json.dumps(answer, ensure_ascii=False) if options.json else "\n".join(lines(answer))
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
