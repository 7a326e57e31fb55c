"""Agents: without a model, asking a model, and the user's own."""
