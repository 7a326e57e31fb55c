"""The files of a folder of Agent Skills, their names, and what the folder may take.

A name has 1 to 64 of a–z, 0–9 and single hyphens, as the specification says.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from deltamem_tui.bank.node import Node

BANK_FILE = "deltamem.json"
SKILL_FILE = "SKILL.md"
REFERENCES = "references"
KNOWLEDGE = "knowledge"
PAGE_SUFFIX = ".md"

NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1024

_WORDS_LENGTH = 40
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_BETWEEN = re.compile(r"[^a-z0-9]+")


def is_name(text: str) -> bool:
    """Whether a skill may be called so."""
    return len(text) <= NAME_LIMIT and _NAME.fullmatch(text) is not None


def is_page(path: str) -> bool:
    """Whether an export may write a file there: a path inside its folder, and no way out."""
    folder, _, page = path.removesuffix(PAGE_SUFFIX).rpartition("/")
    if not path.endswith(PAGE_SUFFIX):
        return False
    if path == f"{folder}/{SKILL_FILE}":
        return is_name(folder)
    skill, _, references = folder.partition("/")
    return is_name(page) and (folder == KNOWLEDGE or (is_name(skill) and references == REFERENCES))


def name_of(node: Node) -> str:
    """The node's name: the start of its title, then its id."""
    start = slug(node.title)
    return f"{start}-{node.id}" if start else node.id


def slug(text: str, length: int = _WORDS_LENGTH) -> str:
    """The start of a text as a name of at most `length` characters; it may be empty."""
    plain = unicodedata.normalize("NFKD", text[: 8 * length]).encode("ascii", "ignore").decode()
    name = _BETWEEN.sub("-", plain.lower()).strip("-")
    if len(name) > length:
        name = name[: length + 1].rpartition("-")[0] or name[:length]
    return name.strip("-")


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
