"""Secrets are replaced and private words left out, before anything is stored, indexed, logged or sent.

`Redactor` (redactor.py) is what everybody uses; `rules.ALL` is what it looks for.
"""
