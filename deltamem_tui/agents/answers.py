"""What the tools answer: the structured content, whose schema clients are shown."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict  # pydantic reads that of typing from Python 3.12 on only


class ListedBank(TypedDict):
    """A bank that can be asked: how many nodes each collection has, or why it cannot be read."""

    bank: str
    description: NotRequired[str]
    domain: NotRequired[str]
    method: NotRequired[str]
    frozen: NotRequired[bool]
    nodes: NotRequired[dict[str, int]]
    error: NotRequired[str]


class BankListing(TypedDict):
    """The banks that are served, in order of their names."""

    banks: list[ListedBank]


class FoundNode(TypedDict):
    """A node and how well it fits what was asked; `uri` is the resource that holds it whole."""

    uri: str
    collection: str
    node: str
    label: str
    score: float
    title: str


class RecallAnswer(TypedDict):
    """What a bank recalls: the text for a prompt, fenced as past experience, and its nodes.

    The text is empty if nothing matches. The receipt says what was shown; it comes back with the
    episode's log, `deltamem import --receipts`.
    """

    bank: str
    context: str
    matches: list[FoundNode]
    receipt: dict[str, Any] | None


class SearchResult(TypedDict):
    """The nodes that fit a text best, matches or not, the best of each collection first."""

    bank: str
    nodes: list[FoundNode]


class NodeAnswer(TypedDict):
    """One node with its texts, origin and counts, and the chain of ids from its root."""

    bank: str
    uri: str
    node: dict[str, Any]
    chain: list[str]


class NotedOutcome(TypedDict):
    """How an episode ended by all that is known now."""

    bank: str
    episode: str
    task: str
    success: bool


class ImportAnswer(TypedDict):
    """What an import came to: the ids of the episodes that are new, and what was refused."""

    bank: str
    imported: list[str]
    duplicates: int
    errors: list[str]
