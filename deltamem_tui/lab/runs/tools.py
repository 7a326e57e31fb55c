"""What all contestants of an evaluation share: the games, the agent, the embedder, the writer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.lab.agent import Agent
from deltamem_tui.lab.contestants.baselines import GameOf
from deltamem_tui.lab.environment import Game, GameInfo
from deltamem_tui.memory.vectors.embedder import EmbeddingCache, embedder_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deltamem_tui.memory.writers.extraction import Extractor
    from deltamem_tui.memory.writers.writer import Writer


@dataclass(frozen=True, slots=True)
class EvaluationTools:
    """What all contestants of an evaluation share.

    Attributes:
        playing: A game, loaded, for as long as a block lasts; several threads ask for games if
            `parallel` is more than 1.
        game_of: The game that an episode was made in; empty if that is not known.
        agent: Who plays them.
        embedder: That of the banks which are made, and of the baselines.
        writer: What puts experience into words, for any method.
        parallel: How many games are played at once, as far as the protocol allows.
        give_up: Called when games that are under way are not waited for any more.
    """

    playing: Callable[[GameInfo], AbstractContextManager[Game]]
    game_of: GameOf
    agent: Agent
    embedder: Embedder
    writer: Writer | Extractor
    parallel: int = 1
    give_up: Callable[[], object] = lambda: None


class SharedEmbedder:
    """An embedder that threads ask in turn, and that embeds no text twice."""

    def __init__(self, embedder: Embedder) -> None:
        self.card = embedder.card
        self._cached = EmbeddingCache(embedder)
        self._lock = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed what nodes say."""
        with self._lock:
            return self._cached.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions."""
        with self._lock:
            return self._cached.embed_queries(texts)


def loaded(stack: ExitStack, tools: EvaluationTools, info: GameInfo) -> Game:
    """A game, which is let go when `stack` ends."""
    return stack.enter_context(tools.playing(info))


def embedders(shared: SharedEmbedder) -> Callable[[Bank], Embedder]:
    """The embedder of a bank that is given: the one at hand if it fits, else its own."""
    known: dict[str, SharedEmbedder] = {}

    def embedder_for(bank: Bank) -> Embedder:
        if bank.manifest.embedder.get("model") == shared.card.model:
            return shared
        name = repr(bank.manifest.embedder)
        if name not in known:
            known[name] = SharedEmbedder(embedder_of(bank))
        return known[name]

    return embedder_for
