"""Asking for logs to import, how episodes ended, and which model is to learn or judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from deltamem_tui.errors import BudgetError, LanguageModelError, TrajectoryError, UsageError
from deltamem_tui.paths import expanded
from deltamem_tui.tui.core.background import Stopped, look_up
from deltamem_tui.tui.core.forms import FormAnswer, FormLine, Preview, about
from deltamem_tui.tui.core.work import BankChange, Outcome, Progress, Retry
from deltamem_tui.tui.jobs.episodes import (
    NAME,
    ModelChoice,
    extract_by_rules,
    import_logs,
    plan_by_model,
    preview_learning,
    preview_logs,
)
from deltamem_tui.tui.jobs.outcomes import plan_judging, plan_verdict, to_judge
from deltamem_tui.tui.screens.base import BankScreen
from deltamem_tui.tui.widgets.forms import completed_path

_ADDRESS = "http://localhost:8000/v1"


def ask_for_logs(screen: BankScreen) -> None:
    """Ask for logs, and imports them into the bank of a screen."""
    if not screen.writable():
        return
    browser, path = screen.browser, screen.bank.path
    lines = (
        FormLine("path", "Log: a file, a folder or a pattern", hint="runs/*.jsonl", path=True),
        FormLine("format", "Format", hint="recognised by its content"),
    )

    def preview(answer: FormAnswer, stopped: Callable[[], bool]) -> list[str]:
        log = _place(answer["path"])
        if completed_path(log) and not Path(log).exists():
            return []  # a name that is still being typed
        return preview_logs(log, answer["format"], stopped, screen.bank.manifest.domain)

    def work(answer: FormAnswer, progress: Progress) -> Outcome:
        from deltamem_tui.trajectory.readers.registry import reader_named

        log_format, log = answer["format"], _place(answer["path"])
        with about("format"):
            _ = reader_named(log_format) if log_format else None
        if not log:
            with about("path"):
                raise UsageError("enter a log")
        with about("path", TrajectoryError):
            return import_logs(path, log, log_format, progress)

    title = "Import episodes"
    browser.forms.ask_to("importing", title, lines, work, bank=path, preview=preview, can_stop=True)


def _place(typed: str) -> str:
    """Return the path that was typed; `-` is a file here, since standard input is the keyboard."""
    return "./-" if typed == "-" else str(expanded(typed)) if typed else ""


def ask_what_learns(screen: BankScreen, one_by_one: Callable[[], None]) -> None:
    """Ask by what to learn from the waiting episodes; if none is ready, ask how they ended."""
    if not screen.writable():
        return
    browser, bank = screen.browser, screen.bank
    if not bank.episodes.waiting():
        key = browser.key_of("import_logs")
        browser.notes.notify(f"no episode is waiting; {key} imports some")
        return

    def ask(found: tuple[int, list[str]]) -> None:
        ready, undecided = found
        if ready or not undecided:
            _ask_for_writer(screen)
            return
        many = len(undecided) > 1
        which = f"These {len(undecided):,} logs do" if many else "This log does"
        title = f"{which} not say how {'they' if many else 'it'} ended"
        ask_how_ended(screen, undecided, title, "", one_by_one, learns=True)

    def learnable(_: Stopped) -> tuple[int, list[str]]:
        from deltamem_tui.memory.runs.learning import candidates

        ready = len(candidates(bank).episodes)
        return ready, [] if ready else to_judge(bank, bank.episodes.waiting())

    look_up(screen, "looking for what can be learnt", learnable, ask)


def ask_how_ended(
    screen: BankScreen,
    ids: Sequence[str],
    title: str,
    shown_by: str,
    one_by_one: Callable[[], None],
    *,
    learns: bool = False,
) -> None:
    """Ask how some episodes ended, and write it in one commit; then learn from them if wanted."""
    if not screen.writable():
        return
    browser, path = screen.browser, screen.home.path
    by_model = bool(browser.configuration.model)  # then a form asks by what to learn
    writer = BankChange(path, "choose what learns", then=partial(_ask_for_writer, screen))
    learnt = "learn from them as" if learns else "they can be learnt as"
    choices = {
        "one by one": "you say it of each",  # chosen at first: enter alone says nothing of any
        "all succeeded": f"{learnt} skills",
        "all failed": f"{learnt} warnings",
        "a model judges": "those without an outcome; you see the price first",
    }

    def begin(answer: FormAnswer, retry: Retry) -> None:
        retry.forget()
        if answer["how"] == "one by one":
            one_by_one()
        elif answer["how"] == "a model judges":
            ask_who_judges(screen, ids)
        else:
            success = answer["how"] == "all succeeded"
            learn = (lambda _: writer) if by_model else partial(extract_by_rules, path)
            said = f"; {browser.key_of('extract')} learns from them"
            browser.work.start(
                NAME if learns else "looking at what the verdict changes",
                lambda progress: plan_verdict(
                    path,
                    ids,
                    progress,
                    success=success,
                    shown_by=shown_by,
                    then=learn if learns else said,
                ),
                can_stop=learns,
            )

    browser.forms.ask(title, [FormLine("how", "How did they end?", choices=choices)], begin)


def _ask_for_writer(screen: BankScreen) -> None:
    """Ask by what to learn, and learn."""
    path = screen.bank.path
    _ask_for_model(
        screen,
        "Learn from the waiting episodes",
        "leave it empty to learn by rules, free of charge",
        partial(plan_by_model, path),
        by_rules=partial(extract_by_rules, path),
        preview=lambda *_: preview_learning(path),
    )


def ask_who_judges(screen: BankScreen, ids: Sequence[str]) -> None:
    """Ask which model is to judge those of some episodes that have no outcome."""
    if screen.writable():
        path = screen.bank.path
        _ask_for_model(
            screen,
            "Let a model judge",
            "such as openai/gpt-4o-mini",
            partial(plan_judging, path, ids),
        )


def _ask_for_model(
    screen: BankScreen,
    title: str,
    hint: str,
    plan: Callable[[ModelChoice, Progress], Outcome],
    *,
    by_rules: Callable[[Progress], Outcome] | None = None,
    preview: Preview | None = None,
) -> None:
    """Ask which model is to do something and what it may take, and say first what it will take."""
    browser, configuration = screen.browser, screen.browser.configuration
    lines = (
        FormLine("model", "Model", configuration.model or "", hint),
        FormLine("max_cost", "Spend at most, in US dollars", hint="no limit"),
        FormLine("concurrency", "Parallel requests", "1"),
        FormLine("address", "Model server URL (optional)", configuration.api_base or "", _ADDRESS),
    )

    def work(answer: FormAnswer, progress: Progress) -> Outcome:
        if not answer["model"] and by_rules is not None:
            return by_rules(progress)
        choice = ModelChoice.of(configuration, answer)
        if not choice.model:
            with about("model"):
                raise UsageError("enter a model to judge with")
        progress.name = "estimating"
        with about("model", LanguageModelError), about("max_cost", BudgetError):
            return plan(choice, progress)

    path = screen.bank.path
    browser.forms.ask_to(NAME, title, lines, work, bank=path, preview=preview, can_stop=True)
