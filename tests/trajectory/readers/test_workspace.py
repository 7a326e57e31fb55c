from __future__ import annotations

import pytest

from deltamem_tui.trajectory.readers.coding import (
    repository_name,
    tool_names,
    without_home,
    workspace,
)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/ada/calc", "~/calc"),
        ("/Users/ada", "~"),
        ("/root/calc", "~/calc"),
        ("C:\\Users\\ada\\calc", "~\\calc"),
        ("/rooted/calc", "/rooted/calc"),
        ("/srv/home/ada", "/srv/home/ada"),
        ("", ""),
    ],
)
def test_without_home(path: str, shown: str) -> None:
    assert without_home(path) == shown


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git@example.org:ada/calc.git", "ada/calc"),
        ("https://ada:pw@example.org/ada/calc.git", "ada/calc"),
        ("https://example.org/group/ada/calc/", "group/ada/calc"),
        ("ssh://git@example.org:22/ada/calc", "ada/calc"),
        ("ada/calc", "ada/calc"),
        ("testbed", "testbed"),
    ],
)
def test_repository_name(address: str, name: str) -> None:
    assert repository_name(address) == name


def test_only_what_is_known_is_said() -> None:
    assert workspace() == ""
    assert workspace(language="c", system="linux", tools=["a", "b", "a", ""]) == (
        "Language: c\nOperating system: linux\nTools: a, b"
    )


def test_tool_names() -> None:
    tools = [{"function": {"name": "a"}}, {"name": "b"}, {"title": "c"}, "d", {}, 3]
    assert tool_names(tools) == ["a", "b", "c", "d"]
    assert tool_names(None) == []
