"""What learning through a model takes: the calls and tokens of a method, counted by a server.

The server stands on the loopback and says what the rules would write, in the JSON that the prompt
asks for, no longer than it allows. So the prompts are the real ones, and every question is asked
that such answers lead to; a real model's other answers may lead to more or fewer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Node
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import ExtractionError
from deltamem_tui.llm.answers import ITEMS, QUOTE, SKIP, Contract
from deltamem_tui.llm.call import Server
from deltamem_tui.llm.client import Client
from deltamem_tui.memory.engine import learn
from deltamem_tui.memory.kinds import OTHER
from deltamem_tui.memory.method import Method, RulesExtractor, method_of
from deltamem_tui.memory.prompts import library
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs
from deltamem_tui.memory.writers.model.writer import ModelExtractor
from deltamem_tui.trajectory.model import Trajectory
from tests.llm.server import ModelServer, Reply, serving


@dataclass(frozen=True, slots=True)
class LoopbackWriter:
    """A model's writer, whose server says what the rules write."""

    method: Method
    model: ModelExtractor
    server: ModelServer
    name: str = "model"

    def write(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs = NO_INPUTS,
    ) -> Extraction:
        """Return what the model answers."""
        request = self.model.request(purpose, episode, notes, inputs)
        if request is not None:
            quote = self._quote(purpose, notes)
            text = self._said(purpose, episode, notes, inputs, request.contract, quote)
            self.server.replies = lambda _request: Reply(text)
        return self.model.write(purpose, episode, notes, inputs)

    def _said(
        self,
        purpose: str,
        episode: Trajectory | None,
        notes: Sequence[Node],
        inputs: Inputs,
        contract: Contract,
        quote: str,
    ) -> str:
        try:
            written = RulesExtractor(self.method).write(purpose, episode, notes, inputs)
            payloads = written.payloads
            if not payloads and not (contract.skip or contract.items):  # it has to say something
                known = notes[-1].payload if notes else {}
                payloads = (
                    {each.name: known.get(each.name, written.reason) for each in contract.fields},
                )
        except ExtractionError:  # the rules write no such thing: a kind that they do not understand
            payloads = ({field.name: OTHER for field in contract.fields},)
        texts = [_within(contract, each) for each in payloads]
        body = self.method.use_of(purpose).body
        if body and episode and not episode.outcome.success:
            marks = library.find(episode.domain, purpose).markers
            for text in texts:
                text[body] += "".join(f"\n{mark}" for mark in marks if mark not in text[body])
        if contract.items:
            return json.dumps({ITEMS: texts[: contract.items]})
        return json.dumps(texts[0] if texts else {SKIP: True, QUOTE: quote})

    def _quote(self, purpose: str, notes: Sequence[Node]) -> str:
        """Return what covers an episode that the rules find nothing new in: all of the last such
        note.
        """
        use = self.method.use_of(purpose)
        fitting = [each for each in notes if not use.label or each.label == use.label]
        return fitting[-1].payload.get(use.body, "") if fitting else ""


def _within(contract: Contract, payload: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that are asked for, each of at most as many words; line ends count as
    blanks.
    """
    texts = {}
    for field in contract.fields:
        lines, left = [], field.most_words
        for line in payload.get(field.name, "").splitlines():
            words = line.split()[:left]
            lines += [" ".join(words)] * bool(words)
            left -= len(words)
        texts[field.name] = "\n".join(lines)
    return texts


def asked(bank: Bank, episodes: Iterable[Trajectory], embedder: Embedder) -> dict[str, float]:
    """Call and tokens an episode, with which a bank learns from some episodes.

    Tokens are words between blanks. Episodes that could not be learnt are counted beside.
    """
    learnt = refused = 0
    method = method_of(bank)
    with serving() as server:
        client = Client("openai/loopback-model", server=Server(server.base))
        model = ModelExtractor(client, bank.manifest.domain, method=method.name)
        writer = LoopbackWriter(method, model, server)
        for episode in episodes:
            try:
                learn(bank, episode, writer, embedder=embedder)
                learnt += 1
            except ExtractionError:
                refused += 1
        usage = client.usage
    return {
        "calls": usage.calls / max(learnt, 1),
        "prompt_tokens": usage.prompt_tokens / max(learnt, 1),
        "answer_tokens": usage.completion_tokens / max(learnt, 1),
        "episodes": float(learnt),
        "refused": float(refused),
    }
