"""FireAct: a run in one object, each episode with its messages and whether the answer matches."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcome_keys import explained
from deltamem_tui.trajectory.outcomes import decided, stated, together, unit_reward, verdict_of
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.keyed import each_conversation_in, share_of_entries
from deltamem_tui.trajectory.readers.labelled import labelled_episode
from deltamem_tui.trajectory.readers.reader import Reader
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping


def _episode(conversation: Conversation, name: str, value: object) -> Trajectory:
    record = as_mapping(value)
    told = record.get("traj")
    if isinstance(told, str):  # models that do not chat continue one long text
        trajectory = labelled_episode(told.splitlines(), conversation)
    elif told:
        trajectory = episode(as_list(told), conversation=conversation)
    else:
        raise RecordError("nothing under `traj`")
    return replace(trajectory, outcome=_outcome(record), metadata={"id": name})


def _outcome(record: Json) -> Outcome:
    """An exact match is the verdict; how far the words overlap is the reward.

    All words in another order are a full overlap and no match, so that is no contradiction.
    """
    match = decided(verdict_of(record.get("em")))
    if match.success is None:
        return explained(stated(record.get("reward")), record, ("em", "reward"))
    outcome = together({"em": match, "reward": stated(record.get("reward"))})
    overlap = unit_reward(record.get("f1"))
    if outcome.source == "unknown":
        return outcome
    if match.success and overlap == 0.0:
        return together({"em": match, "f1": Outcome(reward=overlap, source="stated")})
    return replace(outcome, reward=overlap)


def _is_entry(value: object) -> bool:
    record = as_mapping(value)
    return isinstance(record.get("traj"), list | str) and "em" in record


def _claims(preview: Preview) -> float:
    return 0.95 * share_of_entries(preview, _is_entry)


READER = Reader(
    name="fireact",
    description="FireAct: episodes by id, with traj, em, f1 and reward",
    claims=_claims,
    read=each_conversation_in(_episode),
)
