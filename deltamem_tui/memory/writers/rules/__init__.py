"""`rules`: the extractor that needs no model.

It reads an episode with the eyes of its domain (a *dialect*), keeps the actions that had
an effect, replaces what is only an instance by its kind, and writes down what the chain
does not say yet. The same episode and chain always give the same text, and every word
of it is in the episode or is the name of a kind.
"""

from __future__ import annotations

from deltamem_tui.memory.writers.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
