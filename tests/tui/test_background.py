"""What is found out beside the screen: what was given up says nothing any more."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from deltamem_tui.tui.core.background import Stopped, look_up
from deltamem_tui.tui.core.job import Info
from tests.tui.support import Person, browse


def test_what_is_found_out_after_it_was_given_up_is_not_told(folder: Path) -> None:
    go_on, ended = threading.Event(), threading.Event()
    knew: list[bool] = []

    shown: list[str] = []

    def slow(stopped: Stopped) -> str:
        assert go_on.wait(20)
        knew.append(stopped())
        return "the old answer"

    async def story(person: Person) -> None:
        app = person.app
        look_up(app, "asking", slow, shown.append, ended=ended.set)
        await person.pilot.pause()
        look_up(app, "asking", lambda _: "the new answer", shown.append)
        await person.settle()
        go_on.set()
        await person.until(ended.is_set)
        await person.settle()
        assert knew == [True]
        assert shown == ["the new answer"]

    browse(folder, story)


def test_work_beside_the_screen_leaves_it_its_turns(folder: Path) -> None:
    async def story(person: Person) -> None:
        sys.setswitchinterval(0.005)
        person.app.work.start("counting", lambda _: Info(str(sys.getswitchinterval() < 0.001)))
        await person.settle()
        assert person.said[-1] == "True"

    browse(folder, story, "kitchen")
