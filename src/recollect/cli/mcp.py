"""`recollect mcp`."""

import click


@click.command()
@click.option(
    "--plugin", is_flag=True, help="Offer nothing where the user's settings name the server too."
)
def mcp(plugin: bool) -> None:
    """Serve the memory to an agent: the Model Context Protocol over standard input and output.

    `recollect install` tells Claude Code to run this. It ends with its input.
    """
    from recollect.server.mcp import main

    main(plugin=plugin)
