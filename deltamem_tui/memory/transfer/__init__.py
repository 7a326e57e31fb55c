"""Banks that travel: exports and merges."""
