"""What ReasoningBank asks a writer for: lessons from a success, a failure, or several trials."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse
from deltamem_tui.memory.reasoningbank.collections import FIELDS, LESSONS

SUCCESS = "reasoningbank_success"
FAILURE = "reasoningbank_failure"
CONTRAST = "reasoningbank_contrast"

TRIALS = "trials"
"""Earlier trials of the task, the newest first: how each ended, and its steps."""
DIFFERENCES = "differences"
"""What was done only in trials that ended one way, names left open, one kind of trial a line."""

MOST_LESSONS = 3
MOST_OF_TRIALS = 5

_OF_TRIALS = OF_AN_EPISODE | {TRIALS, DIFFERENCES}

PROMPTS: Mapping[str, PromptUse] = {
    SUCCESS: PromptUse(LESSONS, fields=FIELDS, items=MOST_LESSONS, label="success"),
    FAILURE: PromptUse(LESSONS, fields=FIELDS, items=MOST_LESSONS, label="failure"),
    CONTRAST: PromptUse(LESSONS, _OF_TRIALS, FIELDS, items=MOST_OF_TRIALS),
}
