"""`recollect show`: one thing by its name, or one session with all it left."""

from collections.abc import Iterator
from dataclasses import asdict

import click

from recollect import clock
from recollect.cli import memory_places, places, things
from recollect.cli.memory import print_memory
from recollect.cli.output import (
    TYPE_COLOURS,
    heading,
    json_option,
    print_json,
    say,
    styled,
    wrapped,
)
from recollect.model.memories import MEMORY
from recollect.model.observations import Author, Observation, Summary
from recollect.model.search import OBSERVATION, SESSION
from recollect.model.sessions import Session
from recollect.recall.origin_words import provenance
from recollect.recall.shown import Shown, short_id
from recollect.recall.telling import FULL, LEVELS, TITLE, told
from recollect.store.protocol import Reading


@click.command()
@click.argument("what", metavar="ID", shell_complete=places.completing(places.anything))
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default=FULL,
    show_default=True,
    help="How much of it.",
)
@json_option
def show(what: str, level: str, as_json: bool) -> None:
    """Show observation ID (a number such as 12 or #12), or session ID (its first letters are enough).

    What a search found otherwise is shown by its name too: summary:7, prompt:3, event:9,
    memory:NAME.
    """
    if what.startswith(f"{MEMORY}:"):
        from recollect.memory import curating

        name = what.removeprefix(f"{MEMORY}:")
        print_memory(curating.named(memory_places.here(), name), as_json)
        return
    store = places.store()
    kind, number = things.named(store, what)
    session = store.session(number) if kind == SESSION else None
    if kind == OBSERVATION:
        _show_observation(store, number, level, as_json)
    elif session is not None and level == FULL:
        _show_session(store, session, as_json)
    else:
        _show_text(store, kind, number, level, as_json)


def _show_observation(store: Reading, number: int, level: str, as_json: bool) -> None:
    observation = store.observation(number)
    if observation is None:
        raise things.missing(store, OBSERVATION, number)
    fresh = Shown(store).freshness_of(observation)
    if as_json and level == FULL:
        project = store.project(observation.project_id).name
        print_json(asdict(observation) | {"project": project, "freshness": asdict(fresh)})
        return
    if as_json:
        _show_text(store, OBSERVATION, number, level, as_json)
        return
    print_observation(observation, files=str(fresh), level=level)
    if level == FULL:
        parts = [
            *_place(store, observation.project_id, observation.session_id),
            *([f"prompt {number}"] if (number := observation.prompt_number) else []),
            f"written by {Author(observation.provider, observation.model)}",
            provenance(observation),
            *([f"at commit {revision[:8]}"] if (revision := observation.draft.revision) else []),
        ]
        say(styled(", ".join(parts), dim=True))


def _show_text(store: Reading, kind: str, number: int, level: str, as_json: bool) -> None:
    text = told(store, kind, number, level)
    if text is None:
        raise things.missing(store, kind, number)
    if as_json:
        print_json({"kind": kind, "id": number, "level": level, "text": text})
        return
    first, *rest = text.split("\n")
    say(heading(first))
    for line in rest:
        say(styled(wrapped(line)))
    if level == FULL:
        thing = things.found(store, kind, number)
        say(styled(", ".join(_place(store, thing.project_id, thing.session_id)), dim=True))


def _place(store: Reading, project_id: int, session_id: int) -> Iterator[str]:
    """Where it comes from."""
    yield f"project {store.project(project_id).name}"
    session = store.session(session_id)
    if session is not None:
        yield f"session {short_id(store, session.ref)}"


def print_observation(observation: Observation, *, files: str = "", level: str = FULL) -> None:
    """`files`: what has become of them since."""
    draft = observation.draft
    pinned = " (pinned)" if observation.pinned else ""
    agent = f" by sub-agent {draft.subagent_type}" if draft.subagent_type else ""
    kind = styled(draft.type, fg=TYPE_COLOURS[draft.type])
    when = styled(clock.day_and_time(observation.at) + agent + pinned, dim=True)
    say(f"{heading(f'#{observation.id} ' + (draft.title or 'Untitled'))}  {kind}  {when}")
    if level == TITLE:
        return
    if draft.subtitle:
        say(styled(wrapped(draft.subtitle), italic=True))
    reasons = {doubt.part: doubt.reason for doubt in draft.doubts}
    for number, fact in enumerate(draft.facts):
        say(styled(wrapped(fact, first="  - ", rest="    ")))
        if reason := reasons.pop(f"facts {number}", None):
            say(styled(wrapped(f"unverified: {reason}", first="    ", rest="    "), fg="yellow"))
    if level == FULL:
        _print_rest(observation, files, reasons)


def _print_rest(observation: Observation, files: str, reasons: dict[str, str]) -> None:
    draft = observation.draft
    if narrative := draft.narrative:
        say("\n" + styled(wrapped(narrative)))
    for name, values in (
        ("Concepts", draft.concepts),
        ("Changed", draft.files_modified),
        ("Read", draft.files_read),
    ):
        if values:
            say(f"{styled(name + ':', dim=True)} {styled(', '.join(values))}")
    if files:
        say(f"{styled('Files:', dim=True)} {styled(files)}")
    for part, reason in reasons.items():
        say(styled(f"Unverified: {part}: {reason}", fg="yellow"))
    for what, other in (("Says again what", draft.repeats), ("Carries on", draft.follows)):
        if other is not None:
            say(styled(f"{what} #{other}", dim=True))
    say()


def print_summary(summary: Summary) -> None:
    say(heading(f"Summary of prompt {summary.prompt_number}"))
    draft = summary.draft
    for name, text in (
        ("Asked", draft.request),
        ("Investigated", draft.investigated),
        ("Learned", draft.learned),
        ("Completed", draft.completed),
        ("Next steps", draft.next_steps),
        ("Notes", draft.notes),
    ):
        if text:
            label = f"  {name}: "
            body = wrapped(text, first=label, rest="    ").removeprefix(label)
            say(f"{styled(label, bold=True)}{styled(body)}")
    for doubt in draft.doubts:
        say(styled(f"  Unverified: {doubt.part}: {doubt.reason}", fg="yellow"))
    say()


def _show_session(store: Reading, session: Session, as_json: bool) -> None:
    prompts = store.prompts(session.id)
    observations = store.observations_of_session(session.id)
    summaries = store.summaries_of_session(session.id)
    if as_json:
        print_json(
            asdict(session)
            | {
                "prompts": [asdict(prompt) for prompt in prompts],
                "observations": [asdict(observation) for observation in observations],
                "summaries": [asdict(summary) for summary in summaries],
            }
        )
        return
    say(heading(session.title or "Untitled session"))
    times = (
        f"{clock.day_and_time(session.started_at)} to {clock.day_and_time(session.last_event_at)}"
    )
    project = store.project(session.project_id).name
    say(styled(f"{session.ref}  {project}  {times}  {session.status}", dim=True) + "\n")
    texts = {prompt.number: prompt.text for prompt in prompts}
    # Number 0 is what happened before we saw a prompt: hooks installed in the middle of a session.
    numbers = {
        *texts,
        *(o.prompt_number for o in observations),
        *(s.prompt_number for s in summaries),
    }
    for number in sorted(numbers):
        text = texts.get(number, "(before the first prompt that was seen)")
        say(f"{styled(f'Prompt {number}:', bold=True)} {styled(text)}\n")
        for observation in observations:
            if observation.prompt_number == number:
                print_observation(observation)
        for summary in summaries:
            if summary.prompt_number == number:
                print_summary(summary)
