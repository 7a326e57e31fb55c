"""SWE-agent's `.traj` files: one run, or several attempts at one issue, in a JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from msgspec.structs import replace

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.conversation import are_left_out
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.reader import Reader, Reading, notice, placed_or_refused, share
from deltamem_tui.trajectory.readers.roles import speaker, unknown_speaker
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.readers.tasks import issue_of
from deltamem_tui.trajectory.readers.whole_log import Records, whole_log
from deltamem_tui.trajectory.readers.workspace import repository_of_issue, workspace


def _gather(records: Records) -> Iterator[Reading]:
    for record in records:
        run = as_mapping(record.value)
        attempts = [as_mapping(attempt) for attempt in as_list(run.get("attempts"))]
        for number, attempt in enumerate(attempts or [run], 1):
            position = f"{record.position}, attempt {number}" if attempts else record.position
            reading = placed_or_refused(position, _episode, {**run, **attempt}, records.log_name)
            if len(attempts) > 1 and isinstance(reading, Trajectory):
                reading = _as_trial(reading, number, _submitted(run))
            yield reading
            shown = sum(map(_is_shown, as_list({**run, **attempt}.get("history"))))
            if shown and isinstance(reading, Trajectory):
                yield notice(
                    f"{are_left_out('message', shown)}: part of a demonstration", position=position
                )
        records.release()


def _submitted(run: Json) -> int | None:
    """Which of several attempts was handed in, counted from 1; None if the file does not say."""
    index = as_mapping(run.get("info")).get("best_attempt_idx")
    return index + 1 if type(index) is int else None


def _as_trial(episode: Trajectory, number: int, submitted: int | None) -> Trajectory:
    """One of several attempts; only the one handed in goes by the issue's id.

    A list of what was resolved names issues and judges what was handed in for them, so it
    says nothing of the other attempts.
    """
    metadata = {**episode.metadata, "trial": str(number)}
    if issue := metadata.get("id"):
        metadata["issue"] = issue
        if number != submitted:
            del metadata["id"]
    return replace(episode, metadata=metadata)


def _episode(run: Json, log_name: str) -> Trajectory:
    history = [as_mapping(each) for each in as_list(run.get("history")) if not _is_shown(each)]
    task = next((_content(message) for message in history if message.get("role") == "user"), "")
    steps = [as_mapping(step) for step in as_list(run.get("trajectory"))]
    info, config = as_mapping(run.get("info")), _config(run)
    instance = _instance(config, log_name)
    metadata = {
        "id": instance,
        "exit_status": as_text(info.get("exit_status")),
    }
    return Trajectory(
        task=issue_of(task).strip(),
        environment=_environment(config, steps, instance),
        steps=tuple(_steps(steps) if steps else _steps_of_history(history)),
        agent=_model(config),
        metadata={key: value for key, value in metadata.items() if value},
    )


def _is_shown(message: object) -> bool:
    """Whether a message is part of a demonstration and says so."""
    told = as_mapping(message)
    return bool(told.get("is_demo")) or told.get("message_type") == "demonstration"


def _steps(steps: list[Json]) -> Iterator[Step]:
    for step in steps:
        # A reply in which the program found no command is still what the agent did.
        action = as_text(step.get("action")).strip() or as_text(step.get("response")).strip()
        if action:
            thought = as_text(step.get("thought")).strip()
            observation = content_text(step.get("observation")).strip()
            yield Step(action, observation, thought if thought != action else "")


def _steps_of_history(history: list[Json]) -> Iterator[Step]:
    """The steps of a file without a `trajectory`, as demonstrations are kept."""
    pending: Step | None = None
    answers: list[str] = []
    for message in history:
        who = speaker(message.get("role"))
        if who is None:
            raise unknown_speaker(as_text(message.get("role")))
        if who == "agent":
            if pending:
                yield replace(pending, observation="\n".join(answers))
            action = as_text(message.get("action")).strip() or _content(message).strip()
            thought = as_text(message.get("thought")).strip()
            pending, answers = Step(action, "", thought if thought != action else ""), []
        elif who in ("tool", "user"):
            answers.append(_content(message).strip())
    if pending:
        yield replace(pending, observation="\n".join(answers))


def _content(message: Json) -> str:
    return content_text(message.get("content"))


def _config(run: Json) -> Json:
    """The configuration that the run was made with; older files keep it as JSON text."""
    return as_mapping(unfolded(run.get("replay_config")))


def _instance(config: Json, log_name: str) -> str:
    """The issue's id, by which side files name it: in the configuration, else the file's name."""
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


def _is_run(value: object) -> bool:
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


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_run)


READER = Reader(
    name="swe-agent",
    description="SWE-agent .traj: trajectory, history and info; outcome from a side file",
    claims=_claims,
    read=whole_log(_gather),
)
