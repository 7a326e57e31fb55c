"""The episodes of one bank for another: what was read from logs once need not be read again."""

from __future__ import annotations

from collections.abc import Iterator

from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import UsageError
from deltamem_tui.memory.credit.credit import put_uses
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.model import Trajectory

_BATCH_EPISODES = 5000
_BATCH_BYTES = 24_000_000


def copy_episodes(source: Bank, target: Bank) -> int:
    """Copy all episodes of a bank into one that has none, in their order, waiting to be learnt.

    Each keeps its id, its outcome with all that was said of it, its scene and its kinds.

    Returns:
        How many there are.

    Raises:
        UsageError: There are none.
        BankCorruptError: An episode breaks the format.
        StorageError: The disk refused; what was committed before stays.
    """
    count = 0
    for ids, lines, shown in _batches(source):
        with target.writing() as changes:
            changes.put_new_episodes(ids, lines)
            put_uses(changes, target, shown)
            changes.log("import", {"trajectories": ids})
        count += len(ids)
    if not count:
        raise UsageError(
            "the bank keeps no episodes",
            source=source.name,
            hint="import the logs, or take the bank that learnt from them",
        )
    return count


def _batches(source: Bank) -> Iterator[tuple[list[str], list[bytes], list[Trajectory]]]:
    """The ids and the lines of episodes, as many as one commit takes, and those with receipts."""
    ids: list[str] = []
    lines: list[bytes] = []
    shown: list[Trajectory] = []
    size = 0
    for each in episodes(source):  # parsed, so that only episodes come along
        line = (source.episodes.line(each.id) or b"") + b"\n"
        ids.append(each.id)
        lines.append(line)
        shown += [each] if each.receipts else []
        size += len(line)
        if len(ids) >= _BATCH_EPISODES or size >= _BATCH_BYTES:
            yield ids, lines, shown
            ids, lines, shown, size = [], [], [], 0
    if ids:
        yield ids, lines, shown
