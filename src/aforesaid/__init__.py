"""aforesaid: memory for coding agents.

`aforesaid.Memory` is for an agent loop of one's own. It is loaded when somebody asks for it: commands import
this package for its version, and pay for nothing else.
"""

__version__ = "0.1.0"
__all__ = ["Memory", "MemoryTool", "__version__"]

TYPE_CHECKING = False  # as in `typing`, which would have to be loaded
if TYPE_CHECKING:
    from aforesaid.memory.api import Memory
    from aforesaid.memory.tool import MemoryTool
else:

    def __getattr__(name):
        from importlib import import_module

        match name:
            case "Memory":
                return import_module("aforesaid.memory.api").Memory
            case "MemoryTool":
                return import_module("aforesaid.memory.tool").MemoryTool
        raise AttributeError(f"module 'aforesaid' has no attribute {name!r}")
