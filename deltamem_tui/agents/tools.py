"""The questions that a client may put to the banks that are served. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent
from msgspec import to_builtins
from pydantic import Field

from deltamem_tui.agents.answers import (
    BankListing,
    FoundNode,
    ListedBank,
    NodeAnswer,
    RecallAnswer,
    SearchResult,
)
from deltamem_tui.agents.served_banks import ServedBanks
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BankError, DeltaMemError
from deltamem_tui.memory import engine
from deltamem_tui.memory.context import chain_entries, compose
from deltamem_tui.memory.methods import display_of, is_shown
from deltamem_tui.memory.recall_result import CollectionRecall
from deltamem_tui.memory.transfer.plain import node_record
from deltamem_tui.memory.vectors.search import Candidate
from deltamem_tui.text import clean, one_line

_LONGEST = 20_000
_TITLE_WIDTH = 160
_NOTHING = "Nothing in this bank is near enough to this task."

BankName = Annotated[
    str | None,
    Field(max_length=100, description="A bank's name; may be left out if only one is served."),
]
Task = Annotated[
    str, Field(max_length=_LONGEST, description="The goal, in the words the agent was given.")
]
Environment = Annotated[
    str, Field(max_length=_LONGEST, description="The scene: the first observation, if any.")
]
Text = Annotated[str, Field(max_length=_LONGEST, description="A goal, a scene, or any text.")]
NodeId = Annotated[
    str, Field(min_length=4, max_length=64, description="A node's id, or how it begins.")
]
Count = Annotated[int, Field(ge=1, le=50, description="The most nodes of each collection.")]


class MemoryTools:
    """What can be asked, over some banks.

    Args:
        banks: The banks that are served.
        folders: Where the header of a context is looked up.
    """

    def __init__(self, banks: ServedBanks, folders: Sequence[Path]) -> None:
        self._banks = banks
        self._folders = tuple(folders)

    def list_banks(self) -> BankListing:
        """List the memory banks that can be asked, with what each was learnt for."""
        with errors_for_clients():
            return {"banks": [self._listed(name) for name in self._banks.places()]}

    def recall(
        self, task: Task, environment: Environment = "", bank: BankName = None
    ) -> Annotated[CallToolResult, RecallAnswer]:
        """Recall what past episodes taught about a task; says so if nothing is near enough.

        Call it once when a task begins, with the task in its own words.
        """
        with errors_for_clients():
            found = self._recollection(task, environment, bank)
        # A client that reads text gets what belongs into a prompt, without the structure.
        content = TextContent(type="text", text=found["context"] or _NOTHING)
        return CallToolResult(content=[content], structured_content={**found})

    def search(self, text: Text, count: Count = 10, bank: BankName = None) -> SearchResult:
        """Find the nodes that fit a text best, whether they would be recalled or not."""
        with errors_for_clients(), self._banks.bank(bank) as opened:
            names = [name for name in opened.trees if is_shown(opened, name)]
            answers = engine.search(opened, text, names, count)
            found = [_found(opened, each, node) for each in answers for node in each.candidates]
            return {"bank": opened.name, "nodes": found}

    def show(self, node: NodeId, bank: BankName = None) -> NodeAnswer:
        """Show one node: its texts, where it comes from, and the chain from its root."""
        with errors_for_clients(), self._banks.bank(bank) as opened:
            name, found = opened.find_node(node)
            record = _cleaned(to_builtins(node_record(opened.tree(name), found)))
            chain = [each.id for each in opened.chain(name, found.id)]
            uri = uri_of(opened, name, found.id)
            return {"bank": opened.name, "uri": uri, "node": record, "chain": chain}

    def context_of(self, task: Task, environment: Environment = "", bank: BankName = None) -> str:
        """The task, below what past episodes taught about it."""
        try:
            found = self._recollection(task, environment, bank)
        except DeltaMemError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        return "\n\n".join(filter(None, [found["context"], environment, task]))

    def chain(self, bank: str, collection: str, node: str) -> str:
        """A node with all above it, root first, as an agent receives it."""
        with self._banks.bank(bank) as opened:
            name, found = opened.find_node(node, collection)
            chain = opened.chain(name, found.id)
            entries = chain_entries(display_of(opened, name), chain)
            return compose(opened.manifest.domain, entries, self._folders)

    def _recollection(self, task: str, environment: str, bank: str | None) -> RecallAnswer:
        with self._banks.bank(bank) as opened:
            found = engine.recall(opened, task, environment, folders=self._folders)
            answers = [each for each in found.collections.values() if each is not None]
            matches = [
                _found(opened, answer, node)
                for answer in answers
                for node in answer.candidates
                if answer.matches(node) and is_shown(opened, answer.collection)
            ]
            return {
                "bank": opened.name,
                "context": found.context,
                "matches": matches,
                "receipt": to_builtins(found.receipt),
            }

    def _listed(self, name: str) -> ListedBank:
        try:
            with self._banks.bank(name) as opened:
                manifest = opened.manifest
                trees = opened.trees.items()
                return {
                    "bank": name,
                    "description": one_line(manifest.description),
                    "domain": manifest.domain,
                    "method": manifest.method,
                    "frozen": manifest.frozen,
                    "nodes": {key: len(tree) for key, tree in trees if is_shown(opened, key)},
                }
        except BankError as error:
            return {"bank": name, "error": str(error)}


def uri_of(bank: Bank, collection: str, node: str) -> str:
    """The resource that holds a node."""
    return f"deltamem://{quote(bank.name, safe='')}/{quote(collection, safe='')}/{node}"


def _cleaned(value: Any) -> Any:
    """Plain data whose texts do nothing on a terminal."""
    if isinstance(value, dict):
        return {key: _cleaned(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return clean(value) if isinstance(value, str) else value


def _found(bank: Bank, answer: CollectionRecall, candidate: Candidate) -> FoundNode:
    node, display = candidate.node, display_of(bank, answer.collection)
    return {
        "uri": uri_of(bank, answer.collection, node.id),
        "collection": answer.collection,
        "node": node.id,
        "label": node.label,
        "score": candidate.score,
        "title": one_line(display.of_title(node), _TITLE_WIDTH),
    }


@contextmanager
def errors_for_clients() -> Iterator[None]:
    """Errors that are meant for people are meant for models too; others stay here."""
    try:
        yield
    except DeltaMemError as error:
        raise ToolError(str(error)) from error
