"""Who turns a turn into observations: each provider is one file and one row in wiring."""
