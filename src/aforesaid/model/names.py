"""The names of kinds, types and levels, and ids. Apart from the values, which take long to import: a command
line needs them before it knows whether it needs anything else."""

import re

OBSERVATION, SUMMARY, PROMPT = "observation", "summary", "prompt"
SESSION, EVENT = "session", "event"
TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")  # of observations
# Levels of a search, from the coarsest to the finest. `titles` finds everything that has one; `events` is the
# last resort.
LEVELS = ("sessions", "summaries", "titles", "facts", "full", "events")
TITLE, FACTS, FULL = "title", "facts", "full"  # how much of a thing is shown
MATCH_START, MATCH_END = "\x02", "\x03"  # stand around the matched words of an excerpt
NUMBER = re.compile(r"#?(\d{1,7})")  # the id of an observation
NAMED = re.compile(r"(observation|summary|prompt|session|event):(\d{1,15})")
