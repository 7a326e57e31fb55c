"""`deltamem parameters`: the method's numbers of a bank."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from deltamem_tui.cli import options
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result

Changes = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME=VALUE]…", help="What to change, such as task.tau_base=0.8"),
]


def run(context: typer.Context, bank: options.Bank, changes: Changes = None) -> Result:
    """Show the method's numbers of a bank, or change some.

    Without changes it lists the names and values that the bank's method has.

    DeltaMem has, per tree: tau_base, the threshold that a node must score to be a match;
    failure_penalty, taken off the similarity of what failed; d_max, the deepest level, below
    which a difference is written beside its match; k_cons, after how many hits a chain is fused
    into a new root (`none`: never); enabled, whether the tree is used at all; tau_fixed, whether
    the threshold stays: else a new bank's first episodes replace it. To set the threshold fixes
    it. Of the task tree alone: recall, how it is asked: `kind` looks for the kind of goal first,
    `paper` takes the best node from the threshold up. Of neither: budget, how many tokens the
    entries of a context may have, the procedure aside.

    Every method has admission, forgetting with its numbers, capacity, utility and half_life:
    `deltamem forget`, and docs/credit.md.
    """
    from functools import reduce

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.memory.methods import change_settings, settings_of
    from deltamem_tui.memory.settings import assigned, listed, to_record

    invocation = Invocation.of(context)
    opened = Bank.open(invocation.writable_bank(bank) if changes else invocation.bank(bank))
    if changes:
        change_settings(opened, "user", lambda numbers: reduce(assigned, changes, numbers))
    parameters = settings_of(opened)
    columns: dict[str, Any] = to_record(parameters)

    def view(page: Page) -> None:
        groups = {name: each for name, each in columns.items() if isinstance(each, dict)}
        page.facts({name: _shown(each) for name, each in columns.items() if name not in groups})
        names = dict.fromkeys(name for numbers in groups.values() for name in numbers)
        known = {setting.path for setting in listed(parameters)}
        rows = [
            (
                name,
                *(
                    _shown(each.get(name)) if f"{group}.{name}" in known else ""
                    for group, each in groups.items()
                ),
            )
            for name in names
        ]
        if rows:
            page.table(("", *groups), rows)

    return Result("parameters", {"bank": opened.name, "parameters": columns}, view=view)


def _shown(value: object) -> str:
    return (
        "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )
