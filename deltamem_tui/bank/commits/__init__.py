"""Commits: the journal that says what counts, and whole files that take the place of others."""
