"""docs/reference/python.md from the code: every public name of the Python API, with its signature."""

import ast
import inspect
import textwrap

import aforesaid
from aforesaid import errors
from aforesaid.memory.api import Memory
from aforesaid.memory.changes import UndoResult
from aforesaid.memory.dream.run import DreamResult
from aforesaid.memory.history import Entry
from aforesaid.memory.ranking import RankedMemory
from aforesaid.memory.tool import MemoryTool
from aforesaid.model import memories

CLASSES = (Memory, MemoryTool)
VALUES = (
    memories.StoredMemory,
    memories.Memory,
    memories.Broken,
    RankedMemory,
    DreamResult,
    UndoResult,
    Entry,
)
ERRORS = (
    errors.AforesaidError,
    errors.ConfigError,
    errors.BadMessages,
    errors.MemoryRefused,
    errors.Edited,
    errors.NotFound,
)


def page() -> str:
    parts = [
        "# Python",
        "",
        "Memory for your own agent loop: see [the guide](../how-to/own-agent.md) and",
        "[examples/agent.py](../../examples/agent.py). Everything is synchronous and typed.",
        "`import aforesaid` loads almost nothing; modules are imported on first use.",
        "",
        f"`aforesaid` has: {', '.join(f'`{name}`' for name in sorted(aforesaid.__all__))}. In the signatures",
        "",
        "- `Messages` is a list of messages as Anthropic's API takes them: dicts with `role` and `content`,",
        "  which is a text or a list of blocks (text, tool_use, tool_result), as dicts or as the SDK's own",
        "  objects. OpenAI's form works too.",
        "- `Ask` is any function `(system: str, user: str) -> str` that calls a model.",
        "- `Model` is a provider's, such as `aforesaid.providers.anthropic.AnthropicApi`.",
        "",
    ]
    for each in CLASSES:
        parts += [f"## aforesaid.{each.__name__}", "", *_class(each)]
    parts += [
        "## Values",
        "",
        "Frozen dataclasses: read-only fields.",
        "",
    ]
    for value in VALUES:
        parts += [f"### {value.__module__}.{value.__name__}", "", *_fields(value)]
    parts += [
        "## Errors",
        "",
        "All are in `aforesaid.errors`, and their messages name the fix.",
        "",
    ]
    parts += ["| error | what it says, unless it can say more |", "|---|---|"]
    parts += [f"| `{error.__name__}` | {_doc(error)} |" for error in ERRORS]
    return "\n".join(parts) + "\n"


def _class(found: type) -> list[str]:
    tree = _tree(found)
    methods = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    parts = [
        "```python",
        _signature(found.__name__, methods["__init__"]),
        "```",
        "",
        _doc(found),
        "",
    ]
    for name, node in methods.items():
        if name.startswith("_"):
            continue
        about = ast.get_docstring(node) or ""
        parts += [
            f"### {found.__name__}.{name}",
            "",
            "```python",
            _signature(name, node),
            "```",
            "",
        ]
        parts += [about, ""]
    for one in tree.body:
        if isinstance(one, ast.AnnAssign) and one.value is not None:
            parts += [f"### {found.__name__}.{ast.unparse(one.target)}", ""]
            parts += ["```python", ast.unparse(one.value).replace("'", '"'), "```", ""]
    return parts


def _signature(name: str, node: ast.FunctionDef) -> str:
    """On one line, or an argument on each."""
    arguments = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(arguments, ast.FunctionDef)
    arguments.args.args = arguments.args.args[1:]  # without `self`
    inner = ", ".join(map(_spaced, _split(ast.unparse(arguments.args)))).replace("'", '"')
    returns = (
        "" if name[0].isupper() else f" -> {ast.unparse(node.returns)}" if node.returns else ""
    )
    line = f"{name}({inner}){returns}"
    if len(line) <= 100:
        return line
    return f"{name}(\n    " + ",\n    ".join(_split(inner)) + f",\n){returns}"


def _spaced(argument: str) -> str:
    """As the formatter writes it. A type in quotes is a type."""
    name, colon, rest = argument.partition(": ")
    kind, equals, default = rest.partition("=")
    kind = kind.strip("'") if kind.startswith("'") else kind
    return f"{name}{colon}{kind} = {default}" if equals else f"{name}{colon}{kind}"


def _split(arguments: str) -> list[str]:
    """At the commas that are in no bracket."""
    found, depth = [""], 0
    for character in arguments:
        depth += (character in "[(") - (character in "])")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [each.strip() for each in found]


def _fields(value: type) -> list[str]:
    tree = _tree(value)
    lines = [
        f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
    ]
    lines += [
        f"{node.name}: {ast.unparse(node.returns)}  # a property"
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.returns and not node.name.startswith("_")
    ]
    return [_doc(value), "", "```python", *lines, "```", ""]


def _doc(found: type) -> str:
    """None for a dataclass that says nothing itself."""
    said = inspect.getdoc(found) or ""
    return "" if said.startswith(f"{found.__name__}(") else said


def _tree(found: type) -> ast.ClassDef:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(found))).body
    assert isinstance(node, ast.ClassDef)
    return node
