"""Small logs of agents in shops and on other sites, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.trajectory.readers.samples import Sample, at, paid, sample_log

WEBSHOP_TEXT = sample_log("webshop.txt").decode()

_WEBSHOP = [
    Trajectory(
        "i need a red mug, and price lower than 9.00 dollars",
        "",
        (
            Step("search[red mug]", "[B01] \n\nRed mug \n$7.5", "The mug must be red."),
            Step("click[Buy Now]", "Your score (min 0.0, max 1.0): 0.75"),
        ),
        paid(0.75),
        at("line 3"),
        domain="webshop",
        metadata={"id": "4"},
    ),
    Trajectory(
        "a blue bowl",
        "",
        (Step("search[bowl]", "Invalid action!"),),
        source=at("line 27"),
        domain="webshop",
        metadata={"id": "5"},
    ),
]

WEBSHOP = Sample(WEBSHOP_TEXT.encode(), _WEBSHOP)


WEBSHOP_HUMAN = Sample(
    sample_log("webshop_human.jsonl"),
    [
        Trajectory(
            "a grey sofa",
            "",
            (
                Step("search[grey sofa]", "search results\nresults: B1"),
                Step("click[Next >]", "search results"),
                Step("click[B1]", "item page\nitem: B1"),
                Step("click[Features]", "item sub page\nitem: B1"),
                Step("click[< Prev]", "item page\nitem: B1"),
                Step("click[grey]", "item page\nitem: B1\noptions: color: grey"),
                Step("click[Buy Now]", "done\nitem: B1\noptions: color: grey\nprice: 129.9"),
            ),
            paid(0.5),
            at("line 1"),
            domain="webshop",
            agent="human",
            metadata={"id": "20220427_1_12"},
        )
    ],
)  # fmt: skip

MIND2WEB = Sample(
    sample_log("mind2web.json"),
    [
        Trajectory(
            "Book a seat.",
            "website: rail\ndomain: Travel",
            (Step("[textbox] From -> TYPE: Rome"), Step("[button] Book -> CLICK")),
            Outcome(True, source="stated", reason="a person's demonstration"),
            at("record 1"),
            domain="web",
            agent="human",
            metadata={"id": "m-1"},
        )
    ],
)

PROTOCOL = Sample(
    sample_log("protocol.json"),
    [
        Trajectory(
            "How many seats?",
            "URL: http://rail\n[1] link 'Seats'\n[image]",
            (
                Step('click(on="Seats")', "40 seats", "The link."),
                Step("echo 40", "[image]\n40"),
                Step("python\nx = 1\nx"),
                Step("40", "", "Sure."),
            ),
            paid(1.0),
            at("record 1"),
            agent="model-c",
            metadata={"id": "p-1", "exit_status": "submitted"},
        )
    ],
)  # fmt: skip
