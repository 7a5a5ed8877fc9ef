"""What models are asked about memories, as Markdown files, and how to read one."""

from functools import cache
from importlib import resources


@cache
def prompt_text(name: str) -> str:
    return resources.files(__package__).joinpath(f"{name}.md").read_text("utf-8").strip()


def prompt_examples(*names: str) -> tuple[tuple[str, str], ...]:
    """Worked examples: each a request and its answer."""
    return tuple((prompt_text(f"{name}_request"), prompt_text(name)) for name in names)
