"""Requests: an episode and a chain, turned into the one prompt that a model is asked.

A request is a value that can be made, counted and compared without asking a model: the same
episode against the same chain gives the same request. The episode comes first and the question
last, so that a provider serves the second question of an episode from its cache.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from msgspec import structs

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError, PromptTooLongError
from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.memory.context import chain_entries
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.methods import DEFAULT, method_named
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.library import Prompt
from deltamem_tui.memory.prompts.use import SHARED, SYSTEM, PromptUse
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Inputs
from deltamem_tui.memory.writers.model.checks import (
    is_grounded,
    require_quote,
    require_substance,
)
from deltamem_tui.memory.writers.model.truncate import fit
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

SAFE = 0.9
"""The share of a window that is used: our count of tokens is not the model's own, and a tenth
covers most of the difference."""
SHARES = (1.0, 0.5, 0.25)
"""Next sizes for a prompt refused as too long, as shares of the model's window."""
_STEP_LIMITS = ("max_steps", "step_limit")
_MARK = "record"
_PLAIN = re.compile(rf"<(?=\s*/?\s*{_MARK})", re.IGNORECASE)
# 64 bits: too many to find a text that holds its own sign by trying.
_SIGN_LENGTH = 16

Answer = tuple[Mapping[str, str], ...] | Skip


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a model.

    Attributes:
        system: The system message, the same for all questions of a domain.
        shared: How many characters of the prompt other questions on the episode begin with.
        digest: The digest of the prompt's files.
        read: Makes the texts of each new node of an answer, or raises `UnusableAnswer`.
        cut: What of the episode was left out, in one line; empty if nothing was.
    """

    prompt: str
    system: str
    shared: int
    digest: str
    contract: Contract
    read: Callable[[str], Answer]
    cut: str = ""


@dataclass(frozen=True, slots=True)
class RequestMaker:
    """Makes requests for one model and one bank.

    Attributes:
        domain: The bank's domain, for what no episode says.
        room: The tokens a prompt may have.
        folders: Where prompts are looked up; the usual places if None.
    """

    domain: str
    room: int
    count: Callable[[str], int]
    folders: Sequence[Path] | None = None
    method: str = DEFAULT

    def use(self, purpose: str) -> PromptUse:
        """Return what the method uses a prompt for."""
        return method_named(self.method).use_of(purpose)

    def find(self, purpose: str, episode: Trajectory | None = None) -> Prompt:
        """Return the prompt of an episode's domain, else of the bank's."""
        domain = (episode.domain if episode else "") or self.domain
        return prompts.find(domain, purpose, self.folders, self.use(purpose))

    def request(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Request:
        """Return the request that distils an episode, or writes from notes and inputs alone.

        Raises:
            ConfigurationError: A prompt file is wrong.
            ExtractionError: There is nothing to write from.
            OutcomeUnknownError: A skill is wanted, and how the episode ended is not known.
            PromptTooLongError: The episode cannot be cut to the model's window.
        """
        prompt, use = self.find(purpose, episode), self.use(purpose)
        if episode is None and not notes and not inputs:
            raise ExtractionError("there is nothing to write from: no episode, no note")
        if episode and use.label and episode.outcome.success is None:
            raise OutcomeUnknownError(
                "a skill cannot be told from a failure without an outcome",
                source=episode.id,
                hint="give the episode an outcome",
            )
        display = method_named(self.method).display.get(use.collection) or Display("", "")
        # Of failures alone comes a failure record; facts hold whatever came of an episode.
        failed = bool(display.warning) and all(node.label == "failure" for node in notes)
        if episode is None and failed:
            empty = dict.fromkeys(use.empty_of_failures, 0)
            prompt = structs.replace(prompt, output={**prompt.output, **empty})
        covering = [
            node.payload.get(use.body, "")
            for node in notes
            if not use.label or node.label == use.label
        ]
        may_skip = prompt.skip and bool(any(covering) or prompt.items)
        fixed: dict[str, object] = {
            "memory": block("notes", "\n\n".join(chain_entries(display, notes))),
            "may_skip": may_skip,
            "failure": failed,
        }
        if episode:
            fixed["task"] = block("task", episode.task)
            fixed["outcome"] = block("outcome", outcome_text(episode))
        text, shared, cut = self._filled(prompt, episode, fixed, inputs)
        contract = prompt.contract(use, may_skip=may_skip)
        is_record = use.label == "failure" or (episode is None and failed)
        return self._request(
            prompt,
            text,
            contract,
            partial(
                _payloads,
                contract,
                use.body,
                prompt.markers if is_record else (),
                covering,
                episode if use.label == "success" else None,
            ),
            shared=shared,
            cut=cut,
        )

    def _request(
        self,
        prompt: Prompt,
        text: str,
        contract: Contract,
        read: Callable[[str, str], Answer],
        *,
        shared: int = 0,
        cut: str = "",
    ) -> Request:
        """Return a request whose answer is read by what was asked and said."""
        system = prompts.find(prompt.domain, SYSTEM, self.folders, SHARED[SYSTEM])
        digest = prompts.digest(prompt, self.folders)
        asked = f"{system.body}\n{text}"
        return Request(text, system.body, shared, digest, contract, partial(read, asked), cut)

    def _filled(
        self,
        prompt: Prompt,
        episode: Trajectory | None,
        fixed: dict[str, object],
        inputs: Inputs,
    ) -> tuple[str, int, str]:
        """Return a prompt filled in, how much of it is the episode, and what was cut."""
        with_log = episode is not None and "trajectory" in prompt.inputs
        lists = {name: texts for name, texts in inputs.items() if isinstance(texts, tuple)}
        scene = scene_of(episode) if episode else ""
        fixed = {"environment": block("environment", scene), **fixed}
        fixed |= {name: block(name, text) for name, text in inputs.items() if isinstance(text, str)}
        cuts = []
        if lists:
            empty = {"trajectory": block("steps", ""), **dict.fromkeys(lists, "")}
            room = self.room - self.count(self._render(prompt, {**empty, **fixed}))
            shown = fitted(lists, room // 2 if with_log else room, self.count)
            fixed |= {name: "\n\n".join(texts) for name, texts in shown.items()}
            cuts = [
                f"{len(texts) - len(shown[name])} of {len(texts)} {name} left out"
                for name, texts in lists.items()
                if len(shown[name]) < len(texts)
            ]
        if episode is None or not with_log:
            return self._render(prompt, fixed), 0, "; ".join(cuts)
        text, shared, cut = self.episode_prompt(prompt, episode, fixed)
        return text, shared, "; ".join(filter(None, [cut, *cuts]))

    def episode_prompt(
        self, prompt: Prompt, trajectory: Trajectory, fixed: Mapping[str, object]
    ) -> tuple[str, int, str]:
        """Fill in a prompt with an episode that is cut to the room that the rest leaves it.

        Returns:
            The text, how many characters of it end with the episode, and what was cut.

        Raises:
            ConfigurationError: The prompt file is wrong.
            PromptTooLongError: The episode cannot be cut that far.
        """
        empty = {"environment": block("environment", ""), "trajectory": block("steps", "")}
        room = self.room - self.count(self._render(prompt, {**fixed, **empty}))
        cut = fit(trajectory, room, self.count)
        steps = block("steps", cut.text)
        values = {"environment": block("environment", cut.environment), "trajectory": steps}
        text = self._render(prompt, {**fixed, **values})
        at = text.find(steps)
        return text, at + len(steps) if at >= 0 else 0, cut.description

    def _render(self, prompt: Prompt, values: Mapping[str, object]) -> str:
        return prompts.render(prompt, {**values, "words": prompt.output}, self.folders)


def fitted(
    lists: Mapping[str, tuple[str, ...]], room: int, count: Callable[[str], int]
) -> dict[str, list[str]]:
    """Return the first texts of each list, fenced: as many as fit `room` tokens together.

    One of each list comes in turn, so that none is crowded out.

    Raises:
        PromptTooLongError: Not even the first text fits.
    """
    shown: dict[str, list[str]] = {name: [] for name in lists}
    rows = zip_longest(*lists.values())
    for name, text in (pair for row in rows for pair in zip(lists, row, strict=True)):
        if text is None:
            continue
        fenced_text = block(name, text)
        room -= count(fenced_text)
        if room < 0:
            break
        shown[name].append(fenced_text)
    if room < 0 and not any(shown.values()):
        raise PromptTooLongError(
            f"not even one of the {' and '.join(lists)} fits into the model's window",
            hint="use a model with a larger window",
        )
    return shown


def _payloads(
    contract: Contract,
    body: str,
    markers: Sequence[str],
    covering: Sequence[str],
    done: Trajectory | None,
    asked: str,
    said: str,
) -> Answer:
    """Make payloads of an answer.

    Raises:
        UnusableAnswer: The answer breaks the contract, misquotes, has no substance, or has a
            flaw with which it is still of use: a missing marker, or nothing in it that was done
            in the log.
    """
    payloads = contract.read(said)
    if isinstance(payloads, Skip):
        if not payloads.unrelated:
            require_quote(payloads.quote, covering)
        return payloads
    flaws = []
    for payload in payloads:
        require_substance(payload, body, asked)
        text = payload.get(body, "")
        if any(mark not in text for mark in markers):
            flaws.append(f'a failure record must contain {" and ".join(markers)} in "{body}"')
        if done is not None and text and not is_grounded(text, done):
            flaws.append(f'nothing in "{body}" was done in the log: name its actions')
    if flaws:
        raise UnusableAnswer(flaws[0], usable=payloads)
    return payloads


def outcome_text(trajectory: Trajectory) -> str:
    """Describe how an episode ended, in sentences."""
    outcome = trajectory.outcome
    verdicts = {
        True: "The task was solved.",
        False: "The task was not solved.",
        None: "It is not known whether the task was solved.",
    }
    parts = [verdicts[outcome.success]]
    if outcome.reward is not None:
        parts.append(f"Reward: {outcome.reward:g} of 1.")
    limits = [trajectory.metadata[name] for name in _STEP_LIMITS if name in trajectory.metadata]
    most = f" of at most {limits[0]}" if limits else ""
    parts.append(f"Steps: {len(trajectory.steps)}{most}.")
    if outcome.reason:
        parts.append(f"Reason given: {outcome.reason}")
    return " ".join(parts)


def block(name: str, text: str) -> str:
    """Fence material, so that a model can tell it from the request.

    A fence ends with the sign it began with, a digest of what is in it: no text can hold its own,
    and the same text has the same one, so a prompt stays the same from run to run.
    """
    inside = fenced(text) or "(nothing)"
    sign = hashlib.sha256(inside.encode()).hexdigest()[:_SIGN_LENGTH]
    return f'<{_MARK} of="{name}" sign="{sign}">\n{inside}\n</{_MARK} sign="{sign}">'


def fenced(text: str) -> str:
    """Return `text` clean and without a plain mark that could be taken for its fence's.

    A mark that is disguised stays as it is, and lacks the sign.
    """
    return _PLAIN.sub("(", clean(text)).strip()
