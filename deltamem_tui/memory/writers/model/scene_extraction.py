"""Drawing the description of the scene out of an instruction that mixes it with the goal.

The env tree is asked with the scene alone. What a model draws out must be the instruction's own
words, so it cannot put a scene there that was not; what is kept is the instruction's spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from deltamem_tui.errors import ExtractionError, PromptTooLongError
from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.llm.client import Client
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.file import Prompt
from deltamem_tui.memory.writers.extraction import Drawing, OnPayment, no_payment
from deltamem_tui.memory.writers.model.fence import block, fenced
from deltamem_tui.memory.writers.model.requests import SAFE, SHARES, About, Asker
from deltamem_tui.memory.writers.model.truncate import ends, shortened
from deltamem_tui.trajectory.model import Trajectory

PROMPT = "environment"

# What the prompt has around the instruction takes fewer tokens than this.
_FRAME = 700
_SHORTEST = 400
# The few sentences that describe a scene.
_USUAL_ANSWER = 60
_WORD = re.compile(r"\w+")
_QUOTED = 80


@dataclass(frozen=True, slots=True)
class SceneRequest:
    """What a model is asked about one instruction.

    Attributes:
        prompt: The whole prompt.
        digest: The digest of the prompt's files.
        contract: The JSON object that is asked for.
        parts: The instruction as far as the model sees it, its beginning and its end if its
            middle is left out; a passage that it copies must be in one of them.
        cut: What of the instruction was left out, in one line; empty if nothing was.
    """

    prompt: str
    digest: str
    contract: Contract
    parts: tuple[str, ...]
    cut: str

    def read(self, said: str) -> str:
        """Make the scene of an answer: the passages, one a line; empty if there are none.

        Raises:
            UnusableAnswer: The answer breaks the contract, or copies something else or all.
        """
        answer = self.contract.read(said)
        if isinstance(answer, Skip):
            raise UnusableAnswer("skipping is not allowed here")
        lines = [line.strip() for line in answer[PROMPT].splitlines() if line.strip()]
        if [line.lower().rstrip(".") for line in lines] == ["none"]:
            return ""
        found = [_passage(self.parts, line) for line in lines if _WORD.search(line)]
        if _count_words(found) >= _count_words(self.parts):
            raise UnusableAnswer("this is the whole text: leave out what the agent shall do")
        return "\n".join(found)


class SceneDrawer:
    """Draws scenes by asking a model. Any number of threads may share one."""

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
            domain: The bank's domain; its prompt is used for episodes that name none.
            folders: Where prompts are looked up; the usual places if not given.
            on_payment: Told of each answer when it comes, in whatever thread.
        """
        self._client = client
        self._domain = domain
        self._folders = folders
        self._asker = Asker(client, on_payment)

    def paying(self, on_payment: OnPayment) -> SceneDrawer:
        """Returns the same drawer, which reports what its answers take."""
        return SceneDrawer(self._client, self._domain, self._folders, on_payment=on_payment)

    @property
    def remembers(self) -> bool:
        """Whether answers are kept, so that the same instruction is not paid for twice."""
        return self._client.remembers

    def check(self) -> None:
        """Make sure, before anything is asked, that the bank's prompt can be filled in.

        Raises:
            ConfigurationError: It is wrong; says where.
        """
        self._request(Trajectory("…", domain=self._domain))

    def prompt(self, trajectory: Trajectory) -> str:
        """What `draw` would send first. Nothing is sent.

        Raises:
            ConfigurationError: The prompt file is wrong.
        """
        return self._request(trajectory).prompt

    def draw(self, trajectory: Trajectory) -> Drawing:
        """Ask for the part of an episode's task that describes the scene.

        Raises:
            AskedInVainError: What came back was not in the task, also when asked again.
            ExtractionError: The task does not fit the model's window.
            LanguageModelError: The model cannot be asked at all.
            ConfigurationError: The prompt file is wrong.
        """
        about = About("draw", "env", trajectory.id)
        message, hint = "", None
        for share in SHARES:
            request = self._request(trajectory, share)
            try:
                answer = self._asker.ask(request, about)
            except PromptTooLongError as error:
                message, hint = error.message, error.hint
                continue
            return Drawing(
                answer.value,
                self._client.model,
                request.digest,
                answer.usage,
                answer.attempts,
                request.cut,
            )
        raise ExtractionError(message, source=trajectory.id, hint=hint)

    def estimate(self, trajectory: Trajectory) -> Usage:
        """What `draw` would take, were it called now; nothing is sent.

        An answer in the response cache takes nothing. The answer's length is a usual one.

        Raises:
            ConfigurationError: The prompt file is wrong.
        """
        request = self._request(trajectory)
        if self._client.is_known(request.prompt, request.contract):
            return Usage(cached=1)
        return self._client.estimate(request.prompt, _USUAL_ANSWER)

    def _request(self, trajectory: Trajectory, share: float = 1.0) -> SceneRequest:
        prompt = prompts.find(trajectory.domain or self._domain, PROMPT, self._folders)
        whole = fenced(trajectory.task)
        most = self._fitting(whole, share)
        parts = ends(whole, most)
        return SceneRequest(
            prompt=self._render(prompt, shortened(whole, most)),
            digest=prompts.digest(prompt, self._folders),
            contract=prompt.contract(),
            parts=parts,
            cut="the instruction's middle left out" if len(parts) > 1 else "",
        )

    def _render(self, prompt: Prompt, text: str) -> str:
        values = {"text": block("instruction", text), "words": prompt.output}
        return prompts.render(prompt, values, self._folders)

    def _fitting(self, whole: str, share: float) -> int:
        """How many characters of the instruction the window has room for."""
        room = self._client.info.prompt_tokens * SAFE * share - _FRAME
        most = len(whole)
        while most > _SHORTEST and self._client.count(shortened(whole, most)) > room:
            most = most * 2 // 3
        return most


def _passage(parts: Sequence[str], said: str) -> str:
    """The place in one of some texts that a model copied, as the text spells it."""
    for text in parts:
        if (found := _place(text, said)) is not None:
            return found
    raise UnusableAnswer(f"this is not in the text word for word: {said[:_QUOTED]!r}")


def _place(text: str, said: str) -> str | None:
    words, copied = _words(text), _words(said)
    wanted = [word[0].casefold() for word in copied]
    there = [word[0].casefold() for word in words]
    for first in range(len(there) - len(wanted) + 1):
        if there[first : first + len(wanted)] == wanted:
            start, end = words[first].start(), words[first + len(wanted) - 1].end()
            # The signs around the words, as far as text and answer agree on them.
            start -= _alike(text[:start][::-1], said[: copied[0].start()][::-1])
            end += _alike(text[end:], said[copied[-1].end() :])
            return " ".join(text[start:end].split())
    return None


def _count_words(texts: Iterable[str]) -> int:
    return sum(len(_words(text)) for text in texts)


def _words(text: str) -> list[re.Match[str]]:
    return list(_WORD.finditer(text))


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
