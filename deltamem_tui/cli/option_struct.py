"""Commands with many options: the options are one dataclass, which is declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import typer

from deltamem_tui.cli.result import Result

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OptionsT = TypeVar("OptionsT", bound="DataclassInstance")


def with_options(
    kind: type[OptionsT],
) -> Callable[[Callable[[typer.Context, OptionsT], Result]], Callable[..., Result]]:
    """Have a command take the fields of a dataclass as its parameters.

    Typer reads a command's signature: this one has a parameter for each field, with its
    annotation and its default.
    """
    hints = get_type_hints(kind, include_extras=True)
    parameters = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(kind)
    ]

    def decorated(run: Callable[[typer.Context, OptionsT], Result]) -> Callable[..., Result]:
        def command(context: typer.Context, **given: Any) -> Result:
            return run(context, kind(**given))

        first = inspect.Parameter(
            "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
        )
        command.__doc__ = run.__doc__
        command.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
        command.__annotations__ = {"context": typer.Context, **hints}
        return command

    return decorated
