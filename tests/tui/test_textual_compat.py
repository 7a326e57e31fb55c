"""What the browser takes from behind textual's public face is still there, and still does it."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from textual.app import App
from textual.screen import Screen
from textual.worker import WorkerFailed

from deltamem_tui.tui.core.textual_compat import FailureKeeper, pop_result_callback


@pytest.mark.parametrize(
    ("kind", "name", "parameters"),
    [
        (Screen, "_pop_result_callback", ["self"]),
        (App, "_handle_exception", ["self", "error"]),
        (App, "_close_messages_no_wait", ["self"]),
    ],
)
def test_the_methods_are_what_they_were(kind: type, name: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(kind, name)).parameters) == parameters


def test_the_names_are_what_they_were() -> None:
    app: App[None] = App()
    assert {"_exception", "_return_code"} <= vars(app).keys()
    assert hasattr(App, "_exception_event")
    assert "_result_callbacks" in vars(Screen[None]())


class SwitchableScreen(Screen[None]):
    """As the screens of the browser are."""

    _pop_result_callback = pop_result_callback


@pytest.mark.parametrize("first", [SwitchableScreen, Screen])
def test_the_first_screen_of_all_can_be_switched(first: type[Screen[None]]) -> None:
    """Which textual's own cannot: once it can, the seam is not needed."""

    class Program(App[None]):
        def get_default_screen(self) -> Screen[Any]:
            return first(id="first")

    async def run() -> None:
        program = Program()
        async with program.run_test():
            await program.switch_screen(SwitchableScreen(id="second"))
            assert program.screen.id == "second"

    if first is SwitchableScreen:
        asyncio.run(run())
    else:
        with pytest.raises(IndexError):
            asyncio.run(run())


@pytest.mark.parametrize("in_a_worker", [False, True])
def test_a_defect_ends_the_program_and_is_kept_as_it_was_raised(
    in_a_worker: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    defect = ValueError("a defect")

    class Program(FailureKeeper):
        def on_mount(self) -> None:
            if in_a_worker:
                self.run_worker(self.fail())
            else:
                raise defect

        async def fail(self) -> None:
            raise defect

    program = Program()

    async def run() -> None:
        async with program.run_test() as pilot:
            await pilot.pause()

    with pytest.raises((ValueError, WorkerFailed), match="a defect"):
        asyncio.run(run())
    assert program.failure is defect
    assert program.return_code == 1
    assert capsys.readouterr().err == "", "who started the program tells of it"
