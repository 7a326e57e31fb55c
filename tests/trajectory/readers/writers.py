"""Episodes written out as other programs would write them, for readers to read back.

A format has no place for everything: each writer says what of an episode it keeps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory

Json = dict[str, object]
Write = Callable[[Sequence[Trajectory]], bytes]


@dataclass(frozen=True, slots=True)
class Writer:
    """One format, written.

    Attributes:
        write: The log of some episodes.
        keeps: What the format keeps of an episode, the n-th of its log counted from 0.
        plain: Whether it is text, in which a line of its own may be taken for its marks.
    """

    write: Write
    keeps: Callable[[Trajectory, int], Trajectory]
    plain: bool = False


def name_of(number: int) -> str:
    """What the n-th episode of a log is called in it."""
    return f"e-{number}"


def _each_line(record: Callable[[Trajectory, int], Json]) -> Write:
    def write(episodes: Sequence[Trajectory]) -> bytes:
        return b"".join(_dumped(record(each, n)) + b"\n" for n, each in enumerate(episodes))

    return write


def _one_array(record: Callable[[Trajectory, int], Json]) -> Write:
    def write(episodes: Sequence[Trajectory]) -> bytes:
        return json.dumps([record(each, n) for n, each in enumerate(episodes)], indent=1).encode()

    return write


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _kept(
    *, outcome: Callable[[Outcome], Outcome], without: Iterable[str] = (), name: str = "id"
) -> Callable[[Trajectory, int], Trajectory]:
    """What is kept by a format with a place for everything but some fields.

    Args:
        outcome: What it keeps of an outcome.
        without: Fields of an episode, or of its steps, that it has no place for.
        name: Where the reader keeps what the log calls the episode; empty if nowhere.
    """
    lost = {key: "" for key in ("environment", "agent") if key in without}
    lost_of_step = {key: None if key == "reward" else "" for key in without if key not in lost}

    def keeps(episode: Trajectory, number: int) -> Trajectory:
        return replace(
            episode,
            **lost,
            steps=tuple(replace(step, **lost_of_step) for step in episode.steps),
            outcome=outcome(episode.outcome),
            metadata={name: name_of(number)} if name else {},
        )

    return keeps


def _all(outcome: Outcome) -> Outcome:
    return outcome


def _none(_: Outcome) -> Outcome:
    return Outcome()


def _success(outcome: Outcome) -> Outcome:
    return replace(outcome, reward=None)


def _reward(outcome: Outcome) -> Outcome:
    """A format that keeps the reward draws the success from it."""
    if outcome.reward is None:
        return Outcome()
    return replace(outcome, success=outcome.reward == 1.0)


def _verdict(outcome: Outcome) -> Json:
    facts = {"success": outcome.success, "reward": outcome.reward}
    return {key: value for key, value in facts.items() if value is not None}


# Rollouts of simulators.


def _rollout(episode: Trajectory, number: int) -> Json:
    return {
        "id": name_of(number),
        "model": episode.agent,
        "task_description": episode.task,
        "initial_observation": episode.environment,
        "steps": [
            {
                "action": step.action,
                "observation": step.observation,
                "thought": step.thought,
                "reward": step.reward,
            }
            for step in episode.steps
        ],
        **_verdict(episode.outcome),
    }


# Chats with calls of tools, in the words of two providers.


def _openai(episode: Trajectory, number: int) -> Json:
    return {
        "id": name_of(number),
        "model": episode.agent,
        "messages": list(_openai_messages(episode)),
        **_verdict(episode.outcome),
    }


def _openai_messages(episode: Trajectory) -> Iterator[Json]:
    yield {"role": "system", "content": episode.environment}
    yield {"role": "user", "content": episode.task}
    for number, step in enumerate(episode.steps):
        arguments = json.dumps({"command": step.action})
        call = {"id": f"c{number}", "function": {"name": "bash", "arguments": arguments}}
        yield {"role": "assistant", "content": step.thought or None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": step.observation}


def _anthropic(episode: Trajectory, number: int) -> Json:
    return {
        "id": name_of(number),
        "model": episode.agent,
        "system": episode.environment,
        "messages": list(_anthropic_messages(episode)),
        **_verdict(episode.outcome),
    }


def _anthropic_messages(episode: Trajectory) -> Iterator[Json]:
    yield {"role": "user", "content": episode.task}
    for number, step in enumerate(episode.steps):
        blocks = list(_anthropic_blocks(step, f"t{number}"))
        yield {"role": "assistant", "content": blocks}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": step.observation}
        yield {"role": "user", "content": [result]}


def _anthropic_blocks(step: Step, call: str) -> Iterator[Json]:
    if step.thought:
        yield {"type": "thinking", "thinking": step.thought}
    yield {"type": "tool_use", "id": call, "name": "bash", "input": {"command": step.action}}


# Thought and action in one text.


def _inline(episode: Trajectory) -> Iterator[tuple[bool, str]]:
    """What is said after the task, and whether the agent says it."""
    for step in episode.steps:
        thought = f"Thought: {step.thought}\n" if step.thought else ""
        yield True, f"{thought}Action: {step.action}"
        yield False, f"Observation: {step.observation}"


def _sharegpt(episode: Trajectory, number: int) -> Json:
    turns = [{"from": "system", "value": episode.environment}] if episode.environment else []
    turns.append({"from": "human", "value": episode.task})
    turns += [
        {"from": "gpt" if agent else "human", "value": text} for agent, text in _inline(episode)
    ]
    return {"id": name_of(number), "conversations": turns, **_verdict(episode.outcome)}


def _fireact(episodes: Sequence[Trajectory]) -> bytes:
    return _dumped({name_of(n): _fireact_run(each) for n, each in enumerate(episodes)})


def _fireact_run(episode: Trajectory) -> Json:
    turns = [{"role": "user", "content": episode.task}]
    turns += [
        {"role": "assistant" if agent else "user", "content": text}
        for agent, text in _inline(episode)
    ]
    return {"traj": turns, "em": episode.outcome.success, "f1": episode.outcome.reward}


def _agentbench(episode: Trajectory, number: int) -> Json:
    turns = [{"role": "user", "content": episode.task}]
    turns += [
        {"role": "agent" if agent else "user", "content": text} for agent, text in _inline(episode)
    ]
    return {"index": name_of(number), "output": {"status": "completed", "history": turns}}


def _agentbench_keeps(episode: Trajectory, number: int) -> Trajectory:
    kept = _kept(outcome=_none, without=("environment", "agent", "reward"))(episode, number)
    return replace(kept, metadata={**kept.metadata, "status": "completed"})


def _react(episodes: Sequence[Trajectory]) -> bytes:
    return "".join(_react_trial(each, n) for n, each in enumerate(episodes)).encode()


def _react_trial(episode: Trajectory, number: int) -> str:
    success = episode.outcome.success
    lines = ["#####", f"Environment #{number}:", episode.environment]
    lines.append(f"Your task is to: {episode.task}")
    for step in episode.steps:
        lines += [f"> think: {step.thought}", "OK."] if step.thought else []
        lines += [f"> {step.action}", step.observation]
    footer = "" if success is None else f"STATUS: {'OK' if success else 'FAIL'}"
    return "\n".join([*lines, footer, "#####", ""])


def _react_keeps(episode: Trajectory, number: int) -> Trajectory:
    kept = _kept(outcome=_success, without=("agent", "reward"))(episode, number)
    return replace(kept, domain="alfworld", metadata={"id": f"env_{number}"})


# Runs in one object, and objects one after another.


def _intercode(episodes: Sequence[Trajectory]) -> bytes:
    return _dumped({name_of(n): _intercode_run(each) for n, each in enumerate(episodes)})


def _intercode_run(episode: Trajectory) -> Json:
    reward = episode.outcome.reward
    return {
        "query": episode.task,
        "turn_history": {
            "thoughts": [step.thought for step in episode.steps],
            "actions": [step.action for step in episode.steps],
            "observations": [step.observation for step in episode.steps],
            "rewards": [step.reward for step in episode.steps],
        },
        "summary": {} if reward is None else {"max_reward": reward},
    }


def _agentboard(episodes: Sequence[Trajectory]) -> bytes:
    records = (_agentboard_run(each, n) for n, each in enumerate(episodes))
    return "\n".join(json.dumps(each, indent=2, ensure_ascii=False) for each in records).encode()


def _agentboard_run(episode: Trajectory, number: int) -> Json:
    turns: list[Json] = [{"Goal": episode.task, "Observation": episode.environment}]
    for step in episode.steps:
        facts = {
            "Thought": step.thought,
            "Action": step.action,
            "Observation": step.observation,
            "Progress Rate": step.reward,
        }
        turns.append({key: value for key, value in facts.items() if value not in ("", None)})
    return {
        "id": name_of(number),
        "goal": episode.task,
        "is_done": episode.outcome.success,
        "progress_rate": episode.outcome.reward,
        "trajectory": {f"Interaction Turn {n}": turn for n, turn in enumerate(turns)},
    }


# Coding agents.


def _claude_code(episodes: Sequence[Trajectory]) -> bytes:
    return b"".join(
        _dumped({**line, "sessionId": name_of(number)}) + b"\n"
        for number, episode in enumerate(episodes)
        for line in _claude_code_lines(episode)
    )


def _claude_code_lines(episode: Trajectory) -> Iterator[Json]:
    for message in _anthropic_messages(episode):
        blocks = message["content"]
        # One message of the agent spans as many lines as it has blocks.
        for block in blocks if isinstance(blocks, list) else [None]:
            content = blocks if block is None else [block]
            line = {**message, "content": content}
            if message["role"] == "assistant":
                line["model"] = episode.agent
            yield {"type": message["role"], "message": line}


def _atif(episode: Trajectory, number: int) -> Json:
    steps: list[Json] = [
        {"source": "system", "message": episode.environment},
        {"source": "user", "message": episode.task},
    ]
    for step in episode.steps:
        call = {
            "tool_call_id": "c1",
            "function_name": "bash",
            "arguments": {"command": step.action},
        }
        steps.append(
            {
                "source": "agent",
                "message": "",
                "reasoning_content": step.thought,
                "tool_calls": [call],
                "observation": {"results": [{"source_call_id": "c1", "content": step.observation}]},
            }
        )
    agent = {"model_name": episode.agent}
    session = name_of(number)
    return {"schema_version": "ATIF-v1.5", "session_id": session, "agent": agent, "steps": steps}


def _protocol(episode: Trajectory, number: int) -> Json:
    content: list[Json] = [
        {"class_": "text_observation", "name": "system", "content": episode.environment},
        {"class_": "text_observation", "source": "user", "content": episode.task},
    ]
    for step in episode.steps:
        action = {"class_": "code_action", "language": "bash", "content": step.action}
        content.append({**action, "description": step.thought})
        answer = {"class_": "text_observation", "source": "environment"}
        content.append({**answer, "content": step.observation})
    details = {"model_name": episode.agent, **_verdict(episode.outcome)}
    return {"id": name_of(number), "content": content, "details": details}


# Evaluations and traces.


def _inspect(episodes: Sequence[Trajectory]) -> bytes:
    log = {
        "status": "success",
        "eval": {"task": "written", "model": ""},
        "samples": [_inspect_sample(each, n) for n, each in enumerate(episodes)],
    }
    return json.dumps(log, indent=1).encode()


def _inspect_sample(episode: Trajectory, number: int) -> Json:
    success = episode.outcome.success
    score = {"match": {"value": "C" if success else "I"}}
    return {
        "id": name_of(number),
        "epoch": 1,
        "input": episode.task,
        "messages": list(_openai_messages(episode)),
        "scores": {} if success is None else score,
        "output": {"model": episode.agent},
    }


def _inspect_keeps(episode: Trajectory, number: int) -> Trajectory:
    kept = _kept(outcome=_success, without=("reward",))(episode, number)
    return replace(kept, metadata={**kept.metadata, "trial": "1", "task_type": "written"})


def _langfuse(episode: Trajectory, number: int) -> Json:
    outcome = episode.outcome
    scores = [
        {"name": name, "value": value, "dataType": kind}
        for name, value, kind in (
            ("success", outcome.success, "BOOLEAN"),
            ("latency", 0.25, "NUMERIC"),
        )
        if value is not None
    ]
    *asked, told = _openai_messages(episode)
    return {
        "trace": {"id": name_of(number), "input": json.dumps(episode.task), "scores": scores},
        "observations": [
            {
                "type": "GENERATION",
                "startTime": f"2026-01-01T00:00:0{at}Z",
                "model": episode.agent,
                "input": messages,
                "output": None,
            }
            # A call repeats all that was said before it.
            for at, messages in enumerate((asked[:2], [*asked, told]))
        ],
    }


# A conversation in OpenAI's words, where each format keeps one.


def _inspect_chat(messages: Sequence[Json]) -> Json:
    sample = {"id": 1, "epoch": 1, "input": messages[0]["content"], "messages": messages}
    log = {"status": "success", "eval": {"task": "t", "model": "m"}}
    return {**log, "samples": [{**sample, "scores": {}}]}


def _langfuse_chat(messages: Sequence[Json]) -> Json:
    *asked, told = messages
    generation = {"type": "GENERATION", "startTime": "1", "input": asked, "output": told}
    return {"trace": {"id": "t"}, "observations": [generation]}


def _langsmith_chat(messages: Sequence[Json]) -> Json:
    *asked, told = messages
    run = {"id": "r", "run_type": "llm", "dotted_order": "1"}
    return {**run, "inputs": {"messages": asked}, "outputs": {"messages": [told]}}


def _otel_chat(messages: Sequence[Json]) -> Json:
    *asked, told = messages
    attributes = {"gen_ai.input.messages": asked, "gen_ai.output.messages": [told]}
    return {"trace_id": "t", "span_id": "s", "name": "chat", "attributes": attributes}


def _toolbench_chat(messages: Sequence[Json]) -> Json:
    task = messages[0]["content"]
    answer = {"query": task, "valid_data": True, "train_messages": [messages]}
    return {"win": True, "tree": {}, "answer_generation": answer}


def _tau2_chat(messages: Sequence[Json]) -> Json:
    simulation = {"id": "s", "task_id": "t", "messages": messages, "reward_info": {"reward": 1.0}}
    return {"tasks": [{"id": "t"}], "simulations": [simulation]}


CHATS: dict[str, Callable[[Sequence[Json]], Json]] = {
    "openai-chat": lambda messages: {"messages": messages},
    "tau-bench": lambda messages: {
        "task_id": 1, "reward": 1.0, "info": {"task": {}}, "traj": messages, "trial": 0
    },
    "tau2-bench": _tau2_chat,
    "agentbench": lambda messages: {
        "index": 1, "output": {"status": "completed", "history": messages}
    },
    "toolbench": _toolbench_chat,
    "fireact": lambda messages: {"0": {"traj": messages, "em": True}},
    "inspect-ai": _inspect_chat,
    "langfuse": _langfuse_chat,
    "langsmith": _langsmith_chat,
    "otel": _otel_chat,
}  # fmt: skip


WRITERS: dict[str, Writer] = {
    "rollout": Writer(_each_line(_rollout), _kept(outcome=_all)),
    "openai-chat": Writer(_each_line(_openai), _kept(outcome=_all, without=("reward",))),
    "anthropic": Writer(_one_array(_anthropic), _kept(outcome=_all, without=("reward",))),
    "sharegpt": Writer(
        _one_array(_sharegpt), _kept(outcome=_all, without=("reward", "agent")), plain=True
    ),
    "fireact": Writer(
        _fireact, _kept(outcome=_all, without=("environment", "agent", "reward")), plain=True
    ),
    "agentbench": Writer(_each_line(_agentbench), _agentbench_keeps, plain=True),
    "react": Writer(_react, _react_keeps, plain=True),
    "intercode": Writer(_intercode, _kept(outcome=_reward, without=("environment", "agent"))),
    "agentboard": Writer(_agentboard, _kept(outcome=_all, without=("agent",))),
    "claude-code": Writer(_claude_code, _kept(outcome=_none, without=("environment", "reward"))),
    "atif": Writer(_each_line(_atif), _kept(outcome=_none, without=("reward",))),
    "agent-data-protocol": Writer(_one_array(_protocol), _kept(outcome=_all, without=("reward",))),
    "inspect-ai": Writer(_inspect, _inspect_keeps),
    "langfuse": Writer(_each_line(_langfuse), _kept(outcome=_success, without=("reward",))),
}
"""A writer for each of these formats, by the name of its reader."""
