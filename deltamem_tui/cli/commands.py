"""The commands by name. A command's module is imported when it is called, not before.

To add a command, write a function beside those of its kind and add a line to `COMMANDS`. The
function's first docstring line is its summary; its parameters are the command's, read by typer;
it returns a `Result`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command.

    Attributes:
        name: What is typed: `recall`, or noun and verb, as in `bank info`.
        place: Module and function below `deltamem_tui.cli`.
        example: How it is called, without the program's name.
        old: What was typed before, which is still understood.
    """

    name: str
    place: str
    example: str
    old: str = ""

    @property
    def noun(self) -> str:
        """The group that it belongs to; empty for those of the main path."""
        return self.name.rpartition(" ")[0]

    @property
    def verb(self) -> str:
        """Its name in its group."""
        return self.name.rpartition(" ")[2]

    @property
    def reported(self) -> str:
        """Its name in the JSON document, which did not change with the spelling."""
        return self.old.partition(" ")[0] or self.noun or self.verb

    @property
    def summary(self) -> str:
        """The first line of its docstring.

        It is found in the module's text, because to import all modules takes a second.
        """
        module, function = self.place.split(".")
        text = (get_data(__package__, f"{module}.py") or b"").decode()
        pattern = rf'^def {function}\(.*?^    """(.+?)(?:""")?$'
        found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        return found[1] if found else ""


NOUNS: Mapping[str, str] = {
    "bank": "Banks: list, count, check, tune, ship, merge, copy and remove them.",
    "node": "What a bank has learnt: look at it, search it, correct it, undo.",
    "episode": "What it learnt from: how episodes ended, and the formats of logs.",
    "model": "Language models: their prompts, and their kept answers.",
    "agent": "Let agents read banks and send their sessions home: MCP and hooks.",
    "lab": "What a memory is worth: in games, over a log, for the next sessions.",
}

COMMANDS = (
    CommandEntry("init", "banks.init", "init work"),
    CommandEntry("import", "logs.import_", "import work ~/.claude/projects/shop"),
    CommandEntry("extract", "learning.extract", "extract work --extractor rules"),
    CommandEntry("recall", "asking.recall", 'recall work "Fix the failing test"'),
    CommandEntry("browse", "asking.browse", "browse work"),
    CommandEntry("hook", "agents.hook", "hook claude-code prompt --bank work"),
    CommandEntry("bank list", "banks.list_", "bank list", "list"),
    CommandEntry("bank info", "banks.info", "bank info work", "info"),
    CommandEntry("bank methods", "banks.methods", "bank methods", "methods"),
    CommandEntry("bank copy", "banks.copy", "bank copy work work2", "copy"),
    CommandEntry("bank rename", "banks.rename", "bank rename work shop", "rename"),
    CommandEntry("bank remove", "banks.remove", "bank remove work", "remove"),
    CommandEntry("bank freeze", "banks.freeze", "bank freeze work", "freeze"),
    CommandEntry("bank unfreeze", "banks.unfreeze", "bank unfreeze work", "unfreeze"),
    CommandEntry("bank verify", "banks.verify", "bank verify work --vectors", "verify"),
    CommandEntry("bank compact", "banks.compact", "bank compact work --dry-run", "compact"),
    CommandEntry(
        "bank parameters",
        "tuning.parameters",
        "bank parameters work task.tau_base=0.8",
        "parameters",
    ),
    CommandEntry("bank calibrate", "tuning.calibrate", "bank calibrate work", "calibrate"),
    CommandEntry(
        "bank consolidate",
        "learning.consolidate",
        "bank consolidate work --extractor rules",
        "consolidate",
    ),
    CommandEntry(
        "bank reembed", "tuning.reembed", "bank reembed work --embedder minilm", "reembed"
    ),
    CommandEntry("bank forget", "tuning.forget", "bank forget work --rule periodical", "forget"),
    CommandEntry("bank lift", "tuning.lift", "bank lift work", "lift"),
    CommandEntry("bank export", "transfer.export", "bank export work --as skills", "export"),
    CommandEntry("bank install", "transfer.install", "bank install work.deltamem", "install"),
    CommandEntry("bank merge", "comparing.merge", "bank merge work other --dry-run", "merge"),
    CommandEntry("bank diff", "comparing.diff", "bank diff work other", "diff"),
    CommandEntry("node tree", "nodes.tree", "node tree work --tree task", "tree"),
    CommandEntry("node show", "nodes.show", "node show work 5f3a", "show"),
    CommandEntry("node chain", "nodes.chain", "node chain work 5f3a", "chain"),
    CommandEntry("node search", "asking.search", 'node search work "red tests"', "search"),
    CommandEntry("node edit", "nodes.edit", "node edit work 5f3a", "edit"),
    CommandEntry("node relabel", "nodes.relabel", "node relabel work 5f3a failure", "relabel"),
    CommandEntry("node move", "nodes.move", "node move work 5f3a root", "move"),
    CommandEntry("node join", "nodes.join", "node join work 5f3a 77c0", "join"),
    CommandEntry("node delete", "nodes.delete", "node delete work 5f3a", "delete"),
    CommandEntry("node undo", "nodes.undo", "node undo work", "undo"),
    CommandEntry("node redo", "nodes.redo", "node redo work", "redo"),
    CommandEntry("episode list", "episodes.list_", "episode list work --waiting", "episodes"),
    CommandEntry(
        "episode outcome", "episodes.outcome", "episode outcome work last success", "outcome"
    ),
    CommandEntry("episode review", "episodes.review", "episode review work", "review"),
    CommandEntry(
        "episode judge", "learning.judge", "episode judge work --model openai/gpt-4o-mini", "judge"
    ),
    CommandEntry("episode formats", "episodes.formats", "episode formats", "formats"),
    CommandEntry("episode try", "episodes.try_", "episode try session.jsonl", "formats try"),
    CommandEntry("episode convert", "logs.convert", "episode convert logs -o all.jsonl", "convert"),
    CommandEntry("model prompts", "models.prompts", "model prompts", "prompts"),
    CommandEntry("model prompt", "models.prompt", "model prompt task_root_success", "prompts show"),
    CommandEntry("model check", "models.check", "model check mine", "prompts check"),
    CommandEntry("model export", "models.export", "model export mine", "prompts export"),
    CommandEntry("model cache", "models.cache", "model cache", "cache"),
    CommandEntry("model clear", "models.clear", "model clear --older 90", "cache clear"),
    CommandEntry("agent serve", "agents.serve", "agent serve work", "serve"),
    CommandEntry(
        "agent install", "agents.install", "agent install claude-code --bank work", "hooks install"
    ),
    CommandEntry("agent remove", "agents.remove", "agent remove claude-code", "hooks remove"),
    CommandEntry("agent status", "agents.status", "agent status", "hooks status"),
    CommandEntry("lab play", "lab.play", "lab play mine.py:Games --bank work"),
    CommandEntry("lab replay", "lab.replay", "lab replay work --method deltamem"),
    CommandEntry("lab work", "lab_work.work", "lab work ~/.claude/projects/shop"),
)

_HIDDEN = "hook"
_OLD = {
    **{entry.old: entry.name for entry in COMMANDS if entry.old},
    "prompts list": "model prompts",
    "cache info": "model cache",
    "evaluate": "lab play",
    "replay": "lab replay",
}


def renewed(words: Sequence[str]) -> tuple[list[str], str]:
    """Return a command line in today's spelling, and a note if that is another one."""
    for length in (2, 1):
        old = " ".join(words[:length])
        if name := _OLD.get(old):
            return [*name.split(), *words[length:]], _renamed(old, name)
    verbs = {entry.verb for entry in COMMANDS if entry.noun == "lab"}
    if [*words[:1]] == ["lab"] and words[1:] and words[1] not in verbs and words[1][:1] != "-":
        return ["lab", "play", *words[1:]], _renamed("lab", "lab play")
    return [*words], ""


def _renamed(old: str, new: str) -> str:
    return f"`deltamem {old}` is `deltamem {new}` now"


def meant(words: Sequence[str]) -> CommandEntry | None:
    """Return the command that a command line means, in today's spelling."""
    names = {entry.name: entry for entry in COMMANDS}
    return names.get(" ".join(words[:2])) or names.get(" ".join(words[:1]))


class LazyCommand(TyperCommand):
    """A command whose usage has its arguments without braces."""

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """Return the arguments as they are typed."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class LazyGroup(TyperGroup):
    """Knows each command's name and summary, and imports a command when it is called.

    The root holds the main path and a group for each noun.
    """

    def __init__(self, noun: str = "", **attributes: Any) -> None:
        super().__init__(**attributes)
        self._entries = {each.verb: each for each in COMMANDS if each.noun == noun}
        for verb in self._entries:
            self.add_command(TyperCommand(verb, rich_markup_mode=None, hidden=verb == _HIDDEN))
        for name, about in ({} if noun else NOUNS).items():
            options = {"rich_markup_mode": None, "no_args_is_help": True}
            self.add_command(LazyGroup(name, name=name, help=about, epilog=_SHARED, **options))

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find the command that `args` begin with, and load it."""
        name, command, rest = super().resolve_command(ctx, args)
        entry = self._entries.get(name or "")
        return name, load_command(entry) if entry else command, rest

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands, as what most people look for, before the options."""
        self.format_commands(ctx, formatter)
        with formatter.section("Options"):
            found = (each.get_help_record(ctx) for each in self.get_params(ctx))
            formatter.write_dl([each for each in found if each])

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands: an example each for the main path, then the nouns."""
        shown = [each for each in self._entries.values() if each.name != _HIDDEN]
        nouns = [(noun, about) for noun, about in NOUNS.items() if noun in self.commands]
        with formatter.section("From a log to a recalled context" if nouns else "Commands"):
            formatter.write_dl([(_typed(e) if nouns else e.verb, e.summary) for e in shown])
        if nouns:
            with formatter.section("Everything else (`deltamem bank --help` lists its commands)"):
                formatter.write_dl(nouns)


def _typed(entry: CommandEntry) -> str:
    return f"deltamem {entry.example}"


_SHARED = """Every command takes --json (one JSON document on stdout, for errors too), --banks DIR
(the folder in which banks are looked up by name) and --debug (where an error comes from)."""


def load_command(entry: CommandEntry) -> Command:
    """Import a command's module and let typer read its parameters."""
    module, function = entry.place.split(".")
    run = getattr(import_module(f"deltamem_tui.cli.{module}"), function)
    application = typer.Typer(add_completion=False, rich_markup_mode=None)
    epilog = f"Example: {_typed(entry)}\n\n{_SHARED}"
    application.command(entry.verb, cls=LazyCommand, epilog=epilog)(run)
    return typer.main.get_command(application)
