from __future__ import annotations

from pathlib import Path

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from tests.trajectory.readers.log_files import episode, episodes, readings, refusals
from tests.trajectory.readers.markdown_logs import AIDER, SPECSTORY


def test_specstory(tmp_path: Path) -> None:
    assert episode(tmp_path, SPECSTORY.encode(), "chat.md") == Trajectory(
        task="Fix the parser.\n\n---\n\nAnd quickly.",
        steps=(
            Step("ls", "a.py", "Look first."),
            Step("Read(a.py)", "1→</details></tool-use>\n```\n2→_**User**_ is not a turn"),
            Step("Fixed.", "Thanks."),
        ),
        source=LogSource("chat.md", "line 7", "specstory"),
        agent="some-model",
        metadata={"id": "0000-s1"},
    )


def test_specstory_without_its_mark_and_with_plain_turns(tmp_path: Path) -> None:
    text = "_**User**_\n\nFix it.\n\n---\n\n_**Assistant**_\n\nFixed.\n"
    found = episode(tmp_path, text.encode(), "chat.md")
    assert (found.task, found.steps) == ("Fix it.", (Step("Fixed."),))


def test_specstory_command_in_a_block(tmp_path: Path) -> None:
    tool = (
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n'
        "<summary>Tool use: **Bash**</summary>\n\n```bash\nls\npwd\n```\n\n```text\na\n```\n"
        "</details></tool-use>\n"
    )
    text = f"_**User**_\n\nFix it.\n\n_**Agent (m 2026-01-01)**_\n\n{tool}"
    assert episode(tmp_path, text.encode(), "chat.md").steps == (Step("ls\npwd", "a"),)


def test_specstory_without_a_task_is_refused(tmp_path: Path) -> None:
    text = SPECSTORY.split("_**User (2026-01-01 00:00:01Z)**_")[0]
    (told,) = refusals(readings(tmp_path, text.encode(), "chat.md"))
    assert "chat.md, line 7: no task in it" in str(told)


REPLY = """I change the sign.

#### A heading of mine
> and a quotation

a.py
```
<<<<<<< SEARCH
-x
```"""


def test_aider(tmp_path: Path) -> None:
    found = readings(tmp_path, AIDER.encode(), "history.md")
    assert episodes(found) == [
        Trajectory(
            task="Fix the parser.\nQuickly.",
            environment="Files in the chat: a.py",
            steps=(
                Step(REPLY, "Applied edit to a.py\n\nand the tests?"),
                Step("They pass."),
            ),
            source=LogSource("history.md", "line 2", "aider"),
            agent="some-model",
        )
    ]
    second = AIDER.splitlines().index("# aider chat started at 2026-01-02 00:00:00") + 1
    assert [error.position for error in refusals(found)] == [f"line {second}"]


def test_aider_without_the_spaces_that_editors_strip(tmp_path: Path) -> None:
    text = (
        "# aider chat started at 2026-01-01 00:00:00\n\n> Models: m with diff edit format\n\n"
        "#### Fix it.\n\nFixed.\n\n> Applied edit to a.py\n"
    )
    found = episode(tmp_path, text.encode(), "history.md")
    assert (found.task, found.agent) == ("Fix it.", "m")
    assert found.steps == (Step("Fixed.", "Applied edit to a.py"),)
    assert found.outcome == Outcome()
