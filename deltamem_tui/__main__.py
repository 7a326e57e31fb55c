"""The program `deltamem`, and `python -m deltamem_tui`: here the two faces meet.

With a terminal, or a page in a web browser, no command and `browse` open the browser;
everything else, and everything without either, is the command line's.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from deltamem_tui.cli.invocation import SharedOptions


_HOOK_HELP = """\
Usage: deltamem hook AGENT EVENT --bank BANK [--budget N] [--learn rules|USD] < EVENT.json

Agents call it at a prompt, a failed tool, a start and an end: `deltamem agent install` writes it
into their settings. Whatever fails is a line in hook.log, which `deltamem agent status` names.
"""


def browser_request(arguments: Sequence[str]) -> tuple[SharedOptions, str | None] | None:
    """Return the options and the bank named, if any, of a call that opens the browser."""
    from deltamem_tui.cli.invocation import SharedOptions

    options, rest = SharedOptions.take(arguments)
    if options.json or options.version or any(word.startswith("-") for word in rest):
        return None
    if rest and (rest[0] != "browse" or len(rest) > 2):
        return None
    return options, rest[1] if len(rest) == 2 else None


def main() -> NoReturn:
    """Run the program on the process's arguments, and exit."""
    # numpy's products are small here: a second thread of its own would only wait for the first.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"]:  # every prompt of an agent waits for it: nothing else is loaded
        os._exit(_hook(arguments[1:]))
    request = browser_request(arguments)
    # A driver of textual's stands for a page in a web browser.
    is_drawn = "TEXTUAL_DRIVER" in os.environ or (sys.stdin.isatty() and sys.stdout.isatty())
    if request and is_drawn:
        code = _browse(*request)
    else:
        from deltamem_tui.cli import app

        code = app.run(arguments)
    # Python would look through all that there is for cycles once more, a second for a model.
    gc.freeze()
    background = sys.modules.get("deltamem_tui.tui.core.background")
    if background is not None and background.still_running():
        # The browser was left; neither the terminal nor Python's thread pools wait for its work.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _hook(arguments: list[str]) -> int:
    from deltamem_tui.agents.asking import quick_answer

    if "--help" in arguments:
        sys.stdout.write(_HOOK_HELP)
        sys.stdout.flush()
        return 0
    answer, told = quick_answer(arguments)
    if answer is None:
        from deltamem_tui.agents.hooks import run

        return run(arguments, told)
    sys.stdout.write(answer)
    sys.stdout.flush()
    return 0


def _browse(options: SharedOptions, name: str | None) -> int:
    from deltamem_tui.cli.invocation import Invocation
    from deltamem_tui.cli.output import Output
    from deltamem_tui.cli.result import Result

    output = Output(debug=options.debug)
    invocation = Invocation(options, output)
    try:
        bank = None if name is None else invocation.bank(name)
        folder, configuration = invocation.banks_folder, invocation.configuration

        from deltamem_tui.tui.app import run

        run(folder, bank, configuration, output.note)
    except Exception as error:  # noqa: BLE001 -- no traceback reaches a user
        from deltamem_tui.cli.app import for_people

        output.trace(error)
        return output.publish(Result.failed("browse", for_people(error)))
    return 0


if __name__ == "__main__":
    main()
