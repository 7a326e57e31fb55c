"""What MemP asks a writer for: a script, the facts of a task, the repair of a record."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.memory.memp.collections import PROCEDURES
from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse

SCRIPT, FACTS, ADJUST = "memp_script", "memp_facts", "memp_adjust"
MOST_FACTS = 12

PROMPTS: Mapping[str, PromptUse] = {
    SCRIPT: PromptUse(PROCEDURES, OF_AN_EPISODE - {"memory"}, ("script",)),
    FACTS: PromptUse(
        PROCEDURES, frozenset({"task", "names", "words"}), ("name", "value"), items=MOST_FACTS
    ),
    ADJUST: PromptUse(PROCEDURES, OF_AN_EPISODE, ("diagnosis", "script"), label="failure"),
}
