"""Small logs of conversations as training sets and providers keep them, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import (
    YES,
    Sample,
    at,
    paid,
    sample_log,
)

OPENAI = Sample(
    sample_log("openai.json"),
    [
        Trajectory(
            "Find the atlas.\n[image]",
            "You keep the shelves of a library.",
            (
                Step("look(shelf=2)", "nothing [image]", "I look in two places."),
                Step("look(shelf=1)", "an atlas"),
                Step("It is on shelf 1.", "谢谢"),
            ),
            YES,
            at("line 1"),
            agent="model-a",
            metadata={"instance_id": "shelf-7"},
        )
    ],
)

ANTHROPIC = Sample(
    sample_log("anthropic.json"),
    [
        Trajectory(
            "How many files are there?",
            "A shell.",
            (
                Step("ls", "a b c\n[image]", "Count them.\nI list them."),
                Step('read(path="a.py")', "error: no such file"),
                Step("Three."),
            ),
            source=at("record 1"),
        )
    ],
)

SHAREGPT = Sample(
    sample_log("sharegpt.json"),
    [
        Trajectory(
            "a red mug",
            "Search and click, nothing else.",
            (Step("search[red mug]", "Page 1 [SEP] B01", "Where is it?"), Step("click[buy now]")),
            paid(0.5),
            at("record 1"),
            domain="webshop",
            metadata={"id": "webshop_9"},
        ),
        Trajectory(
            "put a mug on the desk.",
            "You see a desk 1.",
            (Step("go to shelf 1", "You see a mug 1.", "A mug first.\nOn shelf 1."),),
            source=at("record 2"),
            domain="alfworld",
            metadata={"id": "alfworld_3"},
        ),
        Trajectory(
            "Who was born first?",
            "You have tools.",
            (Step('born(of="Ada")', "1815"), Step("Ada, in 1815.")),
            source=at("record 3"),
        ),
    ],
)
