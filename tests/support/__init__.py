"""Support for tests that run the real Claude Code client against a scripted model."""
