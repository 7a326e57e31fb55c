"""A folder of Agent Skills → the nodes of a bank; those written elsewhere become roots."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from deltamem_tui.bank.collection import DEPTH_LIMIT
from deltamem_tui.bank.node import Node, Origin
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.skills import listing, section
from deltamem_tui.memory.skills.finding import Finder
from deltamem_tui.memory.skills.form import SkillForm, form_named
from deltamem_tui.memory.skills.layout import BANK_FILE, SKILL_FILE, SKILL_LIMITS, SkillLimits
from deltamem_tui.memory.skills.listing import Listing
from deltamem_tui.memory.skills.section import NodeSection, SkillPage
from deltamem_tui.text import clean, counted, one_line

_ADOPTED_BY = "skill"
_RULE = "---"
_SHOWN_LINES = 8
_AFTER_ALL = 2**31
"""The place of what no bank has placed."""


@dataclass(frozen=True, slots=True)
class SkillBook:
    """What a folder of skills holds.

    Attributes:
        nodes: Per tree, the nodes in order of birth, parents before children.
        facts: The manifest of the bank it was exported from; empty for other skills.
        changed: Ids of nodes whose text was changed since the export, or differs from what
            their id was made from.
        adopted: Folders of skills that another program wrote; each became a root.
        missing: Ids of nodes that were exported and are in no file any more.
        left: What is not taken in, file by file: texts around those of nodes that were
            changed, and files that hold nothing for a bank.
    """

    nodes: Mapping[str, tuple[Node, ...]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    left: tuple[RecordError, ...] = ()


def is_skills_folder(folder: Path) -> bool:
    """Whether a folder holds skills: an export of a bank, or folders with a SKILL.md."""
    if (folder / BANK_FILE).is_file() or (folder / SKILL_FILE).is_file():
        return True
    with os.scandir(folder) as entries:
        return any(entry.is_dir() and Path(entry, SKILL_FILE).is_file() for entry in entries)


def read_skills(folder: Path, limits: SkillLimits = SKILL_LIMITS) -> SkillBook:
    """Read all skills and knowledge in a folder.

    Raises:
        RecordError: There is a link, more than there may be, or a file that is not what it
            should be; a section belongs to no node, an id stands twice, a residual's parent is
            nowhere, or an export was interrupted. The error names the file.
        StorageError: The disk refused.
    """
    written = _listing(folder / BANK_FILE)
    reading = _SkillReader(folder, written, limits)
    for path in reading.finder.pages():
        reading.take(path)
    reading.left += [_left(path, "holds no node of a bank") for path in reading.finder.others]
    return SkillBook(
        nodes={name: _in_order(sections) for name, sections in reading.found.items()},
        facts=written.facts if written else {},
        changed=tuple(each.node.id for each in reading.sections() if each.changed),
        adopted=tuple(reading.adopted),
        missing=tuple(reading.missing()),
        left=tuple(reading.left),
    )


class _SkillReader:
    """What was found so far."""

    def __init__(self, folder: Path, written: Listing | None, limits: SkillLimits) -> None:
        self.finder = Finder(folder, limits)
        self.form = form_named(written.facts.get("method") if written else None)
        self.found: dict[str, dict[str, tuple[NodeSection, str]]] = {
            name: {} for name in self.form.collections
        }
        self.adopted: list[str] = []
        self.left: list[RecordError] = []
        self._folder, self._written, self._limits = folder, written, limits
        self._front_matters = 0

    def take(self, path: Path) -> None:
        """Read one file."""
        text = self.finder.text(path)
        page = section.read(self.form, text, str(path))
        for each in page.sections:
            self._put(each, path)
        if page.sections:
            self._report_around(page, path)
        elif path.name == SKILL_FILE:
            self._adopt(text, path)
        else:
            self.left.append(_left(path, "holds no node of a bank"))

    def sections(self) -> Iterator[NodeSection]:
        """All sections, tree by tree."""
        return (each for sections in self.found.values() for each, _ in sections.values())

    def missing(self) -> Iterator[str]:
        """The ids that were exported and not found."""
        for name, ids in (self._written.nodes if self._written else {}).items():
            yield from (node_id for node_id in ids if node_id not in self.found[name])

    def _put(self, each: NodeSection, path: Path) -> None:
        found = self.found[each.tree]
        if each.node.id in found:
            raise RecordError(
                f"node {each.node.id} stands twice, also in {found[each.node.id][1]}",
                source=str(path),
                position=f"line {each.line}",
                hint="keep one of the two",
            )
        found[each.node.id] = (each, str(path))

    def _report_around(self, page: SkillPage, path: Path) -> None:
        """Report the changed texts around the nodes' own: only the nodes' are taken in."""
        if self._written is None:
            return  # without a listing there is nothing to compare with
        written = self._written.files.get(path.relative_to(self._folder).as_posix())
        if written is None:
            reason = "not a file of this export: what stands around its fences is not taken in"
            self.left.append(RecordError(reason, source=str(path)))
            return
        unknown, gone = written.compared(page.around)
        if unknown:
            shown = ", ".join(map(str, unknown[:_SHOWN_LINES]))
            more = " and more" if len(unknown) > _SHOWN_LINES else ""
            error = RecordError(
                "text outside the fences was changed, which is not taken in",
                source=str(path),
                position=f"line{'s' if len(unknown) > 1 else ''} {shown}{more}",
                hint="say it inside a fence",
            )
            self.left.append(error)
        elif gone:
            lines = counted(gone, "line")
            reason = f"{lines} outside the fences taken away, which is not taken in"
            self.left.append(RecordError(reason, source=str(path)))

    def _adopt(self, text: str, path: Path) -> None:
        head, body = _parted(text)
        self._front_matters += len(head)
        if len(head) > self._limits.front_matter or (
            self._front_matters > self._limits.front_matters
        ):
            raise RecordError(
                f"more front matter than the {self._limits.front_matter:,} bytes of one skill "
                f"or the {self._limits.front_matters:,} of all",
                source=str(path),
            )
        tree, node = _adopted(self.form, head, body, str(path))
        node = structs.replace(node, depth=0)
        self._put(NodeSection(tree, node, _AFTER_ALL, changed=False, line=1), path)
        self.adopted.append(str(path.parent))


def _listing(path: Path) -> Listing | None:
    """The listing of an export; None if the skills are not from a bank."""
    if not os.path.lexists(path):
        return None
    written = listing.read(path)
    if written.unfinished:
        raise RecordError(
            "an export into this folder was interrupted, so it holds parts of two",
            source=str(path),
            hint="export the bank again with --replace",
        )
    return written


def _left(path: Path, reason: str) -> RecordError:
    return RecordError(reason, source=str(path), hint="it was left out")


def _in_order(found: Mapping[str, tuple[NodeSection, str]]) -> tuple[Node, ...]:
    """The nodes in order of birth with their depths, each after its parent."""
    ordered = sorted(found.values(), key=lambda item: (item[0].place, item[1], item[0].line))
    nodes: dict[str, Node] = {}
    for each, source in ordered:
        for node in reversed(_unplaced(each.node, source, found, nodes)):
            depth = nodes[node.parent].depth + 1 if node.parent else 1
            if depth > DEPTH_LIMIT:
                raise _too_deep(node, source)
            nodes[node.id] = structs.replace(node, depth=depth)
    return tuple(nodes.values())


def _unplaced(
    node: Node, source: str, found: Mapping[str, tuple[NodeSection, str]], known: Mapping[str, Node]
) -> Sequence[Node]:
    """The node and those above it that are not known yet, upwards."""
    way = {node.id: node}
    while node.id not in known and (parent := node.parent):
        if parent in way:
            raise RecordError(
                f"node {parent} is above itself", source=source, hint="name another parent"
            )
        if parent not in found:
            raise RecordError(
                f"the parent {parent} of node {node.id} is in no file",
                source=found[node.id][1],
                hint="bring its file back, or take this one out",
            )
        if len(way) > DEPTH_LIMIT:
            raise _too_deep(node, source)
        node = found[parent][0].node
        way[parent] = node
    return [each for each in way.values() if each.id not in known]


def _too_deep(node: Node, source: str) -> RecordError:
    return RecordError(
        f"node {node.id} lies deeper than {DEPTH_LIMIT:,}",
        source=source,
        hint="name a parent that is higher up",
    )


def _parted(text: str) -> tuple[str, str]:
    """A file's front matter and its body, both clean; without front matter, all is body."""
    text = clean(text)
    first, *lines = text.split("\n")
    if first.rstrip() == _RULE:
        for number, line in enumerate(lines):
            if line.rstrip() == _RULE:
                return "\n".join(lines[:number]), "\n".join(lines[number + 1 :])
    return "", text


def _adopted(form: SkillForm, head: str, body: str, source: str) -> tuple[str, Node]:
    """The root that a skill with such a front matter and body becomes, or a `RecordError`."""
    import yaml

    try:
        description = clean(_description(head)).strip()  # YAML can spell out any character
    except yaml.YAMLError as error:
        reason = one_line(str(error), 120)
        raise RecordError(f"the front matter is not plain YAML: {reason}", source=source) from error
    if not description or not body.strip():
        raise RecordError(
            "a skill needs a description in its front matter, and a body", source=source
        )
    origin = Origin(extractor=_ADOPTED_BY, outcome_source="unknown")
    return form.adopted(description, body.strip(), origin)


def _description(head: str) -> str:
    """The text under `description` in the outermost mapping; empty if there is none."""
    # YAML can name a part and repeat it, so that a few lines become more than any machine holds:
    # nothing is built of the front matter, its description is picked out while it is parsed.
    import yaml

    found, key, level, in_mapping = "", None, 0, False
    for event in yaml.parse(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if level == 0 and isinstance(event, yaml.NodeEvent):
            in_mapping = isinstance(event, yaml.MappingStartEvent)
        elif level == 1 and in_mapping and isinstance(event, yaml.NodeEvent):
            text = event.value if isinstance(event, yaml.ScalarEvent) else ""
            if key is None:
                key = text
            else:
                found, key = (text if key == "description" else found), None
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
    return found
