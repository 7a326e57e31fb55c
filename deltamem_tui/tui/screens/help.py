"""The help of a screen: what it is for, its keys, and what the words mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.paths import shipped_docs_folder
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
    "banks": (
        "A bank is what one memory has learnt. Open one to read it, or bring your own agent's "
        "sessions: they become episodes, and episodes become nodes."
    ),
    "memory": (
        "What was learnt, as outlines. A root says a whole skill or place; what is below it says "
        "only what differs. Put right what is wrong: every change is asked about or can be undone."
    ),
    "recall": (
        "Type a task to see what an agent would be told, which nodes match and why. Move the "
        "threshold to see what that changes; nothing is written until you say so."
    ),
    "episodes": (
        "What the agent did, an episode a line: ✓ it succeeded, ✗ it failed, ? nobody knows yet. "
        "Only what has an outcome can be learnt. Sorted by doubtful, what most needs your "
        "verdict comes first."
    ),
    "report": (
        "What the bank is worth in words, what to do next, how it grew, and what each change "
        "brought."
    ),
}
"""The purpose of each screen, in prose."""


def help_sections(scopes: Sequence[Scope], keys: Mapping[str, str]) -> list[Section]:
    """Return what a screen is for, and the keys of its scopes, with the person's own."""
    first = scopes[0]
    sections = [Section(SCOPE_TITLES[first], _ABOUT[first])] if first in _ABOUT else []
    # The last are as in other programs.
    for scope in sorted(scopes, key=lambda each: each in ("tree", "list", "app")):
        named = [(key_names(action, keys), action.title) for action in of_scopes([scope])]
        sections += [_section(f"Keys: {SCOPE_TITLES[scope].lower()}", named)] if named else []
    manual = f"{shipped_docs_folder()} has the manual, browser.md first; `deltamem --help` too."
    words = _section("Words", [*WORDS.items()])
    return [*sections, Section("Signs", _SIGNS), words, Section("More", manual)]


def _section(title: str, named: Sequence[tuple[str, str]]) -> Section:
    room = max(len(names) for names, _ in named)
    return Section(title, "\n".join(f"{names:<{room}}  {does}" for names, does in named))
