"""Asking a language model: distilling episodes, fusing chains, judging outcomes, finding scenes."""

from deltamem_tui.memory.writers.model.episode_prompt import Request
from deltamem_tui.memory.writers.model.extractor import ModelExtractor
from deltamem_tui.memory.writers.model.judge import Judge, Judgement
from deltamem_tui.memory.writers.model.scene_extraction import SceneDrawer

__all__ = [
    "Judge",
    "Judgement",
    "ModelExtractor",
    "Request",
    "SceneDrawer",
]
