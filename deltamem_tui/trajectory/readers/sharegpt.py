"""ShareGPT and what grew from it (AgentInstruct, ETO): `conversations` of `from` and `value`."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.chat_logs import (
    are_messages,
    are_records_messages,
    read_conversations,
)
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.shapes import as_mapping

# These data sets name an episode after its environment: `alfworld_155`, `webshop_0`.
_NAMED_ID = re.compile(r"(?P<name>[a-z]{1,20}\d?[a-z]{0,20})_\d+")
_DOMAINS = {
    **{name: name for name in ("alfworld", "webshop", "mind2web", "scienceworld")},
    "sciworld": "scienceworld",
    "os": "os",
    "db": "database",
    "kg": "knowledge-graph",
}


def _domain(trajectory: Trajectory) -> str:
    found = _NAMED_ID.fullmatch(trajectory.metadata.get("id", ""))
    return _DOMAINS.get(found["name"], "") if found else ""


def _is_sharegpt(value: object) -> bool:
    return are_messages(as_mapping(value).get("conversations", value)) and (
        isinstance(value, dict) or "from" in as_mapping(value[0] if isinstance(value, list) else 0)
    )


def _claims(preview: Preview) -> float:
    if are_records_messages(preview):
        return 0.8 * all("from" in as_mapping(record) for record in preview.records)
    return 0.8 * share(preview, _is_sharegpt)


READER = Reader(
    name="sharegpt",
    description="ShareGPT, AgentInstruct, ETO: conversations of from and value",
    claims=_claims,
    read=read_conversations("conversations", domain=_domain),
)
