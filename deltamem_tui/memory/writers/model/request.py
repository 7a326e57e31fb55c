"""Requests: an episode and a chain, turned into the one prompt that a model is asked.

A request is a value that can be made, counted and compared without asking a model: the same
episode against the same chain gives the same request. A model that finds nothing new may be
right, or lazy: to skip, it has to copy what covers the episode out of one note of the right
kind, word for word, and enough of it that it cannot have been hit by chance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError, PromptTooLongError
from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.memory.context import chain_entries
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.methods import DEFAULT, method_named
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.file import Prompt
from deltamem_tui.memory.prompts.use import PromptUse
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Inputs
from deltamem_tui.memory.writers.model.checks import is_grounded, require_quote, require_substance
from deltamem_tui.memory.writers.model.truncate import CutEpisode, fit
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

SAFE = 0.9
"""The share of a window that is used: our count of tokens is not the model's own, and a tenth
covers most of the difference."""
SHARES = (1.0, 0.5, 0.25)
"""What a prompt that was refused as too long is cut to next, as shares of the model's window."""
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
        prompt: The whole prompt.
        digest: The digest of the prompt's files.
        contract: The JSON that is asked for.
        read: Makes the texts of each new node of an answer, or raises `UnusableAnswer`.
        cut: What of the episode was left out, in one line; empty if nothing was.
    """

    prompt: str
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
        known = block("notes", "\n\n".join(chain_entries(self.display(purpose), notes)))
        if episode is None:
            return self._of_notes(prompt, use, notes, {"memory": known}, inputs)
        if use.label and episode.outcome.success is None:
            raise OutcomeUnknownError(
                "a skill cannot be told from a failure without an outcome",
                source=episode.id,
                hint="give the episode an outcome",
            )
        covering = quotable(use, notes, success=bool(episode.outcome.success))
        may_skip = prompt.skip and _may_cover(prompt, use, episode)
        may_skip = may_skip and bool(covering or prompt.items)
        fixed = {
            "task": block("task", episode.task),
            "outcome": block("outcome", outcome_text(episode)),
            "memory": known,
            "may_skip": may_skip,
        }
        text, cut = self._filled(prompt, episode, fixed, inputs)
        contract = prompt.contract(may_skip=may_skip, optional=use.optional)
        markers = prompt.markers if use.label == "failure" else ()
        done = episode if use.label == "success" else None
        read = partial(_payloads, contract, use.body, markers, covering, text, done)
        return Request(text, prompts.digest(prompt, self.folders), contract, read, cut)

    def use(self, purpose: str) -> PromptUse:
        """Return what the method uses a prompt for."""
        return method_named(self.method).use_of(purpose)

    def find(self, purpose: str, episode: Trajectory | None = None) -> Prompt:
        """Return the prompt of an episode's domain, else of the bank's."""
        domain = (episode.domain if episode else "") or self.domain
        return prompts.find(domain, purpose, self.folders, self.use(purpose))

    def display(self, purpose: str) -> Display:
        """Return how the method shows the collection that a prompt writes for."""
        name = self.use(purpose).collection
        return method_named(self.method).display.get(name) or Display(name, name)

    def _of_notes(
        self,
        prompt: Prompt,
        use: PromptUse,
        notes: Sequence[Node],
        known: Mapping[str, object],
        inputs: Inputs,
    ) -> Request:
        if not notes and not inputs:
            raise ExtractionError("there is nothing to write from: no episode, no note")
        # Of failures alone comes a failure record; facts hold whatever came of an episode.
        failure = bool(self.display(prompt.name).warning) and all(
            node.label == "failure" for node in notes
        )
        if failure:
            empty = dict.fromkeys(use.empty_of_failures, 0)
            prompt = replace(prompt, output={**prompt.output, **empty})
        text, cut = self._filled(prompt, None, {**known, "failure": failure}, inputs)
        contract = prompt.contract(may_skip=bool(prompt.items), optional=use.optional)
        markers = prompt.markers if failure else ()
        read = partial(_payloads, contract, use.body, markers, (), text, None)
        return Request(text, prompts.digest(prompt, self.folders), contract, read, cut)

    def _filled(
        self,
        prompt: Prompt,
        episode: Trajectory | None,
        fixed: Mapping[str, object],
        inputs: Inputs,
    ) -> tuple[str, str]:
        """Return a prompt filled in, and what of the episode and the inputs was cut."""
        with_log = episode is not None and "trajectory" in prompt.inputs
        lists = {name: texts for name, texts in inputs.items() if isinstance(texts, tuple)}
        fixed = {
            "environment": block("environment", scene_of(episode) if episode else ""),
            **fixed,
            **{name: block(name, text) for name, text in inputs.items() if isinstance(text, str)},
        }
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
            return self._render(prompt, fixed), "; ".join(cuts)
        text, cut = self.episode_prompt(prompt, episode, fixed)
        return text, "; ".join(filter(None, [cut.description, *cuts]))

    def episode_prompt(
        self, prompt: Prompt, trajectory: Trajectory, fixed: Mapping[str, object]
    ) -> tuple[str, CutEpisode]:
        """Fill in a prompt with an episode that is cut to the room that the rest leaves it.

        Raises:
            ConfigurationError: The prompt file is wrong.
            PromptTooLongError: The episode cannot be cut that far.
        """
        frame = {**fixed, "environment": block("environment", ""), "trajectory": block("steps", "")}
        room = self.room - self.count(self._render(prompt, frame))
        cut = fit(trajectory, room, self.count)
        values = {
            **fixed,
            "environment": block("environment", cut.environment),
            "trajectory": block("steps", cut.text),
        }
        return self._render(prompt, values), cut

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
    for row in zip_longest(*lists.values()):
        for name, text in zip(lists, row, strict=True):
            if text is None:
                continue
            fenced_text = block(name, text)
            room -= count(fenced_text)
            if room < 0:
                if not any(shown.values()):
                    raise PromptTooLongError(
                        f"not even one of the {name} fits into the model's window",
                        hint="use a model with a larger window",
                    )
                return shown
            shown[name].append(fenced_text)
    return shown


def _payloads(
    contract: Contract,
    body: str,
    markers: Sequence[str],
    covering: Sequence[str],
    prompt: str,
    done: Trajectory | None,
    text: str,
) -> Answer:
    """Make payloads of an answer.

    Raises:
        UnusableAnswer: The answer breaks the contract, misquotes, has no substance, or has a
            flaw with which it is still of use: a missing marker, too many words, or nothing
            in it that was done in the log.
    """
    answer = contract.read_items(text) if contract.items else contract.read(text)
    if isinstance(answer, Skip):
        require_quote(answer.quote, covering)
        return answer
    payloads = answer if isinstance(answer, tuple) else (answer,)
    for payload in payloads:
        require_substance(payload, body, prompt)
    flaws = [flaw for each in payloads if (flaw := contract.excess(each))]
    for payload in payloads:
        missing = [mark for mark in markers if mark not in payload.get(body, "")]
        if missing:
            marks = " and ".join(missing)
            flaws.append(f'a failure record must contain {marks} in "{body}"')
        if done is not None and body in payload and not is_grounded(payload[body], done):
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


def _may_cover(prompt: Prompt, use: PromptUse, episode: Trajectory) -> bool:
    """Return whether the episode earned enough: some domains ask for the full reward."""
    if prompt.skip_reward is None or not use.label:
        return True
    reward = episode.outcome.reward
    earned = float(bool(episode.outcome.success)) if reward is None else reward
    return earned >= prompt.skip_reward


def quotable(use: PromptUse, notes: Sequence[Node], *, success: bool) -> tuple[str, ...]:
    """Return the procedures that can cover an episode.

    A skill covers a success, a failure record a failure; facts hold whatever came of it.
    """
    label = "success" if success else "failure"
    return tuple(
        node.payload[use.body]
        for node in notes
        if use.body in node.payload and (not use.label or node.label == label)
    )


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
