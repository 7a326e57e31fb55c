"""Asking for logs to import, and by what to learn from the episodes that wait."""

from __future__ import annotations

from pathlib import Path

from textual.message import Message

from deltamem_tui.errors import BudgetError, LanguageModelError, UsageError
from deltamem_tui.text import one_line
from deltamem_tui.tui.background import Progress
from deltamem_tui.tui.form_errors import about
from deltamem_tui.tui.forms import Answer
from deltamem_tui.tui.jobs.extracting import NAME, ModelChoice, extract_by_rules, plan_by_model
from deltamem_tui.tui.jobs.importing import import_logs
from deltamem_tui.tui.messages import Again, Changed, Planned
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.widgets.dialogs import Field


class TakingInScreen(BankScreen):
    """A screen that lets a person give the open bank episodes, and have it learn from them."""

    def action_import_logs(self) -> None:
        """Ask for logs."""
        if self.writable():
            fields = (
                Field("path", "Log: a file, a folder or a pattern", hint="runs/*.jsonl"),
                Field("format", "Format", hint="by content"),
            )
            self.browser.ask("Import episodes", fields, self._import, bank=self.bank.path)

    def _import(self, answer: Answer, again: Again) -> bool:
        if not answer["path"]:
            raise UsageError("name a log")
        path, called = self.bank.path, answer["format"]
        log = str(Path(answer["path"]).expanduser())

        def work(progress: Progress) -> Changed | Planned:
            from deltamem_tui.trajectory.readers.detection import reader_named

            with about("format"):
                _ = reader_named(called) if called else None
            return import_logs(path, log, called, progress)

        return self.browser.work(
            f"importing {one_line(answer['path'], 40)}",
            work,
            can_stop=True,
            again=again,
        )

    def action_extract(self) -> None:
        """Ask by what to learn from the waiting episodes."""
        if not self.writable():
            return
        if not self.bank.episodes.waiting():
            key = self.browser.key_of("import_logs")
            self.browser.tell(f"no episode waits to be learnt; {key} imports some")
            return
        fields = (
            Field(
                "model",
                "Language model, as litellm names it",
                self.browser.configuration.model or "",
                "empty: the rules, which cost nothing",
            ),
            Field("max_cost", "At most, in US dollars", hint="no limit"),
            Field("concurrency", "Questions at once", "1"),
            Field("address", "A server of your own", hint="http://localhost:8000/v1"),
        )
        title = "Learn from the waiting episodes"
        self.browser.ask(title, fields, self._learn, bank=self.bank.path)

    def _learn(self, answer: Answer, again: Again) -> bool:
        path, configuration = self.bank.path, self.browser.configuration
        if not answer["model"]:
            return self.browser.work(
                NAME, lambda progress: extract_by_rules(path, progress), can_stop=True, again=again
            )
        choice = ModelChoice.of(**answer)

        def rehearse(progress: Progress) -> Message:
            with about("model", LanguageModelError), about("max_cost", BudgetError):
                return plan_by_model(path, choice, configuration, progress)

        return self.browser.work("rehearsing", rehearse, can_stop=True, again=again)
