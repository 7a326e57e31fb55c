"""Credit: what became of the episodes that were shown a node, and how sure that is."""
