"""The coarse evaluator: a model says yes or no to an episode of unknown outcome.

Its word is kept as what it is: the outcome's source is `judge`, and the reasons stay with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from deltamem_tui.errors import PromptTooLongError
from deltamem_tui.llm.answers import UnusableAnswer, spoken
from deltamem_tui.llm.client import Client
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.use import JUDGE
from deltamem_tui.memory.writers.extraction import Call, OnPayment, Payment, both, no_payment
from deltamem_tui.memory.writers.model.request import SAFE, SHARES, RequestMaker, block
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

# The three sentences that are asked for.
_USUAL_ANSWER = 80
_REASON_WIDTH = 600
_NOT_LETTERS = re.compile(r"[^a-z]+")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's outcome for an episode with its reasons, and the question."""

    outcome: Outcome
    call: Call


class Judge:
    """Judges episodes by asking a model. Any number of threads may share one."""

    def __init__(
        self,
        client: Client,
        domain: str = "generic",
        folders: Sequence[Path] | None = None,
        *,
        on_payment: OnPayment = no_payment,
    ) -> None:
        """Prepare to ask; the arguments are those of `ModelExtractor`."""
        self._client = client
        self._on_payment = on_payment
        room = int(client.info.prompt_tokens * SAFE)
        self._maker = RequestMaker(domain, room, client.count, folders)

    @property
    def model(self) -> str:
        """The model that judges."""
        return self._client.model

    @property
    def usage(self) -> Usage:
        """What everything that was asked through the client took."""
        return self._client.usage

    def paying(self, on_payment: OnPayment) -> Judge:
        """Return the same judge, which reports what its answers take to this one too."""
        maker, on_payment = self._maker, both(self._on_payment, on_payment)
        return Judge(self._client, maker.domain, maker.folders, on_payment=on_payment)

    def cancel(self) -> None:
        """Ask nothing more for what is under way; see `Client.cancel`."""
        self._client.cancel()

    def judge(self, trajectory: Trajectory) -> Judgement:
        """Ask whether an episode solved its task.

        Raises:
            NoUsableAnswerError: It said neither yes nor no, also when asked again.
            PromptTooLongError: The episode cannot be cut to the model's window.
            LanguageModelError: The model cannot be asked at all.
            ConfigurationError: The prompt file is wrong.
        """
        *earlier, last = SHARES
        for share in earlier:
            with suppress(PromptTooLongError):
                return self._judged(trajectory, share)
        return self._judged(trajectory, last)

    def estimate(self, trajectory: Trajectory) -> Usage:
        """Estimate what `judge` would take now; nothing is sent.

        An answer in the response cache takes nothing. The answer's length is a usual one.

        Raises:
            ConfigurationError: The prompt file is wrong.
        """
        try:
            text, _ = self._question(trajectory)
        except PromptTooLongError:
            return Usage()  # `judge` would not send it either
        if self._client.is_known(text, None):
            return Usage(cached=1)
        return self._client.estimate(text, _USUAL_ANSWER)

    def _judged(self, trajectory: Trajectory, share: float) -> Judgement:
        text, cut = self._question(trajectory, share)
        model = self.model
        digest = prompts.digest(self._maker.find(JUDGE, trajectory), self._maker.folders)

        def on_answer(usage: Usage) -> None:
            self._on_payment(Payment("judge", None, trajectory.id, model, digest, usage))

        answer = self._client.ask(text, verdict, on_answer=on_answer)
        call = Call("judge", None, model, digest, answer.usage, answer.attempts, cut)
        return Judgement(answer.value, call)

    def _question(self, trajectory: Trajectory, share: float = 1.0) -> tuple[str, str]:
        """Return the prompt, and what of the episode was cut."""
        maker = replace(self._maker, room=int(self._maker.room * share))
        prompt = maker.find(JUDGE, trajectory)
        text, cut = maker.episode_prompt(
            prompt, trajectory, {"task": block("task", trajectory.task)}
        )
        return text, cut.description


def verdict(text: str) -> Outcome:
    """Read a judge's answer: the reasons, then yes or no on the last line; or that on the first.

    Raises:
        UnusableAnswer: Neither line says it and nothing else, or one says yes and the other no.
    """
    lines = [line for line in spoken(text).splitlines() if line.strip()] or [""]
    words = {at: _NOT_LETTERS.sub("", lines[at].lower()) for at in (0, -1)}
    stated = {at: word == "yes" for at, word in words.items() if word in ("yes", "no")}
    if len(set(stated.values())) != 1:
        raise UnusableAnswer("the last line must be `yes` or `no` and nothing else")
    reasons = lines[:-1] if -1 in stated else lines
    reasons = reasons[1:] if 0 in stated else reasons
    reason = one_line("\n".join(reasons), _REASON_WIDTH)
    return Outcome(success=stated.popitem()[1], source="judge", reason=reason)
