"""The extractor that asks a language model: skills and knowledge in its words, checked by ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from deltamem_tui.bank.node import Node, TreeName
from deltamem_tui.errors import AnswerError, ExtractionError, PromptTooLongError
from deltamem_tui.llm.answers import Skip
from deltamem_tui.llm.client import Client
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.extraction import Extraction
from deltamem_tui.memory.model.request import Request, RequestMaker
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

# Our count of tokens is not the model's own, and a tenth covers most of the difference.
_SAFE = 0.9
# What a prompt that was refused as too long is cut to next, as shares of the model's window.
_SHARES = (1.0, 0.5, 0.25)
# What an answer takes as a rule: the published sizes of a unit are 145 to 257 words.
_USUAL_ANSWER = 400
_QUOTE_WIDTH = 160


@dataclass(frozen=True, slots=True)
class ModelExtraction(Extraction):
    """What a model made of an episode, and what it took.

    Attributes:
        usage: Calls, tokens and cost, all attempts together.
        cut: What of the episode did not fit the model's window, in one line; empty if all did.
    """

    usage: Usage = field(default_factory=Usage)
    cut: str = ""


class ModelExtractor:
    """Distils episodes by asking a model. Any number of threads may share one."""

    def __init__(
        self, client: Client, domain: str = "generic", folders: Sequence[Path] | None = None
    ) -> None:
        """Nothing is asked yet.

        Args:
            client: The model.
            domain: The bank's domain; its prompts are used for episodes that name none.
            folders: Where prompts are looked up; the usual places if not given.
        """
        self._client = client
        self._maker = RequestMaker(
            domain=domain,
            room=int(client.card.prompt_tokens * _SAFE),
            count=client.count,
            folders=folders,
        )

    @property
    def name(self) -> Literal["model"]:
        """Recorded in each node's origin."""
        return "model"

    def extract(
        self, tree: TreeName, trajectory: Trajectory, chain: Sequence[Node]
    ) -> ModelExtraction:
        """Distil what `trajectory` teaches one tree.

        Args:
            tree: `task` for a skill, `env` for knowledge.
            trajectory: An episode whose outcome is known.
            chain: Root to match as it stands, or empty: then the payload is a root's.

        Raises:
            ExtractionError: The model gave nothing usable, or the episode does not fit its window.
            OutcomeUnknownError: A skill is wanted, and nobody said how the episode ended.
            ConfigurationError: A prompt file is wrong.
            LanguageModelError: The model cannot be asked at all; every other episode would fail
                too.
        """
        if not trajectory.steps:
            return ModelExtraction(None, "the episode has no steps")
        return self._asked(lambda maker: maker.extraction(tree, trajectory, chain), trajectory.id)

    def fuse(self, tree: TreeName, chain: Sequence[Node]) -> ModelExtraction:
        """Fuse a chain into one self-contained payload for a new root (equation 8).

        Args:
            tree: The tree that holds the chain.
            chain: Root to the residual that was hit often enough.

        Raises:
            ExtractionError: The model gave nothing usable, or the chain does not fit its window.
            ConfigurationError: A prompt file is wrong.
            LanguageModelError: The model cannot be asked at all.
        """
        source = chain[-1].id if chain else None
        return self._asked(lambda maker: maker.fusion(tree, chain), source)

    def request(self, tree: TreeName, trajectory: Trajectory, chain: Sequence[Node]) -> Request:
        """What `extract` would ask; nothing is sent.

        Raises:
            ConfigurationError: A prompt file is wrong.
            OutcomeUnknownError: A skill is wanted, and nobody said how the episode ended.
            PromptTooLongError: The episode cannot be cut to the model's window.
        """
        return self._maker.extraction(tree, trajectory, chain)

    def estimate(self, tree: TreeName, trajectory: Trajectory, chain: Sequence[Node]) -> Usage:
        """What `extract` would take, were it called now; nothing is sent.

        An answer in the response cache takes nothing. The answer's length is a usual one.

        Raises:
            ConfigurationError: A prompt file is wrong.
            OutcomeUnknownError: A skill is wanted, and nobody said how the episode ended.
        """
        if not trajectory.steps:
            return Usage()
        try:
            request = self.request(tree, trajectory, chain)
        except PromptTooLongError:
            return Usage()  # `extract` would not send it either
        if self._client.is_known(request.prompt, request.contract):
            return Usage(cached=1)
        return self._client.estimate(request.prompt, _USUAL_ANSWER)

    def _asked(
        self, make: Callable[[RequestMaker], Request], source: str | None
    ) -> ModelExtraction:
        """Ask, with a smaller prompt where the model's window turns out to be smaller."""
        message, hint = "", None
        for share in _SHARES:
            maker = replace(self._maker, room=int(self._maker.room * share))
            try:
                return self._answered(make(maker))
            except AnswerError as error:
                raise ExtractionError(error.message, source=source, hint=error.hint) from error
            except PromptTooLongError as error:
                message, hint = error.message, error.hint
        raise ExtractionError(message, source=source, hint=hint)

    def _answered(self, request: Request) -> ModelExtraction:
        answer = self._client.ask(request.prompt, request.read, request.contract)
        again = f", asked {answer.attempts} times" if answer.attempts > 1 else ""
        if isinstance(answer.value, Skip):
            quote = one_line(answer.value.quote, _QUOTE_WIDTH)
            payload, reason = (
                None,
                f"the chain covers it: “{quote}”" if quote else "the chain covers it",
            )
        else:
            payload, reason = answer.value, f"written by {self._client.model}"
        return ModelExtraction(
            payload=payload,
            reason=reason + again,
            model=self._client.model,
            prompt=request.digest,
            usage=answer.usage,
            cut=request.cut,
        )
