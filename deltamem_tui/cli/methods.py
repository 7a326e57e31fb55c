"""`deltamem methods`: the memory methods that a bank can be made for."""

from __future__ import annotations

from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result


def run() -> Result:
    """List the memory methods, one of which a new bank is made for."""
    from deltamem_tui.memory.methods import titles

    found = titles()

    def view(page: Page) -> None:
        page.table(("method", "what it keeps"), found.items())

    data = [{"name": name, "title": title} for name, title in found.items()]
    return Result("methods", {"methods": data}, view=view)
