"""What was read, told in plain English: titles, facts, narratives, summaries."""
