"""Names that the Agent Skills specification allows, and the files that have them.

A name has 1 to 64 of a–z, 0–9 and single hyphens.
"""

from __future__ import annotations

import re
import unicodedata

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
    """The node's name: the start of its activation condition, then its id."""
    start = slug(node.payload["activation_condition"])
    return f"{start}-{node.id}" if start else node.id


def slug(text: str, length: int = _WORDS_LENGTH) -> str:
    """The start of a text as a name of at most `length` characters; it may be empty."""
    plain = unicodedata.normalize("NFKD", text[: 8 * length]).encode("ascii", "ignore").decode()
    name = _BETWEEN.sub("-", plain.lower()).strip("-")
    if len(name) > length:
        name = name[: length + 1].rpartition("-")[0] or name[:length]
    return name.strip("-")
