"""The program `deltamem`: read the command line, run one command, publish its result.

Commands return `Result`s or raise errors; this is the only place that publishes them.
"""

from __future__ import annotations

from collections.abc import Sequence

import typer

from deltamem_tui.cli.commands import NOUNS, LazyGroup, meant, renewed
from deltamem_tui.cli.invocation import Invocation, SharedOptions
from deltamem_tui.cli.output import Output
from deltamem_tui.cli.result import ExitCode, InterruptionError, Result, View
from deltamem_tui.errors import DeltaMemError, StorageError, UsageError
from deltamem_tui.paths import shipped_folder
from deltamem_tui.text import one_line

PROGRAM = "deltamem"

application = typer.Typer(
    cls=LazyGroup,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`deltamem COMMAND --help` has options and an example; before or after any command: "
    "--json (one JSON document on stdout), --banks DIR (where banks are looked up by name), "
    "--debug, --version. BANK is a bank's name there, or a path. "
    f"The manual: {shipped_folder('docs')}.",
)


@application.callback(invoke_without_command=True)
def _root(context: typer.Context) -> None:
    """See, trust, repair and ship what LLM agents have learnt."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


def run(arguments: Sequence[str], output: Output | None = None) -> int:
    """Run the program on the arguments behind its name, and return the exit code.

    Everything goes to stdout and stderr, in the form that was asked for, if no `output` is given.
    """
    options, typed = SharedOptions.take(arguments)
    output = output or Output(json=options.json, debug=options.debug)
    words, note = renewed(typed)
    if len(words) == 1 and words[0] in NOUNS:
        words.append("--help")
    if note:
        output.note(note)
    try:
        result = _result(Invocation(options, output), words)
        return result if isinstance(result, int) else output.publish(result)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- no traceback reaches a user
        output.trace(error)
        command = meant(words)
        name = command.reported if command else PROGRAM
        return output.publish(Result.failed(name, for_people(error)))


def _result(invocation: Invocation, words: list[str]) -> Result | int:
    """Return what the command returned, or the exit code of one that printed help."""
    if invocation.options.version:
        from importlib.metadata import version

        number = version("deltamem-tui")
        view: View = lambda page: page.text(f"{PROGRAM} {number}")  # noqa: E731
        return Result("version", {"version": number}, view=view)
    try:
        returned: Result | int = typer.main.get_command(application).main(
            words, prog_name=PROGRAM, standalone_mode=False, obj=invocation
        )
    except typer.TyperException as error:
        raise _usage_error(error, words) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    if returned == ExitCode.INTERRUPTED:  # how typer reports Ctrl+C
        raise KeyboardInterrupt
    return returned


def _usage_error(error: typer.TyperException, words: Sequence[str]) -> UsageError:
    message = one_line(error.format_message()).removesuffix(".")
    command = meant(words)
    group = words[0] if words and words[0] in NOUNS else ""
    call = f"{PROGRAM} {command.name if command else group}".rstrip()
    hint = f"see `{call} --help`"
    if any(word.startswith("-") and " " in word for word in words):
        hint = f"put a text that begins with - at the end, after --: `{call} … -- TEXT`"
    return UsageError(message[:1].lower() + message[1:], hint=hint)


def for_people(error: BaseException) -> DeltaMemError:
    """Return any error as one that is meant for people."""
    if isinstance(error, DeltaMemError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return InterruptionError("interrupted")
    if isinstance(error, OSError):
        source = None if error.filename is None else one_line(str(error.filename))
        what = f"the operating system refused: {error.strerror or error}"
        return StorageError(what, source=source)
    if isinstance(error, RuntimeError) and str(error).startswith("Symlink loop"):  # of pathlib
        return UsageError(one_line(str(error)), hint="remove the link, which leads to itself")
    return DeltaMemError(
        f"a defect of this program: {type(error).__name__}: {one_line(str(error), 200)}",
        hint="the same command with --debug shows where; please report it",
    )
