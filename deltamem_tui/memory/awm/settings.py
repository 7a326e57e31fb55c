"""AWM's one number: how often workflows are induced anew."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from deltamem_tui.memory.settings import Settings


class AwmNumbers(Settings, frozen=True):
    """When workflows are induced.

    Attributes:
        every: After how many newly solved tasks of a kind its workflows are induced anew. 1 in the
            paper's online runs.
    """

    every: Annotated[
        int, Meta(ge=1, le=1000, description="a number of solved tasks from 1 to 1000")
    ] = 1
