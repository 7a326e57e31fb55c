"""`rules`: the writer that needs no model.

It reads an episode with the eyes of its domain (a *dialect*), keeps the actions that had an
effect, replaces what is only an instance by its kind, and writes down what the chain lacks.
"""

from deltamem_tui.memory.writers.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
