"""Banks are found by name or path; nothing escapes, and what is not found is said well."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui import paths
from deltamem_tui.errors import (
    BankCorruptError,
    BankExistsError,
    BankNotFoundError,
    StorageError,
    UsageError,
)


@pytest.fixture(autouse=True)
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, user folder and package, so that the real ones do not matter."""
    for folder in ("here", "user", "package/memory_banks"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv(paths.BANKS_VARIABLE, raising=False)
    monkeypatch.delenv(paths.SETTINGS_VARIABLE, raising=False)
    monkeypatch.setattr(paths, "user_folder", lambda kind: tmp_path / "user" / kind)
    monkeypatch.setattr(paths, "shipped_folder", lambda name: tmp_path / "package" / name)
    return tmp_path


def make_bank(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / paths.MANIFEST).write_text("{}")
    return path


def test_the_banks_folder_is_the_first_that_applies(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("memory_banks").mkdir()  # the working folder may be anybody's
    assert paths.banks_folder() == house / "user" / "data" / "memory_banks"
    monkeypatch.setenv(paths.BANKS_VARIABLE, "elsewhere")
    assert paths.banks_folder() == Path("elsewhere")
    assert paths.banks_folder("chosen") == Path("chosen")


def test_a_tilde_is_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert paths.banks_folder("~/banks") == Path("/home/somebody/banks")


def test_a_name_is_looked_up_in_the_folder_then_in_the_package(house: Path) -> None:
    make_bank(Path("kitchen"))
    with pytest.raises(BankNotFoundError):
        paths.find_bank("kitchen", house / "banks")
    shipped = make_bank(house / "package/memory_banks/kitchen")
    assert paths.find_bank("kitchen", house / "banks") == shipped
    own = make_bank(house / "banks/kitchen")
    assert paths.find_bank("kitchen", house / "banks") == own


def test_a_name_with_the_suffix_of_archives_may_be_one_here(house: Path) -> None:
    archive = Path("kitchen.deltamem")
    archive.touch()
    assert paths.find_bank("kitchen.deltamem", house / "banks") == archive
    (house / "banks").mkdir()
    (house / "banks/kitchen.deltamem").touch()
    assert paths.find_bank("kitchen.deltamem", house / "banks") == house / "banks" / archive


def test_a_path_is_taken_as_it_is(house: Path) -> None:
    make_bank(house / "banks/kitchen")
    bank = make_bank(house / "far/away/kitchen")
    assert paths.find_bank(str(bank), house / "banks") == bank
    assert paths.find_bank("../far/away/kitchen", house / "banks").samefile(bank)
    with pytest.raises(BankNotFoundError, match=r"bank\.json"):
        paths.find_bank("./kitchen", house / "banks")


def test_a_missing_bank_names_its_neighbours_and_where_it_looked(house: Path) -> None:
    make_bank(house / "banks/alfworld")
    make_bank(house / "package/memory_banks/webshop")
    with pytest.raises(BankNotFoundError) as caught:
        paths.find_bank("alfwrld", house / "banks")
    assert "'alfwrld'" in str(caught.value)
    assert "did you mean alfworld?" in str(caught.value)
    assert str(house / "banks") in str(caught.value)
    with pytest.raises(BankNotFoundError, match="deltamem bank list"):
        paths.find_bank("quite-different", house / "banks")


def test_a_folder_without_a_manifest_is_no_bank(house: Path) -> None:
    (house / "banks/kitchen").mkdir(parents=True)
    with pytest.raises(BankNotFoundError):
        paths.find_bank("kitchen", house / "banks")


@pytest.mark.parametrize("named", ["kitchen", "../banks/kitchen"])
def test_a_bank_that_lost_its_manifest_is_told_apart_from_none(house: Path, named: str) -> None:
    make_bank(house / "package/memory_banks/kitchen")  # must not be taken for it
    lost = make_bank(house / "banks/kitchen")
    (lost / "env.nodes.jsonl").write_text("")
    (lost / paths.MANIFEST).unlink()
    with pytest.raises(BankCorruptError, match=r"its bank\.json is missing \(restore") as caught:
        paths.find_bank(named, house / "banks")
    assert Path(caught.value.source or "").samefile(lost)


def test_a_file_is_no_folder_of_banks(house: Path) -> None:
    (house / "banks").write_text("")
    with pytest.raises(UsageError, match="a file, not a folder of banks"):
        paths.find_banks(house / "banks")


@pytest.mark.parametrize("name", ["../../../etc", "a/b", "Bad Dom", "", "..", "a\x1b[2J"])
def test_a_domain_is_a_plain_name_too(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a domain"):
        paths.check_name(name, "a domain")
    assert paths.check_name("küche-2", "a domain") == "küche-2"


def test_all_banks_come_sorted_and_a_users_bank_hides_a_shipped_one(house: Path) -> None:
    own = make_bank(house / "banks/webshop")
    make_bank(house / "package/memory_banks/webshop")
    shipped = make_bank(house / "package/memory_banks/alfworld")
    make_bank(house / "banks/.hidden")
    (house / "banks/notes").mkdir()
    (house / "banks/file").write_text("")
    assert paths.find_banks(house / "banks") == (
        paths.BankPlace("alfworld", shipped, shipped=True),
        paths.BankPlace("webshop", own),
    )


def test_there_are_no_banks_in_a_folder_that_is_not_there(house: Path) -> None:
    assert paths.find_banks(house / "nowhere") == ()


@pytest.mark.parametrize("name", ["alfworld", "web-shop_2", "v1.0", "küche", "台所", "a" * 100])
def test_a_plain_name_is_a_bank_name(name: str) -> None:
    assert paths.check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".hidden",
        "-json",
        "_x",
        "a b",
        "a\nb",
        "a\x1b[2Jb",
        "a\u202eb",
        "a:b",
        "a.",
        "a" * 101,
    ],
)
def test_a_name_that_could_be_more_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a bank") as caught:
        paths.check_name(name)
    assert str(caught.value).isprintable()


@given(st.text(max_size=12))
def test_no_name_leads_out_of_the_banks_folder(name: str) -> None:
    try:
        checked = paths.check_name(name)
    except UsageError:
        return
    path = Path("/banks") / checked
    assert path.parent == Path("/banks")
    assert path.resolve() == path


@pytest.mark.parametrize("bank", ["a\x00b", "./a\x00b", "x" * 5000, "./" + "x" * 5000])
def test_what_no_file_system_can_hold_is_a_clear_error(house: Path, bank: str) -> None:
    with pytest.raises((UsageError, BankNotFoundError)):
        paths.find_bank(bank, house)
    with pytest.raises((UsageError, StorageError)):
        paths.new_bank_path(bank, house)


@pytest.mark.parametrize("folder", ["x" * 5000, "far/" + "x" * 5000])
def test_a_folder_that_no_file_system_can_hold_is_a_clear_error(folder: str) -> None:
    with pytest.raises(StorageError, match="too long"):
        paths.find_banks(Path(folder))
    with pytest.raises(StorageError, match="too long"):
        paths.new_bank_path("kitchen", Path(folder))
    with pytest.raises(StorageError, match="too long"):
        paths.new_bank_path(f"{folder}/kitchen", Path("banks"))


def test_a_new_bank_lies_where_nothing_lies(house: Path) -> None:
    assert paths.new_bank_path("kitchen", house / "banks") == house / "banks/kitchen"
    assert paths.new_bank_path("../kitchen", house / "banks") == Path("../kitchen")
    (house / "banks/empty").mkdir(parents=True)
    assert paths.new_bank_path("empty", house / "banks") == house / "banks/empty"
    make_bank(house / "banks/kitchen")
    with pytest.raises(BankExistsError, match="already"):
        paths.new_bank_path("kitchen", house / "banks")
    with pytest.raises(UsageError):
        paths.new_bank_path("../two words", house / "banks")
    with pytest.raises(UsageError):
        paths.new_bank_path("..", house / "banks")


def test_prompts_of_the_user_come_before_those_of_the_package(house: Path) -> None:
    (house / "package/prompts").mkdir()
    Path("prompts").mkdir()
    assert paths.prompt_folders() == (house / "package/prompts",)
    (house / "user/config/prompts").mkdir(parents=True)
    assert paths.prompt_folders() == (house / "user/config/prompts", house / "package/prompts")


def test_settings_are_the_users_unless_others_are_named(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("deltamem.toml").write_text("")
    assert paths.settings_file() is None
    (house / "user/config").mkdir()
    (house / "user/config/deltamem.toml").write_text("")
    assert paths.settings_file() == house / "user/config/deltamem.toml"
    monkeypatch.setenv(paths.SETTINGS_VARIABLE, "deltamem.toml")
    assert paths.settings_file() == Path("deltamem.toml")


@pytest.fixture
def real_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()


@pytest.mark.usefixtures("real_places")
def test_banks_and_prompts_of_the_package_are_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths.shipped_folder("memory_banks").is_dir()
    assert paths.prompt_folders()[-1].name == "prompts"


@pytest.mark.usefixtures("real_places")
def test_the_users_folder_is_the_one_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(paths.BANKS_VARIABLE, raising=False)
    folder = paths.banks_folder()
    assert folder.is_absolute()
    assert folder.parent.name == paths.APPLICATION


def test_a_folder_that_cannot_be_read_is_a_storage_error(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(StorageError, match="Permission denied") as caught:
        paths.find_banks(house)
    assert caught.value.source == str(house / "package/memory_banks")
