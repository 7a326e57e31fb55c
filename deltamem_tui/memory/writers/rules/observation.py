"""What an agent saw before an action, cut to what it needed: Synapse's abstraction, by rules.

What the action uses comes first, then what the task names, then what was not seen before; the
parts that are kept stand in their own order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from deltamem_tui.memory.domain import domain_for
from deltamem_tui.memory.wording import condense, key
from deltamem_tui.memory.writers.rules.expert import is_thought
from deltamem_tui.text import count_tokens, one_line
from deltamem_tui.trajectory.model import Trajectory

_WORDS = 60
_READ = 8000  # characters of one answer
_MOST_PARTS = 200
_WORD = re.compile(r"[^\W_][\w'-]*")
_SMALL = frozenset(("to", "in", "on", "into", "from", "with", "and", "the", "a", "an", "go", "of"))


def observations(trajectory: Trajectory) -> tuple[str, ...]:
    """What was seen before each step, each in at most 60 words and on one line.

    Before the first step the environment was seen; what answers a thought is not seen. ` … `
    stands where parts were left out. Names stay as they are.
    """
    named = " ".join(name for _, name in domain_for(trajectory.domain).goal(trajectory).slots)
    wanted = _words(named or trajectory.task)
    parts = list(_parts(trajectory.environment, trajectory.domain))
    known: set[str] = set()
    texts = []
    for step in trajectory.steps:
        texts.append(_needed(parts, _words(step.action), wanted, known))
        if not is_thought(step.action):
            known |= {key(part) for part in parts}
            parts = list(_parts(step.observation, trajectory.domain))
    return tuple(texts)


def _needed(parts: Sequence[str], used: set[str], wanted: set[str], known: set[str]) -> str:
    """The parts that say most, as many as fit: what is used, what the task names, what is new."""

    def rank(number: int) -> tuple[int, int]:
        words = _words(parts[number])
        is_new = key(parts[number]) not in known
        # The first part says where the agent is.
        needs = 3 * (number == 0 or bool(words & used)) + 2 * bool(words & wanted) + is_new
        return -needs, number

    return _joined(parts, sorted(range(len(parts)), key=rank))


def _parts(text: str, domain: str) -> Iterator[str]:
    """The parts of an answer: sentences, lines, the things of a list."""
    text = "\n".join(filter(None, map(one_line, text[:_READ].splitlines())))
    for part in domain_for(domain).parts(text)[:_MOST_PARTS]:
        if part:
            yield condense(part, _WORDS // 3)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)} - _SMALL


def _joined(parts: Sequence[str], order: Sequence[int]) -> str:
    """As many parts as fit, the first in rank first, in their own order."""
    left = _WORDS
    kept: set[int] = set()
    for number in order:
        cost = count_tokens(parts[number]) + 1  # with a mark for what is left out before it
        if cost <= left:
            kept.add(number)
            left -= cost
    texts = []
    for number in sorted(kept):
        texts += ["…"] * (number > 0 and number - 1 not in kept) + [parts[number]]
    return " ".join(texts) + (" …" if kept and len(parts) - 1 not in kept else "")
