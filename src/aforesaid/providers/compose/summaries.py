"""The summary of a turn: what was asked, looked into, learned and done, and what is left."""

from collections.abc import Iterable, Sequence

from aforesaid import text
from aforesaid.model.events import ToolKind
from aforesaid.model.observations import SummaryDraft, SummarySkipped, Turn
from aforesaid.providers.compose.phrases import (
    add_full_stop,
    as_code,
    failed_clause,
    file_clause,
    join_items,
    join_paths,
    join_sentences,
    last_checks,
    plural,
    quote,
    run_name,
    short_path,
    sort_patches,
    to_sentence,
    unmended_clause,
    worked_clause,
)
from aforesaid.providers.extract.messages import (
    find_causes,
    find_next_steps,
    find_question,
    find_statements,
    opening_words,
)
from aforesaid.providers.extract.prompts import read_decisions
from aforesaid.providers.extract.story import Look, Run, Story, helper_stories, main_story

REQUEST_LIMIT = 300
SENTENCE_LIMIT = 240
FILES_TOLD = 5
FILES_KEPT = 60


def write_summary(turn: Turn) -> SummaryDraft | SummarySkipped:
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
        list(dict.fromkeys(s.what for s in searches if s.what and s.kind is kind))
        for kind in (ToolKind.WEB_SEARCH, ToolKind.WEB_FETCH, ToolKind.SEARCH)
    )
    names = list(dict.fromkeys(run_name(run) for run in shown))
    phrases = [
        f"Read {join_paths(list(read), FILES_TOLD)}" if read else "",
        f"Searched the code for {join_items([as_code(what, 50) for what in grep], 4)}"
        if grep
        else "",
        f"Searched the web for {join_items([quote(what, 80) for what in web])}" if web else "",
        f"Fetched {join_items([text.one_line(what, 90) for what in pages])}" if pages else "",
        f"Ran {join_items(names, 4)}" if names else "",
    ]
    return join_sentences(phrases) or None


def _is_shown(run: Run) -> bool:
    return (
        run.command.kind not in ("routine", "commit")
        and bool(run.command.text)
        and run.outcome.verdict != "refused"
    )


def _learned(story: Story) -> str | None:
    """Errors met, causes the agent named, decisions and answers of the user."""
    errors = dict.fromkeys(
        failed_clause(t.first)
        for t in (*story.mended, *story.partly, *story.broken)
        if t.first.outcome.error
    )
    causes = find_causes(story.message, mended=bool(story.mended))
    phrases = [*errors][:3]
    phrases += [f"The agent explained: {quote(cause, SENTENCE_LIMIT)}" for cause in causes[:2]]
    if not story.patches and not story.deeds:
        phrases = [*errors][:3]
        phrases += [
            f"The agent reported: {quote(s, SENTENCE_LIMIT)}"
            for s in find_statements(story.message)[:3]
        ]
    phrases += [
        f"The user decided: {quote(d.what, 160)}" for d in read_decisions(story.turn.prompt)[:4]
    ]
    phrases += [
        f"To {quote(a.question, 100)} the user answered {quote(a.answer, 80)}"
        for a in story.answers[:3]
    ]
    return join_sentences(phrases) or None


def _completed(stories: Sequence[Story]) -> str | None:
    phrases: list[str] = []
    for story in stories:
        ranked = sort_patches(story.patches)
        phrases += [file_clause(patch) for patch in ranked[:FILES_TOLD]]
        if len(ranked) > FILES_TOLD:
            phrases.append(f"{plural(len(ranked) - FILES_TOLD, 'more file')} changed")
        proofs = [t.end for t in story.mended if t.end and story.proves(t.end)]
        phrases += [worked_clause(story, run) for run in (*proofs, *last_checks(story)[:3])]
        phrases += [
            f"Committed {quote(c.subject, 120)}" + (f" as {c.hash}" if c.hash else "")
            for c in story.commits[:4]
        ]
        deeds = dict.fromkeys(run_name(run) for run in story.deeds)
        phrases += [f"Ran {join_items(list(deeds), 4)}"] if deeds else []
    if not phrases:
        return _answered(stories[0])
    return join_sentences(phrases)


def _answered(story: Story) -> str | None:
    """Nothing was changed: the answer itself is what was done."""
    said = opening_words(story.message, SENTENCE_LIMIT)
    return (
        to_sentence(f"Answered: {quote(said, SENTENCE_LIMIT)}")
        if said and not story.turn.interrupted
        else None
    )


def _next_steps(story: Story, everyone: Sequence[Story]) -> str | None:
    phrases = [unmended_clause(s, trial) for s in everyone for trial in s.broken][:3]
    phrases += [
        f"{run_name(trial.last)} failed and was not repeated in full"
        for s in everyone
        for trial in s.partly
    ][:2]
    steps = [text.cut(step, SENTENCE_LIMIT) for step in find_next_steps(story.message)[:5]]
    more: list[str] = []
    asked = find_question(story.message)
    if asked and not any(asked in step for step in steps):
        more.append(f"The agent asked: {quote(asked, SENTENCE_LIMIT)}")
    if story.turn.interrupted:
        more.append(_interrupted(story))
    # The agent's own words keep their case: "Next: call it from the command line."
    found = [join_sentences(phrases), *map(add_full_stop, steps), join_sentences(more)]
    return " ".join(part for part in found if part) or None


def _interrupted(story: Story) -> str:
    if not story.steps:
        return "The turn was interrupted before anything was done"
    last = story.steps[-1]
    match last:
        case Run():
            return f"The turn was interrupted; the last command was {run_name(last)}"
        case Look():
            return f"The turn was interrupted after {short_path(last.path)} was read"
        case _ if story.edits:
            return f"The turn was interrupted after {short_path(story.edits[-1].patch.path)} was changed"
        case _:
            return "The turn was interrupted while the agent was looking around"


def _notes(story: Story, helpers: list[Story]) -> str | None:
    phrases: list[str] = []
    if helpers or story.helpers:
        errands = [
            f"{h.type} ({quote(h.description, 80)})" if h.description else h.type
            for h in story.helpers
        ]
        named = errands or [helper.agent.type for helper in helpers if helper.agent]
        phrases.append(f"Sub-agents at work: {join_items(named, 4)}")
    refused = [
        run_name(run) for run in story.runs if run.outcome.verdict == "refused" and run.command.text
    ]
    if refused:
        phrases.append(f"Not allowed to run: {join_items(list(dict.fromkeys(refused)), 3)}")
    if story.dead_ends:
        phrases.append(
            f"Taken back in the same turn: changes of {join_paths([p.path for p in story.dead_ends])}"
        )
    unused = story.unused
    if story.patches and unused:
        phrases.append(f"Read and not changed: {join_paths(list(unused), 4)}")
    return join_sentences(phrases) or None
