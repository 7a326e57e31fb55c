"""What every face says of a finished replay: names, measures, differences; and the file of one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase

import msgspec

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.replay.bootstrap import Estimate
from deltamem_tui.memory.replay.result import ContestantResult, ReplayResult
from deltamem_tui.text import one_line
from deltamem_tui.typed import decoded

MEASURE_TITLES: Mapping[str, str] = {
    "coverage": "coverage",
    "same_kind": "same kind",
    "precision": "precision",
    "exposure": "exposure",
    "regret": "regret",
}
"""The measures of the table, and what their columns are called."""

_MOST_BYTES = 256 * 2**20


class _Saved(msgspec.Struct):
    """What `deltamem replay --json` printed."""

    data: ReplayResult
    command: str = ""


def read_result(path: Path) -> ReplayResult:
    """Reads what `deltamem replay --json` printed.

    Raises:
        UsageError: It cannot be read, or is not the result of a replay.
    """
    source = one_line(str(path), 200)
    hint = "`deltamem replay LOG --json > FILE.json` writes one"
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError("the file is too large to be a replay", source=source, hint=hint)
        found = decoded(path.read_bytes(), _Saved)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", source=source) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"not the result of a replay: {one_line(str(error), 120)}", source=source, hint=hint
        ) from error
    if found.command != "replay" or not all(map(_can_be_drawn, found.data.contestants)):
        raise UsageError("not the result of a replay", source=source, hint=hint)
    return found.data


def _can_be_drawn(each: ContestantResult) -> bool:
    """Whether the curves have a value for each point, and none that no plot could hold."""
    curves = each.curves
    lines = [curves.episodes, curves.nodes, *curves.measures.values()]
    return all(len(line) == len(curves.episodes) for line in lines) and all(
        value is None or (abs(value) < 10**15 and math.isfinite(value))
        for line in lines
        for value in line
    )


def letters(count: int) -> list[str]:
    """A to z, then numbers: what contestants are called where there is little room."""
    return [ascii_lowercase[at] if at < len(ascii_lowercase) else str(at) for at in range(count)]


def names(results: Sequence[ContestantResult]) -> list[str]:
    """What tells the contestants apart: the parts that not all of them share."""
    parts = [
        (each.contestant.method, each.contestant.admission, each.contestant.forgetting)
        for each in results
    ]
    varied = [at for at in range(3) if len({part[at] for part in parts}) > 1] or [0]
    return [" ".join(part[at].replace(",", ", ") for at in varied) for part in parts]


def difference_text(estimate: Estimate) -> str:
    """`-.05 (-.20 +.10)`: a difference with its interval; empty if there is none."""
    if estimate.value is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return signed(estimate.value)
    return f"{signed(estimate.value)} ({signed(estimate.low)} {signed(estimate.high)})"


def signed(value: float) -> str:
    """A number with its sign, without a nought before the point: `+.25`, `-10.50`."""
    text = f"{value:+.2f}"
    return text[0] + text[1:].removeprefix("0")
