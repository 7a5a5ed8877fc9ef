"""Who turns a turn into observations: a module each; `wiring.provider` chooses one, and `settings.toml` lists their names."""
