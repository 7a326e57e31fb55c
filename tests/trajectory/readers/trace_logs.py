"""Small logs of evaluations, and traces of what called what."""

from __future__ import annotations

from tests.trajectory.readers.samples import Json, record, records

INSPECT: Json = record("inspect")

INSPECT_ARCHIVE: dict[str, object] = record("inspect_archive")

_ASKED: list[Json] = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "Fix the parser."},
]

_CALLED: Json = {
    "role": "assistant",
    "content": "Look first.",
    "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
}


LANGFUSE: Json = record("langfuse")

LANGSMITH: list[Json] = records("langsmith")


# Twelve messages, so that an order of names as text would put the tenth before the second.
LONG_TALK: list[Json] = list(_ASKED)

for _number in range(5):
    _look: Json = {"name": "look", "arguments": f'{{"n": {_number}}}'}
    _id = f"c{_number}"
    LONG_TALK.append({"role": "assistant", "tool_calls": [{"id": _id, "function": _look}]})
    LONG_TALK.append({"role": "tool", "tool_call_id": _id, "content": f"seen {_number}"})

OPENINFERENCE: list[Json] = records("openinference")


def otlp_attributes(values: Json) -> list[Json]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


OTLP: Json = record("otlp")
