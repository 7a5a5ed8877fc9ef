"""Two to five topics of a piece of work, from its paths, its symbols, its words and its kind."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from recollect import text
from recollect.model.observations import TYPES
from recollect.providers.reading import verbs
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


def _from_words(story: Story, scores: Counter[str]) -> None:
    """A word counts once for each kind of evidence it is in; what two kinds share is the topic."""
    paths = story.modified or story.read
    by_path = Counter(word for path in paths for word in set(topic_words(_tail(path))))
    symbols = {
        w
        for patch in story.patches
        for s in (*patch.added, *patch.changed)
        for w in topic_words(s.name)
    }
    commits = {
        w for commit in story.commits for w in topic_words(f"{commit.scope or ''} {commit.plain}")
    }
    said = [] if story.ask.trivial else topic_words(" ".join(story.ask.sentences[:3])[:400])
    asked = {word for word in said if not verbs.base(word)}
    for word, count in by_path.items():
        scores[word] += 2 + min(count, 3)
    for words, worth in ((symbols, 1), (commits, 2), (asked, 2)):
        for word in words & (
            set(by_path) | symbols | commits if worth == 2 else set(by_path) | asked
        ):
            scores[word] += worth
    for commit in story.commits:
        if commit.scope:
            scores[_kebab(commit.scope)] += 4
    if not paths:
        repeated = Counter(topic_words((story.message or "")[:4000]))
        for word in sorted(asked):
            scores[word] += 1 + min(repeated[word], 3)


def _from_signs(story: Story, scores: Counter[str]) -> None:
    paths = story.modified or story.read
    if any(run.command.kind == "test" for run in story.runs) or any(map(is_test, story.modified)):
        scores["testing"] += 4
    if story.modified and all(map(is_docs, story.modified)):
        scores["documentation"] += 6
    for path in paths:
        for pattern, topic in SIGNS:
            if pattern.search(path):
                scores[topic] = max(scores[topic], 3)
    for run in story.runs:
        if run.command.kind in BY_RUN and run.outcome.verdict != "refused":
            scores[BY_RUN[run.command.kind]] = max(scores[BY_RUN[run.command.kind]], 1)


def _tail(path: str) -> str:
    pure = PurePosixPath(path)
    return "/".join([*pure.parts[-3:-1], pure.name.split(".")[0]])


def _kebab(phrase: str) -> str:
    return "-".join(re.findall(r"[^\W_]+", phrase.lower()))[:40]


def _distinct(topics: Iterable[str]) -> list[str]:
    """No topic twice in singular and plural."""
    kept: list[str] = []
    for topic in topics:
        if topic and not any(topic.rstrip("s") == other.rstrip("s") for other in kept):
            kept.append(topic)
    return kept


def _languages(story: Story) -> list[str]:
    paths = (*story.modified, *story.read)
    found = [(language_of(path), PurePosixPath(path).suffix.lstrip(".").lower()) for path in paths]
    names = (language.name if language else suffix for language, suffix in found)
    return [name for name in dict.fromkeys(names) if name.isalpha() and len(name) < 20]
