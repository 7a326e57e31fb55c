"""Settings: the user's `deltamem.toml`, the environment, and flags, in this order.

Each later place overrules the earlier ones.

`deltamem.toml` has the attributes of `Configuration` as its keys, `banks` and `prompts` relative to
the file. `[keys]` is a table: the browser's actions by name, and a key for each.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from deltamem_tui import paths
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.text import one_line

DEFAULT_EMBEDDER = "minilm"
"""The embedder of a new bank, which comes with the package."""

PUBLISHED_EMBEDDER = "intfloat/e5-base-v2"
"""The embedder that the published thresholds belong to."""

_PREFIX = "DELTAMEM_"
# Read where they are used.
_NO_SETTINGS = frozenset({paths.GAMES_VARIABLE, paths.SETTINGS_VARIABLE, paths.HELPER_VARIABLE})
_FOLDERS = frozenset({"banks", "prompts"})
_COUNTS = frozenset({"window", "answer_tokens"})
_COUNT = re.compile(r"[1-9]\d{0,8}")
_PRICE = re.compile(r"\d+(?:\.\d+)?/\d+(?:\.\d+)?")
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StatedNumbers:
    """Numbers of a model that a user states, in place of those that tables have; None if not.

    Attributes:
        window: The tokens that prompt and answer may have together.
        answer_tokens: The most tokens of an answer.
        price: US dollars for a token of a prompt, and of an answer.
    """

    window: int | None = None
    answer_tokens: int | None = None
    price: tuple[float, float] | None = None


NOTHING_STATED = StatedNumbers()


@dataclass(frozen=True, slots=True)
class Configuration:
    """All settings.

    Attributes:
        model: The language model that extracts; None until one is named.
        api_base: The address of the server that has it; None for its provider's.
        window: Its window in tokens; None for what is known of it.
        answer_tokens: The most tokens of its answers; likewise.
        price: `IN/OUT`, the US dollars for a million tokens of its prompts, and of its answers.
        embedder: What a new bank is embedded with.
        domain: The kind of environment that a new bank is for.
        theme: The browser's theme; None for its own choice.
        keys: The browser's keys, action to key.
        banks: The banks folder; None to look for it, see `paths.banks_folder`.
        prompts: A folder whose prompts come before all others; None for the usual ones alone.
        remarks: Notes for a person: variables that look like settings and are not.
    """

    model: str | None = None
    api_base: str | None = None
    window: int | None = None
    answer_tokens: int | None = None
    price: str | None = None
    embedder: str = DEFAULT_EMBEDDER
    domain: str = "generic"
    theme: str | None = None
    keys: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    banks: Path | None = None
    prompts: Path | None = None
    remarks: tuple[str, ...] = field(default=(), compare=False)

    def stated(self) -> StatedNumbers:
        """Return the numbers of the model that are not to be looked up.

        Raises:
            ConfigurationError: Answers fill the window.
        """
        if self.window and self.answer_tokens and self.answer_tokens >= self.window:
            raise ConfigurationError(
                f"answers of {self.answer_tokens:,} tokens fill a window of {self.window:,}",
                hint="state a larger `window`, or fewer `answer_tokens`",
            )
        if self.price is None:
            return StatedNumbers(self.window, self.answer_tokens)
        prompts, answers = (float(each) / 1e6 for each in self.price.split("/"))
        return StatedNumbers(self.window, self.answer_tokens, (prompts, answers))

    def with_flags(self, **flags: str | int | Path | None) -> Configuration:
        """Return the settings, overruled by the flags that are not None."""
        given: dict[str, Any] = {name: each for name, each in flags.items() if each is not None}
        for name in given.keys() & {*_FOLDERS, "price"}:
            given[name] = _checked(name, str(given[name]), f"--{name}")
        return _overruled(self, given)

    def prompt_folders(self) -> tuple[Path, ...]:
        """Return the folders in which prompts are looked up, in order.

        Raises:
            ConfigurationError: The folder that was named is not there.
        """
        usual = paths.prompt_folders()
        if self.prompts is None:
            return usual
        if not self.prompts.is_dir():
            raise ConfigurationError(
                "there is no folder of prompts here",
                source=one_line(str(self.prompts)),
                hint="`deltamem model export DIR` makes one",
            )
        return (self.prompts, *usual)


SETTINGS = tuple(item.name for item in fields(Configuration) if item.compare)


def load(environment: Mapping[str, str] | None = None) -> Configuration:
    """Read the settings of the file and the environment (this process's if None).

    Variables that set nothing are no errors: an environment is shared with other programs.

    Raises:
        ConfigurationError: The file cannot be read or is not TOML, a setting in it does not
            exist, or a value is not one that it can have.
    """
    configuration = Configuration()
    if file := paths.settings_file():
        configuration = _overruled(configuration, _read_file(file))
    names = {_PREFIX + key.upper(): key for key in SETTINGS if key != "keys"}
    values: dict[str, Any] = {}
    remarks = []
    for variable, value in sorted((os.environ if environment is None else environment).items()):
        if not (variable.startswith(_PREFIX) and value) or variable in _NO_SETTINGS:
            continue
        if key := names.get(variable):
            values[key] = _checked(key, value, f"{variable} in the environment")
        else:
            shown, near = one_line(variable, 60), _nearest(variable, names)
            remarks.append(f"{shown} in the environment is not a setting; did you mean {near}?")
    return replace(_overruled(configuration, values), remarks=tuple(remarks))


def _overruled(configuration: Configuration, values: Mapping[str, Any]) -> Configuration:
    if values.get("model", configuration.model) != configuration.model:
        # What is said of one model is not said of another.
        configuration = replace(
            configuration, api_base=None, window=None, answer_tokens=None, price=None
        )
    return replace(configuration, **values)


def _read_file(file: Path) -> dict[str, Any]:
    import tomllib

    source = one_line(str(file))
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", source=source) from error
    except (ValueError, RecursionError) as error:
        reason = f"is not TOML in UTF-8: {one_line(str(error), 200)}"
        raise ConfigurationError(reason, source=source) from error
    for key in sorted(table.keys() - {*SETTINGS}):
        raise ConfigurationError(
            f"there is no setting {one_line(key, 60)!r}",
            source=source,
            hint=f"did you mean {_nearest(key, SETTINGS)}? There are {', '.join(SETTINGS)}",
        )
    values = {key: _checked(key, value, source) for key, value in table.items()}
    return values | {key: file.parent / values[key] for key in _FOLDERS & values.keys()}


def _checked(key: str, value: Any, source: str) -> Any:
    """Return a setting's value as the program has it.

    Raises:
        ConfigurationError: It is not one that the setting can have.
    """
    fits, wanted = _is_text(value), "text"
    if key == "keys":
        fits = isinstance(value, dict) and all(map(_is_text, value.values()))
        wanted = "a table [keys] of action = 'key'"
    elif key in _COUNTS:
        fits, wanted = _COUNT.fullmatch(str(value)) is not None, "a number of tokens"
    elif key == "price":
        fits = fits and _PRICE.fullmatch(value) is not None
        wanted = "IN/OUT, such as '0.25/2': US dollars for a million tokens sent/received"
    if not fits:
        reason = f"{key} must be {wanted}, not {one_line(str(value), 40)!r}"
        raise ConfigurationError(reason, source=source)
    if key == "keys":
        return MappingProxyType({one_line(a): one_line(each) for a, each in value.items()})
    if key in _FOLDERS:
        return paths.expanded(value, source)
    return int(value) if key in _COUNTS else one_line(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _nearest(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    return get_close_matches(word, [*known], n=1, cutoff=0.0)[0]
