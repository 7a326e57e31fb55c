"""Actions with blanks: episodes of one kind of task read alike."""

from __future__ import annotations

from deltamem_tui.memory.findings import blanked, normalised
from deltamem_tui.trajectory.model import Trajectory
from tests.memory.writers.rules.episodes import HAIR, HEAT, melting


def test_each_domain_has_its_blanks() -> None:
    assert blanked(HEAT, ["take mug 2 from shelf 1"]) == ("take [object] from shelf",)
    assert blanked(melting("ice"), ["move ice to stove"]) == ("move [substance] to stove",)
    clicks = ["search[wig]", "click[b08h5dcd65]", "click[blue]", "click[< Prev]"]
    assert blanked(HAIR, clicks) == (
        *("search[{query}]", "click[{item}]", "click[{option}]", "click[< Prev]"),
    )
    assert blanked(Trajectory("t"), ["open https://a.b/c 12 times"]) == ("open {url} N times",)


def test_neighbours_that_are_equal_count_once() -> None:
    actions = normalised(melting("ice"))
    assert actions == normalised(melting("lead"))
    assert actions.count("examine [substance]") == 1
