"""From stored events to observations and summaries."""
