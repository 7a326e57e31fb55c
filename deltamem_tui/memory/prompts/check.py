"""Checking prompts before a model is asked: what would fail at run time, or go unnoticed there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.llm.answers import ITEMS
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.library import NAME, SUFFIX, Prompt, file_error
from deltamem_tui.memory.prompts.use import HEADER, MAY_SKIP, PromptUse
from deltamem_tui.text import one_line

Uses = Mapping[str, PromptUse]
"""Every prompt that something asks for, with what it is used for: see `method.prompt_uses`."""

_SWITCHES = (MAY_SKIP, "failure")


def files(folder: Path) -> list[Path]:
    """Return all prompt files of a folder, those in wrong places too, by name."""
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())


def flaws(
    path: Path, folder: Path, folders: Sequence[Path], uses: Uses
) -> list[ConfigurationError]:
    """Return what is wrong with a prompt file."""
    if path.parent.parent != folder or not NAME.fullmatch(path.parent.name):
        wanted = f"DOMAIN/NAME{SUFFIX} is"
        return [file_error(path, f"is in a place where no prompt is looked for: {wanted}")]
    try:
        if path.stem.startswith("_"):
            given = set().union(*(use.inputs for use in uses.values()))
            return list(_unknown(path, path, given))
        if path.stem not in uses:
            return [_misnamed(path, uses)]
        use = uses[path.stem]
        prompt = prompts.load(path, use)
        if prompt.name == HEADER:
            is_plain = not any(mark in prompt.body for mark in ("{{", "{%"))
            message = "the header is shown as it stands, not filled in"
            return [] if is_plain else [file_error(path, message)]
        return list(_template_flaws(prompt, use, folders)) or list(_trial_flaws(prompt, folders))
    except ConfigurationError as error:  # nothing further can be checked then
        return [error]


def require_known_names(folder: Path, uses: Uses) -> None:
    """See that something asks for each prompt of a folder, before others are paid for instead.

    Raises:
        ConfigurationError: Nothing asks for one; names the one that was probably meant.
    """
    for path in files(folder):
        if path.parent.parent == folder and path.stem not in uses and path.stem[0] != "_":
            raise _misnamed(path, uses)


def _misnamed(path: Path, uses: Uses) -> ConfigurationError:
    near = get_close_matches(path.stem, uses, n=1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(uses)}"
    return file_error(path, f"nothing asks for a prompt {one_line(path.stem, 60)!r}; {meant}")


def _template_flaws(
    prompt: Prompt, use: PromptUse, folders: Sequence[Path]
) -> Iterator[ConfigurationError]:
    given = ", ".join(sorted(use.inputs))
    for name in sorted(set(prompt.inputs) - use.inputs):
        message = f"nothing gives it {one_line(name, 60)!r}; its inputs may be {given}"
        yield file_error(prompt.path, message)
    used: set[str] = set()
    for path in prompts.sources(prompt, folders):
        used |= _names(path)
        yield from _unknown(prompt.path, path, prompt.inputs)
    for name in sorted(use.inputs & set(prompt.inputs) - used):
        yield file_error(prompt.path, f"has the input {name!r} and does not use it")


def _names(path: Path) -> set[str]:
    """Return the names that a file's template needs to be given."""
    from jinja2 import meta

    return meta.find_undeclared_variables(prompts.parsed(path))


def _unknown(of: Path, path: Path, inputs: Iterable[str]) -> Iterator[ConfigurationError]:
    where = "" if of == path else f"includes {path.name}, which "
    for name in sorted(_names(path) - set(inputs)):
        known = ", ".join(sorted(inputs)) or "none"
        yield file_error(of, f"{where}uses {name}; its inputs are {known}")


def _trial_flaws(prompt: Prompt, folders: Sequence[Path]) -> Iterator[ConfigurationError]:
    """Yield what shows only when the prompt is filled in, each way that it can be."""
    values: dict[str, object] = {name: f"<{name}>" for name in prompt.inputs}
    for switches in product((True, False), repeat=len(_SWITCHES)):
        values |= {"words": prompt.output, **dict(zip(_SWITCHES, switches, strict=True))}
        text = prompts.render(prompt, values, folders)
        for field in (*prompt.output, *([ITEMS] if prompt.items else [])):
            if field not in text:
                yield file_error(prompt.path, f"does not ask for {field!r} of its output")
                return
    # A consolidation asks for its markers only where it fuses failures.
    written = "\n".join(prompts.split(path)[1] for path in prompts.sources(prompt, folders))
    for marker in prompt.markers:
        if marker not in written:
            yield file_error(prompt.path, f"does not ask for its marker {marker!r}")
