"""A model that answers as weak ones do is of use all the same."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from deltamem_tui.memory.plan import LearnResult
from tests.llm.server import ModelServer, Reply, Request
from tests.memory.writers.model.generated import generated
from tests.memory.writers.model.learning import bank_with, run_over
from tests.memory.writers.model.sensible import Asked, answer

_BODY, _END = "execution_procedure", "termination_condition"


def weakly(request: Request) -> Reply:
    """A sensible answer, carelessly written; always the same for the same request."""
    random = Random(json.dumps(request.body["messages"]))
    found = answer(Asked(request.prompt))
    if _BODY in found:
        body = str(found[_BODY])
        careless: dict[str, dict[str, object]] = {
            "end": {_END: found[_END] or "It is over."},
            "no end": {key: text for key, text in found.items() if key != _END},
            "key": {"confidence": 0.9},
            "list": {_BODY: body.splitlines()},
            "long": {_BODY: body + "".join(f" and so on {at}" for at in range(30))},
            "fine": {},
        }
        kind = random.choices(list(careless), weights=(25, 15, 20, 20, 8, 12))[0]
        found = careless[kind] if kind == "no end" else {**found, **careless[kind]}
    return Reply("It depends." if random.random() < 0.04 else f"Sure!\n{json.dumps(found)}")


def test_a_weak_model_is_asked_little_more_than_a_good_one(
    server: ModelServer, tmp_path: Path
) -> None:
    server.replies = weakly
    outcomes, run = run_over(bank_with(tmp_path / "bank", generated(60)), server)
    lessons = [each for each in outcomes if isinstance(each, LearnResult)]
    assert len(lessons) >= 0.95 * 60
    questions = sum(len(lesson.calls) for lesson in lessons)
    assert questions > 60
    assert run.usage.calls <= 1.15 * questions
