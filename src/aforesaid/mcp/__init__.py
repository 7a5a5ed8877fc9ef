"""The memory's tools for agents, over MCP."""
