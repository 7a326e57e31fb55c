"""The sandbox in which prompts are filled in: no way out, and an end to everything.

Jinja's own sandbox keeps a template from the machine and from what is passed in. It bounds
`range`, not loops inside loops, macros that call themselves, or files that include files: these
are counted here, for all of one prompt together, and no text grows without end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from jinja2 import StrictUndefined, Template, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.loaders import BaseLoader
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

STEP_LIMIT = 200_000
"""How many turns of loops, calls and included files one prompt may take."""
LENGTH_LIMIT = 16 * 1024 * 1024
"""How long a prompt, or a text or list in it, may be."""
_LARGEST_EXPONENT = 64

_steps: ContextVar[Iterator[int]] = ContextVar("steps left of the prompt that is filled in")


class _Generator(CodeGenerator):
    """Compiles templates so that loops are counted and joined texts are measured."""

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802 - jinja's name
        if node.recursive:
            self.fail("a prompt has no recursive loops", node.lineno)
        counted = nodes.EnvironmentAttribute("counted")
        node.iter = nodes.Call(counted, [node.iter], [], None, None)
        super().visit_For(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - the same
        self.write("environment.measured(")
        super().visit_Concat(node, frame)
        self.write(")")


class PromptSandbox(ImmutableSandboxedEnvironment):
    """No private names, no changes to what is passed in, no undefined names, and bounds."""

    code_generator_class = _Generator
    intercepted_binops = frozenset({"+", "*", "**"})

    def __init__(self, loader: BaseLoader) -> None:
        # Not escaped: the text is for a model, not for a browser.
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )

    def fill(self, name: str, values: Mapping[str, object]) -> str:
        """Fill a template in; whatever its expressions raise goes through."""
        token = _steps.set(iter(range(STEP_LIMIT)))
        try:
            parts, length = [], 0
            for part in self.get_template(name).generate(values):
                parts.append(part)
                length += len(part)
                if length > LENGTH_LIMIT:
                    raise _too_long()
            return "".join(parts)
        finally:
            _steps.reset(token)

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items, each of which takes a step."""
        for item in items:
            _take_step()
            yield item

    def measured(self, value: Any) -> Any:
        """Return the value, if it is not too long."""
        if isinstance(value, str | list | tuple) and len(value) > LENGTH_LIMIT:
            raise _too_long()
        return value

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Call something from a template."""
        _take_step()
        return super().call(context, obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Add, multiply or raise, if the result is of a bearable size."""
        if operator == "**" and abs(right) > _LARGEST_EXPONENT:
            raise ValueError(f"an exponent of more than {_LARGEST_EXPONENT}")
        # A text times a number is as long as it says; a number times a number has a limit, too.
        if operator == "*" and _size(left) * _size(right) > LENGTH_LIMIT:
            raise ValueError(f"a product of more than {LENGTH_LIMIT:,}")
        return self.measured(super().call_binop(context, operator, left, right))

    def get_template(self, name: str | Template, *args: Any, **kwargs: Any) -> Template:
        """Return the template of a name, as includes ask for it."""
        _take_step()
        return super().get_template(name, *args, **kwargs)


def _take_step() -> None:
    if (steps := _steps.get(None)) is not None and next(steps, None) is None:
        raise ValueError(f"takes more than {STEP_LIMIT:,} steps")


def _too_long() -> ValueError:
    return ValueError(f"longer than {LENGTH_LIMIT:,} characters")


def _size(value: Any) -> Any:
    return len(value) if isinstance(value, str | list | tuple) else abs(value)
