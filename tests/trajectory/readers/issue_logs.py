"""Small logs of agents that are given an issue and a repository."""

from __future__ import annotations

from tests.trajectory.readers.samples import Json, record, records

SWE_AGENT: Json = record("swe_agent")

MINI: Json = record("mini")

MINI_BARE = records("mini_bare")

OPENHANDS_EVENTS: list[Json] = records("openhands_events")

OPENHANDS_RUN: Json = record("openhands_run")

OPENHANDS_OLDEST: Json = record("openhands_oldest")

OPENHANDS_SDK: list[Json] = records("openhands_sdk")

ATIF: Json = record("atif")
