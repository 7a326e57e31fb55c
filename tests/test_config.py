"""Settings come in layers, know where they came from, and are never wrong in silence."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui import config, paths
from deltamem_tui.config import Configuration
from deltamem_tui.errors import ConfigurationError


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder without settings, in which we are."""
    (tmp_path / "user").mkdir()
    monkeypatch.chdir(tmp_path / "user")
    monkeypatch.delenv(paths.SETTINGS_VARIABLE, raising=False)
    monkeypatch.setattr(paths, "user_folder", lambda kind: Path())
    return tmp_path


def written(text: str) -> Path:
    file = Path(paths.SETTINGS_FILE)
    file.write_text(text, encoding="utf-8")
    return file


def error_of(text: str) -> ConfigurationError:
    written(text)
    with pytest.raises(ConfigurationError) as caught:
        config.load({})
    assert caught.value.source == paths.SETTINGS_FILE
    return caught.value


def test_without_settings_there_are_defaults() -> None:
    configuration = config.load({})
    assert configuration == Configuration()
    assert configuration.embedder == "minilm"


def test_each_layer_overrules_the_one_before() -> None:
    written('model = "a"\ndomain = "a"\ntheme = "a"\n')
    environment = {"DELTAMEM_DOMAIN": "c", "DELTAMEM_THEME": "c", "DELTAMEM_MODEL": ""}
    configuration = config.load(environment).with_flags(theme="d", domain=None)
    assert (configuration.model, configuration.embedder) == ("a", "minilm")
    assert (configuration.domain, configuration.theme) == ("c", "d")


def test_the_environment_of_the_process_is_the_one_that_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DELTAMEM_MODEL", "openai/x")
    assert config.load().model == "openai/x"


def test_a_banks_folder_is_relative_to_the_file_that_names_it(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written('banks = "banks"\n')
    monkeypatch.setenv(paths.SETTINGS_VARIABLE, str(folders / "user" / paths.SETTINGS_FILE))
    assert config.load({}).banks == folders / "user/banks"
    assert config.load({"DELTAMEM_BANKS": "banks"}).banks == Path("banks")


def test_a_folder_of_prompts_comes_before_the_usual_ones(folders: Path) -> None:
    own = folders / "user" / "ours"
    written('prompts = "ours"\n')
    settings = config.load({})
    with pytest.raises(ConfigurationError, match="ours: there is no folder"):
        settings.prompt_folders()
    own.mkdir()
    assert settings.prompt_folders() == (Path("ours"), *paths.prompt_folders())
    assert config.load({"DELTAMEM_PROMPTS": str(own)}).prompt_folders()[0] == own
    flagged = settings.with_flags(prompts=str(folders))
    assert flagged.prompt_folders()[0] == folders


def test_without_a_folder_of_prompts_there_are_the_usual_ones() -> None:
    assert config.load({}).prompt_folders() == paths.prompt_folders()


def test_the_numbers_of_a_model_are_of_that_model_alone() -> None:
    address = 'api_base = "http://localhost:1/v1"\n'
    written(
        f'model = "openai/own"\n{address}window = 16000\nanswer_tokens = 900\nprice = "0.25/2"\n'
    )
    configuration = config.load({})
    stated = configuration.stated()
    assert (stated.window, stated.answer_tokens, stated.price) == (16_000, 900, (0.25e-6, 2e-6))
    assert config.load({"DELTAMEM_WINDOW": "8000"}).stated().window == 8000
    assert configuration.with_flags(model="openai/own", window=901).stated().window == 901
    for other in (configuration.with_flags(model="x"), config.load({"DELTAMEM_MODEL": "x"})):
        assert (other.stated(), other.api_base) == (config.StatedNumbers(), None)
    assert configuration.with_flags(model="openai/own").api_base == "http://localhost:1/v1"
    assert configuration.with_flags(model="x", price="0/0").stated().price == (0, 0)
    with pytest.raises(ConfigurationError, match="answers of 900 tokens fill a window of 900"):
        config.load({"DELTAMEM_WINDOW": "900"}).stated()
    with pytest.raises(ConfigurationError, match=r"--price: price must be IN/OUT, .* not '2'"):
        configuration.with_flags(price="2")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "true", '"many"', '""'])
def test_a_number_of_tokens_is_one(text: str) -> None:
    assert "must be a number of tokens" in error_of(f"window = {text}\n").message


def test_keys_are_a_table() -> None:
    written('[keys]\nfilter = "ctrl+f"\n')
    assert config.load({}).keys == {"filter": "ctrl+f"}


def test_an_unknown_key_names_the_nearest() -> None:
    error = error_of('model = "x"\nembeder = "minilm"\n')
    assert "'embeder'" in error.message
    assert "did you mean embedder?" in (error.hint or "")


def test_an_unknown_table_is_an_unknown_key() -> None:
    assert "did you mean keys?" in (error_of('[key]\nsearch = "x"\n').hint or "")


def test_an_unknown_variable_is_remarked_on_with_the_nearest_and_stops_nothing() -> None:
    variables = {"DELTAMEM_MODLE": "x", "DELTAMEM_DOMAIN": "go", "DELTAMEM_GAMES": "/", "PATH": "/"}
    found = config.load(variables)
    (remark,) = found.remarks
    assert remark == (
        "DELTAMEM_MODLE in the environment is not a setting; did you mean DELTAMEM_MODEL?"
    )
    assert found.domain == "go"
    assert config.load({"DELTAMEM_MODEL": "x", "DELTAMEM_": "", "DELTA": "y"}).remarks == ()
    assert found.with_flags(model="y").remarks == found.remarks


@pytest.mark.parametrize("value", ["3", "true", "[]", "{}", "2020-01-01", '""', '"  "'])
def test_a_value_of_the_wrong_type_is_shown(value: str) -> None:
    assert error_of(f"\nmodel = {value}\n").message.startswith("model must be text, not '")


def test_the_home_of_no_user_is_told() -> None:
    error = error_of('banks = "~nouser/x"\n')
    assert (error.message, error.source) == ("there is no such user: '~nouser/x'", "deltamem.toml")


def test_wrong_keys_are_named() -> None:
    for text in ('keys = "ctrl+f"\n', "[keys]\nsearch = 3\n"):
        assert "keys must be a table [keys] of action = 'key', not" in error_of(text).message


def test_what_is_not_toml_in_utf8_says_where() -> None:
    message = error_of('model = "x"\ntheme = \n').message
    assert message == "is not TOML in UTF-8: Invalid value (at line 2, column 9)"
    assert "recursion" in error_of("model = " + "[" * 100_000).message
    Path(paths.SETTINGS_FILE).write_bytes(b'model = "\xff"')
    with pytest.raises(ConfigurationError, match="position 9"):
        config.load({})


@given(st.text(max_size=40))
def test_any_text_is_settings_or_a_configuration_error(text: str) -> None:
    written(text.encode("utf-8", "ignore").decode())
    complaints = []
    try:
        config.load({})
    except ConfigurationError as error:
        complaints.append(error)
    assert all("\n" not in str(error) for error in complaints)
    assert all(error.source == paths.SETTINGS_FILE for error in complaints)
