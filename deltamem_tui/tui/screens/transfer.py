"""Asking how banks shall come and go; the answers become jobs that plan first."""

from __future__ import annotations

from pathlib import Path

from deltamem_tui.errors import UsageError
from deltamem_tui.text import clean
from deltamem_tui.tui.forms import Answer
from deltamem_tui.tui.messages import Again
from deltamem_tui.tui.screens.base import BrowserScreen
from deltamem_tui.tui.widgets.dialogs import Field


class TravellingScreen(BrowserScreen):
    """A screen that shows a bank and lets a person export, install and merge."""

    def chosen_path(self) -> Path | None:
        """The bank under the cursor; None if there is none."""
        raise NotImplementedError

    def action_export_bank(self) -> None:
        """Ask where the bank shall go, and what goes along."""
        if (path := self.chosen_path()) is None:
            return
        fields = (
            Field("out", "File", hint="here, called like the bank"),
            Field("builder", "Who built it", hint="as it says already"),
            Field("episodes", "with the episodes that it was learnt from", tick=True),
            Field("journal", "with its history", tick=True),
        )
        self.browser.ask(
            f"Export {path.name}",
            fields,
            lambda answer, again: self._export(path, answer, again),
            bank=path,
        )

    def _export(self, path: Path, answer: Answer, again: Again) -> bool:
        from deltamem_tui.tui.jobs.transfer import plan_export

        return self.browser.work(
            "looking for secrets",
            lambda _: plan_export(
                path,
                answer["out"],
                episodes=bool(answer["episodes"]),
                journal=bool(answer["journal"]),
                builder=clean(answer["builder"]),
            ),
            again=again,
        )

    def action_install_bank(self) -> None:
        """Ask what shall be installed."""
        fields = (
            Field("source", "An archive, or a bank's folder", hint="~/kitchen.deltamem"),
            Field("name", "Name", hint="as it is called"),
            Field("digest", "Its digest, if you were told", hint="sha256:…"),
            Field("writable", "may be written from now on", tick=True),
        )
        self.browser.ask("Install a bank", fields, self._install)

    def _install(self, answer: Answer, again: Again) -> bool:
        from deltamem_tui.tui.jobs.transfer import plan_install

        if not answer["source"]:
            raise UsageError("name the archive, or the bank's folder")
        folder = self.browser.folder
        return self.browser.work(
            "checking",
            lambda _: plan_install(
                answer["source"],
                folder,
                name=answer["name"],
                digest=answer["digest"],
                writable=bool(answer["writable"]),
            ),
            again=again,
        )

    def action_merge_banks(self) -> None:
        """Ask what shall be merged into the bank."""
        if (path := self.chosen_path()) is None or not self.browser.is_own(path):
            return
        fields = (
            Field("others", f"Banks whose nodes {path.name} shall get too", hint="names or paths"),
            Field("episodes", "with their episodes", "yes", tick=True),
        )
        self.browser.ask(
            f"Merge into {path.name}",
            fields,
            lambda answer, again: self._merge(path, answer, again),
            bank=path,
        )

    def _merge(self, path: Path, answer: Answer, again: Again) -> bool:
        import shlex

        from deltamem_tui.tui.jobs.transfer import plan_merge

        if not answer["others"]:
            raise UsageError("name a bank, or several")
        try:
            others = shlex.split(answer["others"])
        except ValueError as error:
            raise UsageError("a quotation mark is left open") from error
        folder, episodes = self.browser.folder, bool(answer["episodes"])
        return self.browser.work(
            "comparing",
            lambda _: plan_merge(path, others, folder, episodes=episodes),
            again=again,
        )
