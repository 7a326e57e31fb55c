"""Everything a person can do in the browser, once: keys, command palette and help read it here.

An action's name is what `[keys]` of `deltamem.toml` maps to another key. Its method is
`action_<method>` on the widget, screen or app that the scope names.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from textual.binding import Binding
from textual.keys import Keys

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.text import one_line

Scope = Literal[
    "app",
    "banks",
    "bank",
    "trees",
    "recall",
    "episodes",
    "statistics",
    "review",
    "growth",
    "contest",
    "comparison",
    "list",
    "tree",
]

SCOPE_TITLES: Mapping[Scope, str] = {
    "app": "Everywhere",
    "banks": "Banks",
    "bank": "In a bank",
    "trees": "Trees",
    "recall": "Recall lab",
    "episodes": "Episodes",
    "statistics": "Statistics",
    "review": "Review",
    "growth": "Growth",
    "contest": "Contest",
    "comparison": "Two banks",
    "list": "In a list",
    "tree": "In an outline",
}

TOGETHER: tuple[tuple[Scope, ...], ...] = (
    ("banks", "list", "app"),
    ("trees", "tree", "list", "bank", "app"),
    ("recall", "list", "bank", "app"),
    ("episodes", "list", "bank", "app"),
    ("statistics", "list", "bank", "app"),
    ("review", "list", "bank", "app"),
    ("growth", "list", "bank", "app"),
    ("contest", "list", "app"),
    ("comparison", "list", "app"),
)
"""The scopes that share a screen, the nearest first: one key cannot mean two things there."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can do.

    Attributes:
        name: What `[keys]` calls it.
        keys: The keys it has at first.
        title: What it is called in palette and help, a few words.
        scope: Where it can be done.
        call: The method's name and arguments, if not the action's name.
        brief: What the bottom line calls it; empty keeps it out of there.
    """

    name: str
    keys: tuple[str, ...]
    title: str
    scope: Scope
    call: str = ""
    brief: str = ""

    @property
    def method(self) -> str:
        """What textual calls it."""
        return self.call or self.name


ACTIONS: tuple[Action, ...] = (
    Action("help", ("question_mark", "f1"), "Show the keys and the words", "app", brief="help"),
    Action("palette", ("colon",), "Find an action by name", "app", "command_palette"),
    Action("theme", ("T",), "Choose a theme", "app", "change_theme"),
    Action("cancel", ("x",), "Cancel the running job", "app", "cancel_work"),
    Action("plan", ("P",), "Open the plan or estimate that waits", "app"),
    Action("notes", ("N",), "Read the latest messages in full", "app"),
    Action("quit", ("q",), "Quit", "app", brief="quit"),
    Action("back", ("less_than_sign",), "Back to what you looked at before", "app"),
    Action("forward", ("greater_than_sign",), "Forward again", "app"),
    Action("next_pane", ("tab",), "Go to the next pane", "app", "app.focus_next"),
    Action("previous_pane", ("shift+tab",), "Go to the previous pane", "app", "app.focus_previous"),
    Action("maximize", ("z",), "Give the pane the whole screen, or all their places", "app"),
    # Banks
    Action("open_bank", ("enter",), "Open the bank", "banks", brief="open"),
    Action("create_bank", ("n",), "Create a bank", "banks", brief="new"),
    Action("freeze_bank", ("Z",), "Freeze or unfreeze the bank", "banks", brief="freeze"),
    Action("verify_bank", ("V",), "Verify every file of the bank", "banks", brief="verify"),
    Action("export_bank", ("e",), "Export: write the bank into one file", "banks", brief="export"),
    Action("install_bank", ("i",), "Install a bank from elsewhere", "banks", brief="install"),
    Action("merge_banks", ("m",), "Merge other banks into this one", "banks", brief="merge"),
    Action("rename_bank", ("f2",), "Rename the bank", "banks"),
    Action("delete_bank", ("delete", "D"), "Delete the bank", "banks"),
    Action("look_again", ("R",), "Reload the list of banks", "banks"),
    Action("open_contest", ("r",), "Open a contest of the lab", "banks"),
    Action("compare_banks", ("c",), "Compare the bank with another, side by side", "banks"),
    # Growth
    Action(
        "earlier", ("h", "left"), "Go to the commit before", "growth", "go(-1)", brief="earlier"
    ),
    Action("later", ("l", "right"), "Go to the next commit", "growth", "go(1)", brief="later"),
    Action("play", ("space",), "Play the commits from here, or stop", "growth", brief="play"),
    # Two banks
    Action("leave_comparison", ("escape", "b"), "Go back", "comparison", brief="back"),
    Action(
        "merge_right", ("m",), "Merge the right bank into the left", "comparison", brief="merge"
    ),
    Action("swap_sides", ("s",), "Swap the sides", "comparison", brief="swap"),
    # A contest
    Action("leave_contest", ("escape", "b"), "Go back", "contest", brief="back"),
    Action(
        "toggle_steps",
        ("enter",),
        "Show what was played, or the contestant's numbers",
        "contest",
        brief="steps or numbers",
    ),
    Action(
        "next_contestant",
        ("l", "right"),
        "Go to the next contestant",
        "contest",
        "choose_contestant(1)",
        brief="next contestant",
    ),
    Action(
        "previous_contestant",
        ("h", "left"),
        "Go to the contestant before",
        "contest",
        "choose_contestant(-1)",
    ),
    Action(
        "read_contest_again",
        ("R",),
        "Read the contest again: it may have gone on",
        "contest",
        brief="read again",
    ),
    Action("copy_contest", ("y",), "Copy what is shown to the clipboard", "contest", brief="copy"),
    Action("read_contest", ("v",), "Read the whole text in the pager", "contest"),
    # Any screen of a bank
    Action("show_trees", ("1",), "Show the trees", "bank", "show('trees')"),
    Action("show_recall", ("2",), "Show the recall lab", "bank", "show('recall')"),
    Action("show_episodes", ("3",), "Show the episodes", "bank", "show('episodes')"),
    Action("show_statistics", ("4",), "Show the statistics", "bank", "show('statistics')"),
    Action("show_review", ("5",), "Show the episodes to review", "bank", "show('review')"),
    Action("show_growth", ("6",), "Show how the trees grew", "bank", "show('growth')"),
    Action(
        "step_back",
        ("escape",),
        "Go back a step; twice for the list of banks",
        "bank",
        brief="back",
    ),
    Action("close_bank", ("b",), "Go straight to the list of banks", "bank"),
    Action("freeze", ("Z",), "Freeze or unfreeze this bank", "bank"),
    Action("verify", ("V",), "Verify every file of this bank", "bank"),
    Action("copy", ("y",), "Copy what is shown to the clipboard", "bank", brief="copy"),
    Action("read_whole", ("v",), "Read the whole text in the pager", "bank"),
    # Trees
    Action("evidence", ("E",), "Show the episode that the node is from", "trees", brief="episode"),
    Action("filter", ("slash",), "Filter the nodes", "trees", brief="filter"),
    Action(
        "next_match",
        ("ctrl+n", "f3"),
        "Go to the next match of the filter",
        "trees",
        "to_match(1)",
        brief="next match",
    ),
    Action(
        "previous_match",
        ("ctrl+p", "f15"),
        "Go to the previous match of the filter",
        "trees",
        "to_match(-1)",
        brief="previous",
    ),
    Action("sort", ("s",), "Sort siblings another way", "trees", brief="sort"),
    Action("chain", ("c",), "Show the chain from the root to the node", "trees", brief="chain"),
    Action("step_down", ("right_square_bracket",), "Step down the chain", "trees", "step(1)"),
    Action("step_up", ("left_square_bracket",), "Step up the chain", "trees", "step(-1)"),
    Action("edit", ("e",), "Edit the node's text in $EDITOR", "trees", brief="edit"),
    Action("relabel", ("L",), "Relabel the node: success or failure", "trees"),
    Action("move", ("m",), "Move the node: choose it, then its new parent", "trees"),
    Action("make_root", ("M",), "Make the node a root", "trees"),
    Action("delete", ("delete", "D"), "Delete the node with all below it", "trees"),
    Action("undo", ("u",), "Undo the last change by hand", "trees", brief="undo"),
    Action("redo", ("U",), "Redo what was undone last", "trees"),
    Action("other_tree", ("t",), "Go to the other tree", "trees"),
    # An outline
    Action("expand", ("l", "right"), "Expand, or go to the first child", "tree"),
    Action("collapse", ("h", "left"), "Collapse, or go to the parent", "tree"),
    Action("fold", ("space", "enter"), "Expand or collapse", "tree"),
    Action("expand_below", ("asterisk",), "Expand all below", "tree"),
    Action("collapse_all", ("minus",), "Collapse everything", "tree"),
    Action("parent", ("p",), "Go to the parent", "tree"),
    Action("root", ("r",), "Go to the root", "tree"),
    Action("next_failure", ("f",), "Go to the next failure", "tree", "seek('failure', 1)"),
    Action("previous_failure", ("F",), "Go to the previous failure", "tree", "seek('failure', -1)"),
    Action("next_due", ("d",), "Go to the next node due to be fused", "tree", "seek('due', 1)"),
    # Recall
    Action("ask_task", ("slash",), "Type a task", "recall", brief="task"),
    Action("ask_scene", ("s",), "Type a scene", "recall", brief="scene"),
    Action("thresholds", ("t",), "Try other numbers", "recall", brief="numbers"),
    Action(
        "raise_number", ("plus",), "Raise the threshold, or number, by a step", "recall", "nudge(1)"
    ),
    Action(
        "lower_number",
        ("minus",),
        "Lower the threshold, or number, by a step",
        "recall",
        "nudge(-1)",
    ),
    Action("own_numbers", ("0",), "Take the bank's own numbers again", "recall"),
    Action(
        "save_parameters", ("w", "f2"), "Save these numbers in the bank", "recall", brief="save"
    ),
    Action("other_bank", ("O",), "Ask another bank the same, side by side", "recall"),
    Action("show_node", ("enter",), "Show the node in its tree", "recall", brief="node"),
    Action(
        "match_chain",
        ("c",),
        "Show the chain that leads to the node",
        "recall",
        "chain",
        brief="chain",
    ),
    Action(
        "match_evidence",
        ("E",),
        "Show the episode that the node is from",
        "recall",
        "evidence",
        brief="episode",
    ),
    # Episodes
    Action(
        "filter_episodes", ("slash",), "Filter the episodes", "episodes", "filter", brief="filter"
    ),
    Action(
        "next_episode_match",
        ("ctrl+n", "f3"),
        "Go to the next match of the filter",
        "episodes",
        "to_match(1)",
        brief="next match",
    ),
    Action(
        "previous_episode_match",
        ("ctrl+p", "f15"),
        "Go to the previous match of the filter",
        "episodes",
        "to_match(-1)",
        brief="previous",
    ),
    Action("sort_episodes", ("s",), "Sort the episodes another way", "episodes", "sort"),
    Action("import_logs", ("i",), "Import episodes from logs", "episodes", brief="import"),
    Action("extract", ("E",), "Learn from the waiting episodes", "episodes", brief="learn"),
    Action("relearn", ("R",), "Learn the same episodes again in a new bank", "episodes"),
    Action("succeeded", ("plus",), "Mark the episode as a success", "episodes", "judge(True)"),
    Action("failed", ("minus",), "Mark the episode as a failure", "episodes", "judge(False)"),
    Action(
        "all_succeeded",
        ("S",),
        "Mark all episodes that are shown as successes",
        "episodes",
        "judge_all(True)",
    ),
    Action(
        "all_failed",
        ("F",),
        "Mark all episodes that are shown as failures",
        "episodes",
        "judge_all(False)",
    ),
    Action(
        "judge_by_model",
        ("J",),
        "Let a model judge what is shown without an outcome",
        "episodes",
    ),
    Action("next_node", ("n",), "Show the next node from this episode", "episodes"),
    Action("episode_node", ("enter",), "Show the node in its tree", "episodes", brief="node"),
    # Statistics
    Action("calibrate", ("c",), "Propose thresholds", "statistics", brief="propose thresholds"),
    Action("apply_proposal", ("w",), "Save the proposed thresholds", "statistics", brief="save"),
    # Review
    Action(
        "verdict_success",
        ("plus",),
        "Your verdict: it succeeded",
        "review",
        "give_verdict(True)",
        brief="success",
    ),
    Action(
        "verdict_failure",
        ("minus",),
        "Your verdict: it failed",
        "review",
        "give_verdict(False)",
        brief="failure",
    ),
    Action(
        "verdict_unclear",
        ("c",),
        "Your verdict: you cannot tell",
        "review",
        "give_verdict(None)",
        brief="cannot tell",
    ),
    Action("blind", ("h",), "Hide what log and judge say", "review", brief="blind"),
    # Lists
    Action("line_down", ("j", "down"), "Down", "list", "move_cursor(1)"),
    Action("line_up", ("k", "up"), "Up", "list", "move_cursor(-1)"),
    Action("page_down", ("pagedown", "ctrl+d"), "A page down", "list", "move_page(1)"),
    Action("page_up", ("pageup", "ctrl+u"), "A page up", "list", "move_page(-1)"),
    Action("first", ("g", "home"), "To the first line", "list", "move_to_end(-1)"),
    Action("last", ("G", "end"), "To the last line", "list", "move_to_end(1)"),
)

DIALOG_KEYS = (
    ("y", "Confirm"),
    ("n, escape", "Cancel; where your own text is offered, n starts over"),
    ("enter", "Submit the form"),
    ("tab, shift+tab", "To the next field, or the previous one"),
    ("space", "Tick or untick a box"),
    ("f2, ctrl+o", "Save a text that is edited on the page"),
    ("a click", "On a key in the last line: what the key does"),
)
"""The keys of dialogs, which are the same for everybody."""


def bindings(scope: Scope) -> list[Binding]:
    """Return the keys of a scope, as textual takes them."""
    return [
        Binding(
            ",".join(action.keys),
            action.method,
            action.brief or action.title,
            show=bool(action.brief),
            id=action.name,
        )
        for action in ACTIONS
        if action.scope == scope
    ]


def of_scopes(scopes: Iterable[Scope]) -> list[Action]:
    """Return the actions of some scopes, in the order of the registry."""
    wanted = set(scopes)
    return [action for action in ACTIONS if action.scope in wanted]


_KEY_NAMES = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "asterisk": "*",
    "minus": "-",
    "plus": "+",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "pagedown": "page down",
    "pageup": "page up",
    "f15": "shift+f3",
}


def key_names(action: Action, keys: Mapping[str, str]) -> str:
    """Return the keys of an action for a person, those of `[keys]` if they name others."""
    chosen = keys[action.name].split(",") if action.name in keys else action.keys
    return ", ".join(_KEY_NAMES.get(key.strip(), key.strip()) for key in chosen)


def key_of(name: str, keys: Mapping[str, str]) -> str:
    """Return the first key of the action of this name, for a person."""
    action = next(each for each in ACTIONS if each.name == name)
    return key_names(action, keys).partition(",")[0]


_SIGNS = frozenset(
    binding.key
    for sign in string.punctuation
    if sign != ","
    for binding in Binding.make_bindings([Binding(sign, "")])
) | {"comma"}
_MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}


def checked_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that a person chose, named as textual names them.

    Args:
        keys: Per action its keys, several of them with commas between.

    Raises:
        ConfigurationError: There is no such action or no such key, or a key would mean two
            things on a screen.
    """
    names = [action.name for action in ACTIONS]
    chosen: dict[str, tuple[str, ...]] = {}
    for name, words in keys.items():
        if name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.0)[0]
            raise _refused(
                f"unknown action {one_line(name, 40)!r}",
                f"did you mean {near}? There are {', '.join(names)}",
            )
        chosen[name] = tuple(_checked_key(name, each) for each in _split(words))
    for scopes in TOGETHER:
        _refuse_two_things(of_scopes(scopes), chosen)
    return {name: ",".join(each) for name, each in chosen.items()}


def _split(words: str) -> list[str]:
    return [words] if words == "," else [each.strip() for each in words.split(",")]


def _checked_key(name: str, word: str) -> str:
    """Return how textual calls a key: a sign by its name, also behind ctrl or alt."""
    before, plus, last = word.rpartition("+") if len(word) > 1 else ("", "", word)
    if last == ",":
        last = "comma"
    elif len(last) == 1:
        last = next(iter(Binding.make_bindings([Binding(last, "")]))).key
    known = len(last) == 1 or last in {key.value for key in Keys} or last in _SIGNS
    if not known or not _MODIFIERS.issuperset(before.split("+") if plus else ()):
        raise _refused(
            f"{name}: no such key {one_line(word, 40)!r}",
            "use a key such as x, X, ctrl+x, f5, pagedown or slash",
        )
    return f"{before}{plus}{last}"


def _refuse_two_things(together: Iterable[Action], chosen: Mapping[str, tuple[str, ...]]) -> None:
    owners: dict[str, Action] = {}
    for action in together:
        for key in chosen.get(action.name, action.keys):
            other = owners.setdefault(key, action)
            if other is not action:
                mine, its = (action, other) if action.name in chosen else (other, action)
                raise _refused(
                    f"gives {mine.name} the key {key!r}, which {its.name} has on the same screen",
                    "choose another, or give that one another key as well",
                )


def _refused(message: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"[keys] {message}", source="deltamem.toml", hint=hint)
