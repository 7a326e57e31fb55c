"""Contestants: who competes, as named on the command line; and what each may learn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from deltamem_tui.errors import UsageError
from deltamem_tui.memory.methods import method_named, names
from deltamem_tui.memory.policies.admission import as_admitted, policy_named
from deltamem_tui.memory.settings import Settings, assigned
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

BASELINES: Mapping[str, str] = {
    "nothing": "no memory",
    "raw": "the success whose task is most similar, as it was",
    "weighted": "the same by shared words, common ones counting more",
    "kind": "the same as raw, among the successes of the task's kind",
}
"""Per baseline, what it hands over."""

UNJUDGED = "unjudged"
"""The published way to add all: every episode is learnt as if it had succeeded."""

_NAME_WIDTH = 60
_ADMISSION = "admission="


class Contestant(Struct, frozen=True, omit_defaults=True):
    """One of those that compete.

    Attributes:
        name: Unique among them.
        method: A memory method, or a baseline; empty for a bank.
        parameters: Numbers of its bank in place of the domain's preset: `task.recall=paper`.
        bank: The path of a bank that is given.
    """

    name: str
    method: str = ""
    parameters: tuple[str, ...] = ()
    bank: str = ""

    @property
    def sort(self) -> Literal["baseline", "method", "bank"]:
        """A baseline, a method that has to learn, or a bank that has learnt."""
        if self.bank:
            return "bank"
        return "baseline" if self.method in BASELINES else "method"

    @property
    def admission(self) -> str:
        """Return which outcomes it learns: a bank's admission policy, or `unjudged`."""
        found = [each.removeprefix(_ADMISSION) for each in self.parameters if _ADMISSION in each]
        return found[-1] if found else "strict"

    def settings(self, domain: str) -> Settings:
        """Return the parameters of a method's bank."""
        settings: Settings = method_named(self.method).settings.preset(domain)
        if any(each.startswith(("forgetting=", "capacity=")) for each in self.parameters):
            settings = assigned(settings, "forget_every=1")
        for each in self.parameters:
            if each != _ADMISSION + UNJUDGED:
                settings = assigned(settings, each)
        return settings

    def admitted(self, episode: Trajectory, policy: str = "") -> Trajectory | None:
        """Return the episode as it is learnt; None if it is not."""
        policy = policy or self.admission
        if policy != UNJUDGED:
            return as_admitted(policy_named(policy), episode)
        verdict = Outcome(True, source="judge", reason="learnt as if it had succeeded")
        verdicts = (episode.outcome, *episode.verdicts)
        others = tuple(each for each in verdicts if each.source != "judge" and each.known)
        return episode.with_facts(outcome=verdict, verdicts=others)


def contestants(methods: Iterable[str], banks: Mapping[str, Path]) -> tuple[Contestant, ...]:
    """Return the contestants named: `NAME` or `NAME:PARAMETER=VALUE,…`, then banks by path."""
    found: dict[Contestant, None] = {}
    known = (*BASELINES, *names())
    for spec in methods:
        name, _, rest = spec.partition(":")
        if name not in known:
            hint = f"one of {', '.join(known)}"
            raise UsageError(f"unknown method {one_line(name, 40)!r}", hint=hint)
        parameters = tuple(each.strip() for each in rest.split(",") if each.strip())
        made = Contestant(one_line(" ".join((name, *parameters)), _NAME_WIDTH), name, parameters)
        if made.sort == "baseline" and parameters:
            raise UsageError(f"{name} has no parameters", hint=f"write --method {name}")
        if made.sort == "method":
            made.settings("generic")
        found[made] = None
    for name, path in banks.items():
        shown = one_line(Path(name).name or name, _NAME_WIDTH)
        found[Contestant(shown, bank=str(path.resolve()))] = None
    if not found:
        raise UsageError("there are no contestants", hint="name a --method or a --bank")
    return _named_apart(found)


def _named_apart(found: Iterable[Contestant]) -> tuple[Contestant, ...]:
    known: dict[str, Contestant] = {}
    for each in found:
        name, number = each.name, 2
        while name in known:
            name, number = f"{each.name} ({number})", number + 1
        known[name] = replace(each, name=name)
    return tuple(known.values())


def true_outcome(episode: Trajectory) -> Outcome | None:
    """Return the verdict of a person, or else of the log; None if neither has one."""
    verdicts = [each for each in (episode.outcome, *episode.verdicts) if each.known]
    found = {each.source: each for each in verdicts}
    return found.get("user") or found.get("stated")


def judged_by_chance(episode: Trajectory, error: float, seed: int) -> Trajectory:
    """Add the verdict of a judge that errs with a probability, the same for all contestants."""
    truth = true_outcome(episode)
    if truth is None:
        return episode
    digest = hashlib.sha256(f"{seed} {episode.id}".encode()).digest()
    wrong = int.from_bytes(digest[:8]) < error * 2**64
    said = Outcome(bool(truth.success) ^ wrong, source="judge", reason="simulated")
    verdicts = (episode.outcome, *episode.verdicts)
    others = [each for each in verdicts if each.source != "judge" and each is not truth]
    return episode.with_facts(outcome=truth, verdicts=(*others, said))
