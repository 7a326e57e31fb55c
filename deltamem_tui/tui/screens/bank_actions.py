"""What can be done with a whole bank: forms whose answers become jobs that plan first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from textual.screen import Screen

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BankError, BankFrozenError, EmbeddingError, UsageError
from deltamem_tui.memory.domain import domain_named, known_domains
from deltamem_tui.memory.methods import DEFAULT, choices
from deltamem_tui.text import clean, counted, one_line
from deltamem_tui.trajectory.domains import GENERIC
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser
from deltamem_tui.tui.core.forms import FormAnswer, FormLine, about
from deltamem_tui.tui.core.work import BankChange, Progress, Retry
from deltamem_tui.tui.jobs import banks
from deltamem_tui.tui.models.banks import bank_lines


def is_own(browser: Browser, path: Path) -> bool:
    """Return whether a bank is the user's to write; if not, the reason is reported."""
    if not paths.is_shipped(path, browser.folder):
        return True
    install = browser.key_of("install_bank")
    error = BankFrozenError(
        "the bank came with the program and is read only",
        source=one_line(str(path)),
        hint=f"{install} on the list of banks makes a copy that can be written",
    )
    browser.notes.report(error)
    return False


def create(browser: Browser, source: Bank | None = None) -> None:
    """Ask what a new bank is to be.

    Args:
        browser: The program.
        source: The bank whose episodes it shall learn again; any, or none, if not given.
    """
    configuration = browser.configuration
    embedder, domain = configuration.embedder, configuration.domain
    why_not = ""
    if source is None:
        why_not = banks.why_not_at_hand(embedder)
    else:
        embedder, domain = str(source.manifest.embedder["model"]), source.manifest.domain
    label = "Search model (reembed changes it)" + (f" ({why_not})" if why_not else "")
    lines = (
        FormLine("name", "Name", hint="letters, digits, '.', '_' and '-'"),
        FormLine("domain", "Domain", domain, choices=known_domains(), free=True),
        FormLine("embedder", label, embedder, choices=banks.embedders(embedder), free=True),
        FormLine(
            "method", "Method", source.manifest.method if source else DEFAULT, choices=choices()
        ),
        FormLine("description", "What it is for", hint="may be empty"),
        FormLine(
            "episodes_from",
            "With the episodes of",
            source.path.name if source else "",
            "a bank, or none",
            choices=_banks(browser),
            free=True,
        ),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        # A path would place it where the list never looks.
        with about("name"):
            name = paths.check_bank_name(answer["name"])
            path = paths.new_bank_path(name, browser.folder)
        with about("domain"):
            domain = paths.check_domain(domain_named(clean(answer["domain"]).strip() or GENERIC))
        with about("episodes_from"):
            other = answer["episodes_from"]
            others = paths.find_bank(other, browser.folder) if other else None
        embedder, description = answer["embedder"], clean(answer["description"])

        def work(_: Progress) -> BankChange:
            with about("embedder", EmbeddingError), about("name", BankError):
                return banks.create(
                    path,
                    embedder=embedder,
                    domain=domain,
                    description=description,
                    method=answer["method"],
                    episodes_from=others,
                )

        return browser.work.start(
            f"creating {path.name}",
            lambda progress: banks.ask_about_domain(path, domain, work, progress),
            retry=retry,
        )

    title = f"Learn the episodes of {source.name} again" if source else "A new bank"
    browser.forms.ask(title, lines, begin, bank=source.path if source else None)


def _banks(browser: Browser) -> dict[str, str]:
    """Return the banks that there are, and how much each holds."""
    return {
        each.place.name: f"{counted(sum(each.nodes.values()), 'node')}, "
        f"{counted(each.episodes, 'episode')}"
        for each in bank_lines(browser.folder)
        if not each.error
    }


def freeze(browser: Browser, path: Path, *, frozen: bool) -> None:
    """Freeze a bank, which one key undoes; asks before a frozen one is unfrozen."""
    if not is_own(browser, path):
        return
    unfreeze = browser.key_of("freeze_bank")
    if frozen:
        browser.work.start("looking at what is frozen", lambda _: banks.plan_unfreeze(path))
    else:
        browser.work.start("freezing", lambda _: banks.freeze(path, unfreeze))


def rename(browser: Browser, path: Path) -> None:
    """Ask what a bank is to be called."""
    if not is_own(browser, path):
        return
    lines = (FormLine("name", "Name", path.name, "letters, digits, '.', '_' and '-'"),)

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        with about("name"):
            name = paths.check_bank_name(answer["name"])
        if name == path.name:
            with about("name"):
                raise UsageError("it is called so already")
        return browser.work.start("renaming", lambda _: banks.rename(path, name), retry=retry)

    browser.forms.ask(f"Rename {path.name}", lines, begin, bank=path)


def delete(browser: Browser, screen: Screen[None], path: Path) -> None:
    """Show what goes with a bank, and delete it once its name was typed."""
    from deltamem_tui.bank.place import BankContents, contents

    if not is_own(browser, path):
        return
    name = one_line(path.name, 60)

    def ask(found: BankContents) -> None:
        def begin(answer: FormAnswer, retry: Retry) -> bool:
            if answer["name"] != path.name:
                with about("name"):
                    raise UsageError(f"nothing was deleted: this is not {name}")
            return browser.work.start("deleting", lambda _: banks.delete(path, found), retry=retry)

        lines = (FormLine("name", "To delete it, type its name"),)
        preview = banks.deletion_lines(found)
        browser.forms.ask(f"Delete {name}?", lines, begin, bank=path, preview=lambda *_: preview)

    look_up(screen, "looking at what goes", lambda _: contents(path), ask)


def verify(browser: Browser, path: Path) -> None:
    """Check every file of a bank."""
    browser.work.start("verifying", lambda progress: banks.verify(path, progress), can_stop=True)


def export(browser: Browser, path: Path) -> None:
    """Ask where a bank is to go, and what goes along."""
    lines = (
        FormLine("out", "File", hint="./NAME.deltamem", path=True),
        FormLine("builder", "Built by", hint="same as last export"),
        FormLine("episodes", "include the episodes it was learnt from", tick=True),
        FormLine("journal", "include its history", tick=True),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        return browser.work.start(
            "looking for secrets",
            lambda _: banks.plan_export(
                path,
                answer["out"],
                episodes=bool(answer["episodes"]),
                journal=bool(answer["journal"]),
                builder=clean(answer["builder"]),
            ),
            retry=retry,
        )

    browser.forms.ask(f"Export {path.name}", lines, begin, bank=path)


def install(browser: Browser) -> None:
    """Ask what is to be installed."""
    lines = (
        FormLine("source", "An archive, or a bank's folder", hint="~/kitchen.deltamem", path=True),
        FormLine("name", "Name", hint="its own name"),
        FormLine("digest", "Its digest, if you know it", hint="sha256:…"),
        FormLine("writable", "make it writable", tick=True),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        if not answer["source"]:
            with about("source"):
                raise UsageError("name the archive, or the bank's folder")
        return browser.work.start(
            "checking",
            lambda _: banks.plan_install(
                answer["source"],
                browser.folder,
                name=answer["name"],
                digest=answer["digest"],
                writable=bool(answer["writable"]),
            ),
            retry=retry,
        )

    browser.forms.ask("Install a bank", lines, begin)


def merge(browser: Browser, path: Path) -> None:
    """Ask what is to be merged into a bank."""
    if not is_own(browser, path):
        return
    lines = (
        FormLine(
            "others",
            f"Banks to merge into {path.name}",
            hint="names or paths",
            choices={name: what for name, what in _banks(browser).items() if name != path.name},
            free=True,
        ),
        FormLine("episodes", "include their episodes", "yes", tick=True),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        with about("others"):
            others = _names(answer["others"])
        return plan_merge(browser, path, others, episodes=bool(answer["episodes"]), retry=retry)

    browser.forms.ask(f"Merge into {path.name}", lines, begin, bank=path)


def _names(typed: str) -> list[str]:
    """Return the names in a line; those with spaces in quotation marks."""
    if not typed:
        raise UsageError("enter one or more banks")
    try:
        return shlex.split(typed)
    except ValueError as error:
        raise UsageError("a quotation mark is left open") from error


def plan_merge(
    browser: Browser,
    path: Path,
    others: Sequence[str],
    *,
    episodes: bool = True,
    retry: Retry | None = None,
) -> bool:
    """Show what merging other banks into one would change, and ask."""
    return is_own(browser, path) and browser.work.start(
        "comparing",
        lambda _: banks.plan_merge(path, others, browser.folder, episodes=episodes),
        retry=retry,
    )
