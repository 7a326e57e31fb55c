"""Everything a person can do in the browser, once: keys, command palette and help read it here.

An action's name is what `[keys]` of `deltamem.toml` maps to another key. Its method is
`action_<method>` on the widget, screen or app that the scope names. A letter means one thing
wherever it means anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from textual.binding import Binding, InvalidBinding

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.text import one_line

Scope = Literal["app", "banks", "bank", "memory", "recall", "episodes", "report", "list", "tree"]

SCOPE_TITLES: Mapping[Scope, str] = {
    "app": "Everywhere",
    "banks": "Banks",
    "bank": "In a bank",
    "memory": "Memory",
    "recall": "Recall",
    "episodes": "Episodes",
    "report": "Report",
    "list": "In a list",
    "tree": "In an outline",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can do."""

    name: str
    keys: tuple[str, ...]
    title: str
    scope: Scope
    brief: str
    method: str


def _actions(scope: Scope, *rows: tuple[str, ...], do: str = "{}") -> Iterator[Action]:
    """Read rows of name, keys, title, and perhaps brief and method, else `do` with the name."""
    for name, keys, title, *more in rows:
        brief, method = [*more, "", ""][:2]
        yield Action(name, tuple(keys.split()), title, scope, brief, method or do.format(name))


ACTIONS: tuple[Action, ...] = (
    *_actions(
        "app",
        ("help", "question_mark f1", "Explain this screen, the keys and the words", "help"),
        ("palette", "colon", "Find an action by name", "", "command_palette"),
        ("theme", "T", "Choose a theme", "", "change_theme"),
        ("cancel", "x", "Cancel the running job", "", "cancel_work"),
        ("plan", "P", "Open the plan or estimate that waits for your answer"),
        ("notes", "N", "Read the latest messages in full"),
        ("quit", "q", "Quit", "quit"),
        ("next_pane", "tab", "Go to the next pane", "", "app.focus_next"),
        ("previous_pane", "shift+tab", "Go to the previous pane", "", "app.focus_previous"),
        ("maximize", "z", "Give the pane the whole screen, or go back to all panes"),
    ),
    *_actions(
        "banks",
        ("open_bank", "enter", "Open the bank", "open"),
        ("create_bank", "n", "Make a new bank", "new", "create"),
        (
            "own_sessions",
            "a",
            "Bring your coding agent's sessions into a new bank",
            "agent",
            "bring",
        ),
        ("install_bank", "i", "Import a bank from an archive", "import", "install"),
        ("export_bank", "X", "Export the bank into one file", "export"),
        ("merge_banks", "M", "Merge other banks into this one", "merge"),
        ("compare_banks", "equals_sign", "Compare the bank with another, node by node", "compare"),
        ("freeze_bank", "Z", "Freeze or unfreeze the bank"),
        ("verify_bank", "V", "Verify every file of the bank"),
        ("rename_bank", "e", "Edit the bank's name"),
        ("delete_bank", "delete D", "Delete the bank"),
        ("look_again", "R", "Reload the list of banks", "", "look"),
        do="with_bank('{}')",
    ),
    *_actions(
        "bank",
        ("show_memory", "1", "Show what was learnt", "", "show('memory')"),
        ("show_recall", "2", "Ask what an agent would be told", "", "show('recall')"),
        ("show_episodes", "3", "Show the episodes it was learnt from", "", "show('episodes')"),
        ("show_report", "4", "Show what the bank is worth and how it grew", "", "show('report')"),
        ("step_back", "escape", "Go back a step; twice for the list of banks", "back"),
        ("close_bank", "b", "Go straight to the list of banks"),
        ("copy", "y", "Copy what is shown to the clipboard"),
        ("read_whole", "v", "Read the whole text in the pager"),
    ),
    *_actions(
        "memory",
        ("chain", "c", "Show the chain from the root to the node, and what each adds", "chain"),
        ("evidence", "E", "Show the episode that the node is from", "evidence"),
        ("filter", "slash", "Filter the nodes", "filter"),
        ("sort", "s", "Sort siblings another way", "sort"),
        ("edit", "e", "Edit the node's texts", "edit", "node('edit')"),
        ("mark_success", "S", "Mark the node as a success", "", "relabel('success')"),
        ("mark_failure", "F", "Mark the node as a failure, a warning", "", "relabel('failure')"),
        ("join", "M", "Merge a similar node into this one", "merge", "node('join')"),
        ("move", "m", "Move the node: choose it, then its new parent", "move", "node('move')"),
        ("make_root", "o", "Make the node a root of its own", "", "node('make_root')"),
        ("delete", "delete D", "Delete the node with all below it", "", "node('delete')"),
        ("undo", "u", "Undo the last change by hand", "undo", "node('undo')"),
        ("redo", "U", "Redo what was undone last", "", "node('undo', 'redo')"),
        ("other_tree", "t", "Go to the other tree"),
    ),
    *_actions(
        "tree",
        ("expand", "l right", "Expand, or go to the first child"),
        ("collapse", "h left", "Collapse, or go to the parent"),
        ("fold", "space enter", "Expand or collapse"),
        ("expand_below", "asterisk", "Expand all below"),
    ),
    *_actions(
        "recall",
        ("ask_task", "slash", "Type a task", "task"),
        ("show_node", "enter", "Show the node in its tree", "node"),
        ("match_chain", "c", "Show the chain that leads to the node", "chain", "chain"),
        ("match_evidence", "E", "Show the episode that the node is from", "evidence", "evidence"),
        ("numbers", "p", "Tune the parameters: try others", "parameters"),
        ("raise_number", "plus", "Raise the threshold, or parameter, by a step", "", "nudge(1)"),
        ("lower_number", "minus", "Lower the threshold, or parameter, by a step", "", "nudge(-1)"),
        ("own_numbers", "0", "Take the bank's own parameters again"),
        ("save_parameters", "w f2", "Write these parameters into the bank", "write"),
    ),
    *_actions(
        "episodes",
        ("succeeded", "S", "Mark the episode as a success", "success", "judge(True)"),
        ("failed", "F", "Mark the episode as a failure", "failure", "judge(False)"),
        ("cannot_tell", "C", "Say that you cannot tell how it ended", "unclear", "judge(None)"),
        ("extract", "L", "Learn from the waiting episodes", "learn"),
        ("import_logs", "i", "Import episodes from logs", "import"),
        ("mark_all", "A", "Say how all shown episodes ended", "all"),
        ("episode_node", "enter", "Show the node in its tree", "node"),
        ("next_node", "right_square_bracket", "Show the next node from this episode"),
        ("filter_episodes", "slash", "Filter the episodes", "filter", "filter"),
        ("sort_episodes", "s", "Sort the episodes: doubtful first, newest first …", "sort", "sort"),
        ("relearn", "n", "Make a new bank that learns the same episodes again"),
    ),
    *_actions(
        "list",
        ("line_down", "j down", "Down", "", "move_cursor(1)"),
        ("line_up", "k up", "Up", "", "move_cursor(-1)"),
        ("page_down", "pagedown ctrl+d", "A page down", "", "move_page(1)"),
        ("page_up", "pageup ctrl+u", "A page up", "", "move_page(-1)"),
        ("first", "g home", "To the first line", "", "move_to_end(-1)"),
        ("last", "G end", "To the last line", "", "move_to_end(1)"),
    ),
)


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
    "equals_sign": "=",
    "minus": "-",
    "plus": "+",
    "right_square_bracket": "]",
    "pagedown": "page down",
    "pageup": "page up",
}


def key_names(action: Action, keys: Mapping[str, str]) -> str:
    """Return the keys of an action for a person, those of `[keys]` if they name others."""
    chosen = keys[action.name].split(",") if action.name in keys else action.keys
    return ", ".join(_KEY_NAMES.get(key.strip(), key.strip()) for key in chosen)


def key_of(name: str, keys: Mapping[str, str]) -> str:
    """Return the first key of the action of this name, for a person."""
    action = next(each for each in ACTIONS if each.name == name)
    return key_names(action, keys).partition(",")[0]


def checked_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that a person chose, named as textual names them."""
    names = [action.name for action in ACTIONS]
    chosen: dict[str, str] = {}
    for name, words in keys.items():
        if name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.0)[0]
            raise _refused(
                f"unknown action {one_line(name, 40)!r}",
                f"did you mean {near}? There are {', '.join(names)}",
            )
        try:
            given = Binding.make_bindings([Binding("comma" if words == "," else words, "")])
            chosen[name] = ",".join(each.key for each in given)
        except InvalidBinding:
            hint = "use a key such as x, X, ctrl+x or f5"
            raise _refused(f"{name}: no key given", hint) from None
    return chosen


def _refused(message: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"[keys] {message}", source="deltamem.toml", hint=hint)
