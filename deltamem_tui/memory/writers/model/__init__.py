"""Asking a language model: distilling episodes, fusing chains, judging outcomes, finding scenes."""

from deltamem_tui.memory.writers.model.extractor import ModelExtractor
from deltamem_tui.memory.writers.model.judge import Judge, Judgement

__all__ = ["Judge", "Judgement", "ModelExtractor"]
