"""A small log of every benchmark's format, written for the tests, and what is in it."""

from __future__ import annotations

import json
from typing import NamedTuple

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory

YES, NO = Outcome(True, source="stated"), Outcome(False, source="stated")
PIXELS = "data:image/png;base64," + "iVBORw0KGgo" * 40


class Sample(NamedTuple):
    data: bytes
    episodes: list[Trajectory]


def dumped(*values: object, indent: int | None = None) -> bytes:
    return "\n".join(json.dumps(v, ensure_ascii=False, indent=indent) for v in values).encode()


def paid(reward: float) -> Outcome:
    return Outcome(reward >= 1.0, reward, "stated")


def at(position: str) -> LogSource:
    return LogSource(position=position)


def _call(name: str, identity: str, arguments: str) -> dict[str, object]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


OPENAI = Sample(
    dumped(
        {
            "instance_id": "shelf-7",
            "model": "model-a",
            "resolved": True,
            "messages": [
                {"role": "system", "content": "You keep the shelves of a library."},
                {"role": "user", "name": "example_user", "content": "an example"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Find the atlas."},
                        {"type": "image_url", "image_url": {"url": PIXELS}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": "I look in two places.",
                    "tool_calls": [
                        _call("look", "b", '{"shelf": 2}'),
                        _call("look", "a", '{"shelf": 1}'),
                    ],
                },
                {"role": "tool", "tool_call_id": "a", "content": "an atlas"},
                {"role": "tool", "tool_call_id": "b", "content": f"nothing {PIXELS}"},
                {"role": "assistant", "content": "It is on shelf 1."},
                {"role": "user", "content": "谢谢"},
            ],
        }
    ),
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
    dumped(
        {
            "system": [{"type": "text", "text": "A shell."}],
            "messages": [
                {"role": "user", "content": "How many files are there?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Count them.", "signature": "x"},
                        {"type": "text", "text": "I list them."},
                        {
                            "type": "tool_use",
                            "id": "t1",
                            "name": "bash",
                            "input": {"command": "ls"},
                        },
                        {"type": "tool_use", "id": "t2", "name": "read", "input": {"path": "a.py"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t2",
                            "content": "no such file",
                            "is_error": True,
                        },
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "content": [{"type": "text", "text": "a b c"}, {"type": "image"}],
                        },
                    ],
                },
                {"role": "assistant", "content": "Three."},
            ],
        },
        indent=1,
    ),
    [
        Trajectory(
            "How many files are there?",
            "A shell.",
            (
                Step("ls", "a b c\n[image]", "Count them.\nI list them."),
                Step('read(path="a.py")', "no such file"),
                Step("Three."),
            ),
            source=at("record 1"),
        )
    ],
)

SHAREGPT = Sample(
    dumped(
        [
            {
                "id": "webshop_9",
                "reward": "0.5",
                "conversations": [
                    {"from": "human", "value": "Search and click, nothing else."},
                    {"from": "gpt", "value": "OK"},
                    {
                        "from": "human",
                        "value": "WebShop [SEP] Instruction: [SEP] a red mug [SEP] Search",
                    },
                    {"from": "gpt", "value": "Thought: Where is it?\nAction: search[red mug]"},
                    {"from": "human", "value": "Observation: Page 1 [SEP] B01"},
                    {"from": "gpt", "value": "Action: click[buy now]"},
                ],
            },
            {
                "id": "alfworld_3",
                "conversations": [
                    {"role": "user", "content": "You are in a house. THOUGHT or ACTION."},
                    {"role": "assistant", "content": "OK. I'll follow your instructions."},
                    {
                        "role": "user",
                        "content": "Here is your task. You see a desk 1.\n"
                        "Your task is to: put a mug on the desk.",
                    },
                    {"role": "assistant", "content": "THOUGHT: A mug first."},
                    {"role": "user", "content": "OK."},
                    {
                        "role": "assistant",
                        "content": "THOUGHT: On shelf 1.\n ACTION: go to shelf 1",
                    },
                    {"role": "user", "content": "You see a mug 1."},
                ],
            },
            {
                "system": "You have tools.",
                "conversations": [
                    {"from": "human", "value": "Who was born first?"},
                    {
                        "from": "function_call",
                        "value": '{"name": "born", "arguments": {"of": "Ada"}}',
                    },
                    {"from": "observation", "value": "1815"},
                    {"from": "gpt", "value": "Ada, in 1815."},
                ],
            },
        ]
    ),
    [
        Trajectory(
            "a red mug",
            "Search and click, nothing else.",
            (
                Step("search[red mug]", "Page 1 [SEP] B01", "Where is it?"),
                Step("click[buy now]"),
            ),
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


def _history(score: str) -> dict[str, object]:
    return {
        "taskDescription": "Your task is to boil water.",
        "taskName": "boil",
        "variationIdx": 3,
        "history": [
            {"action": "look around", "observation": "A kitchen.", "score": "0.0",
             "isCompleted": "false"},
            {"action": "open door", "observation": "It is open.", "score": "0.2",
             "isCompleted": "false"},
            {"action": "wait", "observation": "", "score": score, "isCompleted": "true"},
        ],
    }  # fmt: skip


def _boiled(name: str, outcome: Outcome) -> Trajectory:
    return Trajectory(
        "Your task is to boil water.",
        "A kitchen.",
        (Step("open door", "It is open."), Step("wait")),
        outcome,
        at(f"line 1, key {name}"),
        domain="scienceworld",
        metadata={"id": name, "task_type": "boil", "variation": "3"},
    )


SCIENCEWORLD_HISTORY = Sample(
    dumped({"0": {"history": _history("1.0")}, "1": {"history": _history("-100")}}),
    [_boiled("0", paid(1.0)), _boiled("1", paid(0.0))],
)

_LOOK = "Input: Successfully parsed input into single action (look around).\n\n(look around):\n"
SCIENCEWORLD_RECORDING = Sample(
    dumped(
        [
            {"observation": f"{_LOOK}A hall.", "userInput": "go kitchen", "score": 0.0,
             "isCompeted": False, "taslDescription": "Find an animal.", "taskName": "find",
             "variationIdx": 1},
            {"observation": "You move to the kitchen.", "userInput": "take cat", "score": 0.5,
             "isCompeted": False, "taslDescription": "Find an animal."},
            {"observation": "You have the cat.", "userInput": "exit", "score": 1.0,
             "isCompeted": True, "taslDescription": "Find an animal."},
        ]
    ),
    [
        Trajectory(
            "Find an animal.",
            "A hall.",
            (Step("go kitchen", "You move to the kitchen."), Step("take cat", "You have the cat.")),
            paid(1.0),
            at("record 1"),
            domain="scienceworld",
            metadata={"task_type": "find", "variation": "1"},
        )
    ],
)  # fmt: skip

REFLEXION = Sample(
    b"""
########################################
BEGIN TRIAL 1
Trial summary: Correct: 0, Incorrect: 1, Halted: 0
#######################################
------------- BEGIN CORRECT AGENTS -------------

------------- BEGIN INCORRECT AGENTS -----------

Question: Who wrote the atlas?
Thought 1: I search.
Action 1: Search[atlas]
Observation 1: A book of maps.
It has no one author.

Thought 2: Mercator, then.
Action 2: Finish[Mercator]
Observation 2: Answer is INCORRECT
Correct answer: Ortelius

------------- BEGIN HALTED AGENTS --------------


########################################
BEGIN TRIAL 2
#######################################
------------- BEGIN CORRECT AGENTS -------------

Question: Who wrote the atlas?You have attempted to answer following question before and failed.
Reflections:
- I should have read on.
Thought 1: Read on.
Action 1: Finish[Ortelius]
Observation 1: Answer is CORRECT
Correct answer: Ortelius

------------- BEGIN HALTED AGENTS --------------
Question: Why?
Thought 1: Hm.
Action 1: Search[why]
Observation 1:
""",
    [
        Trajectory(
            "Who wrote the atlas?",
            "",
            (
                Step("Search[atlas]", "A book of maps.\nIt has no one author.", "I search."),
                Step("Finish[Mercator]", "Answer is INCORRECT", "Mercator, then."),
            ),
            NO,
            at("line 10"),
            metadata={"task_id": "question-d9489fd6", "trial": "1"},
        ),
        Trajectory(
            "Who wrote the atlas?",
            "",
            (Step("Finish[Ortelius]", "Answer is CORRECT", "Read on."),),
            YES,
            at("line 29"),
            metadata={"task_id": "question-d9489fd6", "trial": "2"},
        ),
        Trajectory(
            "Why?",
            "",
            (Step("Search[why]", "", "Hm."),),
            Outcome(False, source="stated", reason="halted without an answer"),
            at("line 38"),
            metadata={"task_id": "question-5d8a995a", "trial": "2"},
        ),
    ],
)

INTERCODE = Sample(
    dumped(
        {
            "0": {
                "environment": "ic_bash",
                "task_id": 0,
                "query": "Count the files.",
                "turn_history": {
                    "thoughts": ["ls counts none."],
                    "actions": ["ls | wc -l", "submit"],
                    "observations": ["3\n", ""],
                    "rewards": [0, 1.0],
                },
                "summary": {"max_reward": 1.0, "turns_taken": 2},
            },
            "1": {
                "environment": "ic_bash",
                "task_id": 1,
                "query": "Name them.",
                "turn_history": {"actions": ["ls"], "observations": ["a b"], "rewards": [0.67]},
                "summary": {"max_reward": 0.67},
            },
        },
        indent=2,
    ),
    [
        Trajectory(
            "Count the files.",
            "",
            (Step("ls | wc -l", "3\n", "ls counts none.", 0.0), Step("submit", "", "", 1.0)),
            paid(1.0),
            at("record 1, key 0"),
            domain="ic_bash",
            metadata={"id": "0", "task_id": "0"},
        ),
        Trajectory(
            "Name them.",
            "",
            (Step("ls", "a b", "", 0.67),),
            paid(0.67),
            at("record 1, key 1"),
            domain="ic_bash",
            metadata={"id": "1", "task_id": "1"},
        ),
    ],
)

FIREACT = Sample(
    dumped(
        {
            "62": {
                "em": True,
                "f1": 1.0,
                "reward": True,
                "traj": [
                    {"role": "user", "content": "Who drew it?"},
                    {"role": "assistant", "content": "Thought: I search.\nAction: search[it]"},
                    {"role": "user", "content": "Observation: Ada drew it."},
                    {"role": "assistant", "content": "Thought: Ada.\nAction: finish[Ada]"},
                    {"role": "user", "content": "Observation: Episode finished, reward = True"},
                ],
            },
            "63": {
                "em": 0,
                "f1": 0.5,
                "reward": 0,
                "traj": "Question: Who?\nThought: Me.\nAction: finish[me]\nObservation: done\n",
            },
        }
    ),
    [
        Trajectory(
            "Who drew it?",
            "",
            (
                Step("search[it]", "Ada drew it.", "I search."),
                Step("finish[Ada]", "Episode finished, reward = True", "Ada."),
            ),
            paid(1.0),
            at("line 1, key 62"),
            metadata={"id": "62"},
        ),
        Trajectory(
            "Who?",
            "",
            (Step("finish[me]", "done", "Me."),),
            paid(0.5),
            at("line 1, key 63"),
            metadata={"id": "63"},
        ),
    ],
)

_TALK = [
    {"role": "system", "content": "# Policy"},
    {"role": "user", "content": "Cancel my flight."},
    {"role": "assistant", "content": "Which one?"},
    {"role": "user", "content": "To Rome."},
]
_TAU_STEPS = (
    Step("Which one?", "To Rome."),
    Step('cancel(id="F1")', "cancelled"),
    Step("Done.", "###STOP###"),
)


def _tau(trial: int, reward: float) -> dict[str, object]:
    return {
        "task_id": 3,
        "reward": reward,
        "info": {"task": {"instruction": "You want to cancel."}, "reward_info": {"reward": reward}},
        "traj": [
            *_TALK,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [_call("cancel", "c1", '{"id": "F1"}')],
            },
            {"role": "tool", "tool_call_id": "c1", "name": "cancel", "content": "cancelled"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "###STOP###"},
        ],
        "trial": trial,
    }


TAU = Sample(
    dumped([_tau(0, 0.0), _tau(1, 1.0)]),
    [
        Trajectory(
            "Cancel my flight.",
            "# Policy",
            _TAU_STEPS,
            paid(float(trial)),
            at(f"record {trial + 1}"),
            metadata={"task_id": "3", "trial": str(trial), "user_script": "You want to cancel."},
        )
        for trial in (0, 1)
    ],
)

TAU2 = Sample(
    dumped(
        {
            "info": {
                "agent_info": {"llm": "model-b"},
                "environment_info": {"domain_name": "airline", "policy": "# Policy"},
            },
            "tasks": [{"id": "t0", "user_scenario": {"instructions": "You want to cancel."}}],
            "simulations": [
                {
                    "id": "s1",
                    "task_id": "t0",
                    "trial": 0,
                    "reward_info": {"reward": 1.0},
                    "messages": [
                        {"role": "assistant", "content": "Hi! How can I help you?"},
                        *_TALK[1:],
                        {"role": "user", "content": None, "tool_calls": [
                            {"id": "u1", "name": "look_at_phone", "arguments": {},
                             "requestor": "user"}]},
                        {"role": "tool", "id": "u1", "content": "a phone", "requestor": "user"},
                        {"role": "assistant", "content": None, "tool_calls": [
                            {"id": "c1", "name": "cancel", "arguments": {"id": "F1"},
                             "requestor": "assistant"}]},
                        {"role": "tool", "id": "c1", "content": "cancelled",
                         "requestor": "assistant"},
                        {"role": "assistant", "content": "Done.", "tool_calls": None},
                        {"role": "user", "content": "###STOP###"},
                    ],
                }
            ],
        },
        indent=2,
    ),
    [
        Trajectory(
            "Cancel my flight.",
            "# Policy",
            _TAU_STEPS,
            paid(1.0),
            at("record 1, simulation 1"),
            domain="airline",
            agent="model-b",
            metadata={
                "id": "s1",
                "task_id": "t0",
                "trial": "0",
                "user_script": "You want to cancel.",
            },
        )
    ],
)  # fmt: skip

AGENTBENCH = Sample(
    dumped(
        {
            "index": 7,
            "error": None,
            "output": {
                "status": "completed",
                "history": [
                    {"role": "user", "content": "Act like a shell user."},
                    {"role": "agent", "content": "Ok."},
                    {"role": "user", "content": "Now, my problem is:\n\nHow many files?"},
                    {"role": "agent", "content": "Think: Count.\n\nAct: bash\n\n```bash\nls\n```"},
                    {"role": "user", "content": "The output of the OS:\na"},
                    {"role": "agent", "content": "Act: answer(1)"},
                ],
            },
        }
    ),
    [
        Trajectory(
            "How many files?",
            "Act like a shell user.",
            (
                Step("bash\n\n```bash\nls\n```", "The output of the OS:\na", "Count."),
                Step("answer(1)"),
            ),
            source=at("line 1"),
            metadata={"id": "7", "status": "completed"},
        )
    ],
)


def _node(kind: str, text: str, *children: object, observation: str = "") -> dict[str, object]:
    node: dict[str, object] = {"node_type": kind, "description": text, "children": [*children]}
    return {**node, "observation": observation} if observation else node


def _tooled(**answer: object) -> dict[str, object]:
    return {"query": "News?", "function": [{"name": "news"}, {"name": "Finish"}], **answer}


TOOLBENCH = Sample(
    dumped(
        {
            "win": True,
            "tree": {"tree": _node("Action Input", "")},
            "answer_generation": _tooled(
                valid_data=True,
                finish_type="give_answer",
                train_messages=[
                    [{"role": "user", "content": "only the beginning"}],
                    [
                        {"role": "system", "content": "You are a searcher."},
                        {"role": "user", "content": "\nNews?\nBegin!\n"},
                        {"role": "user", "content": "This is not the first time."},
                        {"role": "assistant", "content": "I ask.",
                         "function_call": {"name": "news", "arguments": "{\n\"of\": \"today\"\n}"}},
                        {"role": "function", "name": "news", "content": "none"},
                        {"role": "assistant", "content": None,
                         "function_call": {"name": "Finish", "arguments": "{broken"}},
                    ],
                ],
            ),
        },
        {
            "win": False,
            "tree": {
                "tree": _node(
                    "Action Input",
                    "",
                    _node("Thought", "first branch"),
                    _node(
                        "Thought",
                        "I try.",
                        _node("Action", "news", _node("Action Input", "{}", observation="error")),
                    ),
                )
            },
            "answer_generation": _tooled(valid_data=False),
        },
    ),
    [
        Trajectory(
            "News?",
            "Tools: news, Finish",
            (Step('news(of="today")', "none", "I ask."), Step("Finish({broken)")),
            YES,
            at("line 1"),
            domain="toolbench",
            metadata={"finish_type": "give_answer"},
        ),
        Trajectory(
            "News?",
            "Tools: news, Finish",
            (Step("news()", "error", "I try."),),
            NO,
            at("line 2"),
            domain="toolbench",
        ),
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

AGENTBOARD = Sample(
    dumped(
        {
            "id": 0,
            "task_name": "alfworld",
            "goal": "put a mug on the desk",
            "difficulty": "easy",
            "is_done": True,
            "progress_rate": 1.0,
            "grounding_acc": 0.5,
            "trajectory": {
                "Interaction Turn 0": {
                    "Goal": "put a mug on the desk",
                    "Observation": "You see a mug 1.",
                    "Action": "go to desk 1",
                    "Progress Rate": 0.5,
                },
                "Interaction Turn 1": {
                    "Action": "put mug 1",
                    "Observation": "",
                    "Progress Rate": 1,
                },
            },
        },
        {
            "id": 1,
            "is_done": False,
            "progress_rate": 0.25,
            "trajectory": [
                {"Goal": "open it", "id": 0},
                {"Observation": "A door.", "id": 0},
                {"Action": "open door", "id": 0},
                {"Observation": "It is stuck.", "id": 0},
                {"Progress Rate": 0.25, "id": 0},
                {"Action": "push", "id": 1},
            ],
        },
        indent=2,
    ),
    [
        Trajectory(
            "put a mug on the desk",
            "",
            (
                Step("go to desk 1", "You see a mug 1.", "", 0.5),
                Step("put mug 1", "", "", 1.0),
            ),
            paid(1.0),
            at("record 1"),
            metadata={"id": "0", "task_name": "alfworld", "difficulty": "easy"},
        ),
        Trajectory(
            "open it",
            "A door.",
            (Step("open door", "It is stuck.", "", 0.25), Step("push")),
            paid(0.25),
            at("record 2"),
            metadata={"id": "1"},
        ),
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
                Step("<finish> 40 </finish>", "", "Sure."),
            ),
            paid(1.0),
            at("record 1"),
            agent="model-c",
            metadata={"id": "p-1", "exit_status": "submitted"},
        )
    ],
)  # fmt: skip

SAMPLES = {
    "openai-chat": OPENAI,
    "anthropic": ANTHROPIC,
    "sharegpt": SHAREGPT,
    "webshop": WEBSHOP,
    "webshop-human": WEBSHOP_HUMAN,
    "scienceworld-history": SCIENCEWORLD_HISTORY,
    "scienceworld-recording": SCIENCEWORLD_RECORDING,
    "reflexion": REFLEXION,
    "intercode": INTERCODE,
    "fireact": FIREACT,
    "tau-bench": TAU,
    "tau2-bench": TAU2,
    "agentbench": AGENTBENCH,
    "toolbench": TOOLBENCH,
    "mind2web": MIND2WEB,
    "agentboard": AGENTBOARD,
    "agent-data-protocol": PROTOCOL,
}
