"""How the nodes of a method stand in a folder of skills: under which headings, in which files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.collection import Collection
from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.errors import RecordError, UsageError
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.methods import DEFAULT, method_named, method_of


@dataclass(frozen=True, slots=True)
class SkillForm:
    """The collections of a method, as skills and pages of knowledge.

    Attributes:
        method: The method's name.
        collections: What a node of each consists of.
        displays: How each is shown.
    """

    method: str
    collections: Mapping[str, Collection]
    displays: Mapping[str, Display]

    @property
    def skills(self) -> list[str]:
        """The collections whose roots are skills; those of the others are knowledge."""
        return [name for name, display in self.displays.items() if display.instruction]

    def headings(self, tree: str) -> dict[str, str]:
        """What stands over each text of a node, by its field."""
        return {name: self.displays[tree].label(name) for name in self.collections[tree].fields}

    def is_needed(self, tree: str, field: str) -> bool:
        """Whether every node of a collection has this text, be it empty."""
        return field not in self.displays[tree].optional

    def adopted(self, description: str, body: str, origin: Origin) -> tuple[str, Node]:
        """The root that a skill of another program becomes, and its collection.

        Raises:
            RecordError: The method keeps no skills.
        """
        if not self.skills:
            raise RecordError(f"the method {self.method} keeps no skills")
        name = self.skills[0]
        collection, display = self.collections[name], self.displays[name]
        texts = dict.fromkeys((collection.fields[0], collection.key), description)
        texts[display.instruction] = body
        payload = {field: texts.get(field, "") for field in collection.fields}
        return name, born(name, None, "success", payload, origin)


def form_of(bank: Bank) -> SkillForm:
    """The form of a bank's nodes.

    Raises:
        UsageError: The bank's method is not installed, so it is not known what its texts are.
    """
    return form_named(method_of(bank).name)


def form_named(name: object) -> SkillForm:
    """The form of a method's nodes; the usual method's if none is named.

    Raises:
        RecordError: There is no such method here.
    """
    try:
        method = method_named(str(name or DEFAULT))
    except UsageError as error:
        raise RecordError(error.message, hint=error.hint) from error
    return SkillForm(method.name, method.collections, method.display)
