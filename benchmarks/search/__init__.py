"""How the search grows with the store, beside a bare FTS5 query of the same words over the same text."""
