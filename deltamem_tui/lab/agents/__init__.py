"""The agents: one without a model, one that asks a model, and any program."""
