"""The summary of a turn, from its prompt, its events and the agent's last message."""

from collections.abc import Iterable, Sequence

from recollect import text
from recollect.model.observations import SummaryDraft, SummarySkipped
from recollect.model.turns import Turn
from recollect.providers.reading import messages
from recollect.providers.reading.decisions import read_decisions
from recollect.providers.reading.steps import Look, Run
from recollect.providers.reading.story import Story, helper_stories, main_story
from recollect.providers.writing import changes, places, runs
from recollect.providers.writing.phrases import code, join, plural, quoted, sentence, stopped
from recollect.providers.writing.phrases import story as told

REQUEST_LIMIT = 300
SENTENCE_LIMIT = 240
FILES_TOLD = 5
FILES_KEPT = 60


def summary_of(turn: Turn) -> SummaryDraft | SummarySkipped:
    story = main_story(turn)
    helpers = helper_stories(turn)
    if not _has_substance(story, helpers):
        return SummarySkipped(
            "The prompt asked for nothing that can be told, and nothing of weight was done."
        )
    everyone = [story, *helpers]
    return SummaryDraft(
        request=_request(story),
        investigated=_investigated(everyone),
        learned=_learned(story),
        completed=_completed(everyone),
        next_steps=_next_steps(story, everyone),
        files_read=_once(path for s in everyone for path in s.read),
        files_edited=_once(path for s in everyone for path in s.modified),
        notes=_notes(story, helpers),
    )


def _has_substance(story: Story, helpers: list[Story]) -> bool:
    if (
        story.patches
        or story.dead_ends
        or story.commits
        or story.deeds
        or story.mended
        or story.broken
        or helpers
        or read_decisions(story.turn.prompt)
    ):
        return True
    if not story.ask.text or story.ask.trivial:
        return False
    return bool(story.steps) or len(story.message or "") >= 60 or story.turn.interrupted


def _once(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))[:FILES_KEPT]


def _request(story: Story) -> str | None:
    """The first sentences of the prompt as the user wrote them, as many as fit."""
    chosen = ""
    for said in story.ask.sentences:
        if chosen and len(chosen) + len(said) + 2 > REQUEST_LIMIT:
            break
        stop = "" if said.endswith((".", "!", "?", "。", "！", "？", ":")) else "."
        chosen = f"{chosen} {said}{stop}".strip()
    return text.cut(chosen, REQUEST_LIMIT) or None


def _investigated(stories: Sequence[Story]) -> str | None:
    read = dict.fromkeys(path for story in stories for path in story.read)
    searches = [search for story in stories for search in story.searches]
    shown = [run for story in stories for run in story.runs if _is_shown(run)]
    web, pages, grep = (
        list(dict.fromkeys(s.what for s in searches if s.what and s.tool in tools))
        for tools in (("WebSearch",), ("WebFetch",), ("Grep", "Glob"))
    )
    names = list(dict.fromkeys(runs.name(run) for run in shown))
    phrases = [
        f"Read {places.paths(list(read), FILES_TOLD)}" if read else "",
        f"Searched the code for {join([code(what, 50) for what in grep], 4)}" if grep else "",
        f"Searched the web for {join([quoted(what, 80) for what in web])}" if web else "",
        f"Fetched {join([text.one_line(what, 90) for what in pages])}" if pages else "",
        f"Ran {join(names, 4)}" if names else "",
    ]
    return told(phrases) or None


def _is_shown(run: Run) -> bool:
    return (
        run.command.kind not in ("routine", "commit")
        and bool(run.command.text)
        and run.outcome.verdict != "refused"
    )


def _learned(story: Story) -> str | None:
    """Errors met, causes the agent named, decisions and answers of the user."""
    errors = dict.fromkeys(
        runs.failed(t.first)
        for t in (*story.mended, *story.partly, *story.broken)
        if t.first.outcome.error
    )
    causes = messages.causes(story.message, mended=bool(story.mended))
    phrases = [*errors][:3]
    phrases += [f"The agent explained: {quoted(cause, SENTENCE_LIMIT)}" for cause in causes[:2]]
    if not story.patches and not story.deeds:
        phrases = [*errors][:3]
        phrases += [
            f"The agent reported: {quoted(s, SENTENCE_LIMIT)}"
            for s in messages.findings(story.message)[:3]
        ]
    phrases += [
        f"The user decided: {quoted(d.what, 160)}" for d in read_decisions(story.turn.prompt)[:4]
    ]
    phrases += [
        f"To {quoted(a.question, 100)} the user answered {quoted(a.answer, 80)}"
        for a in story.answers[:3]
    ]
    return told(phrases) or None


def _completed(stories: Sequence[Story]) -> str | None:
    phrases: list[str] = []
    for story in stories:
        ranked = places.by_weight(story.patches)
        phrases += [changes.of_file(patch) for patch in ranked[:FILES_TOLD]]
        if len(ranked) > FILES_TOLD:
            phrases.append(f"{plural(len(ranked) - FILES_TOLD, 'more file')} changed")
        proofs = [t.end for t in story.mended if t.end and story.proves(t.end)]
        phrases += [runs.worked(story, run) for run in (*proofs, *runs.last_checks(story)[:3])]
        phrases += [
            f"Committed {quoted(c.subject, 120)}" + (f" as {c.hash}" if c.hash else "")
            for c in story.commits[:4]
        ]
        deeds = dict.fromkeys(runs.name(run) for run in story.deeds)
        phrases += [f"Ran {join(list(deeds), 4)}"] if deeds else []
    if not phrases:
        return _answered(stories[0])
    return told(phrases)


def _answered(story: Story) -> str | None:
    """Nothing was changed: the answer itself is what was done."""
    said = messages.opening(story.message, SENTENCE_LIMIT)
    return (
        sentence(f"Answered: {quoted(said, SENTENCE_LIMIT)}")
        if said and not story.turn.interrupted
        else None
    )


def _next_steps(story: Story, everyone: Sequence[Story]) -> str | None:
    phrases = [runs.unmended(s, trial) for s in everyone for trial in s.broken][:3]
    phrases += [
        f"{runs.name(trial.last)} failed and was not repeated in full"
        for s in everyone
        for trial in s.partly
    ][:2]
    steps = [text.cut(step, SENTENCE_LIMIT) for step in messages.next_steps(story.message)[:5]]
    more: list[str] = []
    asked = messages.question(story.message)
    if asked and not any(asked in step for step in steps):
        more.append(f"The agent asked: {quoted(asked, SENTENCE_LIMIT)}")
    if story.turn.interrupted:
        more.append(_interrupted(story))
    # The agent's own words keep their case: "Next: call it from the command line."
    found = [told(phrases), *map(stopped, steps), told(more)]
    return " ".join(part for part in found if part) or None


def _interrupted(story: Story) -> str:
    if not story.steps:
        return "The turn was interrupted before anything was done"
    last = story.steps[-1]
    match last:
        case Run():
            return f"The turn was interrupted; the last command was {runs.name(last)}"
        case Look():
            return f"The turn was interrupted after {places.short(last.path)} was read"
        case _ if story.edits:
            return f"The turn was interrupted after {places.short(story.edits[-1].patch.path)} was changed"
        case _:
            return "The turn was interrupted while the agent was looking around"


def _notes(story: Story, helpers: list[Story]) -> str | None:
    phrases: list[str] = []
    if helpers or story.helpers:
        errands = [
            f"{h.type} ({quoted(h.description, 80)})" if h.description else h.type
            for h in story.helpers
        ]
        named = errands or [helper.agent.type for helper in helpers if helper.agent]
        phrases.append(f"Sub-agents at work: {join(named, 4)}")
    refused = [
        runs.name(run)
        for run in story.runs
        if run.outcome.verdict == "refused" and run.command.text
    ]
    if refused:
        phrases.append(f"Not allowed to run: {join(list(dict.fromkeys(refused)), 3)}")
    if story.dead_ends:
        phrases.append(
            f"Taken back in the same turn: changes of {places.paths([p.path for p in story.dead_ends])}"
        )
    unused = story.unused
    if story.patches and unused:
        phrases.append(f"Read and not changed: {places.paths(list(unused), 4)}")
    return told(phrases) or None
