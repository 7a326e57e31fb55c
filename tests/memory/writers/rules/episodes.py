"""Small hand-written episodes, one or two a domain, and chains to meet them with."""

from __future__ import annotations

from collections.abc import Mapping

from deltamem_tui.bank.node import Label, Node, Origin, born
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.memory.support import extract

WON = Outcome(success=True, reward=1.0, source="stated")
LOST = Outcome(success=False, reward=0.0, source="stated")

KITCHEN = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, "
    "a cabinet 1, a countertop 1, a garbagecan 1, a microwave 1, and a sinkbasin 1."
)

HEAT = Trajectory(
    task="put a hot mug in cabinet.",
    environment=KITCHEN,
    domain="alfworld",
    outcome=WON,
    steps=(
        Step("go to sinkbasin 1", "You arrive at loc 4. On the sinkbasin 1, you see nothing."),
        Step("go to countertop 1", "You arrive at loc 2. On the countertop 1, you see a mug 2."),
        Step("take mug 2 from countertop 1", "You pick up the mug 2 from the countertop 1."),
        Step("go to microwave 1", "You arrive at loc 6. The microwave 1 is closed."),
        Step("heat mug 2 with microwave 1", "You heat the mug 2 using the microwave 1."),
        Step("go to cabinet 1", "You arrive at loc 8. The cabinet 1 is closed."),
        Step("open cabinet 1", "You open the cabinet 1. In it, you see a plate 1."),
        Step("put mug 2 in/on cabinet 1", "You put the mug 2 in/on the cabinet 1.", reward=1.0),
    ),
)

HEAT_LOST = Trajectory(
    task="put a hot mug in cabinet.",
    environment=KITCHEN,
    domain="alfworld",
    outcome=LOST,
    steps=(
        Step("go to countertop 1", "You arrive at loc 2. On the countertop 1, you see a mug 2."),
        Step("take mug 2 from countertop 1", "You pick up the mug 2 from the countertop 1."),
        Step("heat mug 2 with stoveburner 1", "Nothing happens."),
        Step("heat mug 2 with stoveburner 1", "Nothing happens."),
        Step("go to cabinet 1", "You arrive at loc 8. The cabinet 1 is closed."),
    ),
)

HALLWAY = (
    "This room is called the hallway. In it, you see: \n\tthe agent\n\ta substance called air\n"
    "\ta picture\nYou also see:\n\tA door to the bedroom (that is closed)\n"
    "\tA door to the kitchen (that is closed)"
)
IN_KITCHEN = (
    "This room is called the kitchen. In it, you see: \n\tthe agent\n\ta substance called air\n"
    "\ta cupboard. The cupboard door is closed. \n"
    "\ta glass jar (containing a substance called sodium chloride)\n"
    "\ta stove, which is turned off. On the stove is: nothing.\n"
    "\ta thermometer, currently reading a temperature of 10 degrees celsius\n"
    "You also see:\n\tA door to the hallway (that is open)"
)
MELT_TASK = (
    "Your task is to melt {}. First, focus on the substance. Then, take actions that will cause "
    "it to change its state of matter."
)


def melting(substance: str, *extra: Step, outcome: Outcome = WON) -> Trajectory:
    """A ScienceWorld episode that melts something; extra steps come before the stove."""
    return Trajectory(
        task=MELT_TASK.format(substance),
        environment=HALLWAY,
        domain="scienceworld",
        outcome=outcome,
        steps=(
            Step("open door to kitchen", "The door is now open.", reward=2.0),
            Step("go to kitchen", "You move to the kitchen.", reward=2.0),
            Step("look around", IN_KITCHEN),
            Step("connect picture to agent", "terminal 1 on picture is now connected to agent"),
            Step(f"focus on {substance}", f"You focus on the {substance}.", reward=50.0),
            *extra,
            Step(f"move {substance} to stove", f"You move the {substance} to the stove.", reward=6),
            Step("activate stove", "The stove is now activated.", reward=5.0),
            *[
                Step(f"examine {substance}", f"a substance called {substance}", reward=paid)
                for paid in (0.0, 0.0, 35.0)
            ],
        ),
    )


SPOILT = Trajectory(
    task=MELT_TASK.format("ice"),
    environment=HALLWAY,
    domain="scienceworld",
    outcome=Outcome(success=False, reward=0.04, source="stated"),
    steps=(
        Step("go to kitchen", "The door is not open."),
        Step("open door to kitchen", "The door is now open.", reward=2.0),
        Step("go to kitchen", "You move to the kitchen.", reward=2.0),
        Step("focus on stove", "You focus on the stove.", reward=-100.0),
    ),
)

HAIR = Trajectory(
    task="i need a clip-in hair extension, and price lower than 20.00 dollars",
    environment="Webshop",
    domain="webshop",
    outcome=WON,
    steps=(
        Step(
            "search[clip-in hair extension]",
            "[Back to Search] \nPage 1 (Total results: 50) \n[Next >] \n"
            "[B09QQLDJ93] \nLong Wig \n$34.89 \n[B08H5DCD65] \nPonytail \n$9.98",
        ),
        Step("think[the second is cheap enough]", "OK."),
        Step(
            "click[B08H5DCD65]",
            "[Back to Search] \n[< Prev] \ncolor [brown][natural black]\nsize [12 inch][22 inch]\n"
            "Ponytail \nPrice: $9.98 \n[Description] \n[Buy Now]",
        ),
        Step("click[blue]", "Invalid action!"),
        Step("click[natural black]", "You have clicked natural black."),
        Step("click[Buy Now]", "Your score (min 0.0, max 1.0): 1.0"),
    ),
)

CODING = Trajectory(
    task="Make the test in tests/test_dates.py pass, see issue 4213.",
    environment="A repository, with the tools bash and edit.",
    outcome=WON,
    steps=(
        Step("bash: grep -n strptime src/dates.py", '12: return datetime.strptime(text, "%Y")'),
        Step("bash: pytst", "bash: pytst: command not found"),
        Step("edit src/dates.py", "The file has been edited."),
        Step("bash: pytest -q", "1 passed"),
    ),
)

EVERY = (HEAT, HEAT_LOST, melting("ice"), SPOILT, HAIR, CODING)


def node(payload: Mapping[str, str], parent: Node | None = None, label: Label = "success") -> Node:
    """A node as somebody wrote it."""
    return born("task", parent, label, payload, Origin())


def learnt(
    trajectory: Trajectory, tree: str = "task", chain: tuple[Node, ...] = ()
) -> tuple[Node, ...]:
    """The chain with the node that the rules write for an episode at its end."""
    payload = extract(RulesExtractor(), tree, trajectory, chain).payload
    assert payload is not None
    label: Label = "success" if trajectory.outcome.success else "failure"
    return (*chain, born(tree, chain[-1] if chain else None, label, payload, Origin()))
