"""Contestants: the methods, admissions and forgettings that are compared on equal terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import product

from msgspec import Struct

from deltamem_tui.errors import ConfigurationError, UsageError
from deltamem_tui.memory.methods import method_named
from deltamem_tui.memory.policies import FORGETTINGS
from deltamem_tui.memory.policies.admission import POLICIES, Policy, as_admitted
from deltamem_tui.memory.policies.forgetting import PRESETS
from deltamem_tui.memory.settings import Settings, assigned, replaced
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Outcome, Trajectory

UNJUDGED = "unjudged"
"""The published way to add all: every episode is learnt as if it had succeeded."""
ADMISSIONS = (*POLICIES, UNJUDGED)

_NUMBERS: Mapping[str, str] = {
    "period": "forget_period",
    "recalls": "forget_recalls",
    "judged": "forget_judged",
    "utility": "forget_utility",
    "capacity": "capacity",
    "every": "forget_every",
}
"""What the numbers of forgetting are called for short, and as a bank's parameters."""


class Contestant(Struct, frozen=True):
    """One of those that are compared.

    Attributes:
        method: The name of its memory method.
        admission: Which episodes it learns: a bank's admission, or `unjudged`.
        forgetting: What it forgets: a rule or a preset, and numbers in place of the usual.
    """

    method: str
    admission: str = "strict"
    forgetting: str = "none"

    def settings(self, domain: str) -> Settings:
        """The parameters of its bank: the domain's preset, with its own rules of forgetting."""
        return forgetting_settings(method_named(self.method).settings.preset(domain), self)

    def admitted(self, episode: Trajectory) -> Trajectory | None:
        """The episode as it may learn it; None if it may not."""
        if self.admission != UNJUDGED:
            return as_admitted(_policy(self.admission), episode)
        word = Outcome(True, source="judge", reason="learnt as if it had succeeded")
        words = (episode.outcome, *episode.verdicts)
        others = tuple(each for each in words if each.source != "judge" and each.known)
        return episode.with_facts(outcome=word, verdicts=others)


def contestants(
    methods: Iterable[str], admissions: Iterable[str], forgettings: Iterable[str]
) -> list[Contestant]:
    """Every method with every admission and every forgetting, each once, in the order given.

    Raises:
        UsageError: A name is not one, or a number of forgetting is not.
    """
    names = [method_named(each).name for each in methods]
    admitting = [each if each == UNJUDGED else _policy(each) for each in admissions]
    forgetting = ["".join(each.split()) for each in forgettings]
    found = [Contestant(*each) for each in product(names, admitting, forgetting)]
    for each in found:
        forgetting_settings(Settings(), each)
    return list(dict.fromkeys(found))


def never_forgetting(contestant: Contestant, among: Sequence[Contestant]) -> Contestant | None:
    """The one that differs only in that it forgets nothing; None if there is none, or it is it."""
    twin = Contestant(contestant.method, contestant.admission)
    return twin if twin != contestant and twin in among else None


def forgetting_settings(settings: Settings, contestant: Contestant) -> Settings:
    """Some parameters, with a contestant's rules of forgetting in place of theirs.

    Raises:
        UsageError: It names no rule, or a number that it cannot have.
    """
    name, *numbers = contestant.forgetting.split(",")
    if "=" in name:
        name, numbers = "none", [name, *numbers]
    if name in PRESETS:
        preset = {key: each for key, each in asdict(PRESETS[name]).items() if each is not None}
        rule = preset.pop("forgetting")
        if "utility" not in preset:  # of no history, only the period is left
            rule = "periodical"
        for key, each in preset.items():
            settings = replaced(settings, _NUMBERS[key], each)
    elif name in FORGETTINGS:
        rule = name
    else:
        raise UsageError(
            f"there is no way to forget {one_line(name, 40)!r}",
            hint=f"one of {', '.join((*FORGETTINGS, *PRESETS))}, or capacity=N",
        )
    settings = replaced(replaced(settings, "forgetting", rule), "forget_every", 1)
    for each in numbers:
        key, _, value = each.partition("=")
        if key not in _NUMBERS:
            raise UsageError(
                f"forgetting has no number {one_line(key, 40)!r}",
                hint=f"one of {', '.join(_NUMBERS)}",
            )
        try:
            settings = assigned(settings, f"{_NUMBERS[key]}={value}")
        except ConfigurationError as error:
            raise UsageError(f"`{one_line(each, 60)}`: {error.message}") from error
    return settings


def _policy(name: str) -> Policy:
    for policy in POLICIES:
        if policy == name:
            return policy
    raise UsageError(
        f"there is no way to admit {one_line(name, 40)!r}", hint=f"one of {', '.join(ADMISSIONS)}"
    )
