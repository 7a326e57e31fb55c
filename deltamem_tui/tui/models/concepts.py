"""The words of the program, with a small drawing: for someone who sees it for the first time."""

from __future__ import annotations

from deltamem_tui.tui.models.sections import Section

_TREES = """task tree: skills                     env tree: knowledge of places
● heat an object and put it away      ● a kitchen with a fridge
├─○ … with the stove                  └─○ … and a locked cupboard
│  └─○ … when the pan is dirty
└─✗ … the microwave was broken

● root      whole: nothing like it was known when it was learnt
○ residual  only the difference: what it adds to the node above it
✗ failure   a warning from an episode that failed
● → ○       a chain, from the root down to one node: the whole
            first, then each difference"""

_RECALL = """"heat an egg"  ──▶ similarity .83  ≥ threshold .70  ──▶ match
                                      its chain goes to the agent
"sing a song"  ──▶ similarity .31  < threshold       ──▶ no match
                                      the agent is told nothing

threshold  how alike a question and a node must be for a match
hit        an episode succeeded whose match was this node"""

_LEARNING = """log ──import──▶ episode ──extract──▶ node

An episode is one attempt at one task: its steps, and how it ended.
If it matches a node, it is learnt as a residual below the match.
If it matches none, it becomes a root. Thresholds that are too high
make everything a root; propose others on the statistics screen.

Other methods keep flat lists of procedures, lessons or workflows:
their nodes are not roots and residuals, the rest is the same."""

CONCEPTS = (
    Section("What a bank holds", _TREES),
    Section("What is recalled", _RECALL),
    Section("What is learnt", _LEARNING),
)
"""What a tree, a residual, a chain, a threshold and a hit are."""
