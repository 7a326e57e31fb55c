"""SWE-agent and mini-SWE-agent: runs on an issue, in a JSON object each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath

from msgspec.structs import replace

from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, Record
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
    conversation_readings,
    each_part,
    json_reader,
    share,
)
from deltamem_tui.trajectory.readers.sessions import Session, sessions, stray
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
    messages = as_list(run.get("history"))
    history = [as_mapping(each) for each in messages if not _is_shown(each)]
    conversation.pass_over("message", "part of a demonstration", len(messages) - len(history))
    task = next((_content(message) for message in history if message.get("role") == "user"), "")
    steps = [as_mapping(step) for step in as_list(run.get("trajectory"))]
    info, config = as_mapping(run.get("info")), _config(run)
    instance = _instance(config, log_name)
    metadata = {
        # A list of what was resolved names issues and judges what was handed in for them: of
        # several attempts it says nothing of the others.
        "id": instance if is_submitted else "",
        "exit_status": as_text(info.get("exit_status")),
        "trial": trial,
        "issue": instance if trial else "",
    }
    return Trajectory(
        task=issue_of(task).strip(),
        environment=_environment(config, steps, instance),
        steps=tuple(_steps(steps) if steps else _steps_of_history(history)),
        agent=_model(config),
        metadata=metadata,
    )


def _is_shown(message: object) -> bool:
    """Return True if a message is part of a demonstration and says so."""
    marks = as_mapping(message)
    return bool(marks.get("is_demo")) or marks.get("message_type") == "demonstration"


def _steps(steps: list[Json]) -> Iterator[Step]:
    for step in steps:
        # A reply in which the program found no command is still what the agent did.
        action = as_text(step.get("action")).strip() or as_text(step.get("response")).strip()
        if action:
            thought = as_text(step.get("thought")).strip()
            observation = content_text(step.get("observation")).strip()
            yield _code(action, observation, thought, is_code=bool(as_text(step.get("action"))))


def _steps_of_history(history: list[Json]) -> Iterator[Step]:
    """Yield the steps of a file without a `trajectory`, as demonstrations are kept."""
    pending: Step | None = None
    answers: list[str] = []
    for message in history:
        who = speaker(message.get("role"))
        if who is None:
            raise unknown_speaker(as_text(message.get("role")))
        if who == "agent":
            if pending:
                yield _answered(pending, answers)
            action = as_text(message.get("action")).strip() or _content(message).strip()
            thought = as_text(message.get("thought")).strip()
            is_code = bool(as_text(message.get("action")).strip())
            pending, answers = _code(action, "", thought, is_code=is_code), []
        elif who in ("tool", "user"):
            answers.append(_content(message).strip())
    if pending:
        yield _answered(pending, answers)


def _code(action: str, observation: str, thought: str, *, is_code: bool) -> Step:
    """Return the step of a command; a reply without one is only what the agent wrote."""
    return Step(
        action,
        observation,
        thought if thought != action else "",
        kind="code" if is_code else None,
        speaker="tool" if observation else None,
    )


def _answered(step: Step, answers: list[str]) -> Step:
    observation = "\n".join(answers)
    return replace(step, observation=observation, speaker="tool" if observation else None)


def _content(message: Json) -> str:
    return content_text(message.get("content"))


def _config(run: Json) -> Json:
    """Return the configuration that the run was made with; older files keep it as JSON text."""
    return as_mapping(unfolded(run.get("replay_config")))


def _instance(config: Json, log_name: str) -> str:
    problem = as_mapping(config.get("problem_statement"))
    return as_text(problem.get("id")) or PurePath(log_name).name.split(".traj")[0]


def _environment(config: Json, steps: list[Json], instance: str) -> str:
    repository = as_mapping(as_mapping(config.get("env")).get("repo"))
    return workspace(
        # The name of a repository alone is often only that of the folder it was put in.
        repository=as_text(repository.get("github_url"))
        or repository_of_issue(instance)
        or as_text(repository.get("repo_name")),
        directory=as_text(_state(steps[0]).get("working_dir")) if steps else "",
    )


def _state(step: Json) -> Json:
    return as_mapping(unfolded(step.get("state")))


def _model(config: Json) -> str:
    return as_text(as_mapping(as_mapping(config.get("agent")).get("model")).get("name"))


def _swe_is_run(value: object) -> bool:
    run = as_mapping(value)
    attempts = as_list(run.get("attempts"))
    run = as_mapping(attempts[0]) if attempts else run
    steps, history = as_list(run.get("trajectory")), as_list(run.get("history"))
    first = as_mapping(steps[0]) if steps else {}
    if steps:
        return "action" in first and "observation" in first and "response" in first
    return bool(history) and any(
        {"role", "action", "thought"} <= as_mapping(message).keys() for message in history
    )


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


@dataclass(slots=True)
class _MiniSession(Session):
    """A bare list of messages, each of which is a record by itself."""

    messages: list[Json] = field(default_factory=list)

    def whole(self, record: Record) -> Iterator[Reading] | None:
        run = as_mapping(record.value)
        if isinstance(record.value, list):
            run = {"messages": record.value}
        if "messages" not in run:
            return None
        return conversation_readings(record.position, _mini_episode, run, self.log_name)

    def begins_another(self, value: object) -> bool:
        """Return True if a new system prompt follows the agent's work."""
        return as_mapping(value).get("role") == "system" and (
            self.breaks_off or any(message.get("role") != "system" for message in self.messages)
        )

    def take(self, value: object) -> None:
        message = as_mapping(value)
        if not isinstance(message.get("role"), str):
            raise stray("neither a message nor a run with `messages`")
        self.messages.append(message)

    def episode(self, conversation: Conversation) -> Trajectory:
        return _mini_episode(conversation, {"messages": self.messages}, self.log_name)


def _mini_episode(conversation: Conversation, run: Json, log_name: str) -> Trajectory:
    for message in map(as_mapping, as_list(run.get("messages"))):
        _add(conversation, message)
    info = as_mapping(run.get("info"))
    config = as_mapping(info.get("config"))
    name = as_text(run.get("instance_id")) or _named_after(PurePath(log_name).name)
    return conversation.episode(
        environment=workspace(
            repository=repository_of_issue(name),
            directory=as_text(as_mapping(config.get("environment")).get("cwd")),
        ),
        agent=as_text(as_mapping(config.get("model")).get("model_name")),
        metadata={"id": name, "exit_status": as_text(info.get("exit_status"))},
    )


def _named_after(file: str) -> str:
    name, found, _ = file.partition(".traj")
    return name if found else file.partition(".")[0]


def _add(conversation: Conversation, message: Json) -> None:
    role = message.get("role")
    if role == "exit":
        return  # the program's own note on how the run ended, with the patch
    text = content_text(message.get("content"))
    if role == "assistant" and not message.get("tool_calls"):
        _add_reply(conversation, text)
    elif role == "user" and conversation.has_task:
        code = _RETURN_CODE.match(text)
        conversation.answer(text, status=exit_status(int(code[1])) if code else None)
    else:
        add_message(conversation, message)


def _add_reply(conversation: Conversation, text: str) -> None:
    block = _BLOCK.search(text)
    if block is None:
        conversation.act(text.strip() or "(no reply)")
        return
    conversation.think(_THOUGHT_LABEL.sub("", text[: block.start()]))
    conversation.act(block["command"].strip(), kind="code")


def _mini_is_run(value: object) -> bool:
    run = as_mapping(value)
    if not isinstance(run.get("messages"), list):
        return False
    info = as_mapping(run.get("info"))
    return as_text(run.get("trajectory_format")).startswith("mini-swe-agent") or (
        "mini_version" in info or ("exit_status" in info and "submission" in info)
    )


def _is_message(value: object) -> bool:
    message = as_mapping(value)
    return isinstance(message.get("role"), str) and "content" in message


def _mini_claims(preview: Preview) -> float:
    if all(map(_is_message, preview.records)):
        own = preview.layout != "lines" and any(mark in preview.head for mark in _OWN_MARKS)
        return 0.96 * own * share(preview, _is_message)
    return 0.96 * share(preview, _mini_is_run)


MINI_SWE_AGENT = Reader(
    name="mini-swe-agent",
    description="mini-swe-agent: messages with bash blocks; outcome from a side file",
    claims=_mini_claims,
    read=sessions(_MiniSession),
)
