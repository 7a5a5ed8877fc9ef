"""Who turns a turn into observations. `wiring.provider` chooses one, `settings.toml` lists their names."""
