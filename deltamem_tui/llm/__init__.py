"""Prompt to checked JSON through a language model. litellm is imported in this package only."""
