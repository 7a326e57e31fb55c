"""Context of every command: shared options, settings, the banks' paths, and Ctrl+C.

The shared options may come before the command's name or anywhere after it, so they are
taken out of the arguments before the command reads the rest.
"""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Self

from deltamem_tui import config, paths
from deltamem_tui.cli.output import Output
from deltamem_tui.config import Configuration
from deltamem_tui.errors import BankExistsError, BankFrozenError, UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """The options that mean the same for every command; `banks` is empty if it names no folder."""

    banks: str | None = None
    json: bool = False
    debug: bool = False
    version: bool = False

    @classmethod
    def take(cls, arguments: Iterable[str]) -> tuple[Self, list[str]]:
        """Split the command line into the shared options and all the rest, in order.

        What follows a lone `--` is left alone.
        """
        taken: dict[str, bool | str] = {}
        rest: list[str] = []
        left = iter(arguments)
        for argument in left:
            if argument in {"--json", "--debug", "--version"}:
                taken[argument.removeprefix("--")] = True
            elif argument == "--banks":
                taken["banks"] = next(left, "")
            elif argument.startswith("--banks="):
                taken["banks"] = argument.removeprefix("--banks=")
            elif argument == "--":
                rest += [argument, *left]
            else:
                rest.append(argument)
        return cls(**taken), rest  # type: ignore[arg-type]


class Invocation:
    """One call of the program: its shared options, and where results and notes go."""

    def __init__(self, options: SharedOptions, output: Output) -> None:
        self.options = options
        self.output = output

    @cached_property
    def configuration(self) -> Configuration:
        """The settings, `--banks` among them."""
        if self.options.banks == "":
            raise UsageError("--banks needs a folder")
        folder = Path(self.options.banks) if self.options.banks else None
        configuration = config.load()
        for remark in configuration.remarks:
            self.output.note(remark)
        return configuration.with_flags(banks=folder)

    def settings(self, **flags: str | int | None) -> Configuration:
        """Return the settings, overruled by this command's flags (`embedder=embedder`)."""
        return self.configuration.with_flags(**flags)

    def confirm(self, question: str) -> None:
        """Ask the person at the terminal; without one, `--yes` is needed."""
        import typer

        from deltamem_tui.cli.page import is_terminal

        if self.options.json or not (sys.stdin.isatty() and is_terminal(sys.stderr)):
            raise UsageError(
                f"not confirmed, so nothing was done: {question}", hint="`--yes` confirms it"
            )
        if not typer.confirm(question, err=True):
            raise UsageError("nothing was done")

    @property
    def banks_folder(self) -> Path:
        """The folder in which banks are looked up by name."""
        return paths.banks_folder(self.configuration.banks)

    def bank(self, bank: str) -> Path:
        """Return the folder or archive of an existing bank, by name or path."""
        return paths.find_bank(bank, self.banks_folder)

    def open(self, bank: str, *, write: bool = False) -> Bank:
        """Open an existing bank, by name or path, to be read or written."""
        from deltamem_tui.bank.bank import Bank

        opened = Bank.open(self.own_bank(bank) if write else self.bank(bank))
        if write:
            opened.require_writable()
        return opened

    def own_bank(self, bank: str) -> Path:
        """Return the folder or archive of a bank that did not come with the package."""
        path = self.bank(bank)
        if not paths.is_shipped(path, self.banks_folder):
            return path
        raise BankFrozenError(
            "the bank came with the package and is read only",
            source=one_line(str(path)),
            hint="write to a copy: "
            f"`deltamem bank install {shlex.quote(one_line(str(path)))} --unfreeze` makes one",
        )

    def new_bank(self, bank: str) -> Path:
        """Return where a bank that is to be made will be."""
        return paths.new_bank_path(bank, self.banks_folder)

    def bank_to_install(self, name: str | None, own_name: str, *, replace: bool) -> Path:
        """Return where a bank from elsewhere will be: under `name`, else as it calls itself."""
        what = "a bank, so name it with --name" if name is None else "a bank"
        path = self.banks_folder / paths.check_name(own_name if name is None else name, what)
        if replace and path.is_dir() and not path.is_symlink():
            return path
        try:
            return self.new_bank(path.name)
        except BankExistsError as error:
            hint = "--name gives it another name, --replace replaces the bank there"
            raise BankExistsError(error.message, source=error.source, hint=hint) from error


Interruption = Callable[[], bool]
"""Returns whether Ctrl+C was pressed or SIGTERM came."""


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Let Ctrl+C or SIGTERM ask the block to stop where nothing is half done.

    The second one raises `KeyboardInterrupt` at once. Further ones are ignored, also after the
    block: the result is still to be reported.
    """
    asked = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            raise KeyboardInterrupt
        asked.set()

    at_ctrl_c = signal.signal(signal.SIGINT, handle)
    at_end = signal.signal(signal.SIGTERM, handle)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if asked.is_set() else at_ctrl_c)
        signal.signal(signal.SIGTERM, at_end)  # a second one ends the program
