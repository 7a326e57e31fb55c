"""Small logs of conversations as training sets and providers keep them, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import PIXELS, YES, Sample, at, called, dumped, paid

OPENAI = Sample(
    dumped(
        {
            "instance_id": "shelf-7",
            "model": "model-a",
            "resolved": True,
            "messages": [
                {"role": "system", "content": "You keep the shelves of a library."},
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
                        called("look", "b", '{"shelf": 2}'),
                        called("look", "a", '{"shelf": 1}'),
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
                Step('read(path="a.py")', "error: no such file"),
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
