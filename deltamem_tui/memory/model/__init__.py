"""Asking a language model: distilling episodes, fusing chains, judging outcomes, finding scenes."""

from deltamem_tui.memory.model.drawing import SceneDrawer
from deltamem_tui.memory.model.extractor import ModelExtractor
from deltamem_tui.memory.model.judge import Judge, Judgement
from deltamem_tui.memory.model.request import Request

__all__ = [
    "Judge",
    "Judgement",
    "ModelExtractor",
    "Request",
    "SceneDrawer",
]
