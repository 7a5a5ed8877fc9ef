"""`recollect doctor`: what works, what does not, and what to do about it."""

from dataclasses import asdict

import click

from recollect import __version__
from recollect.cli import doctor_checks, doctor_proof
from recollect.cli.findings import Check, Finding
from recollect.cli.output import count, json_option, print_json, say, styled
from recollect.errors import RecollectError

MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "fault": ("✗", "red")}


@click.command()
@click.option("--quick", is_flag=True, help="Look only; do not send a synthetic event through.")
@json_option
def doctor(quick: bool, as_json: bool) -> None:
    """Check everything, then send a synthetic session through the real hooks and remove it again.

    Exit code 4 when there is a fault.
    """
    findings: list[Finding] = []
    for check in doctor_checks.CHECKS:
        found = _run(check)
        findings += found
        if not as_json:
            _print(found)
    faulty = any(f.level == "fault" for f in findings)
    if not quick and not faulty:
        found = _run(doctor_proof.whole_path)
        findings += found
        if not as_json:
            _print(found)
    elif not quick and not as_json:
        say(styled("- whole path: not tried, mend the faults above first", dim=True))
    faults = sum(f.level == "fault" for f in findings)
    if as_json:
        print_json({"version": __version__, "findings": [asdict(f) for f in findings]})
    elif faults:
        say(styled(f"\n{count(faults, 'fault')} found.", fg="red"))
    else:
        say(styled("\nNo faults found." if quick else "\nMemory works.", fg="green"))
    if faults:
        raise SystemExit(4)


def _run(check: Check) -> list[Finding]:
    try:
        return list(check())
    except (RecollectError, OSError) as error:
        return [Finding("fault", check.__name__.replace("_", " "), str(error))]


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        mark, colour = MARKS[finding.level]
        say(f"{styled(mark, fg=colour)} {finding.what}: {styled(finding.detail)}")
        if finding.fix:
            say(f"    {styled('Fix:', bold=True)} {finding.fix}")
