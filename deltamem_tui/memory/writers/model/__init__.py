"""Asking a language model: distilling episodes, fusing chains, judging outcomes, finding scenes."""

from deltamem_tui.memory.writers.model.writer import Judge, Judgement, ModelExtractor

__all__ = ["Judge", "Judgement", "ModelExtractor"]
