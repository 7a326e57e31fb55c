"""Asking a language model: distilling episodes, fusing chains, judging outcomes, finding scenes."""

from deltamem_tui.memory.writers.model.writer import Judge, ModelExtractor

__all__ = ["Judge", "ModelExtractor"]
