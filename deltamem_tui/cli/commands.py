"""The commands by name. A command's module is imported when it is called, not before.

To add a command, write a function beside those of its kind, or `run` in a module of its own,
and add a line to `COMMANDS`. The function's first docstring line is its summary; its parameters
are the command's, read by typer; it returns a `Result`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from deltamem_tui.cli.invocation import SHARED_OPTIONS

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter, Parameter
    from typer.core import TyperOption


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One line of `deltamem --help`.

    Attributes:
        name: What is typed.
        group: Its heading in the help; entries of a group are neighbours.
        module: The module under `deltamem_tui.cli` that holds it; one of its own name if empty.
        function: The function in a module of several commands, if it has another name.
    """

    name: str
    group: str
    module: str = ""
    function: str = ""

    @property
    def path(self) -> str:
        """The full name of its module."""
        return f"deltamem_tui.cli.{self.module or self.name}"

    @property
    def attribute(self) -> str:
        """The name of its function: `run` in a module of its own."""
        return self.function or (self.name if self.module else "run")

    @property
    def summary(self) -> str:
        """The first line of its docstring.

        It is found in the module's text, because to import all modules takes a second.
        """
        text = (get_data(__package__, f"{self.module or self.name}.py") or b"").decode()
        pattern = rf'^def {self.attribute}\(.*?^    """(.+?)(?:""")?$'
        found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        return found[1] if found else ""


COMMANDS = (
    CommandEntry("browse", "Look"),
    CommandEntry("list", "Look", "banks", "list_"),
    CommandEntry("info", "Look", "banks"),
    CommandEntry("tree", "Look", "nodes"),
    CommandEntry("show", "Look", "nodes"),
    CommandEntry("chain", "Look", "nodes"),
    CommandEntry("episodes", "Look", "nodes"),
    CommandEntry("search", "Look", "asking"),
    CommandEntry("recall", "Use", "asking"),
    CommandEntry("serve", "Use"),
    CommandEntry("hooks", "Use"),
    CommandEntry("hook", "Use"),
    CommandEntry("init", "Learn", "banks"),
    CommandEntry("methods", "Learn", "banks"),
    CommandEntry("import", "Learn", "logs", "import_"),
    CommandEntry("formats", "Learn"),
    CommandEntry("extract", "Learn"),
    CommandEntry("judge", "Learn"),
    CommandEntry("outcome", "Learn"),
    CommandEntry("review", "Learn"),
    CommandEntry("consolidate", "Learn", "tuning"),
    CommandEntry("calibrate", "Learn", "tuning"),
    CommandEntry("parameters", "Learn", "tuning"),
    CommandEntry("lab", "Compare"),
    CommandEntry("edit", "Repair", "editing"),
    CommandEntry("relabel", "Repair", "editing"),
    CommandEntry("move", "Repair", "editing"),
    CommandEntry("join", "Repair", "editing"),
    CommandEntry("delete", "Repair", "editing"),
    CommandEntry("undo", "Repair", "editing"),
    CommandEntry("redo", "Repair", "editing"),
    CommandEntry("rename", "Repair", "banks"),
    CommandEntry("copy", "Repair", "banks"),
    CommandEntry("remove", "Repair", "banks"),
    CommandEntry("lift", "Tend"),
    CommandEntry("forget", "Tend"),
    CommandEntry("compact", "Tend", "banks"),
    CommandEntry("reembed", "Tend", "tuning"),
    CommandEntry("prompts", "Ask models"),
    CommandEntry("cache", "Ask models", "models"),
    CommandEntry("export", "Ship"),
    CommandEntry("convert", "Ship", "logs"),
    CommandEntry("install", "Ship"),
    CommandEntry("merge", "Ship", "comparing"),
    CommandEntry("diff", "Ship", "comparing"),
    CommandEntry("freeze", "Ship", "banks"),
    CommandEntry("unfreeze", "Ship", "banks"),
    CommandEntry("verify", "Ship", "banks"),
)

OLD_SPELLINGS = {"evaluate": ("lab",), "replay": ("lab", "replay")}
"""Commands of before, and what they are called now; they go with the next version."""

_VERSION_OPTION = ("--version", "Show the version and exit.")


class HelpRequestError(Exception):
    """Help was asked for: a result like any other.

    Attributes:
        text: The help.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _raising(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.callback = _raise_help
    return option


def _raise_help(context: Context, _: Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        raise HelpRequestError(context.get_help())


class SharedHelpCommand(TyperCommand):
    """A command whose help ends with the options that all commands share."""

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """Return the help option, which raises `HelpRequestError` instead of printing."""
        return _raising(super().get_help_option(ctx))

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the command's own options, then the shared ones."""
        super().format_options(ctx, formatter)
        with formatter.section("Options of every command"):
            formatter.write_dl(SHARED_OPTIONS)


class LazyGroup(TyperGroup):
    """Knows each command's name and summary, and imports a command when it is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for entry in COMMANDS:
            self.add_command(TyperCommand(entry.name, rich_markup_mode=None))

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command by its name. One that is not loaded yet knows its summary at least."""
        command = super().get_command(ctx, cmd_name)
        for entry in COMMANDS:
            if command is not None and command.help is None and entry.name == cmd_name:
                command.help = entry.summary
        return command

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """Return the help option, which raises `HelpRequestError` instead of printing."""
        return _raising(super().get_help_option(ctx))

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find the command that `args` begin with, and put the real one in its place."""
        name, command, rest = super().resolve_command(ctx, args)
        for entry in COMMANDS:
            if entry.name == name:
                command = load_command(entry)
        return name, command, rest

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands first, as what most people look for, then the options."""
        for group, entries in groupby(COMMANDS, key=lambda entry: entry.group):
            with formatter.section(group):
                formatter.write_dl([(entry.name, entry.summary) for entry in entries])
        own = [parameter.get_help_record(ctx) for parameter in self.get_params(ctx)]
        with formatter.section("Options, before or after the command"):
            formatter.write_dl([*SHARED_OPTIONS, _VERSION_OPTION, *filter(None, own)])


def load_command(entry: CommandEntry) -> Command:
    """Import a command's module and let typer read its parameters."""
    application = typer.Typer(add_completion=False, rich_markup_mode=None)
    application.command(entry.name, cls=SharedHelpCommand)(
        getattr(import_module(entry.path), entry.attribute)
    )
    return typer.main.get_command(application)
