"""Actions on a whole bank: forms whose answers become jobs that plan first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.screen import Screen

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.errors import BankError, BankFrozenError, EmbeddingError, UsageError
from deltamem_tui.memory.domain import known_domains
from deltamem_tui.memory.methods import DEFAULT, choices
from deltamem_tui.text import clean, one_line
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser
from deltamem_tui.tui.core.forms import FormAnswer, FormLine, about
from deltamem_tui.tui.core.work import BankChange, Progress, Retry
from deltamem_tui.tui.jobs import agent_sessions, banks
from deltamem_tui.tui.jobs.agent_sessions import AgentSessions

_NO_BANK = "(none)"
"""No bank can have this name."""


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
    """Ask what a new bank is to be; one that learns the episodes of `source` again, if given."""
    configuration = browser.configuration
    embedder, domain = configuration.embedder, configuration.domain
    if source is not None:
        embedder, domain = str(source.manifest.embedder["model"]), source.manifest.domain
    others = {_NO_BANK: "", **banks.bank_choices(browser.folder)}
    lines = (
        FormLine("name", "Name", hint="letters, digits, '.', '_' and '-'"),
        FormLine("domain", "Domain", domain, choices={domain: "", **known_domains()}),
        FormLine(
            "embedder",
            "Search model (reembed changes it)",
            embedder,
            choices=banks.embedders(embedder),
        ),
        FormLine(
            "method", "Method", source.manifest.method if source else DEFAULT, choices=choices()
        ),
        FormLine("description", "What it is for", hint="may be empty"),
        FormLine(
            "episodes_from",
            "With the episodes of",
            source.path.name if source else _NO_BANK,
            choices=others,
        ),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        # A path would place it where the list never looks.
        with about("name"):
            name = paths.check_bank_name(answer["name"])
            path = paths.new_bank_path(name, browser.folder)
        other = answer["episodes_from"]
        others = None if other == _NO_BANK else paths.find_bank(other, browser.folder)
        embedder, description = answer["embedder"], clean(answer["description"])

        def work(_: Progress) -> BankChange:
            with about("embedder", EmbeddingError), about("name", BankError):
                return banks.create(
                    path,
                    embedder=embedder,
                    domain=answer["domain"],
                    description=description,
                    method=answer["method"],
                    episodes_from=others,
                )

        return browser.work.start(f"creating {path.name}", work, retry=retry)

    title = f"Learn the episodes of {source.name} again" if source else "A new bank"
    browser.forms.ask(title, lines, begin, bank=source.path if source else None)


def bring_sessions(browser: Browser, found: Sequence[AgentSessions]) -> None:
    """Ask which agent's sessions become a new bank, make it and import them."""
    readable = {each.agent: each for each in found if each.pattern}
    if not readable:
        create_key = browser.key_of("create_bank")
        others = "; ".join(f"{each.agent} has {each.hint}" for each in found)
        browser.notes.notify(
            f"no sessions of a coding agent were found; {create_key} makes a bank to import logs "
            f"into{f' ({others})' if others else ''}"
        )
        return
    lines = (
        FormLine(
            "agent",
            "Whose sessions?",
            max(readable.values(), key=lambda each: each.count).agent,
            choices={name: each.hint for name, each in readable.items()},
        ),
        FormLine("name", "Name of the new bank", "sessions"),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        with about("name"):
            name = paths.check_bank_name(answer["name"])
            path = paths.new_bank_path(name, browser.folder)
        chosen, configuration = readable[answer["agent"]], browser.configuration
        return browser.work.start(
            f"importing {chosen.hint} of {chosen.agent}",
            lambda progress: agent_sessions.import_sessions(path, chosen, configuration, progress),
            can_stop=True,
            retry=retry,
        )

    browser.forms.ask("Bring your agent's sessions", lines, begin)


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
        FormLine("source", "An archive, or a bank to copy", hint="~/kitchen.deltamem", path=True),
        FormLine("name", "Name", hint="its own name"),
        FormLine("digest", "Its digest, if you know it", hint="sha256:…"),
        FormLine("writable", "make it writable", tick=True),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        if not answer["source"]:
            with about("source"):
                raise UsageError("name the archive")
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
    fitting, unfit = banks.merge_choices(path, browser.folder)
    preview = [f"not offered: {name}: {why}" for name, why in unfit.items()]
    if not fitting:
        browser.notes.notify("; ".join(["there is no bank to merge into this one", *preview]))
        return
    lines = (
        FormLine("other", f"Bank to merge into {path.name}", choices=fitting),
        FormLine("episodes", "include its episodes", "yes", tick=True),
    )

    def begin(answer: FormAnswer, retry: Retry) -> bool:
        return browser.work.start(
            "comparing",
            lambda _: banks.plan_merge(
                path, answer["other"], browser.folder, episodes=bool(answer["episodes"])
            ),
            retry=retry,
        )

    title = f"Merge into {path.name}"
    browser.forms.ask(title, lines, begin, bank=path, preview=lambda *_: preview)
