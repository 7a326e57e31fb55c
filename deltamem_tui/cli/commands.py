"""The commands by name. A command's module is imported when it is called, not before.

To add a command, write a function beside those of its kind and add a line to `COMMANDS`. The
function's first docstring line is its summary. Its parameters are the command's, read by typer,
but for `invocation`, the call that it belongs to; a dataclass stands for its fields. It returns a
`Result`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, signature
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from deltamem_tui.cli.invocation import Invocation

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command.

    Attributes:
        name: What is typed: `recall`, or noun and verb, as in `bank info`.
        module: The module of `deltamem_tui.cli` that holds its function, which is called as its
            verb is.
        arguments: The arguments of its example.
        old: What was typed before, which is still understood; its verb if not given.
    """

    name: str
    module: str
    arguments: str = ""
    old: str | None = None

    @property
    def noun(self) -> str:
        """The group that it belongs to; empty for those of the main path."""
        return self.name.rpartition(" ")[0]

    @property
    def verb(self) -> str:
        """Its name in its group."""
        return self.name.rpartition(" ")[2]

    @property
    def example(self) -> str:
        """How it is called."""
        return f"deltamem {self.name} {self.arguments}".rstrip()

    @property
    def function(self) -> str:
        """The name of its function."""
        return f"{self.verb}_" if self.verb in ("import", "list", "try") else self.verb

    @property
    def reported(self) -> str:
        """Its name in the JSON document, which did not change with the spelling."""
        return (self.verb if self.old is None else self.old or self.noun).partition(" ")[0]

    @property
    def summary(self) -> str:
        """The first line of its docstring.

        It is found in the module's text, because to import all modules takes a second.
        """
        text = (get_data(__package__, f"{self.module}.py") or b"").decode()
        pattern = rf'^def {self.function}\(.*?^    """(.+?)(?:""")?$'
        found = re.search(pattern, text, re.DOTALL | re.MULTILINE)
        return found[1] if found else ""


NOUNS: Mapping[str, str] = {
    "bank": "Banks: list, count, check, tune, ship, merge, copy and remove them.",
    "node": "What a bank has learnt: look at it, search it, correct it, undo.",
    "episode": "What it learnt from: how episodes ended, and the formats of logs.",
    "model": "Language models: their prompts, and their stored answers.",
    "agent": "Let agents read banks and send their sessions home: MCP and hooks.",
    "lab": "What a memory is worth: in games, over a log, for the next sessions.",
}

_Entry = CommandEntry
COMMANDS = (
    _Entry("init", "banks", "work"),
    _Entry("import", "logs", "work ~/.claude/projects/shop"),
    _Entry("extract", "learning", "work --extractor rules"),
    _Entry("recall", "asking", 'work "Fix the failing test"'),
    _Entry("browse", "asking", "work"),
    _Entry("bank list", "banks"),
    _Entry("bank info", "banks", "work"),
    _Entry("bank methods", "banks"),
    _Entry("bank copy", "banks", "work work2"),
    _Entry("bank rename", "banks", "work shop"),
    _Entry("bank remove", "banks", "work"),
    _Entry("bank freeze", "banks", "work"),
    _Entry("bank unfreeze", "banks", "work"),
    _Entry("bank verify", "banks", "work"),
    _Entry("bank compact", "banks", "work"),
    _Entry("bank parameters", "tuning", "work task.tau_base=0.8"),
    _Entry("bank consolidate", "learning", "work --extractor rules"),
    _Entry("bank reembed", "tuning", "work --embedder minilm"),
    _Entry("bank forget", "tuning", "work --preset iot"),
    _Entry("bank export", "transfer", "work --as skills"),
    _Entry("bank install", "transfer", "work.deltamem"),
    _Entry("bank merge", "comparing", "work other --dry-run"),
    _Entry("bank diff", "comparing", "work other"),
    _Entry("node tree", "nodes", "work --tree task"),
    _Entry("node show", "nodes", "work 5f3a"),
    _Entry("node chain", "nodes", "work 5f3a"),
    _Entry("node search", "asking", 'work "red tests"'),
    _Entry("node edit", "nodes", 'work 5f3a When="a test is red"'),
    _Entry("node relabel", "nodes", "work 5f3a failure"),
    _Entry("node move", "nodes", "work 5f3a root"),
    _Entry("node join", "nodes", "work 5f3a 77c0"),
    _Entry("node delete", "nodes", "work 5f3a"),
    _Entry("node undo", "nodes", "work"),
    _Entry("node redo", "nodes", "work"),
    _Entry("episode list", "episodes", "work --waiting", "episodes"),
    _Entry("episode outcome", "episodes", "work 3f1c 77c0 success"),
    _Entry("episode review", "episodes", "work"),
    _Entry("episode judge", "learning", "work --model openai/gpt-4o-mini"),
    _Entry("episode formats", "episodes"),
    _Entry("episode try", "episodes", "session.jsonl", "formats try"),
    _Entry("model prompts", "models"),
    _Entry("model prompt", "models", "task_root_success", "prompts show"),
    _Entry("model check", "models", "mine", "prompts check"),
    _Entry("model export", "models", "mine", "prompts export"),
    _Entry("model cache", "models"),
    _Entry("agent serve", "agents", "work"),
    _Entry("agent install", "agents", "claude-code --bank work", "hooks install"),
    _Entry("agent remove", "agents", "claude-code", "hooks remove"),
    _Entry("agent status", "agents", "", "hooks status"),
    _Entry("lab play", "lab", "mine.py:Games --bank work", ""),
    _Entry("lab replay", "lab", "work --method deltamem", ""),
    _Entry("lab work", "lab_work", "~/.claude/projects/shop", ""),
)

_OLD = {
    **{each.verb if each.old is None else each.old: each.name for each in COMMANDS if each.noun},
    "learn": "extract",  # what the browser and the manual call it
    "prompts list": "model prompts",
    "cache info": "model cache",
    "evaluate": "lab play",
    "replay": "lab replay",
}
_OLD.pop("")  # the lab is new


def renewed(words: Sequence[str]) -> tuple[list[str], str]:
    """Return a command line in today's spelling, and a note if that is another one."""
    for length in (2, 1):
        old = " ".join(words[:length])
        if name := _OLD.get(old):
            return [
                *name.split(),
                *words[length:],
            ], f"`deltamem {old}` is spelled `deltamem {name}`"
    return [*words], ""


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
            self.add_command(TyperCommand(verb, rich_markup_mode=None))
        for name, about in ({} if noun else NOUNS).items():
            group = LazyGroup(name, name=name, help=about, epilog=_SHARED, rich_markup_mode=None)
            self.add_command(group)

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
        nouns = [(noun, about) for noun, about in NOUNS.items() if noun in self.commands]
        with formatter.section("From a log to a recalled context" if nouns else "Commands"):
            shown = self._entries.values()
            formatter.write_dl([(e.example if nouns else e.verb, e.summary) for e in shown])
        if nouns:
            with formatter.section("Everything else (`deltamem bank --help` lists its commands)"):
                formatter.write_dl(nouns)


_SHARED = """Every command takes --json (one JSON document on stdout, for errors too), --banks DIR
(the folder in which banks are looked up by name) and --debug (where an error comes from)."""


def load_command(entry: CommandEntry) -> Command:
    """Import a command's module and let typer read its parameters."""
    run = getattr(import_module(f"deltamem_tui.cli.{entry.module}"), entry.function)
    application = typer.Typer(add_completion=False, rich_markup_mode=None)
    epilog = f"Example: {entry.example}\n\n{_SHARED}"
    application.command(entry.verb, cls=LazyCommand, epilog=epilog)(_readable(run))
    return typer.main.get_command(application)


def _readable(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command as typer reads it: a context for its invocation, dataclasses as options."""
    hints = get_type_hints(run, include_extras=True)
    groups: dict[str, Any] = {}
    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name, each in signature(run).parameters.items():
        if is_dataclass(hints[name]):
            groups[name] = hints[name]
            options = get_type_hints(groups[name], include_extras=True)
            parameters += [
                Parameter(o.name, each.KEYWORD_ONLY, default=o.default, annotation=options[o.name])
                for o in fields(groups[name])
            ]
        elif name != "invocation":
            parameters.append(each.replace(kind=each.KEYWORD_ONLY, annotation=hints[name]))

    def command(context: typer.Context, **given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        if "invocation" in hints:
            given["invocation"] = context.find_object(Invocation)
        return run(**given)

    command.__doc__ = run.__doc__
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command
