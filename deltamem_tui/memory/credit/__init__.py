"""Credit: what became of the episodes that were shown a node."""
