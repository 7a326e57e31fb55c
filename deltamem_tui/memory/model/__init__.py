"""Asking a language model: distilling episodes, fusing chains, judging outcomes, finding scenes."""

from deltamem_tui.memory.model.environment import EnvironmentPart, environment_part
from deltamem_tui.memory.model.extractor import ModelExtractor
from deltamem_tui.memory.model.judge import Judge, Judgement
from deltamem_tui.memory.model.request import Request

__all__ = [
    "EnvironmentPart",
    "Judge",
    "Judgement",
    "ModelExtractor",
    "Request",
    "environment_part",
]
