"""The program as a person calls it: options anywhere, and an answer to every mistake."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from deltamem_tui import paths
from deltamem_tui.cli import app, banks, commands
from deltamem_tui.cli.commands import COMMANDS, NOUNS, load_command, renewed
from deltamem_tui.cli.invocation import Invocation, SharedOptions
from deltamem_tui.cli.options import _complete_bank
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import BankFrozenError

Capture = pytest.CaptureFixture[str]
LIST = ["bank", "list"]


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, user folder and package of the test's own, with one bank."""
    bank = tmp_path / "memory_banks/kitchen"
    bank.mkdir(parents=True)
    (bank / paths.MANIFEST).write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(paths.BANKS_VARIABLE, "memory_banks")
    monkeypatch.setattr(paths, "user_folder", lambda kind: tmp_path / "user")
    monkeypatch.setattr(paths, "shipped_folder", lambda name: tmp_path / "package" / name)
    return tmp_path


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(invocation: Invocation) -> Result:
        """Name all banks and where they are."""
        raise error

    monkeypatch.setattr(banks, "list_", run)


def document(capsys: Capture) -> dict[str, object]:
    captured = capsys.readouterr()
    assert captured.err == ""
    loaded = json.loads(captured.out)
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_has_its_summary_an_example_and_explained_parameters(
    entry: commands.CommandEntry,
) -> None:
    command = load_command(entry)
    assert entry.summary
    assert (command.help or "").splitlines()[0] == entry.summary
    assert f"Example: deltamem {entry.name}" in (command.epilog or "")
    command.make_context(entry.verb, shlex.split(entry.arguments))
    for parameter in command.params:
        assert getattr(parameter, "help", None), parameter.name


def test_the_first_page_has_the_main_path_and_the_nouns(capsys: Capture) -> None:
    assert app.run(["--help"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) < 50
    places = [text.index(f"deltamem {name} ") for name in ("init", "import", "extract", "recall")]
    assert places == sorted(places)
    assert all(f"  {noun} " in text for noun in NOUNS)
    assert app.run([]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("noun", NOUNS)
def test_the_page_of_a_noun_has_its_commands(noun: str, capsys: Capture) -> None:
    assert app.run([noun, "--help"]) == 0
    text = capsys.readouterr().out
    assert app.run([noun]) == 0
    assert capsys.readouterr().out == text
    assert all(f"  {entry.verb} " in text for entry in COMMANDS if entry.noun == noun)


@pytest.mark.parametrize("words", [[*LIST, "--help"], [*LIST, "-h"]])
def test_the_help_of_a_command_names_the_shared_options(words: list[str], capsys: Capture) -> None:
    assert app.run(words) == 0
    assert "--banks DIR" in capsys.readouterr().out


def test_required_arguments_have_no_braces(capsys: Capture) -> None:
    assert app.run(["bank", "info", "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: deltamem bank info [OPTIONS] BANK\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("list", "bank list"),
        ("tree kitchen", "node tree kitchen"),
        ("formats try a.jsonl", "episode try a.jsonl"),
        ("formats", "episode formats"),
        ("prompts", "model prompts"),
        ("prompts list", "model prompts"),
        ("hooks install codex", "agent install codex"),
        ("evaluate alfworld", "lab play alfworld"),
        ("replay kitchen", "lab replay kitchen"),
    ],
)
def test_an_old_spelling_is_understood_with_a_note(old: str, new: str) -> None:
    words, note = renewed(old.split())
    assert " ".join(words) == new
    assert note.startswith(f"`deltamem {old.split(maxsplit=1)[0]}")
    assert renewed(words) == (words, "")


def test_the_note_on_an_old_spelling_is_for_people(capsys: Capture) -> None:
    assert app.run(["list"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("bank\tmethod\tfrom\tpath\nkitchen\t")
    assert captured.err == "`deltamem list` is spelled `deltamem bank list`\n"
    assert app.run(["list", "--json"]) == 0
    assert document(capsys)["command"] == "list"


@pytest.mark.parametrize("words", [["--json", *LIST], [*LIST, "--json"]])
def test_a_shared_option_stands_anywhere(words: list[str], capsys: Capture) -> None:
    assert app.run(words) == 0
    assert document(capsys)["data"] == {
        "folder": "memory_banks",
        "banks": [
            {"name": "kitchen", "path": "memory_banks/kitchen", "shipped": False, "method": ""}
        ],
    }


@pytest.mark.parametrize("words", [["--banks", "b", *LIST], [*LIST, "--banks=b"]])
def test_the_banks_folder_is_named_anywhere(words: list[str], capsys: Capture) -> None:
    assert app.run(words) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no banks in b" in captured.err


def test_a_banks_folder_that_is_not_there_or_none_is_remarked_on(
    capsys: Capture, folders: Path
) -> None:
    shipped = folders / "package/memory_banks/shop"
    shipped.mkdir(parents=True)
    (shipped / paths.MANIFEST).write_text("{}")
    assert app.run([*LIST, "--banks", "nope"]) == 0
    captured = capsys.readouterr()
    assert "\nshop\t" in captured.out
    assert "there is no folder nope yet" in captured.err
    Path("nope").write_text("")
    assert app.run([*LIST, "--banks", "nope"]) == 2
    assert capsys.readouterr().err == "error: nope: this is a file, not a folder of banks\n"


def test_an_unknown_variable_is_remarked_on_once(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("DELTAMEM_MODLE", "x")
    assert app.run(LIST) == 0
    captured = capsys.readouterr()
    assert captured.err.count("did you mean DELTAMEM_MODEL?") == captured.err.count("\n") == 1


def test_what_follows_two_dashes_is_left_alone() -> None:
    options, rest = SharedOptions.take(["recall", "--json", "kitchen", "--", "--debug"])
    assert options == SharedOptions(json=True)
    assert rest == ["recall", "kitchen", "--", "--debug"]


def test_the_version_is_that_of_the_package(capsys: Capture) -> None:
    assert app.run([*LIST, "--version"]) == 0
    assert capsys.readouterr().out.startswith("deltamem 0.")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["inti"], "no such command 'inti'. Did you mean 'init'?", "see `deltamem --help`"),
        (
            ["bank", "lst"],
            "no such command 'lst'. Did you mean 'list'?",
            "see `deltamem bank --help`",
        ),
        ([*LIST, "--bogus"], "no such option: --bogus", "see `deltamem bank list --help`"),
        (
            ["recall", "kitchen", "- heat an egg"],
            "no such option: -",
            "put a text that begins with - at the end, after --: `deltamem recall … -- TEXT`",
        ),
    ],
)
def test_a_mistake_in_the_call_is_one_line_or_one_document(
    words: list[str], message: str, hint: str, capsys: Capture
) -> None:
    assert app.run(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"error: {message} ({hint})\n"
    assert app.run([*words, "--json"]) == 2
    assert document(capsys)["errors"] == [{"message": message, "hint": hint}]


def test_a_wrong_setting_is_a_usage_error_but_does_not_take_the_help_away(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("deltamem.toml").write_text("modle = 3\n")
    monkeypatch.setenv("DELTAMEM_CONFIG", "deltamem.toml")
    assert app.run(LIST) == 2
    assert "deltamem.toml: there is no setting" in capsys.readouterr().err
    assert app.run(["--help"]) == app.run(["--version"]) == 0


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            BankFrozenError("is frozen", source="kitchen", hint="unfreeze it"),
            "error: kitchen: is frozen (unfreeze it)\n",
        ),
        (
            PermissionError(13, "Permission denied", "memory_banks/kitchen"),
            "error: memory_banks/kitchen: the operating system refused: Permission denied\n",
        ),
        (
            ZeroDivisionError("by \x1b[2Jzero"),
            "error: a defect of this program: ZeroDivisionError: by zero (the same command with",
        ),
    ],
)
def test_an_error_is_one_line_and_has_its_traceback_with_debug(
    error: Exception, line: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    failing(monkeypatch, error)
    assert app.run(LIST) == 1
    told = capsys.readouterr().err
    assert told.startswith(line)
    assert told.count("\n") == 1
    assert app.run([*LIST, "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interruption_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    assert app.run([*LIST, "--json"]) == 130
    assert document(capsys)["errors"] == [{"message": "interrupted"}]


def test_the_package_itself_is_the_program(folders: Path) -> None:
    command = [sys.executable, "-m", "deltamem_tui", *LIST, "--json"]
    done = subprocess.run(command, cwd=folders, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["command"] == "list"
    wrong = subprocess.run([*command[:3], "lst"], cwd=folders, capture_output=True, check=False)
    assert wrong.returncode == 2


def test_the_shell_completes_the_names_of_banks(folders: Path) -> None:
    assert _complete_bank("kit") == [("kitchen", "memory_banks/kitchen")]
    assert _complete_bank("x") == []
