"""What a client may write where that is allowed: logs of episodes, and how they ended."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from pydantic import Field

from deltamem_tui.agents.answers import ImportAnswer, NotedOutcome
from deltamem_tui.agents.served_banks import ServedBanks
from deltamem_tui.agents.tools import BankName, errors_for_clients
from deltamem_tui.memory.credit.credit import append_receipt
from deltamem_tui.memory.episodes.importer import ImportOptions
from deltamem_tui.memory.episodes.log_import import LogImport
from deltamem_tui.memory.episodes.outcomes import find_episode, give_outcome
from deltamem_tui.trajectory.receipt import parsed
from deltamem_tui.trajectory.receipt_file import read_receipts
from deltamem_tui.trajectory.user_outcomes import user_outcomes

_LONGEST_LOG = 2_000_000
_MOST_ERRORS = 20
_BEYOND_A_NAME = re.compile(r"[^\w.-]")

Episode = Annotated[
    str,
    Field(max_length=64, description="An episode's id, how it begins, or `last`: the newest one."),
]
Success = Annotated[bool, Field(description="Whether the episode's task was solved.")]
Log = Annotated[
    str, Field(max_length=_LONGEST_LOG, description="The log's text, in any known format.")
]
LogName = Annotated[
    str, Field(max_length=100, description="The name of its file, which some formats need.")
]
Outcome = Annotated[
    Literal["success", "failure"] | None,
    Field(description="How its episodes ended, if the log does not say."),
]
Shown = Annotated[
    dict[str, Any] | None, Field(description="The receipt of the recall that the agent was given.")
]


class WritingTools:
    """What can be written, over some banks."""

    def __init__(self, banks: ServedBanks) -> None:
        self._banks = banks

    def note_outcome(
        self, episode: Episode, success: Success, bank: BankName = None
    ) -> NotedOutcome:
        """Note how an episode ended, in the user's name. Call it only with what the user said.

        It counts more than what the log says, and can be taken back.
        """
        with errors_for_clients(), self._banks.writable_bank(bank) as opened:
            known = give_outcome(opened, find_episode(opened, episode), success=success)
            return {
                "bank": opened.name,
                "episode": known.id,
                "task": known.task,
                "success": bool(known.outcome.success),
            }

    def import_log(
        self,
        log: Log,
        name: LogName = "log.jsonl",
        outcome: Outcome = None,
        receipt: Shown = None,
        bank: BankName = None,
    ) -> ImportAnswer:
        """Import the episodes of a log, each once. They wait until the bank's owner lets it learn.

        Keys, tokens and passwords are removed from every text first.
        """
        with (
            errors_for_clients(),
            TemporaryDirectory(prefix="deltamem-") as folder,
            self._banks.writable_bank(bank) as opened,
        ):
            plain = _BEYOND_A_NAME.sub("_", PurePath(name).name)
            file = Path(folder) / "logs" / (plain if plain.strip(".") else "log.jsonl")
            file.parent.mkdir()
            file.write_text(log, encoding="utf-8", errors="replace")
            options: ImportOptions = {}
            if outcome:
                options["outcomes"] = user_outcomes(outcome, success_at=1)
            if receipt is not None:
                shown = Path(folder) / "receipts.jsonl"
                append_receipt(shown, parsed(receipt))
                options["receipts"] = read_receipts(str(shown))
            job = LogImport(opened, [str(file)], **options)
            job.run()
            found = job.report
            return {
                "bank": opened.name,
                "imported": [e.arrival.id for e in found.entries if e.reception == "imported"],
                "duplicates": found.count("duplicate"),
                "errors": [str(error) for error in found.refusals][:_MOST_ERRORS],
            }
