"""The program as a person calls it: options anywhere, and an answer to every mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from deltamem_tui import paths
from deltamem_tui.cli import app, banks, commands
from deltamem_tui.cli.commands import COMMANDS, load_command
from deltamem_tui.cli.invocation import Invocation, SharedOptions
from deltamem_tui.cli.options import _complete_bank
from deltamem_tui.cli.result import Result
from deltamem_tui.errors import BankFrozenError

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, user folder and package of the test's own, with one bank."""
    bank = tmp_path / "memory_banks/kitchen"
    bank.mkdir(parents=True)
    (bank / paths.MANIFEST).write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(paths.BANKS_VARIABLE, "memory_banks")
    monkeypatch.setattr(paths, "_user_folder", lambda kind: tmp_path / "user")
    monkeypatch.setattr(paths, "_shipped_root", lambda: tmp_path / "package")
    return tmp_path


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(context: typer.Context) -> Result:
        """Name all banks and where they lie."""
        raise error

    monkeypatch.setattr(banks, "list_", run)


def document(capsys: Capture) -> dict[str, object]:
    captured = capsys.readouterr()
    assert captured.err == ""
    loaded = json.loads(captured.out)
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_says_what_its_line_in_the_help_says(entry: commands.CommandEntry) -> None:
    assert (load_command(entry).help or "").splitlines()[0] == entry.summary


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_parameter_of_every_command_is_explained(entry: commands.CommandEntry) -> None:
    for parameter in load_command(entry).params:
        assert getattr(parameter, "help", None), parameter.name


def test_the_help_names_every_command(capsys: Capture) -> None:
    assert app.run(["--help"]) == 0
    text = capsys.readouterr().out
    for entry in COMMANDS:
        assert f"  {entry.name} " in text
    assert text.count("--json") == 1


@pytest.mark.parametrize("words", [["list", "--help"], ["list", "-h"], ["list", "-h", "--json"]])
def test_the_help_of_a_command_names_the_shared_options(words: list[str], capsys: Capture) -> None:
    assert app.run(words) == 0
    assert "--banks DIR" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--help"], ["list", "--help"], ["-h"], []])
def test_help_is_a_document_too_where_one_is_asked_for(words: list[str], capsys: Capture) -> None:
    assert app.run(words) == 0
    plain = capsys.readouterr().out
    assert plain.startswith("Usage: deltamem")
    assert app.run([*words, "--json"]) == 0
    assert document(capsys) == {
        "command": "help",
        "status": "success",
        "data": {"help": plain.removesuffix("\n")},
        "errors": [],
    }


@pytest.mark.parametrize("words", [["--json", "list"], ["list", "--json"]])
def test_a_shared_option_stands_before_or_after_the_command(
    words: list[str], capsys: Capture, folders: Path
) -> None:
    assert app.run(words) == 0
    assert document(capsys)["data"] == {
        "folder": "memory_banks",
        "banks": [
            {"name": "kitchen", "path": "memory_banks/kitchen", "shipped": False, "method": ""}
        ],
    }


@pytest.mark.parametrize(
    "words",
    [
        ["--banks", "b", "list"],
        ["list", "--banks", "b"],
        ["list", "--banks=b"],
        ["--banks=b", "list"],
    ],
)
def test_the_banks_folder_stands_before_or_after_the_command(
    words: list[str], capsys: Capture
) -> None:
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
    assert app.run(["list", "--banks", "nope"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("shop\t")
    assert captured.err == (
        "there is no folder nope yet, so these are the banks of the package; "
        "`deltamem init NAME` makes it\n"
    )
    Path("nope").write_text("")
    assert app.run(["list", "--banks", "nope"]) == 2
    assert capsys.readouterr().err == "error: nope: this is a file, not a folder of banks\n"


def test_an_unknown_variable_is_remarked_on_once(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("DELTAMEM_MODLE", "x")
    assert app.run(["list"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("kitchen\t")
    assert captured.err.count("did you mean DELTAMEM_MODEL?") == captured.err.count("\n") == 1
    assert app.run(["list", "--json"]) == 0
    assert document(capsys)["status"] == "success"


def test_what_follows_two_dashes_is_left_alone() -> None:
    options, rest = SharedOptions.take(["recall", "--json", "kitchen", "--", "--debug"])
    assert options == SharedOptions(json=True)
    assert rest == ["recall", "kitchen", "--", "--debug"]


@pytest.mark.parametrize("words", [["list", "--banks"], ["--banks=", "list"]])
def test_a_banks_option_without_a_folder_is_a_usage_error(
    words: list[str], capsys: Capture
) -> None:
    assert app.run(words) == 2
    assert capsys.readouterr().err == "error: --banks needs a folder\n"


def test_the_version_is_that_of_the_package(capsys: Capture) -> None:
    assert app.run(["list", "--version"]) == 0
    assert capsys.readouterr().out.startswith("deltamem 0.")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["lst"], "no such command 'lst'. Did you mean 'list'?", "see `deltamem --help`"),
        (["list", "--bogus"], "no such option: --bogus", "see `deltamem list --help`"),
        (["--bogus"], "no such option: --bogus", "see `deltamem --help`"),
        (
            ["recall", "kitchen", "- heat an egg"],
            "no such option: -",
            "a text that begins with - stands at the end, after --: `deltamem recall … -- TEXT`",
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
    assert app.run(["list"]) == 2
    assert "deltamem.toml, line 1" in capsys.readouterr().err
    assert app.run(["--help"]) == 0
    assert app.run(["--version"]) == 0


def test_an_error_ends_with_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    failing(monkeypatch, BankFrozenError("is frozen", source="kitchen", hint="unfreeze it"))
    assert app.run(["list"]) == 1
    assert capsys.readouterr().err == "error: kitchen: is frozen (unfreeze it)\n"
    assert app.run(["list", "--json"]) == 1
    assert document(capsys)["command"] == "list"


def test_a_defect_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    failing(monkeypatch, ZeroDivisionError("by \x1b[2Jzero"))
    assert app.run(["list"]) == 1
    words = capsys.readouterr().err
    assert words.startswith("error: a defect of this program: ZeroDivisionError: by zero (")
    assert words.count("\n") == 1
    assert app.run(["list", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_what_the_system_refuses_is_told_with_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    failing(monkeypatch, PermissionError(13, "Permission denied", "memory_banks/kitchen"))
    assert app.run(["list"]) == 1
    assert capsys.readouterr().err == (
        "error: memory_banks/kitchen: the operating system refused: Permission denied\n"
    )


def test_an_interruption_has_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    failing(monkeypatch, KeyboardInterrupt())
    assert app.run(["list", "--json"]) == 130
    assert document(capsys)["errors"] == [{"message": "interrupted"}]


def test_a_view_that_fails_is_a_defect_too(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def run(context: typer.Context) -> Result:
        """Name all banks and where they lie."""
        return Result("list", {}, view=lambda page: page.table(("a",), [(str(1 // 0),)]))

    monkeypatch.setattr(banks, "list_", run)
    assert app.run(["list"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_command_that_returns_no_result_is_a_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def run(context: typer.Context) -> None:
        """Name all banks and where they lie."""
        assert Invocation.of(context).settings(domain="alfworld").domain == "alfworld"

    monkeypatch.setattr(banks, "list_", run)
    assert app.run(["list"]) == 1
    assert "the command list returned no result" in capsys.readouterr().err


def test_the_program_exits_with_the_code(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("sys.argv", ["deltamem", "lst"])
    with pytest.raises(SystemExit) as caught:
        app.main()
    assert caught.value.code == 2


def test_the_package_itself_is_the_program(folders: Path) -> None:
    command = [sys.executable, "-m", "deltamem_tui", "list", "--json"]
    done = subprocess.run(command, cwd=folders, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["command"] == "list"


def test_the_shell_completes_the_names_of_banks(folders: Path, capsys: Capture) -> None:
    assert _complete_bank("kit") == [("kitchen", "memory_banks/kitchen")]
    assert _complete_bank("x") == []
