"""Prompts: `prompts/<domain>/<name>.md`, found, checked, filled in and handed out to be edited.

A prompt is a markdown file. Its front matter, TOML between two lines of `+++`, says what it is
for, which inputs it is given, and what the answer must look like; the rest is a Jinja template,
rendered in Jinja's sandbox, in which other files are included by name. A domain that lacks a file
takes the generic one, and a file in a user's folder comes before the package's.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, structs

from deltamem_tui import paths
from deltamem_tui.bank.disk.files import storage_errors
from deltamem_tui.errors import ConfigurationError, Remedy, UsageError
from deltamem_tui.llm.answers import Contract, Field
from deltamem_tui.memory.prompts.use import MAY_SKIP, SYSTEM, PromptUse
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import GENERIC, domain_key

if TYPE_CHECKING:
    import jinja2

SUFFIX = ".md"
LIMIT = 100_000
NAME = re.compile(r"[^\W_][\w-]{0,59}")  # so short that every file system takes it
_FILE = re.compile(r"\w[\w-]{0,59}\.md")
_FENCE = "+++"
_INCLUDE = re.compile(r"{%-?\s*include\s+(.*?)\s*-?%}\n?")


class Matter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The front matter of a prompt.

    Attributes:
        inputs: The names that the template may use.
        output: The texts of the answer with the most words each may have; 0 if it must stay
            empty. Nothing if the answer is free text.
        items: The most objects of these texts, if the answer is a list of them; 0 if it is one.
        skip: Whether the model may answer that there is nothing to write.
        markers: What a failure record must contain.
    """

    purpose: Annotated[str, Meta(pattern=r"\S")]
    inputs: tuple[str, ...] = ()
    output: dict[str, Annotated[int, Meta(ge=0)]] = {}
    items: Annotated[int, Meta(ge=0)] = 0
    skip: bool = False
    markers: tuple[str, ...] = ()


class Prompt(Matter, frozen=True, kw_only=True):
    """One prompt file, for the domain that asked for it; the file may be the generic one.

    Attributes:
        template: The template with what it includes.
        includes: The files that it includes, and those that they include.
        digest: 16 hexadecimal digits that stand for what is said to a model: all of its files.
    """

    domain: str
    path: Path
    template: str
    includes: tuple[Path, ...]
    digest: str

    def contract(self, use: PromptUse, *, may_skip: bool = False) -> Contract:
        """Return the JSON that the prompt asks for, with what its use says of the texts."""
        fields = tuple(
            Field(name, most, name in use.optional, use.choices.get(name, ()))
            for name, most in self.output.items()
        )
        skip = self.skip and may_skip
        return Contract(fields, skip, self.items, unrelated=self.skip and bool(use.body))


def find(
    domain: str, name: str, folders: Sequence[Path] | None = None, use: PromptUse | None = None
) -> Prompt:
    """Return the prompt that a domain uses: its own, else the generic one.

    Looks in `paths.prompt_folders()` if no folders are given, in the first one first. What the
    file asks for is held against its `use`, if that is given. A ConfigurationError says that there
    is none, or that the file is not sound.
    """
    folders = paths.prompt_folders() if folders is None else folders
    path = _locate(domain, f"{name}{SUFFIX}", folders)
    if path is None:
        near = get_close_matches(name, {each for _, each in listing(folders)}, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigurationError(
            f"there is no prompt {one_line(name, 60)!r}",
            source=one_line(domain, 60) or GENERIC,
            hint=f"{hint}`deltamem model prompts` names all",
        )
    return _load(path, domain or GENERIC, folders, use)


def _locate(domain: str, file: str, folders: Sequence[Path]) -> Path | None:
    """Return a domain's file, in whatever capitals its folder is written, else the generic one."""
    if not _FILE.fullmatch(file):
        return None
    for wanted in (domain_key(domain), GENERIC):
        for folder in folders:
            for path in sorted(folder.glob(f"*/{file}")):
                if domain_key(path.parent.name) == wanted and NAME.fullmatch(path.parent.name):
                    return path
    return None


def listing(folders: Sequence[Path]) -> list[tuple[str, str]]:
    """Return every prompt as domain and name, sorted, without what is only included."""
    paths = (path for folder in folders for path in folder.glob(f"*/*{SUFFIX}"))
    found = {(path.parent.name, path.stem) for path in paths}
    return sorted(each for each in found if all(map(NAME.fullmatch, each)))


def _load(path: Path, domain: str, folders: Sequence[Path], use: PromptUse | None) -> Prompt:
    """Read a prompt file with what it includes."""
    head, body = _split(path)
    try:
        matter = msgspec.convert(tomllib.loads(head), Matter)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise file_error(path, f"the front matter is wrong: {error}") from error
    if use and (flaw := _misuse(matter, use)):
        raise file_error(path, flaw)
    included: dict[Path, None] = {}

    def expanded(text: str, above: tuple[Path, ...]) -> str:
        def replaced(found: re.Match[str]) -> str:
            name = found[1].strip("\"'")
            part = _locate(domain, name, folders)
            if name == found[1] or part is None or part in above:
                what = "itself" if part in above else f"{found[1]}, which is not there"
                raise file_error(above[-1], f"includes {one_line(what, 80)}")
            included[part] = None
            return expanded(_split(part)[1], (*above, part))

        return _INCLUDE.sub(replaced, text)

    template = expanded(body, (path,))
    system = _locate(domain, f"{SYSTEM}{SUFFIX}", folders)
    said = [head, template, file_text(system) if system else ""]
    digest = hashlib.sha256("\0".join(said).encode()).hexdigest()[:16]
    return Prompt(
        **structs.asdict(matter),
        domain=domain,
        path=path,
        template=template,
        includes=tuple(included),
        digest=digest,
    )


def _misuse(matter: Matter, use: PromptUse) -> str:
    """Return where a front matter asks for another answer than the program reads."""
    if sorted(matter.output) != sorted(use.fields):
        wanted = f"have {', '.join(use.fields)}, and nothing else" if use.fields else "not be there"
        return f"the output must {wanted}"
    if not min(use.items, 1) <= matter.items <= use.items:
        wanted = f"from 1 to {use.items}" if use.items else "left out: one object is asked for"
        return f"'items' must be {wanted}"
    if excess := sorted(set(matter.inputs) - use.inputs):
        known = ", ".join(sorted(use.inputs))
        return f"nothing gives it {one_line(excess[0], 60)!r}; its inputs may be {known}"
    can_be_skipped = use.body or use.items
    return "this prompt cannot be skipped" if matter.skip and not can_be_skipped else ""


def _split(path: Path) -> tuple[str, str]:
    """Return a file's front matter and its template; a fragment has only the template."""
    text = file_text(path)
    # The opening fence's line end stays, so that TOML counts lines as the file has them.
    head, fence, body = text.removeprefix(_FENCE).partition(f"\n{_FENCE}\n")
    if text.startswith(_FENCE) and fence:
        return head, body
    if path.stem.startswith("_"):
        return "", text
    raise file_error(path, f"has no front matter between two lines of {_FENCE}", 1)


def file_text(path: Path) -> str:
    """Return the text of a file; a ConfigurationError says why it cannot be had."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(LIMIT + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, f"cannot be read: {error}") from error
    if len(text) > LIMIT:
        raise file_error(path, f"is longer than {LIMIT:,} characters")
    return text


def file_error(path: Path, message: str, line: int | None = None) -> ConfigurationError:
    """Return what is wrong with a file, as an error for people."""
    return ConfigurationError(
        one_line(message, 300), source=str(path), position=f"line {line}" if line else None
    )


def render(prompt: Prompt, values: Mapping[str, object]) -> str:
    """Fill a prompt in with the values of its inputs; others are not passed on.

    A ConfigurationError says that the template is wrong, or uses a name that is not an input.
    """
    given = {name: values[name] for name in prompt.inputs if name in values}
    try:
        return clean(_compiled(prompt.template).render(given)).strip()
    except Exception as error:  # whatever an expression of the template can raise
        raise _template_error(prompt.path, prompt.includes, error) from error


@lru_cache(maxsize=1)
def _sandbox() -> jinja2.Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Not escaped: the text is for a model, not for a browser.
    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )


@lru_cache(maxsize=64)
def _compiled(template: str) -> jinja2.Template:
    return _sandbox().from_string(template)


def _template_error(path: Path, includes: Sequence[Path], error: Exception) -> ConfigurationError:
    """Return what is wrong with a template; a syntax error has its file and its line there."""
    from jinja2 import TemplateSyntaxError

    for each in (path, *includes) if isinstance(error, TemplateSyntaxError) else ():
        body = _split(each)[1]
        try:
            _sandbox().parse(body)
        except TemplateSyntaxError as found:
            above = file_text(each).count("\n") - body.count("\n")
            return file_error(each, found.message or "wrong syntax", found.lineno + above)
    return file_error(path, str(error).rstrip(".") or type(error).__name__)


def trials(prompt: Prompt) -> list[str]:
    """Return a prompt filled in each way that it can be, before a model is asked."""
    values = {**{name: f"<{name}>" for name in prompt.inputs}, "words": prompt.output}
    return [
        render(prompt, {**values, MAY_SKIP: skip, "failure": failure})
        for skip, failure in product((True, False), repeat=2)
    ]


def files(folder: Path) -> list[Path]:
    """Return all prompt files of a folder, those in wrong places too, by name."""
    return sorted(path for path in folder.rglob(f"*{SUFFIX}") if path.is_file())


def flaws(
    path: Path, folder: Path, folders: Sequence[Path], uses: Mapping[str, PromptUse]
) -> list[ConfigurationError]:
    """Return what is wrong with a prompt file; `uses` has all that something asks for."""
    if path.parent.parent != folder or not NAME.fullmatch(path.parent.name):
        wanted = f"DOMAIN/NAME{SUFFIX} is"
        return [file_error(path, f"is in a place where no prompt is looked for: {wanted}")]
    try:
        if path.stem.startswith("_"):
            return _unknown(path, file_text(path), set().union(*(u.inputs for u in uses.values())))
        _require_known_name(path, uses)
        prompt = _load(path, path.parent.name, folders, uses[path.stem])
        found = _unknown(path, prompt.template, set(prompt.inputs))
        if not found:
            trials(prompt)
        return found
    except ConfigurationError as error:  # nothing further can be checked then
        return [error]


def _unknown(path: Path, template: str, inputs: set[str]) -> list[ConfigurationError]:
    """Return the names that a template uses and is not given."""
    from jinja2 import TemplateSyntaxError, meta

    try:
        used = meta.find_undeclared_variables(_sandbox().parse(_INCLUDE.sub("", template)))
    except TemplateSyntaxError as error:
        raise _template_error(path, (), error) from error
    known = ", ".join(sorted(inputs)) or "none"
    return [
        file_error(path, f"uses {name}; its inputs are {known}") for name in sorted(used - inputs)
    ]


def require_known_names(folder: Path, uses: Mapping[str, PromptUse]) -> None:
    """See that something asks for each prompt of a folder, before others are paid for instead."""
    for path in folder.glob(f"*/[!_]*{SUFFIX}"):
        _require_known_name(path, uses)


def _require_known_name(path: Path, uses: Mapping[str, PromptUse]) -> None:
    if path.stem not in uses:
        near = get_close_matches(path.stem, uses, n=1)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(uses)}"
        raise file_error(path, f"nothing asks for a prompt {one_line(path.stem, 60)!r}; {meant}")


def export(shipped: Path, folder: Path, *, replace: bool = False) -> tuple[list[Path], list[Path]]:
    """Copy prompts into a folder; returns those written, and those that were there already.

    Raises a UsageError, and writes none, if one would replace a file that differs.
    """
    wanted = {
        folder / path.relative_to(shipped): path.read_bytes()
        for path in sorted(shipped.glob(f"*/*{SUFFIX}"))
    }
    with storage_errors(folder, "some files may have been written"):
        held = {path: path.read_bytes() for path in wanted if path.exists()}
        written = [path for path in wanted if held.get(path) != wanted[path]]
        if (other := [path for path in written if path in held]) and not replace:
            reason = "is there already with another text; nothing was written"
            raise UsageError(reason, source=one_line(str(other[0])), hint=Remedy.REPLACE)
        for path in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[path])
    return written, [path for path in wanted if path not in written]
