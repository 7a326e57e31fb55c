"""Prompts: `prompts/<domain>/<name>.md`, found, checked and filled in.

A prompt is a markdown file. Its front matter, TOML between two lines of `+++`, says what it is
for, which inputs it is given, and what the answer must look like; the rest is a Jinja template,
rendered in a sandbox where a name that is not an input is an error, and no loop is endless. A
template may include others by their file name. A domain that lacks a prompt takes the generic
one, and a file in a user's folder comes before the package's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui import paths
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.memory.prompts.file import (
    NAME,
    SUFFIX,
    Prompt,
    file_error,
    file_text,
    load,
    locate,
    template,
)
from deltamem_tui.memory.prompts.use import PromptUse
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.domains import GENERIC

if TYPE_CHECKING:
    import jinja2

    from deltamem_tui.memory.prompts.sandbox import PromptSandbox


def find(
    domain: str, name: str, folders: Sequence[Path] | None = None, use: PromptUse | None = None
) -> Prompt:
    """Return the prompt that a domain uses: its own, else the generic one.

    Looks in `paths.prompt_folders()` if no folders are given, in the first one first. What the
    file asks for is held against its `use`, if that is given.

    Raises:
        ConfigurationError: There is none, or it is not a sound prompt file.
    """
    path = locate(domain, f"{name}{SUFFIX}", _folders(folders))
    if path is None:
        raise _not_found(domain, name, folders)
    return replace(load(path, use), domain=domain or GENERIC)


def listing(folders: Sequence[Path] | None = None) -> list[tuple[str, str]]:
    """Return every prompt as domain and name, sorted; fragments that are only included are left
    out.
    """
    found = {
        (path.parent.name, path.stem)
        for folder in _folders(folders)
        for path in folder.glob(f"*/*{SUFFIX}")
        if NAME.fullmatch(path.parent.name) and NAME.fullmatch(path.stem)
    }
    return sorted(found)


def _not_found(domain: str, name: str, folders: Sequence[Path] | None) -> ConfigurationError:
    from difflib import get_close_matches

    known = sorted({each for _, each in listing(folders)})
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return ConfigurationError(
        f"there is no prompt {one_line(name, 60)!r}",
        source=one_line(domain, 60) or GENERIC,
        hint=f"{hint}`deltamem prompts list` names all" if known else "reinstall the package",
    )


def digest(prompt: Prompt, folders: Sequence[Path] | None = None) -> str:
    """16 hexadecimal digits that stand for the prompt's files: itself and all it includes."""
    hasher = hashlib.sha256()
    for path in sources(prompt, folders):
        hasher.update(hashlib.sha256(file_text(path).encode()).digest())
    return hasher.hexdigest()[:16]


def render(
    prompt: Prompt, values: Mapping[str, object], folders: Sequence[Path] | None = None
) -> str:
    """Fill a prompt in.

    `values` has one for each of its inputs; others are not passed on.

    Raises:
        ConfigurationError: The template is wrong, or uses a name that is not an input.
    """
    import jinja2

    given = {name: values[name] for name in prompt.inputs if name in values}
    environment = _environment(prompt.domain, _folders(folders))
    try:
        text = environment.fill(prompt.path.name, given)
    except jinja2.TemplateNotFound:
        all(sources(prompt, folders))  # has a better error for a missing include than Jinja
        raise
    except jinja2.TemplateSyntaxError as error:
        raise _syntax(Path(error.filename or prompt.path), error) from error
    except Exception as error:  # whatever an expression of the template can raise
        raise _at_its_line(error, prompt, folders) from error
    return clean(text).strip()


def sources(prompt: Prompt, folders: Sequence[Path] | None = None) -> Iterator[Path]:
    """Yield the prompt's file and those it includes, each once.

    Raises:
        ConfigurationError: An included file is missing, or its name is not written out.
    """
    places = _folders(folders)
    seen: set[Path] = set()
    waiting = [prompt.path]
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        yield path
        for name, line in included(path):
            found = locate(prompt.domain, name, places)
            if found is None:
                what = f"includes {one_line(name, 60)!r}, which is not there"
                raise file_error(path, what, line)
            waiting.append(found)


def _folders(folders: Sequence[Path] | None) -> tuple[Path, ...]:
    return paths.prompt_folders() if folders is None else tuple(folders)


@lru_cache(maxsize=32)
def _environment(domain: str, folders: tuple[Path, ...]) -> PromptSandbox:
    """Return the sandbox of a domain's prompts. It keeps compiled templates until their files
    change.
    """
    from jinja2 import FunctionLoader

    from deltamem_tui.memory.prompts.sandbox import PromptSandbox

    def find_template(file: str) -> tuple[str, str, Callable[[], bool]] | None:
        path = locate(domain, file, folders)
        if path is None:
            return None
        modified = path.stat().st_mtime_ns

        def unchanged() -> bool:
            now = locate(domain, file, folders)
            return now == path and now.stat().st_mtime_ns == modified

        return template(path), str(path), unchanged

    return PromptSandbox(FunctionLoader(find_template))


def names_used(path: Path) -> dict[str, int]:
    """Return the names that a file's template needs to be given, each with the first line that
    does.

    Raises:
        ConfigurationError: It is not a template.
    """
    import jinja2
    from jinja2 import meta

    tree = _parsed(path)
    needed = meta.find_undeclared_variables(tree)
    lines: dict[str, int] = {}
    for node in tree.find_all(jinja2.nodes.Name):
        if node.name in needed:
            lines.setdefault(node.name, node.lineno + lines_above(path))
    return dict.fromkeys(sorted(needed), 1) | lines


def included(path: Path) -> list[tuple[str, int]]:
    """Return the files that a template includes, each with its line.

    Raises:
        ConfigurationError: It is not a template, or a name is not written out.
    """
    return _included(path, path.stat().st_mtime_ns)


@cache
def _included(path: Path, _modified: int) -> list[tuple[str, int]]:
    import jinja2

    found: list[tuple[str, int]] = []
    kinds = (
        jinja2.nodes.Include,
        jinja2.nodes.Extends,
        jinja2.nodes.Import,
        jinja2.nodes.FromImport,
    )
    for node in _parsed(path).find_all(kinds):
        line = node.lineno + lines_above(path)
        named = node.template  # type: ignore[attr-defined]  # the four kinds have one
        name = getattr(named, "value", None)
        if not isinstance(name, str):
            raise file_error(path, "includes a file whose name is not written out", line)
        found.append((name, line))
    return found


def _parsed(path: Path) -> jinja2.nodes.Template:
    import jinja2

    try:
        return _environment(GENERIC, ()).parse(template(path))
    except jinja2.TemplateSyntaxError as error:
        raise _syntax(path, error) from error


def _syntax(path: Path, error: jinja2.TemplateSyntaxError) -> ConfigurationError:
    """Return a syntax error at its line of the file."""
    return file_error(path, error.message or "wrong syntax", error.lineno + lines_above(path))


def _at_its_line(
    error: Exception, prompt: Prompt, folders: Sequence[Path] | None
) -> ConfigurationError:
    """Return what an expression raised, at the line of the file where it stands."""
    from traceback import walk_tb

    files = {str(path): path for path in sources(prompt, folders)}
    path, line = prompt.path, None
    # Jinja puts its templates' own files and lines in place of those it runs.
    for frame, at in walk_tb(error.__traceback__):
        if found := files.get(frame.f_code.co_filename):
            path, line = found, at + lines_above(found)
    return file_error(path, str(error).rstrip(".") or type(error).__name__, line)


def lines_above(path: Path) -> int:
    """Return how many lines of a file stand above its template: its front matter's."""
    return file_text(path).count("\n") - template(path).count("\n")
