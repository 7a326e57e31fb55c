"""Vectors at work: similarity, nearest pairs, and giving a bank another embedder's."""
