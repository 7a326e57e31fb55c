"""The writer that asks a language model, in its words, checked by ours; and the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self

from deltamem_tui.errors import ExtractionError, PromptTooLongError
from deltamem_tui.llm.answers import Skip
from deltamem_tui.llm.client import Client, NoUsableAnswerError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.method import DEFAULT, Method, method_named
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.use import JUDGE
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Call,
    Extraction,
    FailedCallError,
    Inputs,
    Notes,
    OnPayment,
)
from deltamem_tui.memory.writers.model.request import Request, RequestMaker
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

# What an answer takes as a rule: the published sizes of a unit are 145 to 257 words.
_USUAL_ANSWER, _USUAL_VERDICT = 400, 80
# Our count of tokens is not the model's own: a tenth of a window covers most of the difference.
_SAFE = 0.9
_SHARES = (1.0, 0.5, 0.25)  # of the window, for prompts that are refused as too long
_QUOTE_WIDTH = 160
_REASON_WIDTH = 600


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Distils episodes by asking a model. Any number of threads may share one.

    The bank's `domain` is for episodes that name none. All of `on_payment` are called with each
    answer when it comes, in whatever thread.
    """

    name: ClassVar[str] = "model"
    client: Client
    domain: str = "generic"
    folders: Sequence[Path] | None = None
    method: str = DEFAULT
    on_payment: tuple[OnPayment, ...] = ()

    @property
    def usage(self) -> Usage:
        """The usage of everything that was asked."""
        return self.client.usage

    def cancel(self) -> None:
        """Give up the questions that are under way; see `Client.cancel`."""
        self.client.cancel()

    def paying(self, on_payment: OnPayment) -> Self:
        """Return the same extractor, which reports what its answers take to this one too."""
        return replace(self, on_payment=(*self.on_payment, on_payment))

    def of_method(self, method: Method) -> Self:
        """Return the same extractor, which writes with the prompts of a method."""
        return replace(self, method=method.name)

    def check(self) -> None:
        """Make sure that the method's prompts can be filled in; else a ConfigurationError."""
        for name in method_named(self.method).prompts:
            prompts.trials(self._maker().find(name))

    def write(
        self, purpose: str, episode: Trajectory | None, notes: Notes, inputs: Inputs = NO_INPUTS
    ) -> Extraction:
        """Ask, with a smaller prompt where the model's window turns out to be smaller.

        Raises, beside what `Writer.write` does, what `RequestMaker.request` does.
        """
        if episode is not None and not self._has_steps(purpose, episode):
            return Extraction(None, "the episode has no steps")
        source = episode.id if episode else notes[-1].id if notes else ""
        failed = ExtractionError("")
        for share in _SHARES:
            try:
                request = self._maker(share).request(purpose, episode, notes, inputs)
                return self._ask(purpose, source, request)
            except PromptTooLongError as error:
                failed = ExtractionError(error.message, source=source or None, hint=error.hint)
        raise failed

    def estimate(self, purpose: str, request: Request | None) -> Usage:
        """Estimate what a request would take, with an answer of usual length. Nothing is sent."""
        if request is None:
            return Usage()
        usual = _USUAL_VERDICT if purpose == JUDGE else _USUAL_ANSWER
        return self.client.estimate(request.prompt, request.contract, usual, request.system)

    def request(
        self, purpose: str, episode: Trajectory | None, notes: Notes, inputs: Inputs = NO_INPUTS
    ) -> Request | None:
        """Return what `write` would ask first; None if nothing, or no prompt fits.

        Equal prompts get equal answers, so an answer to this one serves later as well.
        """
        if not (self._has_steps(purpose, episode) if episode else notes or inputs):
            return None
        try:
            return self._maker().request(purpose, episode, notes, inputs)
        except PromptTooLongError:
            return None

    def _maker(self, share: float = 1.0) -> RequestMaker:
        room = int(self.client.info.prompt_tokens * _SAFE * share)
        return RequestMaker(self.domain, room, self.client.count, self.folders, self.method)

    def _has_steps(self, purpose: str, episode: Trajectory) -> bool:
        """Return whether an episode has the steps that a prompt shows, if it shows any."""
        use = method_named(self.method).use_of(purpose)
        return bool(episode.steps) or "trajectory" not in use.inputs

    def _ask(self, purpose: str, source: str, request: Request) -> Extraction:
        model, digest = self.client.model, request.digest
        use = method_named(self.method).use_of(purpose)
        kind, tree = use.call, use.collection or None

        def on_answer(usage: Usage) -> None:
            for pay in self.on_payment:
                pay(Call(kind, tree, model, digest, usage, source=source))

        try:
            answer = self.client.ask(
                request.prompt,
                request.read,
                request.contract,
                on_answer,
                system=request.system,
                shared=request.shared,
            )
        except NoUsableAnswerError as error:
            call = Call(kind, tree, model, digest, error.usage, error.attempts, request.cut)
            raise FailedCallError(
                error.message, call, source=source or None, hint=error.hint
            ) from error
        skip = answer.value if isinstance(answer.value, Skip) else None
        payloads = () if isinstance(answer.value, Skip) else answer.value
        if skip:
            covered = f"the chain covers it: “{one_line(skip.quote, _QUOTE_WIDTH)}”"
            reason = "the chain is about something else" if skip.unrelated else covered
        else:
            reason = f"written by {model}" if payloads else f"{model} found nothing to write"
        reason += f" (taken with a flaw: {answer.flaw})" if answer.flaw else ""
        reason += f", asked {answer.attempts} times" if answer.attempts > 1 else ""
        return Extraction(
            payloads[0] if payloads else None,
            reason,
            model=model,
            prompt=digest,
            usage=answer.usage,
            attempts=answer.attempts,
            cut=request.cut,
            further=payloads[1:],
            unrelated=bool(skip and skip.unrelated),
        )


class Judge(ModelExtractor):
    """Judges episodes of unknown outcome by asking a model; what it says is kept as a judge's."""

    def judge(self, trajectory: Trajectory) -> tuple[Outcome, Call]:
        """Ask whether an episode solved its task; returns the answer with its reasons.

        Raises as `write`, a FailedCallError if it said neither yes nor no, also when asked again.
        """
        found = self.write(JUDGE, trajectory, ())
        if found.payload is None:
            raise ExtractionError(found.reason, source=trajectory.id)
        reason = one_line(found.payload["reasons"], _REASON_WIDTH)
        success = found.payload["solved"] == "yes"
        (call,) = found.calls("judge")
        return Outcome(success=success, source="judge", reason=reason), call
