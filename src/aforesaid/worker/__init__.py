"""The background process: it ingests the spool, runs the jobs, answers the hooks."""
