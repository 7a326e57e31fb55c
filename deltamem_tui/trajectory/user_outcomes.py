"""Outcomes that the user gives for episodes whose logs do not say how they ended.

Either one word for all of them, or a side file that maps ids to outcomes. An outcome that
the log states itself always wins; what a judge model or a person stated before gives way to
a file that speaks of the episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deltamem_tui.errors import UsageError
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import DEFAULT_LIMITS
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcome_file import ID_KEYS, read_side_file


@dataclass(frozen=True, slots=True)
class UserOutcomes:
    """What the user says about episodes.

    `otherwise` is the outcome of each that `by_id`, a mapping from trajectory id or external id,
    does not name. If `only_identified`, it is for those with an external id only: a list of what
    was resolved speaks about its own benchmark.
    """

    by_id: Mapping[str, Outcome] = field(default_factory=dict)
    otherwise: Outcome | None = None
    only_identified: bool = False

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """Return the episode with the user's outcome, if its log states none.

        A word for all fills gaps only; a file that speaks of this very episode also counts
        more than what a judge model, or a person before, is on record with.
        """
        said = trajectory.outcome
        if said.known and (said.source == "stated" or self.are_for_all):
            return trajectory
        outcome = self._for(trajectory)
        return trajectory if outcome is None else trajectory.with_outcome(outcome)

    @property
    def are_for_all(self) -> bool:
        """True if they are the same for all episodes, and change none of known outcome."""
        return not self.by_id and not self.only_identified

    @property
    def must_name_one(self) -> bool:
        """True if they are only to be believed if an id names an episode that is read.

        A list says that all others failed, and nearly every text can be taken for a list. The
        caller looks before episodes are given their outcomes (see `names`).
        """
        return self.only_identified and self.otherwise is not None and bool(self.by_id)

    def verdict_on(self, trajectory: Trajectory) -> bool | None:
        """Return True if the user's file says that this episode was a success, False if not.

        None if it is silent.
        """
        outcome = None if self.are_for_all else self._for(trajectory)
        return outcome.success if outcome else None

    def names(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Return those ids of the user's that name this episode, whether or not its log says
        more.
        """
        if not self.by_id:
            return ()
        keys = (trajectory.id, *external_ids(trajectory))
        return tuple(key for key in keys if key in self.by_id)

    def _for(self, trajectory: Trajectory) -> Outcome | None:
        external = external_ids(trajectory)
        for key in (trajectory.id, *external):
            if key in self.by_id:
                return self.by_id[key]
        return self.otherwise if external or not self.only_identified else None


def external_ids(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the ids by which the log's own world knows an episode, the surest first."""
    found = (trajectory.metadata.get(key, "") for key in ID_KEYS)
    return tuple(key for key in found if key)


def user_outcomes(choice: str, *, success_at: float = 1.0) -> UserOutcomes:
    """Read what the user gave as outcome: `success` or `failure` for all unknown ones, or a file.

    The side file is JSON, JSONL or CSV, from id to success or reward; or a list of the ids that
    were resolved, bare or as in a SWE-bench report.

    Raises:
        UsageError: Neither a word nor a file, or a file that cannot be understood or
            contradicts itself.
        TrajectoryError: The file cannot be opened.
    """
    if choice in ("success", "failure"):
        return UserOutcomes(otherwise=Outcome(success=choice == "success", source="user"))
    path = Path(choice)
    if path.exists() and not path.is_file():
        raise UsageError(
            f"a {'folder' if path.is_dir() else 'pipe or a device'}, and no file of outcomes: "
            f"{one_line(choice, 120)}",
            hint="name the file itself; what comes out of a pipe has to be written into one first",
        )
    if not path.is_file():
        raise UsageError(
            f"no outcome and no file: {one_line(choice, 120)}",
            hint="give success, failure, or a file that maps ids to outcomes",
        )
    said = read_side_file(Log(one_line(path.name, 200), path, DEFAULT_LIMITS), success_at)
    otherwise = Outcome(success=False, source="user") if said.is_complete else None
    return UserOutcomes(said.by_id, otherwise, only_identified=True)
