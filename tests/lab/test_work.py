"""Whether a memory of earlier work would have pointed to what later work needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.embedding.load import load
from deltamem_tui.lab.contestants import contestants
from deltamem_tui.lab.work import WorkQuestions, compared, most_frequent, needs_of
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory


def session(task: str, *files: str, check: str = "pytest", success: bool = True) -> Trajectory:
    steps = [Step(f"cat {each}", "import os") for each in (*files, "README.md")]
    steps += [Step(f"sed -i s/a/b/ {each}", "") for each in files]
    steps.append(Step(f"{check} -q", "3 passed"))
    return Trajectory(task, "", tuple(steps), Outcome(success, source="stated"))


SESSIONS = [
    session("mend the parser", "src/parser.py"),
    session("rename the lexer", "src/lexer.py", "src/parser.py"),
    session("speed the parser up", "src/parser.py", "src/cache.py"),
    session("write the changelog", "docs/changes.md", check="mkdocs build"),
]


def test_the_needs_of_an_episode_are_what_it_touched() -> None:
    found = needs_of(SESSIONS[1])
    assert found["edited"] == ["src/lexer.py", "src/parser.py"]
    assert found["read"] == ["README.md"]
    assert found["folders"] == ["src"]
    assert found["checks"] == ["pytest -q"]
    assert {"pytest", "pytest -q"} <= {*found["terms"]}


def measures(text: str, task: str = "speed the parser up") -> dict[str, float]:
    asked = [session(task, "src/parser.py", "src/cache.py")]
    questions = WorkQuestions(SESSIONS[:2], asked)
    (answer,) = questions.answers(lambda task, scene: text, budget=300)
    return dict(answer.measures)


def test_a_text_is_measured_by_what_it_names() -> None:
    found = measures("Edit /home/me/shop/src/parser.py, then `pytest -q`.")
    # The cache was never learnt, so nobody could have known it.
    assert (found["edited"], found["folders"], found["checks"], found["first_ten"]) == (1, 1, 1, 1)
    assert (found["read"], found["files"]) == (0, 0.75)
    assert 0 < found["terms"] <= 1
    nothing = measures("")
    assert (nothing["answered"], nothing["files"], nothing["terms"]) == (0, 0, 0)


def test_what_the_task_names_does_not_count() -> None:
    found = measures("src/parser.py", task="speed src/parser.py up")
    assert "edited" not in found
    assert "first_ten" not in found


def test_a_text_is_cut_at_the_budget_and_its_first_ten_files_count() -> None:
    many = " ".join(f"src/other{number}.py" for number in range(10))
    assert measures(f"{many} src/parser.py")["first_ten"] == 0
    assert measures(f"src/parser.py {many}")["first_ten"] == 1
    assert measures("x" * 1200 + " src/parser.py")["edited"] == 0


def test_methods_and_baselines_are_compared(tmp_path: Path) -> None:
    split = SESSIONS[:3], [session("mend the parser again", "src/parser.py")]
    who = contestants(["deltamem", "synapse"], {})
    found, questions = compared(
        *split, who, load("hashing"), tmp_path, domain="generic", budget=300
    )
    assert questions["edited"] == questions["answered"] == 1
    assert [*found] == ["deltamem", "synapse", "most frequent", "nearest success", "nothing"]
    assert found["deltamem"]["edited"].estimate.value == 1
    assert found["most frequent"]["files"].estimate.value == 1
    assert (found["nothing"]["files"].difference.value or 0) < -0.5
    with pytest.raises(KeyboardInterrupt):
        compared(
            *split,
            who,
            load("hashing"),
            tmp_path / "again",
            domain="generic",
            budget=300,
            stopped=lambda: True,
        )


def test_the_most_frequent_come_first() -> None:
    text = most_frequent(WorkQuestions(SESSIONS, SESSIONS))("any", "")
    assert text.startswith("Edited: src/parser.py, ")
