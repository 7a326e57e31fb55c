"""Requests: an episode and a chain, turned into the one prompt that a model is asked.

A request is a value: the same episode against the same chain gives the same one. The episode
comes first and the question last, so that a provider serves the second question of an episode
from its cache. A model that finds nothing new may be right, or lazy, so it quotes what covers the
episode; a weak one hands back the prompt's own words, or nothing, in the form that was asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from msgspec import structs

from deltamem_tui.errors import ExtractionError, PromptTooLongError, TrajectoryError
from deltamem_tui.llm.answers import Contract, Skip, Texts, UnusableAnswer
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import DEFAULT, method_named
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.library import Prompt
from deltamem_tui.memory.prompts.use import SHARED, SYSTEM
from deltamem_tui.memory.recall_result import chain_entries
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Inputs, Notes
from deltamem_tui.memory.writers.model.truncate import fit
from deltamem_tui.text import clean
from deltamem_tui.trajectory.model import Trajectory, scene_of

_LEAST_QUOTE = 4  # words, unless it is a whole line
_LEAST_BODY, _PARAGRAPH = 3, 40  # words
_SPAN = 8  # words: no honest text says most of such spans three times
_STOP_LENGTH = 3
# Of the form that some prompt shows.
_FORM = re.compile(r"\bat most \d+ words\b")
_WORD = re.compile(r"\w+")
_RECORD = re.compile(r'<record of="\w+" sign="(\w+)">.*?</record sign="\1">', re.DOTALL)
_MARK = "record"
_PLAIN = re.compile(rf"<(?=\s*/?\s*{_MARK})", re.IGNORECASE)
# 64 bits: too many to find a text that holds its own sign by trying.
_SIGN_LENGTH = 16
_VERDICTS = {
    True: "The task was solved.",
    False: "The task was not solved.",
    None: "It is not known whether the task was solved.",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a model.

    Attributes:
        shared: How many characters of the prompt other questions on the episode begin with.
        cut: What of the episode was left out, in one line; empty if nothing was.
        body: The field that holds what a node has to say, with the markers; empty if none can
            hold a paragraph.
        covering: The texts one of which a model quotes that skips.
        done: The episode whose actions an answer must name, if any.
    """

    prompt: str
    system: str
    shared: int
    digest: str
    contract: Contract
    cut: str = ""
    body: str = ""
    markers: Sequence[str] = ()
    covering: Sequence[str] = ()
    done: Trajectory | None = None

    def read(self, said: str) -> tuple[Texts, ...] | Skip:
        """Return the texts of each new node of an answer.

        Raises an UnusableAnswer if it breaks the contract, misquotes, or has no substance; or has a
        flaw with which it is still of use: no marker, or nothing in it that was done in the log.
        """
        payloads = self.contract.read(said)
        if isinstance(payloads, Skip):
            if not payloads.unrelated:
                self._require_quote(payloads.quote)
            return payloads
        flaws = []
        shown = "".join(each[0] for each in _RECORD.finditer(self.prompt))
        for payload in payloads:
            self._require_substance(payload)
            if any(form not in shown for text in payload.values() for form in _FORM.findall(text)):
                flaws.append("a text is the description of a field: write what this log shows")
            text = payload.get(self.body, "")
            if any(mark not in text for mark in self.markers):
                marks = " and ".join(self.markers)
                flaws.append(f'a failure record must contain {marks} in "{self.body}"')
            steps = self.done.steps if self.done and text else ()
            actions = (word for step in steps for word in _words(step.action))
            done = {word for word in actions if len(word) > _STOP_LENGTH}
            if done and done.isdisjoint(_words(text)):
                flaws.append(f'nothing in "{self.body}" was done in the log: name its actions')
        if flaws:
            raise UnusableAnswer(flaws[0], usable=payloads)
        return payloads

    def _require_quote(self, quote: str) -> None:
        """Make sure that a quote stands in what could cover the episode. Only its words count."""
        words = _words(quote)
        if not words or not any(_within(words, _words(text)) for text in self.covering):
            raise UnusableAnswer(
                "what you quote is not in the notes that could cover this episode: quote one "
                "procedure in them word for word, or do not skip"
            )
        lines = [_words(line) for text in self.covering for line in text.splitlines()]
        if len(words) < _LEAST_QUOTE and (len(words) < 2 or words not in lines):
            raise UnusableAnswer(
                f"what you quote is too short: quote at least {_LEAST_QUOTE} words or a whole "
                "line, or do not skip"
            )

    def _require_substance(self, payload: Texts) -> None:
        """Make sure that the texts of a node say something of their own."""
        instructions = _words(_RECORD.sub(" ", f"{self.system}\n{self.prompt}"))
        said: dict[str, str] = {}
        for name, text in payload.items():
            words = _words(text)
            spans = [tuple(words[at : at + _SPAN]) for at in range(len(words) - _SPAN + 1)]
            if len(spans) > 3 * max(_SPAN, len({*spans})):
                raise UnusableAnswer(f'"{name}" says the same again and again')
            if text and not any(len(word) > 1 for word in words):
                raise UnusableAnswer(f'"{name}" says nothing')
            if len(words) >= _LEAST_BODY and _within(words, instructions):
                reason = f'"{name}" is copied from these instructions: write what this log shows'
                raise UnusableAnswer(reason)
            if len(words) >= _LEAST_BODY and (same := said.get(" ".join(words))):
                raise UnusableAnswer(f'"{name}" says the same as "{same}"')
            if name == self.body and 0 < len(words) < _LEAST_BODY:
                raise UnusableAnswer(f'"{name}" has fewer than {_LEAST_BODY} words')
            said[" ".join(words)] = name


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _within(words: Sequence[str], text: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(text)} "


@dataclass(frozen=True, slots=True)
class RequestMaker:
    """Makes requests for one bank, whose domain is for what no episode says, in so many tokens."""

    domain: str
    room: int
    count: Callable[[str], int]
    folders: Sequence[Path] | None = None
    method: str = DEFAULT

    def find(self, purpose: str, episode: Trajectory | None = None) -> Prompt:
        """Return the prompt of an episode's domain, else of the bank's."""
        domain = (episode.domain if episode else "") or self.domain
        use = method_named(self.method).use_of(purpose)
        return prompts.find(domain, purpose, self.folders, use)

    def request(
        self, purpose: str, episode: Trajectory | None, notes: Notes, inputs: Inputs = NO_INPUTS
    ) -> Request:
        """Return the request that distils an episode, or writes from notes and inputs alone.

        Raises:
            ConfigurationError: A prompt file is wrong.
            ExtractionError: There is nothing to write from.
            TrajectoryError: A skill is wanted, and how the episode ended is not known.
            PromptTooLongError: The episode cannot be cut to the model's window.
        """
        method = method_named(self.method)
        prompt, use = self.find(purpose, episode), method.use_of(purpose)
        if episode is None and not notes and not inputs:
            raise ExtractionError("there is nothing to write from: no episode, no note")
        if episode and use.label and episode.outcome.success is None:
            raise TrajectoryError(
                "a skill cannot be told from a failure without an outcome",
                source=episode.id,
                hint="give the episode an outcome",
            )
        display = method.display.get(use.collection) or Display("", "")
        # Of failures alone comes a failure record; facts hold whatever came of an episode.
        failed = bool(display.warning) and all(node.label == "failure" for node in notes)
        if episode is None and failed:
            empty = dict.fromkeys(use.empty_of_failures, 0)
            prompt = structs.replace(prompt, output={**prompt.output, **empty})
        fitting = [node for node in notes if use.label in (None, node.label)]
        covering = [node.payload.get(use.body, "") for node in fitting]
        may_skip = prompt.skip and bool(any(covering) or prompt.items)
        values: dict[str, object] = {
            "memory": block("notes", "\n\n".join(chain_entries(display, notes))),
            "may_skip": may_skip,
            "failure": failed,
        }
        text, shared, cut = self.filled(prompt, episode, inputs, values)
        system = prompts.find(prompt.domain, SYSTEM, self.folders, SHARED[SYSTEM])
        words, longest = max(
            ((most, name) for name, most in prompt.output.items()), default=(0, "")
        )
        body = use.body or (longest if use.collection and words >= _PARAGRAPH else "")
        is_record = use.label == "failure" or (episode is None and failed)
        return Request(
            text,
            system.template,
            shared,
            prompt.digest,
            prompt.contract(use, may_skip=may_skip),
            cut,
            body,
            prompt.markers if is_record else (),
            covering,
            episode if use.body and use.label == "success" else None,
        )

    def filled(
        self,
        prompt: Prompt,
        episode: Trajectory | None,
        inputs: Inputs,
        values: Mapping[str, object],
    ) -> tuple[str, int, str]:
        """Return a prompt with as much as fits, its length up to the log's end, and the cuts."""
        lists = {name: texts for name, texts in inputs.items() if isinstance(texts, tuple)}
        texts = {name: text for name, text in inputs.items() if isinstance(text, str)}
        texts["environment"] = scene_of(episode) if episode else ""
        if episode:
            texts |= {"task": episode.task, "outcome": _outcome_text(episode)}
        values = {**values, **{name: block(name, text) for name, text in texts.items()}}
        values |= {"trajectory": block("steps", ""), **dict.fromkeys(lists, "")}
        cuts = []
        shows_log = episode is not None and "trajectory" in prompt.inputs
        if lists:
            room = self._room(prompt, values)
            shown = fitted(lists, room // 2 if shows_log else room, self.count)
            for name, given in lists.items():
                values[name] = "\n\n".join(shown[name])
                if left := len(given) - len(shown[name]):
                    cuts.append(f"{left} of {len(given)} {name} left out")
        if episode is None or not shows_log:
            return self._render(prompt, values), 0, "; ".join(cuts)
        values["environment"] = block("environment", "")
        cut = fit(episode, self._room(prompt, values), self.count)
        steps = block("steps", cut.text)
        values |= {"environment": block("environment", cut.environment), "trajectory": steps}
        text = self._render(prompt, values)
        shared = text.find(steps) + len(steps) if steps in text else 0
        return text, shared, "; ".join(filter(None, [cut.description, *cuts]))

    def _room(self, prompt: Prompt, values: Mapping[str, object]) -> int:
        return self.room - self.count(self._render(prompt, values))

    def _render(self, prompt: Prompt, values: Mapping[str, object]) -> str:
        return prompts.render(prompt, {**values, "words": prompt.output})


def fitted(
    lists: Mapping[str, tuple[str, ...]], room: int, count: Callable[[str], int]
) -> dict[str, list[str]]:
    """Return the first texts of each list, fenced: as many as fit `room` tokens together.

    One of each list comes in turn, so that none is crowded out. A PromptTooLongError says that not
    even the first text fits.
    """
    shown: dict[str, list[str]] = {name: [] for name in lists}
    numbered = [(n, name, text) for name, texts in lists.items() for n, text in enumerate(texts)]
    for _, name, text in sorted(numbered, key=itemgetter(0)):
        shown[name].append(block(name, text))
        room -= count(shown[name][-1])
        if room < 0:
            shown[name].pop()
            break
    if room < 0 and not any(shown.values()):
        raise PromptTooLongError(
            f"not even one of the {' and '.join(lists)} fits into the model's window",
            hint="use a model with a larger window",
        )
    return shown


def _outcome_text(trajectory: Trajectory) -> str:
    """Describe how an episode ended, in sentences."""
    outcome = trajectory.outcome
    parts = [
        _VERDICTS[outcome.success],
        "" if outcome.reward is None else f"Reward: {outcome.reward:g} of 1.",
        f"Steps: {len(trajectory.steps)}.",
        f"Reason given: {outcome.reason}" if outcome.reason else "",
    ]
    return " ".join(filter(None, parts))


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
