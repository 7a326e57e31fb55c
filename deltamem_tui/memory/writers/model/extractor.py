"""The extractor that asks a language model: skills and knowledge in its words, checked by ours."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, PromptTooLongError
from deltamem_tui.llm.answers import Skip
from deltamem_tui.llm.client import Client
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.writers.extraction import Extraction, OnPayment, no_payment
from deltamem_tui.memory.writers.model.episode_prompt import Request, RequestMaker
from deltamem_tui.memory.writers.model.requests import SAFE, SHARES, About, Asker
from deltamem_tui.memory.writers.model.scene_extraction import SceneDrawer
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

PROMPTS = (
    *(f"task_{kind}_{end}" for kind in ("root", "residual") for end in ("success", "failure")),
    *("env_root", "env_residual", "task_consolidation", "env_consolidation"),
)
"""The prompts that extraction and consolidation use."""

# What an answer takes as a rule: the published sizes of a unit are 145 to 257 words.
_USUAL_ANSWER = 400
_QUOTE_WIDTH = 160
# Requests that are kept: counting their tokens takes longer than sending them.
_REMEMBERED = 64


class ModelExtractor:
    """Distils episodes by asking a model. Any number of threads may share one."""

    def __init__(
        self,
        client: Client,
        domain: str = "generic",
        folders: Sequence[Path] | None = None,
        *,
        on_payment: OnPayment = no_payment,
    ) -> None:
        """Nothing is asked yet.

        Args:
            client: The model.
            domain: The bank's domain; its prompts are used for episodes that name none.
            folders: Where prompts are looked up; the usual places if not given.
            on_payment: Told of each answer when it comes, in whatever thread.
        """
        self._client = client
        self._maker = RequestMaker(
            domain=domain,
            room=int(client.info.prompt_tokens * SAFE),
            count=client.count,
            folders=folders,
        )
        self._asker = Asker(client, on_payment)
        self._made: dict[Hashable, tuple[Trajectory | None, Request]] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> Literal["model"]:
        """Recorded in each node's origin."""
        return "model"

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
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
            return Extraction(None, "the episode has no steps")
        return self._asked(tree, trajectory, chain, About("extract", tree, trajectory.id))

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        """Fuse a chain into one self-contained payload for a new root (equation 8).

        Args:
            tree: The tree that holds the chain.
            chain: Root to the residual that was hit often enough.

        Raises:
            ExtractionError: The model gave nothing usable, or the chain does not fit its window.
            ConfigurationError: A prompt file is wrong.
            LanguageModelError: The model cannot be asked at all.
        """
        about = About("fuse", tree, chain[-1].id if chain else "")
        return self._asked(tree, None, chain, about)

    def check(self) -> None:
        """Make sure, before anything is asked, that the bank's prompts can be filled in.

        Raises:
            ConfigurationError: One of them is wrong; says which and where.
        """
        for name in PROMPTS:
            prompt = prompts.find(self._maker.domain, name, self._maker.folders)
            values: dict[str, object] = dict.fromkeys(prompt.inputs, "…")
            for switch in (True, False):
                values |= {"words": prompt.output, "may_skip": switch, "failure": switch}
                prompts.render(prompt, values, self._maker.folders)

    @property
    def usage(self) -> Usage:
        """What everything that was asked through the client took."""
        return self._client.usage

    def paying(self, on_payment: OnPayment) -> ModelExtractor:
        """Returns the same extractor, which reports what its answers take."""
        return ModelExtractor(
            self._client, self._maker.domain, self._maker.folders, on_payment=on_payment
        )

    def cancel(self) -> None:
        """Ask nothing more for what is under way; see `Client.cancel`."""
        self._client.cancel()

    def drawer(self) -> SceneDrawer:
        """Draws scenes by the same model; what that takes is among this extractor's usage."""
        return SceneDrawer(self._client, self._maker.domain, self._maker.folders)

    def prompt(self, tree: str, trajectory: Trajectory | None, chain: Sequence[Node]) -> str | None:
        """What `extract` would send first, or `fuse` if there is no episode. Nothing is sent.

        Returns:
            None if nothing would be sent: the episode has no steps, or fits no prompt.

        Raises:
            ConfigurationError: A prompt file is wrong.
            OutcomeUnknownError: A skill is wanted, and nobody said how the episode ended.
        """
        if trajectory is not None and not trajectory.steps:
            return None
        try:
            return self._request(tree, trajectory, chain).prompt
        except PromptTooLongError:
            return None

    def request(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Request:
        """What `extract` would ask; nothing is sent.

        Raises:
            ConfigurationError: A prompt file is wrong.
            OutcomeUnknownError: A skill is wanted, and nobody said how the episode ended.
            PromptTooLongError: The episode cannot be cut to the model's window.
        """
        return self._maker.extraction(tree, trajectory, chain)

    def estimate(self, tree: str, trajectory: Trajectory | None, chain: Sequence[Node]) -> Usage:
        """What `extract` would take, were it called now, or `fuse` if there is no episode.

        Nothing is sent. An answer in the response cache takes nothing. The answer's length is
        a usual one.

        Raises:
            ConfigurationError: A prompt file is wrong.
            OutcomeUnknownError: A skill is wanted, and nobody said how the episode ended.
        """
        if trajectory is not None and not trajectory.steps:
            return Usage()
        try:
            request = self._request(tree, trajectory, chain)
        except PromptTooLongError:
            return Usage()  # `extract` would not send it either
        if self._client.is_known(request.prompt, request.contract):
            return Usage(cached=1)
        return self._client.estimate(request.prompt, _USUAL_ANSWER)

    def _request(
        self,
        tree: str,
        trajectory: Trajectory | None,
        chain: Sequence[Node],
        share: float = 1.0,
    ) -> Request:
        """A request, made once for whoever looks at it first and whoever sends it."""
        source = trajectory.id if trajectory is not None else None
        key = (tree, source, tuple((node.id, node.revision) for node in chain), share)
        with self._lock:
            of, request = self._made.get(key, (None, None))
        # An episode of the same id may be of another domain, or have ended otherwise.
        if request is None or of is not trajectory:
            request = self._make(tree, trajectory, chain, share)
            with self._lock:
                self._made[key] = trajectory, request
                while len(self._made) > _REMEMBERED:
                    del self._made[next(iter(self._made))]
        return request

    def _make(
        self, tree: str, trajectory: Trajectory | None, chain: Sequence[Node], share: float
    ) -> Request:
        maker = replace(self._maker, room=int(self._maker.room * share))
        if trajectory is None:
            return maker.fusion(tree, chain)
        return maker.extraction(tree, trajectory, chain)

    def _asked(
        self,
        tree: str,
        trajectory: Trajectory | None,
        chain: Sequence[Node],
        about: About,
    ) -> Extraction:
        """Ask, with a smaller prompt where the model's window turns out to be smaller."""
        message, hint = "", None
        for share in SHARES:
            try:
                return self._answered(self._request(tree, trajectory, chain, share), about)
            except PromptTooLongError as error:
                message, hint = error.message, error.hint
        raise ExtractionError(message, source=about.source or None, hint=hint)

    def _answered(self, request: Request, about: About) -> Extraction:
        answer = self._asker.ask(request, about)
        model = self._client.model
        again = f", asked {answer.attempts} times" if answer.attempts > 1 else ""
        if isinstance(answer.value, Skip):
            quote = one_line(answer.value.quote, _QUOTE_WIDTH)
            payload, reason = None, f"the chain covers it: “{quote}”"
        else:
            payload, reason = answer.value, f"written by {model}"
        return Extraction(
            payload=payload,
            reason=reason + again,
            model=model,
            prompt=request.digest,
            usage=answer.usage,
            attempts=answer.attempts,
            cut=request.cut,
        )
