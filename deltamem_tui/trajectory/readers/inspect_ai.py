"""Inspect AI: evaluation logs as JSON, or as `.eval` archives with a file for each sample."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from deltamem_tui.errors import RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits, Preview
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcomes import Score, verdict
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import add_messages
from deltamem_tui.trajectory.readers.reader import (
    Part,
    Reader,
    Reading,
    conversation_readings,
    each_part,
    share,
)
from deltamem_tui.trajectory.readers.sessions import SizeGuard
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, natural_key
from deltamem_tui.trajectory.readers.traces import task_in

_SAMPLE = re.compile(r"^samples/.+\.json$")
_HEADERS = ("header.json", "_journal/start.json")
_REFERENCE = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")
_MODEL_GRADED = re.compile(r"\bmodel_graded_")
_DEEPEST = 20
_REASON_WIDTH = 500  # scorers often explain with the whole answer
_NO_SAMPLES = "an evaluation without samples"


def _read(log: Log) -> Iterator[Reading]:
    if log.layout == "zip":
        yield from _read_archive(log)
    else:
        yield from each_part(partial(_samples, limits=log.limits))(log)


def _samples(value: object, limits: LogLimits) -> Iterator[Part]:
    evaluation = as_mapping(value)
    facts, samples = as_mapping(evaluation.get("eval")), as_list(evaluation.get("samples"))
    if not samples:
        raise RecordError(_NO_SAMPLES)
    for number, sample in enumerate(map(as_mapping, samples), 1):
        yield f"sample {number}", partial(_episode, sample=sample, facts=facts, limits=limits)


def _read_archive(log: Log) -> Iterator[Reading]:
    names = log.member_names()
    samples = sorted(filter(_SAMPLE.match, names), key=natural_key)
    facts: Json = {}
    for record in log.members([name for name in _HEADERS if name in names][:1]):
        if isinstance(record, RecordError):
            yield record
        else:
            facts = as_mapping(as_mapping(record.value).get("eval"))
    if not samples:
        yield RecordError(_NO_SAMPLES)
    for record in log.members(samples):
        if isinstance(record, RecordError):
            yield record
        else:
            sample = as_mapping(record.value)
            yield from conversation_readings(record.position, _episode, sample, facts, log.limits)


def _episode(
    conversation: Conversation, sample: Json, facts: Json, limits: LogLimits
) -> Trajectory:
    # Long texts are held once in a sample, and referred to by their digest any number of times.
    transcript = as_mapping(sample.get("transcript"))
    attached = as_mapping(sample.get("attachments")) or as_mapping(transcript.get("content"))
    held = SizeGuard("a sample with all its attachments in their places", limits)
    add_messages(conversation, as_list(_resolved(sample.get("messages"), attached, held)))
    outcome = verdict(_scores(sample), any_name=True)
    if outcome.source == "unknown" and (error := as_mapping(sample.get("error"))):
        outcome = Outcome(reason=outcome.reason or as_text(error.get("message")))
    return conversation.episode(
        task=task_in(_resolved(sample.get("input"), attached, held)),
        environment=conversation.system,
        outcome=outcome,
        agent=as_text(facts.get("model") or as_mapping(sample.get("output")).get("model")),
        metadata={
            "id": as_text(sample.get("id")),
            "trial": as_text(sample.get("epoch")),
            "task_type": as_text(facts.get("task")),
        },
    )


def _resolved(value: object, attached: Json, held: SizeGuard, depth: int = 0) -> object:
    if not attached or depth > _DEEPEST:
        return value
    if isinstance(value, str):

        def text(found: re.Match[str]) -> str:
            written = as_text(attached.get(found[1], found[0]))
            held.add(len(written))
            return written

        return _REFERENCE.sub(text, value)
    if isinstance(value, list):
        return [_resolved(item, attached, held, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: _resolved(item, attached, held, depth + 1) for key, item in value.items()}
    return value


def _scores(sample: Json) -> Iterator[Score]:
    for name, score in as_mapping(sample.get("scores")).items():
        told = as_mapping(score)
        inner = told.get("value")
        reason = one_line(as_text(told.get("explanation")), _REASON_WIDTH)
        # A model that graded the sample keeps what it was asked.
        graded = _MODEL_GRADED.search(name) or "grading" in as_mapping(told.get("metadata"))
        # A scorer may give several values at once, each under its own name.
        for key, part in (inner if isinstance(inner, dict) else {name: inner}).items():
            yield Score(key, part, "judge" if graded else "stated", reason)


def _is_log(value: object) -> bool:
    record = as_mapping(value)
    facts = as_mapping(record.get("eval"))
    return "task" in facts and "model" in facts and ("samples" in record or "status" in record)


def _claims(preview: Preview) -> float:
    if preview.layout == "zip":
        names = preview.head.splitlines()
        return 0.98 * any(name in names for name in _HEADERS)
    return 0.95 * share(preview, _is_log)


READER = Reader(
    name="inspect-ai",
    description="Inspect AI: evaluation logs, .json or .eval, with scores and epochs",
    claims=_claims,
    read=_read,
)
