"""Small logs of agents that serve users with tools, and what is in them."""

from __future__ import annotations

from deltamem_tui.trajectory.model import Step, Trajectory
from tests.trajectory.readers.samples import NO, YES, Sample, at, paid, sample_log

_TAU_STEPS = (
    Step("Which one?", "To Rome."),
    Step('cancel(id="F1")', "cancelled"),
    Step("Done.", "###STOP###"),
)


TAU = Sample(
    sample_log("tau.json"),
    [
        Trajectory(
            "Cancel my flight.",
            "# Policy",
            _TAU_STEPS,
            paid(float(trial)),
            at(f"record {trial + 1}"),
            metadata={"task_id": "3", "trial": str(trial), "user_script": "You want to cancel."},
        )
        for trial in (0, 1)
    ],
)

TAU2 = Sample(
    sample_log("tau2.json"),
    [
        Trajectory(
            "Cancel my flight.",
            "# Policy",
            _TAU_STEPS,
            paid(1.0),
            at("record 1, simulation 1"),
            domain="airline",
            agent="model-b",
            metadata={
                "id": "s1",
                "task_id": "t0",
                "trial": "0",
                "user_script": "You want to cancel.",
            },
        )
    ],
)  # fmt: skip

AGENTBENCH = Sample(
    sample_log("agentbench.json"),
    [
        Trajectory(
            "How many files?",
            "Act like a shell user.",
            (
                Step("bash\n\n```bash\nls\n```", "The output of the OS:\na", "Count."),
                Step("answer(1)"),
            ),
            source=at("line 1"),
            metadata={"id": "7", "status": "completed"},
        )
    ],
)


TOOLBENCH = Sample(
    sample_log("toolbench.jsonl"),
    [
        Trajectory(
            "News?",
            "Tools: news, Finish",
            (Step('news(of="today")', "none", "I ask."), Step("Finish({broken)")),
            YES,
            at("line 1"),
            domain="toolbench",
            metadata={"finish_type": "give_answer"},
        ),
        Trajectory(
            "News?",
            "Tools: news, Finish",
            (Step("news()", "error", "I try."),),
            NO,
            at("line 2"),
            domain="toolbench",
        ),
    ],
)  # fmt: skip
