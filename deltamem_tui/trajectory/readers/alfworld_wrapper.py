"""ReAct text on ALFWorld in JSON: `{name, result, traj}`, one episode a record."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.readers.react_text import episodes_in, is_goal, parse_episode
from deltamem_tui.trajectory.readers.reader import Reader, each_record, share
from deltamem_tui.trajectory.readers.shapes import as_mapping, as_text, required_text


def _episode(value: object) -> Trajectory:
    record = as_mapping(value)
    found = list(episodes_in(required_text(record, "traj").splitlines()))
    if not found:
        raise RecordError("no line that begins with `Your task is to` under `traj`")
    cut = _is_cut(record.get("result"))
    metadata = _metadata(as_text(record.get("name")))
    if cut:
        metadata["cut"] = "true"
    outcome = Outcome() if cut else stated_under(record, "result")
    # Whatever stands before the last goal is an example that was shown to the agent.
    trajectory = parse_episode(found[-1][1], cut=cut)
    return replace(trajectory, outcome=outcome, metadata=metadata)


def _is_cut(result: object) -> bool:
    """Whether the log broke off: the number 0 says so, where False says that the task failed."""
    return isinstance(result, int) and not isinstance(result, bool) and result == 0


def _metadata(name: str) -> dict[str, str]:
    # The game's name begins with its task type: `pick_and_place_simple-Mug-None-Desk-308/trial_…`.
    task_type, dash, _ = name.partition("-")
    metadata = {"id": name} if name else {}
    return {**metadata, "task_type": task_type} if dash else metadata


def _is_wrapper(value: object) -> bool:
    record = as_mapping(value)
    text = record.get("traj")
    return isinstance(text, str) and "result" in record and any(map(is_goal, text.splitlines()))


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_wrapper)


READER = Reader(
    name="alfworld-wrapper",
    description="ReAct text on ALFWorld in JSONL: name, result and traj",
    claims=_claims,
    read=each_record(_episode),
)
