"""Held-out measurements of the redactor and of the detector of foreign text; not part of the package."""
