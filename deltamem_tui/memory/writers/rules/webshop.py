"""WebShop: search, choose options, buy. Facts are kept per search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from deltamem_tui.memory.writers.rules.dialect import Dialect, Effect, Fact, Goal, Move
from deltamem_tui.memory.writers.rules.wording import condense, distinct, listed
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Step, Trajectory

_GOAL_WORDS = 30
ASK = re.compile(r"^.*?Instruction:\s*", re.IGNORECASE | re.DOTALL)
PRICE = re.compile(r"\$?\d+(?:\.\d+)? dollars|\$\d+(?:\.\d+)?")
SEARCH = re.compile(r"search\[(.*)\]", re.DOTALL)
CLICK = re.compile(r"click\[(.*)\]", re.DOTALL)
ITEM = re.compile(r"\bb0[0-9a-z]{8}\b", re.IGNORECASE)
_OPTIONS = re.compile(r"^ *([a-z][a-z _-]{1,30}?) ((?:\[[^\[\]\n]+\] ?)+)$", re.MULTILINE)
_CHOICE = re.compile(r"\[([^\[\]\n]+)\]")
_COST = re.compile(r"\$\d+(?:\.\d+)?")
BUTTONS = frozenset(
    (
        "back to search",
        "< prev",
        "next >",
        "description",
        "features",
        "reviews",
        "buy now",
        "search",
    )
)


class WebShopDialect(Dialect):
    """A shop with a search box, product pages, options and one button to buy."""

    def goal(self, trajectory: Trajectory) -> Goal:
        """What is to be bought, its price left open."""
        task = condense(ASK.sub("", trajectory.task), _GOAL_WORDS)
        return Goal(PRICE.sub("N dollars", task))

    def move(self, step: Step, goal: Goal) -> Move:
        """One step: a page stands as its options and prices."""
        action = ITEM.sub("{item}", one_line(step.action))
        return replace(
            super().move(step, goal),
            action=action or "no action",
            answer=_page(step.observation) or "no answer",
        )

    def effect(self, step: Step) -> Effect:
        """Thinking changes nothing; an invalid click is refused."""
        if _is_invalid(step):
            return "refused"
        return "looked" if step.action.strip().startswith("think[") else "done"

    def procedure(self, moves: Sequence[Move]) -> list[str]:
        """The way to the purchase with what each page showed."""
        done = [move for move in moves if move.effect == "done" and move.action != "reset"]
        return [
            move.action
            if move.answer.startswith(("You have clicked", "no answer"))
            else f"{move.action} ({move.answer.replace(';', ',')})"
            for move in done
        ]

    def unexplored(self, trajectory: Trajectory, goal: Goal) -> list[str]:  # noqa: ARG002
        """Options and items that were shown and never clicked."""
        clicked = {
            found[1].casefold()
            for step in trajectory.steps
            if (found := CLICK.fullmatch(step.action.strip()))
        }
        never = []
        for step in trajectory.steps:
            for name, choices in _OPTIONS.findall(step.observation):
                values = _CHOICE.findall(choices)
                if not clicked & {value.casefold() for value in values}:
                    never.append(f"click a {name.strip()} ({listed(values, 4)})")
        shown = distinct(
            item.upper() for step in trajectory.steps for item in ITEM.findall(step.observation)
        )
        items = [item for item in shown if item.casefold() not in clicked]
        if items:
            never.append(f"{len(items)} other items in the results")
        return distinct(never)

    def scene(self, trajectory: Trajectory) -> str:
        """The shop, and what was searched for in it."""
        words = _searches(trajectory)
        scene = condense(ASK.sub("", trajectory.environment), 30)
        about = f"searching for {words[0]}" if words else ""
        return ": ".join(part for part in (scene or "a web shop", about) if part)

    def facts(self, trajectory: Trajectory) -> list[Fact]:
        """Per search: prices; per page: option dimensions; then clicks that were refused."""
        facts: list[Fact] = []
        search = ""
        for step in trajectory.steps:
            found = SEARCH.fullmatch(step.action.strip())
            if found:
                search = condense(found[1], 12)
                costs = _COST.findall(step.observation)
                if costs:
                    facts.append(Fact(f"search {search}", (f"results cost {listed(costs, 6)}",)))
            for name, choices in _OPTIONS.findall(step.observation):
                values = [value.strip() for value in _CHOICE.findall(choices)]
                some = f"{len(values)} choices such as {listed(values[:5])}"
                facts.append(Fact(f"option {name.strip()} of {search or 'the item'}", (some,)))
            if self.effect(step) == "refused":
                facts.append(Fact("refused", (condense(step.action, 12),)))
        return list({fact.line: fact for fact in facts}.values())


def purchase(trajectory: Trajectory) -> tuple[str, ...]:
    """The last search and what led from it to a purchase, as the log has it; empty without one.

    That is: the pages turned to before the item was clicked, the item, the options, the purchase.
    """
    done = [one_line(step.action) for step in trajectory.steps if not _is_invalid(step)]
    bought = [at for at, action in enumerate(done) if _clicked(action) == "buy now"]
    searched = [at for at, action in enumerate(done) if SEARCH.fullmatch(action)]
    items = [at for at, action in enumerate(done) if ITEM.fullmatch(_clicked(action))]
    search = max((at for at in searched if bought and at < bought[-1]), default=-1)
    item = max((at for at in items if search < at and bought and at < bought[-1]), default=-1)
    if search < 0 or item < 0:
        return ()
    pages = [action for action in done[search:item] if _clicked(action) == "next >"]
    after = [action for action in done[item : bought[-1]] if _clicked(action)]
    chosen = [action for action in after if _clicked(action) not in BUTTONS]
    return (done[search], *pages, *chosen, done[bought[-1]])


def _is_invalid(step: Step) -> bool:
    return "Invalid action" in step.observation


def _clicked(action: str) -> str:
    """What an action clicks, in small letters; empty if it does something else."""
    found = CLICK.fullmatch(action.strip())
    return found[1].strip().casefold() if found else ""


def _searches(trajectory: Trajectory) -> list[str]:
    found = (SEARCH.fullmatch(step.action.strip()) for step in trajectory.steps)
    return [condense(match[1], 12) for match in found if match]


def _page(observation: str) -> str:
    """A page in a few words: its options, its prices, or else its first words."""
    options = [
        f"{name.strip()}: {listed(_CHOICE.findall(choices), 5)}"
        for name, choices in _OPTIONS.findall(observation)
    ]
    if options:
        return condense(f"options {' and '.join(options)}", 40)
    items = distinct(ITEM.findall(observation))
    if len(items) > 1:
        return f"{len(items)} items at {listed(_COST.findall(observation), 4)}"
    shown = [text for text in _CHOICE.findall(observation) if text.casefold() not in BUTTONS]
    plain = condense(_CHOICE.sub(" ", observation), 20)
    return plain or condense(" ".join(shown), 20)
