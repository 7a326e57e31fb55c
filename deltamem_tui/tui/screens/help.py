"""Help: what the pane in focus is for, the keys of its screen, and what the words mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.widget import Widget

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

_ABOUT: Mapping[Scope, Mapping[str, str]] = {
    "banks": {
        "BankList": "Your banks, and those that ship with the program. A bank is what one memory "
        "has learnt: open one to read it, or bring your own agent's sessions into a new one.",
        "bank": "The selected bank: how much it has learnt, what still waits, the model that "
        "searches it, and where it is. Whether it can be changed is said here, too.",
    },
    "memory": {
        "OutlineView": "What was learnt, one node a line: a root is a whole skill or place, and "
        "each node below it says only what differs. Move the cursor to read a node, and put right "
        "what is wrong: every change can be undone.",
        "detail": "All that the bank knows of the selected node: its texts, how often it was "
        "useful, and the episode it came from. What a residual repeats from above is dimmed.",
        "filter": "Type words or conditions: only the nodes that fit, and those above them, stay. "
        "Enter goes back to the outline.",
    },
    "recall": {
        "task": "Type a task as your agent would be told it. The answer follows as you type: "
        "which nodes match, why, and what the agent would read.",
        "scene": "Type what the agent sees where it starts, if that matters. Knowledge about "
        "places is looked up with it.",
        "MatchList": "The nodes nearest to your question, best first: ▶ is recalled, and the "
        "sentence below says why. Move the threshold to see what that changes; nothing is "
        "written until you say so.",
        "context": "What the agent would be told, what was learnt first. Copied or read in the "
        "pager, it is in the agent's own order.",
        "chain": "The selected node, from its root down: what each link repeats is dimmed, and "
        "what it adds is not.",
    },
    "episodes": {
        "EpisodeList": "What your agent did, one attempt a line: ✓ succeeded, ✗ failed, ? nobody "
        "knows. Only what has an outcome can be learnt: mark it, then learn. Sorted by doubtful, "
        "what most needs your verdict comes first.",
        "steps": "The selected episode: how it ended and who says so, its task, then every step "
        "and what came back.",
        "node": "What was learnt from the selected episode. An episode may give several nodes; "
        "each can be opened in its tree.",
        "filter": "Type words or conditions: only the episodes that fit stay. Enter goes back to "
        "the list.",
    },
    "report": {
        "report": "What the bank is worth in words, what to do next, how it grew, and what each "
        "change brought. Scroll to read it; nothing is changed here.",
    },
}
"""Per screen what each pane shows and what is done there, by the pane's class or id."""


def help_sections(
    scopes: Sequence[Scope], keys: Mapping[str, str], pane: Widget | None
) -> list[Section]:
    """Return what the pane in focus is for, then the keys of the scopes, with the person's own."""
    first = scopes[0]
    names = (type(pane).__name__, pane.id or "") if pane else ()
    about = next((text for name in names if (text := _ABOUT[first].get(name))), "")
    sections = [Section(SCOPE_TITLES[first], about)]
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
