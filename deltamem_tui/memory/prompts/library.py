"""Prompts: `prompts/<domain>/<name>.md`, found, filled in and handed out to be edited.

A prompt is a markdown file. Its front matter, TOML between two lines of `+++`, says what it is
for, which inputs it is given, and what the answer must look like; the rest is a Jinja template,
rendered in Jinja's sandbox. A domain that lacks a prompt takes the generic one, and a file in a
user's folder comes before the package's.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, structs

from deltamem_tui import paths
from deltamem_tui.errors import ConfigurationError, Remedy, StorageError, UsageError
from deltamem_tui.llm.answers import Contract, Field
from deltamem_tui.memory.prompts.use import SYSTEM, PromptUse
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import GENERIC, domain_key

if TYPE_CHECKING:
    import jinja2

SUFFIX = ".md"
LIMIT = 100_000
NAME = re.compile(r"[^\W_][\w-]{0,59}")  # so short that every file system takes it
_FILE = re.compile(r"\w[\w-]{0,59}\.md")
_FENCE = "+++"


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
    """One prompt file, for the domain that asked for it; the file may be the generic one."""

    domain: str
    path: Path
    body: str

    @property
    def name(self) -> str:
        """The name it is asked for by."""
        return self.path.stem

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
    file asks for is held against its `use`, if that is given.

    Raises:
        ConfigurationError: There is none, or it is not a sound prompt file.
    """
    path = _locate(domain, f"{name}{SUFFIX}", _folders(folders))
    if path is None:
        raise _not_found(domain, name, folders)
    return structs.replace(load(path, use), domain=domain or GENERIC)


def _locate(domain: str, file: str, folders: Sequence[Path]) -> Path | None:
    """Return a domain's file, in whatever capitals its folder is written, else the generic one."""
    if not _FILE.fullmatch(file):
        return None
    for wanted in (domain, GENERIC):
        for folder in folders:
            if NAME.fullmatch(wanted) and (path := folder / wanted / file).is_file():
                return path
            spelt = (each.parent for each in sorted(folder.glob(f"*/{file}")))
            for home in spelt:
                if domain_key(home.name) == domain_key(wanted) and NAME.fullmatch(home.name):
                    return home / file
    return None


def listing(folders: Sequence[Path] | None = None) -> list[tuple[str, str]]:
    """Return every prompt as domain and name, sorted, without what is only included."""
    paths = (path for folder in _folders(folders) for path in folder.glob(f"*/*{SUFFIX}"))
    found = {(path.parent.name, path.stem) for path in paths}
    return sorted(each for each in found if all(map(NAME.fullmatch, each)))


def _not_found(domain: str, name: str, folders: Sequence[Path] | None) -> ConfigurationError:
    from difflib import get_close_matches

    near = get_close_matches(name, {each for _, each in listing(folders)}, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return ConfigurationError(
        f"there is no prompt {one_line(name, 60)!r}",
        source=one_line(domain, 60) or GENERIC,
        hint=f"{hint}`deltamem model prompts` names all",
    )


def load(path: Path, use: PromptUse | None = None) -> Prompt:
    """Read a prompt file.

    Raises:
        ConfigurationError: It cannot be read, or its front matter is wrong, also for its use.
    """
    head, body = split(path)
    try:
        matter = msgspec.convert(tomllib.loads(head), Matter)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise file_error(path, f"the front matter is wrong: {error}") from error
    if use and (flaw := _misuse(matter, use)):
        raise file_error(path, flaw)
    return Prompt(**structs.asdict(matter), domain=path.parent.name, path=path, body=body)


def _misuse(matter: Matter, use: PromptUse) -> str:
    """Return where a front matter asks for another answer than the program reads."""
    if sorted(matter.output) != sorted(use.fields):
        wanted = f"have {', '.join(use.fields)}, and nothing else" if use.fields else "not be there"
        return f"the output must {wanted}"
    if not min(use.items, 1) <= matter.items <= use.items:
        wanted = f"from 1 to {use.items}" if use.items else "left out: one object is asked for"
        return f"'items' must be {wanted}"
    return "this prompt cannot be skipped" if matter.skip and not use.may_skip else ""


def split(path: Path) -> tuple[str, str]:
    """Return a file's front matter and its template; a fragment has only the template.

    Raises:
        ConfigurationError: It cannot be read, or a prompt has no front matter.
    """
    text = file_text(path)
    # The opening fence's line end stays, so that TOML counts lines as the file has them.
    head, fence, body = text.removeprefix(_FENCE).partition(f"\n{_FENCE}\n")
    if text.startswith(_FENCE) and fence:
        return head, body
    if path.stem.startswith("_"):
        return "", text
    raise file_error(path, f"has no front matter between two lines of {_FENCE}", 1)


def file_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        ConfigurationError: It cannot be read, or is far too long.
    """
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


def digest(prompt: Prompt, folders: Sequence[Path] | None = None) -> str:
    """16 hexadecimal digits that stand for what is said to a model: all the prompt's files."""
    hasher = hashlib.sha256()
    system = _locate(prompt.domain, f"{SYSTEM}{SUFFIX}", _folders(folders))
    for path in (*sources(prompt, folders), *([system] if system else [])):
        hasher.update(hashlib.sha256(file_text(path).encode()).digest())
    return hasher.hexdigest()[:16]


def sources(prompt: Prompt, folders: Sequence[Path] | None = None) -> Iterator[Path]:
    """Yield the prompt's file and those it includes, each once.

    Raises:
        ConfigurationError: An included file is missing, or its name is not written out.
    """
    from jinja2 import meta

    seen, waiting = set[Path](), [prompt.path]
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        yield path
        for name in meta.find_referenced_templates(parsed(path)):
            found = _locate(prompt.domain, name, _folders(folders)) if name else None
            if found is None:
                what = repr(one_line(name, 60)) if name else "a file whose name is not written out"
                raise file_error(path, f"includes {what}, which is not there")
            waiting.append(found)


def parsed(path: Path) -> jinja2.nodes.Template:
    """Return a file's template.

    Raises:
        ConfigurationError: It is not one.
    """
    import jinja2

    try:
        return _environment(GENERIC, ()).parse(split(path)[1])
    except jinja2.TemplateSyntaxError as error:
        raise _syntax(path, error) from error


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
    try:
        template = _environment(prompt.domain, _folders(folders)).get_template(prompt.path.name)
        return clean(template.render(given)).strip()
    except jinja2.TemplateNotFound:
        all(sources(prompt, folders))  # says which file includes it
        raise
    except jinja2.TemplateSyntaxError as error:
        raise _syntax(Path(error.filename or prompt.path), error) from error
    except Exception as error:  # whatever an expression of the template can raise
        raise file_error(prompt.path, str(error).rstrip(".") or type(error).__name__) from error


@lru_cache(maxsize=32)
def _environment(domain: str, folders: tuple[Path, ...]) -> jinja2.Environment:
    """Return the sandbox of a domain's prompts, which compiles a file again when it changes."""
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def find_template(file: str) -> tuple[str, str, Callable[[], bool]] | None:
        if (path := _locate(domain, file, folders)) is None:
            return None
        text = split(path)[1]
        return text, str(path), lambda: _same(_locate(domain, file, folders), path, text)

    # Not escaped: the text is for a model, not for a browser.
    return ImmutableSandboxedEnvironment(
        loader=FunctionLoader(find_template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _same(found: Path | None, path: Path, text: str) -> bool:
    """Return whether a template is still the one that was compiled."""
    return found == path and split(path)[1] == text


def _syntax(path: Path, error: jinja2.TemplateSyntaxError) -> ConfigurationError:
    """Return a syntax error at its line of the file, below the front matter."""
    above = file_text(path).count("\n") - split(path)[1].count("\n")
    return file_error(path, error.message or "wrong syntax", error.lineno + above)


def _folders(folders: Sequence[Path] | None) -> tuple[Path, ...]:
    return paths.prompt_folders() if folders is None else tuple(folders)


@dataclass(frozen=True, slots=True)
class PromptExport:
    """Files that an export wrote, and those that were there already with the same text."""

    written: tuple[Path, ...]
    same: tuple[Path, ...]


def export(
    shipped: Path,
    folder: Path,
    *,
    names: Sequence[str] = (),
    domain: str | None = None,
    replace: bool = False,
) -> PromptExport:
    """Copy prompts into a folder. None is written if one would replace a file that differs.

    All are copied, with their fragments, unless `names` or a `domain` is given.

    Raises:
        UsageError: There are no such prompts, or a file that differs is there.
        StorageError: The disk refused; some files may have been written.
    """
    of_domain = [
        path
        for path in sorted(shipped.glob(f"*/*{SUFFIX}"))
        if domain is None or domain_key(path.parent.name) == domain_key(domain)
    ]
    missing = sorted({*names} - {path.stem for path in of_domain})
    if missing or not of_domain:
        what = f"no prompt {one_line(missing[0], 60)!r}" if missing else "no prompts"
        where = f" of {one_line(domain, 60)}" if domain else ""
        raise UsageError(f"{what}{where} to export", hint="`deltamem model prompts` names all")
    chosen = [path for path in of_domain if not names or path.stem in names]
    try:
        wanted = {folder / path.relative_to(shipped): path.read_bytes() for path in chosen}
        held = {path: path.read_bytes() for path in wanted if path.exists()}
        written = tuple(path for path in wanted if held.get(path) != wanted[path])
        if (other := [path for path in written if path in held]) and not replace:
            reason = "is there already with another text; nothing was written"
            raise UsageError(reason, source=one_line(str(other[0])), hint=Remedy.REPLACE)
        for path in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[path])
    except OSError as error:
        where = one_line(str(error.filename or folder))
        raise StorageError(f"cannot be written: {error.strerror}", source=where) from error
    return PromptExport(written, tuple(path for path in wanted if path not in written))
