"""Requests: an episode and a chain, turned into the one prompt that a model is asked.

A request is a value that can be made, counted and compared without asking anybody: the same
episode against the same chain gives the same request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.memory.deltamem.collections import Payload
from deltamem_tui.memory.deltamem.context import chain_entries
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.file import Prompt
from deltamem_tui.memory.writers.model.fence import block
from deltamem_tui.memory.writers.model.quotes import quotable, require_quote
from deltamem_tui.memory.writers.model.truncate import CutEpisode, fit
from deltamem_tui.trajectory.model import Trajectory

_STEP_LIMITS = ("max_steps", "step_limit")


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked for one tree.

    Attributes:
        prompt: The whole prompt.
        digest: The digest of the prompt's files.
        contract: The JSON object that is asked for.
        markers: What the procedure must contain, because it is a failure record.
        quotable: The known procedures that can cover the episode; to skip, one must be quoted.
        cut: What of the episode was left out, in one line; empty if nothing was.
    """

    prompt: str
    digest: str
    contract: Contract
    markers: tuple[str, ...] = ()
    quotable: tuple[str, ...] = ()
    cut: str = ""

    def read(self, text: str) -> Payload | Skip:
        """Make a payload of an answer.

        Raises:
            UnusableAnswer: The answer breaks the contract, lacks a marker or misquotes.
        """
        answer = self.contract.read(text)
        if isinstance(answer, Skip):
            require_quote(answer.quote, self.quotable)
            return answer
        payload = Payload(**answer)
        procedure = payload["execution_procedure"]
        missing = [mark for mark in self.markers if mark not in procedure]
        if missing:
            marks = " and ".join(missing)
            raise UnusableAnswer(f'a failure record must contain {marks} in "execution_procedure"')
        return payload


@dataclass(frozen=True, slots=True)
class RequestMaker:
    """Makes requests for one model and one bank.

    Attributes:
        domain: The bank's domain, for what no episode says.
        room: The tokens a prompt may have.
        count: Counts the tokens of a text.
        folders: Where prompts are looked up; the usual places if None.
    """

    domain: str
    room: int
    count: Callable[[str], int]
    folders: Sequence[Path] | None = None

    def extraction(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Request:
        """The request that distils an episode.

        Raises:
            ConfigurationError: A prompt file is wrong.
            OutcomeUnknownError: A skill is wanted, and nobody said how the episode ended.
            PromptTooLongError: The episode cannot be cut to the model's window.
        """
        failure = tree == "task" and not _solved(trajectory)
        prompt = self._find(_prompt_name(tree, failure, bool(chain)), trajectory.domain)
        may_skip = bool(chain) and _may_skip(prompt, tree, trajectory, chain)
        known = "\n\n".join(chain_entries(tree, chain))
        fixed = {
            "task": block("task", trajectory.task),
            "outcome": block("outcome", outcome_text(trajectory)),
            "memory": block("notes", known),
            "may_skip": may_skip,
        }
        text, cut = self.episode_prompt(prompt, trajectory, fixed)
        return Request(
            prompt=text,
            digest=prompts.digest(prompt, self.folders),
            contract=prompt.contract(may_skip=may_skip),
            markers=prompt.markers if failure else (),
            quotable=quotable(tree, chain, success=bool(trajectory.outcome.success)),
            cut=cut.description,
        )

    def fusion(self, tree: str, chain: Sequence[Node]) -> Request:
        """The request that fuses a chain into one payload (equation 8).

        Raises:
            ConfigurationError: A prompt file is wrong.
            ExtractionError: There is no chain.
        """
        if not chain:
            raise ExtractionError("there is no chain to fuse")
        failure = tree == "task" and all(node.label == "failure" for node in chain)
        prompt = self._find(f"{tree}_consolidation", "")
        if failure:
            prompt = replace(prompt, output={**prompt.output, "termination_condition": 0})
        known = "\n\n".join(chain_entries(tree, chain))
        values = {"memory": block("notes", known), "failure": failure}
        return Request(
            prompt=self._render(prompt, values),
            digest=prompts.digest(prompt, self.folders),
            contract=prompt.contract(),
            markers=prompt.markers if failure else (),
        )

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

    def _find(self, name: str, domain: str) -> Prompt:
        return prompts.find(domain or self.domain, name, self.folders)

    def _render(self, prompt: Prompt, values: Mapping[str, object]) -> str:
        return prompts.render(prompt, {**values, "words": prompt.output}, self.folders)


def outcome_text(trajectory: Trajectory) -> str:
    """How an episode ended, in sentences."""
    outcome = trajectory.outcome
    verdicts = {
        True: "The task was solved.",
        False: "The task was not solved.",
        None: "Nobody said whether the task was solved.",
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


def _solved(trajectory: Trajectory) -> bool:
    if trajectory.outcome.success is None:
        raise OutcomeUnknownError(
            "a skill cannot be told from a failure without an outcome",
            source=trajectory.id,
            hint="give the episode an outcome",
        )
    return trajectory.outcome.success


def _prompt_name(tree: str, failure: bool, matched: bool) -> str:
    name = f"{tree}_{'residual' if matched else 'root'}"
    if tree == "env":
        return name
    return f"{name}_{'failure' if failure else 'success'}"


def _may_skip(prompt: Prompt, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> bool:
    """Whether the chain can cover the episode at all: a procedure covers a success, a failure
    record a failure, and some domains want the full reward besides.
    """
    if tree == "env":
        return prompt.skip
    success = bool(trajectory.outcome.success)
    reward = trajectory.outcome.reward
    earned = reward if reward is not None else float(success)
    if prompt.skip_reward is not None and earned < prompt.skip_reward:
        return False
    return prompt.skip and bool(quotable(tree, chain, success=success))
