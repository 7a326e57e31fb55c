"""The words of the program, with a small drawing: for someone who sees it for the first time.

What is drawn is at most 48 columns wide, which a terminal of 60 has room for; what is told are
paragraphs, which are folded.
"""

from __future__ import annotations

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

_LEARNING = """log ──import──▶ episode ──extract──▶ node

An episode is one attempt at one task: its steps, and how it ended. \
If it matches a node, it is learnt as a residual below the match. \
If it matches none, it becomes a root. Thresholds that are too high \
make everything a root; propose others on the statistics screen.

Other methods keep flat lists of procedures, lessons or workflows: \
their nodes are not roots and residuals, the rest is the same."""

CONCEPTS = (
    Section("What a bank holds", _TREES),
    Section("What is recalled", _RECALL),
    Section("What is learnt", _LEARNING),
)
"""What a tree, a residual, a chain, a threshold and a hit are."""
