"""Every flaw of a prompt file is found at once, each at its line, before a model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.memory.deltamem.definition import METHOD
from deltamem_tui.memory.deltamem.write import purpose_of
from deltamem_tui.memory.methods import prompt_uses
from deltamem_tui.memory.prompts import check as prompt_check
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.file import SUFFIX
from deltamem_tui.memory.prompts.use import SHARED
from deltamem_tui.memory.writers.model.request import RequestMaker, block
from tests.memory.writers.model.support import EPISODE, LOST, chain
from tests.places import PROMPTS

USES = prompt_uses()
JUDGE = """\
+++
purpose = "Judge"
inputs = ["task", "trajectory"]
+++
Judge {{ task }}
and {{ trajectory }}
"""


def flaws_of(folder: Path, text: str, name: str = "generic/judge.md") -> list[str]:
    """The flaws of one file as `line N: message`, and nothing of the shipped ones."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    found = prompt_check.flaws(path, folder, [folder, PROMPTS], USES)
    assert all(flaw.source == str(path) for flaw in found)
    return [f"{flaw.position}: {flaw.message}" for flaw in found]


@pytest.mark.parametrize("path", prompt_check.files(PROMPTS), ids=lambda path: path.name)
def test_the_shipped_files_have_no_flaw(path: Path) -> None:
    assert prompt_check.flaws(path, PROMPTS, [PROMPTS], USES) == []


def test_a_sound_file_has_no_flaw(tmp_path: Path) -> None:
    assert flaws_of(tmp_path, JUDGE) == []
    assert flaws_of(tmp_path, JUDGE, "my-domain/judge.md") == []


def test_all_flaws_of_a_front_matter_are_told_at_once(tmp_path: Path) -> None:
    text = '+++\ncolour = 1\ninputs = "a"\nmarkers = [1]\nskip = "no"\noutput = { a = -1 }\n'
    text += "items = -1\n+++\n"
    found = flaws_of(tmp_path, text)
    assert [flaw.partition(":")[0] for flaw in found] == [
        *("line 2", "line 3", "line 5", "line 1", "line 4", "line 6", "line 7", "line 6", "line 7"),
    ]
    for flaw, words in zip(
        found,
        (
            *("'colour'; it may have purpose", "'inputs'", "'skip'", "no purpose", "'markers'"),
            *("the most words of 'a'", "the most items", "the output must not be there"),
            "'items' must be left out",
        ),
        strict=True,
    ):
        assert words in flaw


FLAWS = {
    "no TOML": (JUDGE.replace('"Judge"', ""), "line 2: the front matter is not TOML"),
    "syntax": (JUDGE + "{% if %}", "line 7: Expected an expression"),
    "undefined": (JUDGE + "{{ outcome }}", "line 7: uses outcome; its inputs are task, trajec"),
    "undefined in a branch": (JUDGE + "{% if task %}{{ x }}{% endif %}", "line 7: uses x"),
    "unused": (JUDGE.replace("{{ task }}", ""), "line 3: has the input 'task' and does not use"),
    "never given": (
        JUDGE.replace('"task",', '"task", "memory",') + "{{ memory }}",
        "line 3: nothing gives it 'memory'; its inputs may be environment, task, traj",
    ),
    "missing include": (JUDGE + '\n{% include "_gone.md" %}', "line 8: includes '_gone.md'"),
    "computed include": (JUDGE + "{% include task %}", "line 7: includes a file whose name"),
    "a fragment's needs": (JUDGE + '{% include "_episode.md" %}', "includes _episode.md, which"),
    "private names": (JUDGE + "{{ task.__class__ }}", "line 7: access to attribute '__class__'"),
    "a failing expression": (JUDGE + "\n\n{{ 1 / 0 }}", "line 9: division by zero"),
    "only in one branch": (JUDGE + "{{ task.nope }}", "line 7: 'str object' has no attribute"),
}


@pytest.mark.parametrize("kind", FLAWS)
def test_a_flaw_of_a_template_is_told_at_its_line(tmp_path: Path, kind: str) -> None:
    text, words = FLAWS[kind]
    found = flaws_of(tmp_path, text)
    assert found
    assert words in found[0]


def test_a_branch_is_tried_each_way(tmp_path: Path) -> None:
    text = (PROMPTS / "generic/task_residual_success.md").read_text()
    broken = text + "{% if not may_skip %}{{ 1 / 0 }}{% endif %}"
    (found,) = flaws_of(tmp_path, broken, "generic/task_residual_success.md")
    assert "division by zero" in found


def test_an_answer_that_is_not_asked_for_is_a_flaw(tmp_path: Path) -> None:
    text = (PROMPTS / "generic/env_root.md").read_text()
    forgot = text.replace('{% include "_knowledge_answer.md" %}', "{{ words }}")
    (found,) = flaws_of(tmp_path, forgot.replace("{{ words }}", "JSON"), "generic/env_root.md")
    assert "has the input 'words'" in found
    forgot = forgot.replace("{{ words }}", "{% if words %}JSON{% endif %}")
    (found,) = flaws_of(tmp_path, forgot, "generic/env_root.md")
    assert "does not ask for 'activation_condition'" in found
    text = (PROMPTS / "generic/task_root_failure.md").read_text()
    text = text.replace("`[UNEXPLORED]`", "What else:")
    (found,) = flaws_of(tmp_path, text, "generic/task_root_failure.md")
    assert "does not ask for its marker '[UNEXPLORED]'" in found


def test_a_name_that_nothing_asks_for_is_a_flaw(tmp_path: Path) -> None:
    (found,) = flaws_of(tmp_path, JUDGE, "generic/jugde.md")
    assert "nothing asks for a prompt 'jugde'; did you mean judge?" in found


@pytest.mark.parametrize("name", ["judge.md", "generic/deep/judge.md", "-odd/judge.md"])
def test_a_file_in_the_wrong_place_is_a_flaw(tmp_path: Path, name: str) -> None:
    (found,) = flaws_of(tmp_path, JUDGE, name)
    assert "is in a place where no prompt is looked for" in found
    assert tmp_path / name in prompt_check.files(tmp_path)


def test_a_fragment_is_held_against_the_prompts_that_include_it(tmp_path: Path) -> None:
    assert flaws_of(tmp_path, "{{ task }}", "generic/_episode.md") == []
    (found,) = flaws_of(tmp_path, "\n{{ task }} {{ x }}", "generic/_episode.md")
    assert found.startswith("line 2: uses x, which is not among the inputs of alfworld/")
    (found,) = flaws_of(tmp_path, "{{ memory }}", "webshop/_log.md")
    assert "not among the inputs of webshop/" in found
    (found,) = flaws_of(tmp_path, "Hello", "generic/_nobody.md")
    assert "no prompt includes it" in found


def test_a_header_is_not_filled_in(tmp_path: Path) -> None:
    text = '+++\npurpose = "x"\n+++\nRead\n{{ task }}\n'
    (found,) = flaws_of(tmp_path, text, "generic/memory_header.md")
    assert found == "line 5: the header is shown as it stands, not filled in"


def test_a_file_that_is_no_text_is_a_flaw(tmp_path: Path) -> None:
    path = tmp_path / "generic" / "judge.md"
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe")
    (found,) = prompt_check.flaws(path, tmp_path, [tmp_path], USES)
    assert "cannot be read" in found.message


def test_what_is_said_to_be_given_is_given(tmp_path: Path) -> None:
    """A prompt that uses all inputs it may have is filled in by the program itself."""
    for name in (*METHOD.prompts, *SHARED):
        given = USES[name].inputs
        original = (PROMPTS / "generic" / f"{name}{SUFFIX}").read_text()
        head = original.split("+++\n")[1]
        head = "\n".join(line for line in head.split("\n") if not line.startswith("inputs"))
        inputs = ", ".join(f'"{each}"' for each in sorted(given))
        body = "".join(f"{each}: {{{{ {each} }}}}\n" for each in sorted(given))
        path = tmp_path / "generic" / f"{name}{SUFFIX}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"+++\n{head}inputs = [{inputs}]\n+++\n{body}")
    maker = RequestMaker("generic", 10_000, lambda text: len(text.split()), [tmp_path])
    for tree in ("task", "env"):
        for trajectory in (EPISODE, LOST):
            for known in ((), chain(tree, "success")):
                text = maker.request(purpose_of(tree, trajectory, known), trajectory, known).prompt
                assert all(f"{each}: " in text for each in USES["env_root"].inputs)
        assert (
            "failure: False"
            in maker.request(
                f"{tree}_consolidation", None, chain(tree, "success", "success")
            ).prompt
        )
    judge = prompts.find("generic", "judge", [tmp_path])
    text, _ = maker.episode_prompt(judge, EPISODE, {"task": block("task", EPISODE.task)})
    assert all(f"{each}: " in text for each in USES["judge"].inputs)
