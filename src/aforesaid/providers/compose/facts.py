"""The facts, topics and narrative of an observation."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.model.events import ToolKind
from aforesaid.model.observations import TYPES
from aforesaid.providers.compose.phrases import (
    FACT_MOST,
    after_edits,
    as_code,
    created_clause,
    ended_clause,
    failed_clause,
    failing_clause,
    failing_tests,
    file_clause,
    is_docs,
    is_test,
    join_items,
    join_paths,
    join_sentences,
    last_checks,
    make_fact,
    mended,
    move_clauses,
    name_symbols,
    once_each,
    plural,
    quote,
    run_name,
    short_path,
    sort_patches,
    swap_clause,
    swapped_lines,
    symbols_clause,
    test_count,
    unmended_clause,
    worked_clause,
)
from aforesaid.providers.extract.commands import CHECKS
from aforesaid.providers.extract.messages import (
    CAUSE,
    CAUSE_LABEL,
    POINTING,
    find_causes,
    find_statements,
    opening_words,
)
from aforesaid.providers.extract.patches import is_remark, language_of, merge
from aforesaid.providers.extract.prompts import ALSO_NOUNS, base_verb
from aforesaid.providers.extract.story import Edit, FailedCommand, Look, Run, Search, Step, Story

FEWEST_FACTS, MOST_FACTS = 3, 7
FILES_TOLD = 3
SMALL = 30
FINDINGS_TOLD = 4
FINDINGS_UNDER_ONE = 2
LASTING = frozenset(("install", "migration", "deploy", "history", "files"))


def write_facts(story: Story) -> tuple[str, ...]:
    """The most telling statements that keep to the length of a fact."""
    project = story.turn.project or "the project"
    contexts = (f"in the project {project}", f"(prompt {story.turn.prompt_number} of the session)")
    kept: list[str] = []
    for statement in _statements(story):
        found = make_fact(statement, *contexts)
        if found and not any(_same(found, other) for other in kept):
            kept.append(found)
        if len(kept) == MOST_FACTS:
            return tuple(kept)
    for statement in _fillers(story):
        found = make_fact(statement, *contexts)
        if len(kept) < FEWEST_FACTS and found and not any(_same(found, other) for other in kept):
            kept.append(found)
    return tuple(kept)


def _same(one: str, other: str) -> bool:
    """One sentence of the agent, once as a report and once as an explanation, is one fact."""
    if one.startswith("Agent's") and other.startswith("Agent's"):
        return one.partition(": ")[2][:80] == other.partition(": ")[2][:80]
    return one == other


def _statements(story: Story) -> Iterator[str]:
    ranked = sort_patches(story.patches)
    yield from _failures(story)
    yield from (file_clause(patch) for patch in ranked[:FILES_TOLD])
    yield from _ends(story)
    yield from _commits(story)
    yield from _dead_ends(story)
    if not story.patches:
        yield from _found(story)
        yield from (ended_clause(run) for run in once_each(story.deeds)[:4])
    yield from move_clauses(story)[:1]
    yield from _causes(story)
    yield from _swaps(story, remarks=False)
    yield from (mended(trial) for trial in story.mended if not trial.is_check)
    yield from _deeds(story) if story.patches else ()
    yield from _asked_back(story)
    yield from _rest(story)


def _swaps(story: Story, *, remarks: bool) -> Iterator[str]:
    """Lines of the main file that became others, when the change is small enough to be shown."""
    for patch in sort_patches(story.patches)[:1]:
        if patch.plus + patch.minus <= SMALL:
            found = [swap for swap in patch.swaps if is_remark(swap) == remarks]
            yield from (swap_clause(patch, *swap) for swap in found[:2])


def _failures(story: Story) -> Iterator[str]:
    """What failed first, before the work mended it or met the next failure."""
    if story.ask.pasted and story.agent is None:
        yield f"The user's prompt shows the error {as_code(story.ask.pasted, 100)}"
    met_another = [t for t in story.unsolved if t.first.outcome.error != t.last.outcome.error]
    told = [t for t in (*story.mended, *met_another) if t.is_check]
    for trial in told[:2]:
        yield f"{failed_clause(trial.first)}{' in an earlier turn' if trial.earlier else ''}"
    names = (failing_clause(trial.first) for trial in told)
    yield from [name for name in names if name][:1]


def _ends(story: Story) -> Iterator[str]:
    """How the checks stood at the end."""
    for trial in story.broken[:2]:
        yield unmended_clause(story, trial)
    for trial in story.partly[:1]:
        if trial.partial:
            part = ended_clause(trial.partial)
            yield f"{part}; the failed {run_name(trial.last)} was not repeated in full"
    last = {run.command.program: run for run in last_checks(story)}
    for trial in [trial for trial in story.mended if trial.is_check][:2]:
        if trial.end:
            end = last.pop(trial.end.command.program, trial.end)
            yield f"{worked_clause(story, end)}{_between(story, trial, end)}"
    for run in list(last.values())[:1]:
        yield f"{ended_clause(run)}{' after the last edit' if after_edits(story, run) else ''}"


def _between(story: Story, trial: FailedCommand, end: Run) -> str:
    """What happened between the failure and the success."""
    first = trial.first.place
    failures = f" {plural(trial.reds, 'failed run')} and" if trial.reds > 1 else ""
    edited = dict.fromkeys(e.patch.path for e in story.edits if first < e.place < end.place)
    if edited:
        return f" after{failures} edits in {join_paths(list(edited), 2)}"
    installed = [r for r in story.runs if first < r.place < end.place and r.good and _acts(r)]
    return f" after {run_name(installed[-1])}" if installed else ""


def _acts(run: Run) -> bool:
    return run.command.kind not in CHECKS | {"routine"}


def _commits(story: Story) -> Iterator[str]:
    for commit in story.commits[:2]:
        short = f"Commit {commit.hash}" if commit.hash else "A git commit"
        yield f"{short} recorded the work as {quote(commit.subject, 100)}"


def _causes(story: Story) -> Iterator[str]:
    """The agent's explanation. One that is too long for a fact loses what stands behind a semicolon."""
    found = find_causes(story.message, mended=bool(story.mended))
    for cause in [s for s in found if not POINTING.match(s)][:1]:
        label = CAUSE_LABEL.match(cause)
        lead = "Cause, as the agent explains it" if label else "Agent's explanation"
        said = f"{lead}: {cause[label.end() if label else 0 :]}"
        yield said if len(said) <= FACT_MOST else said.rpartition("; ")[0] or said


def _dead_ends(story: Story) -> Iterator[str]:
    for patch in story.dead_ends[:2]:
        symbols = name_symbols(patch.changed or patch.added, 2)
        where = f"{symbols} in {patch.path}" if symbols else patch.path
        yield f"A change of {where} was made and then taken back in the same turn"


def _found(story: Story) -> Iterator[str]:
    """What the agent reported, as its report, in its order: the sentences that name things."""
    said = find_statements(story.message)
    chosen: list[str] = []
    under: Counter[str] = Counter()
    for finding in sorted(said, key=_tells_less):
        heading = finding.partition(": ")[0]
        if under[heading] < FINDINGS_UNDER_ONE:
            under[heading] += 1
            chosen.append(finding)
    for finding in [s for s in said if s in chosen[:FINDINGS_TOLD]]:
        yield f"Agent's report: {finding}"


def _tells_less(finding: str) -> tuple[bool, bool, bool]:
    return "`" not in finding, not CAUSE.search(finding), not 60 <= len(finding) <= 130


def _deeds(story: Story) -> Iterator[str]:
    """Installs, migrations and the like beside the edits."""
    lasting = [run for run in once_each(story.deeds) if run.command.kind in LASTING]
    if lasting:
        yield f"Also run: {join_items([run_name(run) for run in lasting], 3)}"


def _asked_back(story: Story) -> Iterator[str]:
    for answer in story.answers[:2]:
        yield f"The user answered {quote(answer.answer, 50)} to {quote(answer.question, 70)}"


def _rest(story: Story) -> Iterator[str]:
    """What still tells something when the facts are few."""
    more = sort_patches(story.patches)[FILES_TOLD:]
    if more:
        yield f"Also changed: {join_items([patch.path for patch in more], 3)}"
    checked = any(after_edits(story, run) and _acts_or_checks(run) for run in story.runs)
    if not checked and not story.broken and any(map(_is_program, story.modified)):
        where = short_path(story.edits[-1].patch.path)
        yield f"No test and no other check ran after the last edit of {where}"
    for search in [s for s in story.searches if s.kind is ToolKind.WEB_SEARCH][:1]:
        yield f"The web was searched for {quote(search.what, 90)}"
    if story.turn.interrupted:
        yield "The turn was interrupted before the agent gave a final answer"


def _is_program(path: str) -> bool:
    return not is_docs(path) and language_of(path) is not None


def _acts_or_checks(run: Run) -> bool:
    return run.command.kind not in ("routine", "format", "commit", "push")


def _fillers(story: Story) -> Iterator[str]:
    """Said by others or of little weight, and still better than an observation of one fact."""
    if story.patches:
        yield from (f"Agent's report: {finding}" for finding in find_statements(story.message)[:2])
    yield from _swaps(story, remarks=True)
    if story.unused:
        yield f"Read without being changed: {join_items([as_code(p, 60) for p in story.unused], 3)}"
    if story.ask.text and not story.ask.trivial and story.agent is None:
        yield f"The request in the user's words: {quote(story.ask.text, 110)}"


FEWEST_CONCEPTS, MOST_CONCEPTS = 2, 5
WORD = re.compile(r"[^\W\d_]{3,}(?:-[^\W\d_]+)*")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_|\.|-|\s|/")
# Rows: a sign in a path, a command or an error, and the topic it stands for.
SIGNS = tuple(
    (re.compile(pattern, re.IGNORECASE), topic)
    for pattern, topic in (
        (r"migrat|\.sql$|schema|alembic|ecto\.", "database"),
        (r"\.github/workflows|gitlab-ci|\.circleci|jenkinsfile", "continuous-integration"),
        (r"dockerfile|docker-compose|\.dockerignore", "containers"),
        (
            r"package(?:-lock)?\.json$|requirements.*\.txt$|cargo\.(?:toml|lock)$|go\.(?:mod|sum)$"
            r"|mix\.lock$|uv\.lock$|gemfile",
            "dependencies",
        ),
        (r"\.s?css$|\.less$|tailwind", "styling"),
        (r"\bauth|login|session_?token|oauth|jwt|password", "authentication"),
        (r"\berror|exception|retry|fallback", "error-handling"),
        (r"perf|benchmark|cache|caching|latency", "performance"),
        (r"\bapi\b|endpoint|routes?[./]|controller", "api"),
        (r"settings?\.|config", "configuration"),
        (r"logg(?:er|ing)|telemetry|tracing|metrics", "logging"),
        (r"secur|sanitiz|csrf|xss|permission", "security"),
    )
)
BY_RUN = {"lint": "linting", "type check": "type-checking", "build": "build", "install": "dependencies",
          "migration": "database", "deploy": "deployment", "server": "development-server"}  # fmt: skip
GENERIC = frozenset(
    text.words(
        "src lib app apps main index init mod utils util common core base test tests spec specs docs "
        "doc readme py js ts package packages internal pkg cmd bin scripts script tools tool the and "
        "for with from into this that file files code function functions class classes method methods "
        "module modules add added fix fixed change changed use new all some get set make made please "
        "run ran work working task tasks issue bug error errors failing failed fails component "
        "components service services model models view views controller controllers helper helpers "
        "types type data value values name names list item items line lines should would could need "
        "want when then what which where why how are was were has have had not but you your our its "
        "also let see now more one two home user users project projects pull request commit push "
        "public private static default config settings manager handler live web client server assets "
        "priv opt tmp var etc usr worktrees vendor dist build target node_modules out output input "
        "result results show start show first ready next find details available subtasks still does "
        "seem maybe because instead section definition again best way fast small big only over every "
        "before after always never try tried"
    )
)
FILLERS = frozenset(
    text.words(
        "about across against already among another any anything around away back been being below "
        "between both but came can cannot come comes day did doing done don down each either else "
        "enough even ever everything everywhere few gets getting gives goes going gone good got here him "
        "his however into itself just keeps kept last least less like little long look looks lot made "
        "makes many me might most much must near nothing off often once ones onto other others ought "
        "out own per please quite rather really right said same say says seen several shall she since "
        "something soon such sure takes than thank thanks their them themselves there therefore these "
        "they thing things those though three through thus together too took toward under until upon "
        "used using very via want wants way well went while who whole whom whose will within without "
        "yes yet zero old current correct wrong whenever wherever decision"
    )
)
SYMBOL_WORDS = 3
HANDLES_ERRORS = re.compile(
    r"\s*\}?\s*(?:except\b|raise\b|rescue\b|throw\b|catch\s*[({]|class \w+\(\w*(?:Error|Exception)\))"
)
EXTRAS = ("development", "coding-session")


def choose_concepts(story: Story) -> tuple[str, ...]:
    """Strongest first. Types of observations are no topics."""
    scores: Counter[str] = Counter()
    _from_words(story, scores)
    _from_signs(story, scores)
    left_out = {*TYPES, *topic_words(story.turn.project)}
    ranked = sorted(
        (topic for topic in scores if topic not in left_out), key=lambda t: (-scores[t], t)
    )
    chosen = _distinct(ranked)[:MOST_CONCEPTS]
    if len(chosen) < FEWEST_CONCEPTS:
        chosen += [topic for topic in (*_languages(story), *EXTRAS) if topic not in chosen]
        chosen = chosen[:FEWEST_CONCEPTS]
    return tuple(chosen)


def topic_words(phrase: str) -> list[str]:
    """The telling words of a phrase or a name, as topics."""
    parts = " ".join(CAMEL.split(phrase)).lower()
    return [word for word in WORD.findall(parts) if word not in GENERIC and len(word) <= 24]


def nouns(phrase: str) -> list[str]:
    """The words of a sentence that can be topics: no verbs, no adverbs, no fillers."""
    return [word for word in topic_words(phrase) if not _is_filler(word)]


def _is_filler(word: str) -> bool:
    verb = base_verb(word)
    return word in FILLERS or word.endswith("ly") or (verb is not None and verb not in ALSO_NOUNS)


def path_topics(path: str) -> list[str]:
    """The names of a file and of the folders right above it."""
    pure = PurePosixPath(path)
    return topic_words("/".join([*pure.parts[-3:-1], pure.name.split(".")[0]]))


def _from_words(story: Story, scores: Counter[str]) -> None:
    """Topics are names in the code. What was said counts only when it names such a thing too."""
    paths = story.modified or story.read
    by_path = Counter(word for path in paths for word in set(path_topics(path)))
    said = " ".join(story.ask.sentences[:3])[:400] if not story.ask.trivial else ""
    subjects = " ".join(commit.plain for commit in story.commits)
    spoken = {_singular(word) for word in topic_words(f"{said} {subjects}")}
    for word, count in by_path.items():
        scores[word] += 2 + min(count, 3) + 2 * (_singular(word) in spoken)
    for topic, named in _symbol_topics(story, said, subjects):
        scores[topic] += 2 + named
    for commit in story.commits:
        if commit.scope:
            scores[_kebab(commit.scope)] += 4
    if not paths:
        repeated = Counter(topic_words((story.message or "")[:4000]))
        for word in nouns(said):
            scores[word] += min(repeated[word], 3)


def _symbol_topics(story: Story, said: str, subjects: str) -> list[tuple[str, int]]:
    """Names of functions and classes that somebody spoke of, and how plainly: `bulk-discount`."""
    spoken = {_singular(word) for word in WORD.findall(f"{said} {subjects}".lower())}
    message = (story.message or "")[:4000]
    found: list[tuple[str, int]] = []
    for patch in story.patches:
        for symbol in () if is_test(patch.path) else (*patch.added, *patch.changed):
            name = symbol.name.rpartition(".")[2]
            words = [word.lower() for word in CAMEL.split(name) if word]
            whole = 0 < len(words) <= SYMBOL_WORDS and all(len(word) > 2 for word in words)
            if symbol.kind not in ("function", "class", "type") or not whole or words[0] in GENERIC:
                continue
            if all(_singular(word) in spoken for word in words):
                found.append(("-".join(words), 2))
            elif symbol in patch.added and re.search(rf"`{re.escape(name)}\b", message):
                found.append(("-".join(words), 0))
    return list(dict.fromkeys(found))


def _singular(word: str) -> str:
    return word.rstrip("s")


def _from_signs(story: Story, scores: Counter[str]) -> None:
    paths = story.modified or story.read
    if any(run.command.kind == "test" for run in story.runs) or any(map(is_test, story.modified)):
        scores["testing"] += 4
    if story.modified and all(map(is_docs, story.modified)):
        scores["documentation"] += 6
    if any(map(_handles_errors, story.edits)):
        scores["error-handling"] += 3
    for path in paths:
        for pattern, topic in SIGNS:
            if pattern.search(path):
                scores[topic] = max(scores[topic], 3)
    for run in story.runs:
        if run.command.kind in BY_RUN and run.outcome.verdict != "refused":
            scores[BY_RUN[run.command.kind]] = max(scores[BY_RUN[run.command.kind]], 1)


def _handles_errors(edit: Edit) -> bool:
    """Lines came that raise or catch errors."""
    lines = (line for hunk in edit.change.hunks for line in hunk.added)
    return not is_test(edit.patch.path) and any(HANDLES_ERRORS.match(line) for line in lines)


def _kebab(phrase: str) -> str:
    return "-".join(re.findall(r"[^\W_]+", phrase.lower()))[:40]


def _distinct(topics: Iterable[str]) -> list[str]:
    """No topic twice in singular and plural."""
    kept: list[str] = []
    for topic in topics:
        if topic and not any(_singular(topic) == _singular(other) for other in kept):
            kept.append(topic)
    return kept


def _languages(story: Story) -> list[str]:
    paths = (*story.modified, *story.read)
    found = [(language_of(path), PurePosixPath(path).suffix.lstrip(".").lower()) for path in paths]
    names = (language.name if language else suffix for language, suffix in found)
    return [name for name in dict.fromkeys(names) if name.isalpha() and len(name) < 20]


ASK_LIMIT = 220
CLOSING_LIMIT = 300
PHASES = 9


def write_narrative(story: Story) -> str:
    return join_sentences([*_beginning(story), *_middle(story), *_end(story)])


def _beginning(story: Story) -> Iterator[str]:
    if story.agent is not None:
        errand = f" to {quote(story.ask.text, 120)}" if story.ask.text else ""
        kind = text.one_line(story.agent.type, 60) or "unnamed"
        yield f"A sub-agent ({kind}) was sent{errand}"
    elif story.ask.text:
        did = "asked" if story.ask.question or story.ask.verb else "wrote"
        yield f"The user {did}: {quote(story.ask.text, ASK_LIMIT)}"
    if story.ask.pasted and story.agent is None:
        yield f"The prompt shows the error {as_code(story.ask.pasted, 140)}"
    for trial in story.mended + story.broken:
        if trial.earlier:
            yield f"Earlier in the session {failed_clause(trial.first)}"


def _middle(story: Story) -> list[str]:
    """The phases of the work; of a long one the first and the last."""
    phases = [phrase for phrase in _phases(story) if phrase]
    if len(phases) <= PHASES:
        return phases
    half = PHASES // 2
    left_out = plural(len(phases) - 2 * half, "further step")
    return [*phases[:half], f"{left_out} of editing and checking followed", *phases[-half:]]


def _phases(story: Story) -> Iterator[str]:
    seen: set[str] = set()
    for kind, group in groupby((s for s in story.steps if _counts(s)), key=_kind):
        steps = list(group)
        if kind == "edit":
            yield _edited([step for step in steps if isinstance(step, Edit)], seen)
        elif kind == "look":
            yield _looked(steps, story)
        else:
            yield from _ran([step for step in steps if isinstance(step, Run)], story)


def _counts(step: Step) -> bool:
    match step:
        case Run():
            return step.command.kind not in ("routine", "format") or step.outcome.verdict in (
                "refused",
            )
        case Edit() | Look() | Search():
            return True
        case _:
            return False


def _kind(step: Step) -> str:
    match step:
        case Edit():
            return "edit"
        case Look() | Search():
            return "look"
        case _:
            return "run"


def _looked(steps: Sequence[Step], story: Story) -> str:
    """Looking around counts when nothing of it was changed later; the rest shows in the edits."""
    unused = set(story.unused)
    paths = dict.fromkeys(s.path for s in steps if isinstance(s, Look) and s.path in unused)
    queries = [s.what for s in steps if isinstance(s, Search) and s.kind is ToolKind.WEB_SEARCH]
    deeds = []
    if paths:
        deeds.append(f"{join_paths(list(paths), 3)} {'was' if len(paths) == 1 else 'were'} read")
    if queries:
        deeds.append(f"the web was searched for {join_items([quote(q, 60) for q in queries], 2)}")
    return join_items(deeds)


def _edited(edits: list[Edit], seen: set[str]) -> str:
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.patch.path, []).append(edit)
    if len(by_path) > 2:
        again = " again" if by_path.keys() <= seen else ""
        seen.update(by_path)
        return f"{join_paths(list(by_path), 4)} were changed{again}"
    clauses = []
    for path, found in by_path.items():
        clauses.append(_edit_clause(path, found, again=path in seen))
        seen.add(path)
    return ", and ".join(clauses)


def _edit_clause(path: str, edits: list[Edit], *, again: bool) -> str:
    """One file: what came and what changed in it, and the line itself when only one changed."""
    where = short_path(path)
    patch = merge((edit.change, edit.patch) for edit in edits)[0]
    if patch.created:
        return created_clause(where, patch)
    deeds = symbols_clause(patch)
    what = f"{deeds} in {where}" if deeds else f"{where} was changed{' again' if again else ''}"
    small = len(patch.swaps) == 1 and patch.plus + patch.minus == 2
    return f"{what} ({swapped_lines(*patch.swaps[0], 50)})" if small else what


def _ran(found: list[Run], story: Story) -> Iterator[str]:
    """Runs in a row: failures one by one, good checks together."""
    for group_kind, group in groupby(found, key=_sort):
        rows = list(group)
        if group_kind == "good":
            yield _passed(rows, story)
        elif group_kind == "bad":
            yield from (_failed(run) for run in once_each(rows))
        else:
            yield from dict.fromkeys(_special(run) for run in rows)


def _sort(run: Run) -> str:
    if run.commits or run.outcome.verdict in ("stopped", "refused", "started", "unseen"):
        return "special"
    return "bad" if run.bad else "good"


def _passed(rows: list[Run], story: Story) -> str:
    clauses = []
    for sort, group in groupby(once_each(rows), key=lambda run: _proof(run, story)):
        found = list(group)
        if sort == "check":
            clauses.append(_checked(found))
        elif sort == "proof":
            clauses += [worked_clause(story, run) for run in found]
        else:
            was = "was" if len(found) == 1 else "were"
            clauses.append(f"{join_items([run_name(run) for run in found])} {was} run")
    return ", then ".join(clauses)


def _proof(run: Run, story: Story) -> str:
    if run.command.kind in CHECKS:
        return "check"
    return "proof" if story.proves(run) else "deed"


def _checked(found: list[Run]) -> str:
    if len(found) == 1:
        return ended_clause(found[0])
    quiet = [run_name(run) for run in found if run.outcome.verdict == "quiet"]
    good = [f"{run_name(run)}{test_count(run)}" for run in found if run.outcome.verdict != "quiet"]
    clauses = [f"{join_items(good, 4)} passed"] if good else []
    clauses += [f"{join_items(quiet, 4)} showed no error"] if quiet else []
    return ", and ".join(clauses)


def _failed(run: Run) -> str:
    named = failing_tests(run, 3)
    return f"{failed_clause(run)}" + (f" (failing: {named})" if named else "")


def _special(run: Run) -> str:
    if run.commits:
        shown = [
            f"{quote(c.subject, 90)}" + (f" ({c.hash})" if c.hash else "") for c in run.commits
        ]
        pushed = " and pushed" if "push" in run.command.kinds else ""
        return f"The work was committed as {join_items(shown)}{pushed}"
    return ended_clause(run)


def _end(story: Story) -> Iterator[str]:
    for patch in story.dead_ends[:2]:
        yield f"The change of {short_path(patch.path)} was taken back before the turn ended"
    for trial in story.broken[:2]:
        yield unmended_clause(story, trial, why=False)
    if story.answers:
        yield join_items(
            [
                f"asked {quote(a.question, 90)} the user answered {quote(a.answer, 60)}"
                for a in story.answers
            ],
            2,
        )
    if story.turn.interrupted and story.agent is None:
        yield "The turn was interrupted"
    closing = opening_words(story.message, CLOSING_LIMIT)
    if closing:
        who = "The agent's closing words" if story.agent is None else "The sub-agent reported"
        yield f"{who}: {quote(closing, CLOSING_LIMIT)}"
