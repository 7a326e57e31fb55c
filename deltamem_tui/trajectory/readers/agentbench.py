"""AgentBench runs: JSONL of an index and an output with the conversation."""

from __future__ import annotations

from msgspec.structs import replace

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.chat import episode
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.in_full import each_conversation
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping, as_text, texts
from deltamem_tui.trajectory.secrets.quoting import quoted


def _episode(conversation: Conversation, value: object) -> Trajectory:
    record = as_mapping(value)
    output = as_mapping(record.get("output"))
    if not output.get("history"):
        fault = as_text(record.get("error") or output.get("status"))
        raise RecordError(f"no history; the run says: {quoted(fault or 'nothing', 120)}")
    index = texts(record, ("index",)).get("index", "")
    metadata = {"id": index, "status": as_text(output.get("status"))}
    return replace(
        episode(as_list(output["history"]), conversation=conversation),
        metadata={key: text for key, text in metadata.items() if text},
    )


def _is_run(value: object) -> bool:
    record = as_mapping(value)
    return "index" in record and "output" in record and _has_history(record.get("output"))


def _has_history(output: object) -> bool:
    # A run that failed has no output at all.
    return output is None or "history" in as_mapping(output)


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_run)


READER = Reader(
    name="agentbench",
    description="AgentBench runs: JSONL of index and output with status and history",
    claims=_claims,
    read=each_conversation(_episode),
)
