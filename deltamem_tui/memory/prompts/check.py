"""Checking prompts before a model is asked: every flaw of every file, each at its line.

A flaw is what would fail at run time, or go unnoticed there: a misspelt name that no part of
the program asks for, an input that is not given or not used, a field of the answer that the
text never mentions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from pathlib import Path

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.llm.answers import ITEMS
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.file import (
    NAME,
    SUFFIX,
    Prompt,
    file_error,
    front_matter,
    load,
    matter_flaws,
    matter_line,
    template,
    use_flaws,
)
from deltamem_tui.memory.prompts.use import HEADER, MAY_SKIP, PromptUse
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.domains import GENERIC

Uses = Mapping[str, PromptUse]
"""Every prompt that something asks for, with what it is used for: see `methods.prompt_uses`."""

_SWITCHES = (MAY_SKIP, "failure")


def files(folder: Path) -> list[Path]:
    """Return all prompt files of a folder, those in wrong places too, by name."""
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())


def flaws(
    path: Path, folder: Path, folders: Sequence[Path], uses: Uses
) -> list[ConfigurationError]:
    """Everything that is wrong with a prompt file, or nothing."""
    if path.parent.parent != folder or not NAME.fullmatch(path.parent.name):
        return [_misplaced(path)]
    try:
        if path.stem.startswith("_"):
            return list(_fragment_flaws(path, folders))
        matter = front_matter(path)
        use = uses.get(path.stem)
        found = [*matter_flaws(path, matter), *_name_flaws(path, uses)]
        found += use_flaws(path, matter, use) if use else []
        if found or use is None:
            return found
        prompt = load(path)
        if prompt.name == HEADER:
            return list(_header_flaws(prompt))
        found = list(_template_flaws(prompt, use, folder, folders))
        return found or list(_trial_flaws(prompt, folders))
    except ConfigurationError as error:  # nothing further can be checked then
        return [error]


def require_known_names(folder: Path, uses: Uses) -> None:
    """See that something asks for each prompt of a folder, before others are paid for instead.

    Raises:
        ConfigurationError: Nothing asks for one; names the one that was probably meant.
    """
    for path in files(folder):
        if path.parent.parent == folder and not path.stem.startswith("_"):
            for flaw in _name_flaws(path, uses):
                raise flaw


def _misplaced(path: Path) -> ConfigurationError:
    return file_error(path, f"is in a place where no prompt is looked for: DOMAIN/NAME{SUFFIX} is")


def _name_flaws(path: Path, uses: Uses) -> Iterator[ConfigurationError]:
    if path.stem in uses:
        return
    near = get_close_matches(path.stem, uses, n=1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(uses)}"
    yield file_error(path, f"nothing asks for a prompt {one_line(path.stem, 60)!r}; {meant}")


def _fragment_flaws(path: Path, folders: Sequence[Path]) -> Iterator[ConfigurationError]:
    """Yield what a fragment needs must be among the inputs of all prompts that include it."""
    used = prompts.names_used(path)
    includers = list(_includers(path, folders))
    if not includers:
        yield file_error(path, "no prompt includes it")
    for name, line in used.items():
        lacking = [prompt for prompt in includers if name not in prompt.inputs]
        if lacking:
            first = f"{lacking[0].domain}/{lacking[0].name}"
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            message = f"uses {name}, which is not among the inputs of {first}{more}"
            yield file_error(path, message, line)


def _includers(path: Path, folders: Sequence[Path]) -> Iterator[Prompt]:
    """Yield the prompts that a fragment becomes a part of, those that a domain shares included."""
    listed = prompts.listing(folders)
    domain = path.parent.name
    domains = {where for where, _ in listed} if domain == GENERIC else {domain}
    for where, name in product(sorted(domains), sorted({name for _, name in listed})):
        try:
            prompt = prompts.find(where, name, folders)
            if path in prompts.sources(prompt, folders):
                yield prompt
        except ConfigurationError:
            continue  # reported where that prompt is checked


def _header_flaws(prompt: Prompt) -> Iterator[ConfigurationError]:
    for number, line in enumerate(template(prompt.path).split("\n")):
        if "{{" in line or "{%" in line:
            above = prompts.lines_above(prompt.path)
            yield file_error(
                prompt.path, "the header is shown as it stands, not filled in", above + number + 1
            )


def _template_flaws(
    prompt: Prompt, use: PromptUse, folder: Path, folders: Sequence[Path]
) -> Iterator[ConfigurationError]:
    line = matter_line(prompt.path, "inputs")
    for name in sorted(set(prompt.inputs) - use.inputs):
        given = ", ".join(sorted(use.inputs))
        message = f"nothing gives it {one_line(name, 60)!r}; its inputs may be {given}"
        yield file_error(prompt.path, message, line)
    used: set[str] = set()
    for path in prompts.sources(prompt, folders):
        names = prompts.names_used(path)
        used |= names.keys()
        yield from _undefined(prompt, path, names, folder)
    for name in sorted(use.inputs & set(prompt.inputs) - used):
        yield file_error(prompt.path, f"has the input {name!r} and does not use it", line)


def _undefined(
    prompt: Prompt, path: Path, names: Mapping[str, int], folder: Path
) -> Iterator[ConfigurationError]:
    """Yield the names that the prompt, or a fragment of another folder in it, is not given."""
    if path != prompt.path and path.is_relative_to(folder):
        return  # reported where that fragment is checked
    inputs = ", ".join(prompt.inputs) or "none"
    for name, line in names.items():
        if name not in prompt.inputs:
            what, at = f"uses {name}", line
            if path != prompt.path:
                what, at = f"includes {path.name}, which uses {name}", 1
            yield file_error(prompt.path, f"{what}; its inputs are {inputs}", at)


def _trial_flaws(prompt: Prompt, folders: Sequence[Path]) -> Iterator[ConfigurationError]:
    """Yield what shows only when the prompt is filled in, each way that it can be."""
    values: dict[str, object] = {name: f"<{name}>" for name in prompt.inputs}
    for switches in product((True, False), repeat=len(_SWITCHES)):
        values |= {"words": prompt.output, **dict(zip(_SWITCHES, switches, strict=True))}
        text = prompts.render(prompt, values, folders)
        for field in (*prompt.output, *([ITEMS] if prompt.items else [])):
            if field not in text:
                line = matter_line(prompt.path, "output")
                yield file_error(prompt.path, f"does not ask for {field!r} of its output", line)
                return
    # A consolidation asks for its markers only where it fuses failures.
    written = "\n".join(template(path) for path in prompts.sources(prompt, folders))
    for marker in prompt.markers:
        if marker not in written:
            line = matter_line(prompt.path, "markers")
            yield file_error(prompt.path, f"does not ask for its marker {marker!r}", line)
