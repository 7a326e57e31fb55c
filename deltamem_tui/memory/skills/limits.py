"""The limits of a folder of Agent Skills, which is not trusted."""

from __future__ import annotations

from dataclasses import dataclass

_MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SkillLimits:
    """What a folder of Agent Skills may take, in bytes if nothing else is said.

    Whoever exports keeps to them too, so that what was written can be read back.

    Attributes:
        entries: Files and folders that are looked at, as a number.
        file: One file.
        total: All files together.
        lines: Lines of one file, as a number.
        listing: `deltamem.json`, which is parsed as a whole.
        facts: What stands in the comment over one node.
        front_matter: What another program wrote over one skill, as YAML.
        front_matters: All front matter together; it is slow to read.
    """

    entries: int = 500_000
    file: int = 32 * _MEGABYTE
    total: int = 256 * _MEGABYTE
    lines: int = 1_000_000
    listing: int = 32 * _MEGABYTE
    facts: int = _MEGABYTE
    front_matter: int = 64 * 1024
    front_matters: int = 4 * _MEGABYTE


SKILL_LIMITS = SkillLimits()
"""What is taken in of skills."""
