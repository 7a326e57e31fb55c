"""Prompt files: all that are shipped are sound, and one that is not is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.memory.deltamem.definition import METHOD
from deltamem_tui.memory.method import prompt_uses
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.library import Prompt
from deltamem_tui.memory.prompts.use import KIND, SHARED, SYSTEM, PromptUse
from tests.places import PROMPTS

SHIPPED = (PROMPTS,)
SIX = {
    "task_root_success",
    "task_root_failure",
    "task_residual_success",
    "task_residual_failure",
    "env_root",
    "env_residual",
}
MATTER = '+++\npurpose = "Try"\ninputs = ["name"]\n+++\n'


def written(
    folder: Path, text: str, name: str = "generic/try.md", use: PromptUse | None = None
) -> Prompt:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return prompts.find(path.parent.name, path.stem, [folder], use)


def test_every_prompt_that_is_asked_for_is_there() -> None:
    found = prompts.listing(SHIPPED)
    of = {where: {name for there, name in found if there == where} for where, _ in found}
    assert of["generic"] == set(prompt_uses())
    for domain in ("alfworld", "scienceworld", "webshop"):
        assert {*METHOD.prompts, *SHARED} - {KIND, SYSTEM} <= of[domain] <= of["generic"]


def test_the_published_limits_of_webshop_are_kept() -> None:
    def output(name: str) -> dict[str, int]:
        return dict(prompts.find("webshop", name, SHIPPED).output)

    assert output("task_root_success")["activation_condition"] == 30
    assert output("task_residual_success")["execution_procedure"] == 80
    assert output("task_residual_failure")["execution_procedure"] == 80
    assert output("env_residual")["execution_procedure"] == 60


def test_a_domain_without_a_prompt_takes_the_generic_one() -> None:
    prompt = prompts.find("garden", "judge", SHIPPED)
    assert (prompt.domain, prompt.path.parent.name) == ("garden", "generic")
    assert prompts.find("", "judge", SHIPPED).domain == "generic"
    assert prompts.find("../generic", "judge", SHIPPED).path == prompt.path


@pytest.mark.parametrize("name", [*sorted(SIX), "judge"])
def test_a_domain_has_its_prompts_under_all_spellings_of_its_name(name: str) -> None:
    own, spelt = (prompts.find(domain, name, SHIPPED) for domain in ("alfworld", "ALFWorld"))
    assert spelt.path == own.path
    assert spelt.digest == own.digest
    assert spelt.path != prompts.find("ALFWorlds", name, SHIPPED).path


def test_a_users_file_comes_first_and_alone(tmp_path: Path) -> None:
    own = written(tmp_path, MATTER + "Mine", "alfworld/judge.md")
    folders = (tmp_path, *SHIPPED)
    assert prompts.find("alfworld", "judge", folders).path == own.path
    assert prompts.find("webshop", "judge", folders).path.parent.parent == SHIPPED[0]


def test_the_digest_covers_what_is_included(tmp_path: Path) -> None:
    part = tmp_path / "generic" / "_part.md"
    part.parent.mkdir()
    part.write_text("one {{ name }}")
    first = written(tmp_path, MATTER + 'Hello {% include "_part.md" %}')
    assert prompts.render(first, {"name": "N"}) == "Hello one N"
    part.write_text("two {{ name }}")
    assert prompts.find("generic", "try", [tmp_path]).digest != first.digest
    own = tmp_path / "alfworld" / "_part.md"
    own.parent.mkdir()
    own.write_text("three")
    special = prompts.find("alfworld", "try", [tmp_path])
    assert prompts.render(special, {"name": "N"}) == "Hello three"


BROKEN = {
    "no front matter": ("Hello", "no front matter"),
    "not closed": ('+++\npurpose = "x"\n', "no front matter"),
    "not TOML": ("+++\npurpose = \n+++\n", "front matter is wrong: Invalid value"),
    "a flaw": ('+++\npurpose = " "\n+++\n', "front matter is wrong: .*purpose"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_front_matter_is_refused(tmp_path: Path, kind: str) -> None:
    text, reason = BROKEN[kind]
    with pytest.raises(ConfigurationError, match=reason) as caught:
        written(tmp_path, text)
    assert str(tmp_path) in str(caught.value)


TEMPLATES = {
    "unknown name": ("a\n{{ secret }}", "secret"),
    "syntax": ("a\n{{ name", "unexpected end"),
    "unknown tag": ("a\n{% run %}", "unknown tag 'run'"),
    "missing include": ('{% include "_gone.md" %}', '"_gone.md", which is not there'),
    "include from outside": ('{% include "../../secret.md" %}', "which is not there"),
    "computed include": ("{% include name %}", "includes name, which is not there"),
    "include of itself": ('{% include "try.md" %}', "includes itself"),
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_broken_template_is_refused(tmp_path: Path, kind: str) -> None:
    text, reason = TEMPLATES[kind]
    (tmp_path.parent / "secret.md").write_text("outside")
    values = {"name": "N", "secret": "not an input"}
    with pytest.raises(ConfigurationError, match=reason) as caught:
        prompts.render(written(tmp_path, MATTER + text), values)
    assert str(tmp_path / "generic" / "try.md") in str(caught.value)


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ name.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ range(10 ** 9) | list }}",
        "{{ [].append(1) }}",
        "{{ 1 / 0 }}",
    ],
)
def test_the_sandbox_holds(tmp_path: Path, attack: str) -> None:
    prompt = written(tmp_path, MATTER + attack)
    with pytest.raises(ConfigurationError):
        prompts.render(prompt, {"name": "N"})


def test_a_missing_prompt_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no prompt 'try'"):
        prompts.find("generic", "try", [tmp_path])
    with pytest.raises(ConfigurationError, match=r"did you mean judge\?"):
        prompts.find("alfworld", "jugde", SHIPPED)
