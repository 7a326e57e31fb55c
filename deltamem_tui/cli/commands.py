"""The commands by name. A command's module is imported when it is called, not before.

To add a command, write `cli/<module>.py` with a function `run` and add a line to
`COMMANDS`. The function's first docstring line is the line's summary; its parameters
are the command's, read by typer; it returns a `Result`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
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
        group: The heading it stands under; entries of a group stand together.
        summary: What it does, as one sentence: the first line of its docstring.
        module: The module under `deltamem_tui.cli` that holds it, if not called like it.
    """

    name: str
    group: str
    summary: str
    module: str = ""

    @property
    def path(self) -> str:
        """The full name of its module."""
        return f"deltamem_tui.cli.{self.module or self.name}"


COMMANDS = (
    CommandEntry("browse", "Look", "Look at banks in the terminal, ask them, and put them right."),
    CommandEntry("list", "Look", "Name all banks and where they lie."),
    CommandEntry(
        "info", "Look", "Count what a bank holds: nodes by kind, label and depth, tokens, episodes."
    ),
    CommandEntry("tree", "Look", "Show the outline of the trees, a line a node."),
    CommandEntry(
        "show", "Look", "Show one node: what it says, where it comes from, how often it was of use."
    ),
    CommandEntry(
        "chain", "Look", "Show the chain from the root to a node, as an agent receives it."
    ),
    CommandEntry(
        "search", "Look", "Find the nodes that score best for a text, in one tree or both."
    ),
    CommandEntry(
        "recall", "Use", "Recall what a bank knows of a task, as the text for an agent's prompt."
    ),
    CommandEntry("init", "Learn", "Make a new, empty bank."),
    CommandEntry(
        "import", "Learn", "Bring the episodes of logs into a bank, each once.", "import_"
    ),
    CommandEntry("formats", "Learn", "List the formats of logs, or what each would make of one."),
    CommandEntry(
        "extract", "Learn", "Learn from the episodes that wait, in the order of their import."
    ),
    CommandEntry("judge", "Learn", "Let a model say how episodes ended whose logs do not say."),
    CommandEntry(
        "consolidate",
        "Learn",
        "Fuse every chain that was hit often enough into a new root. Nothing is deleted.",
    ),
    CommandEntry(
        "calibrate",
        "Learn",
        "Propose a threshold per tree from the scores of the bank's own episodes.",
    ),
    CommandEntry("parameters", "Learn", "Show the method's numbers of a bank, or change some."),
    CommandEntry(
        "compact",
        "Tend",
        "Drop earlier revisions and the journal's old lines. All knowledge and all counts stay.",
    ),
    CommandEntry(
        "reembed",
        "Tend",
        "Give a bank the vectors of another embedder. No episode is learnt anew.",
    ),
    CommandEntry(
        "prompts",
        "Ask models",
        "List the prompts, show or check them, or hand them out to be edited.",
    ),
    CommandEntry(
        "cache", "Ask models", "Tell what the kept answers of models take, or remove some."
    ),
    CommandEntry(
        "export",
        "Ship",
        "Write a bank into one file: frozen, with digests, looked through for secrets.",
    ),
    CommandEntry(
        "install",
        "Ship",
        "Check a bank from elsewhere, whoever made it, and put it among the banks, frozen.",
    ),
    CommandEntry(
        "merge", "Ship", "Merge what banks have learnt, node by node, with nothing counted twice."
    ),
    CommandEntry("diff", "Ship", "Show what differs between two banks, node by node."),
    CommandEntry("freeze", "Ship", "Forbid all writing to a bank, and note each file's digest."),
    CommandEntry("unfreeze", "Ship", "Allow writing to a frozen bank again."),
    CommandEntry(
        "verify",
        "Ship",
        "Check every file, line, vector and counter of a bank. Nothing is changed.",
    ),
)

_VERSION_OPTION = ("--version", "Show the version and exit.")


class HelpAskedError(Exception):
    """Somebody asked for help, which is a result like any other.

    Attributes:
        text: The help.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _told(option: TyperOption | None) -> TyperOption | None:
    if option is not None:
        option.callback = _give_help
    return option


def _give_help(context: Context, _: Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        raise HelpAskedError(context.get_help())


class SharedHelpCommand(TyperCommand):
    """A command whose help ends with the options that all commands share."""

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """The option that asks for help, which is told instead of printed."""
        return _told(super().get_help_option(ctx))

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
            self.add_command(TyperCommand(entry.name, help=entry.summary, rich_markup_mode=None))

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """The option that asks for help, which is told instead of printed."""
        return _told(super().get_help_option(ctx))

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
    application.command(entry.name, cls=SharedHelpCommand)(import_module(entry.path).run)
    return typer.main.get_command(application)
