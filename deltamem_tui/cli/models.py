"""Language models on the command line: chosen, and their kept answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.llm.cache import BatchCaller, CacheInfo
    from deltamem_tui.llm.client import Client
    from deltamem_tui.llm.cost import Budget
    from deltamem_tui.memory.rules_extractor import RulesExtractor
    from deltamem_tui.memory.writers.model import ModelExtractor


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options of all commands that ask a model, as `options` declares them."""

    model: str | None
    api_base: str | None
    max_cost: float | None
    no_cache: bool
    prompts: str | None
    dry_run: bool
    timeout: float | None
    batch: BatchCaller | None = None
    budget: Budget | None = None


def model_client(invocation: Invocation, wanted: ModelOptions) -> Client:
    """Return the client for the model that was named, here or in the settings. No call is made.

    Raises:
        UsageError: No model is named, or the address is not one.
        BudgetError: A limit on cost is set, and the model's price is not known.
        ModelNotFoundError: No provider has this name.
        CredentialsError: The environment holds no key for the provider.
    """
    from deltamem_tui.llm.client import open_client

    return open_client(
        chosen_model(invocation, wanted.model),
        notify=invocation.output.note,
        address=wanted.api_base,
        timeout=wanted.timeout,
        max_cost=wanted.max_cost,
        cached=not wanted.no_cache,
        asks=not wanted.dry_run,
        batch=wanted.batch,
        budget=wanted.budget,
    )


def chosen_model(invocation: Invocation, wanted: str | None) -> str:
    """Return the name of the model that was asked for, here or in the settings.

    Raises:
        UsageError: None is named.
    """
    chosen = invocation.settings(model=wanted).model
    if not chosen or not chosen.strip():
        raise UsageError(
            "no model was named",
            hint="`--model NAME` as litellm knows it, or `model = …` in deltamem.toml",
        )
    return chosen


def chosen_extractor(
    invocation: Invocation, bank: Bank, extractor: str | None, wanted: ModelOptions
) -> RulesExtractor | ModelExtractor:
    """Return the extractor that was asked for, checked as far as that is possible without a call.

    Raises:
        UsageError: None was named, two were, or there is none of this name.
        ConfigurationError: A prompt cannot be used.
        LanguageModelError: The model's name, its key or its price is missing.
    """
    manifest = bank.manifest
    return extractor_for(invocation, manifest.domain, [manifest.method], extractor, wanted)


def extractor_for(
    invocation: Invocation,
    domain: str,
    methods: Sequence[str],
    extractor: str | None,
    wanted: ModelOptions,
) -> RulesExtractor | ModelExtractor:
    """Return the same for banks of a domain and of some methods; see `chosen_extractor`."""
    if extractor is not None:
        return _rules(extractor, wanted)
    if not invocation.settings(model=wanted.model).model:
        raise UsageError(
            "no model was named",
            hint="`--model NAME` as litellm knows it, or `--extractor rules`, which needs none",
        )
    from deltamem_tui.memory.methods import method_named
    from deltamem_tui.memory.writers.model import ModelExtractor

    folders = checked_prompts(invocation, wanted.prompts)
    client = model_client(invocation, wanted)
    made = ModelExtractor(client, domain, folders, method=methods[0])
    for method in methods:
        made.of_method(method_named(method)).check()
    return made


def checked_prompts(invocation: Invocation, prompts: str | None) -> tuple[Path, ...]:
    """Return where prompts are looked up; the names of the user's are checked.

    Raises:
        ConfigurationError: The user's folder is not there, or nothing asks for one of its files.
    """
    from deltamem_tui.memory.methods import prompt_uses
    from deltamem_tui.memory.prompts.check import require_known_names

    settings = invocation.settings(prompts=prompts)
    folders = settings.prompt_folders()
    if settings.prompts is not None:
        require_known_names(settings.prompts, prompt_uses())
    return folders


def writer_key(invocation: Invocation, wanted: ModelOptions, extractor: str | None) -> str:
    """Return what tells the writer from others: the rules, or a model and all prompts it may be
    given.
    """
    import hashlib

    if extractor is not None:
        return extractor
    digest = hashlib.sha256()
    for folder in checked_prompts(invocation, wanted.prompts):
        for path in sorted(folder.glob("*/*.md")):
            digest.update(path.read_bytes())
    return f"{invocation.settings(model=wanted.model).model} {digest.hexdigest()}"


def _rules(name: str, wanted: ModelOptions) -> RulesExtractor:
    if name != "rules":
        raise UsageError(
            f"no extractor {one_line(name, 40)!r}", hint="`--extractor rules` needs no model"
        )
    of_models = {
        "--model": wanted.model,
        "--api-base": wanted.api_base,
        "--max-cost": wanted.max_cost,
        "--no-cache": wanted.no_cache or None,
        "--prompts": wanted.prompts,
        "--timeout": wanted.timeout,
    }
    for option, value in of_models.items():
        if value is not None:
            raise UsageError(
                f"`{option}` does not go with `--extractor rules`",
                hint="the rules ask no model; choose one of the two",
            )
    from deltamem_tui.memory.rules_extractor import RulesExtractor

    return RulesExtractor()


CacheAction = Annotated[
    str,
    typer.Argument(metavar="[info|clear]", help="Show what is kept, or remove it."),
]
Older = Annotated[
    float | None,
    typer.Option("--older", metavar="DAYS", min=0.0, help="Only answers older than so many days."),
]
Yes = Annotated[bool, typer.Option("--yes", help="clear: do not ask first.")]

_DAY = 86_400.0


def cache(
    context: typer.Context,
    action: CacheAction = "info",
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
    held = cache.info(before)
    if action == "info":
        return _cache_result(
            held, {"action": "info"}, [] if held.answers else ["no such answer is kept"]
        )
    if held.answers and not yes:
        question = f"remove {held.answers:,} answers ({held.bytes:,} bytes)?"
        Invocation.of(context).confirm(question)
    removed = cache.clear(before)
    notes = [f"removed {removed.answers} answers" if removed.answers else "nothing to remove"]
    return _cache_result(removed, {"action": "clear"}, notes)


def _cache_result(info: CacheInfo, data: dict[str, Any], notes: list[str]) -> Result:
    data |= {
        "folder": info.folder,
        "answers": info.answers,
        "bytes": info.bytes,
        "models": {name or "unreadable": held for name, held in info.models.items()},
    }

    def view(page: Page) -> None:
        page.facts({"folder": str(info.folder), "answers": info.answers, "bytes": info.bytes})
        if info.models:
            rows = [(name or "unreadable", answers) for name, answers in info.models.items()]
            page.table(("model", "answers"), rows)

    return Result("cache", data, view=view, notes=notes)
