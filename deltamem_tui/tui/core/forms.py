"""Forms that the user fills in; one whose work fails comes back filled in, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from deltamem_tui.errors import DeltaMemError
from deltamem_tui.tui.core.notes import Notes
from deltamem_tui.tui.core.work import Outcome, Progress, Retry, Work

FormAnswer = Mapping[str, str]
"""The answers, by the names of the lines."""

Begin = Callable[[FormAnswer, Retry], object]
"""Begins what was asked for; hands `Retry` on to the work."""


@dataclass(frozen=True, slots=True)
class FormLine:
    """A line to fill in."""

    name: str
    label: str
    value: str = ""  # what stands there at first
    hint: str = ""  # shown while it is empty
    tick: bool = False  # a box to tick: its answer is `yes` or empty
    choices: Mapping[str, str] = field(default_factory=dict)  # what each is; one is chosen
    unfit: Mapping[str, str] = field(default_factory=dict)  # why others cannot be; they are dimmed
    path: bool = False  # it is completed


Preview = Callable[[FormAnswer, Callable[[], bool]], Sequence[str]]
"""The preview of an answer, in lines; asks now and then whether that is still wanted."""


@dataclass(frozen=True, slots=True)
class FormContent:
    """Lines to fill in."""

    title: str
    lines: Sequence[FormLine]
    preview: Preview | None = None
    reason: str = ""
    refused: str = ""


ShowForm = Callable[[FormContent, Callable[[FormAnswer | None], None]], None]
"""Shows a form, and hands over what was filled in; None if it was left."""


@contextmanager
def about(field: str, *kinds: type[DeltaMemError]) -> Iterator[None]:
    """Mark errors of the block as being about a line that was filled in."""
    try:
        yield
    except DeltaMemError as error:
        if not kinds or isinstance(error, kinds):
            vars(error).setdefault("field", field)
        raise


class Forms:
    """Asks for a few lines, and again if what they are for failed."""

    def __init__(self, notes: Notes, work: Work, show: ShowForm) -> None:
        self._notes = notes
        self._work = work
        self._show = show
        self._filled: dict[tuple[Path | None, str], FormAnswer] = {}

    def ask_to(
        self,
        doing: str,
        title: str,
        lines: Sequence[FormLine],
        work: Callable[[FormAnswer, Progress], Outcome],
        *,
        bank: Path | None = None,
        preview: Preview | None = None,
        can_stop: bool = False,
    ) -> None:
        """Ask for a few lines, and do work with the answer."""

        def begin(answer: FormAnswer, retry: Retry) -> None:
            job = partial(work, answer)
            self._work.start(doing, job, can_stop=can_stop, retry=retry)

        self.ask(title, lines, begin, bank=bank, preview=preview)

    def ask(
        self,
        title: str,
        lines: Sequence[FormLine],
        begin: Begin,
        *,
        bank: Path | None = None,
        preview: Preview | None = None,
        error: DeltaMemError | None = None,
    ) -> None:
        """Ask for a few lines, filled in as they were if that came to nothing before."""
        place = bank, title
        known = self._filled.pop(place, {})  # a form that the user leaves is a new one next time
        reason = "" if error is None else self._notes.text_of(error)
        field = vars(error).get("field", "") if error else ""
        shown = [replace(each, value=known.get(each.name, each.value)) for each in lines]

        def answered(answer: FormAnswer | None) -> None:
            if answer is None:
                return
            self._filled[place] = answer

            def ask_again(error: DeltaMemError, waits: bool) -> None:
                if waits:
                    self._notes.keep(error)
                    self.ask(title, lines, begin, bank=bank, preview=preview, error=error)

            try:
                begin(answer, Retry(ask_again, lambda: self._filled.pop(place, None)))
            except DeltaMemError as error:
                ask_again(error, True)

        def look_ahead(answer: FormAnswer, stopped: Callable[[], bool]) -> Sequence[str]:
            try:
                return preview(answer, stopped) if preview else ()
            except DeltaMemError as error:
                problem = self._notes.text_of(error)
                return () if problem == reason else (f"✗ {problem}",)

        foresight = look_ahead if preview else None
        self._show(FormContent(title, shown, foresight, reason, field), answered)
