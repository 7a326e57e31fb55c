"""Settings: the user's `deltamem.toml`, the environment, and flags, in this order.

Each later place overrules the earlier ones, and each value remembers where it came from,
so that an error about it can say so.

```toml
model    = "openai/gpt-5-mini"     # any name that litellm knows
api_base = "http://localhost:8000/v1" # of your own server for it
window   = 16000                   # of this model, in tokens, where litellm does not know it
answer_tokens = 2000               # the most of an answer
price    = "0.25/2"                # US dollars for a million tokens, of prompts/of answers
embedder = "minilm"
domain   = "support"
theme    = "textual-dark"
banks    = "~/banks"               # relative to this file
prompts  = "our-prompts"           # likewise; its files come before all others

[keys]                             # of the browser, which names its actions
filter = "ctrl+f"
```
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
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
_PRICE = re.compile(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
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
    """All settings, with where each came from.

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
        origins: Setting to the file, variable or flag that set it; defaults are not in it.
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
    origins: Mapping[str, str] = field(default_factory=lambda: _NOTHING, compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)

    def stated(self) -> StatedNumbers:
        """Return the numbers of the model that are not to be looked up.

        Raises:
            ConfigurationError: The price is not one, or answers fill the window.
        """
        if self.window and self.answer_tokens and self.answer_tokens >= self.window:
            raise ConfigurationError(
                f"answers of {self.answer_tokens:,} tokens fill a window of {self.window:,}",
                source=self.origins.get("answer_tokens"),
                hint="state a larger `window`, or fewer `answer_tokens`",
            )
        if self.price is None:
            return StatedNumbers(self.window, self.answer_tokens)
        found = _PRICE.fullmatch(self.price)
        if found is None:
            raise ConfigurationError(
                f"expected a price as IN/OUT, got {one_line(self.price, 40)!r}",
                source=self.origins.get("price"),
                hint='US dollars for a million tokens of prompts/of answers, as "0.25/2"',
            )
        price = float(found[1]) / 1e6, float(found[2]) / 1e6
        return StatedNumbers(self.window, self.answer_tokens, price)

    def with_flags(self, **flags: str | int | Path | None) -> Configuration:
        """Return the settings, overruled by the flags that are not None."""
        given = {
            name: Path(str(value)).expanduser() if name in _FOLDERS else value
            for name, value in flags.items()
            if value is not None
        }
        return _overruled(self, given, {name: f"--{name}" for name in given})

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
                position=self.origins.get("prompts"),
                hint="`deltamem model export DIR` makes one",
            )
        return (self.prompts, *usual)


SETTINGS = tuple(item.name for item in fields(Configuration) if item.compare)


def load(environment: Mapping[str, str] | None = None) -> Configuration:
    """Read the settings of the file and the environment.

    Args:
        environment: The environment's variables; those of this process if None.

    Raises:
        ConfigurationError: The file cannot be read or is not TOML, a setting in it does not
            exist, or a value is of the wrong type.
    """
    configuration = Configuration()
    if file := paths.settings_file():
        values = _read_file(file)
        configuration = _overruled(configuration, values, dict.fromkeys(values, str(file)))
    variables = os.environ if environment is None else environment
    values, origins, remarks = _read_environment(variables)
    return replace(_overruled(configuration, values, origins), remarks=remarks)


def _overruled(
    configuration: Configuration, values: Mapping[str, Any], origins: Mapping[str, str]
) -> Configuration:
    merged = MappingProxyType({**configuration.origins, **origins})
    if values.get("model", configuration.model) != configuration.model:
        # What is said of one model is not said of another.
        configuration = replace(
            configuration, api_base=None, window=None, answer_tokens=None, price=None
        )
    return replace(configuration, **values, origins=merged)


def _read_file(file: Path) -> dict[str, Any]:
    import tomllib

    source = one_line(str(file))
    try:
        text = file.read_text(encoding="utf-8-sig")
        table = tomllib.loads(text)
    except OSError as error:
        raise ConfigurationError(f"cannot be read: {error.strerror}", source=source) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            "is not UTF-8 text", source=source, position=f"byte {error.start}"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(error, source) from error
    values: dict[str, Any] = {}
    for key, value in table.items():
        position = _position(text, key)
        _require_known(key, source, position)
        values[key] = _checked(key, value, source, position)
    for key in _FOLDERS & values.keys():
        values[key] = file.parent / values[key]
    return values


def _read_environment(
    variables: Mapping[str, str],
) -> tuple[dict[str, Any], dict[str, str], tuple[str, ...]]:
    """Return values, their origins, and remarks on the variables that set nothing.

    They are not errors: an environment is shared with other programs.
    """
    names = {_PREFIX + key.upper(): key for key in SETTINGS if key != "keys"}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    remarks = []
    for variable, value in sorted(variables.items()):
        if not (variable.startswith(_PREFIX) and value) or variable in _NO_SETTINGS:
            continue
        key = names.get(variable)
        if key is None:
            near = _nearest(variable, tuple(names))
            remarks.append(
                f"{one_line(variable, 60)} in the environment is not a setting; "
                f"did you mean {near}?"
            )
            continue
        values[key] = _checked(key, value, "the environment", variable)
        origins[key] = variable
    return values, origins, tuple(remarks)


def _checked(key: str, value: object, source: str, position: str | None) -> object:
    if key == "keys":
        return _checked_keys(value, source, position)
    if key in _COUNTS:
        return _checked_count(key, value, source, position)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(
            f"{key} must be text in quotes, not {_kind(value)}", source=source, position=position
        )
    if key in _FOLDERS:
        return Path(value).expanduser()
    return one_line(value)


def _checked_count(key: str, value: object, source: str, position: str | None) -> int:
    text = str(value)  # a number of TOML, or a text of the environment
    if _COUNT.fullmatch(text) is None:
        raise ConfigurationError(
            f"{key} must be a number of tokens, not {one_line(text, 40)}",
            source=source,
            position=position,
        )
    return int(text)


def _checked_keys(value: object, source: str, position: str | None) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise ConfigurationError(
            f"keys must be a table of action = key, not {_kind(value)}",
            source=source,
            position=position,
            hint="write [keys] on a line of its own, and below it filter = 'ctrl+f'",
        )
    for action, key in value.items():
        if not isinstance(key, str) or not key.strip():
            raise ConfigurationError(
                f"the key of {one_line(action, 40)!r} must be text in quotes, not {_kind(key)}",
                source=source,
                position=position,
            )
    return MappingProxyType({one_line(action): one_line(key) for action, key in value.items()})


def _require_known(key: str, source: str, position: str | None) -> None:
    if key in SETTINGS:
        return
    raise ConfigurationError(
        f"there is no setting {one_line(key, 60)!r}",
        source=source,
        position=position,
        hint=f"did you mean {_nearest(key, SETTINGS)}? There are {', '.join(SETTINGS)}",
    )


def _nearest(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    return get_close_matches(word, known, n=1, cutoff=0.0)[0]


def _not_toml(error: Exception, source: str) -> ConfigurationError:
    """Return an error whose position was at the end of the TOML error's message."""
    message, _, place = one_line(str(error)).partition(" (at ")
    return ConfigurationError(
        f"is not TOML: {message[:1].lower()}{message[1:]}",
        source=source,
        position=place.removesuffix(")") or None,
    )


def _position(text: str, key: str) -> str | None:
    """Return the line that sets `key`."""
    written = re.compile(rf"\s*\[?\s*[\"']?{re.escape(key)}[\"']?\s*[\].=]")
    for number, line in enumerate(text.splitlines(), start=1):
        if written.match(line):
            return f"line {number}"
    return None


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "text" if value.strip() else "blank" if value else "empty"
    kinds = {bool: "a truth value", int: "a number", float: "a number", list: "a list"}
    return kinds.get(type(value), "a table" if isinstance(value, dict) else "a date")
