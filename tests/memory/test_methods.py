"""Definitions of methods: light to load, and every function that one names is there."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import fields
from pkgutil import resolve_name

import pytest

from deltamem_tui.memory.method import Method, method_named, names

ARGUMENTS = {
    "recall": 3,
    "plan": 4,
    "write_by_rules": 4,
    "digest": 3,
    "due": 1,
    "maintain": 4,
}


def named(method: Method) -> dict[str, str]:
    values = {each.name: getattr(method, each.name) for each in fields(method)}
    paths = {name: getattr(value, "__qualname__", "") for name, value in values.items()}
    return {name: path for name, path in paths.items() if path.startswith("deltamem_tui.")}


@pytest.mark.parametrize("name", names())
def test_every_function_that_a_definition_names_takes_what_it_is_given(name: str) -> None:
    found = named(method_named(name))
    assert {"recall", "plan"} <= set(found)
    for field, path in found.items():
        parameters = inspect.signature(resolve_name(path)).parameters.values()
        needed = [each for each in parameters if each.default is each.empty]
        assert len(needed) <= ARGUMENTS[field] <= len(parameters), path


def test_all_definitions_are_loaded_without_numpy() -> None:
    code = "from deltamem_tui.memory.method import choices; choices(); import sys; "
    code += "sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
