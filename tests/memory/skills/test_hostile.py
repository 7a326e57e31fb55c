"""Folders of skills that mean harm: each is refused in one line, or taken in safely and soon."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest
from msgspec import structs

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.bank.verify import verify
from deltamem_tui.embedding.load import load
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.method import DEFAULT, method_named
from deltamem_tui.memory.skills import install
from deltamem_tui.memory.skills.install import install_skills, read_skills
from deltamem_tui.memory.skills.layout import record_of, section
from deltamem_tui.text import clean

SECRET = "nobody may read this"
SECONDS = 20
PATIENCE = 120
MEMORY = 1_500_000_000


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def private(folder: Path) -> Path:
    """A folder beside the skills that they have no business in."""
    elsewhere = folder.with_name("private")
    write(elsewhere / "SKILL.md", SECRET)
    write(elsewhere / "references" / "a.md", SECRET)
    return elsewhere


def linked(folder: Path, name: str, target: str) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(private(folder) / target)
    return folder / name


def node(text: str, parent: Node | None = None) -> Node:
    return born("task", parent, "success", Payload(text, text), Origin())


def record(each: Node, **changed: object) -> dict[str, Any]:
    known, _ = record_of("task", each, 0)
    return {**msgspec.to_builtins(known), **changed}


def page(folder: Path, *records: dict[str, Any], text: str = "", **facts: object) -> None:
    """A listed page with nodes, and whatever text."""
    sections = [
        f"## {number}. x\n\n{section(method_named(DEFAULT), 'task', node('boil'))}\n"
        for number in range(1, len(records) + 1)
    ]
    write(folder / "x/how.md", text or "\n".join(sections))
    listed = {"digest": "0" * 64, "tree": "task", "nodes": records} | facts
    write(folder / "deltamem.json", listing(files={"x/how.md": listed}))


def boiling(text: str) -> Callable[[Path], object]:
    """A listed page of one node with some text around its own."""
    own = section(method_named(DEFAULT), "task", node("boil"))
    return lambda folder: page(folder, record(node("boil")), text=f"## 1. x\n\n{own}\n{text}")


def chain(length: int) -> Iterator[dict[str, Any]]:
    """Records of a chain, each below the one before."""
    last = None
    for place in range(length):
        last = node("boil", structs.replace(last, depth=1) if last else None)
        yield record(last, place=place)


def listing(**facts: object) -> bytes:
    return orjson.dumps({"skills_format": 3} | facts)


def odd(name: str, text: str | bytes = "hello") -> Callable[[Path], object]:
    """A listed page, and another file beside it."""

    def make(folder: Path) -> None:
        page(folder, record(node("boil")))
        write(folder / name, text)

    return make


def pipe(folder: Path) -> None:
    odd("x/how.md")(folder)
    (folder / "x/how.md").unlink()
    os.mkfifo(folder / "x/how.md")


REFUSED: dict[str, Callable[[Path], object]] = {
    "a linked folder": lambda folder: (odd("a")(folder), linked(folder, "y", ".")),
    "a link to nowhere": lambda folder: (odd("a")(folder), linked(folder, "x/y", "nowhere")),
    "a linked page": lambda folder: (odd("a")(folder), linked(folder, "x/how2.md", "SKILL.md")),
    "a linked list": lambda folder: linked(folder, "deltamem.json", "references/a.md"),
    "a pipe": pipe,
    "no text": odd("x/how.md", b"\xff\xfe\x00"),
    "a file of 40 MB": odd("x/how.md", "a" * 40_000_000),
    "a ring": lambda folder: page(
        folder,
        record(node("boil"), id="a" * 16, parent="b" * 16),
        record(node("boil"), id="b" * 16, parent="a" * 16),
    ),
    "a node twice": lambda folder: page(folder, record(node("boil")), record(node("boil"))),
    "a number twice": lambda folder: page(
        folder, record(node("a")), record(node("b")), text="## 1. a\n\n## 1. a\n"
    ),
    "too deep a chain": lambda folder: page(folder, *chain(10_001)),
    "an odd tree": lambda folder: page(folder, record(node("boil")), tree="shrub"),
    "a deep list": lambda folder: write(
        folder / "deltamem.json", b'{"bank":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    ),
    "a list of everything": lambda folder: write(
        folder / "deltamem.json", '{"skills_format":3,"x":[' + "[]," * 9_000_000 + "[]]}"
    ),
    "a list of nothing": lambda folder: write(folder / "deltamem.json", listing(files=5)),
    "another format": lambda folder: write(folder / "deltamem.json", '{"skills_format":1}'),
}

TAKEN: dict[str, Callable[[Path], object]] = {
    "a heading of blanks": boiling("# x" + " " * 400_000 + "y\n"),
    "a number without an end": boiling("## " + "1" * 400_000 + "\n"),
    "a line of backticks": boiling("`" * 1_000_000 + "a`\n" + "`" * 1_000_000),
    "fences that never close": boiling("\n".join("`" * (3 + n % 500) + "x" for n in range(20_000))),
    "control characters": boiling("h\x1b[31mow\x00\u202e"),
    "another program's skill": odd("y/SKILL.md"),
}


def bounded(action: Callable[[], object]) -> bool:
    """Do something within limits of processor time and memory, in a process of its own.

    Returns:
        Whether it was done; False if it raised an error for people, of one line.
    """
    child = os.fork()
    if child == 0:
        code = 9
        try:
            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            signal.alarm(PATIENCE)  # for what waits and computes nothing, as at a pipe
            action()
            code = 0
        except DeltaMemError as error:
            code = 1 if "\n" not in str(error) and error.source else 8
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert not os.WIFSIGNALED(status)
    assert os.waitstatus_to_exitcode(status) in {0, 1}
    return os.waitstatus_to_exitcode(status) == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "skills"
    made.mkdir()
    return made


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(folder: Path, name: str) -> None:
    REFUSED[name](folder)
    assert not bounded(lambda: read_skills(folder))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TAKEN)
def test_it_is_taken_in(folder: Path, tmp_path: Path, name: str) -> None:
    TAKEN[name](folder)

    def taken() -> None:
        bank = install_skills(read_skills(folder), tmp_path / "bank", embedder=load("hashing"))
        assert len(bank.tree("task")) == 1
        assert verify(bank) == []
        assert all(clean(each.text) == each.text for each in bank.tree("task"))

    assert bounded(taken)


def test_no_more_is_looked_at_than_there_may_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page(folder, record(node("boil")))
    size = (folder / "x" / "how.md").stat().st_size
    for limit, most in {"MOST_FILES": 3, "ALL_BYTES": size, "FILE_BYTES": size}.items():
        monkeypatch.setattr(install, limit, most)
        assert len(read_skills(folder).nodes["task"]) == 1
        monkeypatch.setattr(install, limit, most - 1)
        with pytest.raises(DeltaMemError):
            read_skills(folder)
        monkeypatch.undo()


@pytest.mark.parametrize(
    "facts",
    [
        {"provenance": {"x": orjson.loads("[" * 500 + "]" * 500)}},
        {"provenance": {"x": "y" * 3_000_000}},
        {"parameters": {"task": 5}},
        {"parameters": {"task": {"tau_base": "high"}}},
        {"parameters": {"shrub": {}}},
        {"parameters": [[]]},
        {"name": ["x"], "description": {}, "domain": 5, "embedder": "all"},
    ],
)
def test_odd_facts_make_no_odd_bank(folder: Path, tmp_path: Path, facts: dict[str, object]) -> None:
    # Not by orjson, which writes no lists so deep, but reads them.
    write(folder / "deltamem.json", json.dumps({"skills_format": 3, "bank": facts}))
    try:
        bank = install_skills(read_skills(folder), tmp_path / "bank", embedder=load("hashing"))
    except DeltaMemError as error:
        assert "\n" not in str(error)  # noqa: PT017 - refused or sound, either is right
        assert not (tmp_path / "bank").exists()
    else:
        assert verify(bank) == []
        assert len((bank.path / "bank.json").read_bytes()) < 10_000
