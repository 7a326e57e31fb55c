"""What every action of the registry does: the keys before it, what changes, and what is said."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from deltamem_tui.bank.bank import Bank
from deltamem_tui.memory.credit.credit import put_episode
from deltamem_tui.memory.editing import edit
from deltamem_tui.memory.episodes.outcomes import with_verdict
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.trajectory.model import Outcome
from deltamem_tui.tui.core.job import Info, Progress, WorkPlan
from tests.tui.contests import copied_contest, finished_contest, stopped
from tests.tui.support import Person, take_in_many

BROKEN_MICROWAVE = "heat some object with a broken microwave"
BROKEN_STOVE = "heat some object with a broken stove"


async def nothing(person: Person) -> None:
    """Most actions need nothing but the keys that lead to them."""


async def something_goes_on(person: Person) -> None:
    """Work that ends only when it is asked to."""

    def work(progress: Progress) -> Info:
        while not progress.stopped:
            threading.Event().wait(0.001)
        return Info("stopped as asked")

    person.app.work.start("waiting", work, can_stop=True)
    await person.pilot.pause()


async def a_plan_that_waits(person: Person) -> None:
    """A plan that came up while the person did something else."""
    plan = WorkPlan("planned", "Shall it be?", [], lambda _: Info("done as planned"))
    gone_on = threading.Event()

    def work(_: Progress) -> WorkPlan:
        assert gone_on.wait(30)
        return plan

    person.app.work.start("planning", work)
    await person.pilot.press("j", "k")
    gone_on.set()
    await person.settle()


async def another_bank(person: Person) -> None:
    """A bank that came while the list was looked at."""
    shutil.copytree(person.app.folder / "kitchen", person.app.folder / "other")


async def another_bank_in_the_list(person: Person) -> None:
    """The same, once the list shows it."""
    await another_bank(person)
    await person.press("R")


async def two_banks(person: Person) -> None:
    """Two banks side by side, the second with one node that says something else."""
    await another_bank(person)
    other = Bank.open(person.app.folder / "other")
    edit(other, "task", node := next(iter(other.tree("task"))), dict.fromkeys(node.payload, "new"))
    await person.press("R", "c", "enter")


async def a_contest(person: Person) -> None:
    """A contest on the screen."""
    await person.press("r")
    await person.write(str(finished_contest()))
    await person.press("enter")


async def at_the_second(person: Person) -> None:
    """The same, at the second contestant."""
    await a_contest(person)
    await person.press("l")


async def a_contest_that_goes_on(person: Person) -> None:
    """A contest that was unfinished when it was opened."""
    path = stopped(copied_contest(person.app.folder.parent / "run"))
    await person.press("r")
    await person.write(str(path))
    await person.press("enter")
    shutil.copytree(finished_contest(), path, dirs_exist_ok=True)


async def another_threshold(person: Person) -> None:
    """A threshold that the bank does not have yet."""
    await person.press("escape", "t")
    await person.write("0.75")
    await person.press("enter")


async def a_doubt(person: Person) -> None:
    """An episode that the log calls a success and a judge a failure, and the queue."""
    bank = Bank.open(person.app.session.bank.path)
    with bank.writing() as batch:
        known = next(each for each in episodes(bank) if each.outcome.success)
        put_episode(batch, bank, with_verdict(known, Outcome(False, None, "judge")))
        batch.log("judge")
    person.app.session.look_for_changes()
    await person.settle()
    await person.press("5")


async def a_verdict(person: Person) -> None:
    """One that was given in the queue."""
    await a_doubt(person)
    await person.press("plus")


async def a_match(person: Person) -> None:
    """A question with an answer, and the answer in focus."""
    await person.write(BROKEN_MICROWAVE)
    await person.press("enter")


async def scores(person: Person) -> None:
    """The scores of episodes enough for a proposal."""
    take_in_many(Bank.open(person.app.session.bank.path))
    person.app.session.look_for_changes()
    await person.settle()
    await person.press("c")


async def only_locked(person: Person) -> None:
    """A filter that one node below a root fits."""
    await filtered(person, "locked")


async def only_fridges(person: Person) -> None:
    """A filter that some steps of an episode fit."""
    await person.press("3")
    await filtered(person, "fridge")


async def filtered(person: Person, words: str) -> None:
    """A filter, and the cursor on the first line."""
    await person.press("slash")
    await person.write(words)
    await person.press("enter", "g")


@dataclass(frozen=True)
class Deed:
    """What an action does.

    Attributes:
        becomes: What is otherwise afterwards, see `state`.
        said: What the person is told; empty if nothing.
        before: The keys that lead to where the action can be done.
        ready: What else must be so.
        bank: The bank that is open; None on the list of banks.
    """

    becomes: Mapping[str, object]
    said: str = ""
    before: tuple[str, ...] = ()
    ready: Callable[[Person], Awaitable[None]] = nothing
    bank: str | None = "kitchen"


def asks(title: str, *before: str, bank: str | None = "kitchen") -> Deed:
    """An action that opens a dialog."""
    return Deed({"screen": "AskDialog", "title": title}, before=before, bank=bank)


def shows(screen: str, *before: str) -> Deed:
    """An action that goes to another screen."""
    return Deed({"screen": screen}, before=before)


DEEDS: Mapping[str, Deed] = {
    # Everywhere
    "help": shows("HelpScreen"),
    "palette": shows("Palette"),
    "jump": shows("JumpScreen"),
    "theme": shows("ThemePalette"),
    "cancel": Deed({"busy": False}, "stopped as asked", ready=something_goes_on),
    "plan": Deed({"screen": "ConfirmDialog", "title": "Shall it be?"}, ready=a_plan_that_waits),
    "notes": Deed({"screen": "NotesDialog"}, before=("x",)),
    "quit": Deed({"over": True}),
    "back": shows("TreesScreen", "3"),
    "forward": shows("EpisodesScreen", "3", "less_than_sign"),
    "next_pane": Deed({"focus": "env", "tree": "env"}),
    "previous_pane": Deed({"focus": "detail"}),
    "maximize": Deed({"maximized": True}),
    "wider": Deed({"width": 1.25}),
    "narrower": Deed({"width": 0.8}),
    "taller": Deed({"height": 1.25}),
    "shorter": Deed({"height": 0.8}),
    # Banks
    "open_bank": Deed({"screen": "TreesScreen"}, bank=None),
    "create_bank": asks("A new bank", bank=None),
    "freeze_bank": Deed({"sealed": True}, "froze kitchen", bank=None),
    "verify_bank": Deed({}, "kitchen: all files are intact", bank=None),
    "export_bank": asks("Export kitchen", bank=None),
    "install_bank": asks("Install a bank", bank=None),
    "merge_banks": asks("Merge into kitchen", bank=None),
    "rename_bank": asks("Rename kitchen", bank=None),
    "delete_bank": asks("Delete kitchen?", bank=None),
    "look_again": Deed({"lines": 2}, bank=None, ready=another_bank),
    "open_contest": asks("Open a contest", bank=None),
    "compare_banks": Deed(
        {"screen": "AskDialog", "title": "Compare kitchen with"},
        bank=None,
        ready=another_bank_in_the_list,
    ),
    # Map
    "map_left": Deed({"point": "19967c78d855de11"}, before=("6",)),
    "map_down": Deed({"point": "5f23936c4d779eaf"}, before=("6",)),
    "map_up": Deed({"point": "98c225eec47bd488"}, before=("6",)),
    "map_right": Deed({"point": "5f23936c4d779eaf"}, before=("6",)),
    "map_node": Deed({"screen": "TreesScreen"}, before=("6",)),
    "other_map": Deed({"mapped": "env tree"}, before=("6",)),
    # Growth
    "earlier": Deed({"commit": 3}, before=("7",)),
    "later": Deed({"commit": 3}, before=("7", "left", "left")),
    "play": Deed({"playing": True}, before=("7",)),
    # Two banks
    "leave_comparison": Deed({"screen": "BanksScreen"}, bank=None, ready=two_banks),
    "merge_right": Deed({"screen": "ConfirmDialog"}, bank=None, ready=two_banks),
    "swap_sides": Deed({"left": "other"}, bank=None, ready=two_banks),
    # A contest
    "leave_contest": Deed({"screen": "BanksScreen"}, bank=None, ready=a_contest),
    "toggle_steps": Deed({"steps": True}, bank=None, ready=a_contest),
    "next_contestant": Deed({"contestant": "b"}, bank=None, ready=a_contest),
    "previous_contestant": Deed({"contestant": "a"}, bank=None, ready=at_the_second),
    "read_contest_again": Deed({"finished": True}, bank=None, ready=a_contest_that_goes_on),
    "copy_contest": Deed({"copied": True}, "copied ", bank=None, ready=a_contest),
    "read_contest": Deed({"paged": True}, bank=None, ready=a_contest),
    # Any screen of a bank
    "show_trees": shows("TreesScreen", "3"),
    "show_recall": shows("RecallScreen"),
    "show_episodes": shows("EpisodesScreen"),
    "show_statistics": shows("StatisticsScreen"),
    "show_review": shows("ReviewScreen"),
    "show_map": shows("NodeMapScreen"),
    "show_growth": shows("GrowthScreen"),
    "step_back": shows("BanksScreen", "escape"),
    "close_bank": shows("BanksScreen"),
    "freeze": Deed({"frozen": True, "sealed": True}, "froze kitchen"),
    "verify": Deed({}, "kitchen: all files are intact"),
    "copy": Deed({"copied": True}, "copied "),
    "read_whole": Deed({"paged": True}),
    # Trees
    "evidence": Deed({"screen": "EpisodesScreen"}),
    "filter": Deed({"focus": "filter"}),
    "next_match": Deed({"node": "cool some object in a locked fridge"}, ready=only_locked),
    "previous_match": Deed({"node": "cool some object in a locked fridge"}, ready=only_locked),
    "sort": Deed({"order": "newest"}),
    "chain": Deed({"step": 2}, before=("f",)),
    "step_down": Deed({"step": 1}, before=("f", "c", "[", "[")),
    "step_up": Deed({"step": 1}, before=("f", "c")),
    "edit": Deed(
        {"node": "warm some object and put it in a place", "event": "edit"}, "u undoes it"
    ),
    "relabel": Deed({"label": "failure", "event": "relabel"}, "is a failure now; u undoes it"),
    "move": Deed(
        {"depth": 3, "event": "move"},
        "moved 2 nodes below",
        before=("d", "c", "c", "g", "j", "j", "m", "d"),
    ),
    "make_root": Deed({"depth": 1, "event": "move"}, "among the roots", before=("d",)),
    "delete": Deed(
        {"screen": "ConfirmDialog", "title": "Delete 3 nodes of the task tree?"},
    ),
    "undo": Deed({"label": "success", "event": "undo"}, "undone: relabel of ", before=("L",)),
    "redo": Deed({"label": "failure", "event": "redo"}, "redone: relabel of ", before=("L", "u")),
    "other_tree": Deed({"tree": "env", "focus": "env"}),
    # An outline
    "expand": Deed({"lines": 5}),
    "collapse": Deed({"lines": 3}, before=("l",)),
    "fold": Deed({"lines": 4}),
    "expand_below": Deed({"lines": 5}),
    "collapse_all": Deed({"lines": 3}, before=("f",)),
    "parent": Deed({"node": BROKEN_MICROWAVE}, before=("f",)),
    "root": Deed({"depth": 1, "line": 0}, before=("f",)),
    "next_failure": Deed({"node": BROKEN_STOVE, "lines": 5}),
    "previous_failure": Deed({"node": BROKEN_STOVE}, before=("G",)),
    "next_due": Deed({"node": BROKEN_MICROWAVE, "lines": 4}),
    # Recall
    "ask_task": Deed({"focus": "task"}, before=("2", "escape")),
    "ask_scene": Deed({"focus": "scene"}, before=("2", "escape")),
    "thresholds": Deed({"focus": "task-tau_base"}, before=("2", "escape")),
    "raise_number": Deed({"tried": "0.61"}, before=("2", "escape")),
    "lower_number": Deed({"tried": "0.59"}, before=("2", "escape")),
    "own_numbers": Deed({"tried": "0.6"}, before=("2", "escape", "plus")),
    "save_parameters": Deed(
        {"tau": 0.75, "event": "parameters"},
        "saved: task tree threshold 0.75, penalty ",
        before=("2",),
        ready=another_threshold,
    ),
    "keep_question": Deed(
        {"screen": "AskDialog", "title": "Keep the question"}, before=("2",), ready=a_match
    ),
    "kept_questions": shows("KeptQuestionsDialog", "2", "escape"),
    "other_bank": Deed(
        {"screen": "AskDialog", "title": "Ask another bank the same"},
        before=("2", "escape"),
        ready=another_bank,
    ),
    "show_node": Deed(
        {"screen": "TreesScreen", "node": BROKEN_MICROWAVE}, before=("2",), ready=a_match
    ),
    "match_chain": Deed(
        {"beside": "chain · task tree · 19967c78d855de11"}, before=("2",), ready=a_match
    ),
    "match_evidence": Deed({"screen": "EpisodesScreen"}, before=("2",), ready=a_match),
    # Episodes
    "filter_episodes": Deed({"focus": "filter"}, before=("3",)),
    "next_episode_match": Deed({"match": 9}, ready=only_fridges),
    "previous_episode_match": Deed({"match": 12}, ready=only_fridges),
    "sort_episodes": Deed({"order": "newest"}, before=("3",)),
    "import_logs": asks("Import episodes", "3"),
    "extract": asks("Learn from the waiting episodes", "3"),
    "relearn": asks("Learn the episodes of kitchen again", "3"),
    "succeeded": Deed({"event": "outcome"}, "is a success now", before=("3", "G")),
    "failed": Deed({"event": "outcome"}, "is a failure now", before=("3", "G")),
    "all_succeeded": Deed(
        {"screen": "ConfirmDialog", "title": "Mark 3 episodes as successes?"}, before=("3",)
    ),
    "all_failed": Deed(
        {"screen": "ConfirmDialog", "title": "Mark 3 episodes as failures?"}, before=("3",)
    ),
    "judge_by_model": asks("Let a model judge", "3"),
    "next_node": Deed({"number": "node 2 of 9 · n shows the next"}, before=("3",)),
    "episode_node": Deed({"screen": "TreesScreen"}, before=("3",)),
    # Statistics
    "calibrate": Deed({"scores": True}, before=("4",)),
    "apply_proposal": Deed(
        {"event": "parameters"}, "saved: task tree threshold ", before=("4",), ready=scores
    ),
    # Review
    "verdict_success": Deed({"event": "outcome"}, "is a success now", ready=a_doubt),
    "verdict_failure": Deed({"title": "Mark a learnt episode as a failure?"}, ready=a_doubt),
    "verdict_unclear": Deed({"event": "outcome"}, "is unclear to you now", ready=a_doubt),
    "blind": Deed({"blind": True}, ready=a_doubt),
    # Lists
    "line_down": Deed({"line": 1}),
    "line_up": Deed({"line": 1}, before=("G",)),
    "page_down": Deed({"line": 4}, before=("asterisk",)),
    "page_up": Deed({"line": 0}, before=("asterisk", "G")),
    "first": Deed({"line": 0}, before=("G",)),
    "last": Deed({"line": 2}),
}
