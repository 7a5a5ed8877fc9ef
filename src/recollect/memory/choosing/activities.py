"""What a prompt is going to have done, and which rules are about that.

"Use tabs" shares no word with "create a file that prints the totals", and it applies. So a rule is also found
by the kind of work: a prompt that asks for it, and a memory that says how it is to be done. A question about
the same thing asks for no work: `which branch am I on?` needs no rule about branches.
"""

import re
from dataclasses import dataclass

MAKE = r"(?:write|create|add|implement|build|make|extend|refactor|rewrite|port|generate)"
FIND = r"(?:find|add|install|use|(?:pull|bring|wire) in|get|need|want|upgrade|update|bump|choose|recommend)"
UNDO = r"(?:drop|remove|delete|rename|get rid of|alter|change|replace|add)"
HAND = r"(?:open|create|make|write|raise|submit|prepare|draft|send|put up)"
SOURCE = (
    r"(?:functions?|methods?|class(?:es)?|modules?|components?|helpers?|scripts?|endpoints?|handlers?|parsers?|"
    r"decorators?|hooks?|wrappers?|utilit\w+|program|codec|client|adapter|widget|struct|interface|"
    r"source files?|\w+ file called|"
    r"(?:python|typescript|javascript|rust|java|kotlin|ruby|php|swift) (?:files?|code)|"
    r"[\w./-]+\.(?:py|jsx?|tsx?|go|rs|java|kt|rb|c|h|cpp|cs|php|swift|vue|svelte|sh|sql|exs?|scala))"
)
RECALLED = "what is remembered"
RECALLS = re.compile(
    r"\bmy (?:own )?preferences\b|\b(?:remember|know|recall) about (?:me|my)\b|"
    r"\bwhat (?:did|have) I (?:tell|told|ask|asked) you (?:to|about)\b|\bhow I (?:like|prefer|want)\b",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"^\W*(?:what|which|who|whose|when|where|why|how|is|are|was|were|does|do|did|has|have|may|am|should)\b",
    re.IGNORECASE,
)
LANGUAGES = {
    "python": r"python|\.py\b|django|flask|fastapi|pytest",
    "typescript": r"typescript|\.tsx?\b|\.vue\b|vue|angular|react|svelte",
    "javascript": r"javascript|\.jsx?\b|node(?:js)?|react|vue",
    "go": r"golang|\bgo\b(?= (?:code|test|file|func|program|error|module|service))|\.go\b|goroutine",
    "rust": r"\brust\b|\.rs\b|cargo",
    "java": r"\bjava\b|\.java\b|spring|maven|gradle",
    "kotlin": r"kotlin|\.kts?\b",
    "ruby": r"\bruby\b|\.rb\b|rails",
    "php": r"\bphp\b|laravel",
    "c": r"\bc\+\+|\.(?:c|h|cpp|hpp)\b",
    "csharp": r"c#|\.cs\b|dotnet",
    "swift": r"\bswift\b",
    "shell": r"\bbash\b|\.sh\b|shell script",
    "sql": r"\.sql\b",
    "terraform": r"terraform|\.tf\b",
}


@dataclass(frozen=True, slots=True)
class Activity:
    """`asked`: how a prompt asks for it. `ruled`: what a rule about it speaks of."""

    name: str
    asked: re.Pattern[str]
    ruled: re.Pattern[str]


def _row(name: str, asked: str, ruled: str) -> Activity:
    return Activity(name, re.compile(asked, re.IGNORECASE), re.compile(ruled, re.IGNORECASE))


ACTIVITIES = (
    _row(
        "code",
        rf"\b{MAKE}\b[^?!]*?\b{SOURCE}(?!\w)",
        r"\bindent|\btabs\b|\bquotes\b|semicolon|annotat|type hints?|\bnaming\b|docstring|\bcomments?\b|"
        r"line length|code style|coding style|camel ?case|snake ?case",
    ),
    _row(
        "tests",
        r"\b(?:write|add|create|extend|cover|fix|mend|make|speed up)\b[^.?!]*"
        r"\b(?:tests?|specs?|coverage|suite)\b(?!\.\w)"
        r"(?! (?:system|environment|server|account|data|bucket|cluster|instance))",
        r"(?<!and )\btests\b(?! with)|\btest (?:cases?|files?|modules?)\b|\bmock|\bfixtures?\b",
    ),
    _row(
        "a commit",
        r"(?<![\w:./-])commit\b(?! (?:log|hash|id|history))|\bcheck (?:it|this|that) in\b",
        r"\bcommits?\b",
    ),
    _row(
        "a push", r"\bpush\b|\bmerge\b(?! (?:conflict|sort))|\bland (?:it|this)\b", r"\bpush|\bmerg"
    ),
    _row(
        "a pull request",
        rf"\b{HAND}\b[^.?!]*\b(?:pull request|PR|merge request|MR)\b",
        r"pull requests?|\bPRs?\b|merge requests?",
    ),
    _row(
        "a package",
        rf"\b{FIND}\b[^.?!]*\b(?:librar(?:y|ies)|packages?|dependenc(?:y|ies)|crates?|plugins?)\b",
        r"\bpackages?\b|dependenc|\blibrar|third[- ]party",
    ),
    _row(
        "the schema",
        rf"\b{UNDO}\b[^.?!]*\b(?:columns?|tables?|constraints?)\b|\b{MAKE}\b[^.?!]*\bmigrations?\b",
        r"\bmigrations?\b|\bschema\b|\bcolumns?\b[^.]*\b(?:remov|drop|renam|add)|"
        r"\b(?:remov|drop|renam|add)\w*\b[^.]*\bcolumns?\b",
    ),
    _row(
        "a plan",
        r"\b(?:throughout|everywhere|across the (?:whole )?(?:code|repo)|code ?base)\b",
        r"\bplan\b",
    ),
)


def is_question(prompt: str) -> bool:
    """Whether it only wants to know something."""
    return QUESTION.match(prompt) is not None


def asked_for(prompt: str) -> frozenset[str]:
    if RECALLS.search(prompt):
        return frozenset({RECALLED})
    if is_question(prompt):
        return frozenset()
    return frozenset(row.name for row in ACTIVITIES if row.asked.search(prompt))


def ruled(text: str) -> frozenset[str]:
    return frozenset(row.name for row in ACTIVITIES if row.ruled.search(text))


def languages(text: str) -> frozenset[str]:
    """That it names, or whose files it names."""
    return frozenset(n for n, p in LANGUAGES.items() if re.search(p, text, re.IGNORECASE))
