"""The origin of text: a shell parser, the programs that print foreign text, and a tracker of events."""
