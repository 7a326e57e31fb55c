"""Replay: one log through several methods and policies, measured. No agent acts."""
