"""Episodes as ATIF, version 1.7, the format in which agents' programs exchange what they did.

What an agent did stands in the message of a step, as it was written, and what came back in the
step's observation. What ATIF has no place for is in `extra`: whoever reads the document back has
the same episode.
"""

from __future__ import annotations

from typing import Any

from deltamem_tui.trajectory.model import Step, Trajectory

VERSION = "ATIF-v1.7"


def atif_document(episode: Trajectory) -> dict[str, Any]:
    """Return one episode as a document; `message` and `source` of its steps are what ATIF asks
    for.
    """
    told = [("system", episode.environment), ("user", episode.task)]
    steps: list[dict[str, Any]] = [{"source": who, "message": text} for who, text in told if text]
    steps += map(_step, episode.steps)
    outcome = episode.outcome
    facts = {
        "domain": episode.domain,
        "success": outcome.success,
        "reward": outcome.reward,
        "outcome_source": outcome.source if outcome.source != "unknown" else "",
        "outcome_reason": outcome.reason,
        "log": f"{episode.source.file}, {episode.source.position}".strip(", "),
        "log_format": episode.source.format,
        "metadata": dict(episode.metadata),
    }
    return {
        "schema_version": VERSION,
        "session_id": episode.metadata.get("id") or episode.id,
        "trajectory_id": episode.id,
        "agent": {"name": "unknown", "version": "unknown"}
        | ({"model_name": episode.agent} if episode.agent else {}),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": {"total_steps": len(steps)},
        "extra": {key: fact for key, fact in facts.items() if fact not in (None, "", {})},
    }


def _step(step: Step) -> dict[str, Any]:
    thought = {"reasoning_content": step.thought} if step.thought else {}
    paid = {} if step.reward is None else {"extra": {"reward": step.reward}}
    seen = {"results": [{"content": step.observation}]}
    return {"source": "agent", "message": step.action, **thought, "observation": seen, **paid}
