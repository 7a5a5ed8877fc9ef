"""What the events of a turn say, read without a model: commands, outcomes, patches, prompts."""
