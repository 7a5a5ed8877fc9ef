"""`recollect show`: one observation by its number, or one session by its id."""

from dataclasses import asdict

import click

from recollect import clock
from recollect.cli import places
from recollect.cli.output import (
    TYPE_COLOURS,
    heading,
    json_option,
    print_json,
    say,
    styled,
    wrapped,
)
from recollect.errors import NotFound
from recollect.model.observations import Author, Observation, Summary
from recollect.model.sessions import Session
from recollect.store.protocol import Reading


@click.command()
@click.argument("what", metavar="ID")
@json_option
def show(what: str, as_json: bool) -> None:
    """Show observation ID (a number such as 12 or #12), or session ID (its first letters are enough).

    A number that no observation has may be the beginning of a session's id.
    """
    store = places.store()
    number = what.removeprefix("#")
    if number.isdecimal() and len(number) < 8:
        observation = store.observation(int(number))
        if observation is not None:
            _show_observation(store, observation, as_json)
            return
        if number != what or not store.sessions_by_prefix(what):
            raise NotFound(f"There is no observation #{number}. Find one with `recollect search`.")
    _show_session(store, places.session_named(store, what), as_json)


def _show_observation(store: Reading, observation: Observation, as_json: bool) -> None:
    if as_json:
        print_json(asdict(observation))
        return
    print_observation(observation)
    session = store.session(observation.session_id)
    if session is not None:
        place = f"session {session.ref[:8]}, prompt {observation.prompt_number}"
        author = Author(observation.provider, observation.model)
        say(styled(f"{place}, written by {author}", dim=True))


def print_observation(observation: Observation) -> None:
    draft = observation.draft
    pinned = " (pinned)" if observation.pinned else ""
    agent = f" by sub-agent {draft.subagent_type}" if draft.subagent_type else ""
    kind = styled(draft.type, fg=TYPE_COLOURS[draft.type])
    when = styled(clock.day_and_time(observation.at) + agent + pinned, dim=True)
    say(f"{heading(f'#{observation.id} ' + (draft.title or 'Untitled'))}  {kind}  {when}")
    if draft.subtitle:
        say(styled(wrapped(draft.subtitle), italic=True))
    reasons = {doubt.part: doubt.reason for doubt in draft.doubts}
    for number, fact in enumerate(draft.facts):
        say(styled(wrapped(fact, first="  - ", rest="    ")))
        if reason := reasons.pop(f"facts {number}", None):
            say(styled(wrapped(f"unverified: {reason}", first="    ", rest="    "), fg="yellow"))
    if draft.narrative:
        say("\n" + styled(wrapped(draft.narrative)))
    for name, values in (
        ("Concepts", draft.concepts),
        ("Changed", draft.files_modified),
        ("Read", draft.files_read),
    ):
        if values:
            say(f"{styled(name + ':', dim=True)} {styled(', '.join(values))}")
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
