"""The faces and the bank ask no method by its name: what is shown is the method's to say."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import deltamem_tui
from deltamem_tui.memory.method import method_named, names

PACKAGE = Path(deltamem_tui.__file__).parent
ROOMS = (
    *("bank", "cli", "tui", "memory/skills", "memory/views", "memory/reports"),
    *("memory/transfer", "memory/runs"),
)

# Words that mean something else here, where they are: the program itself, a question's two texts,
# facts of an episode or of a bank, keys of JSON.
ORDINARY = {
    *("deltamem", "task", "env", "title", "description", "content", "text", "key", "name", "shown"),
    *(
        "steps",
        "memory",
        "waiting",
        "read",
        "failure",
        "actions",
        "trajectory",
        "short",
        "cause",
        "solved",
    ),
}
# Banks of the first format say nothing of their method, so the format's reader knows it.
EXCEPTIONS = {("bank/manifest.py", "activation_condition")} | {
    ("bank/manifest.py", f"{part}_{what}")
    for part, what in (("execution", "procedure"), ("termination", "condition"))
}


def own_words() -> set[str]:
    """All names that methods give to themselves, their collections and the texts of nodes."""
    words = set(names())
    for method in map(method_named, names()):
        for name, collection in method.collections.items():
            words |= {name, *collection.fields}
    return (words - ORDINARY) | {f"memory.{name}" for name in names()}


def modules() -> list[Path]:
    return sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))


def said_in(tree: ast.AST, methods: Collection[str]) -> Iterator[str]:
    """The texts in a module, and what it imports of a method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.ImportFrom):
            inner = (node.module or "").removeprefix("deltamem_tui.memory.")
            if (name := inner.split(".")[0]) in methods:
                yield f"memory.{name}"


def test_no_module_of_the_faces_names_a_method_or_its_parts() -> None:
    words, methods = own_words(), names()
    found = {
        (path.relative_to(PACKAGE).as_posix(), text)
        for path in modules()
        for text in said_in(ast.parse(path.read_text()), methods)
        if text in words
    }
    assert found == EXCEPTIONS
