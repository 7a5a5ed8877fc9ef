"""How soon a command answers, and the MCP server: what people and agents wait for."""

import json
import sys

from benchmarks import data, rounds, table
from benchmarks.home import Home, temporary, wait_until_idle, worker
from benchmarks.rounds import Variant
from benchmarks.spawn import Command

OBSERVATIONS = 10_000
ROUNDS = 20
RUN = "import sys; from aforesaid.cli.main import main; sys.argv[0] = 'aforesaid'; main()"
PARAMS = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": PARAMS}


def run(*, quick: bool) -> list[table.Table]:
    observations = OBSERVATIONS // 20 if quick else OBSERVATIONS
    with temporary() as home:
        question = data.remember(home, observations)[0].split()
        baseline = Variant('python -c "import click"', _python(home, "-c", "import click"))
        variants = [
            baseline,
            *(
                Variant(f"aforesaid {command[0]}", _python(home, "-c", RUN, *command), aim="<= 3")
                for command in (("search", *question, "--all"), ("status",), ("show", "1"))
            ),
            Variant(
                "MCP server: initialize, and its end",
                _python(home, "-I", "-m", "aforesaid.mcp.server"),
                lambda count: [json.dumps(INITIALIZE).encode() + b"\n"] * count,
                aim="<= 6",
            ),
        ]
        with worker(home):
            wait_until_idle(home)
            rounds.run(variants, at_once=1, rounds=3 if quick else ROUNDS)
        title = f"Commands, with a live worker and {observations:,} observations"
        return [table.of_times(title, variants, baseline)]


def _python(home: Home, *arguments: str) -> Command:
    """The environment's own interpreter, which has the packages: not a version manager's shim."""
    return Command((sys.executable, *arguments), home.env)
