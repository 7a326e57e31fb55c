"""Agents: without a model, asking a model, and any program."""
