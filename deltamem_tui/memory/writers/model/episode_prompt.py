"""Requests: an episode and a chain, turned into the one prompt that a model is asked.

A request is a value that can be made, counted and compared without asking a model: the same
episode against the same chain gives the same request. A model that finds nothing new may be
right, or lazy: to skip, it has to copy what covers the episode out of one note of the right
kind, word for word, and enough of it that it cannot have been hit by chance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError, OutcomeUnknownError
from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.memory.context import chain_entries
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import DEFAULT, method_named
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.file import Prompt
from deltamem_tui.memory.writers.extraction import tree_of
from deltamem_tui.memory.writers.model.truncate import CutEpisode, fit
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory

LEAST_WORDS = 4
"""The least words of a quote, unless it is a whole line."""
_LEAST_OF_A_LINE = 2
_WORD = re.compile(r"\w+")
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


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked.

    Attributes:
        prompt: The whole prompt.
        digest: The digest of the prompt's files.
        contract: The JSON object that is asked for.
        read: Makes texts of an answer, or raises `UnusableAnswer`.
        cut: What of the episode was left out, in one line; empty if nothing was.
    """

    prompt: str
    digest: str
    contract: Contract
    read: Callable[[str], Mapping[str, str] | Skip]
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

    def request(self, purpose: str, episode: Trajectory | None, notes: Sequence[Node]) -> Request:
        """The request that distils an episode, or fuses the notes where there is none.

        Raises:
            ConfigurationError: A prompt file is wrong.
            ExtractionError: There is neither an episode nor a note.
            OutcomeUnknownError: A skill is wanted, and how the episode ended is not known.
            PromptTooLongError: The episode cannot be cut to the model's window.
        """
        prompt = self.find(purpose, episode)
        known = block("notes", "\n\n".join(chain_entries(self.display(purpose), notes)))
        if episode is None:
            return self._fusion(prompt, notes, known)
        if by_outcome(purpose) and episode.outcome.success is None:
            raise OutcomeUnknownError(
                "a skill cannot be told from a failure without an outcome",
                source=episode.id,
                hint="give the episode an outcome",
            )
        covering = quotable(purpose, notes, success=bool(episode.outcome.success))
        may_skip = prompt.skip and bool(covering) and _may_cover(prompt, episode)
        fixed = {
            "task": block("task", episode.task),
            "outcome": block("outcome", outcome_text(episode)),
            "memory": known,
            "may_skip": may_skip,
        }
        text, cut = self.episode_prompt(prompt, episode, fixed)
        contract = prompt.contract(may_skip=may_skip)
        markers = prompt.markers if purpose.endswith("_failure") else ()
        read = partial(_payload, contract, markers, covering)
        digest = prompts.digest(prompt, self.folders)
        return Request(text, digest, contract, read, cut.description)

    def find(self, purpose: str, episode: Trajectory | None = None) -> Prompt:
        """The prompt of an episode's domain, else of the bank's."""
        return prompts.find(
            (episode.domain if episode else "") or self.domain, purpose, self.folders
        )

    def display(self, purpose: str) -> Display:
        """How the method shows the collection that a prompt writes for."""
        tree = tree_of(purpose)
        return method_named(self.method).display.get(tree) or Display(tree, tree)

    def _fusion(self, prompt: Prompt, notes: Sequence[Node], known: str) -> Request:
        if not notes:
            raise ExtractionError("there is no chain to fuse")
        # Of a chain of failures comes a failure record; facts hold whatever came of an episode.
        failure = bool(self.display(prompt.name).warning) and all(
            node.label == "failure" for node in notes
        )
        if failure:
            prompt = replace(prompt, output={**prompt.output, "termination_condition": 0})
        text = self._render(prompt, {"memory": known, "failure": failure})
        contract = prompt.contract()
        read = partial(_payload, contract, prompt.markers if failure else (), ())
        return Request(text, prompts.digest(prompt, self.folders), contract, read)

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


def _payload(
    contract: Contract, markers: Sequence[str], covering: Sequence[str], text: str
) -> Mapping[str, str] | Skip:
    """Make a payload of an answer.

    Raises:
        UnusableAnswer: The answer breaks the contract, lacks a marker or misquotes.
    """
    answer = contract.read(text)
    if isinstance(answer, Skip):
        require_quote(answer.quote, covering)
        return answer
    procedure = answer.get("execution_procedure", "")
    missing = [mark for mark in markers if mark not in procedure]
    if missing:
        marks = " and ".join(missing)
        raise UnusableAnswer(f'a failure record must contain {marks} in "execution_procedure"')
    return answer


def outcome_text(trajectory: Trajectory) -> str:
    """How an episode ended, in sentences."""
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


def by_outcome(purpose: str) -> bool:
    """Whether a prompt is for episodes that ended in one way: `task_root_success`."""
    return purpose.endswith(("_success", "_failure"))


def _may_cover(prompt: Prompt, episode: Trajectory) -> bool:
    """Whether the episode earned enough: some domains want the full reward to be covered."""
    if prompt.skip_reward is None or not by_outcome(prompt.name):
        return True
    reward = episode.outcome.reward
    earned = float(bool(episode.outcome.success)) if reward is None else reward
    return earned >= prompt.skip_reward


def quotable(purpose: str, notes: Sequence[Node], *, success: bool) -> tuple[str, ...]:
    """The procedures that can cover an episode: a skill covers a success, a failure record a
    failure; facts hold whatever came of it.
    """
    label = "success" if success else "failure"
    return tuple(
        node.payload["execution_procedure"]
        for node in notes
        if not by_outcome(purpose) or node.label == label
    )


def require_quote(quote: str, procedures: Iterable[str]) -> None:
    """Make sure that a quote stands in one of some procedures. Only its words count.

    Raises:
        UnusableAnswer: It says nothing, is too short or stands in none of them.
    """
    words = _words(quote)
    if not words:
        raise UnusableAnswer(
            "nothing is quoted: quote what covers the episode word for word, or do not skip"
        )
    found = [procedure for procedure in procedures if _within(words, _words(procedure))]
    if not found:
        raise UnusableAnswer(
            "what you quote is not in the notes that could cover this episode: quote one "
            "procedure in them word for word, or do not skip"
        )
    if len(words) < LEAST_WORDS and not any(_is_line(words, procedure) for procedure in found):
        raise UnusableAnswer(
            f"what you quote is too short: quote at least {LEAST_WORDS} words or a whole line, "
            "or do not skip"
        )


def _within(words: Sequence[str], text: Sequence[str]) -> bool:
    size = len(words)
    return any(text[first : first + size] == words for first in range(len(text) - size + 1))


def _is_line(words: Sequence[str], procedure: str) -> bool:
    lines = map(_words, procedure.splitlines())
    return len(words) >= _LEAST_OF_A_LINE and any(line == words for line in lines)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def block(name: str, text: str) -> str:
    """What others wrote, fenced, so that a model can tell the material from the request.

    A fence ends with the sign it began with, a digest of what is in it: no text can hold its own,
    and the same text has the same one, so a prompt stays the same from run to run.
    """
    inside = fenced(text) or "(nothing)"
    sign = hashlib.sha256(inside.encode()).hexdigest()[:_SIGN_LENGTH]
    return f'<{_MARK} of="{name}" sign="{sign}">\n{inside}\n</{_MARK} sign="{sign}">'


def fenced(text: str) -> str:
    """`text`, clean and without a plain mark that could be taken for its fence's.

    A mark that is disguised stays as it is, and lacks the sign.
    """
    return _PLAIN.sub("(", clean(text)).strip()
