"""Language models on the command line: chosen, their kept answers, and their prompts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from deltamem_tui import paths
from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.options import ModelOptions, argument, flag
from deltamem_tui.cli.result import Result, facts, table
from deltamem_tui.errors import ConfigurationError, DeltaMemError, UsageError
from deltamem_tui.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltamem_tui.config import Configuration
    from deltamem_tui.llm.cache import BatchCaller
    from deltamem_tui.llm.client import Client
    from deltamem_tui.llm.cost import Budget
    from deltamem_tui.memory.method import RulesExtractor
    from deltamem_tui.memory.writers.model import ModelExtractor


def model_client(
    invocation: Invocation,
    wanted: ModelOptions,
    batch: BatchCaller | None = None,
    budget: Budget | None = None,
) -> Client:
    """Return the client for the model that was named, here or in the settings. No call is made."""
    from deltamem_tui.llm.client import open_client

    settings = model_settings(invocation, wanted)
    return open_client(
        chosen_model(invocation, wanted.model),
        stated=settings.stated(),
        notify=invocation.output.note,
        address=settings.api_base,
        timeout=wanted.timeout,
        max_cost=wanted.max_cost,
        cached=not wanted.no_cache,
        asks=not wanted.dry_run,
        batch=batch,
        budget=budget,
    )


def model_settings(invocation: Invocation, wanted: ModelOptions) -> Configuration:
    """Return the settings, with what is said of the model here."""
    names = ("model", "api_base", "window", "answer_tokens", "price")
    return invocation.settings(**{name: getattr(wanted, name) for name in names})


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
    from deltamem_tui.memory.method import RulesExtractor, method_named

    if extractor not in (None, "rules"):
        what = f"no extractor {one_line(extractor, 40)!r}"
        raise UsageError(what, hint="`--extractor rules` needs no model")
    if extractor and wanted != ModelOptions(dry_run=wanted.dry_run):
        raise UsageError(
            "options of a model do not go with `--extractor rules`",
            hint="the rules ask no model; choose one of the two",
        )
    if extractor:
        return RulesExtractor()
    hint = "`--model NAME` as litellm knows it, or `--extractor rules`, which needs none"
    chosen_model(invocation, wanted.model, hint)
    from deltamem_tui.memory.writers.model import ModelExtractor

    folders = checked_prompts(invocation, wanted.prompts)
    client = model_client(invocation, wanted, batch, budget)
    made = ModelExtractor(client, domain, folders, method=methods[0])
    for method in methods:
        made.of_method(method_named(method)).check()
    return made


def checked_prompts(invocation: Invocation, prompts: str | None) -> tuple[Path, ...]:
    """Return where prompts are looked up; the names of the user's are checked."""
    from deltamem_tui.memory.method import prompt_uses
    from deltamem_tui.memory.prompts.library import require_known_names

    settings = invocation.settings(prompts=prompts)
    folders = settings.prompt_folders()
    if settings.prompts is not None:
        require_known_names(settings.prompts, prompt_uses())
    return folders


def cache() -> Result:
    """Show where stored model answers are, and how much space they take.

    Every answer that was paid for is kept, so that the same question costs nothing the next
    time. Banks do not need them: remove the folder when it grows too large.
    """
    from deltamem_tui.llm.cache import ResponseCache

    kept = ResponseCache()
    answers, size = kept.size()
    data = {"folder": str(kept.folder), "answers": answers, "bytes": size}
    notes = [] if answers else ["no answer is kept"]
    return Result("cache", {"action": "info", **data}, view=facts(data), notes=notes)


def prompts(
    invocation: Invocation, domain: options.Domain = None, prompts: options.Prompts = None
) -> Result:
    """List the prompts that models are asked with, and where each comes from.

    A prompt is a file DOMAIN/NAME.md. One in the folder that --prompts or the setting
    `prompts` names comes first, then one in your own folder of prompts, then the shipped one; a
    domain without its own takes the generic one. Only the files that you changed are needed.
    """
    from deltamem_tui.memory.prompts import library
    from deltamem_tui.trajectory.model import GENERIC, domain_key

    folders = invocation.settings(prompts=prompts).prompt_folders()
    records: list[dict[str, Any]] = []
    errors: list[ConfigurationError] = []
    for where, name in library.listing(folders):
        if domain is not None and domain_key(where) not in (domain_key(domain), GENERIC):
            continue
        try:
            found = library.find(where, name, folders)
        except ConfigurationError as error:
            errors.append(error)
            continue
        records.append(
            {
                "domain": where,
                "prompt": name,
                "file": f"{found.path.parent.name}/{found.path.name}",
                "purpose": found.purpose,
                "digest": found.digest,
                "from": _origin(found.path),
                "path": found.path,
            }
        )
    status = Result.verdict(len(records), errors)
    view = table(("domain", "prompt", "file", "purpose", "digest", "from"), records)
    return Result("prompts", {"prompts": records}, tuple(errors), status, view=view)


def _origin(path: Path) -> str:
    """Return where a prompt file comes from: `shipped`, or the folder that it is in."""
    folder = path.parent.parent
    if folder.resolve() == paths.shipped_folder("prompts").resolve():
        return "shipped"
    return one_line(str(folder))


def prompt(
    invocation: Invocation,
    name: Annotated[str, argument("NAME", "A prompt's name.")],
    domain: options.Domain = None,
    prompts: options.Prompts = None,
) -> Result:
    """Show a prompt, and where it comes from."""
    from deltamem_tui.memory.prompts import library

    folders = invocation.settings(prompts=prompts).prompt_folders()
    found = library.find(domain or "generic", name, folders)
    text = library.file_text(found.path)
    data = {
        "domain": found.path.parent.name,
        "prompt": name,
        "digest": found.digest,
        "from": _origin(found.path),
        "path": found.path,
        "includes": found.includes,
        "text": text,
    }
    notes = [f"{one_line(str(found.path))}, {found.digest}"]
    if found.includes:
        notes.append(f"includes {', '.join(one_line(str(path)) for path in found.includes)}")
    return Result("prompts", data, view=lambda page: page.text(text.rstrip("\n")), notes=notes)


def check(
    invocation: Invocation,
    folder: Annotated[Path | None, argument("DIR", "Only this folder; all if not given.")] = None,
) -> Result:
    """Check the prompt files of a folder, or all in use."""
    from deltamem_tui.memory.method import prompt_uses
    from deltamem_tui.memory.prompts.library import files, flaws

    folders = invocation.configuration.prompt_folders()
    if folder is not None:
        if not folder.is_dir():
            raise UsageError("there is no such folder", source=one_line(str(folder)))
        folders = (folder, *(each for each in folders if each.resolve() != folder.resolve()))
    looked = [folder] if folder else {each.resolve(): each for each in folders[::-1]}.values()
    uses = prompt_uses()
    found = {path: flaws(path, each, folders, uses) for each in looked for path in files(each)}
    # A flaw is what was looked for, not a wrong call, which has an exit code of its own.
    errors = tuple(
        DeltaMemError(flaw.message, source=flaw.source, position=flaw.position, hint=flaw.hint)
        for each in found.values()
        for flaw in each
    )
    sound = sum(not each for each in found.values())
    data = {"checked": len(found), "sound": sound, "files": list(found)}
    notes = [f"{sound} of {len(found)} files are sound"]
    if not found:
        notes = ["no prompt files here: they are called DOMAIN/NAME.md"]
    return Result("prompts", data, errors, Result.verdict(sound, errors), notes=notes)


def export(
    folder: Annotated[Path, argument("DIR", "Where the files go.")],
    replace: Annotated[bool, flag("--replace", "Write over files that differ.")] = False,
) -> Result:
    """Copy the shipped prompts into a folder for you to edit."""
    from deltamem_tui.memory.prompts.library import export

    folder = paths.expanded(folder)
    shipped = paths.shipped_folder("prompts")
    written, same = export(shipped, folder, replace=replace)
    already = f"; {len(same)} were there already" if same else ""
    how = (
        f"they count with `--prompts {one_line(str(folder))}`, or `prompts = …` in deltamem.toml; "
        "delete those that you leave as they are"
    )
    notes = [f"wrote {len(written)} files{already}", how]
    return Result("prompts", {"written": written, "same": same}, notes=notes)
