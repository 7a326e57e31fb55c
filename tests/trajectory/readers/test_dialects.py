"""One conversation in many dialects: whatever a log calls its speakers, calls and answers."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import Outcome, Step
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping
from tests.trajectory.readers.agent_logs import otlp_attributes
from tests.trajectory.readers.samples import Json, episode, episodes, lines, only, pretty, readings
from tests.trajectory.readers.writers import CHATS

TASK = "Fix the parser."
STEPS = (Step("ls", "a.py", "Look first."), Step('read(path="a.py")', ""), Step("Fixed."))

USERS = ["user", "human"]
AGENTS = ["assistant", "ai", "agent", "gpt", "model"]
TOOLS = ["tool", "function", "toolResult", "observation"]


def call(name: str, arguments: object, identity: str) -> Json:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def talk(user: str, agent: str, tool: str, *, as_text: bool = True) -> list[Json]:
    ls, path = ('{"command": "ls"}', '{"path": "a.py"}')
    given: list[object] = [ls, path] if as_text else [{"command": "ls"}, {"path": "a.py"}]
    calls = [call("bash", given[0], "c1"), call("read", given[1], "c2")]
    return [
        {"role": user, "content": TASK},
        {"role": agent, "content": "Look first.", "tool_calls": calls},
        {"role": tool, "tool_call_id": "c2", "content": ""},
        {"role": tool, "tool_call_id": "c1", "content": "a.py"},
        {"role": agent, "content": "Fixed."},
    ]


NAMES = ["openai-chat", "tau-bench", "tau2-bench", "agentbench", "inspect-ai", "langfuse"]
NAMES += ["langsmith", "otel"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("as_text", [True, False], ids=["text", "dict"])
def test_calls_with_arguments_as_text_and_as_objects(
    tmp_path: Path, name: str, as_text: bool
) -> None:
    messages = talk("user", "assistant", "tool", as_text=as_text)
    found = episode(tmp_path, pretty(CHATS[name](messages)))
    assert (found.source.format, found.task, found.steps) == (name, TASK, STEPS)


@pytest.mark.parametrize("name", ["openai-chat", "agentbench", "langfuse", "langsmith", "otel"])
@pytest.mark.parametrize(("user", "agent"), itertools.product(USERS, AGENTS))
def test_speakers_by_many_names(tmp_path: Path, name: str, user: str, agent: str) -> None:
    found = episode(tmp_path, pretty(CHATS[name](talk(user, agent, "tool"))))
    assert (found.source.format, found.task, found.steps) == (name, TASK, STEPS)


@pytest.mark.parametrize("name", ["openai-chat", "agentbench"])
@pytest.mark.parametrize("tool", TOOLS)
def test_tools_by_many_names(tmp_path: Path, name: str, tool: str) -> None:
    found = episode(tmp_path, pretty(CHATS[name](talk("user", "assistant", tool))))
    assert (found.source.format, found.task, found.steps) == (name, TASK, STEPS)


@pytest.mark.parametrize(("user", "agent"), itertools.product(USERS, AGENTS))
def test_speakers_of_conversations_of_from_and_value(tmp_path: Path, user: str, agent: str) -> None:
    turns = [
        {"from": user, "value": TASK},
        {"from": agent, "value": "Thought: Look first.\nAction: ls"},
        {"from": user, "value": "Observation: a.py"},
    ]
    found = episode(tmp_path, pretty([{"conversations": turns}]))
    assert (found.source.format, found.task, found.steps) == ("sharegpt", TASK, STEPS[:1])


# Logs of model calls, each of which repeats all that was said before it.

GROWING = talk("user", "assistant", "tool")
PREFIXES = [GROWING[:2], GROWING[:4], GROWING]


def anthropic_talk() -> list[Json]:
    results = [
        {"type": "tool_result", "tool_use_id": name, "content": text}
        for name, text in (("c2", ""), ("c1", "a.py"))
    ]
    return [
        {"role": "user", "content": TASK},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Look first."},
                {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "a.py"}},
            ],
        },
        {"role": "user", "content": results},
        {"role": "assistant", "content": "Fixed."},
    ]


def otlp_span(messages: list[Json], start: int) -> Json:
    values = {"gen_ai.input.messages": messages[:-1], "gen_ai.output.messages": messages[-1:]}
    texts = {key: pretty(value).decode() for key, value in values.items()}
    return {
        "traceId": "t",
        "spanId": str(start),
        "name": "chat",
        "startTimeUnixNano": str(start),
        "attributes": otlp_attributes(dict(texts)),
    }


REPEATED: dict[str, bytes] = {
    "openai-chat": lines(*({"messages": messages} for messages in PREFIXES)),
    "anthropic": lines(*({"messages": anthropic_talk()[:count]} for count in (2, 3, 4))),
    "langfuse": pretty(
        {
            "trace": {"id": "t"},
            "observations": [
                {"type": "GENERATION", "startTime": str(at), "input": each[:-1], "output": each[-1]}
                for at, each in enumerate(PREFIXES)
            ],
        }
    ),
    "langsmith": lines(
        *(
            {
                **CHATS["langsmith"](messages),
                "id": f"r{at}",
                "trace_id": "t",
                "parent_run_id": "t",
                "dotted_order": f"t.{at}",
            }
            for at, messages in enumerate(PREFIXES)
        )
    ),
    "otel": pretty(
        {
            "resourceSpans": [
                {
                    "scopeSpans": [
                        {"spans": [otlp_span(each, at) for at, each in enumerate(PREFIXES)]}
                    ]
                }
            ]
        }
    ),
}


@pytest.mark.parametrize("name", REPEATED)
def test_calls_that_repeat_what_was_said_count_once(tmp_path: Path, name: str) -> None:
    found = episode(tmp_path, REPEATED[name])
    assert (found.source.format, found.task, found.steps) == (name, TASK, STEPS)


def swe_agent_trials() -> bytes:
    step: Json = {"action": "ls", "observation": "a.py", "response": "ls", "thought": ""}
    attempt = {"trajectory": [step], "history": [{"role": "user", "content": TASK}]}
    return pretty({"attempts": [attempt, attempt]})


def inspect_trials() -> bytes:
    log = CHATS["inspect-ai"](GROWING)
    (sample,) = as_list(log["samples"])
    return pretty({**log, "samples": [{**as_mapping(sample), "epoch": n} for n in (1, 2)]})


# The same task again: what names it, and what tells its trials apart.
TRIALS: dict[str, tuple[bytes, str]] = {
    "openai-chat": (
        lines(*({"task_id": "t", "trial": n, "messages": GROWING} for n in (1, 2))),
        "task_id",
    ),
    "tau-bench": (pretty([{**CHATS["tau-bench"](GROWING), "trial": n} for n in (1, 2)]), "task_id"),
    "tau2-bench": (
        pretty(
            {
                "tasks": [{"id": "t"}],
                "simulations": [
                    {"id": f"s{n}", "task_id": "t", "trial": n, "messages": GROWING} for n in (1, 2)
                ],
            }
        ),
        "task_id",
    ),
    "inspect-ai": (inspect_trials(), "id"),
    "swe-agent": (swe_agent_trials(), "issue"),
    "reflexion": (
        b"".join(
            b"BEGIN TRIAL %d\n--- BEGIN CORRECT AGENTS ---\nQuestion: Why?\nThought 1: Hm.\n"
            b"Action 1: Finish[so]\nObservation 1: yes\n" % number
            for number in (1, 2)
        ),
        "task_id",
    ),
}


@pytest.mark.parametrize("name", TRIALS)
def test_trials_stay_apart_and_know_that_they_share_a_task(tmp_path: Path, name: str) -> None:
    data, key = TRIALS[name]
    found = episodes(readings(tmp_path, data))
    assert {each.source.format for each in found} == {name}
    assert [each.metadata["trial"] for each in found] == ["1", "2"]
    assert len({each.task for each in found}) == 1
    assert len({each.metadata[key] for each in found}) == 1


def test_an_outcome_of_a_trial_is_its_own(tmp_path: Path) -> None:
    runs = [{**CHATS["tau-bench"](GROWING), "trial": n, "reward": float(n)} for n in (0, 1)]
    assert [each.outcome for each in episodes(readings(tmp_path, pretty(runs)))] == [
        Outcome(False, 0.0, "stated"),
        Outcome(True, 1.0, "stated"),
    ]


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("<finish> I did it! </finish>", Step("I did it!")),
        ("<finish> </finish>", Step("finish")),
        (
            "<finish> Thought: So.\nAction: click[buy now] </finish>",
            Step("click[buy now]", "", "So."),
        ),
        ("I <finish> it </finish>.", Step("I <finish> it </finish>.")),
    ],
)
def test_the_protocols_mark_of_the_end_is_no_part_of_what_is_done(
    tmp_path: Path, said: str, step: Step
) -> None:
    content: list[Json] = [
        {"class_": "text_observation", "source": "user", "content": "Buy a mug."},
        {"class_": "message_action", "content": said},
    ]
    found = only(readings(tmp_path, lines({"id": "1", "content": content, "details": {}})))
    assert found.steps == (step,)


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"target": True, "generated_patch": "…"}, Outcome(True, None, "stated")),
        ({"target": False, "generated_patch": None}, Outcome(False, None, "stated")),
        ({"target": False, "generated_patch": "", "resolved": True}, Outcome(True, None, "stated")),
        ({"target": "a.py", "generated_patch": "…"}, Outcome()),
        ({"target": 1, "generated_patch": "…"}, Outcome()),
        ({"target": True}, Outcome()),
    ],
)
def test_a_target_beside_a_patch_says_whether_it_was_reached(
    tmp_path: Path, row: Json, outcome: Outcome
) -> None:
    turns = [{"role": "user", "text": "Fix it."}, {"role": "ai", "text": "ls"}]
    found = only(readings(tmp_path, lines({"instance_id": "a", "trajectory": turns, **row})))
    assert found.outcome == outcome


def _parts(agent: object, *tools: object) -> list[Json]:
    """The talk in parts: what the agent says and calls, what tools answer, and its last words."""
    return [
        {"role": "user", "content": [{"type": "text", "text": TASK}]},
        {"role": "assistant", "content": agent},
        *[dict[str, object](role="tool", content=[tool]) for tool in tools],
        {"role": "assistant", "content": [{"type": "text", "text": "Fixed."}]},
    ]


VERCEL = _parts(
    [
        {"type": "text", "text": "Look first."},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "bash", "input": {"command": "ls"}},
        {"type": "tool-call", "toolCallId": "c2", "toolName": "read", "args": {"path": "a.py"}},
    ],
    {"type": "tool-result", "toolCallId": "c2", "output": {"type": "text", "value": ""}},
    {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "a.py"}},
)
VALUES = [
    {"role": "user", "content": [{"type": "text", "value": TASK}], "loss_weight": 0.0},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "value": "Look first."},
            {"type": "tool_call", "value": '{"name": "bash", "arguments": {"command": "ls"}}'},
            {"type": "tool_call", "value": '{"name": "read", "arguments": {"path": "a.py"}}'},
        ],
    },
    {"role": "tool", "content": [{"type": "text", "value": "a.py"}]},
    {"role": "assistant", "content": [{"type": "text", "value": "Fixed."}], "loss_weight": 1.0},
]
TRACED = [
    {"role": "user", "content": TASK},
    {"role": "assistant", "content": "Look first."},
    {"role": "tool", "content": [call("bash", {"command": "ls"}, "c1")]},
    {"role": "tool", "content": "a.py"},
    {"role": "tool", "content": [call("read", {"path": "a.py"}, "c2")]},
    {"role": "assistant", "content": "Fixed."},
]


@pytest.mark.parametrize("name", ["openai-chat", "langfuse", "otel"])
@pytest.mark.parametrize("messages", [VERCEL, VALUES, TRACED], ids=["vercel", "value", "traced"])
def test_parts_in_the_words_of_other_programs(
    tmp_path: Path, name: str, messages: list[Json]
) -> None:
    found = episode(tmp_path, pretty(CHATS[name](messages)))
    assert (found.task, found.steps) == (TASK, STEPS)


FENCED = "Look first.\n```\nls -F\n```"


@pytest.mark.parametrize(
    ("prompt", "reply", "step"),
    [
        ("Say what you think, then\n```\nls -a\n```", FENCED, Step("ls -F", "a.py", "Look first.")),
        ("Act.\n```bash\nls\n```", "```bash\nls\n```", Step("ls", "a.py")),
        ("Act.\n```bash\nls\n```", "THOUGHT: Look.\n```sh\nls\n```", Step("ls", "a.py", "Look.")),
        ("Act.\n```bash\nls\n```", f"{FENCED}\nOr not.", Step(f"{FENCED}\nOr not.", "a.py")),
        ("Act.\n```bash\nls\n```", f"{FENCED}{FENCED}", Step(f"{FENCED}{FENCED}", "a.py")),
        (
            "Act.\n```bash\nls\n```",
            "So:\n```python\n1\n```",
            Step("So:\n```python\n1\n```", "a.py"),
        ),
        ("Act.\n```bash\nls\n```", "No.", Step("No.", "a.py")),
        ("Be brief.", FENCED, Step(FENCED, "a.py")),
    ],
)
def test_a_command_in_fences_is_the_action_where_the_prompt_shows_one(
    tmp_path: Path, prompt: str, reply: str, step: Step
) -> None:
    said = [("system", prompt), ("user", "Fix it."), ("ai", reply), ("user", "a.py")]
    messages = [{"role": who, "content": text} for who, text in said]
    assert only(readings(tmp_path, lines({"messages": messages}))).steps == (step,)
