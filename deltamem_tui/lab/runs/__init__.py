"""A run of an evaluation: what is played, how it is kept and resumed, and what comes of it."""
