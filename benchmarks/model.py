"""How good a real model is at this: a recorded session, replayed in short turns through the real product.

Prints shares and costs. Only a person can say which facts are true, so every fact is written to a report
beside the events that it should rest on. Takes an hour with a small model on a laptop: run it by name.
"""

import time
from pathlib import Path

from aforesaid import clock
from aforesaid.agents.registry import AGENTS
from aforesaid.model.events import Arrival, Event
from aforesaid.model.observations import Observation, ObservationDraft, Turn, TurnEvent
from aforesaid.model.requests import REPAIR
from aforesaid.model.sessions import Session
from aforesaid.store.store import Store
from aforesaid.synthesis.turn import render_events
from benchmarks import served, table, tokens, transcript

STRETCH = 7  # tool calls: what a person asks for in one prompt
REQUEST_TOKENS = "1600"  # a small model on a processor reads about fifty tokens a second
PRONOUNS = ("it ", "this ", "they ", "these ", "that ", "its ", "their ")
REPORTED_TOKENS = 6_000


def run(
    *, quick: bool, file: Path | None, endpoint: str | None, report: Path, turns: int
) -> list[table.Table]:
    if file is None or endpoint is None:
        made = table.Table("A real model", ("",))
        made.notes.append("Left out: name --transcript FILE and --endpoint URL.")
        return [made]
    root = transcript.directory(file)
    found = transcript.events(transcript.in_stretches(file, STRETCH), root)
    with tokens.replayed(root) as (store, project):
        choice = served.choice(endpoint, request_tokens=REQUEST_TOKENS)
        work = tokens.runner(store, choice)
        for capture, event in found:
            store.events.add([Arrival(capture, event, project, False)], capture.at)
            if store.sessions.recent(None, 1)[0].prompts > (2 if quick else turns):
                break
        began = clock.now()

        def written_down() -> bool:
            """After each job: an hour's work must not go with an interruption."""
            report.write_text(f"{_table(store, began, report).text()}\n{_report(store)}", "utf-8")
            return True

        while (due := store.jobs.next_due()) is not None:
            time.sleep(max(0, due - clock.now()) / 1000)  # a server that was away for a moment
            work.run_due(written_down)
        written_down()
        return [_table(store, began, report)]


def _table(store: Store, began: int, report: Path) -> table.Table:
    observations = _observations(store)
    asked = {row.label: row for row in store.requests.spent_by("purpose", 0, clock.now())}
    first = sum(row.requests for name, row in asked.items() if name != REPAIR)
    repaired = asked[REPAIR].requests if REPAIR in asked else 0
    turns = max(
        1, sum(len(store.summaries.for_session(s.id)) for s in store.sessions.recent(None, 9))
    )
    took = (clock.now() - began) / 1000
    facts = [(o.draft, n) for o in observations for n in range(len(o.draft.facts))]
    doubted = sum(_is_doubted(draft, number) for draft, number in facts)
    total = store.requests.spent(0, clock.now())
    made = table.Table(f"A real model on {turns} turns", ("", "value", "aim"))
    made.add("replies that parse without repair", table.share(first - repaired, first), ">= 95 %")
    formed = sum(obeys_form(o.draft) for o in observations)
    made.add("observations in the house form", table.share(formed, len(observations)), ">= 80 %")
    made.add("observations", f"{len(observations)}", "")
    made.add("facts", f"{len(facts)}", "")
    made.add("facts marked unverified", table.share(doubted, len(facts)), "")
    made.add("jobs given up", f"{len(store.jobs.skipped())}", "0")
    made.add("input tokens per turn", f"{total.sent / turns:,.0f}", "")
    made.add("output tokens per turn", f"{total.received / turns:,.0f}", "")
    made.add("seconds per turn", f"{took / turns:.0f}", "")
    made.notes.append(f"Read {report}: which facts are true is for a person to say.")
    return made


def obeys_form(draft: ObservationDraft) -> bool:
    """Title, subtitle and facts as they should be (C3)."""
    return (
        3 <= len((draft.title or "").split()) <= 8
        and 0 < len((draft.subtitle or "").split()) <= 24
        and 3 <= len(draft.facts) <= 7
        and all(50 <= len(fact) <= 150 for fact in draft.facts)
        and not any(fact.lower().startswith(PRONOUNS) for fact in draft.facts)
    )


def _report(store: Store) -> str:
    """Each observation and summary under the events it was written from."""
    lines = []
    for session in store.sessions.recent(None, 9):
        observations = store.observations.for_session(session.id)
        summaries = {s.prompt_number: s for s in store.summaries.for_session(session.id)}
        for prompt in store.sessions.prompts(session.id):
            turn = _turn(store, session, prompt.number)
            lines += [f"# Turn {prompt.number}", render_events(turn, REPORTED_TOKENS), ""]
            for observation in observations:
                if observation.prompt_number == prompt.number:
                    lines += _told(observation)
            if summary := summaries.get(prompt.number):
                lines += [f"SUMMARY {summary.draft}", ""]
    return "\n".join(lines)


def _told(observation: Observation) -> list[str]:
    draft = observation.draft
    doubts = {doubt.part: doubt.reason for doubt in draft.doubts}
    form = "" if obeys_form(draft) else " (not in form)"
    lines = [f"## [{draft.type}] {draft.title} / {draft.subtitle}{form}"]
    for number, fact in enumerate(draft.facts):
        doubt = doubts.get(f"facts {number}")
        lines.append(f"- {'?' if doubt else ' '} {fact}" + (f"  << {doubt}" if doubt else ""))
    others = {part: why for part, why in doubts.items() if not part.startswith("facts")}
    return [*lines, f"  narrative: {draft.narrative}", f"  doubts: {others}", ""]


def _turn(store: Store, session: Session, number: int) -> Turn:
    events = []
    for row in store.events.for_prompt(session.id, number):
        event = AGENTS[session.agent].parse(row.capture)
        if row.kind == "tool" and isinstance(event, Event):
            events.append(TurnEvent(row.id, row.at, event))
    root = session.project_dir
    return Turn("", root, session.ref, number, None, 0, tuple(events), (), (), None, False)


def _observations(store: Store) -> list[Observation]:
    return [o for s in store.sessions.recent(None, 9) for o in store.observations.for_session(s.id)]


def _is_doubted(draft: ObservationDraft, number: int) -> bool:
    return any(doubt.part == f"facts {number}" for doubt in draft.doubts)
