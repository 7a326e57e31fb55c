"""The shape of the house: one direction, no circles, shallow inheritance, one name a thing.

The walls between rooms are contracts of import-linter (`test_walls`); this is what they cannot say.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.places import DOCS, ROOT

PACKAGE = "deltamem_tui"
DOORS = {PACKAGE, f"{PACKAGE}.__main__"}
"""What only hands on: the public names, and the program's entry. They know every room."""


@cache
def trees() -> Mapping[str, ast.Module]:
    """Every module of the package by its dotted name, parsed."""
    found = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return found


def imported(name: str) -> Iterator[str]:
    """The package's own modules that a module imports anywhere in its text."""
    for node in ast.walk(trees()[name]):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in trees() or node.module in trees():
                    yield full if full in trees() else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in trees())


def folder(name: str) -> str:
    """The folder in which a module lies; a package's `__init__` lies in its own."""
    path = ROOT / Path(*name.split("."))
    return name if path.is_dir() else name.rpartition(".")[0]


def test_no_two_folders_import_each_other() -> None:
    arrows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in trees().keys() - DOORS:
        for other in imported(name):
            if folder(name) != folder(other):
                arrows[folder(name), folder(other)].append(f"{name} -> {other}")
    both = {pair: arrows[pair] for pair in arrows if pair[::-1] in arrows}
    assert len(arrows) > 50  # else nothing was read
    assert both == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: set(imported(name)) - {name} for name in trees().keys() - DOORS}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_inheritance_is_shallow() -> None:
    """At most two of our own classes in a chain; errors are a tree that callers catch by branch."""
    bases: dict[str, list[str]] = {}
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.endswith("Error"):
                plain = (ast.unparse(base).partition("[")[0] for base in node.bases)
                bases[node.name] = [base.rpartition(".")[2] for base in plain]

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in bases[name] if base in bases), default=0)

    assert len(bases) > 300
    assert {name: depth(name) for name in bases if depth(name) > 2} == {}


def test_no_class_name_means_two_things() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_only_the_lab_and_the_readers_name_a_game() -> None:
    game = re.compile("alfworld|scienceworld|webshop", re.IGNORECASE)
    at_home = (ROOT / PACKAGE / "lab", ROOT / PACKAGE / "trajectory" / "readers")
    paths = (ROOT / PACKAGE).rglob("*.py")
    naming = [each for each in paths if game.search(each.read_text("utf-8"))]
    assert naming  # else nothing was read
    assert [each for each in naming if not any(map(each.is_relative_to, at_home))] == []


def test_the_page_on_the_architecture_names_every_folder() -> None:
    folders = {folder(name) for name in trees() if folder(name) == name} - {PACKAGE}
    named = re.findall(
        r"^\| `([\w/]+)/` \|", (DOCS / "architecture.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(named) == sorted(
        each.removeprefix(f"{PACKAGE}.").replace(".", "/") for each in folders
    )
