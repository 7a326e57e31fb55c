"""What an agent was told out of a memory is left out, however its log has it."""

from __future__ import annotations

import html

import pytest

from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.validation import without_recalled

CONTEXT = "<past_experience>\n\nGo <north>.\n\n</past_experience>"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Build it.\n\n{CONTEXT}", "Build it."),
        (f"{CONTEXT}\n\nBuild it.", "Build it."),
        (f"Build it.<hook_context>{html.escape(CONTEXT)}</hook_context>", "Build it."),
        (
            f"Build it.\n<hook_context>Mind it.\n{html.escape(CONTEXT)}</hook_context>",
            "Build it.\n<hook_context>Mind it.\n</hook_context>",
        ),
        (f"{CONTEXT}Build{CONTEXT} it.", "Build\nit."),
        ("<past_experience> of mine\n", "<past_experience> of mine\n"),
    ],
)
def test_nothing_of_a_context_is_left(text: str, left: str) -> None:
    found = without_recalled(Trajectory(text, steps=(Step("ls", text),)))
    assert (found.task, found.steps[0].observation) == (left, left)
