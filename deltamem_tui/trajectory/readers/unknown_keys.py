"""Keys of the project's own records that no version knows: most likely slips of the pen.

A record of a later version may have more keys than this one reads, so none is refused for
them. But `succes` for `success` costs an episode its outcome, and that is told: once for each
key of a log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from deltamem_tui.trajectory.notice import Notice
from deltamem_tui.trajectory.readers.reader import notice
from deltamem_tui.trajectory.secrets.quoting import quoted

_RECORD = ("task", "environment", "steps", "outcome", "domain", "agent", "metadata", "source", "id")
_STEP = ("action", "observation", "thought", "reward")
_WITHIN = {
    "outcome": ("success", "reward", "source", "reason"),
    "source": ("file", "position", "format"),
}
_TOLD_KEYS = 40  # a log may have another for every record


class UnknownKeys:
    """Tells the unknown keys of a log's records, each where it first stands."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def of(self, record: object) -> Iterator[Notice]:
        """The word about each key of a record that is unknown and was not told before.

        Args:
            record: A record that could be read.
        """
        if not isinstance(record, dict):
            return
        yield from self._among(record, _RECORD)
        for key, known in _WITHIN.items():
            yield from self._among(record.get(key) or (), known, f"{key}.")
        # The keys of all steps at once: there are thousands of steps, and four keys.
        yield from self._among(dict.fromkeys(set().union(*record["steps"])), _STEP, "steps[].")

    def _among(
        self, keys: Iterable[object], known: tuple[str, ...], within: str = ""
    ) -> Iterator[Notice]:
        for key in keys:
            name = f"{within}{key}"
            if key in known or name in self._told or len(self._told) > _TOLD_KEYS:
                continue
            self._told.add(name)
            if len(self._told) > _TOLD_KEYS:
                yield notice("more unknown keys are left out, and not told", position="")
            else:
                yield _word(str(key), known, within)


def _word(key: str, known: tuple[str, ...], within: str) -> Notice:
    near = [each for each in known if len(key) > 2 and each.startswith(key.lower())]
    near = near or get_close_matches(key.lower(), known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    message = f"an unknown key `{within}{quoted(key, 60)}` is left out"
    return notice(message, position="", hint=hint)
