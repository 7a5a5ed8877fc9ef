"""Coding agents: their wire JSON becomes events here, their settings get our hooks here."""
