"""What can be done with a whole bank: forms whose answers become jobs that plan first."""

from __future__ import annotations

import shlex
from pathlib import Path

from deltamem_tui import paths
from deltamem_tui.errors import BankError, BankFrozenError, EmbeddingError, UsageError
from deltamem_tui.memory.methods import DEFAULT, titles
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.domains import domain_named
from deltamem_tui.tui.core.browser import Browser
from deltamem_tui.tui.core.forms import FormAnswer, FormLine, about
from deltamem_tui.tui.core.job import BankChange, Progress, Retry
from deltamem_tui.tui.jobs import banks


def is_own(browser: Browser, path: Path) -> bool:
    """Whether a bank is the user's to write; if not, the reason is reported."""
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


def create(browser: Browser) -> None:
    """Asks what a new bank is to be."""
    configuration = browser.configuration
    embedder, why_not = banks.proposed_embedder(configuration.embedder)
    label = "Embedder, for good" + (f" ({why_not})" if why_not else "")
    lines = (
        FormLine("name", "Name", hint="letters, digits, '.', '_' and '-'"),
        FormLine("domain", "Domain", configuration.domain, "alfworld, scienceworld, webshop, …"),
        FormLine("embedder", label, embedder, "minilm, hashing, or a sentence-transformers model"),
        FormLine("method", "Method", DEFAULT, choices=titles()),
        FormLine("description", "What it is for", hint="may be empty"),
        FormLine("episodes_from", "With the episodes of", hint="a bank, or none"),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        # A path would place it where the list never looks.
        with about("name"):
            name = paths.check_bank_name(answer["name"])
            path = paths.new_bank_path(name, browser.folder)
        with about("domain"):
            domain = paths.check_domain(domain_named(clean(answer["domain"]).strip() or "generic"))
        with about("episodes_from"):
            other = answer["episodes_from"]
            source = paths.find_bank(other, browser.folder) if other else None
        embedder, description = answer["embedder"], clean(answer["description"])

        def work(_: Progress) -> BankChange:
            with about("embedder", EmbeddingError), about("name", BankError):
                return banks.create(
                    path,
                    embedder=embedder,
                    domain=domain,
                    description=description,
                    method=answer["method"],
                    episodes_from=source,
                )

        return browser.work.start(f"creating {path.name}", work, retry=retry)

    browser.forms.ask("A new bank", lines, begin)


def freeze(browser: Browser, path: Path, *, frozen: bool) -> None:
    """Freezes a bank, which one key undoes; asks before a frozen one is unfrozen."""
    if not is_own(browser, path):
        return
    unfreeze = browser.key_of("freeze_bank")
    if frozen:
        browser.work.start("looking at what is frozen", lambda _: banks.plan_unfreeze(path))
    else:
        browser.work.start("freezing", lambda _: banks.freeze(path, unfreeze))


def verify(browser: Browser, path: Path) -> None:
    """Checks every file of a bank."""
    browser.work.start("verifying", lambda progress: banks.verify(path, progress), can_stop=True)


def export(browser: Browser, path: Path) -> None:
    """Asks where a bank is to go, and what goes along."""
    lines = (
        FormLine("out", "File", hint="here, called like the bank"),
        FormLine("builder", "Who built it", hint="as it says already"),
        FormLine("episodes", "with the episodes that it was learnt from", tick=True),
        FormLine("journal", "with its history", tick=True),
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
    """Asks what is to be installed."""
    lines = (
        FormLine("source", "An archive, or a bank's folder", hint="~/kitchen.deltamem"),
        FormLine("name", "Name", hint="as it is called"),
        FormLine("digest", "Its digest, if you were told", hint="sha256:…"),
        FormLine("writable", "may be written from now on", tick=True),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        if not answer["source"]:
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
    """Asks what is to be merged into a bank."""
    if not is_own(browser, path):
        return
    lines = (
        FormLine("others", f"Banks whose nodes {path.name} shall get too", hint="names or paths"),
        FormLine("episodes", "with their episodes", "yes", tick=True),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        if not answer["others"]:
            raise UsageError("name a bank, or several")
        try:
            others = shlex.split(answer["others"])
        except ValueError as error:
            raise UsageError("a quotation mark is left open") from error
        episodes = bool(answer["episodes"])
        return browser.work.start(
            "comparing",
            lambda _: banks.plan_merge(path, others, browser.folder, episodes=episodes),
            retry=retry,
        )

    browser.forms.ask(f"Merge into {path.name}", lines, begin, bank=path)
