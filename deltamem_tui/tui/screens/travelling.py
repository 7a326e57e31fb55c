"""Asking how banks shall come and go; the answers become jobs that plan first."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deltamem_tui.errors import UsageError
from deltamem_tui.text import clean
from deltamem_tui.tui.screens.base import BrowserScreen
from deltamem_tui.tui.widgets.dialogs import AskDialog, Field

Answer = Mapping[str, str] | None


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
        self.browser.push_screen(
            AskDialog(f"Export {path.name}", fields), lambda answer: self._export(path, answer)
        )

    def _export(self, path: Path, answer: Answer) -> None:
        if answer is None:
            return
        from deltamem_tui.tui.jobs.travelling import plan_export

        self.browser.work(
            "looking for secrets",
            lambda _: plan_export(
                path,
                answer["out"],
                episodes=bool(answer["episodes"]),
                journal=bool(answer["journal"]),
                builder=clean(answer["builder"]),
            ),
        )

    def action_install_bank(self) -> None:
        """Ask what shall be installed."""
        fields = (
            Field("source", "An archive, or a bank's folder", hint="~/kitchen.deltamem"),
            Field("name", "Name", hint="as it is called"),
            Field("digest", "Its digest, if you were told", hint="sha256:…"),
            Field("writable", "may be written from now on", tick=True),
        )
        self.browser.push_screen(AskDialog("Install a bank", fields), self._install)

    def _install(self, answer: Answer) -> None:
        if not answer or not answer["source"]:
            return
        from deltamem_tui.tui.jobs.travelling import plan_install

        folder = self.browser.folder
        self.browser.work(
            "checking",
            lambda _: plan_install(
                answer["source"],
                folder,
                name=answer["name"],
                digest=answer["digest"],
                writable=bool(answer["writable"]),
            ),
        )

    def action_merge_banks(self) -> None:
        """Ask what shall be merged into the bank."""
        if (path := self.chosen_path()) is None or not self.browser.is_own(path):
            return
        fields = (
            Field("others", f"Banks whose nodes {path.name} shall get too", hint="names or paths"),
            Field("episodes", "with their episodes", "yes", tick=True),
        )
        self.browser.push_screen(
            AskDialog(f"Merge into {path.name}", fields), lambda answer: self._merge(path, answer)
        )

    def _merge(self, path: Path, answer: Answer) -> None:
        if not answer or not answer["others"]:
            return
        import shlex

        from deltamem_tui.tui.jobs.travelling import plan_merge

        try:
            others = shlex.split(answer["others"])
        except ValueError:
            self.browser.tell_error(UsageError("a quotation mark is left open"))
            return
        folder, episodes = self.browser.folder, bool(answer["episodes"])
        self.browser.work(
            "comparing", lambda _: plan_merge(path, others, folder, episodes=episodes)
        )
