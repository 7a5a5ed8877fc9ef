"""The worker's HTTP API and the viewer: on loopback, for the owner alone."""

VIEWS = ("now", "timeline", "search", "sessions", "memories", "brief", "cost", "settings")
