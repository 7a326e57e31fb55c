"""The context index: two trees, found by the kind at the root and read downwards.

Task-Index[kind][success|failure] is a root of the collection of short-term memories, one for each
label; below it lie the tasks, each with the environment that it was tried in, and below those what
each try left. Env-Index[kind] is a root of the environments; below it lie the exact environments,
and below those what each episode there showed of the things' functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.bank.tree import Tree
from deltamem_tui.embedding.protocol import Embedder
from deltamem_tui.errors import NodeNotFoundError
from deltamem_tui.memory.cdmem.definition import COLLECTIONS, DISPLAY
from deltamem_tui.memory.episodes.kinds import OTHER, EpisodeKinds
from deltamem_tui.memory.episodes.scenes import scene_of
from deltamem_tui.memory.kinds import env_kind, exact_env, task_kind
from deltamem_tui.memory.method import cleaned
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import Trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]
    Vector = NDArray[np.float32]

_MEMBER = 3
_PIECE_ROWS = 4096
_NO_EPISODE = Origin()


def filed(
    collection: str,
    parent: Node | None,
    label: Label,
    texts: Mapping[str, str],
    origin: Origin = _NO_EPISODE,
) -> Node:
    """Return a new node. A kind or a place comes from no episode: it has the same id in every
    bank.

    Raises:
        ExtractionError: It says nothing, or far too much.
    """
    fields = COLLECTIONS[collection].fields
    payload = cleaned(texts, fields, DISPLAY[collection].optional)
    return born(collection, parent, label, payload, origin)


class IndexReader:
    """Finds kinds and places in a bank: by their ids, which are digests of what they say."""

    def __init__(self, bank: Bank, embedder: Embedder) -> None:
        self.bank = bank
        self.embedder = embedder

    def vector(self, text: str) -> Vector:
        """Return the text as a key. float32 [dimensions], of unit length."""
        vector: Vector = self.embedder.embed_passages([text])[0]
        return vector

    def root(self, collection: str, kind: str, label: Label = "success") -> Node | None:
        """Return the root of a kind; None if the bank has none."""
        if not kind:
            return None
        return self.living(collection, filed(collection, None, label, {"text": kind}))

    def place(self, collection: str, root: Node, text: str, env: str = "") -> Node | None:
        """Return what lies right below a root: a task in an environment, or an environment."""
        texts = {"text": text, "env": env} if env else {"text": text}
        return self.living(collection, filed(collection, root, root.label, texts))

    def living(self, collection: str, node: Node) -> Node | None:
        """Return a node as the bank has it now; None if it does not."""
        try:
            return self.bank.tree(collection).node(node.id)
        except NodeNotFoundError:
            return None


def tries(tree: Tree, place: Node) -> Rows:
    """Return the rows of what each episode left at one task, or environment, in order of birth."""
    return tree.child_rows(tree.row(place.id))


def members(tree: Tree, root: Node) -> Rows:
    """Return the rows of one list, in order of birth: all that is two levels below its root."""
    index = tree.snapshot.index
    deep = tree.rows[index["depth"][tree.rows] == _MEMBER]
    parents = tree.snapshot.current[index["parent"][deep]]
    found: Rows = deep[index["parent"][parents] == tree.birth[tree.row(root.id)]]
    return found


def unread(tree: Tree, root: Node) -> Rows:
    """Return the rows of one list that its insights were not made from yet, in order of birth.

    If one that they were made from was deleted since, as by a verdict, they are all to be read
    anew. Each batch is a line of the root, so what was deleted since stands behind that.
    """
    found = members(tree, root)
    read = tree.snapshot.first_row(root.payload["read"]) if root.payload["read"] else None
    if read is None or _was_deleted_since(tree, root, read):
        return found
    return found[tree.birth[found] > read]


def _was_deleted_since(tree: Tree, root: Node, read: int) -> bool:
    """Return whether a member up to the one born at `read` was deleted after the last batch."""
    index, current = tree.snapshot.index, tree.snapshot.current
    rows = current[tree.snapshot.births[: tree.snapshot.births.searchsorted(read, "right")]]
    rows = rows[(index["depth"][rows] == _MEMBER) & index["deleted"][rows]]
    rows = rows[rows > tree.row(root.id)]
    parents = current[index["parent"][rows]]
    rows = rows[index["parent"][parents] == tree.birth[tree.row(root.id)]]
    # A compaction leaves a tombstone without text at the place of the first line.
    return any(tree.node_at(int(row)).text for row in rows)


def similarities(tree: Tree, rows: Rows, vector: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the similarity of the vectors of some rows to another one. float64 [rows]."""
    import numpy as np

    found = np.zeros(len(rows))
    for at, piece in _pieces(rows):
        found[at : at + len(piece)] = tree.embeddings[piece] @ vector
    return found


def total(tree: Tree, rows: Rows) -> NDArray[np.float64]:
    """Return the sum of the vectors of some rows. float64 [dimensions]."""
    import numpy as np

    found = np.zeros(tree.embeddings.shape[1])
    for _, piece in _pieces(rows):
        found += tree.embeddings[piece].sum(axis=0, dtype=np.float64)
    return found


def _pieces(rows: Rows) -> Iterator[tuple[int, Rows]]:
    """Yield some rows at a time: a bank's vectors may be more than the memory holds."""
    return ((at, rows[at : at + _PIECE_ROWS]) for at in range(0, len(rows), _PIECE_ROWS))


_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where something belongs in the context index.

    Attributes:
        task: The task as it was put.
        kind: The kind of task; empty if the question's rules do not understand it.
        env: The exact environment; empty if nothing is known of it.
        env_kind: Its kind; empty if nothing is known of it.
    """

    task: str
    kind: str
    env: str
    env_kind: str


def of_question(bank: Bank, task: str, scene: str) -> Surroundings:
    """Return where a question belongs as far as the rules know."""
    domain = bank.manifest.domain
    env = exact_env(domain, clean(scene)) or one_line(scene, _WIDTH)
    of_env = (env_kind(domain, clean(scene)) or OTHER) if env else ""
    return Surroundings(clean(task).strip(), task_kind(domain, clean(task)), env, of_env)


def of_episode(bank: Bank, episode: Trajectory, kinds: EpisodeKinds) -> Surroundings:
    """Return where an episode of known kinds belongs. The kind of its environment may be all of
    it.
    """
    domain, scene = episode.domain or bank.manifest.domain, clean(scene_of(episode))
    stated = "" if kinds.env.name == OTHER else kinds.env.name
    env = exact_env(domain, scene) or one_line(scene, _WIDTH) or stated
    return Surroundings(
        clean(episode.task).strip(), kinds.task.name, env, kinds.env.name if env else ""
    )
