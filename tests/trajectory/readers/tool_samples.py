"""Small logs of agents that serve users with tools, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import NO, YES, Sample, at, called, dumped, paid

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
                "tool_calls": [called("cancel", "c1", '{"id": "F1"}')],
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
