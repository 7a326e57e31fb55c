"""Sessions that grow: one log, read while an agent works and again later.

An episode's id is a digest of what was done, so a session that went on has another id each time
that it is read. What stays is the format and the session's own id in its log.
"""

from __future__ import annotations

from deltamem_tui.trajectory.model import Step, Trajectory

SESSION = "id"
"""The name of metadata by which a log names its session."""


def session_of(trajectory: Trajectory) -> str:
    """Return what the records of one session share: the format and the session's id.

    Empty without one.
    """
    name = trajectory.metadata.get(SESSION, "")
    return f"{trajectory.source.format} {name}" if name else ""


def is_earlier(earlier: Trajectory, later: Trajectory) -> bool:
    """Return True if an episode is another one, read before that went on.

    All that was done stands at the beginning of the later one. Calls may have been answered since,
    the last answer may have gone on, and the agent's last words may have become the thought before
    its next call. An episode of which the log says how it ended went on no further.
    """
    if earlier.outcome.source == "stated" and earlier.outcome.known:
        return False
    if earlier.task != later.task or not 0 < len(earlier.steps) <= len(later.steps):
        return False
    *before, last = earlier.steps
    after = later.steps[len(before)]
    return all(map(_goes_on, before, later.steps)) and (
        _goes_on(last, after) or _leads_to(last, after)
    )


def _goes_on(step: Step, later: Step) -> bool:
    same = (step.action, step.thought, step.reward) == (later.action, later.thought, later.reward)
    return same and later.observation.startswith(step.observation)


def _leads_to(words: Step, call: Step) -> bool:
    spoken = "\n".join(filter(None, (words.thought, words.action)))
    return not words.observation and call.thought.startswith(spoken)
