"""`--batch` and `--answers`: a round of a batch, for the commands that ask a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.models import chosen_model
from deltamem_tui.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cache import BatchCaller
    from deltamem_tui.llm.call import ChatRequest
    from deltamem_tui.memory.runs.batches import AnswersReport
    from deltamem_tui.memory.writers.extraction import Payment

Requests = Annotated[
    Path | None,
    typer.Option(
        "--batch",
        metavar="FILE",
        help="Ask nothing: write what would be asked as requests for a batch service or vLLM.",
    ),
]

Answers = Annotated[
    list[Path] | None,
    typer.Option(
        "--answers", metavar="FILE", help="With --batch: take these results of a batch first."
    ),
]


@dataclass(frozen=True, slots=True)
class BatchRound:
    """One round.

    Attributes:
        path: Where the requests go.
        answers: The results of the round before.
        batch: What the client asks.
    """

    path: Path
    answers: Sequence[Path]
    batch: BatchCaller

    def take(self, invocation: Invocation, bank: Bank) -> AnswersReport:
        """Take the answers that came back."""
        from deltamem_tui.memory.runs.batches import take_answers

        with invocation.output.progress("taking answers") as advance:
            return take_answers(bank, self.batch, self.answers, advance)

    def write(self, asked: Sequence[tuple[ChatRequest, Payment]]) -> None:
        """Write the requests; an empty file if nothing is asked any more."""
        from deltamem_tui.memory.runs.batches import write_requests

        write_requests(self.path, self.batch, asked)


def batch_round(
    invocation: Invocation,
    bank: Bank,
    model: str | None,
    requests: Path | None,
    answers: Sequence[Path] | None,
    others: Mapping[str, object],
) -> BatchRound | None:
    """Return the round that was asked for; None if none was.

    `others` are the options that do not go with it, by name.

    Raises:
        UsageError: An option does not go with another one, or no model is named.
        ModelNotFoundError: No provider has this model.
    """
    if requests is None:
        if answers:
            hint = "`--batch FILE` says where what is asked next goes"
            raise UsageError("`--answers` goes with `--batch` only", hint=hint)
        return None
    for option, value in others.items():
        if value not in (None, False):
            raise UsageError(
                f"`{option}` does not go with `--batch`", hint="nothing is asked in a batch's round"
            )
    name = chosen_model(invocation, model)
    from deltamem_tui.llm.cache import BatchCaller, ResponseCache
    from deltamem_tui.llm.models import look_up

    batch = BatchCaller(look_up(name), ResponseCache(), bank.manifest.counts_as)
    return BatchRound(requests, answers or (), batch)
