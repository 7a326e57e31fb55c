"""Merging: the union of several banks by id, with nothing twice and nothing lost unsaid."""
