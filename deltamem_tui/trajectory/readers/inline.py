"""Thought and action written into one text, as agents without tool calls write them.

Thought: I need a mug.
Action: go to shelf 1
"""

from __future__ import annotations

import re

# Spaces are counted, not starred: two runs of them side by side would make a search quadratic.
_THOUGHT = re.compile(r"\A\s*(?:thoughts?|think)[ \t]{0,3}\d{0,4}:", re.IGNORECASE)
_ACTION = re.compile(r"^[ \t]*(?:action|act)[ \t]{0,3}\d{0,4}:", re.IGNORECASE | re.MULTILINE)
_OBSERVATION = re.compile(r"\A\s*observation[ \t]{0,3}\d{0,4}:", re.IGNORECASE)
# Calls that a model writes as text because it was taught to.
_CALL = re.compile(r"<(?:function=|execute>|tool_call>|function_calls>)")
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)


def thought_and_action(text: str) -> tuple[str, str]:
    """Part what an agent wrote into what it thought and what it did.

    Args:
        text: A whole turn.

    Returns:
        Thought and action, stripped. The action is empty where the turn is labelled as a
        thought and nothing follows; without any label the whole text is the action.
    """
    labelled = _THOUGHT.match(text)
    found = _ACTION.search(text) or _CALL.search(text)
    if found is None and labelled:
        found = _FENCE.search(text)
    begin = labelled.end() if labelled else 0
    if found is None:
        return (text[begin:].strip(), "") if labelled else ("", text.strip())
    label = found.end() if _ACTION.match(text, found.start()) else found.start()
    action = text[label:].strip()
    return (text[begin : found.start()].strip(), action) if action else ("", text.strip())


def observation_of(text: str) -> str:
    """What an environment answered, without the label that some put before it."""
    found = _OBSERVATION.match(text)
    return text[found.end() :].strip() if found else text.strip()
