"""What an agent may ask of the memory, over MCP."""
