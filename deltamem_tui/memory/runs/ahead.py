"""Asking ahead: questions go out before their turn, and only answers to the right ones are used.

An episode's question to a model is made of the episode and of the chain it meets. While its turn
has not come, the chain may still change. So a question is sent ahead against the chain as it
stands, and when the turn comes, what would be asked then is compared with what was asked: the
same prompt takes the same answer, another is asked anew. What is written is therefore what
asking one after another would have written; only time, and sometimes money, is different.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, wait
from typing import Any

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import BudgetError, DeltaMemError, LanguageModelError
from deltamem_tui.memory.runs.questions import Asked, Key, Left, Question
from deltamem_tui.memory.runs.workers import Workers, is_done
from deltamem_tui.memory.writers.extraction import (
    AskingExtractor,
    Call,
    Drawer,
    Drawing,
    Extraction,
)
from deltamem_tui.trajectory.model import Trajectory

# How often a tree's question is sent before its turn. Each time but the last was in vain.
_TRIES_AHEAD = 2

GRACE = 5.0
"""Seconds that the end of a run waits for calls that are on their way: they are paid for."""


class StoppedError(Exception):
    """Somebody wants to stop. It never leaves the run that it stops."""


class Ahead:
    """An extractor that has another one asked by several threads, also ahead of time.

    It is used by one thread, which decides and writes; the others only ask.
    """

    def __init__(
        self,
        extractor: AskingExtractor,
        most: int,
        stopped: Callable[[], bool] = lambda: False,
        drawer: Drawer | None = None,
    ) -> None:
        """Nothing is asked yet.

        Args:
            extractor: Who asks.
            most: The most questions at once. With 1, nothing is sent ahead.
            stopped: Whether somebody wants to stop; asked while waiting.
            drawer: Who draws scenes, if they shall be drawn.
        """
        self._drawer = drawer
        self._extractor = extractor
        self._most = most
        self._stopped = stopped
        self._workers = Workers(most)
        self._asked: dict[Key, Asked] = {}
        self._taken: set[Key] = set()
        self._left: list[Left] = []
        self._sent: set[int] = set()
        self._trusted = False
        self.turn = 0

    @property
    def name(self) -> str:
        """The other extractor's name."""
        return self._extractor.name

    def look(
        self, turn: int, tree: str, trajectory: Trajectory | None, chain: Sequence[Node]
    ) -> None:
        """Send what would be asked now, unless it is on its way. What changed is taken back.

        Until a first answer has come, nothing is sent ahead: a refused key or a wrong name
        shows by one call then. What is wrong with the question shows when its turn comes.

        Args:
            turn: When its turn is; lower ones are sent first.
            tree: The tree that is asked.
            trajectory: The episode; None to fuse the chain.
            chain: The chain as it stands.
        """
        self._look(turn, Question.of(tree, trajectory, chain))

    def look_for_scene(self, turn: int, trajectory: Trajectory) -> None:
        """Send the question for an episode's scene, unless it is on its way, as `look` does."""
        self._look(turn, Question("draw", "env", trajectory))

    def drawn(self, trajectory: Trajectory) -> Drawing | None:
        """The scene that was drawn for an episode ahead of its turn; None if none is there yet."""
        asked = self._asked.get(Question("draw", "env", trajectory).key)
        for future in asked.answers.values() if asked else ():
            if future.done() and not future.cancelled() and not future.exception():
                found: Drawing = future.result()
                return found
        return None

    def draw(self, trajectory: Trajectory) -> Drawing:
        """What the drawer makes of an episode whose turn it is.

        Raises:
            StoppedError: Somebody wanted to stop before there was an answer.
            DeltaMemError: Whatever the drawer raises.
        """
        found: Drawing = self._answer(Question("draw", "env", trajectory))
        return found

    def extract(self, tree: str, trajectory: Trajectory, chain: Sequence[Node]) -> Extraction:
        """What the other extractor makes of an episode whose turn it is.

        Raises:
            StoppedError: Somebody wanted to stop before there was an answer.
            DeltaMemError: Whatever the other extractor raises.
        """
        found: Extraction = self._answer(Question.of(tree, trajectory, chain))
        return found

    def fuse(self, tree: str, chain: Sequence[Node]) -> Extraction:
        """What the other extractor makes of a chain whose turn it is.

        Raises:
            StoppedError: Somebody wanted to stop before there was an answer.
            DeltaMemError: Whatever the other extractor raises.
        """
        found: Extraction = self._answer(Question.of(tree, None, chain))
        return found

    @property
    def on_their_way(self) -> int:
        """How many calls were begun and are not answered yet."""
        wanted = (future for asked in self._asked.values() for future in asked.answers.values())
        return len(self._left) + sum(future.running() for future in wanted)

    def forget(self, source: str) -> None:
        """Give up what is left of an episode, or of a chain, whose turn is over.

        What else was taken in this turn, like the fusion that an episode set off, is over too.
        """
        for key in [key for key in self._asked if key[0] == source or key in self._taken]:
            self._drop(key)
        self._taken.clear()

    def take_unused(self) -> list[Call]:
        """The calls that were answered and that nobody will use, told once each."""
        done = [each for each in self._left if each.future.done()]
        self._left = [each for each in self._left if each not in done]
        calls = [call for each in done if (call := each.call()) is not None]
        return calls + self._extractor.take_unanswered()

    def close(self, grace: float = 0.0) -> None:
        """Ask nothing more, and wait a little for calls that are on their way.

        A useless answer is not asked for again then, and a server that fails not tried again.
        Answers that come later still reach the response cache, if the program goes on that long.

        Args:
            grace: The most seconds to wait.
        """
        self._workers.close()
        self._extractor.end_questions()
        for key in list(self._asked):
            self._drop(key)
        wait([each.future for each in self._left], timeout=grace)

    def _look(self, turn: int, question: Question) -> None:
        if self._most == 1 or not self._trusted:
            return
        asked = self._asked.setdefault(question.key, Asked())
        try:
            prompt = self._prompt(asked, question)
        except DeltaMemError:
            return
        self._take_back(asked, prompt)
        # Two episodes with one prompt: the answer to the first will lie in the cache.
        if prompt is None or hash(prompt) in self._sent or asked.tries >= _TRIES_AHEAD:
            return
        asked.tries += 1
        self._send(asked, turn, prompt, question)

    def _drop(self, key: Key) -> None:
        asked = self._asked.pop(key)
        self._take_back(asked, None)
        _, tree, purpose = key
        self._left += [
            Left(purpose, tree, future)
            for prompt, future in asked.answers.items()
            if prompt not in asked.used
        ]

    def _prompt(self, asked: Asked, question: Question) -> str | None:
        """What would be asked; made once for each chain, because counting tokens takes time."""
        key = tuple((node.id, node.revision) for node in question.chain)
        if key not in asked.prompts:
            asked.prompts[key] = self._made(question)
        return asked.prompts[key]

    def _made(self, question: Question) -> str | None:
        if question.purpose == "draw" and self._drawer and question.trajectory:
            return self._drawer.prompt(question.trajectory)
        return self._extractor.prompt(question.tree, question.trajectory, question.chain)

    def _answer(self, question: Question) -> Any:
        if not question.chain and question.trajectory is None:
            return self._ask(question)  # which says what is wrong with that
        self._taken.add(question.key)
        asked = self._asked.setdefault(question.key, Asked())
        prompt = self._prompt(asked, question)
        if prompt is None:
            return self._ask(question)
        if prompt in asked.answers:
            try:
                return self._awaited(asked, prompt)
            except (BudgetError, CancelledError):
                pass  # what others had set aside may be free again
        self._send(asked, self.turn, prompt, question)
        return self._awaited(asked, prompt)

    def _send(self, asked: Asked, turn: int, prompt: str, question: Question) -> None:
        asked.answers[prompt] = self._workers.submit(turn, lambda: self._ask(question))
        self._sent.add(hash(prompt))

    def _ask(self, question: Question) -> Extraction | Drawing:
        """Ask, whoever's thread it is. After a failure that lasts, nothing is sent ahead."""
        answer: Extraction | Drawing
        trajectory = question.trajectory
        try:
            if trajectory is None:
                answer = self._extractor.fuse(question.tree, question.chain)
            elif question.purpose == "draw" and self._drawer:
                answer = self._drawer.draw(trajectory)
            else:
                answer = self._extractor.extract(question.tree, trajectory, question.chain)
        except LanguageModelError:
            self._trusted = False
            raise
        self._trusted = True
        return answer

    def _awaited(self, asked: Asked, prompt: str) -> Any:
        future = asked.answers[prompt]
        if not is_done(future, self._stopped):
            raise StoppedError
        asked.used.add(prompt)
        return future.result()

    def _take_back(self, asked: Asked, prompt: str | None) -> None:
        """Cancel what nobody has begun and nobody wants any more."""
        for other, future in list(asked.answers.items()):
            if other != prompt and future.cancel():
                del asked.answers[other]
                self._sent.discard(hash(other))
                asked.tries -= 1
