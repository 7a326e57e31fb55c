"""Every flaw of a prompt file is found at once, each at its line, before a model is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.memory.deltamem.definition import METHOD
from deltamem_tui.memory.deltamem.write import purpose_of
from deltamem_tui.memory.method import prompt_uses
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.library import SUFFIX
from deltamem_tui.memory.prompts.use import SHARED
from deltamem_tui.memory.writers.model.request import RequestMaker
from tests.memory.writers.model.support import EPISODE, LOST, chain
from tests.places import PROMPTS

USES = prompt_uses()
JUDGE = """\
+++
purpose = "Judge"
inputs = ["task", "trajectory"]
output = { reasons = 50, solved = 1 }
+++
Judge {{ task }}
and {{ trajectory }}
with reasons, and whether it is solved.
"""


def flaws_of(folder: Path, text: str, name: str = "generic/judge.md") -> list[str]:
    """The flaws of one file, and nothing of the shipped ones."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    found = prompts.flaws(path, folder, [folder, PROMPTS], USES)
    assert all(flaw.source == str(path) for flaw in found)
    return [f"{flaw.position}: {flaw.message}" if flaw.position else flaw.message for flaw in found]


@pytest.mark.parametrize("path", prompts.files(PROMPTS), ids=lambda path: path.name)
def test_the_shipped_files_have_no_flaw(path: Path) -> None:
    assert prompts.flaws(path, PROMPTS, [PROMPTS], USES) == []


def test_a_sound_file_has_no_flaw(tmp_path: Path) -> None:
    assert flaws_of(tmp_path, JUDGE) == []
    assert flaws_of(tmp_path, JUDGE, "my-domain/judge.md") == []


FLAWS = {
    "no TOML": (
        JUDGE.replace('"Judge"', ""),
        "the front matter is wrong: Invalid value (at line 2",
    ),
    "an unknown key": (JUDGE.replace("purpose", "colour = 1\npurpose"), "unknown field `colour`"),
    "a wrong type": (JUDGE.replace('["task", "trajectory"]', "3"), "Expected `array`"),
    "another answer": (
        JUDGE.replace("solved = 1", "so = 1"),
        "the output must have reasons, solved",
    ),
    "syntax": (JUDGE + "{% if %}", "line 9: Expected an expression"),
    "undefined": (JUDGE + "{{ outcome }}", "uses outcome; its inputs are task, trajec"),
    "undefined in a branch": (JUDGE + "{% if task %}{{ x }}{% endif %}", "uses x"),
    "never given": (
        JUDGE.replace('"task",', '"task", "memory",') + "{{ memory }}",
        "nothing gives it 'memory'; its inputs may be environment, task, traj",
    ),
    "missing include": (
        JUDGE + '\n{% include "_gone.md" %}',
        'includes "_gone.md", which is not there',
    ),
    "computed include": (JUDGE + "{% include task %}", "includes task, which is not there"),
    "a fragment's needs": (
        JUDGE + '{% include "_episode.md" %}',
        "uses environment; its inputs are task, traj",
    ),
    "private names": (JUDGE + "{{ task.__class__ }}", "access to attribute '__class__'"),
    "a failing branch": (JUDGE + "{% if task %}{{ 1 / 0 }}{% endif %}", "division by zero"),
}


@pytest.mark.parametrize("kind", FLAWS)
def test_a_flaw_is_told(tmp_path: Path, kind: str) -> None:
    text, words = FLAWS[kind]
    found = flaws_of(tmp_path, text)
    assert found
    assert words in found[0]


def test_a_name_that_nothing_asks_for_is_a_flaw(tmp_path: Path) -> None:
    (found,) = flaws_of(tmp_path, JUDGE, "generic/jugde.md")
    assert "nothing asks for a prompt 'jugde'; did you mean judge?" in found


@pytest.mark.parametrize("name", ["judge.md", "generic/deep/judge.md", "-odd/judge.md"])
def test_a_file_in_the_wrong_place_is_a_flaw(tmp_path: Path, name: str) -> None:
    (found,) = flaws_of(tmp_path, JUDGE, name)
    assert "is in a place where no prompt is looked for" in found
    assert tmp_path / name in prompts.files(tmp_path)


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
    text, _, _ = maker.filled(judge, EPISODE, {}, {})
    assert all(f"{each}: " in text for each in USES["judge"].inputs)


def test_fragments_and_headers_are_checked_too(tmp_path: Path) -> None:
    assert flaws_of(tmp_path, "{{ task }}", "generic/_episode.md") == []
    (found,) = flaws_of(tmp_path, "\n{{ task }} {{ x }}", "generic/_episode.md")
    assert found.startswith("uses x; its inputs are ")
    text = '+++\npurpose = "x"\n+++\nRead\n{{ task }}\n'
    (found,) = flaws_of(tmp_path, text, "generic/memory_header.md")
    assert found == "uses task; its inputs are none"
