"""What the browser remembers between two runs, in the user's state folder."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from deltamem_tui.memory.views.filters import ORDERS, Order
from deltamem_tui.paths import APPLICATION

EXPANDED_LIMIT = 2_000
_SIZE_LIMIT = 1_000_000
_THEME = "theme"


@dataclass(frozen=True, slots=True)
class BankState:
    """How a person left a bank.

    Attributes:
        nodes: Per tree, the id of the node under the cursor.
        expanded: Per tree, the ids of the nodes that were expanded.
        filter: The filter as it was typed.
        order: How siblings were sorted.
        screen: What was shown.
    """

    nodes: Mapping[str, str] = field(default_factory=dict)
    expanded: Mapping[str, list[str]] = field(default_factory=dict)
    filter: str = ""
    order: Order = "birth"
    screen: str = "trees"


def state_file(bank: Path) -> Path:
    """Where the state of the bank in a folder is kept."""
    digest = hashlib.sha256(str(bank.resolve()).encode()).hexdigest()[:16]
    return _folder() / f"{digest}.json"


def _folder() -> Path:
    import platformdirs

    return platformdirs.user_state_path(APPLICATION, appauthor=False)


def load(bank: Path) -> BankState:
    """How a bank was left. A state that cannot be read is like none: it is only a convenience."""
    try:
        text = state_file(bank).read_bytes()
        record = orjson.loads(text) if len(text) <= _SIZE_LIMIT else {}
        return _from_record(record)
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return BankState()


_SCREENS = frozenset({"trees", "recall", "episodes", "statistics", "review"})


def _from_record(record: dict[str, Any]) -> BankState:
    order = record.get("order")
    screen = record.get("screen")
    nodes, expanded = record.get("nodes", {}), record.get("expanded", {})
    return BankState(
        nodes={str(name): str(node) for name, node in nodes.items()},
        expanded={
            str(name): [str(each) for each in ids][:EXPANDED_LIMIT]
            for name, ids in expanded.items()
        },
        filter=str(record.get("filter", "")),
        order=order if order in ORDERS else "birth",
        screen=screen if screen in _SCREENS else "trees",
    )


def save(bank: Path, state: BankState) -> None:
    """Remember how a bank was left, if the folder can be written."""
    write_quietly(state_file(bank), orjson.dumps(asdict(state)))


def load_theme() -> str | None:
    """The theme that was chosen last; None if there is none to be read."""
    try:
        return (_folder() / _THEME).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None


def save_theme(theme: str) -> None:
    """Remember a theme, if the folder can be written."""
    write_quietly(_folder() / _THEME, theme.encode())


def write_quietly(file: Path, text: bytes) -> None:
    """Write a file of the state folder whole, if that can be written."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".new")
        draft.write_bytes(text)
        draft.replace(file)
