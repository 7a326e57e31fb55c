"""The episodes screen: what was given, what became of it, outcomes, import and extraction."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.cli import app as cli
from deltamem_tui.memory.episodes.intake import take_in
from deltamem_tui.memory.episodes.kept import episode, episodes
from deltamem_tui.memory.episodes.verdict import give_outcome
from deltamem_tui.memory.extraction import Extraction
from deltamem_tui.memory.learn import learn
from deltamem_tui.memory.opening import create_bank
from deltamem_tui.memory.rules import RulesExtractor
from deltamem_tui.trajectory.model import Outcome, Step
from deltamem_tui.trajectory.readers import reading
from deltamem_tui.trajectory.readers.native import from_record, to_record
from deltamem_tui.tui import visiting
from deltamem_tui.tui.jobs import importing
from deltamem_tui.tui.screens.episodes import EpisodesScreen
from deltamem_tui.tui.screens.trees import TreesScreen
from deltamem_tui.tui.widgets.bars import WorkBar
from deltamem_tui.tui.widgets.episode_list import EpisodeList
from deltamem_tui.tui.widgets.text_pane import TextPane
from tests.cli.support import heat
from tests.cli.support import write_log as write_records
from tests.trajectory.readers.log_files import lines
from tests.trajectory.readers.test_branches import claude
from tests.tui.support import LEARNT, READY, UNSAID, Person, bare_bank, browse, trajectory


def pane(person: Person, name: str) -> str:
    sections = person.app.screen.query_one(f"#{name}", TextPane).sections
    return "\n".join(f"{each.title}\n{each.body}" for each in sections)


def test_episodes_with_their_outcome_and_nodes(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3")
        assert isinstance(person.app.screen, EpisodesScreen)
        assert "3 episodes · 2 waiting" in person.screen
        assert f"Episode {LEARNT.id}" in pane(person, "steps")
        assert "1  go to fridge 1\nThe fridge 1 is closed." not in pane(person, "steps")
        assert "1  go to fridge 1\n→ The fridge 1 is closed." in pane(person, "steps")
        assert "task root" in pane(person, "node")
        await person.press("n")
        assert "heat some object with a broken microwave" in pane(person, "node")
        await person.press("enter")
        assert isinstance(person.app.screen, TreesScreen)
        assert person.node.payload.activation_condition.endswith("broken microwave")

    browse(folder, story, "kitchen", size=(120, 40))


def test_of_an_episode_of_many_steps_the_pane_shows_the_first_and_the_last(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key is answered at once; the pager and the clipboard get every step."""
    steps = tuple(Step(f"go to fridge {number}", "It is closed.") for number in range(1, 3001))
    long = replace(trajectory("open all fridges"), steps=steps)
    take_in(Bank.open(folder / "kitchen"), [long])
    copied: list[str] = []

    async def story(person: Person) -> None:
        monkeypatch.setattr(person.app, "copy", copied.append)
        await person.press("3", "G")
        shown = person.app.screen.query_one("#steps", TextPane).sections
        assert len([each for each in shown if "go to fridge" in each.title]) == 500
        assert "400  go to fridge 400\n→ It is closed." in pane(person, "steps")
        assert "… 2,500 steps left out here: press v to read all" in pane(person, "steps")
        assert shown[-100].title == "2901  go to fridge 2901"
        await person.press("y")
        await person.press("tab", "y")
        assert copied[0] == copied[1]
        assert copied[0].count("go to fridge") == 3000

    browse(folder, story, "kitchen")


def test_without_episodes_a_bank_says_what_can_be_done(folder: Path) -> None:
    bare_bank(folder / "bare")
    bare_bank(folder / "ice").freeze()

    def story_of(words: str, tree_words: str) -> Callable[[Person], Awaitable[None]]:
        async def story(person: Person) -> None:
            assert tree_words in person.screen
            await person.press("3")
            assert pane(person, "steps").strip() == words

        return story

    words = "This bank has no episodes."
    browse(folder, story_of(f"{words} Press i to import some from logs.", "Press 3"), "bare")
    browse(folder, story_of(words, "the bank is frozen: nothing is learnt"), "ice")


def tasks(person: Person) -> list[str]:
    """The tasks of the episodes that are listed."""
    book = person.app.screen.query_one(EpisodeList).book
    assert book is not None
    return [book.trajectory(number).task for number in range(len(book))]


def test_episodes_are_filtered_and_sorted_as_the_nodes_are(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "G", "slash")
        assert "outcome:unknown" in " ".join(person.screen.split())
        await person.write("outcome:unknown")
        assert "3 episodes · 2 waiting · 1 fit the filter" in person.screen
        await person.press("enter")
        assert tasks(person) == [UNSAID.task]
        assert f"Episode {UNSAID.id}" in pane(person, "steps")
        await person.press("plus")
        assert "is a success, you say" in person.said[-1]
        assert tasks(person) == []
        assert "No episode fits the filter." in pane(person, "steps")
        await person.press("escape")
        assert tasks(person) == [LEARNT.task, READY.task, UNSAID.task]
        await person.press("s")
        assert tasks(person) == [UNSAID.task, READY.task, LEARNT.task]
        assert "3 episodes · 1 waiting · by newest" not in person.screen
        assert "· by newest" in person.screen
        await person.press("slash")
        await person.write("is:lurnt")
        assert "✗ is: there is no 'lurnt'" in person.screen
        await person.press("escape")
        assert "by newest" in person.screen
        assert isinstance(person.app.screen, EpisodesScreen)

    browse(folder, story, "kitchen")


def test_an_outcome_is_given_to_an_episode_without_one(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "G")
        for key, success in (("plus", True), ("minus", False)):
            await person.press(key)
            assert "you say" in person.said[-1]
            assert person.app.screen.query_one(EpisodeList).cursor == 2
            bank = Bank.open(folder / "kitchen")
            outcome = from_record(bank.episodes.record(UNSAID.id) or {}).outcome
            assert (outcome.success, outcome.source) == (success, "user")
            assert bank.episodes.state(UNSAID.id) == EpisodeState.WAITING

    browse(folder, story, "kitchen")


def cursor_on(person: Person) -> str:
    """The task of the episode under the cursor."""
    return tasks(person)[person.app.screen.query_one(EpisodeList).cursor]


def test_of_those_that_wait_the_next_one_is_judged_next_and_the_last_word_taken_back(
    folder: Path,
) -> None:
    """A row leaves the filter by what is said of it; what the note promises holds for it."""
    waiting = [trajectory(f"heat egg {number}") for number in range(4)]
    take_in(Bank.open(folder / "kitchen"), waiting)

    def outcomes() -> list[bool | None]:
        bank = Bank.open(folder / "kitchen")
        found = [episode(bank, each.id) for each in waiting]
        return [each.outcome.success for each in found if each]

    async def story(person: Person) -> None:
        await person.press("3", "slash")
        await person.write("outcome:unknown")
        await person.press("enter", "j", "j")
        assert tasks(person) == [UNSAID.task, *(f"heat egg {number}" for number in range(4))]
        await person.press("plus")
        assert outcomes() == [None, True, None, None]
        assert cursor_on(person) == "heat egg 2"
        await person.press("minus")
        assert outcomes() == [None, True, False, None]
        assert cursor_on(person) == "heat egg 3"
        await person.press("plus")
        assert cursor_on(person) == "heat egg 0"  # behind the last row there is none
        await person.press("k", "u")
        assert person.said[-1].startswith(f"{waiting[3].id} is as before: outcome unknown")
        assert cursor_on(person) == "heat egg 3"
        assert outcomes() == [None, True, False, None]
        await person.press("u")
        assert person.said[-1].startswith(f"{waiting[2].id} is as before")
        assert cursor_on(person) == "heat egg 2"
        for key in ("plus", "u", "u"):
            await person.press(key)
        assert outcomes() == [None, None, None, None]
        assert cursor_on(person) == "heat egg 1"
        await person.press("u")
        assert f"{waiting[1].id}: you said nothing of it" in person.said[-1]

    browse(folder, story, "kitchen", size=(120, 40))


def test_what_was_said_of_the_only_row_is_taken_back(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "slash")
        await person.write("outcome:unknown")
        await person.press("enter", "minus")
        assert tasks(person) == []
        await person.press("u")
        assert person.said[-1].startswith(f"{UNSAID.id} is as before")
        assert tasks(person) == [UNSAID.task]

    browse(folder, story, "kitchen")


def test_what_cannot_be_taken_back_does_not_hide_what_was_said_before(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "minus")
        await person.press("j", "plus")
        give_outcome(Bank.open(folder / "kitchen"), READY.id, success=False)
        await person.press("u")
        assert f"{READY.id}: its outcome is failure" in person.said[-1]
        await person.press("u")
        assert person.said[-1] == f"{LEARNT.id} is as before: success (source: stated)"

    browse(folder, story, "kitchen")


def test_what_the_log_stated_is_taken_back_word_by_word(folder: Path) -> None:
    stated = replace(
        trajectory("wash the pan"), outcome=Outcome(False, 0.0, "stated", "step_limit")
    )
    take_in(Bank.open(folder / "kitchen"), [stated])

    async def story(person: Person) -> None:
        await person.press("3", "G")
        before = pane(person, "steps")
        assert "failure (source: stated) · reward 0 · step_limit" in before
        await person.press("plus")
        assert person.said[-1] == f"{stated.id} is a success, you say; u takes it back"
        await person.press("minus")
        assert "failure (source: user) · " in pane(person, "steps")
        await person.press("u")
        assert person.said[-1] == f"{stated.id} is as before: success (source: user)"
        await person.press("u")
        assert pane(person, "steps") == before
        assert person.said[-1].endswith("failure (source: stated) · reward 0 · step_limit")
        await person.press("u")
        assert "nothing of it that is left to take back" in person.said[-1]
        assert pane(person, "steps") == before

    browse(folder, story, "kitchen", size=(120, 40))


def test_what_another_process_said_since_is_not_taken_back_unseen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visiting, "_LOOK_SECONDS", 3_600.0)
    bank = Bank.open(folder / "kitchen")

    async def story(person: Person) -> None:
        await person.press("3", "j", "minus")
        assert person.said[-1].startswith(f"{READY.id} is a failure, you say")
        give_outcome(Bank.open(bank.path), READY.id, success=True)
        await person.press("u")
        assert (
            f"{READY.id}: its outcome is success (source: user) by now, which stays"
            in person.said[-1]
        )
        known = episode(Bank.open(bank.path), READY.id)
        assert known is not None
        assert known.outcome == Outcome(True, None, "user")
        await person.press("u")  # the refusal was the reason to look: it is seen by now
        assert person.said[-1] == f"{READY.id} is as before: failure (source: user)"

    browse(folder, story, "kitchen")


def test_what_was_learnt_from_is_not_taken_back(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "G", "plus", "E", "enter")
        assert person.said[-1].startswith("learnt 2 episodes")
        await person.press("u")
        assert "was learnt from as a success since, which stays" in person.said[-1]
        await person.press("minus", "u")
        assert person.said[-1] == f"{UNSAID.id} is as before: success (source: user)"

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    kept = from_record(bank.episodes.record(UNSAID.id) or {}).outcome
    assert kept == Outcome(True, None, "user")
    assert bank.episodes.state(UNSAID.id) == EpisodeState.LEARNT


def test_correcting_a_learnt_episode_keeps_it_learnt(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "minus")
        assert "labels stay as they are (9 nodes)" in person.said[-1]

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    assert bank.episodes.state(LEARNT.id) == EpisodeState.LEARNT
    assert from_record(bank.episodes.record(LEARNT.id) or {}).outcome.success is False


def test_nothing_is_written_to_a_frozen_bank(folder: Path) -> None:
    Bank.open(folder / "kitchen").freeze()

    async def story(person: Person) -> None:
        await person.press("3")
        for number, key in enumerate(("plus", "minus", "u", "i", "E"), start=1):
            await person.press(key)
            assert len(person.said) == number
            assert "the bank is frozen" in person.said[-1]
            assert isinstance(person.app.screen, EpisodesScreen)

    browse(folder, story, "kitchen")


def write_log(file: Path, count: int) -> Path:
    episodes = [
        trajectory(f"put egg {number} in the sink", success=True) for number in range(count)
    ]
    file.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in episodes))
    return file


def test_import_from_a_log(folder: Path, tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", 4)

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == "imported 4 episodes (read as native, of alfworld)"
        assert "7 episodes · 6 waiting" in person.screen
        await person.press("i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == (
            "imported 0 episodes (read as native, of alfworld), 4 known already"
        )

    browse(folder, story, "kitchen")


@pytest.mark.parametrize(
    ("bank_domain", "log_domain", "kept", "said"),
    [
        ("alfworld", "", "alfworld", "(read as native, of alfworld)"),
        (
            "alfworld",
            "scienceworld",
            "scienceworld",
            "(read as native, of scienceworld, while the bank is of alfworld)",
        ),
        ("generic", "webshop", "webshop", "(read as native, of webshop)"),
        ("generic", "", "", "(read as native)"),
    ],
)
def test_an_imported_episode_has_the_domain_of_its_bank_unless_its_log_names_another(
    tmp_path: Path, bank_domain: str, log_domain: str, kept: str, said: str
) -> None:
    create_bank(tmp_path / "bank", embedder="hashing", domain=bank_domain)
    log = tmp_path / "log.jsonl"
    told = replace(trajectory("wash the pan", success=True), domain=log_domain)
    log.write_bytes(orjson.dumps(to_record(told)) + b"\n")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        if "while the bank is of" in said:
            assert (
                f"Import episodes of {log_domain} too? bank is of {bank_domain}." in person.screen
            )
            await person.press("n")
            assert person.said[-1] == f"nothing was imported: the first is of {log_domain}"
            assert len(Bank.open(tmp_path / "bank").episodes) == 0
            await person.press("i")
            await person.write(str(log))
            await person.press("enter", "y")
        assert person.said[-1] == f"imported 1 episode {said}"

    browse(tmp_path, story, "bank")
    (found,) = episodes(Bank.open(tmp_path / "bank"))
    assert found.domain == kept


@pytest.mark.parametrize("named", ["", "town", "ALFWorld"])
def test_the_browser_learns_of_a_log_what_the_program_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """An episode's domain decides how the rules read it."""
    log = tmp_path / "log.jsonl"
    write_records(log, [heat("egg") | {"domain": named}])
    for name in ("pressed", "typed"):
        create_bank(tmp_path / name, embedder="hashing", domain="alfworld")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter", *("y" if named == "town" else ""))
        assert person.said[-1].startswith("imported 1 episode")

    browse(tmp_path, story, "pressed")
    monkeypatch.chdir(tmp_path)
    assert cli.run(("import", "./typed", str(log))) == 0
    kept = []
    for name in ("pressed", "typed"):
        bank = Bank.open(tmp_path / name)
        for waits in episodes(bank):
            learn(bank, waits)
        kept.append(
            [
                (tmp_path / name / file).read_bytes()
                for file in ("trajectories.jsonl", "task.nodes.jsonl", "env.nodes.jsonl")
            ]
        )
    assert kept[0] == kept[1]
    assert all(kept[0])


def test_a_domain_in_other_letters_is_the_bank_s(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    told = replace(trajectory("wash the pan", success=True), domain="ALFWorld")
    log.write_bytes(orjson.dumps(to_record(told)) + b"\n")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert person.said[-1] == "imported 1 episode (read as native, of ALFWorld)"

    browse(folder, story, "kitchen")


def test_what_is_left_out_by_design_is_told_in_the_program_s_words(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "sessions.jsonl"
    log.write_bytes(
        lines(
            *(
                claude(f"{who}{number}", before and f"{before}{number}", words) | aside
                for number in range(5)
                for aside in ({"sessionId": f"s{number}"},)
                for who, before, words in (
                    ("u", None, f"Fix {number}."),
                    ("a", "u", "Fixed the wrong one."),
                    ("a2", "u", "Fixed it."),
                )
            )
        )
    )

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        said = person.said[-1]
        assert said.startswith("imported 5 episodes")
        first = "sessions.jsonl, line 2: 1 message is left out: the conversation went back and on"
        assert f"; {first} from before (the branch that leads to the last message" in said
        assert said.count("left out:") == 3
        assert said.endswith("; more was left out so in 2 places")

    browse(folder, story, "kitchen")


def test_of_many_domains_the_first_are_named(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    told = [replace(trajectory(f"wash pan {n}", success=True), domain=f"d{n}") for n in range(150)]
    log.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in told))

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter", "y")
        assert "of d0, d1, d2 and more, while the bank is of alfworld" in person.said[-1]

    browse(folder, story, "kitchen")


def test_the_secrets_that_were_taken_out_are_counted(folder: Path, tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    log = tmp_path / "log.jsonl"
    log.write_bytes(orjson.dumps(to_record(trajectory(f"log in with {key}", success=True))) + b"\n")

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert ", 1 taken out as secrets (" in person.said[-1]
        await person.press("G")
        assert key not in pane(person, "steps")

    browse(folder, story, "kitchen")


def test_a_log_that_is_none_is_told(folder: Path, tmp_path: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(tmp_path / "[/nothing]"))
        await person.press("enter")
        assert "[/nothing]" in person.said[-1]
        await person.press("escape")
        assert isinstance(person.app.screen, EpisodesScreen)

    browse(folder, story, "kitchen")


def test_extract_learns_what_waits(folder: Path) -> None:
    async def story(person: Person) -> None:
        await person.press("3", "E", "enter")
        assert person.said[-1].startswith("learnt 1 episode by rules, no cost")
        assert person.said[-1].endswith("1 waiting")

    browse(folder, story, "kitchen")
    bank = Bank.open(folder / "kitchen")
    assert bank.episodes.state(READY.id) == EpisodeState.LEARNT
    assert bank.episodes.state(UNSAID.id) == EpisodeState.WAITING


def test_extraction_shows_how_far_it_is_and_can_be_cancelled(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real = RulesExtractor.extract

    def slow(self: RulesExtractor, *question: Any) -> Extraction:
        begun.set()
        assert go_on.wait(30)
        return real(self, *question)

    monkeypatch.setattr(RulesExtractor, "extract", slow)

    async def story(person: Person) -> None:
        await person.pilot.press("3", "E", "enter")
        await person.until(begun.is_set)
        bar = person.app.screen.query_one(WorkBar)
        assert "learning 0 of 1" in str(bar.render())
        await person.pilot.press("1", "j")
        assert person.outline.cursor == 1  # a key answers while it learns
        assert person.app.screen.query_one(WorkBar).has_class("-busy")
        await person.pilot.press("3", "E", "enter")
        assert "still learning; x cancels it" in person.said[-1]
        await person.pilot.press("x")
        go_on.set()
        await person.settle()
        assert person.said[-1].startswith("learnt 1 episode")
        assert person.said[-1].endswith("cancelled")
        assert not bar.has_class("-busy")
        await person.press("x")
        assert person.said[-1] == "nothing is going on"

    browse(folder, story, "kitchen")


@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_first_episode_of_another_domain_is_asked_about_and_nothing_is_read_twice(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    log = tmp_path / "log.jsonl"
    domains = ["alfworld", "", "scienceworld", "alfworld", "webshop"]
    told = [
        replace(trajectory(f"wash pan {number}", success=True), domain=domain)
        for number, domain in enumerate(domains)
    ]
    log.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in told))
    before = len(Bank.open(folder / "kitchen").episodes)
    opened: list[object] = []
    found = reading.read_written

    def counting(*given: Any, **rest: Any) -> Any:
        opened.append(given)
        return found(*given, **rest)

    monkeypatch.setattr(reading, "read_written", counting)

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert "Import episodes of scienceworld too? kitchen is of alfworld." in person.screen
        assert "Nothing is written so far" in person.screen
        assert len(Bank.open(folder / "kitchen").episodes) == before
        await person.press(answer)
        assert person.said[-1] == (
            "imported 5 episodes (read as native, of alfworld, scienceworld, webshop, "
            "while the bank is of alfworld)"
            if answer == "y"
            else "nothing was imported: behind 2 episodes of alfworld is one of scienceworld"
        )

    browse(folder, story, "kitchen")
    imported = 5 if answer == "y" else 0
    assert len(Bank.open(folder / "kitchen").episodes) == before + imported
    assert len(opened) == 1


@pytest.mark.parametrize("answer", ["y", "n"])
def test_an_episode_of_another_domain_that_comes_late_leaves_and_tells_what_is_in(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(importing, "_HELD_EPISODES", 2)
    log = tmp_path / "log.jsonl"
    told = [
        READY,
        trajectory("wash pan 1"),
        trajectory("wash pan 2", success=True),
        replace(trajectory("wash pan 3"), domain="town"),
        READY,
        trajectory("wash pan 4", success=True),
    ]
    log.write_bytes(b"".join(orjson.dumps(to_record(each)) + b"\n" for each in told))
    before = len(Bank.open(folder / "kitchen").episodes)
    first = (
        "imported 2 episodes (read as native, of alfworld), 1 known already; "
        "1 episode waits without an outcome"
    )

    async def story(person: Person) -> None:
        await person.press("3", "i")
        await person.write(str(log))
        await person.press("enter")
        assert len(Bank.open(folder / "kitchen").episodes) == before + 2
        await person.press(answer)
        assert person.said[-1] == (
            "imported 4 episodes (read as native, of alfworld, town, while the bank is of "
            "alfworld), 2 known already; 2 episodes wait without an outcome"
            if answer == "y"
            else "stopped at the first episode of town; it and all behind it were not imported, "
            f"what came before stays: {first}"
        )

    browse(folder, story, "kitchen")
    assert len(Bank.open(folder / "kitchen").episodes) == before + (4 if answer == "y" else 2)
