"""The observations of a turn: decisions, the main agent's work, then the sub-agents'."""

import re
from collections.abc import Iterator, Sequence

from aforesaid import text
from aforesaid.model.observations import ObservationDraft, Turn
from aforesaid.providers.compose.facts import (
    choose_concepts,
    nouns,
    path_topics,
    write_facts,
    write_narrative,
)
from aforesaid.providers.compose.phrases import (
    as_code,
    capitalize,
    ended_clause,
    failed_clause,
    first_words,
    fits_subtitle,
    is_config,
    is_docs,
    is_test,
    join_items,
    join_paths,
    join_sentences,
    last_checks,
    main_symbols,
    make_fact,
    make_subtitle,
    make_title,
    plural,
    quote,
    short_clauses,
    short_path,
    sort_patches,
    test_name,
    unmended_clause,
    worked_clause,
)
from aforesaid.providers.extract.commands import CHECKS
from aforesaid.providers.extract.messages import find_statements
from aforesaid.providers.extract.patches import Patch
from aforesaid.providers.extract.prompts import (
    STATE_VERBS,
    Decision,
    base_verb,
    is_request,
    past_tense,
    read_decisions,
    without_lead,
)
from aforesaid.providers.extract.results import Commit
from aforesaid.providers.extract.story import (
    FailedCommand,
    Story,
    helper_stories,
    main_story,
    split_story,
)

BY_COMMIT = {
    "fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
    "refactor": "refactor", "docs": "change", "chore": "change", "test": "change", "style": "change",
    "build": "change", "ci": "change", "perf": "change", "revert": "change",
}  # fmt: skip
CODE_KINDS = frozenset(("function", "class", "type", "module", "definition"))


def choose_type(story: Story) -> str:
    if not story.patches:
        return _type_without_changes(story)
    for commit in story.commits:
        if commit.label in BY_COMMIT:
            return BY_COMMIT[commit.label]
    if mended_what_was_broken(story):
        return "bugfix"
    if story.ask.intent == "refactor" or only_moved(story.patches):
        return "refactor"
    if all(is_docs(path) for path in story.modified):
        return "change"
    if story.ask.intent == "fix" or (story.ask.bug and story.ask.intent != "add"):
        return "change" if story.unsolved else "bugfix"
    if brings_new(story.patches) and story.ask.intent in ("add", "other"):
        return "feature"
    return "change"


def _type_without_changes(story: Story) -> str:
    """Nothing was edited, or nothing of it lasted: what was done by commands, or found out."""
    if story.commits:
        return BY_COMMIT.get(story.commits[0].label or "", "change")
    if story.dead_ends or story.broken or story.ask.intent == "ask":
        return "discovery"
    return "change" if story.deeds or story.mended else "discovery"


def mended_what_was_broken(story: Story) -> bool:
    """A failure that was there before the work began, or that the prompt speaks of, was mended."""
    acts = [
        run.place for run in story.deeds if run.command.kind in ("install", "migration", "history")
    ]
    began = min([edit.place for edit in story.edits] + acts, default=0)
    meant = story.ask.bug or story.ask.intent == "fix"
    return any(
        trial.earlier or trial.first.place < began or meant
        for trial in story.mended
        if any(trial.first.place < edit.place for edit in story.edits)
    )


def brings_new(patches: tuple[Patch, ...]) -> bool:
    """New functions, classes or whole source files, not only tests, documents and settings."""
    return any(
        patch.created or any(symbol.kind in CODE_KINDS for symbol in patch.added)
        for patch in patches
        if not (is_test(patch.path) or is_docs(patch.path) or is_config(patch.path))
    )


def only_moved(patches: tuple[Patch, ...]) -> bool:
    """What went from one file came to another, and nothing else came or went."""
    came = {symbol.name for patch in patches for symbol in patch.added if symbol.kind in CODE_KINDS}
    went = {
        symbol.name for patch in patches for symbol in patch.removed if symbol.kind in CODE_KINDS
    }
    return bool(came) and came == went


TRAILING_NOTE = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
OPEN_ENDED = frozenset(
    text.words("find locate identify figure verify confirm check see search research look trace")
)
GENERIC = frozenset(
    text.words("wip update updates changes fix fixes misc cleanup checkpoint save progress")
)


def choose_title(story: Story) -> str:
    """The first name that fits and is not taken in this session; the last one is always there."""
    found = [name for name in _candidates(story) if name]
    return next((name for name in found if name not in story.turn.recorded), found[-1])


def _candidates(story: Story) -> list[str | None]:
    if story.patches or story.commits:
        found = [_from_ask(story), _from_mending(story), _from_patches(story)]
        return [*_from_commits(story), *found, _last_resort(story)]
    if story.dead_ends:
        return [_from_dead_end(story), _last_resort(story)]
    asked = story.ask.intent == "ask" and find_statements(story.message)
    answered = [_from_question(story)] if asked else []
    done = [_from_deeds(story), _from_recovery(story), *answered, _from_failure(story)]
    return [*done, _from_question(story), _from_looking(story), _last_resort(story)]


def _from_commits(story: Story) -> list[str | None]:
    telling = [
        commit for commit in story.commits if commit.plain.lower().strip(" .") not in GENERIC
    ]
    ranked = sorted(
        telling, key=lambda commit: commit.label not in ("feat", "fix", "refactor", "perf")
    )
    return [_commit_title(commit, story) for commit in ranked]


def _commit_title(commit: Commit, story: Story) -> str | None:
    subject = TRAILING_NOTE.sub("", commit.plain)
    told = in_past(subject)
    if told == subject and (commit.label == "fix" or not story.patches):
        told = f"{'Fixed' if commit.label == 'fix' else 'Committed'}: {subject}"
    where = f"in {short_path(sort_patches(story.patches)[0].path)}" if story.patches else ""
    return make_title(told, where, f"in {story.turn.project}")


def in_past(request: str) -> str:
    """`add bulk discounts` as `Added bulk discounts`; a phrase without such a verb in front stays."""
    first, _, rest = request.partition(" ")
    verb = base_verb(first.strip(".,:;")) if is_request(request) else None
    return f"{past_tense(verb)} {rest}" if verb and verb not in STATE_VERBS else request


def _from_ask(story: Story) -> str | None:
    """The user's request as a thing done, if what was seen allows to say so."""
    verb, thing = story.ask.verb, story.ask.thing
    if not verb or not thing or story.ask.intent == "ask":
        return None
    if story.turn.interrupted and not story.commits:
        return make_title(f"Began to {verb} {thing}")
    if story.unsolved:
        return make_title(f"Tried to {verb} {thing}")
    if story.ask.intent == "fix" and not story.mended and not story.commits:
        return _for_a_fix(story, verb, thing)
    where = f"in {short_path(sort_patches(story.patches)[0].path)}" if story.patches else ""
    return make_title(f"{past_tense(verb)} {thing}", where)


def _for_a_fix(story: Story, verb: str, thing: str) -> str | None:
    """Nothing proves the fix: say what was changed, and what for."""
    if not story.patches:
        return make_title(f"Tried to {verb} {thing}")
    changed = _main_symbol(sort_patches(story.patches)[0])
    return make_title(f"Changed {changed} to {verb} {first_words(thing, 5)}")


def _from_mending(story: Story) -> str | None:
    trial = next(
        (
            t
            for t in story.mended
            if t.first.command.kind in ("test", "build", "type check", "lint")
        ),
        None,
    )
    if trial is None or not story.patches:
        return None
    tally = trial.first.outcome.tally
    names = [test_name(full) for full in tally.failing] if tally else []
    what = names[0] if len(names) == 1 and " " not in names[0] else trial.first.command.program
    return make_title(
        f"Now passing: {what}, after changing {_main_symbol(sort_patches(story.patches)[0])}"
    )


def _main_symbol(patch: Patch) -> str:
    if is_docs(patch.path):
        return short_path(patch.path)
    for symbols in (patch.added, patch.changed, patch.removed):
        kept = [s for s in main_symbols(symbols) if " " not in s.name]
        if kept:
            return kept[0].name
    return short_path(patch.path)


def _from_patches(story: Story) -> str | None:
    if not story.patches:
        return None
    ranked = sort_patches(story.patches)
    main, others = ranked[0], len(ranked) - 1
    more = f"and {plural(others, 'more file')}" if others else ""
    where = short_path(main.path)
    if is_docs(main.path) and main.added:
        return make_title(
            f"{'Wrote' if main.created else 'Extended'} {where}: {main.added[0].name}"
        )
    if main.created:
        symbol = _main_symbol(main)
        inside = f"with {symbol}" if symbol != where else more or f"in {story.turn.project}"
        return make_title(f"Created {where} {inside} {more}")
    symbol = _main_symbol(main)
    if symbol == where:
        return make_title(f"Changed {where} {more}", f"in {story.turn.project}")
    if main.added:
        return make_title(f"Added {symbol} to {where} {more}")
    verb, preposition = ("Changed", "in") if main.changed else ("Removed", "from")
    return make_title(f"{verb} {symbol} {preposition} {where} {more}")


def _from_dead_end(story: Story) -> str | None:
    verb, thing = story.ask.verb, story.ask.thing
    if verb and thing and story.ask.intent != "ask":
        return make_title(f"Tried and reverted: {thing if verb == 'try' else f'{verb} {thing}'}")
    main = sort_patches(story.dead_ends)[0]
    return make_title(f"Tried and reverted a change of {_main_symbol(main)}")


def _from_recovery(story: Story) -> str | None:
    """A command that works again though nothing was edited."""
    trial = next((trial for trial in story.mended if trial.end), None)
    return (
        make_title(f"Works again: {trial.end.command.text}", "now") if trial and trial.end else None
    )


def _from_deeds(story: Story) -> str | None:
    """Commands with an effect: by the request if it is plain, else by the command."""
    if not story.deeds or story.broken:
        return None
    if story.ask.verb and story.ask.thing and story.ask.intent not in ("ask", "fix"):
        return _from_ask(story)
    return make_title(f"Ran {story.deeds[-1].command.text}", f"in {story.turn.project}")


def _from_failure(story: Story) -> str | None:
    if not story.broken:
        return None
    run = story.broken[-1].last
    error = f", {run.outcome.error}" if run.outcome.error else ""
    return make_title(f"Still failing: {run.command.program}{error}", f"in {story.turn.project}")


def _from_question(story: Story) -> str | None:
    verb, thing = story.ask.verb, story.ask.thing
    if verb and thing and verb in OPEN_ENDED:
        bare = re.sub(r"^(?:(?:out|into|at|for|up|if|whether) )+", "", thing)
        return make_title(f"Investigated {bare}", "as asked")
    if verb and thing:
        return make_title(f"{past_tense(verb)} {thing}", f"in {story.turn.project}")
    if story.ask.pasted:
        return make_title(f"Looked into {story.ask.pasted}", "as asked")
    if not story.ask.question:
        return None
    asked = without_lead(story.ask.question).rstrip("?？ ")
    asked = re.sub(r"^what(?: is|'?s| are) ", "", asked, flags=re.IGNORECASE)
    return make_title(f"Answered: {asked[:1].lower()}{asked[1:]}")


def _from_looking(story: Story) -> str | None:
    if story.read:
        return make_title(f"Looked into {join_paths(story.read, 2)}")
    return make_title(f"Searched for {story.searches[0].what}") if story.searches else None


def _last_resort(story: Story) -> str:
    number = story.turn.prompt_number
    return (
        make_title(f"Work of prompt {number} in {story.turn.project}") or f"Work of prompt {number}"
    )


TOGETHER = 3
RULES_TOLD = 7
WORDS_TOLD = 3


def write_decisions(story: Story, decisions: tuple[Decision, ...]) -> list[ObservationDraft]:
    """One observation for each decision; a prompt full of rules makes one for all of them."""
    if not decisions:
        return []
    if len(decisions) >= TOGETHER:
        drafts = [_rules(story.turn, decisions)]
    else:
        drafts = [_single(story, decision) for decision in decisions]
    return [draft for draft in drafts if draft.title not in story.turn.recorded]


def _single(story: Story, decision: Decision) -> ObservationDraft:
    """Each fact adds something: the decision, why, where the same turn changed what."""
    number = story.turn.prompt_number
    why = decision.reason or decision.background
    reason = "The reason given" if decision.reason else "The background given"
    return ObservationDraft(
        type="decision",
        title=make_title(decision.what)
        or make_title(f"Decided: {decision.what}")
        or "A decision of the user",
        subtitle=make_subtitle(
            [
                f"Stated by the user in prompt {number}",
                f"{reason.split()[1]}: {quote(why.rstrip('.'), 120)}" if why else "",
                _changed(story) or "",
            ]
        ),
        facts=_facts(story.turn, [*_statements(story, decision)]),
        narrative=join_sentences(
            [
                f"In prompt {number} of the session the user wrote: {quote(decision.quote, 280)}",
                f"{reason}: {quote(why, 200)}" if why else "",
                *_applied(story),
            ]
        ),
        concepts=_concepts([decision], story),
    )


def _statements(story: Story, decision: Decision) -> Iterator[str]:
    where = f"for the project {story.turn.project}" if story.turn.project else ""
    yield f"The user decided {where}: {quote(decision.what, 100)}"
    if decision.reason:
        yield f"The user's reason for that decision: {quote(decision.reason, 100)}"
    if decision.background:
        yield f"The user gave as background: {quote(decision.background, 110)}"
    if decision.instead_of:
        yield f"The decision rules out {quote(decision.instead_of, 80)}"
    yield from _applied(story)


def _applied(story: Story) -> Iterator[str]:
    """What the same turn changed and recorded."""
    if story.patches:
        ranked = [patch.path for patch in sort_patches(story.patches)]
        was = "was" if len(ranked) == 1 else "were"
        yield f"In the turn of the decision {join_paths(ranked)} {was} changed"
    for commit in story.commits[:1]:
        short = f"commit {commit.hash}" if commit.hash else "a git commit"
        yield f"Made in the turn of the decision: {short}, {quote(commit.subject, 80)}"


def _changed(story: Story) -> str | None:
    if not story.patches:
        return None
    return f"{plural(len(story.patches), 'file')} changed in the same turn"


def _rules(turn: Turn, decisions: tuple[Decision, ...]) -> ObservationDraft:
    whose = first_words(turn.project, 3) or "the project"
    return ObservationDraft(
        type="decision",
        title=make_title(f"{len(decisions)} rules stated for {whose}"),
        subtitle=make_subtitle(
            [f"Among them: {quote(first_words(d.what, 8), 80)}" for d in decisions[:1]]
        ),
        facts=_facts(turn, [f"Rule stated by the user: {capitalize(d.what)}" for d in decisions]),
        narrative=join_sentences(
            [
                f"In prompt {turn.prompt_number} of the session the user stated {len(decisions)} rules"
            ]
            + [quote(d.quote, 200) for d in decisions]
        ),
        concepts=_concepts(decisions),
    )


def _facts(turn: Turn, statements: list[str]) -> tuple[str, ...]:
    contexts = (
        f"for the project {turn.project or 'at hand'}",
        f"(prompt {turn.prompt_number} of the session)",
    )
    found = (make_fact(statement, *contexts) for statement in statements if statement)
    return tuple(dict.fromkeys(f for f in found if f))[:RULES_TOLD]


def _concepts(decisions: Sequence[Decision], story: Story | None = None) -> tuple[str, ...]:
    """What the decisions are about, and the file that the same turn changed most."""
    words = dict.fromkeys(word for decision in decisions for word in nouns(decision.what))
    main = [path for path in (story.modified if story else ()) if not is_test(path)]
    area = [word for path in main[:1] for word in path_topics(path)[-1:]]
    chosen = list(dict.fromkeys([*area, *list(words)[:WORDS_TOLD]]))
    return (*chosen, "conventions") if chosen else ("conventions", "decisions")


LASTING = frozenset(("install", "migration", "deploy", "history"))
SUBSTANTIAL = 200
FILES_KEPT = 40


def write_observations(turn: Turn) -> list[ObservationDraft]:
    main = main_story(turn)
    drafts = write_decisions(main, read_decisions(turn.prompt))
    for story in (*split_story(main), *helper_stories(turn)):
        if is_worth_telling(story):
            drafts.append(_draft(story))
    return drafts


def is_worth_telling(story: Story) -> bool:
    """Routine work yields nothing: looking around, a formatter, a server that was started."""
    if story.patches or story.commits or story.dead_ends or story.mended or story.broken:
        return True
    kinds = {run.command.kind for run in story.deeds}
    if kinds & LASTING:
        return True
    if (
        "run" in kinds
        and story.ask.verb
        and story.ask.thing
        and story.ask.intent not in ("ask", "fix")
    ):
        return True
    return _is_finding(story)


def _is_finding(story: Story) -> bool:
    """Something was looked into, and the answer says something that stands on its own."""
    least = SUBSTANTIAL if story.agent is None else SUBSTANTIAL // 2
    if len(story.message or "") < least or (story.ask.trivial and story.agent is None):
        return False
    looked = len(story.read) + len(story.searches) + len(story.runs) + len(story.helpers)
    asked = (
        story.agent is not None
        or story.ask.intent == "ask"
        or story.ask.bug
        or bool(story.ask.question)
    )
    return bool(looked and (asked or looked > 2) and find_statements(story.message))


def _draft(story: Story) -> ObservationDraft:
    return ObservationDraft(
        type=choose_type(story),
        title=choose_title(story),
        subtitle=_subtitle(story),
        facts=write_facts(story),
        narrative=write_narrative(story),
        concepts=choose_concepts(story),
        files_read=story.read[:FILES_KEPT],
        files_modified=story.modified[:FILES_KEPT],
        subagent_type=(text.one_line(story.agent.type, 60) or "unnamed") if story.agent else None,
    )


def _subtitle(story: Story) -> str | None:
    """The evidence in one line: what failed, what was changed, how the checks stood."""
    trial = next((t for t in story.mended if t.is_check), None)
    before = [failed_clause(trial.first)] if trial else []
    after = _outcome(story, trial)
    if not story.patches:
        after += _without_changes(story)
    for changed in short_clauses(story):
        whole = [*before, changed, *after]
        if fits_subtitle(whole):
            return make_subtitle(whole)
    return make_subtitle([*before, *short_clauses(story)[-1:], *after])


def _outcome(story: Story, trial: FailedCommand | None) -> list[str]:
    if story.broken:
        return [unmended_clause(story, story.broken[-1])]
    checks = last_checks(story)
    if trial and trial.end:
        end = trial.end if trial.end.command.kind in CHECKS or not checks else checks[0]
        return [f"then {worked_clause(story, end)}"]
    return [ended_clause(run) for run in checks[:1]]


def _without_changes(story: Story) -> list[str]:
    if story.commits:
        return [f"commit {story.commits[0].hash or ''} {quote(story.commits[0].subject, 100)}"]
    if story.dead_ends:
        return [f"a change of {short_path(story.dead_ends[0].path)} was taken back"]
    if story.deeds and not story.read:
        return [
            f"{join_items([as_code(run.command.text, 60) for run in story.deeds], 2)} ran without an error"
        ]
    said = find_statements(story.message)
    return [quote(said[0], 140)] if said else []
