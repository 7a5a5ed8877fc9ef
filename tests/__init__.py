"""Tests, foldered by kind, so that speed shows in the path."""
