"""Two to five topics of a piece of work, from its paths, its symbols, its words and its kind."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from recollect import text
from recollect.model.observations import TYPES
from recollect.providers.reading import verbs
from recollect.providers.reading.steps import Edit
from recollect.providers.reading.story import Story
from recollect.providers.reading.symbols import language_of
from recollect.providers.writing.places import is_docs, is_test

LEAST, MOST = 2, 5
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


def concepts_of(story: Story) -> tuple[str, ...]:
    """Strongest first. Types of observations are no topics."""
    scores: Counter[str] = Counter()
    _from_words(story, scores)
    _from_signs(story, scores)
    left_out = {*TYPES, *topic_words(story.turn.project)}
    ranked = sorted(
        (topic for topic in scores if topic not in left_out), key=lambda t: (-scores[t], t)
    )
    chosen = _distinct(ranked)[:MOST]
    if len(chosen) < LEAST:
        chosen += [topic for topic in (*_languages(story), *EXTRAS) if topic not in chosen]
        chosen = chosen[:LEAST]
    return tuple(chosen)


def topic_words(phrase: str) -> list[str]:
    """The telling words of a phrase or a name, as topics."""
    parts = " ".join(CAMEL.split(phrase)).lower()
    return [word for word in WORD.findall(parts) if word not in GENERIC and len(word) <= 24]


def nouns(phrase: str) -> list[str]:
    """The words of a sentence that can be topics: no verbs, no adverbs, no fillers."""
    return [word for word in topic_words(phrase) if not _is_filler(word)]


def _is_filler(word: str) -> bool:
    verb = verbs.base(word)
    return (
        word in FILLERS
        or word.endswith("ly")
        or (verb is not None and verb not in verbs.ALSO_NOUNS)
    )


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
