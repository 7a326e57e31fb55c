"""What a contestant kept and recalled while a log was replayed to it, as plain data."""

from __future__ import annotations

from msgspec import Struct


class MemoryRecord(Struct, frozen=True):
    """A node as it stood from one episode to another; a revision begins another record.

    Attributes:
        node: Its id.
        success: Whether it is presented as a success.
        sources: The places of the episodes that it comes from; of a fused node, those of its chain.
        tokens: How long it is.
        begin: The place of the episode that wrote it: later ones find it.
        end: The place of the episode after which it was gone or revised; None if it never was.
    """

    node: str
    collection: str
    success: bool
    sources: tuple[int, ...]
    tokens: int
    begin: int
    end: int | None = None

    def stood_at(self, place: int) -> bool:
        """Whether the episode at a place could recall it."""
        return self.begin < place and (self.end is None or place <= self.end)


class RecalledRecord(Struct, frozen=True):
    """A record that an episode was shown.

    Attributes:
        record: Its number among the recording's records.
        first: Whether it was presented first: at the first rank of the first collection that
            answered; all nodes of one chain are.
        score: What it was ranked by, in its method's terms.
    """

    record: int
    first: bool
    score: float


class Recording(Struct, frozen=True):
    """What became of a log in one contestant's bank.

    Attributes:
        records: Every record that there ever was, in order of birth.
        recalled: Per episode, what it was shown before anything was learnt from it.
        context_tokens: Per episode, how long the context was.
        learnt_as: Per episode, whether it was learnt as a success; None if it was not learnt.
        refused: Episodes that were admitted, and of which the writer could make nothing.
        calls: Questions to a model, also those whose answers were kept from before.
    """

    records: tuple[MemoryRecord, ...]
    recalled: tuple[tuple[RecalledRecord, ...], ...]
    context_tokens: tuple[int, ...]
    learnt_as: tuple[bool | None, ...]
    refused: int = 0
    calls: int = 0
