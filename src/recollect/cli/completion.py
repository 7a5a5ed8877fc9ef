"""`recollect completion`."""

import click
from click.shell_completion import get_completion_class

from recollect.cli.main import cli

HINTS = {
    "bash": 'eval "$(recollect completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(recollect completion zsh)"  # in ~/.zshrc',
    "fish": "recollect completion fish > ~/.config/fish/completions/recollect.fish",
}


@click.command(epilog="\b\n" + "\n".join(HINTS.values()))
@click.argument("shell", type=click.Choice(tuple(HINTS)))
def completion(shell: str) -> None:
    """Print the completion script for SHELL."""
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "recollect", "_RECOLLECT_COMPLETE").source())
