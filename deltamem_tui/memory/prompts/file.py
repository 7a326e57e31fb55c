"""A prompt file: its place, its front matter, its template.

The front matter is TOML between two lines of `+++`. It is checked key by key, because users
edit these files, and an error names the file and what it may say instead.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.llm.answers import Contract, Field
from deltamem_tui.memory.prompts.use import PromptUse
from deltamem_tui.text import one_line
from deltamem_tui.trajectory import domains
from deltamem_tui.trajectory.domains import GENERIC

SUFFIX = ".md"
LIMIT = 100_000

_FENCE = "+++"
NAME = re.compile(r"[^\W_][\w-]{0,59}")  # so short that every file system takes it
_PLACE = re.compile(r" \(at line (\d+), column \d+\)")
_FRAGMENT = re.compile(r"_[\w-]{1,59}")
_KEYS: dict[str, type | tuple[type, ...]] = {
    "purpose": str,
    "inputs": list,
    "output": dict,
    "items": int,
    "skip": bool,
    "skip_reward": (int, float),
    "markers": list,
}
_NUMBERS = ("items", "skip_reward")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file.

    Attributes:
        domain: The domain it was asked for; its file may be the generic one.
        purpose: What it is for, in one line.
        inputs: The names that the template may use.
        output: The texts of the answer with the most words each may have; 0 if it must stay
            empty. Nothing if the answer is free text.
        items: The most objects of these texts, if the answer is a list of them; 0 if it is one.
        skip: Whether the model may answer that there is nothing to write.
        skip_reward: The least reward of an episode that may be skipped; None for any.
        markers: What a failure record must contain.
    """

    domain: str
    name: str
    path: Path
    purpose: str
    inputs: tuple[str, ...]
    output: Mapping[str, int]
    items: int
    skip: bool
    skip_reward: float | None
    markers: tuple[str, ...]
    body: str

    @property
    def shared(self) -> bool:
        """True if the domain has no file of its own and takes the generic one."""
        return domains.key(self.path.parent.name) != domains.key(self.domain)

    def contract(self, *, may_skip: bool = False, optional: Sequence[str] = ()) -> Contract:
        """Return the JSON that the prompt asks for; `optional` texts may be empty."""
        fields = tuple(Field(name, most, name in optional) for name, most in self.output.items())
        return Contract(fields, skip=self.skip and may_skip, items=self.items)


def locate(domain: str, file: str, folders: Sequence[Path]) -> Path | None:
    """Return the file that a domain uses: its own in the first folder that has one, else the
    generic one.

    The domain may have any spelling (see `domains.key`): the folder of this very name goes before
    others, and a name that no folder can have is passed over. A fragment's file begins with `_`.
    """
    stem = file.removesuffix(SUFFIX)
    if not (NAME.fullmatch(stem) or _FRAGMENT.fullmatch(stem)) or not file.endswith(SUFFIX):
        return None
    for name in (domain, GENERIC):
        if NAME.fullmatch(name):
            for folder in folders:
                if path := _spelt(name, file, folder):
                    return path
    return None


def _spelt(domain: str, file: str, folder: Path) -> Path | None:
    """Return a domain's file in a folder, whatever capitals the domain is written with there."""
    path = folder / domain / file
    if path.is_file():
        return path
    try:
        names = sorted(each.name for each in folder.iterdir())
    except OSError:
        return None  # as if nothing were in it
    spellings = (name for name in names if domains.key(name) == domains.key(domain))
    return next((path for name in spellings if (path := folder / name / file).is_file()), None)


def load(path: Path, use: PromptUse | None = None) -> Prompt:
    """Read a prompt file; once, until its time of change is another.

    Raises:
        ConfigurationError: It cannot be read, or its front matter is wrong, also for its use.
    """
    return _load(path, path.stat().st_mtime_ns, use)


@cache
def _load(path: Path, _modified: int, use: PromptUse | None) -> Prompt:
    matter = front_matter(path)
    for flaw in matter_flaws(path, matter):
        raise flaw
    for flaw in use_flaws(path, matter, use) if use else ():
        raise flaw
    reward = matter.get("skip_reward")
    return Prompt(
        domain=path.parent.name,
        name=path.stem,
        path=path,
        purpose=one_line(matter["purpose"]),
        inputs=tuple(matter.get("inputs", ())),
        output=dict(matter.get("output", {})),
        items=matter.get("items", 0),
        skip=matter.get("skip", False),
        skip_reward=None if reward is None else float(reward),
        markers=tuple(matter.get("markers", ())),
        body=template(path),
    )


def front_matter(path: Path) -> dict[str, Any]:
    """Return the table between the fences, as it stands.

    Raises:
        ConfigurationError: There is none, or it is not TOML.
    """
    text = file_text(path)
    if not text.startswith(_FENCE + "\n") or f"\n{_FENCE}\n" not in text:
        raise file_error(path, f"has no front matter between two lines of {_FENCE}", 1)
    # The opening fence's line end stays, so that TOML counts lines as the file has them.
    head = text.removeprefix(_FENCE).partition(f"\n{_FENCE}\n")[0]
    try:
        return tomllib.loads(head)
    except tomllib.TOMLDecodeError as error:
        message = _PLACE.sub("", str(error))
        place = _PLACE.search(str(error))
        line = int(place[1]) if place else None
        raise file_error(path, f"the front matter is not TOML: {message}", line) from error


def matter_flaws(path: Path, matter: Mapping[str, Any]) -> Iterator[ConfigurationError]:
    """Everything that is wrong with a front matter, or missing."""
    sound: dict[str, Any] = {}
    for key, value in matter.items():
        line = matter_line(path, key)
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            yield file_error(path, f"the front matter has {key!r}; it may have {known}", line)
        elif not isinstance(value, _KEYS[key]) or (key in _NUMBERS and isinstance(value, bool)):
            yield file_error(path, f"{key!r} in the front matter is of the wrong type", line)
        else:
            sound[key] = value
    if "purpose" not in matter or not sound.get("purpose", "x").strip():
        yield file_error(path, "the front matter has no purpose", matter_line(path, "purpose"))
    for key in ("inputs", "markers"):
        if not all(isinstance(item, str) and item.strip() for item in sound.get(key, ())):
            message = f"{key!r} in the front matter must be a list of texts"
            yield file_error(path, message, matter_line(path, key))
    for name, most in sound.get("output", {}).items():
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            message = f"the most words of {name!r} must be a whole number, or 0 for none"
            yield file_error(path, message, matter_line(path, "output"))
    if sound.get("items", 0) < 0:
        message = "'items' must be the most items of the answer"
        yield file_error(path, message, matter_line(path, "items"))


def use_flaws(
    path: Path, matter: Mapping[str, Any], use: PromptUse
) -> Iterator[ConfigurationError]:
    """Yield where a front matter asks for another answer than the program reads."""
    output = matter.get("output", {})
    if isinstance(output, dict) and sorted(output) != sorted(use.fields):
        names = ", ".join(use.fields)
        wanted = f"must have {names}, and nothing else" if use.fields else "must not be there"
        yield file_error(path, f"the output {wanted}", matter_line(path, "output"))
    items = matter.get("items", 0)
    if isinstance(items, int) and not min(use.items, 1) <= items <= use.items:
        wanted = f"from 1 to {use.items}" if use.items else "left out: one object is asked for"
        yield file_error(path, f"'items' must be {wanted}", matter_line(path, "items"))
    if matter.get("skip") is True and not use.may_skip:
        yield file_error(path, "this prompt cannot be skipped", matter_line(path, "skip"))


def matter_line(path: Path, key: str) -> int:
    """Return the line of the front matter that sets `key`; the first line if none does."""
    written = re.compile(rf"\s*\[?\s*[\"']?{re.escape(key)}[\"']?\s*[\].=]")
    lines = file_text(path).split("\n")
    return next((number for number, line in enumerate(lines, 1) if written.match(line)), 1)


def file_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        ConfigurationError: It cannot be read, or is far too long.
    """
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise file_error(path, f"cannot be read: {error}") from error


@cache
def _read(path: Path, _modified: int) -> str:
    with path.open(encoding="utf-8-sig") as file:
        text = file.read(LIMIT + 1)
    if len(text) > LIMIT:
        raise file_error(path, f"is longer than {LIMIT:,} characters")
    return text


def template(path: Path) -> str:
    """Return a file's template, without its front matter if it has one; fragments need none."""
    text = file_text(path)
    if not text.startswith(_FENCE + "\n"):
        return text
    return text.partition(f"\n{_FENCE}\n")[2]


def file_error(path: Path, message: str, line: int | None = None) -> ConfigurationError:
    """Return what is wrong with a file, as an error for people."""
    return ConfigurationError(
        one_line(message, 300), source=str(path), position=f"line {line}" if line else None
    )
