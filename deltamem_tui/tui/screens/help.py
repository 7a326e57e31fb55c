"""The help of a screen: what it is for, its keys, and what the words mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.tui.core.actions import SCOPE_TITLES, Scope, key_names, of_scopes
from deltamem_tui.tui.models.sections import Section

_TREES = """task tree: skills
● heat an object and put it away
├─○ … with the stove
│  └─○ … when the pan is dirty
└─✗ … the microwave was broken

env tree: knowledge of places
● a kitchen with a fridge
└─○ … and a locked cupboard

● root      whole: nothing like it was known
○ residual  only what it adds to the node above
✗ failure   a warning from one that failed
● → ○       a chain, from the root to one node"""

_RECALL = """"heat an egg"
└─▶ similarity .83 ≥ threshold .70: a match
    └─▶ its chain goes to the agent
"sing a song"
└─▶ similarity .31 < threshold .70: no match
    └─▶ the agent is told nothing

threshold  how alike a question and a node must
           be for a match
hit        an episode succeeded whose match was
           this node"""

_LEARNING = """log ──import──▶ episode ──learn──▶ node

An episode is one attempt at one task: its steps, and how it ended. \
If it matches a node, it is learnt as a residual below the match. \
If it matches none, it becomes a root. Thresholds that are too high \
make everything a root; try others on the recall screen.

Other methods keep flat lists of procedures, lessons or workflows: \
their nodes are not roots and residuals, the rest is the same."""

CONCEPTS = (
    Section("What a bank holds", _TREES),
    Section("What is recalled", _RECALL),
    Section("What is learnt", _LEARNING),
)
"""The meaning of tree, residual, chain, threshold and hit."""


_SIGNS = """● a root        ○ a residual     ✗ a failure: a warning, not to be followed
▸ collapsed     ▾ expanded       ≡ its chain was fused into a new root
d3 depth        7× hits: successful episodes whose match it was
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
        "What the bank is worth in words, what to do next, how it grew, and what each commit "
        "brought."
    ),
}
"""The purpose of each screen, in prose."""


def help_sections(scopes: Sequence[Scope], keys: Mapping[str, str]) -> list[Section]:
    """Return what a screen is for, and the keys of its scopes, with the person's own."""
    first = scopes[0]
    sections = [Section(SCOPE_TITLES[first], _ABOUT[first])] if first in _ABOUT else []
    for scope in scopes:
        named = [(key_names(action, keys), action.title) for action in of_scopes([scope])]
        sections += [_section(f"Keys: {SCOPE_TITLES[scope].lower()}", named)] if named else []
    return [*sections, Section("Signs", _SIGNS), *CONCEPTS]


def _section(title: str, named: Sequence[tuple[str, str]]) -> Section:
    room = max(len(names) for names, _ in named)
    return Section(title, "\n".join(f"{names:<{room}}  {does}" for names, does in named))
