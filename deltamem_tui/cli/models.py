"""Language models on the command line: chosen, and their kept answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import ModelOptions, option
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deltamem_tui.llm.cache import BatchCaller, CacheInfo
    from deltamem_tui.llm.client import Client
    from deltamem_tui.llm.cost import Budget
    from deltamem_tui.memory.rules_extractor import RulesExtractor
    from deltamem_tui.memory.writers.model import ModelExtractor


def model_client(
    invocation: Invocation,
    wanted: ModelOptions,
    batch: BatchCaller | None = None,
    budget: Budget | None = None,
) -> Client:
    """Return the client for the model that was named, here or in the settings. No call is made."""
    from deltamem_tui.llm.client import open_client

    return open_client(
        chosen_model(invocation, wanted.model),
        notify=invocation.output.note,
        address=wanted.api_base,
        timeout=wanted.timeout,
        max_cost=wanted.max_cost,
        cached=not wanted.no_cache,
        asks=not wanted.dry_run,
        batch=batch,
        budget=budget,
    )


def chosen_model(
    invocation: Invocation,
    wanted: str | None,
    hint: str = "`--model NAME` as litellm knows it, or `model = …` in deltamem.toml",
) -> str:
    """Return the name of the model that was asked for, here or in the settings."""
    chosen = invocation.settings(model=wanted).model
    if not chosen or not chosen.strip():
        raise UsageError("no model was named", hint=hint)
    return chosen


def extractor_for(
    invocation: Invocation,
    domain: str,
    methods: Sequence[str],
    extractor: str | None,
    wanted: ModelOptions,
    batch: BatchCaller | None = None,
    budget: Budget | None = None,
) -> RulesExtractor | ModelExtractor:
    """Return the extractor that was asked for, checked as far as no call is needed."""
    if extractor is not None:
        return _rules(extractor, wanted)
    hint = "`--model NAME` as litellm knows it, or `--extractor rules`, which needs none"
    chosen_model(invocation, wanted.model, hint)
    from deltamem_tui.memory.methods import method_named
    from deltamem_tui.memory.writers.model import ModelExtractor

    folders = checked_prompts(invocation, wanted.prompts)
    client = model_client(invocation, wanted, batch, budget)
    made = ModelExtractor(client, domain, folders, method=methods[0])
    for method in methods:
        made.of_method(method_named(method)).check()
    return made


def _rules(name: str, wanted: ModelOptions) -> RulesExtractor:
    if name != "rules":
        raise UsageError(
            f"no extractor {one_line(name, 40)!r}", hint="`--extractor rules` needs no model"
        )
    if wanted != ModelOptions(dry_run=wanted.dry_run):
        raise UsageError(
            "options of a model do not go with `--extractor rules`",
            hint="the rules ask no model; choose one of the two",
        )
    from deltamem_tui.memory.rules_extractor import RulesExtractor

    return RulesExtractor()


def checked_prompts(invocation: Invocation, prompts: str | None) -> tuple[Path, ...]:
    """Return where prompts are looked up; the names of the user's are checked."""
    from deltamem_tui.memory.methods import prompt_uses
    from deltamem_tui.memory.prompts.check import require_known_names

    settings = invocation.settings(prompts=prompts)
    folders = settings.prompt_folders()
    if settings.prompts is not None:
        require_known_names(settings.prompts, prompt_uses())
    return folders


Older = Annotated[
    float | None, option("--older", "DAYS", "Only answers older than so many days.", min=0.0)
]


def cache(
    context: typer.Context,  # noqa: ARG001 - a command's first parameter
    older: Older = None,
) -> Result:
    """Show how much room the kept answers of models take.

    Every answer that was paid for is kept, so that the same question costs nothing the next
    time. Banks do not need them: what was learnt from them stays.
    """
    from deltamem_tui.llm.cache import ResponseCache

    held = ResponseCache().info(_before(older))
    return _cache_result(held, "info", [] if held.answers else ["no such answer is kept"])


def clear(context: typer.Context, older: Older = None, yes: options.Sure = False) -> Result:
    """Remove the kept answers of models, or the older ones."""
    from deltamem_tui.llm.cache import ResponseCache

    answers, before = ResponseCache(), _before(older)
    held = answers.info(before)
    if held.answers and not yes:
        question = f"remove {held.answers:,} answers ({held.bytes:,} bytes)?"
        Invocation.of(context).confirm(question)
    removed = answers.clear(before)
    note = f"removed {removed.answers} answers" if removed.answers else "nothing to remove"
    return _cache_result(removed, "clear", [note])


def _before(older: float | None) -> float | None:
    return None if older is None else time.time() - older * 86_400.0


def _cache_result(info: CacheInfo, action: str, notes: list[str]) -> Result:
    models = {name or "unreadable": held for name, held in info.models.items()}
    sizes = {"answers": info.answers, "bytes": info.bytes}
    data = {"action": action, "folder": info.folder, **sizes, "models": models}

    def view(page: Page) -> None:
        page.facts({"folder": str(info.folder), **sizes})
        if models:
            page.table(("model", "answers"), list(models.items()))

    return Result("cache", data, view=view, notes=notes)
