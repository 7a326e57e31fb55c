"""Help: what a screen is for, its keys, and what the words mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.paths import shipped_folder
from deltamem_tui.tui.core.actions import SCOPE_TITLES, Scope, key_names, of_scopes
from deltamem_tui.tui.models.sections import Section

WORDS: Mapping[str, str] = {
    "bank": "what one memory has learnt, and the episodes it learnt from",
    "episode": "one attempt at one task: its steps, and how it ended",
    "outcome": "how it ended: success, failure or unknown; never guessed",
    "node": "one thing learnt: when it applies, and what to do or expect",
    "task tree": "the nodes about tasks: skills",
    "env tree": "the nodes about places: what is there, and what works there",
    "root": "a node that says everything: nothing like it was known before",
    "residual": "a node that says only what it adds to the node above it",
    "chain": "a root and the residuals down to one node: what an agent reads",
    "match": "the node that a question finds; its chain is recalled",
    "threshold": "the score that a match needs where the kind of task does not decide",
    "frozen": "protected: nothing changes a frozen bank until you unfreeze it",
}
"""All words that a reader must know; docs/browser.md has the same."""


_SIGNS = """● a root        ○ a residual     ✗ a failure: a warning, not to be followed
▸ collapsed     ▾ expanded       ≡ its chain was fused into a new root
d3 depth        7× successful episodes that matched it
» a node that is being moved"""

_ABOUT: Mapping[Scope, str] = {
    "banks": "Your banks, and those that ship with the program. A bank is what one memory has "
    "learnt: open one to read it, or bring your own agent's sessions into a new one. Below: how "
    "much the selected bank has learnt, what still waits, and whether it can be changed.",
    "memory": "What was learnt, one node a line: a root is a whole skill or place, and each node "
    "below it says only what differs. Below: all that the bank knows of the selected node; what "
    "a residual repeats from above is dimmed. Put right what is wrong: every change can be "
    "undone. A filter keeps the nodes that fit, and those above them.",
    "recall": "Type a task as your agent would be told it, and what it sees where it starts, if "
    "that matters. The answer follows as you type: the nearest nodes, best first. ▶ is recalled, "
    "and the sentence below says why. At the bottom: what the agent would be told, what was "
    "learnt first; copied or read in the pager, it is in the agent's own order. Move the "
    "threshold to see what that changes; nothing is written until you say so.",
    "episodes": "What your agent did, one attempt a line: ✓ succeeded, ✗ failed, ? not known. "
    "Only what has an outcome can be learnt: mark it, then learn. Sorted by doubtful, what most "
    "needs your verdict comes first. Below: the selected episode, step by step, beside the nodes "
    "that were learnt from it.",
    "report": "What the bank is worth in words, what to do next, how it grew, and what each "
    "change brought. Scroll to read it; nothing is changed here.",
}
"""Per screen what its panes show and what is done there."""


def help_sections(scopes: Sequence[Scope], keys: Mapping[str, str]) -> list[Section]:
    """Return what a screen is for, then the keys of its scopes, with the person's own."""
    sections = [Section(SCOPE_TITLES[scopes[0]], _ABOUT[scopes[0]])]
    # The last are as in other programs.
    for scope in sorted(scopes, key=lambda each: each in ("tree", "list", "app")):
        named = [(key_names(action, keys), action.title) for action in of_scopes([scope])]
        sections += [_section(f"Keys: {SCOPE_TITLES[scope].lower()}", named)] if named else []
    manual = f"{shipped_folder('docs')} has the manual, browser.md first; `deltamem --help` too."
    words = _section("Words", [*WORDS.items()])
    return [*sections, Section("Signs", _SIGNS), words, Section("More", manual)]


def _section(title: str, named: Sequence[tuple[str, str]]) -> Section:
    room = max(len(names) for names, _ in named)
    return Section(title, "\n".join(f"{names:<{room}}  {does}" for names, does in named))
