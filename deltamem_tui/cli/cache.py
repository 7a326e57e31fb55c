"""`deltamem cache`: the kept answers of models."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from deltamem_tui.llm.cache import CacheInfo

Action = Annotated[
    str,
    typer.Argument(metavar="[info|clear]", help="Show what is kept, or remove it."),
]
OfModel = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Only the answers of this model.")
]
Older = Annotated[
    float | None,
    typer.Option("--older", metavar="DAYS", min=0.0, help="Only answers older than so many days."),
]
Yes = Annotated[bool, typer.Option("--yes", help="clear: do not ask first.")]

_DAY = 86_400.0


def run(
    context: typer.Context,
    action: Action = "info",
    model: OfModel = None,
    older: Older = None,
    yes: Yes = False,
) -> Result:
    """Show how much room the kept answers of models take, or remove some.

    Every answer that was paid for is kept, so that the same question costs nothing the next
    time. Banks do not need them: what was learnt from them stays.
    """
    from deltamem_tui.llm.cache import ResponseCache

    if action not in {"info", "clear"}:
        raise UsageError(f"no {one_line(action, 40)!r} here", hint="info or clear")
    cache = ResponseCache()
    before = None if older is None else time.time() - older * _DAY
    held = cache.info(model, before)
    if action == "info":
        return _result(held, {"action": "info"}, [] if held.answers else ["no such answer is kept"])
    anything = held.answers or held.drafts.answers
    if anything and not yes:
        question = f"remove {held.answers:,} answers ({held.bytes:,} bytes)?"
        Invocation.of(context).confirm(question)
    removed = cache.clear(model, before) if anything else held
    notes = [f"removed {removed.answers} answers" if anything else "nothing to remove"]
    return _result(removed, {"action": "clear"}, notes)


def _result(info: CacheInfo, data: dict[str, Any], notes: list[str]) -> Result:
    data |= {
        "folder": info.folder,
        "answers": info.answers,
        "bytes": info.bytes,
        "drafts": {"files": info.drafts.answers, "bytes": info.drafts.bytes},
        "models": {name or "unreadable": held for name, held in info.models.items()},
    }

    def view(page: Page) -> None:
        page.facts({"folder": str(info.folder), "answers": info.answers, "bytes": info.bytes})
        if info.drafts.answers:
            page.facts({"unfinished files": info.drafts.answers, "their bytes": info.drafts.bytes})
        if info.models:
            page.table(
                ("model", "answers", "bytes"),
                [
                    (name or "unreadable", each.answers, each.bytes)
                    for name, each in info.models.items()
                ],
            )

    return Result("cache", data, view=view, notes=notes)
