"""Which of the six types a piece of work is."""

from recollect.providers.reading.patches import Patch
from recollect.providers.reading.story import Story
from recollect.providers.writing.places import is_config, is_docs, is_test

BY_COMMIT = {
    "fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
    "refactor": "refactor", "docs": "change", "chore": "change", "test": "change", "style": "change",
    "build": "change", "ci": "change", "perf": "change", "revert": "change",
}  # fmt: skip
CODE_KINDS = frozenset(("function", "class", "type", "module", "definition"))


def kind_of(story: Story) -> str:
    if not story.patches:
        return _without_changes(story)
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


def _without_changes(story: Story) -> str:
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
