"""The tools, one row each. A model reads their texts at the start of every session, so they are short."""

from collections.abc import Mapping
from dataclasses import dataclass

from aforesaid.model.memories import LONGEST_SAID
from aforesaid.model.memories import TYPES as MEMORY_TYPES
from aforesaid.model.observations import TYPES
from aforesaid.model.search import LEVELS
from aforesaid.parameters import Parameter, Schema, schema


@dataclass(frozen=True, slots=True)
class Tool:
    """`calls.py` has a function of its name, which takes the context and a value for every parameter and
    returns the text of the result. It is imported at the first call: a session does not wait for it."""

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    writes: bool = False

    def describe(self) -> Schema:
        return {
            "name": self.name,
            "description": self.about,
            "inputSchema": schema(self.parameters),
            "annotations": {
                "readOnlyHint": not self.writes,
                "destructiveHint": False,
                "openWorldHint": False,
            },
        }

    def run(self, context: object, values: Mapping[str, object]) -> str:
        from aforesaid.mcp import calls

        return str(getattr(calls, self.name)(context, **values))


PROJECT = Parameter("project", "Another project's name, or 'all'. Default: this one.", most=4_000)
DETAIL = ("title", "facts", "full")
LIMIT = Parameter("limit", kind="number", default=10, most=50)

TOOLS = (
    Tool(
        "search",
        "Find what is remembered, by words and meaning. Gives an index: id, type, age, whether its files "
        "changed since, tokens to `get` it, title.",
        (
            Parameter("query", "Words or a question.", required=True),
            Parameter("level", kind="text", choices=LEVELS, default="titles"),
            Parameter("type", kind="names", choices=TYPES, default=()),
            Parameter("concept", "Tags.", kind="names", most=400, default=()),
            Parameter("file", "Paths or file names.", kind="names", most=4_000, default=()),
            Parameter("session", "Its id, or how that begins.", most=200),
            Parameter("agent", "Such as claude-code.", most=200),
            Parameter("since", "Such as '30d', 'last week', '2026-11-01'.", most=400),
            Parameter("until", "Likewise; included.", most=400),
            PROJECT,
            LIMIT,
        ),
    ),
    Tool(
        "timeline",
        "What happened before and after one thing, or around a time, across sessions.",
        (
            Parameter("id", "Such as #12 or summary:5.", most=200),
            Parameter("at", "Instead of id: a time, such as 'yesterday'.", most=400),
            Parameter("before", kind="number", default=5, least=0, most=50),
            Parameter("after", kind="number", default=5, least=0, most=50),
            PROJECT,
        ),
    ),
    Tool(
        "get",
        "Read things by their ids.",
        (
            Parameter("ids", "Such as ['#12', 'memory:NAME'].", "names", required=True, most=200),
            Parameter("level", choices=DETAIL, default="full"),
            PROJECT,
        ),
    ),
    Tool(
        "related",
        "Observations related to one: its story, its files, the same subject.",
        (Parameter("id", "An observation's: #12.", required=True, most=200), PROJECT, LIMIT),
    ),
    Tool(
        "files",
        "What is known about a file. Worth a call before you change one that you do not know.",
        (Parameter("path", required=True, most=4_000), PROJECT, LIMIT),
    ),
    Tool(
        "remember",
        "Keep something as a memory for later sessions: a rule, a preference (type user: in all projects), a "
        "fact that took effort to find. Say it so that it is understood without this conversation.",
        (
            Parameter("text", "One thing, in a sentence or two.", required=True, most=LONGEST_SAID),
            Parameter("type", "Default: by its wording.", choices=MEMORY_TYPES),
            Parameter("files", "Paths it is about.", kind="names", most=4_000, default=()),
        ),
        writes=True,
    ),
    Tool(
        "forget",
        "Hide a memory or an observation because it is wrong or the user wants it. Can be undone.",
        (
            Parameter("id", "Such as memory:NAME or #12.", required=True, most=200),
            Parameter("undo", kind="flag", default=False),
        ),
        writes=True,
    ),
    Tool(
        "memories",
        "List the memories of this project, and the pinned observations: a name and a line each.",
        (Parameter("limit", kind="number", default=20, most=100),),
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
