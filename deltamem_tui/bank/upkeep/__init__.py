"""Keeping a bank sound and small: verification, freezing, compaction."""
