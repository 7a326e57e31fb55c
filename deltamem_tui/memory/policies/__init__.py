"""Policies for every method: which episodes are admitted."""
