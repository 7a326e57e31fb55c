"""The earlier address of `memory.learn_result`, until its last importer has moved."""

from deltamem_tui.memory.learn_result import REASON_WIDTH, CollectionResult, usage_of
from deltamem_tui.memory.learn_result import LearnResult as Lesson

__all__ = ["REASON_WIDTH", "CollectionResult", "Lesson", "usage_of"]
