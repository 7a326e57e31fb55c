"""Mind2Web: what people did on web sites, step by step. The pages themselves are never read."""

from __future__ import annotations

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.reader import Reader, each_record, share
from deltamem_tui.trajectory.readers.shapes import (
    as_mapping,
    as_text,
    required_list,
    required_text,
    texts,
)


def _episode(value: object) -> Trajectory:
    record = as_mapping(value)
    scene = texts(record, ("website", "domain", "subdomain"))
    identity = as_text(record.get("annotation_id"))
    return Trajectory(
        task=required_text(record, "confirmed_task").strip(),
        environment="\n".join(f"{key}: {text}" for key, text in scene.items()),
        steps=tuple(Step(as_text(action)) for action in required_list(record, "action_reprs")),
        # Only demonstrations that a second person found to do the task are in the data set.
        outcome=Outcome(success=True, source="stated", reason="a person's demonstration"),
        domain="web",
        agent="human",
        metadata={"id": identity} if identity else {},
    )


def _is_annotation(value: object) -> bool:
    return {"confirmed_task", "action_reprs"} <= as_mapping(value).keys()


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_annotation)


READER = Reader(
    name="mind2web",
    description="Mind2Web: confirmed_task, website and action_reprs",
    claims=_claims,
    read=each_record(_episode),
)
