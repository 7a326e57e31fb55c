"""Drawing the description of the scene out of an instruction that mixes it with the goal.

The env tree is asked with the scene alone. What a model draws out must be the instruction's own
words, so it cannot put a scene there that was not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.llm.client import Client
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.model.cut import shortened
from deltamem_tui.memory.model.fence import block, fenced
from deltamem_tui.memory.prompts import library as prompts

PROMPT = "environment"

_SAFE = 0.9
_SHORTEST = 400
_NOT_WORD = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class EnvironmentPart:
    """What describes the scene.

    Attributes:
        text: The passages, one a line; empty if nothing describes it.
        model: Who drew it out.
        prompt: Digest of the prompt.
        usage: What it took.
    """

    text: str
    model: str
    prompt: str
    usage: Usage


def environment_part(
    client: Client, instruction: str, domain: str = "generic", folders: Sequence[Path] | None = None
) -> EnvironmentPart:
    """Ask for the part of an instruction that describes the scene.

    Args:
        client: The model.
        instruction: What the agent was told, or saw first.
        domain: Picks the prompt.
        folders: Where prompts are looked up; the usual places if not given.

    Raises:
        AnswerError: What came back was not in the instruction, also when asked again.
        LanguageModelError: The model cannot be asked at all.
        ConfigurationError: The prompt file is wrong.
    """
    prompt = prompts.find(domain, PROMPT, folders)
    contract = prompt.contract()
    text = _fitting(client, fenced(instruction))
    values = {"text": block("instruction", text), "words": prompt.output}
    rendered = prompts.render(prompt, values, folders)
    answer = client.ask(rendered, lambda said: _passages(contract, said, text), contract)
    return EnvironmentPart(
        answer.value, client.model, prompts.digest(prompt, folders), answer.usage
    )


def _fitting(client: Client, text: str) -> str:
    """The instruction, its middle left out as far as the window asks for it."""
    most, whole = len(text), text
    while client.count(text) > client.card.prompt_tokens * _SAFE - _SHORTEST and most > _SHORTEST:
        most = most * 2 // 3
        text = shortened(whole, most)
    return text


def _passages(contract: Contract, said: str, text: str) -> str:
    answer = contract.read(said)
    if isinstance(answer, Skip):
        raise UnusableAnswer("skipping is not allowed here")
    lines = [line.strip() for line in answer[PROMPT].splitlines() if line.strip()]
    if [line.lower().rstrip(".") for line in lines] == ["none"]:
        return ""
    source = _folded(text)
    for line in lines:
        if _folded(line) not in source:
            raise UnusableAnswer(f"this is not in the text word for word: {line[:80]!r}")
    return "\n".join(lines)


def _folded(text: str) -> str:
    return _NOT_WORD.sub(" ", text.casefold()).strip()
