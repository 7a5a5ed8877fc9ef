"""`recollect import`: what was remembered elsewhere. A file for each source; their commands meet here."""

import click

from recollect.cli.import_claude_code import claude_code
from recollect.cli.import_claude_mem import claude_mem
from recollect.cli.import_file import file


@click.group("import")
def import_() -> None:
    """Take in what was remembered elsewhere. What is here already stays as it is, so twice is the same as
    once, and an import that was cut short goes on when it is run again."""


for command in (claude_code, file, claude_mem):
    import_.add_command(command)
