"""The coarse evaluator: a model says yes or no to an episode whose outcome nobody stated.

Its word is kept as what it is: the outcome's source is `judge`, and the reasons stay with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deltamem_tui.llm.answers import UnusableAnswer, spoken
from deltamem_tui.llm.client import Client
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory import prompts
from deltamem_tui.memory.model.fence import block
from deltamem_tui.memory.model.request import RequestMaker
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

PROMPT = "judge"

_SAFE = 0.9
_REASON_WIDTH = 600
_NOT_LETTERS = re.compile(r"[^a-z]+")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said of an episode.

    Attributes:
        outcome: Yes or no, with source `judge` and the reasons.
        model: Who judged.
        prompt: Digest of the prompt.
        usage: What it took.
        cut: What of the episode did not fit the model's window; empty if all did.
    """

    outcome: Outcome
    model: str
    prompt: str
    usage: Usage
    cut: str


class Judge:
    """Judges episodes by asking a model. Any number of threads may share one."""

    def __init__(
        self, client: Client, domain: str = "generic", folders: Sequence[Path] | None = None
    ) -> None:
        """Nothing is asked yet.

        Args:
            client: The model.
            domain: The bank's domain; its prompt is used for episodes that name none.
            folders: Where prompts are looked up; the usual places if not given.
        """
        self._client = client
        self._domain = domain
        self._folders = folders
        self._maker = RequestMaker(
            domain, int(client.card.prompt_tokens * _SAFE), client.count, folders
        )

    def judge(self, trajectory: Trajectory) -> Judgement:
        """Ask whether an episode solved its task.

        Raises:
            AnswerError: The first line was neither yes nor no, also when asked again.
            PromptTooLongError: The episode cannot be cut to the model's window.
            LanguageModelError: The model cannot be asked at all.
            ConfigurationError: The prompt file is wrong.
        """
        prompt = prompts.find(trajectory.domain or self._domain, PROMPT, self._folders)
        fixed = {"task": block("task", trajectory.task)}
        text, cut = self._maker.episode_prompt(prompt, trajectory, fixed)
        answer = self._client.ask(text, verdict)
        return Judgement(
            outcome=answer.value,
            model=self._client.model,
            prompt=prompts.digest(prompt, self._folders),
            usage=answer.usage,
            cut=cut.description,
        )


def verdict(text: str) -> Outcome:
    """Read a judge's answer: yes or no on the first line, then the reasons.

    Raises:
        UnusableAnswer: The first line says neither, or both.
    """
    first, _, rest = spoken(text).partition("\n")
    word = _NOT_LETTERS.sub("", first.lower())
    if word not in {"yes", "no"}:
        raise UnusableAnswer("the first line must be `yes` or `no` and nothing else")
    return Outcome(success=word == "yes", source="judge", reason=one_line(rest, _REASON_WIDTH))
