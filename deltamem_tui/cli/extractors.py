"""The extractor that the command line asks for: the rules or a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.model_client import model_client
from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.writers.model import ModelExtractor
    from deltamem_tui.memory.writers.rules import RulesExtractor


@dataclass(frozen=True, slots=True)
class ExtractorOptions:
    """The options that choose an extractor.

    Attributes:
        extractor: The value of `--extractor`.
        model: The value of `--model`; the settings may name one too.
        api_base: The address of a server other than the provider's own.
        max_cost: US dollars that are never passed.
        no_cache: Whether to neither look up nor keep answers.
        prompts: A folder whose prompts come first.
        dry_run: Whether nothing may be sent.
        timeout: Seconds to wait for each answer.
    """

    extractor: str | None
    model: str | None
    api_base: str | None
    max_cost: float | None
    no_cache: bool
    prompts: str | None
    dry_run: bool
    timeout: float | None


def chosen_extractor(
    invocation: Invocation, bank: Bank, wanted: ExtractorOptions
) -> RulesExtractor | ModelExtractor:
    """The extractor that was asked for, checked as far as that is possible without a call.

    Raises:
        UsageError: None was named, two were, or there is none of this name.
        ConfigurationError: A prompt cannot be used.
        LanguageModelError: The model's name, its key or its price is missing.
    """
    if wanted.extractor is not None:
        return _rules(wanted)
    if not invocation.settings(model=wanted.model).model:
        raise UsageError(
            "no model was named",
            hint="`--model NAME` as litellm knows it, or `--extractor rules`, which needs none",
        )
    from deltamem_tui.memory.writers.model import ModelExtractor

    folders = checked_prompts(invocation, wanted.prompts)
    client = model_client(
        invocation,
        wanted.model,
        api_base=wanted.api_base,
        max_cost=wanted.max_cost,
        no_cache=wanted.no_cache,
        dry_run=wanted.dry_run,
        timeout=wanted.timeout,
    )
    extractor = ModelExtractor(client, bank.manifest.domain, folders, method=bank.manifest.method)
    extractor.check()
    return extractor


def checked_prompts(invocation: Invocation, prompts: str | None) -> tuple[Path, ...]:
    """Where prompts are looked up; the names of the user's are checked.

    Raises:
        ConfigurationError: The user's folder is not there, or nothing asks for one of its files.
    """
    from deltamem_tui.memory.prompts.check import require_known_names

    settings = invocation.settings(prompts=prompts)
    folders = settings.prompt_folders()
    if settings.prompts is not None:
        require_known_names(settings.prompts)
    return folders


def _rules(wanted: ExtractorOptions) -> RulesExtractor:
    name = wanted.extractor or ""
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
    from deltamem_tui.memory.writers.rules import RulesExtractor

    return RulesExtractor()
