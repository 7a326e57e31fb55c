"""Neither the package nor its command line loads anything heavy before it is needed.

Each case runs in an interpreter of its own, because this one has loaded everything.
"""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("torch", "sentence_transformers", "transformers", "litellm", "sklearn"),
    *("textual", "numpy", "pydantic", "mcp"),
}
ALSO_UNWANTED_IN_HELP = {"rich", "orjson", "platformdirs"}


def modules_after(code: str, folder: Path) -> set[str]:
    script = f"import sys\n{code}\nprint('loaded:', *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder
    )
    last = done.stdout.splitlines()[-1]
    assert last.startswith("loaded: ")
    return {name.partition(".")[0] for name in last.removeprefix("loaded: ").split()}


@pytest.mark.parametrize(
    "code",
    [
        "import deltamem_tui",
        "import deltamem_tui.cli.app",
        "import deltamem_tui.config, deltamem_tui.paths; deltamem_tui.config.load()",
        "from deltamem_tui.cli.app import run; run(['--version'])",
        "from deltamem_tui.cli.app import run; run(['list'])",
        "from deltamem_tui.cli.app import run; run(['no-such-command', '--json'])",
        "from deltamem_tui.cli.commands import *; [load_command(entry) for entry in COMMANDS]",
    ],
)
def test_nothing_heavy_is_loaded(code: str, tmp_path: Path) -> None:
    loaded = modules_after(code, tmp_path)
    assert "deltamem_tui" in loaded
    assert loaded & HEAVY == set()


def test_help_loads_little_more_than_typer(tmp_path: Path) -> None:
    loaded = modules_after("from deltamem_tui.cli.app import run; run(['--help'])", tmp_path)
    assert "typer" in loaded
    assert loaded & (HEAVY | ALSO_UNWANTED_IN_HELP) == set()


@pytest.mark.parametrize("embedder", ["hashing", "minilm"])
def test_recall_loads_no_library_of_models(embedder: str, tmp_path: Path) -> None:
    code = f"""
from deltamem_tui.cli.app import run
assert run(["init", "./bank", "--embedder", "{embedder}", "--domain", "alfworld"]) == 0
assert run(["recall", "./bank", "put a mug on the shelf", "--env", "You see a shelf."]) == 0
"""
    loaded = modules_after(code, tmp_path)
    assert "numpy" in loaded
    assert loaded & (HEAVY - {"numpy"} | {"scipy"}) == set()
