"""MemP's numbers: what a record keeps, what it is found by, when the memory is updated and how."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from deltamem_tui.memory.memp.collections import PROCEDURES
from deltamem_tui.memory.settings import Settings

Key = Literal["random", "query", "avefact"]


class MempNumbers(Settings, frozen=True):
    """All numbers. Deletion's are those of the released code.

    Attributes:
        build: What a record keeps: the steps of its episode, a script made of them, or both.
        key: What a record is found by: chance, the similarity of tasks, or the mean similarity of
            the facts that both tasks have (AveFact).
        k: How many records are recalled. The released code takes 10.
        tau: The least similarity of a record that is recalled; none takes any. With `query`, the
            released code's is 0.75. Chance has none.
        update: `vanilla` keeps every episode, `validation` the successes; `adjustment` also
            rewrites the record that a failed episode was shown first.
        every: After how many episodes the memory is updated. The paper does not say; 10 in the
            released code.
        least_recalls: How often receipts must say that a record was shown, since it was written,
            before it can be deleted; none never deletes.
        least_success: The least share of successes among those episodes.
    """

    recalling = dict.fromkeys(("key", "k", "tau"), PROCEDURES)

    build: Annotated[
        Literal["trajectory", "script", "both"], Meta(description="trajectory, script or both")
    ] = "both"
    key: Annotated[Key, Meta(description="random, query or avefact")] = "avefact"
    k: Annotated[int, Meta(ge=1, le=100, description="a number of records from 1 to 100")] = 3
    tau: (
        Annotated[float, Meta(ge=-1, le=1, description="a similarity from -1 to 1, or none")] | None
    ) = None
    update: Annotated[
        Literal["vanilla", "validation", "adjustment"],
        Meta(description="vanilla, validation or adjustment"),
    ] = "adjustment"
    every: Annotated[
        int, Meta(ge=1, le=1000, description="a number of episodes from 1 to 1000")
    ] = 1
    least_recalls: (
        Annotated[int, Meta(ge=1, description="a whole number of recalls from 1, or none")] | None
    ) = 3
    least_success: Annotated[float, Meta(ge=0, le=1, description="a share from 0 to 1")] = 0.5
