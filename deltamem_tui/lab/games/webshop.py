"""WebShop: search, choose options, buy. Facts are kept per search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType

from deltamem_tui.memory.domain import Domain, Effect, Fact, Goal, Move, Shortcut
from deltamem_tui.memory.findings import of_actions
from deltamem_tui.memory.wording import condense, distinct, listed
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
_WANTED = re.compile(
    r"^.*?\b(?:need|want|look(?:ing)? for|search(?:ing)? for|(?:find|get|show)(?: me)?|buy|like"
    r"|order(?:ing)?|interested in)\b\s*"
    r"(?:to (?:buy|get|find|order|purchase)\s+)?(?:(?:an?|the|some)\s+)?",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?:[,.;]+|\s(?:and|with|in|for|that|which|preferably)(?=\s))\s+"
    r"(?:(?:an?|the|and|also|with|in|is|are|has|have|i|want|need|comes?|choose|please)\s+)*"
)
_CHOSEN = re.compile(
    r"(?P<name>colou?r|size|style|flavor(?: name)?|scent|fit type|pattern|item package quantity"
    r"|material|number)\b\s*(?:is|:)?\s*(?P<value>.+)|(?P<before>.+?) (?:colou?r|size|style|flavor)"
)
_MOST_ATTRIBUTES = 4
_PAGE = re.compile(r"\n(?=\[)")
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


class WebShopDomain(Domain):
    """A shop with a search box, product pages, options and one button to buy."""

    about = "shopping on a website"
    presets = MappingProxyType({"deltamem": {"tau_task": 0.85, "tau_env": 0.85, "k_cons": 3}})
    fact_names = (
        "category",
        *(f"attribute {number}" for number in (1, 2, 3, 4)),
        *(f"option {number}" for number in (1, 2, 3)),
        "price",
    )

    def goal(self, trajectory: Trajectory) -> Goal:
        """Return what is to be bought, its price left open."""
        task = condense(ASK.sub("", trajectory.task), _GOAL_WORDS)
        return Goal(PRICE.sub("N dollars", task))

    def move(self, step: Step, goal: Goal) -> Move:
        """Return one step: a page stands as its options and prices."""
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
        """Return the way to the purchase with what each page showed."""
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
        """Return the shop, and what was searched for in it."""
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

    def blanked(self, action: str) -> str:
        """Return an action with what is searched for, items and options left open."""
        if SEARCH.fullmatch(action.strip()):
            return "search[{query}]"
        clicked = CLICK.fullmatch(action.strip())
        name = clicked[1].strip() if clicked else ""
        if ITEM.fullmatch(name):
            return "click[{item}]"
        return "click[{option}]" if name and name.casefold() not in BUTTONS else action

    def shortcut(self, trajectory: Trajectory) -> Shortcut | None:
        """Return the last search and what led from it to a purchase; None without one."""
        bought = purchase(trajectory)
        return of_actions(trajectory, bought) if bought else None

    def functions(self, trajectory: Trajectory) -> Sequence[Fact]:
        """Return the options that items of a search come in."""
        return [fact for fact in self.facts(trajectory) if fact.subject.startswith("option ")]

    def task_facts(self, task: str) -> dict[str, str]:
        """Return what is to be bought, by the places of words: tasks are people's sentences."""
        return _task_facts(task)

    def parts(self, text: str) -> list[str]:
        """Return the parts of a page, from link to link."""
        return _PAGE.split(text)


def purchase(trajectory: Trajectory) -> tuple[str, ...]:
    """Return the last search and what led from it to a purchase; empty without one.

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
    """Return what an action clicks, in small letters; empty if it does something else."""
    found = CLICK.fullmatch(action.strip())
    return found[1].strip().casefold() if found else ""


def _searches(trajectory: Trajectory) -> list[str]:
    found = (SEARCH.fullmatch(step.action.strip()) for step in trajectory.steps)
    return [condense(match[1], 12) for match in found if match]


def _page(observation: str) -> str:
    """Return a page in a few words: its options, its prices, or else its first words."""
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


def _task_facts(task: str) -> dict[str, str]:
    text = ASK.sub("", task)
    price = PRICE.search(text)
    text = re.sub(r",? *(?:and )?price (?:lower|less|below).*$", "", PRICE.sub("", text))
    first, *rest = distinct(_BREAK.split(_WANTED.sub("", text, count=1))) or [""]
    options = [found for part in rest if (found := _CHOSEN.fullmatch(part))]
    values = [found["value"] or found["before"] for found in options]
    words = first.split()
    plain = [part for part in rest if part != "also" and not _CHOSEN.fullmatch(part)]
    attributes = distinct([" ".join(words[:-2]), *plain])[:_MOST_ATTRIBUTES]
    return {
        "category": " ".join(words[-2:]),
        **_numbered("attribute", attributes),
        **_numbered("option", values),
        "price": price[0] if price else "",
    }


def _numbered(name: str, values: Iterable[str]) -> dict[str, str]:
    return {f"{name} {number}": value for number, value in enumerate(values, 1)}
