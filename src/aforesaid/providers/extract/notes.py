"""The notes of a turn without a model: what the user and the agent said, and what the events show.

Nothing is composed but the facts about files, commits and checks. The agent's sentences are chosen
(`choose.py`), marked as quotations, said once and cut where they end.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from aforesaid import text
from aforesaid.english import count
from aforesaid.model.observations import ObservationDraft, SummaryDraft, SummarySkipped, Turn
from aforesaid.providers.extract.choose import (
    BETWEEN,
    CLOSING,
    CODE,
    COMMIT,
    DID,
    Chosen,
    choose,
    find_open_ends,
    find_question,
    is_chat,
)
from aforesaid.providers.extract.commands import CHECKS, STANDING
from aforesaid.providers.extract.passages import (
    plain_line,
    plain_prompt,
    read_sentences,
)
from aforesaid.providers.extract.patches import Patch, Symbol
from aforesaid.providers.extract.prompts import Decision, read_decisions
from aforesaid.providers.extract.titles import (
    DOES,
    TITLE,
    cut_clause,
    describe_failure,
    is_specific,
    list_paths,
    write_title,
)
from aforesaid.providers.extract.work import Check, Run, Work, read_work
from aforesaid.repository import is_shared_branch
from aforesaid.similarity import content_words

SUBTITLE, FACT, REQUEST, NARRATIVE = 240, 320, 300, 900  # characters
FACTS, REASONS, FILES, NAMES, CONCEPTS, FILES_KEPT = 8, 5, 4, 4, 5, 40
SAYS_MORE = 3  # words of the user's sentence that the decision does not have
LEAST_MESSAGE = 80  # characters of an answer that is worth a note by itself
TYPES = {"fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature"}
TYPES |= {"feature": "feature", "refactor": "refactor"}
BUG = re.compile(
    r"\b(?:bug|fix(?:e[sd])?|broken|regression|crash\w*|wrong|fehler|corrig\w+)\b|修复|修正", re.I
)
REFACTOR = re.compile(
    r"\b(?:refactor\w*|renam\w+|clean(?:ed)? ?up|simplif\w+|extract(?:ed)?|consolidat\w+|dedup\w*)\b",
    re.I,
)
NEW = re.compile(
    r"\b(?:add(?:s|ed)?|implement(?:s|ed)?|creat(?:e[sd]?)|introduc\w+|support|new)\b", re.I
)
OPERATIONS = ("install", "migration", "deploy")
NAME = re.compile(r"[A-Za-z_][\w.-]{2,39}")
STOPS = (".", "!", "?", "…", "。", "！", "？")


def write_observations(turn: Turn) -> list[ObservationDraft]:
    """The user's decisions, the main agent's work, then what sub-agents found."""
    works = read_work(turn)
    drafts = [_decision(each, works[0]) for each in read_decisions(turn.prompt)[:3]]
    return drafts + [draft for work in works if (draft := _observation(work)) is not None]


def _observation(work: Work) -> ObservationDraft | None:
    chosen = _chosen(work)
    if not _is_worth_a_note(work, chosen):
        return None
    title = write_title(work, chosen)
    chosen = [each for each in chosen if not _is_title(title, each.said)]
    reasons = [each for each in chosen if each.why]
    rest = [each for each in chosen if not each.why]
    subtitle = next((each for each in (*reasons, *rest) if len(each.text) <= SUBTITLE - 2), None)
    quoted = [each for each in reasons if each is not subtitle][
        : REASONS // 2 if work.agent else REASONS
    ]
    facts = [quote(each, FACT) for each in _texts(quoted)]
    facts += [*_answers(work), *_did(work, title), *_outcomes(work)]
    used = {subtitle, *quoted}
    return ObservationDraft(
        type=_type(work, title),
        title=title,
        subtitle=quote(subtitle.text, SUBTITLE) if subtitle else None,
        facts=tuple(dict.fromkeys(facts))[:FACTS],
        narrative=None if work.agent else _narrative([c for c in chosen if c not in used]),
        concepts=_concepts(work, title, chosen),
        files_read=work.read[:FILES_KEPT],
        files_modified=work.modified[:FILES_KEPT],
        subagent_type=(text.one_line(work.agent.type, 60) or "unnamed") if work.agent else None,
    )


def _is_title(title: str, words: str) -> bool:
    """Whether the title says all of it."""
    bare = DOES.sub("", words).rstrip(".:").casefold()
    return len(bare) <= len(title) + 4 and bare[:40] == title.rstrip("…").casefold()[:40]


def _chosen(work: Work) -> list[Chosen]:
    """Best first; of a sub-agent's report, first what speaks of its task."""
    messages = [(BETWEEN, said) for said in work.said]
    commits = [(COMMIT, commit.body) for commit in work.commits if commit.body]
    answers = not (work.patches or work.commits)
    found = choose([*commits, (CLOSING, work.message or ""), *messages], answers=answers)
    task = set(content_words(work.task))
    return sorted(found, key=lambda each: -len(task & set(content_words(each.text))))


def _is_worth_a_note(work: Work, chosen: list[Chosen]) -> bool:
    if work.patches or work.commits or work.failing or work.repaired or work.pull_requests:
        return True
    if work.undone or work.answers:
        return True
    if any(run.good and run.command.kind in OPERATIONS for run in work.runs):
        return True
    spoke = len(work.message or "") >= LEAST_MESSAGE or any(c.place == BETWEEN for c in chosen)
    return (spoke or bool(_passed_checks(work))) and any(each.why for each in chosen)


def quote(words: str, limit: int) -> str:
    """Marked as somebody's words, and cut at the end of a clause."""
    return f"“{cut_clause(words.strip().strip('“”'), limit - 2)}”"


def _texts(chosen: Iterable[Chosen]) -> list[str]:
    """In their order. A label that several in a row stand under is given once."""
    found, lead = [], ""
    for each in sorted(chosen, key=lambda one: one.order):
        found.append(each.said if each.lead == lead else each.text)
        lead = each.lead
    return found


def _narrative(rest: Iterable[Chosen]) -> str | None:
    """What else the agent said, in its order, as far as there is room."""
    kept: list[Chosen] = []
    room = NARRATIVE
    for each in sorted(rest, key=lambda one: -one.score):
        if len(each.text) + 2 <= room:
            kept.append(each)
            room -= len(each.text) + 2
    said = " ".join(map(end_sentence, _texts(kept)))
    return f"“{said}”" if said else None


def end_sentence(words: str) -> str:
    return words if words.endswith((*STOPS, ":")) else f"{words}."


def _did(work: Work, title: str, *, files: bool = True) -> list[str]:
    """What the events show: commits, pull requests, files, checks."""
    found = []
    for commit in work.commits[-3:]:
        made = f"`{commit.hash}`" if commit.hash else "a git commit"
        same = commit.subject.startswith(title.rstrip("…")[:40])
        found.append(
            f"Committed as {made}" if same else f"Commit {made}: {quote(commit.subject, 120)}"
        )
    found += [f"Opened pull request {address}" for address in work.pull_requests[:2]]
    if files and (changed := _changed(work.patches)):
        found.append(changed)
    if work.undone:
        found.append(f"Changed and taken back in the same turn: {list_paths(work.undone)}")
    return found


def _outcomes(work: Work, *, failures: bool = True) -> list[str]:
    """How the checks ended."""
    found = [_repaired(check) for check in work.repaired if check.first.command.kind in STANDING][
        :1
    ]
    found += [describe_failure(work, check) for check in work.failing[:2] if failures]
    for run in _passed_checks(work)[:2]:
        counts = run.outcome.tally
        passed = f" ({count(counts.passed, 'test')})" if counts and counts.passed else ""
        found.append(f"`{run.command.text}` passed{passed}")
    return found


def _answers(work: Work) -> list[str]:
    return [
        f"To {quote(each.question, 140)} the user answered {quote(each.answer, 120)}."
        for each in work.answers[:3]
    ]


def _passed_checks(work: Work) -> list[Run]:
    """The last good run of each check that nothing contradicts."""
    failing = {check.last.command.program for check in work.failing}
    failing |= {check.last.command.program for check in work.repaired}
    last = {run.command.program: run for run in work.runs if run.command.kind in CHECKS}
    return [
        run for name, run in last.items() if run.good and name not in failing and run.command.text
    ]


def _repaired(check: Check) -> str:
    error = check.first.outcome.error
    failed = f" failed first ({error})" if error else " failed first"
    return f"`{check.last.command.text}`{failed} and passes now"


def _changed(patches: tuple[Patch, ...]) -> str | None:
    """What was changed in which file; the bare names of files are in `files_modified`."""
    ranked = sorted(patches, key=lambda patch: -(patch.plus + patch.minus))
    shown = list(filter(None, map(_file, ranked)))[:FILES]
    return text.cut("; ".join(shown), FACT) if shown else None


def _file(patch: Patch) -> str | None:
    if patch.created:
        defined = tuple(symbol for symbol in patch.added if symbol.kind != "section")
        return f"created `{patch.path}`" + (f" with {_names(defined)}" if defined else "")
    rows = (("added", patch.added), ("changed", patch.changed), ("removed", patch.removed))
    parts = [f"{verb} {_names(symbols)}" for verb, symbols in rows if symbols]
    return f"`{patch.path}`: {', '.join(parts)}" if parts else None


def _names(symbols: tuple[Symbol, ...]) -> str:
    named = [f"`{symbol.name}`" for symbol in symbols[:NAMES]]
    return ", ".join(named) + (", …" if len(symbols) > NAMES else "")


def _type(work: Work, title: str) -> str:
    for commit in work.commits:
        if commit.label:
            return TYPES.get(commit.label, "change")
    if not (work.patches or work.commits):
        operated = any(run.good and run.command.kind in OPERATIONS for run in work.runs)
        return "change" if operated else "discovery"
    about = f"{title}\n{work.turn.prompt or ''}"[:2000]
    if BUG.search(about):
        return "change" if work.failing else "bugfix"
    if REFACTOR.search(title):
        return "refactor"
    created = any(patch.created or patch.added for patch in work.patches)
    if created and NEW.search(about):
        return "feature"
    return "change"


def _concepts(work: Work, title: str, chosen: list[Chosen]) -> tuple[str, ...]:
    """The branch, the folder of the file that changed most, and the names that recur in the note."""
    said = " ".join([title, *(each.text for each in chosen[:6])])
    names = Counter(name.strip("`()").rpartition("/")[2] for name in CODE.findall(said))
    recurring = [name for name, _ in names.most_common() if NAME.fullmatch(name)]
    folders = [PurePosixPath(path).parent.name for path in work.modified[:1]]
    branch = "" if is_shared_branch(work.turn.branch) else text.one_line(work.turn.branch, 100)
    return tuple(dict.fromkeys(filter(None, (branch, *folders, *recurring))))[:CONCEPTS]


def _decision(decision: Decision, work: Work) -> ObservationDraft:
    """What the user decided, in the user's words."""
    more = set(content_words(decision.quote)) - set(content_words(decision.what))
    facts = [quote(decision.quote, FACT)] if len(more) >= SAYS_MORE else []
    facts += [f"Reason: {quote(decision.reason, FACT)}"] if decision.reason else []
    what = decision.what[:1].upper() + decision.what[1:]
    return ObservationDraft(
        type="decision",
        title=text.cut(what.rstrip("."), TITLE),
        subtitle="The user decided it.",
        facts=tuple(facts),
        concepts=(*_concepts(work, decision.what, [])[:4], "decisions"),
    )


def write_summary(turn: Turn) -> SummaryDraft | SummarySkipped:
    works = read_work(turn)
    main = works[0]
    chosen = _chosen(main)
    decisions = read_decisions(turn.prompt)
    asked = _asked(turn)
    busy = chosen or decisions or any(_is_worth_a_note(work, []) for work in works)
    answered = turn.events or len(turn.last_message or "") >= LEAST_MESSAGE
    if not busy and not (asked and answered):
        return SummarySkipped("Nothing was changed or found, and nothing specific was asked.")
    learned = _answers(main)
    done = [each for each in chosen if DID.match(each.said) and not each.why][:3]
    completed = [quote(said, FACT) for said in _texts(done)] if main.modified else []
    title = write_title(main, chosen)
    if not completed and not main.commits and DID.match(title):
        completed = [end_sentence(title)]
    for work in works:
        facts = _did(work, "", files=not completed) + _outcomes(work, failures=False)
        completed += map(end_sentence, facts)
    if main.modified and not completed:
        completed = [f"Changed {list_paths(main.modified)}."]
    if not completed:  # else the notes have the reasons and the decisions
        learned += [f"The user decided: {quote(each.what, 200)}." for each in decisions[:2]]
        learned[:0] = [quote(each.text, FACT) for each in chosen if each.why][:1]
    return SummaryDraft(
        request=asked,
        investigated=_investigated(works),
        learned=" ".join(learned) or None,
        completed=text.cut(" ".join(completed), 1200) or (None if learned else _answer(main)),
        next_steps=_next_steps(works),
        files_read=tuple(dict.fromkeys(path for work in works for path in work.read))[:FILES_KEPT],
        files_edited=tuple(dict.fromkeys(p for work in works for p in work.modified))[:FILES_KEPT],
        notes=_notes(works),
    )


def _asked(turn: Turn) -> str | None:
    """The first sentences of the prompt, as many as fit."""
    chosen = ""
    for sentence in read_sentences(plain_prompt(turn.prompt or "")):
        if chosen and len(chosen) + len(sentence) + 2 > REQUEST:
            break
        chosen = f"{chosen} {end_sentence(sentence)}".strip()
    return text.cut(chosen, REQUEST) or None


def _answer(work: Work) -> str | None:
    """Nothing was changed: the answer itself is what was done."""
    sentences = (plain_line(each) for each in read_sentences(work.message or ""))
    said = next((s for s in sentences if not is_chat(s) and len(s) > 20 and s[-1] != ":"), None)
    return quote(said, FACT) if said else None


def _investigated(works: list[Work]) -> str | None:
    read = [path for work in works for path in work.read]
    return f"Read {list_paths(dict.fromkeys(read))}." if read else None


def _next_steps(works: list[Work]) -> str | None:
    main = works[0]
    found = [end_sentence(describe_failure(work, each)) for work in works for each in work.failing][
        :3
    ]
    found += [quote(step, FACT) for step in find_open_ends(main.message)[:5]]
    if tasks := main.open_tasks[:5]:
        found.append(f"Open in the agent's task list: {'; '.join(quote(t, 120) for t in tasks)}.")
    asked = find_question(main.message)
    if asked and is_specific(asked) and not any(asked[:60] in step for step in found):
        found.append(f"The agent asked: {quote(asked, FACT)}")
    if main.turn.interrupted:
        found.append("The turn was interrupted before it ended.")
    return " ".join(found) or None


def _notes(works: list[Work]) -> str | None:
    agents = [quote(w.task, 80) if w.task else w.agent.type for w in works if w.agent]
    found = [f"Sub-agents: {', '.join(agents[:4])}."] if agents else []
    if refused := [r for w in works for r in w.runs if r.outcome.verdict == "refused"]:
        found.append(f"Not allowed to run: `{text.one_line(refused[-1].command.text, 80)}`.")
    return " ".join(found) or None
