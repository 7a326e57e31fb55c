"""Drawing the description of the scene out of an instruction that mixes it with the goal.

The env tree is asked with the scene alone. What a model draws out must be the instruction's own
words, so it cannot put a scene there that was not; what is kept is the instruction's spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import takewhile

from deltamem_tui.llm.answers import Contract, Skip, UnusableAnswer
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.writers.model.request import Request, RequestMaker, block, fenced
from deltamem_tui.memory.writers.model.truncate import ends, shortened
from deltamem_tui.trajectory.model import Trajectory

# What the prompt has around the instruction takes fewer tokens than this.
_FRAME = 700
_SHORTEST = 400
_WORD = re.compile(r"\w+")
_QUOTED = 80


def scene_request(maker: RequestMaker, episode: Trajectory) -> Request:
    """Return the request for the part of an episode's task that describes the scene.

    Raises:
        ConfigurationError: The prompt file is wrong.
    """
    prompt = maker.find(SCENE, episode)
    whole = fenced(episode.task)
    most = len(whole)
    while most > _SHORTEST and maker.count(shortened(whole, most)) > maker.room - _FRAME:
        most = most * 2 // 3
    # What a model copies must be in the beginning or the end, if the middle is left out.
    parts = ends(whole, most)
    values = {"text": block("instruction", shortened(whole, most)), "words": prompt.output}
    contract = prompt.contract()
    return Request(
        prompt=prompts.render(prompt, values, maker.folders),
        digest=prompts.digest(prompt, maker.folders),
        contract=contract,
        read=partial(_scene, contract, parts),
        cut="the instruction's middle left out" if len(parts) > 1 else "",
    )


def _scene(contract: Contract, parts: Sequence[str], said: str) -> tuple[Mapping[str, str]]:
    """Return the scene of an answer: the passages, one a line; empty if there are none.

    Raises:
        UnusableAnswer: The answer breaks the contract, or copies something else or all.
    """
    answer = contract.read(said)
    if isinstance(answer, Skip):
        raise UnusableAnswer("skipping is not allowed here")
    lines = [line.strip() for line in answer[SCENE].splitlines() if line.strip()]
    if [line.lower().rstrip(".") for line in lines] == ["none"]:
        return ({SCENE: ""},)
    found = [_passage(parts, line) for line in lines if _WORD.search(line)]
    if _count_words(found) >= _count_words(parts):
        raise UnusableAnswer("this is the whole text: leave out what the agent shall do")
    return ({SCENE: "\n".join(found)},)


def _passage(parts: Sequence[str], said: str) -> str:
    """Return the place in one of some texts that a model copied, as the text spells it."""
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
    """Return how many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
