"""Inspect AI: evaluation logs as JSON, or as `.eval` archives with a file for each sample."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from deltamem_tui.errors import RecordError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import LogLimits, Preview
from deltamem_tui.trajectory.model import Outcome, OutcomeSource, Trajectory
from deltamem_tui.trajectory.outcome_keys import Score, verdict
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
from deltamem_tui.trajectory.readers.spans import task_in

_SAMPLE = re.compile(r"^samples/.+\.json$")
_HEADERS = ("header.json", "_journal/start.json")
_REFERENCE = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")
_MODEL_GRADED = re.compile(r"\bmodel_graded_")
_DEEPEST = 20
_REASON_WIDTH = 500  # scorers often explain with the whole answer


def _read(log: Log) -> Iterator[Reading]:
    if log.layout == "zip":
        yield from _read_archive(log)
        return
    yield from each_part(partial(_samples, limits=log.limits))(log)


def _samples(value: object, limits: LogLimits) -> Iterator[Part]:
    evaluation = as_mapping(value)
    facts = as_mapping(evaluation.get("eval"))
    samples = as_list(evaluation.get("samples"))
    if not samples:
        raise RecordError("an evaluation without samples")
    for number, sample in enumerate(samples, 1):
        sampled = partial(_episode, sample=as_mapping(sample), facts=facts, limits=limits)
        yield f"sample {number}", sampled


def _read_archive(log: Log) -> Iterator[Reading]:
    names = log.member_names()
    facts: Json = {}
    for record in log.members([name for name in _HEADERS if name in names][:1]):
        if isinstance(record, RecordError):
            yield record
        else:
            facts = as_mapping(as_mapping(record.value).get("eval"))
    samples = sorted(filter(_SAMPLE.match, names), key=natural_key)
    if not samples:
        yield RecordError("an evaluation without samples")
    for record in log.members(samples):
        if isinstance(record, RecordError):
            yield record
        else:
            sample = as_mapping(record.value)
            yield from conversation_readings(record.position, _episode, sample, facts, log.limits)


def _episode(
    conversation: Conversation, sample: Json, facts: Json, limits: LogLimits
) -> Trajectory:
    attached = _Attachments(sample, limits)
    messages = map(attached.resolved, as_list(sample.get("messages")))
    add_messages(conversation, messages)
    outcome = verdict(_scores(sample), any_name=True)
    if outcome.source == "unknown" and (error := as_mapping(sample.get("error"))):
        outcome = Outcome(reason=outcome.reason or as_text(error.get("message")))
    model = as_mapping(sample.get("output")).get("model")
    return conversation.episode(
        task=task_in(attached.resolved(sample.get("input"))),
        environment=conversation.system,
        outcome=outcome,
        agent=as_text(facts.get("model") or model),
        metadata={
            "id": as_text(sample.get("id")),
            "trial": as_text(sample.get("epoch")),
            "task_type": as_text(facts.get("task")),
        },
    )


def _scores(sample: Json) -> Iterator[Score]:
    for name, value in as_mapping(sample.get("scores")).items():
        score = as_mapping(value)
        inner = score.get("value")
        reason = one_line(as_text(score.get("explanation")), _REASON_WIDTH)
        source: OutcomeSource = "judge" if _is_judge(name, score) else "stated"
        # A scorer may give several values at once, each under its own name.
        for key, part in (inner if isinstance(inner, dict) else {name: inner}).items():
            yield Score(key, part, source, reason)


def _is_judge(name: str, score: Json) -> bool:
    """Return True if a model graded the sample; then the score keeps what it was asked."""
    return _MODEL_GRADED.search(name) is not None or "grading" in as_mapping(score.get("metadata"))


class _Attachments:
    """Long texts, which a sample holds once and refers to by their digest, any number of times."""

    def __init__(self, sample: Json, limits: LogLimits) -> None:
        transcript = as_mapping(sample.get("transcript"))
        self._texts = as_mapping(sample.get("attachments")) or as_mapping(transcript.get("content"))
        self._held = SizeGuard("a sample with all its attachments in their places", limits)

    def resolved(self, value: object, depth: int = 0) -> object:
        """Return a value with the texts it refers to in their places, as deep as messages go."""
        if not self._texts or depth > _DEEPEST:
            return value
        if isinstance(value, str):
            return _REFERENCE.sub(self._text, value)
        if isinstance(value, list):
            return [self.resolved(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {key: self.resolved(item, depth + 1) for key, item in value.items()}
        return value

    def _text(self, found: re.Match[str]) -> str:
        text = as_text(self._texts.get(found[1], found[0]))
        self._held.add(len(text))
        return text


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
