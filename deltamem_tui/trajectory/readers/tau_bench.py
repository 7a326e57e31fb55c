"""tau-bench: a list of conversations between an agent, its tools and a simulated customer."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.in_full import each_conversation
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.shapes import as_mapping, as_text, required_list, texts
from deltamem_tui.trajectory.secrets.quoting import quoted


def _episode(conversation: Conversation, value: object) -> Trajectory:
    record = as_mapping(value)
    info = as_mapping(record.get("info"))
    messages = required_list(record, "traj")
    if not messages:
        fault = quoted(as_text(info.get("error")), 120)
        raise RecordError(f"no messages; the run broke off: {fault}" if fault else "no messages")
    # What the simulated customer was told to want; the agent never saw it.
    script = as_text(as_mapping(info.get("task")).get("instruction"))
    metadata = texts(record, ("task_id", "trial"))
    return replace(
        episode(messages, conversation=conversation),
        outcome=stated_under(record, "reward"),
        metadata={**metadata, "user_script": script} if script else metadata,
    )


def _is_run(value: object) -> bool:
    record = as_mapping(value)
    return isinstance(record.get("traj"), list) and {"task_id", "reward", "info"} <= record.keys()


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_run)


READER = Reader(
    name="tau-bench",
    description="tau-bench: runs with task_id, reward, info, traj and trial",
    claims=_claims,
    read=each_conversation(_episode),
)
