"""The MCP server: the tools over stdio, for as long as the agent's session lasts.

Only protocol goes to stdout. Calls run in threads, so that a slow one keeps neither the next nor a ping
waiting. Run as `python -I -m recollect.server.mcp`, or as `recollect mcp`. What the tools need is imported at
the first call: the agent waits for the list of tools, not for what is behind them.
"""

import os
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from recollect import __version__
from recollect.agents import claude_code_server
from recollect.server.lines import Lines
from recollect.server.tools import INSTRUCTIONS, TOOLS

if TYPE_CHECKING:
    from recollect.server.calls import Reply

AT_ONCE = 4  # calls; each thread keeps a connection to the database
PLUGIN = "--plugin"


def main(*, plugin: bool = False) -> None:
    """`plugin`: the client's plugin asks; where its settings name us too, they are enough."""
    anyio.run(_serve, not (plugin and claude_code_server.registered(os.environ)))


async def _serve(with_tools: bool) -> None:
    server = _server(with_tools=with_tools)
    stdin = anyio.wrap_file(Lines(sys.stdin.buffer))
    async with stdio_server(stdin) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _server(*, with_tools: bool) -> Server:
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools() if with_tools else [])

    async def call_tool(_: object, asked: types.CallToolRequestParams) -> types.CallToolResult:
        work = partial(_call, asked.name, asked.arguments)
        reply = await anyio.to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)
        text = types.TextContent(type="text", text=reply.text)
        return types.CallToolResult(content=[text], is_error=reply.wrong)

    return Server(
        "recollect",
        version=__version__,
        instructions=INSTRUCTIONS if with_tools else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tools() -> list[types.Tool]:
    return [
        types.Tool(
            name=tool.name,
            description=tool.about,
            input_schema=tool.schema(),
            annotations=types.ToolAnnotations(
                read_only_hint=not tool.writes, destructive_hint=False, open_world_hint=False
            ),
        )
        for tool in TOOLS
    ]


def _call(name: str, arguments: Mapping[str, object] | None) -> "Reply":
    from recollect.server import calls

    return calls.call(calls.place_of_this_process(), name, arguments)


if __name__ == "__main__":
    main(plugin=PLUGIN in sys.argv[1:])
