"""`deltamem import --queued`: the sessions that agents' hooks left."""

from __future__ import annotations

from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.cli.invocation import Invocation
from deltamem_tui.cli.page import Page
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.text import counted, one_line


def import_queued(invocation: Invocation, only: str | None) -> Result:
    """Take in the sessions that wait, those of one bank if it is named."""
    from deltamem_tui import paths
    from deltamem_tui.agents.queued_sessions import QueuedImport, take_queued
    from deltamem_tui.agents.session_files import StateFolder

    def record(found: QueuedImport) -> dict[str, Any]:
        session, report = found.session, found.report
        counts = ("imported", "grown", "updated", "duplicate")
        return {
            "agent": session.agent,
            "session": session.session,
            "bank": session.bank,
            **{name: report.count(name) if report else 0 for name in counts},  # type: ignore[arg-type]
            "receipts": report.receipts_added if report else 0,
            "waits": found.waits,
        }

    state = StateFolder(paths.state_folder())
    path = invocation.writable_bank(only) if only else None
    found = [
        *take_queued(state, lambda bank: Bank.open(invocation.writable_bank(bank)), path),
    ]
    errors: list[DeltaMemError] = [
        error
        for each in found
        for error in ([each.error] if each.error else (each.report.refusals if each.report else ()))
    ]
    records = [record(each) for each in found]
    data = {"sessions": records, "waiting": state.waiting()}

    def view(page: Page) -> None:
        columns = ("agent", "session", "bank", "imported", "grown", "duplicate", "receipts")
        rows = [tuple(one_line(str(each[name]), 60) for name in columns) for each in records]
        page.table(columns, rows, headed=True)

    taken = sum(each.report is not None for each in found)
    note = counted(taken, "session was taken in", "sessions were taken in")
    return Result("import", data, errors, Result.verdict(taken, errors), view=view, notes=[note])
