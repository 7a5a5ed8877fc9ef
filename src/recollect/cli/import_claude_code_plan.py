"""What an import of transcripts comes to, in words: before it (`--dry-run`) and after it."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from recollect import clock, wiring
from recollect.cli.output import count, print_json, say, styled, table
from recollect.cli.progress import bar
from recollect.model.requests import Usage
from recollect.model.tallies import Tally
from recollect.synthesis.prices import Prices
from recollect.worker import import_plan
from recollect.worker.import_plan import Gain, Plan
from recollect.worker.selection import Selection

Json = dict[str, Any]
WELL_KNOWN = ("claude-haiku-4-5", "claude-haiku-5-5", "claude-sonnet-5-5", "gpt-5-mini")
MILLION = 1_000_000
NAMED = 3  # files that cannot be read


def tell_plan(home: wiring.Home, selection: Selection, what: str, as_json: bool) -> None:
    choice = wiring.provider(home, clock.now)
    with bar("Counting", quiet=as_json) as show:
        plan = import_plan.plan(home, choice, selection.chosen, clock.now, show)
    costs = _costs(home, choice, plan)
    if as_json:
        needs = {name: getattr(plan.needs, name) for name in ("requests", "sent", "received")}
        print_json(
            {"dry_run": True}
            | as_values(plan.gain, selection, plan.faulty)
            | {"observations": asdict(plan.expected), "needs": needs, "costs": costs}
        )
        return
    tell_gain("New would be", plan.gain, selection, what)
    tell_unreadable(selection, plan.faulty)
    if plan.gain.all != Tally():
        _tell_needs(plan, costs)
    say("Nothing was changed.")


def as_values(gain: Gain, selection: Selection, faulty: list[str]) -> Json:
    """`faulty`: transcripts of which something could not be read; `unreadable`: all of it."""
    return {
        "new": asdict(gain.all),
        "grown": gain.grown.sessions,
        "known": gain.known,
        "empty": gain.empty + selection.empty,
        "faulty": faulty,
        "unreadable": {file.path: file.fault for file in selection.unreadable},
        "folder": str(selection.folder),
        "found": selection.found,
    }


def tell_gain(label: str, gain: Gain, selection: Selection, what: str) -> None:
    """`what`: the transcripts that were asked for, such as `of project shop`."""
    if not selection.chosen:
        say(f"{label}: nothing. {_where(selection, what)}")
        return
    said = [_told(gain.new)] if gain.new.sessions else []
    if gain.grown.sessions:
        more, sessions = gain.grown.sessions, count(gain.grown.sessions, "known session")
        part = _told(gain.grown.since(Tally(sessions=more)))
        said.append(f"{part or 'more to work up'} in {sessions}")
    say(f"{label}: {'; '.join(said) or 'nothing'}.")
    if gain.known:
        say(f"{count(gain.known, 'session')} here already.")
    if empty := gain.empty + selection.empty:
        say(f"{count(empty, 'transcript')} without anything to tell.")


def _told(added: Tally) -> str:
    parts = ((added.sessions, "session"), (added.prompts, "prompt"), (added.events, "event"))
    return ", ".join(count(number, noun) for number, noun in parts if number)


def _where(selection: Selection, what: str) -> str:
    folder = selection.folder
    if not selection.found:
        missing = "" if folder.is_dir() else ", which is not there"
        return (
            f"There are no transcripts in {folder}{missing}. Claude Code keeps them there, or in `projects` "
            "below CLAUDE_CONFIG_DIR."
        )
    have = count(selection.found, "transcript")
    if not what:
        return f"Of the {have} in {folder} none tells of a session."
    return f"Of the {have} in {folder} none is {what}."


def tell_unreadable(selection: Selection, faulty: list[str]) -> None:
    if files := selection.unreadable:
        _warn(f"{count(len(files), 'transcript')} cannot be read:")
        _name([f"{file.path}: {file.fault}" for file in files])
    if faulty:
        _warn(
            f"{count(len(faulty), 'transcript')} could not be read whole; what can be read is taken:"
        )
        _name(faulty)


def _name(files: list[str]) -> None:
    for file in files[:NAMED]:
        _warn(f"  {file}")
    if len(files) > NAMED:
        _warn(f"  and {len(files) - NAMED} more (--json names all)")


def _warn(told: str) -> None:
    say(styled(told, fg="yellow"))


def _tell_needs(plan: Plan, costs: list[Json]) -> None:
    added, hoped, needs = plan.gain.all, plan.expected, plan.needs
    say(
        f"To be worked up: {count(added.turns, 'turn')}, in {count(added.parts, 'part')} to observe and "
        f"{count(added.summaries, 'summary')}."
    )
    number = f"{hoped.low:,} to {hoped.high:,}" if hoped.low < hoped.high else f"{hoped.high:,}"
    say(f"Observations to expect: {number if hoped.high else 'none'} ({hoped.basis}).")
    say(
        f"With a model, about {count(needs.requests, 'request')}: {needs.sent:,} tokens sent and "
        f"{needs.received:,} received."
    )
    rows = [
        (cost["provider"], "in force" if cost["in_force"] else "", _dollars(cost["dollars"]))
        for cost in costs
    ]
    table(("provider", "", "about dollars"), rows, numbers=("about dollars",))


def _costs(home: wiring.Home, choice: wiring.Choice, plan: Plan) -> list[Json]:
    """At list prices, without what providers take off for what they have read before."""
    usage = Usage(plan.needs.sent, 0, 0, plan.needs.received)
    prices = choice.terms.prices if choice.terms else Prices.of(home.settings.names("cost.prices"))
    rows = [{"provider": "rules", "in_force": choice.model is None, "dollars": 0.0}]
    if choice.model is not None:
        name = f"{choice.model.name}/{choice.model.model}"
        cost = prices.microdollars(choice.model.model, usage)
        rows.append({"provider": name, "in_force": True, "dollars": _amount(cost)})
    listed = Prices.of(home.settings.names("cost.prices"))
    for model in WELL_KNOWN:
        if choice.model is None or choice.model.model != model:
            cost = listed.microdollars(model, usage)
            rows.append({"provider": model, "in_force": False, "dollars": _amount(cost)})
    return rows


def _amount(microdollars: int | None) -> float | None:
    return None if microdollars is None else microdollars / MILLION


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:,.2f}"


def asked_for(project: str | None, since: int | None) -> str:
    place = ""
    if project is not None:
        folder = Path(project).expanduser().absolute()
        place = (
            f"of the project in {folder}" if folder.is_dir() or "/" in project else f"of {project}"
        )
    time = f"written to since {clock.day_and_time(since)}" if since is not None else ""
    return " and ".join(filter(None, (place, time)))
