"""The back end of Anthropic's memory tool."""
