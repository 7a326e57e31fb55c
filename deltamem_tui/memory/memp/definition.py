"""MemP: whole procedures, credited for each use and repaired where they fail.

A record is a root: what it is found by is the task, in its own words. Its facts are its children:
what each is found by is the fact's value, so that every fact has a vector of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta

from deltamem_tui.bank.collection import Collection
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.method import Method, late
from deltamem_tui.memory.prompts.use import OF_AN_EPISODE, PromptUse
from deltamem_tui.memory.settings import Settings

PROCEDURES = "procedures"
KEY = "key"
RECORD_DEPTH, FACT_DEPTH = 1, 2

COLLECTIONS: Mapping[str, Collection] = {
    PROCEDURES: Collection(fields=(KEY, "fact", "script", "trajectory"), key=KEY, depth=FACT_DEPTH),
}

DISPLAY: Mapping[str, Display] = {
    PROCEDURES: Display(
        title="procedures",
        noun="procedure",
        heading="Procedures",
        labels={
            KEY: "Found by",
            "fact": "As the fact",
            "script": "Script",
            "trajectory": "Trajectory",
        },
        optional=("fact", "script", "trajectory"),
        levels=("procedure", "fact"),
        name="fact",
        instruction="script",
    ),
}

OPTIONAL = DISPLAY[PROCEDURES].optional


def record_payload(task: str, script: str, trajectory: str) -> dict[str, str]:
    """Return the texts of a record."""
    return {KEY: task, "fact": "", "script": script, "trajectory": trajectory}


def fact_payload(name: str, value: str) -> dict[str, str]:
    """Return the texts of one of a record's facts."""
    return {KEY: value, "fact": name, "script": "", "trajectory": ""}


SCRIPT, FACTS, ADJUST = "memp_script", "memp_facts", "memp_adjust"
MOST_FACTS = 12

PROMPTS: Mapping[str, PromptUse] = {
    SCRIPT: PromptUse(PROCEDURES, OF_AN_EPISODE - {"memory"}, ("script",)),
    FACTS: PromptUse(
        PROCEDURES, frozenset({"task", "names", "words"}), ("name", "value"), items=MOST_FACTS
    ),
    ADJUST: PromptUse(PROCEDURES, OF_AN_EPISODE, ("diagnosis", "script"), label="failure"),
}

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
    least_recalls: (
        Annotated[int, Meta(ge=1, description="a whole number of recalls from 1, or none")] | None
    ) = 3
    least_success: Annotated[float, Meta(ge=0, le=1, description="a share from 0 to 1")] = 0.5


METHOD = Method(
    name="memp",
    title="procedures of whole episodes, repaired where they fail",
    good_when="tasks are long and come again nearly as they were",
    collections=COLLECTIONS,
    display=DISPLAY,
    key_depths={PROCEDURES: FACT_DEPTH},
    decisions={
        "record": "the episode became a record",
        "repair": "the record that the failure was shown was rewritten",
        "skip": "it teaches nothing",
    },
    ranking="the k best procedures are recalled, from tau up",
    rules={
        "random": "drawn by chance; scores say nothing",
        "query": "a score is the similarity of the tasks",
        "avefact": "a score is the mean similarity of the facts that both tasks have",
    },
    prompts=PROMPTS,
    settings=MempNumbers,
    recall=late("deltamem_tui.memory.memp.recall:recall"),
    rank=late("deltamem_tui.memory.memp.recall:rank"),
    plan=late("deltamem_tui.memory.memp.write:plan"),
    write_by_rules=late("deltamem_tui.memory.memp.write:write_by_rules"),
)
