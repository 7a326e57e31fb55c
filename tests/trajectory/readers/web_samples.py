"""Small logs of agents in shops and on other sites, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.trajectory.readers.samples import Sample, at, dumped, paid

WEBSHOP_TEXT = """-----------------
4
Action: reset
Observation:\x20
Webshop\x20
Instruction:\x20\x20
i need a red mug, and price lower than 9.00 dollars\x20
[Search]\x20

Action: think[The mug must be red.]
Observation: OK.

Action: search[red mug]
Observation:\x20
[B01]\x20

Red mug\x20
$7.5\x20

Action: click[Buy Now]
Observation: Your score (min 0.0, max 1.0): 0.75

5 0.75 0.0 0.0
-------------
-----------------
5
Action: reset
Observation:\x20
Webshop\x20
Instruction:\x20\x20
a blue bowl\x20
[Search]\x20

Action: search[bowl]
Observation: Invalid action!

6 0.5 0.0 0.0
-------------
"""

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

_GOAL = {"instruction_text": "a grey sofa", "asin": "B09"}

_HOST = "http://shop:3000"

_WORDS = "['grey', 'sofa']"


def _page(kind: str, path: str, /, **content: object) -> dict[str, object]:
    url = f"{_HOST}/{kind}/20220427_1_12/{path}"
    return {"page": kind, "url": url, "goal": _GOAL, "content": content}


WEBSHOP_HUMAN = Sample(
    dumped(
        {"page": "index", "url": f"{_HOST}/20220427_1_12", "goal": _GOAL},
        {"page": "index", "url": f"{_HOST}/20220427_1_12", "goal": _GOAL},
        _page("search_results", "x/1", keywords=["grey", "sofa"], search_result_asins=["B1"]),
        _page("search_results", "x/2", keywords=_WORDS, search_result_asins=[], page="2"),
        _page("item_page", "B1/x/2/{}", keywords=_WORDS, page="2", asin="B1", options={}),
        _page("item_sub_page", "B1/x/2/Features/{}", page="2", asin="B1", options={}),
        _page("item_page", "B1/x/2/{}", keywords=_WORDS, page="2", asin="B1", options={}),
        _page("item_page", "B1/x/2/c", keywords=_WORDS, page="2", asin="B1",
              options="{'color': 'grey'}"),
        {**_page("done", "B1/c", asin="B1", options={"color": "grey"}, price=129.9), "reward": 0.5},
    ),
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
    dumped(
        [
            {
                "annotation_id": "m-1",
                "website": "rail",
                "domain": "Travel",
                "confirmed_task": "Book a seat.",
                "action_reprs": ["[textbox] From -> TYPE: Rome", "[button] Book -> CLICK"],
                "actions": [{"raw_html": "<html>" * 20_000}],
            }
        ]
    ),
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
    dumped(
        [
            {
                "id": "p-1",
                "content": [
                    {"class_": "text_observation", "content": "Rules.", "name": "system",
                     "source": "environment"},
                    {"class_": "text_observation", "content": "How many seats?", "source": "user"},
                    {"class_": "web_observation", "html": "<p>", "axtree": "[1] link 'Seats'",
                     "url": "http://rail", "image_observation": {"class_": "image_observation"}},
                    {"class_": "api_action", "function": "click", "kwargs": {"on": '"Seats"'},
                     "description": "The link."},
                    {"class_": "text_observation", "content": "40 seats", "source": "environment"},
                    {"class_": "code_action", "language": "bash", "content": "echo 40",
                     "description": ""},
                    {"class_": "image_observation", "content": "/home/me/shot.png",
                     "annotations": [{"text": "40"}], "source": "environment"},
                    {"class_": "code_action", "language": "python", "content": "x = 1\nx",
                     "description": None},
                    {"class_": "message_action", "content": "<finish> 40 </finish>",
                     "description": "Sure."},
                ],
                "details": {"reward": 1, "model_name": "model-c", "exit_status": "submitted"},
            }
        ]
    ),
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
