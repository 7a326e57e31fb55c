"""The banks that are served: opened once, and read anew when they have changed.

A bank is found by its name only. A client's text never becomes a path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from deltamem_tui import paths
from deltamem_tui.errors import BankNotFoundError, UsageError
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank


class ServedBanks:
    """Some banks, each for one request at a time: a handle shows one commit until it is refreshed.

    If none are `named`, all of the banks folder and of the package are served.
    """

    def __init__(self, folder: Path, named: tuple[Path, ...] = ()) -> None:
        self._folder = folder
        self._named = _by_name(named)
        self._open: dict[Path, tuple[Bank, Lock]] = {}
        self._opening = Lock()

    def places(self) -> Mapping[str, Path]:
        """Return the path of each bank by its name, in order of the names."""
        if self._named:
            return self._named
        return {place.name: place.path for place in paths.find_banks(self._folder)}

    @contextmanager
    def bank(self, name: str | None) -> Iterator[Bank]:
        """Open a bank as it is now; without a name the only one.

        Raises:
            BankNotFoundError: No bank that is served has this name.
            UsageError: No name was given, and there are several.
        """
        places = self.places()
        hint = f"those served: {', '.join(places) or 'none'}"
        if name is None:
            if len(places) != 1:
                raise UsageError("several banks are served, and none was named", hint=hint)
            (name,) = places
        if name not in places:
            raise BankNotFoundError(f"no bank {one_line(name, 60)!r} is served", hint=hint)
        with self._opening:
            if places[name] not in self._open:
                self._open[places[name]] = (_open(places[name]), Lock())
            bank, turn = self._open[places[name]]
        with turn:
            bank.refresh()
            yield bank


def _by_name(banks: tuple[Path, ...]) -> Mapping[str, Path]:
    named: dict[str, Path] = {}
    for path in banks:
        own = Path(os.path.abspath(path)).name  # noqa: PTH100 - a link has its own name
        name = clean(own) if (path / "bank.json").is_file() else _open(path).name
        if name in named:
            raise UsageError(f"two banks are called {name!r}", hint="serve them apart")
        named[name] = path
    return dict(sorted(named.items()))


def _open(path: Path) -> Bank:
    from deltamem_tui.bank.bank import Bank  # not sooner: a client's first message waits for it

    return Bank.open(path)
