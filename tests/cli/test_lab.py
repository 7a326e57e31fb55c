"""`deltamem lab` plays what an environment of a user's own offers, or asks about a log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.support import ENOUGH, Program, heat, write_log
from tests.llm.server import ModelServer, Reply, Request
from tests.places import ROOT

HOUSE = f"{ROOT / 'tests' / 'lab' / 'house.py'}:HouseEnvironment"
EPISODE = {
    "task": "put a mug in cabinet.",
    "environment": "Looking quickly around you, you see a cabinet 1, a fridge 1.",
    "steps": [
        {"action": "go to fridge 1", "observation": "The fridge 1 is closed."},
        {"action": "open fridge 1", "observation": "In it, you see a mug 1."},
        {"action": "take mug 1 from fridge 1", "observation": "You pick up the mug 1."},
        {"action": "go to cabinet 1", "observation": "On it, you see nothing."},
        {"action": "move mug 1 to cabinet 1", "observation": "You move the mug 1."},
    ],
    "outcome": {"success": True, "reward": 1.0, "source": "stated"},
    "metadata": {"game": "dev/mug", "task_type": "put"},
}


@pytest.fixture
def learning(empty: Program) -> tuple[str, ...]:
    """What has methods learn one episode, of a game that is played."""
    log = write_log(empty.folder / "log.jsonl", [EPISODE])
    return ("lab", "play", HOUSE, "--learn-from", str(log), "--embedder", "hashing")


def test_methods_are_compared_and_what_is_finished_is_kept(
    empty: Program, learning: tuple[str, ...]
) -> None:
    asked = (*learning, "--method", "nothing", "--method", "deltamem", "--method", "raw")
    left = empty.json(*asked, "--dry-run").data
    assert left["left"] == 12
    assert not Path(left["folder"]).exists()
    found = empty.json(*asked).data
    nothing, deltamem, _ = found["contestants"]
    assert nothing["measures"]["score"]["estimate"]["value"] == 0
    assert deltamem["measures"]["score"]["difference"]["value"] == 1
    assert deltamem["start"]["seen"] == 1
    assert empty.json(*asked, "--dry-run").data["left"] == 0
    assert empty.json(*asked).data == found
    kept = Path(found["folder"]) / "02-deltamem" / "episodes.jsonl"
    assert empty.json("formats", "try", str(kept)).data["logs"][0]["format"] == "native"


def test_a_pipe_gets_tables(empty: Program, learning: tuple[str, ...]) -> None:
    asked = (*learning, "--method", "nothing", "--method", "deltamem")
    answer = empty(*asked)
    assert answer.code == 0
    header, *rows = (line.split("\t") for line in answer.out.splitlines() if "\t" in line)
    assert "score" in header
    assert [len(each) for each in rows[:2]] == [len(header)] * 2
    assert "1 of the 4 games before" in answer.err


def test_what_an_agent_of_ones_own_prints_is_no_result(empty: Program) -> None:
    (empty.folder / "mine.py").write_text(
        "class Mine:\n def play(self, game, memory): print('look:', game.act('look').text)\n"
    )
    answer = empty("lab", "play", HOUSE, "--agent", "mine.py:Mine", "--method", "nothing")
    assert "look: " in answer.err
    assert "look: " not in answer.out


def test_parameters_and_banks_compete(program: Program) -> None:
    log = write_log(program.folder / "log.jsonl", [EPISODE])
    who = ("--method", "nothing", "--method", "deltamem:task.recall=paper", "--bank", "kitchen")
    games = ("--learn-from", str(log), "--games", "2", "--split", "train")
    found = program.json("lab", "play", HOUSE, *who, *games).data
    names = [each["contestant"]["name"] for each in found["contestants"]]
    assert names == ["nothing", "deltamem task.recall=paper", "kitchen"]
    assert found["games"] == 2


def test_ctrl_c_keeps_what_is_finished(
    empty: Program, learning: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTED", str(os.getpid()))
    own = empty.folder / "own.py"
    own.write_text(
        "import os, signal, sys\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.lab.house import HouseEnvironment\n"
        "class Interrupted(HouseEnvironment):\n"
        "    def load(self, game):\n"
        "        if not os.path.exists('once'):\n"
        "            open('once', 'w').close()\n"
        "            os.kill(int(os.environ['TESTED']), signal.SIGINT)\n"
        "        return super().load(game)\n"
    )
    asked = ("lab", "play", f"{own}:Interrupted", *learning[3:], "--method", "raw", "--out", "run")
    assert empty(*asked).code == 130
    assert len((empty.folder / "run" / "01-raw" / "results.jsonl").read_text().splitlines()) == 1
    assert len(empty.json(*asked).data["contestants"][0]["results"]) == 4


KEY = "sk-test-0123456789abcdef"


def player(request: Request) -> Reply:
    """A model that knows its way in the house."""
    thing, _, way = request.prompt.rpartition("put a ")[2].partition(" in cabinet")
    moves = ("go to fridge 1", "open fridge 1", f"take {thing} 1 from fridge 1", "go to cabinet 1")
    number = way.count("\nAction:")
    action = moves[number] if number < len(moves) else f"move {thing} 1 to cabinet 1"
    return Reply(f"Thought: so it goes on\nAction: {action}")


def test_a_model_plays_within_its_limit_and_nothing_is_paid_twice(
    empty: Program, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty.folder / "cache"))
    server.replies = player
    agent = ("--agent", "openai/gpt-4o-mini", "--api-base", server.base)
    methods = ("--method", "nothing", "--method", "synapse", "--embedder", "hashing")
    asked = ("lab", "play", HOUSE, *agent, *methods)
    left = empty.json(*asked, "--dry-run").data
    assert (left["left"], server.requests) == (8, [])
    longest = 8_192 * 0.6e-6  # of an answer, which is set aside before each call
    stopped = empty(*asked, "--max-cost", f"{1.05 * longest:f}", "--no-cache")
    assert (stopped.code, 0 < len(server.requests) < 40) == (1, True)
    found = empty.json(*asked, "--no-cache", "--max-cost", "1").data
    paid = len(server.requests)
    nothing, synapse = found["contestants"]
    assert nothing["measures"]["score"]["estimate"]["value"] == 1
    assert nothing["measures"]["calls"]["estimate"]["value"] == 5
    assert synapse["size"]["nodes"] == 4
    assert empty.json(*asked).data == found
    assert (paid, len(server.requests)) == (paid, paid)
    assert empty.json(*asked, "--dry-run").data["left"] == 0
    texts = [each.read_bytes() for each in empty.folder.rglob("*") if each.is_file()]
    assert texts
    assert not any(KEY.encode() in each for each in texts)


def test_who_plays_and_who_writes_have_one_limit_on_cost(
    empty: Program, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    longest = 8_192 * 0.6e-6
    server.replies = lambda request: Reply(player(request).text, counts=(0, 8_192))
    model = "openai/gpt-4o-mini"
    models = ("--agent", model, "--model", model, "--api-base", server.base, "--no-cache")
    asked = ("lab", "play", HOUSE, *models, "--method", "reasoningbank", "--embedder", "hashing")
    assert empty(*asked, "--max-cost", f"{7.5 * longest:f}").code == 1
    played = [each for each in server.requests if "response_format" not in each.body]
    assert 5 <= len(played) <= 7
    assert len(played) < len(server.requests) <= 9


@pytest.mark.parametrize(
    "wrong",
    [
        ("--protocol", "nonsense"),
        ("--method", "nonsense"),
        ("--method", "synapse:admission=coarse"),
        ("--split", "nonsense"),
        ("--agent", "none.py:Mine"),
    ],
)
def test_what_does_not_go_together_is_refused(
    empty: Program, learning: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    answer = empty(*learning, "--method", "synapse", *wrong)
    assert answer.code == 2
    assert answer.error


# Over a log

WHO = ("--method", "synapse", "--method", "synapse:admission=unjudged")
BY = ("--embedder", "hashing", "--domain", "alfworld")


def test_a_log_is_replayed_and_a_bank_is_the_same_log(program: Program) -> None:
    records = [*ENOUGH, heat("fig", success=False), heat("pear", success=None), ENOUGH[0]]
    log = program.log(*records)
    found = program.json("replay", log, *WHO, *BY).data
    assert found["games"] == len(records) - 2
    assert sorted(found["excluded"].values()) == [1, 1]
    strict, unjudged = found["contestants"]
    assert unjudged["size"]["nodes"] == strict["size"]["nodes"] + 1
    assert strict["measures"]["precision"]["estimate"]["value"] == 1
    program("init", "source", "--embedder", "hashing", "--domain", "alfworld")
    program("import", "source", log)
    of_bank = program.json("lab", "replay", "source", *WHO).data
    assert of_bank["contestants"] == found["contestants"]
    answer = program("lab", "replay", log, *WHO, *BY)
    assert "precision" in answer.out.splitlines()[1]
    assert "none of the numbers is a success rate" in answer.err


def test_the_sessions_of_a_folder_are_asked_with_the_default_method(empty: Program) -> None:
    """What is no log there is skipped, as `import` skips it; nothing shown needs no vectors."""
    folder = empty.folder / "logs"
    folder.mkdir()
    for number, record in enumerate(ENOUGH[:8]):
        write_log(folder / f"{number}.jsonl", [record])
    (folder / "agent.meta.json").write_text('{"agentType": "general-purpose"}')
    answer = empty("lab", "work", str(folder), "--embedder", "minilm")
    assert answer.code == 0, answer.err
    assert "6 episodes learnt, 2 asked" in answer.err
    replayed = empty("lab", "replay", str(folder), "--method", "deltamem", "--embedder", "minilm")
    assert replayed.code == 0, replayed.err
