"""An `os` whose effects can each be the last: a killed process, half a write, a full disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from deltamem_tui.bank.disk import files

EFFECTS = ("open", "pwrite", "fsync", "replace", "link", "truncate", "unlink")
NEVER = -1


class KilledError(BaseException):
    """The process is gone."""


class FragileOS:
    """The `os` module as the bank's files see it, until one of its effects is the last.

    Args:
        last: The number of that effect, from 1; `NEVER` only counts.
        how: `before` it the work ends, or at `half` of it if it is a write, as if the process
            were killed; or it is, for good (`exit`); or it alone meets a `disk full`, or any
            other error number.
    """

    def __init__(self, last: int, how: str | int = "before") -> None:
        self.names: list[str] = []
        self._last = last
        self._how = errno.ENOSPC if how == "disk full" else how
        self._dead = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self.guarded(name, real) if name in EFFECTS else real

    def guarded(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def effect(*arguments: Any, **options: Any) -> Any:
            if self._dead:
                raise KilledError
            self.names.append(name)
            if len(self.names) != self._last:
                return real(*arguments, **options)
            if isinstance(self._how, int):
                raise OSError(self._how, os.strerror(self._how))
            if self._how == "exit":
                os._exit(9)
            self._dead = True
            if self._how == "half" and name == "pwrite":
                descriptor, data, position = arguments
                real(descriptor, data[: len(data) // 2], position)
            raise KilledError

        return effect

    @contextmanager
    def at_work(self) -> Iterator[FragileOS]:
        """Let the bank's files see this `os`."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "os", self)
            yield self
