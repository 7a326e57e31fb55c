"""The agent that asks a model: ReAct, a thought and an action at a time.

Answers are kept, so a game that is played once more costs nothing up to the same place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.errors import PromptTooLongError
from deltamem_tui.lab.grounds import Playthrough
from deltamem_tui.lab.plan import ModelCost
from deltamem_tui.llm.answers import UnusableAnswer, spoken
from deltamem_tui.llm.client import Answer, Client, NoUsableAnswerError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.use import AGENT, SHARED
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Step

LONGEST_ACTION = 300
"""Characters; a model that writes more has misunderstood what an action is."""

_ACTION = re.compile(
    r"^[\s>*_`]*Action\s*\d*\s*[*_`]*:[*_`]*\s*(\S.*?)\s*$", re.MULTILINE | re.IGNORECASE
)
_THOUGHT = re.compile(r"^[\s>*_`]*Thought\s*\d*\s*[*_`]*:[*_`]*\s*", re.IGNORECASE)
_QUOTES = "`'\"*"
# Counts differ from the server's, and a window that no table knows is a guess.
_SHARES = (0.9, 0.45, 0.2)


@dataclass(frozen=True, slots=True)
class ModelMove:
    """A model's answer: a thought and an action."""

    action: str
    thought: str


class ReActAgent:
    """Plays by asking a model; threads may share one.

    A game ends early if the model gives no action although it is told twice what is wrong.
    """

    def __init__(self, client: Client, domain: str, folders: Sequence[Path] | None = None) -> None:
        self._client = client
        self._prompt = prompts.find(domain, AGENT, folders, SHARED[AGENT])
        self.name = f"{client.model} {self._prompt.digest[:8]}"

    def play(self, game: Playthrough, memory: str) -> ModelCost:
        """Ask for one action after the other."""
        spent = Usage()
        while not game.over:
            try:
                answer = self._asked(game, memory)
            except NoUsableAnswerError as useless:
                spent += useless.usage
                break
            spent += answer.usage
            game.act(answer.value.action, answer.value.thought)
        return ModelCost(spent.calls, spent.prompt_tokens + spent.completion_tokens, spent.cost)

    def cancel(self) -> None:
        """Ask nothing more for what is under way."""
        self._client.cancel()

    def _asked(self, game: Playthrough, memory: str) -> Answer[ModelMove]:
        *earlier, last = _SHARES
        for share in earlier:
            with suppress(PromptTooLongError):
                return self._client.ask(self._question(game, memory, share), read_move)
        return self._client.ask(self._question(game, memory, last), read_move)

    def _question(self, game: Playthrough, memory: str, share: float) -> str:
        """Fill in the prompt, without as many of the oldest observations as its length asks for."""
        room = int(self._client.info.prompt_tokens * share)
        values = {"context": memory, "task": game.start.task, "scene": game.start.scene}
        for left_out in range(len(game.steps) + 1):
            turns = [
                _turn(step, "(left out)" if number < left_out else step.observation)
                for number, step in enumerate(game.steps)
            ]
            question = prompts.render(self._prompt, {**values, "history": "\n".join(turns)})
            if self._client.count(question) <= room:
                return question
        raise PromptTooLongError(
            f"the task and its memory do not fit the window of {self._client.model}",
            hint="use a model with a larger window, or a memory that says less",
        )


def read_move(text: str) -> ModelMove:
    """Return the first action in a model's answer, and the thought before it."""
    answer = spoken(text)
    found = _ACTION.search(answer)
    if found is None:
        raise UnusableAnswer("it has no line that begins with `Action:`")
    action = one_line(found[1]).strip(_QUOTES).strip()
    if not action or len(action) > LONGEST_ACTION:
        raise UnusableAnswer("behind `Action:` must stand one short action")
    return ModelMove(action, one_line(_THOUGHT.sub("", answer[: found.start()].strip(), count=1)))


def _turn(step: Step, observation: str) -> str:
    thought = f"Thought: {step.thought}\n" if step.thought else ""
    return f"{thought}Action: {step.action}\nObservation: {observation}"
