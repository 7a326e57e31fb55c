"""Sessions that are imported while they go on: which records are earlier ones of the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct, field

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.episodes.import_report import Arrival
from deltamem_tui.memory.episodes.outcomes import verdicts_on, with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episode
from deltamem_tui.trajectory.model import Trajectory, is_earlier
from deltamem_tui.trajectory.readers.native import to_line
from deltamem_tui.trajectory.receipt import together

_MOST = 64
"""Records that may be of one session. An id that more of them share names something else."""


class _Names(Struct, gc=False):
    id: str = ""


class _Format(Struct, gc=False):
    format: str = ""


class _Head(Struct, gc=False):
    """The parts of an episode's line that name its session."""

    metadata: _Names = field(default_factory=_Names)
    source: _Format = field(default_factory=_Format)


_decode = msgspec.json.Decoder(_Head).decode


class StoredSessions:
    """The episodes of a bank by their session."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._ids: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for episode_id in bank.episodes.ids():
            head = _decode(bank.episodes.line(episode_id) or b"{}")
            if head.metadata.id:
                self._ids[f"{head.source.format} {head.metadata.id}"][episode_id] = None

    def add(self, arrival: Arrival) -> None:
        """Let the bank have one more; it counts once it is written."""
        if arrival.session:
            self._ids[arrival.session][arrival.id] = None

    def of(self, arrival: Arrival) -> list[Trajectory]:
        """Return the bank's other records of the session of an episode."""
        ids = self._ids.get(arrival.session, ()) if arrival.session else ()
        found = (episode(self._bank, each) for each in ids if len(ids) <= _MOST)
        return [each for each in found if each]


def outgrown(arrivals: Iterable[object]) -> set[str]:
    """Return the ids of those episodes that are earlier records of another one among them."""
    sessions: defaultdict[str, dict[str, Arrival]] = defaultdict(dict)
    for each in arrivals:
        if isinstance(each, Arrival) and each.session:
            sessions[each.session][each.id] = each
    found: set[str] = set()
    for records in sessions.values():
        if 1 < len(records) <= _MOST:
            known = [each.trajectory for each in records.values()]
            found |= {
                one.id for one in known if any(is_earlier(one, two) for two in known if two != one)
            }
    return found


def grown_from(arrival: Arrival, earlier: Sequence[Trajectory]) -> Arrival:
    """Return the longer record of a session, with earlier verdicts of people, and receipts.

    What a judge said stays behind: it judged what was there then.
    """
    found = arrival.trajectory
    for each in earlier:
        found = found.with_facts(receipts=together((*each.receipts, *found.receipts)))
        given = [verdict for verdict in verdicts_on(each) if verdict.source == "user"]
        if given and found.outcome.source != "user":
            found = with_verdict(found, given[0])
    return msgspec.structs.replace(
        arrival, line=to_line(found), outcome=found.outcome, receipts=found.receipts
    )
