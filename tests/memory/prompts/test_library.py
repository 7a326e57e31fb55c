"""Prompt files: all that are shipped are sound, and one that is not is refused with its place."""

from __future__ import annotations

import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from deltamem_tui.errors import ConfigurationError
from deltamem_tui.memory.context import header
from deltamem_tui.memory.deltamem.definition import METHOD
from deltamem_tui.memory.methods import prompt_uses
from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.file import LIMIT, Prompt
from deltamem_tui.memory.prompts.use import KIND, SHARED, PromptUse
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
        assert {*METHOD.prompts, *SHARED} - {KIND} <= of[domain] <= of["generic"]


@pytest.mark.parametrize(("domain", "name"), prompts.listing(SHIPPED))
def test_every_shipped_prompt_is_sound(domain: str, name: str) -> None:
    prompt = prompts.find(domain, name, SHIPPED)
    values: dict[str, object] = {key: f"<{key}>" for key in prompt.inputs}
    values |= {"words": prompt.output}
    for flag in (True, False):
        text = prompts.render(prompt, values | {"may_skip": flag, "failure": flag}, SHIPPED)
        assert text
        for key in set(prompt.inputs) - {"words", "may_skip", "failure"}:
            assert text.count(f"<{key}>") == 1
        for field in prompt.output:
            assert field in text
    for marker in prompt.markers:
        assert f"`{marker}`" in prompt.body
    if name in METHOD.prompts:
        assert prompt.skip == ("residual" in name)


def test_all_digests_differ() -> None:
    own = [prompts.find(*key, SHIPPED) for key in prompts.listing(SHIPPED)]
    digests = {prompts.digest(prompt, SHIPPED) for prompt in own}
    assert len(digests) == len(own)
    assert all(len(digest) == 16 for digest in digests)


def test_the_published_limits_of_webshop_are_kept() -> None:
    def output(name: str) -> dict[str, int]:
        return dict(prompts.find("webshop", name, SHIPPED).output)

    assert output("task_root_success")["activation_condition"] == 30
    assert output("task_residual_success")["execution_procedure"] == 80
    assert output("task_residual_failure")["execution_procedure"] == 80
    assert output("env_residual")["execution_procedure"] == 60


def test_a_domain_without_a_prompt_takes_the_generic_one() -> None:
    prompt = prompts.find("garden", "judge", SHIPPED)
    assert (prompt.domain, prompt.shared) == ("garden", True)
    assert prompts.find("alfworld", "env_root", SHIPPED).shared is False
    assert prompts.find("", "judge", SHIPPED).domain == "generic"
    assert prompts.find("../generic", "judge", SHIPPED).shared


@pytest.mark.parametrize("name", [*sorted(SIX), "judge"])
def test_a_domain_has_its_prompts_under_all_spellings_of_its_name(name: str) -> None:
    own, spelt = (prompts.find(domain, name, SHIPPED) for domain in ("alfworld", "ALFWorld"))
    assert (spelt.path, spelt.shared) == (own.path, False)
    assert prompts.digest(spelt, SHIPPED) == prompts.digest(own, SHIPPED)
    assert spelt.path != prompts.find("ALFWorlds", name, SHIPPED).path


def test_a_folder_of_the_very_name_goes_before_another_spelling(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    if (tmp_path / "X").exists():
        pytest.skip("the file system minds no capitals")
    for folder in ("Maze", "maze"):
        written(tmp_path, MATTER + folder, f"{folder}/try.md")
    written(tmp_path, MATTER + "own", "ALFWorld/try.md")
    found = {name: prompts.find(name, "try", [tmp_path]).body for name in ("Maze", "maze", "MAZE")}
    assert found == {"Maze": "Maze", "maze": "maze", "MAZE": "Maze"}
    for name in ("alfworld", "ALFWorld"):  # a user's folder goes before the package's
        assert prompts.find(name, "try", [tmp_path, *SHIPPED]).body == "own"


def test_a_users_file_comes_first_and_alone(tmp_path: Path) -> None:
    own = written(tmp_path, MATTER + "Mine", "alfworld/judge.md")
    folders = (tmp_path, *SHIPPED)
    assert prompts.find("alfworld", "judge", folders).path == own.path
    assert prompts.find("webshop", "judge", folders).path.parent.parent == SHIPPED[0]


def test_the_digest_covers_what_is_included(tmp_path: Path) -> None:
    prompt = written(tmp_path, MATTER + 'Hello {% include "_part.md" %}')
    part = tmp_path / "generic" / "_part.md"
    part.write_text("one {{ name }}")
    first = prompts.digest(prompt, [tmp_path])
    assert prompts.render(prompt, {"name": "N"}, [tmp_path]) == "Hello one N"
    part.write_text("two {{ name }}")
    assert prompts.digest(prompt, [tmp_path]) != first
    own = tmp_path / "alfworld" / "_part.md"
    own.parent.mkdir()
    own.write_text("three")
    special = prompts.find("alfworld", "try", [tmp_path])
    assert prompts.render(special, {"name": "N"}, [tmp_path]) == "Hello three"


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    import os

    prompt = written(tmp_path, MATTER + "one")
    prompt.path.write_text(MATTER + "two")
    os.utime(prompt.path, ns=(1, 1))
    assert prompts.find("generic", "try", [tmp_path]).body == "two"


def test_values_are_not_templates(tmp_path: Path) -> None:
    prompt = written(tmp_path, MATTER + "Say {{ name }}")
    assert prompts.render(prompt, {"name": "{{ 7 * 7 }}<b>"}, [tmp_path]) == "Say {{ 7 * 7 }}<b>"


BROKEN = {
    "no front matter": ("Hello", "no front matter"),
    "not closed": ('+++\npurpose = "x"\n', "no front matter"),
    "not TOML": ("+++\npurpose = \n+++\n", "not TOML"),
    "a flaw": ('+++\npurpose = " "\n+++\n', "no purpose"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_front_matter_is_refused(tmp_path: Path, kind: str) -> None:
    text, reason = BROKEN[kind]
    with pytest.raises(ConfigurationError, match=reason) as caught:
        written(tmp_path, text)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("matter", ["", "output = { words = 3 }\n"])
@pytest.mark.parametrize(
    ("name", "field"), [("env_root", "activation_condition"), ("environment", "environment")]
)
def test_a_prompt_must_ask_for_what_its_answer_is_read_as(
    tmp_path: Path, name: str, field: str, matter: str
) -> None:
    use = prompt_uses()[name]
    with pytest.raises(ConfigurationError, match=f"the output must have {field}"):
        written(tmp_path, f'+++\npurpose = "x"\n{matter}+++\n', f"generic/{name}.md", use)


TEMPLATES = {
    "unknown name": ("a\n{{ secret }}", "secret"),
    "syntax": ("a\n{{ name", "unexpected end"),
    "unknown tag": ("a\n{% run %}", "unknown tag 'run'"),
    "missing include": ('{% include "_gone.md" %}', "'_gone.md', which is not there"),
    "include from outside": ('{% include "../../secret.md" %}', "which is not there"),
    "computed include": ("{% include name %}", "not written out"),
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_a_broken_template_is_refused(tmp_path: Path, kind: str) -> None:
    text, reason = TEMPLATES[kind]
    prompt = written(tmp_path, MATTER + text)
    (tmp_path.parent / "secret.md").write_text("outside")
    values = {"name": "N", "secret": "not an input"}
    with pytest.raises(ConfigurationError, match=reason) as caught:
        prompts.render(prompt, values, [tmp_path])
    first = "include" in kind
    assert caught.value.position == f"line {5 if first else 6}"


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
        prompts.render(prompt, {"name": "N"}, [tmp_path])


NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}X{% endfor %}{% endfor %}"
ENDLESS = {
    "loops in loops": NESTED.replace("X", ""),
    "a loop in a loop that writes": NESTED.replace("X", "x" * 999),
    "a macro that calls itself twice": (
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}"
    ),
    "a recursive loop": ("{% for x in range(9999) recursive %}{{ loop(range(9999)) }}{% endfor %}"),
    "a file that includes itself": '{% include "try.md" %}{% include "try.md" %}',
    "a text that doubles": (
        "{% set a = namespace(b='x') %}{% for _ in range(60) %}"
        "{% set a.b = a.b ~ a.b %}{% endfor %}"
    ),
    "a list that doubles": (
        "{% set a = namespace(b=['x']) %}{% for _ in range(60) %}"
        "{% set a.b = a.b + a.b %}{% endfor %}"
    ),
    "a power of a power": "{{ 10 ** (10 ** 9) }}",
    "a long text": "{{ 'x' * 10 ** 12 }}",
}


FILLING = """
import sys
from pathlib import Path
from deltamem_tui.errors import ConfigurationError
from deltamem_tui.memory.prompts import library as prompts
for path in sorted(Path(sys.argv[1]).iterdir()):
    print(path.name, end=" ", flush=True)
    try:
        prompts.render(prompts.find("generic", "try", [path]), {}, [path])
    except ConfigurationError as error:
        print(error.position, flush=True)
"""


def test_a_prompt_comes_to_an_end(tmp_path: Path) -> None:
    """In a process of its own, which the system ends where a prompt has no end."""
    for number, text in enumerate(ENDLESS.values()):
        written(tmp_path / str(number), MATTER + text)
    command = [sys.executable, "-c", FILLING, str(tmp_path)]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=thirty_seconds
    )
    refused = dict(line.split(" ", 1) for line in ended.stdout.splitlines())
    assert [*refused] == [str(number) for number in range(len(ENDLESS))]
    assert set(refused.values()) == {"line 5", "None"}  # the length of all has no line


def thirty_seconds() -> None:
    """Of the processor's time, and no more memory than a prompt has a use for."""
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
    resource.setrlimit(resource.RLIMIT_AS, (2 * 1024**3, 2 * 1024**3))


def test_a_loop_that_ends_is_a_loop(tmp_path: Path) -> None:
    text = "{% for x in name if x != 'b' %}{{ loop.index }}{{ x ~ 1 }}{{ loop.last }} {% endfor %}"
    prompt = written(tmp_path, MATTER + text)
    assert prompts.render(prompt, {"name": "abc"}, [tmp_path]) == "1a1False 2c1True"


def test_a_giant_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="longer than"):
        written(tmp_path, MATTER + "x" * LIMIT)


def test_a_missing_prompt_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no prompt 'try'"):
        prompts.find("generic", "try", [tmp_path])
    with pytest.raises(ConfigurationError, match=r"did you mean judge\?"):
        prompts.find("alfworld", "jugde", SHIPPED)


def test_headers_are_free_of_front_matter() -> None:
    for domain in ("alfworld", "scienceworld", "webshop", "generic", "elsewhere"):
        text = header(domain)
        assert text.startswith(("What follows was learnt", "Learnt from past tasks"))
        assert "+++" not in text


def test_front_matter_is_toml_that_others_can_read() -> None:
    for path in SHIPPED[0].glob("*/[!_]*.md"):
        head = path.read_text().split("+++\n")[1]
        assert tomllib.loads(head)["purpose"]
