"""What `deltamem extract` came to, for a person and for the JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deltamem_tui.cli.model_client import bill, recovery_notes
from deltamem_tui.text import counted

if TYPE_CHECKING:
    from deltamem_tui.bank.bank import Bank
    from deltamem_tui.errors import DeltaMemError
    from deltamem_tui.llm.cost import Usage
    from deltamem_tui.memory.deltamem.learn_result import Lesson
    from deltamem_tui.memory.writers.extraction import Extractor
    from deltamem_tui.trajectory.model import Trajectory


@dataclass(slots=True)
class Found:
    """What a run came to.

    Attributes:
        usage: What it asked, used or not.
        wasted: What of that was not used.
        recovered: What killed runs had paid, which the journal tells of only now.
        on_their_way: How many calls had no answer when nobody waited any longer.
        scenes: How many scenes were drawn.
        lessons: What was learnt.
        errors: What went wrong.
    """

    usage: Usage
    wasted: Usage
    recovered: Usage
    on_their_way: int = 0
    scenes: int = 0
    lessons: list[Lesson] = field(default_factory=list)
    errors: list[DeltaMemError] = field(default_factory=list)


def counts(lessons: Sequence[Lesson]) -> dict[str, Any]:
    """What the lessons came to. An episode that another process learnt first is not of this run."""
    nodes = Counter({"task": 0, "env": 0})
    consolidated = skipped = 0
    for lesson in lessons:
        written = [name for name, taught in lesson.trees.items() if taught.node]
        nodes.update(written)
        skipped += lesson.new and not written
        consolidated += sum(taught.consolidated is not None for taught in lesson.trees.values())
    return {
        "learned": sum(lesson.new for lesson in lessons),
        "skipped": skipped,
        "learned_elsewhere": sum(not lesson.new for lesson in lessons),
        "nodes_written": dict(nodes),
        "consolidated": consolidated,
    }


def facts(data: dict[str, Any], *, dry_run: bool) -> dict[str, Any]:
    """The same for a person."""
    if dry_run:
        would_draw = data["would_draw"]
        return {
            "would learn": data["would_learn"],
            **({"would draw scenes": would_draw} if would_draw else {}),
            "waiting": data["waiting"],
        }
    elsewhere, scenes = data["learned_elsewhere"], data.get("scenes_drawn")
    return {
        "episodes learnt": data["learned"],
        "of these, nothing new to write": data["skipped"],
        **({"learnt by another process meanwhile": elsewhere} if elsewhere else {}),
        "waiting": data["waiting"],
        **({"scenes drawn": scenes} if scenes else {}),
        **{f"new {tree} nodes": count for tree, count in data["nodes_written"].items()},
        "consolidated": data["consolidated"],
    }


def notes(
    ready: Sequence[Trajectory],
    data: dict[str, Any],
    found: Found,
    *,
    dry_run: bool,
) -> list[str]:
    """What else a person should know, a line each."""
    said = []
    if not ready:
        said.append("no episode with a known outcome waits; `deltamem import` brings some")
    if data["not_admitted"]:
        said.append(
            f"{counted(data['not_admitted'], 'episode waits', 'episodes wait')} because of who "
            "says how it ended; see `--admit`"
        )
    if data["without_scene"]:
        said.append(
            f"{counted(data['without_scene'], 'episode says', 'episodes say')} nothing of the "
            "scene, so the env tree learns nothing from them; `--draw-scenes` has the model "
            "look for it in the task"
        )
    said += recovery_notes(found.recovered)
    if found.wasted.calls > 0:
        yet = " yet" if found.errors else ""
        said.append(f"{found.wasted.calls} of the calls were not used{yet}: {bill(found.wasted)}")
    said += left_notes(found.on_their_way)
    if dry_run and ready and (found.usage.calls or found.usage.cached):
        said.append("nothing was sent or written: calls, tokens and cost are an estimate")
    elif dry_run and ready:
        said.append("nothing was written; the rules ask no model and cost nothing")
    return said


def left_notes(on_their_way: int) -> list[str]:
    """What to say of calls that had no answer when nobody waited any longer."""
    if not on_their_way:
        return []
    calls = counted(on_their_way, "call was", "calls were")
    return [f"{calls} still on the way and may be paid for; these numbers do not hold that"]


def without_scene(bank: Bank, ready: Sequence[Trajectory], extractor: Extractor) -> int:
    """How many episodes have no scene that a model could still draw."""
    from deltamem_tui.memory.deltamem.settings import of_bank
    from deltamem_tui.memory.episodes.scenes import lacks_scene
    from deltamem_tui.memory.writers.extraction import AskingExtractor

    asks = isinstance(extractor, AskingExtractor) and of_bank(bank)["env"].enabled
    return sum(map(lacks_scene, ready)) if asks else 0
