"""The title of an observation: the best name the evidence gives, in three to eight words."""

import re

from recollect import text
from recollect.providers.reading import messages, verbs
from recollect.providers.reading.commits import Commit
from recollect.providers.reading.patches import Patch
from recollect.providers.reading.prompts import without_lead
from recollect.providers.reading.story import Story
from recollect.providers.writing import places, runs
from recollect.providers.writing.phrases import first_words, plural, title

TRAILING_NOTE = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
OPEN_ENDED = frozenset(
    text.words("find locate identify figure verify confirm check see search research look trace")
)
GENERIC = frozenset(
    text.words("wip update updates changes fix fixes misc cleanup checkpoint save progress")
)


def title_of(story: Story) -> str:
    """The first name that fits and is not taken in this session; the last one is always there."""
    found = [name for name in _candidates(story) if name]
    return next((name for name in found if name not in story.turn.recorded), found[-1])


def _candidates(story: Story) -> list[str | None]:
    if story.patches or story.commits:
        found = [_from_ask(story), _from_mending(story), _from_patches(story)]
        return [*_from_commits(story), *found, _last_resort(story)]
    if story.dead_ends:
        return [_from_dead_end(story), _last_resort(story)]
    asked = story.ask.intent == "ask" and messages.findings(story.message)
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
    where = f"in {places.short(places.by_weight(story.patches)[0].path)}" if story.patches else ""
    return title(told, where, f"in {story.turn.project}")


def in_past(request: str) -> str:
    """`add bulk discounts` as `Added bulk discounts`; a phrase without such a verb in front stays."""
    first, _, rest = request.partition(" ")
    verb = verbs.base(first.strip(".,:;")) if verbs.is_request(request) else None
    return f"{verbs.past(verb)} {rest}" if verb and verb not in verbs.LASTING else request


def _from_ask(story: Story) -> str | None:
    """The user's request as a thing done, if what was seen allows to say so."""
    verb, thing = story.ask.verb, story.ask.thing
    if not verb or not thing or story.ask.intent == "ask":
        return None
    if story.turn.interrupted and not story.commits:
        return title(f"Began to {verb} {thing}")
    if story.unsolved:
        return title(f"Tried to {verb} {thing}")
    if story.ask.intent == "fix" and not story.mended and not story.commits:
        return _for_a_fix(story, verb, thing)
    where = f"in {places.short(places.by_weight(story.patches)[0].path)}" if story.patches else ""
    return title(f"{verbs.past(verb)} {thing}", where)


def _for_a_fix(story: Story, verb: str, thing: str) -> str | None:
    """Nothing proves the fix: say what was changed, and what for."""
    if not story.patches:
        return title(f"Tried to {verb} {thing}")
    changed = _main_symbol(places.by_weight(story.patches)[0])
    return title(f"Changed {changed} to {verb} {first_words(thing, 5)}")


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
    names = [runs.test_name(full) for full in tally.failing] if tally else []
    what = names[0] if len(names) == 1 and " " not in names[0] else trial.first.command.program
    return title(
        f"Now passing: {what}, after changing {_main_symbol(places.by_weight(story.patches)[0])}"
    )


def _main_symbol(patch: Patch) -> str:
    if places.is_docs(patch.path):
        return places.short(patch.path)
    for symbols in (patch.added, patch.changed, patch.removed):
        kept = [s for s in places.telling(symbols) if " " not in s.name]
        if kept:
            return kept[0].name
    return places.short(patch.path)


def _from_patches(story: Story) -> str | None:
    if not story.patches:
        return None
    ranked = places.by_weight(story.patches)
    main, others = ranked[0], len(ranked) - 1
    more = f"and {plural(others, 'more file')}" if others else ""
    where = places.short(main.path)
    if places.is_docs(main.path) and main.added:
        return title(f"{'Wrote' if main.created else 'Extended'} {where}: {main.added[0].name}")
    if main.created:
        symbol = _main_symbol(main)
        inside = f"with {symbol}" if symbol != where else more or f"in {story.turn.project}"
        return title(f"Created {where} {inside} {more}")
    symbol = _main_symbol(main)
    if symbol == where:
        return title(f"Changed {where} {more}", f"in {story.turn.project}")
    if main.added:
        return title(f"Added {symbol} to {where} {more}")
    verb, preposition = ("Changed", "in") if main.changed else ("Removed", "from")
    return title(f"{verb} {symbol} {preposition} {where} {more}")


def _from_dead_end(story: Story) -> str | None:
    verb, thing = story.ask.verb, story.ask.thing
    if verb and thing and story.ask.intent != "ask":
        return title(f"Tried and reverted: {thing if verb == 'try' else f'{verb} {thing}'}")
    main = places.by_weight(story.dead_ends)[0]
    return title(f"Tried and reverted a change of {_main_symbol(main)}")


def _from_recovery(story: Story) -> str | None:
    """A command that works again though nothing was edited."""
    trial = next((trial for trial in story.mended if trial.end), None)
    return title(f"Works again: {trial.end.command.text}", "now") if trial and trial.end else None


def _from_deeds(story: Story) -> str | None:
    """Commands with an effect: by the request if it is plain, else by the command."""
    if not story.deeds or story.broken:
        return None
    if story.ask.verb and story.ask.thing and story.ask.intent not in ("ask", "fix"):
        return _from_ask(story)
    return title(f"Ran {story.deeds[-1].command.text}", f"in {story.turn.project}")


def _from_failure(story: Story) -> str | None:
    if not story.broken:
        return None
    run = story.broken[-1].last
    error = f", {run.outcome.error}" if run.outcome.error else ""
    return title(f"Still failing: {run.command.program}{error}", f"in {story.turn.project}")


def _from_question(story: Story) -> str | None:
    verb, thing = story.ask.verb, story.ask.thing
    if verb and thing and verb in OPEN_ENDED:
        bare = re.sub(r"^(?:(?:out|into|at|for|up|if|whether) )+", "", thing)
        return title(f"Investigated {bare}", "as asked")
    if verb and thing:
        return title(f"{verbs.past(verb)} {thing}", f"in {story.turn.project}")
    if story.ask.pasted:
        return title(f"Looked into {story.ask.pasted}", "as asked")
    if not story.ask.question:
        return None
    asked = without_lead(story.ask.question).rstrip("?？ ")
    asked = re.sub(r"^what(?: is|'?s| are) ", "", asked, flags=re.IGNORECASE)
    return title(f"Answered: {asked[:1].lower()}{asked[1:]}")


def _from_looking(story: Story) -> str | None:
    if story.read:
        return title(f"Looked into {places.paths(story.read, 2)}")
    return title(f"Searched for {story.searches[0].what}") if story.searches else None


def _last_resort(story: Story) -> str:
    number = story.turn.prompt_number
    return title(f"Work of prompt {number} in {story.turn.project}") or f"Work of prompt {number}"
