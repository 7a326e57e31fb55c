"""Memory methods: what one is made of, which there are by name, and what each writes by its rules.

A method decides what an episode adds to a bank's collections and what a question finds there. Its
functions write nothing: they return plans, and `memory.engine` commits them. A method's definition
also says how it is shown, so that neither the command line nor the browser asks which method it
is, and what it asks models for, so that their prompts can be checked beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from deltamem_tui.bank.node import TEXT_LIMIT, Collection
from deltamem_tui.errors import BankCorruptError, ExtractionError, UsageError
from deltamem_tui.memory import settings as numbers
from deltamem_tui.memory.display import Display
from deltamem_tui.memory.prompts.use import SHARED, PromptUse
from deltamem_tui.memory.settings import Setting, Settings
from deltamem_tui.memory.writers.extraction import NO_INPUTS, Extraction, Inputs, Notes
from deltamem_tui.memory.writers.writer import Writer
from deltamem_tui.text import clean, one_line
from deltamem_tui.trajectory.model import Trajectory, scene_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.bank.manifest import Manifest
    from deltamem_tui.embedding.protocol import Embedder
    from deltamem_tui.memory.plan import Due, LearnResult, MaintenanceResult, Plan
    from deltamem_tui.memory.recall_result import Query, RecallResult


DEFAULT = "deltamem"
PLACES = {
    "deltamem": "deltamem_tui.memory.deltamem.definition:METHOD",
    "awm": "deltamem_tui.memory.flat.definitions:AWM",
    "memp": "deltamem_tui.memory.flat.definitions:MEMP",
    "reasoningbank": "deltamem_tui.memory.flat.definitions:REASONINGBANK",
    "synapse": "deltamem_tui.memory.flat.definitions:SYNAPSE",
    "cdmem": "deltamem_tui.memory.cdmem.definition:METHOD",
}
"""The place of each definition, which loads nothing that the method works with."""
_GROUP = "deltamem.methods"
"""The entry points of other packages' methods."""
_READ = 8000  # characters of each text: what the rules write is a few words of it


def late(path: str) -> Callable[..., Any]:
    """Return a stand-in for a function, `module:name`, that is imported when it is first called.

    So a definition is loaded without all that its method works with.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        return resolve_name(path)(*arguments, **named)

    call.__qualname__ = path
    return call


@dataclass(frozen=True, kw_only=True, eq=False)
class Method:
    """A memory method: its definition, and the functions that it works with.

    Attributes:
        name: What `bank.json` and `init --method` call it.
        title: What it is, in a few words.
        good_when: When it is the one to choose, in a line; empty if it does not say.
        collections: Its collections, in the order in which they are asked and shown.
        display: How each is shown.
        settings: Its numbers; a collection's `d_max` is the deepest level that its nodes may have.
        ranking: What is recalled, in one line.
        rules: Per rule of its recall but the threshold's, what its scores mean.
        prompts: What it asks a writer for, by the name of the prompt.
        key_depths: Collections with nodes that are never recalled, only keys of those above them,
            and the depth from which on they are; they are forgotten with those.
        recall: What a bank as it stands recalls.
        plan: What an episode changes in a bank as it stands. Pure: it may be called again, after
            another process wrote, or ahead of the episode's turn with a writer that only notes
            what it is asked. Raises ExtractionError if the writer can make nothing of the episode.
        write_by_rules: What a model would be asked for (see `Writer.write`), written without one.
            Pure; the episode's texts are clean, and long ones are cut.
        due: The maintenance that is due.
        maintain: What one piece of maintenance changes, pure like `plan`; None if no longer due.
        digest: What any task of a project, or else of a bank, needs, in at most so many tokens:
            lines, none if the method does not know.
    """

    name: str
    title: str
    collections: Mapping[str, Collection]
    display: Mapping[str, Display]
    settings: type[Settings]
    recall: Callable[[Bank, Query, Embedder], RecallResult]
    plan: Callable[[Bank, Trajectory, Writer, Embedder], Plan[LearnResult]]
    good_when: str = ""
    ranking: str = "score = similarity"
    rules: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, PromptUse] = field(default_factory=dict)
    key_depths: Mapping[str, int] = field(default_factory=dict)
    write_by_rules: Callable[[str, Trajectory | None, Notes, Inputs], Extraction] | None = None
    due: Callable[[Bank], Sequence[Due]] = lambda _: ()
    maintain: Callable[[Bank, Due, Writer, Embedder], Plan[MaintenanceResult] | None] = lambda *_: (
        None
    )
    digest: Callable[[Bank, int, str], list[str]] = lambda *_: []

    def use_of(self, prompt: str) -> PromptUse:
        """Return what one of its prompts, or of the shared ones, is used for; else a UsageError."""
        found = self.prompts.get(prompt) or SHARED.get(prompt)
        if found is None:
            raise UsageError(
                f"the method {self.name} has no use for a prompt {one_line(prompt, 60)!r}",
                hint=f"its prompts are {', '.join([*self.prompts, *SHARED])}",
            )
        return found

    def cleaned(self, collection: str, payload: Mapping[str, str]) -> dict[str, str]:
        """Return the texts of a node of a collection as they may be written; see `cleaned`."""
        fields, optional = self.collections[collection].fields, self.display[collection].optional
        return cleaned(payload, fields, optional)


def cleaned(
    payload: Mapping[str, str], fields: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str]:
    """Return a payload without control characters and outer white space, in the fields' order.

    An ExtractionError says that a field is unknown, far too long, or empty and must not be.
    """
    if unknown := set(payload).difference(fields):
        raise ExtractionError(f"the payload has an unknown field {one_line(min(unknown), 40)!r}")
    texts = {name: clean(payload.get(name, "")).strip() for name in fields}
    empty = [name for name, text in texts.items() if not text and name not in optional]
    if empty:
        raise ExtractionError(f"the payload has no {empty[0].replace('_', ' ')}")
    if max(map(len, texts.values())) > TEXT_LIMIT:
        raise ExtractionError(f"the payload is longer than {TEXT_LIMIT:,} characters")
    return texts


def names() -> list[str]:
    """Return the names of all methods, this package's first."""
    return list(dict.fromkeys([*PLACES, *_installed().names]))


def choices() -> dict[str, str]:
    """Return what each method is, and on a second line when to choose it, by its name."""
    methods = (method_named(name) for name in names())
    return {
        each.name: f"{each.title}\ngood when {each.good_when}" if each.good_when else each.title
        for each in methods
    }


def method_named(name: str) -> Method:
    """Return a method by its name; a UsageError says that there is none."""
    if name in PLACES:
        return cast("Method", resolve_name(PLACES[name]))
    for other in _installed().select(name=name):
        return cast("Method", other.load())
    known = names()
    near = get_close_matches(name, known, n=1)
    raise UsageError(
        f"there is no method {one_line(name, 40)!r}",
        hint=f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}",
    )


@cache
def _installed() -> EntryPoints:
    """Return the methods of other packages."""
    from importlib.metadata import entry_points

    return entry_points(group=_GROUP)


def prompt_uses() -> dict[str, PromptUse]:
    """Return what every prompt is used for, those of all methods and the shared ones."""
    uses = [method_named(each).prompts for each in names()]
    return {name: use for each in (*uses, SHARED) for name, use in each.items()}


def method_of(bank: Bank) -> Method:
    """Return the method that a bank is made for; a UsageError says that it is not installed."""
    return method_named(bank.manifest.method)


def display_of(bank: Bank, collection: str) -> Display:
    """Return how a collection is shown: as its method says, or plainly if that is not installed."""
    try:
        return method_of(bank).display[collection]
    except (UsageError, KeyError):
        return Display(title=collection, noun=collection)


def key_label(bank: Bank, collection: str) -> str:
    """Return what stands over the titles of a collection's nodes, in a table."""
    return display_of(bank, collection).label(bank.collections[collection].fields[0]).lower()


def is_shown(bank: Bank, collection: str) -> bool:
    """Return whether a collection is shown: questions are put to it, or it holds something."""
    return display_of(bank, collection).asked or len(bank.tree(collection)) > 0


def settings_of(bank: Bank) -> Settings:
    """Return the numbers of a bank's method; see `method_of` and `settings.of_bank`."""
    return numbers.of_bank(bank, method_of(bank).settings)


def settings_record(bank: Bank) -> Mapping[str, Any]:
    """Return the numbers of a bank's method as JSON; as the manifest has them if it cannot."""
    try:
        return numbers.to_record(settings_of(bank))
    except (BankCorruptError, UsageError):
        return bank.manifest.settings


def settings_for(bank: Bank, embedder: str) -> tuple[Settings, list[Setting]]:
    """Return a bank's numbers with another embedder, and those that stay as they were chosen.

    What was usual for its embedder before becomes what is usual for the new one; what was chosen
    stays.
    """
    settings, chosen = settings_of(bank), list[Setting]()
    domain, before = bank.manifest.domain, str(bank.manifest.embedder["model"])
    usual, own = (numbers.listed(settings.preset(domain, name)) for name in (before, embedder))
    for now, old, new in zip(numbers.listed(settings), usual, own, strict=True):
        if now.value == old.value != new.value:
            settings = numbers.replaced(settings, now.path, new.value)
        elif old.value != new.value != now.value:
            chosen.append(now)
    return settings, chosen


def change_settings(bank: Bank, why: str, how: Callable[[Any], Settings]) -> None:
    """Change a bank's numbers; the journal says `why`, unless they stay as they are.

    `how` gets the numbers as they are under the writer's lock.

    Raises:
        BankFrozenError: The bank is frozen.
        ConfigurationError: A number is outside its range; nothing was written.
    """
    how(settings_of(bank))  # what is wrong by itself is refused before any file is touched

    def changed(manifest: Manifest) -> tuple[Manifest, Mapping[str, Any]]:
        before = settings_of(bank)
        after = numbers.checked(how(before))
        if after == before:
            return manifest, {}
        record = numbers.stored_record(after)
        return replace(manifest, settings=record), {"why": why, **record}

    bank.change_manifest("parameters", changed)


class RulesExtractor:
    """Distils episodes by rules alone. The same input gives the same text, always."""

    name = "rules"

    def __init__(self, method: Method | None = None) -> None:
        """The rules are those of a method, the default one if none is given."""
        self._method = method or method_named(DEFAULT)

    def of_method(self, method: Method) -> RulesExtractor:
        """Return the writer with the rules of a method."""
        return RulesExtractor(method)

    def write(
        self, purpose: str, episode: Trajectory | None, notes: Notes, inputs: Inputs = NO_INPUTS
    ) -> Extraction:
        """Write what a model would be asked for, by the rules of the method; see `Writer.write`."""
        write = self._method.write_by_rules
        if write is None or purpose in SHARED:
            raise ExtractionError(f"{purpose} is not written by rules")
        return write(purpose, episode and skimmed(episode), notes, inputs)


def skimmed(trajectory: Trajectory) -> Trajectory:
    """Return the episode as the rules read it: clean, long texts cut, without thoughts."""

    def short(text: str) -> str:
        return clean(text[:_READ])

    steps = tuple(structs.replace(each, thought="").with_texts(short) for each in trajectory.steps)
    task, scene = short(trajectory.task), short(scene_of(trajectory))
    return structs.replace(trajectory, task=task, environment=scene, steps=steps)
