"""ScienceWorld's run histories, episode by episode in one object, and its saved games."""

from __future__ import annotations

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.readers.keyed import each_entry, share_of_entries
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.scienceworld import rows_of, scienceworld_episode
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping, required_list

# The simulator looks around by itself before anybody acts.
_OPENING = "look around"


def _episode(name: str, value: object) -> Trajectory:
    run = as_mapping(value)
    # Run histories are wrapped once more, in what the program that ran them writes beside.
    about = as_mapping(run.get("history")) or run
    rows = rows_of(required_list(about, "history"))
    opened = len(rows) > 1 and rows[0].action == _OPENING
    return scienceworld_episode(
        about,
        rows,
        environment=rows[0].observation if opened else "",
        steps=(Step(row.action, row.observation) for row in rows[opened:]),
        name=name,
    )


def _is_history(value: object) -> bool:
    """Whether a value is a task with rows of actions, bare as in saved games."""
    about = as_mapping(value)
    rows = as_list(about.get("history"))
    named = bool(about.keys() & {"taskDescription", "taskDesc"})
    return named and bool(rows) and bool(as_mapping(rows[0]).keys() & {"action", "input"})


def _is_run(value: object) -> bool:
    return _is_history(value) or _is_history(as_mapping(value).get("history"))


def _claims(preview: Preview) -> float:
    return 0.95 * max(share(preview, _is_run), share_of_entries(preview, _is_run))


READER = Reader(
    name="scienceworld-history",
    description="ScienceWorld run histories and saved games: taskDescription and history",
    claims=_claims,
    read=each_entry(_episode, _is_run),
)
