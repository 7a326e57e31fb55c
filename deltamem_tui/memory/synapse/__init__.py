"""Synapse: the most similar successes, handed over whole as demonstrations."""
