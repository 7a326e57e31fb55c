"""The method's numbers, per tree, with the presets that were published (DeltaMem, settings).

The published thresholds belong to E5-base-v2, whose similarities crowd together near the
top. Another embedder's similarities mean something else: `calibrate` proposes thresholds
for it from a bank's own episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from math import inf
from typing import Any

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.manifest import Manifest
from deltamem_tui.errors import BankCorruptError, ConfigurationError, UsageError
from deltamem_tui.memory.deltamem.collections import COLLECTIONS
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.domains import GENERIC, key


@dataclass(frozen=True, slots=True)
class TreeParameters:
    """The numbers of one tree.

    Attributes:
        tau_base: The least score at which a node is a match (τ_base), in [-1, 1].
        failure_penalty: Taken off the similarity of failures (ε), at least 0.
        d_max: The deepest level of the tree (D_max), at least 2: at 1 the sibling rule
            would hang a residual on the virtual root.
        k_cons: Successful hits after which a residual's chain is fused (K_cons), at least 1;
            None never fuses.
        enabled: Whether the tree is queried and grown at all.
    """

    tau_base: float
    failure_penalty: float = 0.05
    d_max: int = 5
    k_cons: int | None = 3
    enabled: bool = True


Parameters = Mapping[str, TreeParameters]

PRESETS: Mapping[str, Parameters] = {
    "alfworld": {
        "task": TreeParameters(tau_base=0.75, k_cons=5),
        "env": TreeParameters(tau_base=0.85, k_cons=5),
    },
    "scienceworld": {
        "task": TreeParameters(tau_base=0.82, k_cons=3),
        "env": TreeParameters(tau_base=0.82, k_cons=3),
    },
    "webshop": {
        "task": TreeParameters(tau_base=0.85, k_cons=3),
        "env": TreeParameters(tau_base=0.85, k_cons=3),
    },
    GENERIC: {
        "task": TreeParameters(tau_base=0.82, k_cons=3),
        "env": TreeParameters(tau_base=0.85, k_cons=3),
    },
}


def preset(domain: str) -> Parameters:
    """The preset of a domain; the generic one for a domain that has none."""
    return PRESETS.get(key(domain), PRESETS[GENERIC])


def domain_named(domain: str) -> str:
    """A domain as a person types it, if it is not one with a preset, misspelt.

    One with a preset has the preset's name, however it is spelt. Any other name is taken: a
    domain of one's own has one's own prompts.

    Raises:
        UsageError: It is almost the name of a domain that has a preset.
    """
    if key(domain) in PRESETS:
        return key(domain)
    near = get_close_matches(key(domain), PRESETS, n=1, cutoff=0.8)
    if not near:
        return domain
    raise UsageError(
        f"there is no domain {one_line(domain, 40)!r}",
        hint=f"did you mean {near[0]}? Those with presets are {', '.join(PRESETS)}",
    )


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a parameter can be: its types, its range, and both in words."""

    kinds: tuple[type, ...]
    least: float
    most: float
    words: str

    def allows(self, value: Any) -> bool:
        # A truth value is a number to Python, but to nobody else; none has no range.
        if type(value) not in self.kinds:
            return False
        return value is None or self.least <= value <= self.most


_RULES: Mapping[str, _Rule] = {
    "tau_base": _Rule((int, float), -1, 1, "a similarity from -1 to 1"),
    "failure_penalty": _Rule((int, float), 0, 2, "a number from 0 to 2"),
    "d_max": _Rule((int,), 2, 1000, "a depth from 2 to 1000, a whole number"),
    "k_cons": _Rule((int, type(None)), 1, inf, "a whole number of hits from 1, or none"),
    "enabled": _Rule((bool,), False, True, "true or false"),
}


def checked(tree: str, parameters: TreeParameters) -> TreeParameters:
    """The same parameters, if they can be.

    Raises:
        ConfigurationError: One is of another type or outside its range.
    """
    for name, value in asdict(parameters).items():
        rule = _RULES[name]
        if not rule.allows(value):
            raise ConfigurationError(
                f"{name} must be {rule.words}, not {one_line(repr(value), 40)}",
                source=f"{tree} tree",
            )
    return parameters


def of_bank(bank: Bank) -> Parameters:
    """The numbers that a bank's manifest keeps.

    Raises:
        BankCorruptError: One is missing, unknown, of another type or outside its range.
    """
    try:
        return from_record(bank.manifest.settings)
    except ConfigurationError as error:
        raise BankCorruptError(
            error.message,
            source=str(bank.path / "bank.json"),
            position=error.source,
            hint="correct it in the file",
        ) from error


def change(bank: Bank, why: str, how: Callable[[Parameters], Parameters]) -> Parameters:
    """Change a bank's numbers, and tell the journal unless they stay as they are.

    Args:
        bank: The bank; its handle shows the new numbers afterwards.
        why: Who or what asked for it, for the journal.
        how: From the numbers as they are, whoever wrote them last, to what they shall be.

    Returns:
        The bank's numbers now.

    Raises:
        BankFrozenError: The bank is frozen.
        ConfigurationError: A number is outside its range; nothing was written.
    """
    how(of_bank(bank))  # what is wrong by itself is refused before any file is touched

    def changed_manifest(manifest: Manifest) -> tuple[Manifest, Mapping[str, Any]]:
        record = to_record(how(of_bank(bank)))
        if from_record(record) == of_bank(bank):
            return manifest, {}
        return replace(manifest, settings=record), {"why": why, **record}

    bank.change_manifest("parameters", changed_manifest)
    return of_bank(bank)


def to_record(parameters: Parameters) -> dict[str, dict[str, Any]]:
    """The parameters as the manifest keeps them."""
    return {str(tree): asdict(parameters[tree]) for tree in COLLECTIONS}


def from_record(record: Mapping[str, Mapping[str, Any]]) -> Parameters:
    """The parameters of a manifest.

    Raises:
        ConfigurationError: One is missing, unknown, of another type or outside its range.
    """
    return {tree: _tree_from_record(tree, record.get(tree, {})) for tree in COLLECTIONS}


def _tree_from_record(tree: str, record: Mapping[str, Any]) -> TreeParameters:
    names = {field.name for field in fields(TreeParameters)}
    if unknown := sorted(set(record) - names):
        raise ConfigurationError(f"unknown parameter {unknown[0]!r}", source=f"{tree} tree")
    if "tau_base" not in record:
        raise ConfigurationError("the parameter 'tau_base' is missing", source=f"{tree} tree")
    return checked(tree, TreeParameters(**record))


def changed(parameters: Parameters, tree: str, **changes: Any) -> Parameters:
    """The same parameters but for some of one tree.

    Raises:
        ConfigurationError: A new one is outside its range.
    """
    return {**parameters, tree: checked(tree, replace(parameters[tree], **changes))}


def assigned(parameters: Parameters, assignment: str) -> Parameters:
    """The same parameters after `tree.name=value`, as a person types it.

    Raises:
        ConfigurationError: There is no such parameter, or it cannot have this value.
    """
    target, equals, text = assignment.partition("=")
    tree, _, name = target.strip().partition(".")
    known = tree in COLLECTIONS and name in _RULES
    if not (equals and known):
        raise ConfigurationError(
            f"{one_line(assignment, 60)!r} assigns no parameter",
            hint=f"TREE.NAME=VALUE with task or env, and one of {', '.join(_RULES)}",
        )
    word = text.strip().lower()
    record = to_record(parameters)
    if name == "enabled" and not isinstance(_VALUES.get(word), bool):
        raise ConfigurationError(
            f"{name} cannot be {one_line(text, 40)!r}", source=target.strip(), hint="true or false"
        )
    record[tree][name] = _VALUES[word] if word in _VALUES else _number(target, word)
    return from_record(record)


_VALUES: Mapping[str, bool | None] = {"none": None, "true": True, "false": False}


def _number(target: str, text: str) -> int | float:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError as error:
        raise ConfigurationError(
            f"{one_line(text, 40)!r} is no number", source=target.strip()
        ) from error
