"""Actions on a whole bank: made, frozen, verified, renamed, deleted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from deltamem_tui import paths
from deltamem_tui.bank.bank import Bank
from deltamem_tui.config import PUBLISHED_EMBEDDER
from deltamem_tui.embedding.load import HASHING, MINILM
from deltamem_tui.errors import BankError, BankFrozenError, EmbeddingError, UsageError
from deltamem_tui.memory.domain import known_domains
from deltamem_tui.memory.method import DEFAULT, choices
from deltamem_tui.text import clean, counted, one_line
from deltamem_tui.tui.core.background import look_up
from deltamem_tui.tui.core.browser import Browser
from deltamem_tui.tui.core.forms import FormAnswer, FormLine, about
from deltamem_tui.tui.core.work import BankChange, Info, Outcome, Progress, WorkPlan
from deltamem_tui.tui.jobs import agent_sessions
from deltamem_tui.tui.jobs.agent_sessions import AgentSessions
from deltamem_tui.tui.models.sections import Section

if TYPE_CHECKING:
    from deltamem_tui.bank.place import BankContents


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


def bank_facts(bank: Bank) -> str:
    """Return how much a bank holds, beside its name in a list of choices."""
    nodes = counted(sum(map(len, bank.trees.values())), "node")
    return f"{bank.manifest.domain}, {nodes}, {counted(len(bank.episodes), 'episode')}"


# Making


def embedders(wanted: str) -> dict[str, str]:
    """Return what can embed a new bank's texts, and what each is good for; the wanted one first."""
    about_them = {
        MINILM: "built in\nunderstands paraphrases; loads in seconds",
        PUBLISHED_EMBEDDER: "the model of the published thresholds\nunderstands paraphrases; "
        "needs the extra `transformers` and, once, a download of some 440 MB",
        HASHING: "no model, only the words themselves\nat once and everywhere the same; "
        "does not know that two words mean the same",
    }
    return {wanted: about_them.get(wanted, "the one of the settings"), **about_them}


def create(browser: Browser, source: Bank | None = None) -> None:
    """Ask what a new bank is to be; one that learns the episodes of `source` again, if given."""
    embedder, domain, method = browser.configuration.embedder, browser.configuration.domain, DEFAULT
    if source is not None:
        embedder, domain = str(source.manifest.embedder["model"]), source.manifest.domain
        method = source.manifest.method
    label = "Search model (reembed changes it)"
    lines = (
        FormLine("name", "Name", hint="letters, digits, '.', '_' and '-'"),
        FormLine("domain", "Domain", domain, choices={domain: "", **known_domains()}),
        FormLine("embedder", label, embedder, choices=embedders(embedder)),
        FormLine("method", "Method", method, choices=choices()),
        FormLine("description", "What it is for", hint="may be empty"),
    )
    title = f"Learn the episodes of {source.name} again" if source else "A new bank"
    path = source.path if source else None
    browser.forms.ask_to("creating", title, lines, partial(_create, browser, source), bank=path)


def new_path(browser: Browser, name: str) -> Path:
    """Return where a new bank will be. A path would place it where the list never looks."""
    with about("name"):
        return paths.new_bank_path(paths.check_name(name), browser.folder)


def _create(browser: Browser, source: Bank | None, answer: FormAnswer, _: Progress) -> BankChange:
    """Make a bank without nodes, with the episodes of `source` if it is to learn them again."""
    from deltamem_tui.memory.banks import create_bank

    path = new_path(browser, answer["name"])
    with about("embedder", EmbeddingError), about("name", BankError):
        made = create_bank(
            path,
            embedder=answer["embedder"],
            domain=answer["domain"],
            description=clean(answer["description"]),
            method=answer["method"],
            episodes_from=source,
        )
    waiting = f"; {counted(len(made.episodes), 'episode')} to learn" if source else ""
    return BankChange(path, f"created {path.name}{waiting}", opens=source is None)


def _free_name(folder: Path, name: str) -> str:
    names = (name, *(f"{name}-{number}" for number in range(2, 100)))
    return next((each for each in names if not (folder / each).exists()), name)


def bring_sessions(browser: Browser, found: Sequence[AgentSessions]) -> None:
    """Ask which agent's sessions become a new bank, make it and import them."""
    if not found:
        key = browser.key_of("create_bank")
        text = f"no sessions of a coding agent were found; {key} makes a bank to import logs into"
        browser.notes.notify(text)
        return
    agents = {each.agent: each for each in sorted(found, key=lambda each: -each.count)}
    lines = (
        FormLine(
            "agent",
            "Whose sessions?",
            choices={name: counted(each.count, "session") for name, each in agents.items()},
        ),
        FormLine("name", "Name of the new bank", _free_name(browser.folder, "sessions")),
    )

    def work(answer: FormAnswer, progress: Progress) -> BankChange:
        path, chosen = new_path(browser, answer["name"]), agents[answer["agent"]]
        embedder = browser.configuration.embedder
        return agent_sessions.import_sessions(path, chosen, embedder, progress)

    title = "Bring your agent's sessions"
    browser.forms.ask_to("importing sessions", title, lines, work, can_stop=True)


# Freezing and verifying


def freeze(browser: Browser, path: Path) -> None:
    """Freeze a bank, which one key undoes; asks before a frozen one is unfrozen."""

    def work(_: Progress) -> Outcome:
        bank = Bank.open(path)
        if bank.frozen:
            return _plan_unfreeze(bank, path)
        bank.freeze()
        return BankChange(path, f"froze {bank.name}; {browser.key_of('freeze_bank')} unfreezes it")

    if is_own(browser, path):
        browser.work.start("freezing", work)


def _plan_unfreeze(bank: Bank, path: Path) -> Outcome:
    """Ask before a bank is unfrozen: what was promised of it cannot be had back."""

    def unfreeze(_: Progress) -> BankChange:
        done = Bank.open(path).unfreeze()
        return BankChange(path, f"{'unfroze' if done else 'not frozen any more:'} {bank.name}")

    files = counted(len(bank.manifest.digests), "file")
    section = Section(
        f"Frozen: the digests of {files} are recorded, so any change shows",
        "Once unfrozen, the bank can be changed and the digests are dropped. "
        "To keep this version too, export it and install a writable copy.",
    )
    return WorkPlan("unfreezing", f"Unfreeze {one_line(bank.name, 60)}?", [section], unfreeze)


def verify(browser: Browser, path: Path) -> None:
    """Check every file of a bank."""

    def work(_: Progress) -> Info:
        from deltamem_tui.bank import verify as checks

        bank = Bank.open(path)
        flaws = checks.verify(bank)
        if not flaws:
            return Info(f"{bank.name}: all files are intact")
        where = ", ".join(filter(None, (flaws[0].source, flaws[0].position)))
        words = f"{bank.name}: {counted(len(flaws), 'flaw')}; {where}: {flaws[0].message}"
        return Info(words, warning=True)

    browser.work.start("verifying", work)


# Renaming and deleting


def rename(browser: Browser, path: Path) -> None:
    """Ask what a bank is to be called."""
    if not is_own(browser, path):
        return
    lines = (FormLine("name", "Name", path.name, "letters, digits, '.', '_' and '-'"),)

    def work(answer: FormAnswer, _: Progress) -> BankChange:
        from deltamem_tui.bank import place

        with about("name"):
            renamed = place.rename(path, answer["name"])
        said = f"renamed {path.name} to {renamed.name}; change hooks and scripts that name it"
        return BankChange(renamed, said)

    browser.forms.ask_to("renaming", f"Rename {path.name}", lines, work, bank=path)


def delete(browser: Browser, path: Path) -> None:
    """Show what goes with a bank, and delete it once its name was typed."""
    from deltamem_tui.bank import place

    if not is_own(browser, path):
        return
    name = one_line(path.name, 60)

    def ask(found: BankContents) -> None:
        what = _deletion_lines(found)

        def work(answer: FormAnswer, _: Progress) -> BankChange:
            if answer["name"] != path.name:
                with about("name"):
                    raise UsageError(f"nothing was deleted: this is not {name}")
            place.delete(path)
            return BankChange(path, f"deleted {path.name}: {what[0]}")

        lines, title = (FormLine("name", "To delete it, type its name"),), f"Delete {name}?"
        browser.forms.ask_to("deleting", title, lines, work, bank=path, preview=lambda *_: what)

    look_up(browser, "looking at what goes", lambda _: place.contents(path), ask)


def _deletion_lines(found: BankContents) -> list[str]:
    """Return what goes with a bank that is deleted."""
    nodes = counted(found.nodes, "node")
    gone = f"{nodes} and {counted(found.episodes, 'episode')} are deleted"
    lines = [f"it cannot be opened: {found.error}" if found.error else gone]
    if found.frozen:
        lines.append("it is frozen; it is deleted all the same")
    return [*lines, f"{counted(found.files, 'file')}; this cannot be undone"]
