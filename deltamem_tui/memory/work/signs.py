"""Signs of how a session of real work ended, where neither its log nor the user says it.

They are weak, and said to be so: the last check passed or failed, a commit was made, the user
thanked or corrected. Signs that contradict each other say nothing, but for the user's own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deltamem_tui.memory.work.acts import Act, is_edit, read_step, simple_commands
from deltamem_tui.memory.work.facts import check_of
from deltamem_tui.memory.work.texts import is_correction, is_thanks, said_at
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

WEAK = "weak sign: "
"""How the reason of such an outcome begins."""


def weak_outcome(episode: Trajectory) -> Outcome | None:
    """Return what the signs of an episode say of its end; None if they say nothing.

    It counts for no more than a judge's verdict, and its reason names the sign.
    """
    acts = [read_step(index, step) for index, step in enumerate(episode.steps)]
    found = [*_by_user(episode)] or [*_by_work(acts)]
    if not found or len({success for success, _ in found}) > 1:
        return None
    success, _ = found[0]
    reasons = ", ".join(reason for _, reason in found)
    return Outcome(success=success, source="judge", reason=f"{WEAK}{reasons}")


def is_weak(outcome: Outcome) -> bool:
    """Tell if an outcome was read off signs."""
    return outcome.source == "judge" and outcome.reason.startswith(WEAK)


def _by_user(episode: Trajectory) -> Iterator[tuple[bool, str]]:
    """Yield what the user's last words say, if nothing was done after them."""
    last = episode.steps[-1] if episode.steps else None
    words = said_at(last) if last else ""
    if is_correction(words):
        yield False, f"the user corrected: {one_line(words, 60)}"
    elif is_thanks(words):
        yield True, f"the user thanked: {one_line(words, 60)}"


def _by_work(acts: Sequence[Act]) -> Iterator[tuple[bool, str]]:
    """Yield what the last check and the last commit prove; an edit after a check undoes it."""
    for act in reversed(acts):
        if is_edit(act):
            break
        if check := check_of(act):
            yield not act.failed, f"the last check {'failed' if act.failed else 'passed'}: {check}"
            break
    commands = [(act, simple_commands(act.text)) for act in acts if act.form == "command"]
    commits = [act for act, parts in commands if any(w[:2] == ["git", "commit"] for w in parts)]
    if commits and not commits[-1].failed:
        yield True, "a commit was made"
