"""SWE-agent and mini-SWE-agent: runs on an issue, in a JSON object each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import PurePath

from msgspec.structs import replace

from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.coding import exit_status, repository_of_issue
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import (
    add_message,
    content_text,
    speaker,
    unknown_speaker,
)
from deltamem_tui.trajectory.readers.reader import (
    Part,
    Reader,
    Reading,
    each_part,
    json_reader,
    share,
)
from deltamem_tui.trajectory.readers.sessions import ItemSession, sessions
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.readers.tasks import issue_of
from deltamem_tui.trajectory.workspace import workspace


def _read(log: Log) -> Iterator[Reading]:
    return each_part(partial(_attempts, log_name=log.name))(log)


def _attempts(value: object, log_name: str) -> Iterator[Part]:
    run = as_mapping(value)
    attempts = [as_mapping(attempt) for attempt in as_list(run.get("attempts"))]
    submitted = as_mapping(run.get("info")).get("best_attempt_idx")
    for index, attempt in enumerate(attempts or [run]):
        parse = partial(_swe_episode, run={**run, **attempt}, log_name=log_name)
        if len(attempts) > 1:
            is_submitted = type(submitted) is int and index == submitted
            parse = partial(parse, trial=str(index + 1), is_submitted=is_submitted)
        yield f"attempt {index + 1}" if attempts else "", parse


def _swe_episode(
    conversation: Conversation, run: Json, log_name: str, trial: str = "", is_submitted: bool = True
) -> Trajectory:
    messages = list(map(as_mapping, as_list(run.get("history"))))
    history = [
        each
        for each in messages
        if not (each.get("is_demo") or each.get("message_type") == "demonstration")
    ]
    conversation.pass_over("message", "part of a demonstration", len(messages) - len(history))
    task = next((_content(message) for message in history if message.get("role") == "user"), "")
    steps = [as_mapping(step) for step in as_list(run.get("trajectory"))]
    found = map(_step, steps) if steps else _steps_of_history(history)
    # Older files keep the configuration as JSON text.
    config = as_mapping(unfolded(run.get("replay_config")))
    problem = as_mapping(config.get("problem_statement"))
    instance = as_text(problem.get("id")) or PurePath(log_name).name.split(".traj")[0]
    model = as_mapping(as_mapping(config.get("agent")).get("model"))
    repository = as_mapping(as_mapping(config.get("env")).get("repo"))
    state = as_mapping(unfolded(steps[0].get("state"))) if steps else {}
    return Trajectory(
        task=issue_of(task).strip(),
        environment=workspace(
            # The name of a repository alone is often only that of the folder it was put in.
            repository=as_text(repository.get("github_url"))
            or repository_of_issue(instance)
            or as_text(repository.get("repo_name")),
            directory=as_text(state.get("working_dir")),
        ),
        steps=tuple(step for step in found if step.action),
        agent=as_text(model.get("name")),
        metadata={
            # A list of what was resolved names issues and judges what was handed in for them: of
            # several attempts it says nothing of the others.
            "id": instance if is_submitted else "",
            "exit_status": as_text(as_mapping(run.get("info")).get("exit_status")),
            "trial": trial,
            "issue": instance if trial else "",
        },
    )


def _step(step: Json, key: str = "response") -> Step:
    """Return a step; a reply in which the program found no command is what the agent wrote."""
    command, thought = as_text(step.get("action")).strip(), as_text(step.get("thought")).strip()
    action = command or content_text(step.get(key)).strip()
    observation = content_text(step.get("observation")).strip()
    return Step(
        action,
        observation,
        thought if thought != action else "",
        kind="code" if command else None,
        speaker="tool" if observation else None,
    )


def _steps_of_history(history: list[Json]) -> Iterator[Step]:
    pending: Step | None = None
    answers: list[str] = []
    for message in [*history, {"role": "agent"}]:
        who = speaker(message.get("role"))
        if who is None:
            raise unknown_speaker(as_text(message.get("role")))
        if who == "agent":
            if pending:
                heard = "\n".join(answers)
                yield replace(pending, observation=heard, speaker="tool" if heard else None)
            pending, answers = _step(message, "content"), []
        elif who in ("tool", "user"):
            answers.append(_content(message).strip())


def _content(message: Json) -> str:
    return content_text(message.get("content"))


def _swe_is_run(value: object) -> bool:
    run = as_mapping(value)
    attempts = as_list(run.get("attempts"))
    run = as_mapping(attempts[0]) if attempts else run
    steps, history = as_list(run.get("trajectory")), as_list(run.get("history"))
    if steps:
        return {"action", "observation", "response"} <= as_mapping(steps[0]).keys()
    keys = {"role", "action", "thought"}
    return any(keys <= as_mapping(message).keys() for message in history)


SWE_AGENT = json_reader(
    name="swe-agent",
    description="SWE-agent .traj: trajectory, history and info; outcome from a side file",
    is_own=_swe_is_run,
    read=_read,
)


_BLOCK = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(?P<command>.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")
_THOUGHT_LABEL = re.compile(r"^\s*THOUGHT:\s*")
_OWN_MARKS = ("mswea_bash_command", "<returncode>", "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")


def _mini_episode(conversation: Conversation, session: ItemSession) -> Trajectory:
    for message in session.items:
        _add(conversation, message)
    info = as_mapping(session.run.get("info"))
    config = as_mapping(info.get("config"))
    name, found, _ = PurePath(session.log_name).name.partition(".traj")
    name = name if found else name.partition(".")[0]
    name = as_text(session.run.get("instance_id")) or name
    return conversation.episode(
        environment=workspace(
            repository=repository_of_issue(name),
            directory=as_text(as_mapping(config.get("environment")).get("cwd")),
        ),
        agent=as_text(as_mapping(config.get("model")).get("model_name")),
        metadata={"id": name, "exit_status": as_text(info.get("exit_status"))},
    )


def _add(conversation: Conversation, message: Json) -> None:
    role, text = message.get("role"), _content(message)
    if role == "exit":
        return  # the program's own note on how the run ended, with the patch
    if role == "assistant" and not message.get("tool_calls"):
        if block := _BLOCK.search(text):
            conversation.think(_THOUGHT_LABEL.sub("", text[: block.start()]))
            conversation.act(block["command"].strip(), kind="code")
        else:
            conversation.act(text.strip() or "(no reply)")
    elif role == "user" and conversation.has_task:
        code = _RETURN_CODE.match(text)
        conversation.answer(text, status=exit_status(int(code[1])) if code else None)
    else:
        add_message(conversation, message)


def _mini_is_run(value: object) -> bool:
    run = as_mapping(value)
    info = as_mapping(run.get("info"))
    is_own = as_text(run.get("trajectory_format")).startswith("mini-swe-agent")
    is_own = is_own or "mini_version" in info or {"exit_status", "submission"} <= info.keys()
    return is_own and isinstance(run.get("messages"), list)


def _is_message(value: object) -> bool:
    message = as_mapping(value)
    return isinstance(message.get("role"), str) and "content" in message


def _mini_claims(preview: Preview) -> float:
    if all(map(_is_message, preview.records)):
        own = preview.layout != "lines" and any(mark in preview.head for mark in _OWN_MARKS)
        return 0.96 * own * share(preview, _is_message)
    return 0.96 * share(preview, _mini_is_run)


def _begins_mini(messages: list[Json], message: Json) -> bool:
    acted = any(each.get("role") != "system" for each in messages)
    return message.get("role") == "system" and acted


MINI_SWE_AGENT = Reader(
    name="mini-swe-agent",
    description="mini-swe-agent: messages with bash blocks; outcome from a side file",
    claims=_mini_claims,
    read=sessions(
        partial(
            ItemSession,
            keys=("messages",),
            is_item=_is_message,
            begins=_begins_mini,
            build=_mini_episode,
        )
    ),
)
