"""The writer's protocol: it puts experience into words for a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.prompts.use import Purpose
from deltamem_tui.memory.writers.extraction import (
    NO_INPUTS,
    Call,
    Extraction,
    FailedCallError,
    Inputs,
    Notes,
)
from deltamem_tui.trajectory.model import Trajectory


@runtime_checkable
class Writer(Protocol):
    """Puts experience into words: rules, a model, or a user's own."""

    @property
    def name(self) -> str:
        """Recorded in each node's origin: `rules` or `model`."""
        ...

    def write(
        self, purpose: str, episode: Trajectory | None, notes: Notes, inputs: Inputs = NO_INPUTS
    ) -> Extraction:
        """Write the texts of new nodes, or none if the notes cover the episode.

        Args:
            purpose: What for, the name of one of the method's prompts: `task_root_success` …
            episode: What it is written from; None where the notes and inputs alone are.
            notes: The nodes that bear on it: the chain root → match, or what is to be fused.
            inputs: What else it is written from. Of several texts as many are read as fit the
                model's window, the first ones first.

        Raises:
            ExtractionError: Nothing could be made of it.
            LanguageModelError: The model cannot be asked at all.
        """
        ...


def written_of(
    writer: Writer,
    purpose: str,
    notes: Sequence[Node],
    texts: Callable[[Mapping[str, str]], dict[str, str]],
    call: tuple[Purpose, str],
    inputs: Inputs = NO_INPUTS,
) -> tuple[Extraction, list[dict[str, str]], tuple[Call, ...]]:
    """Return a writer's answer from notes alone, its payloads as `texts` makes them, its calls.

    An answer that cannot be used is one without a payload, with the reason.
    """
    calls: tuple[Call, ...] = ()
    try:
        written = writer.write(purpose, None, notes, inputs)
        calls = written.calls(*call)
        return written, [texts(each) for each in written.payloads], calls
    except ExtractionError as error:
        calls = (error.call,) if isinstance(error, FailedCallError) else calls
        return Extraction(None, str(error)), [], calls
