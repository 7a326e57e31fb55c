"""What scripts rely on: the exit code of every command, and the keys and types of its JSON.

`json_contract.json` has, for each command of the story below, the shape of what it printed. Keys
may come; none may go, and none may hold another type. To record a new command, add its line to the
story and run `python -m tests.cli.test_json_contract`, which keeps what was recorded before.
"""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deltamem_tui.cli.commands import COMMANDS, meant
from tests.cli.support import ENOUGH, RECORDS, heat, write_log
from tests.llm.hosted import hosted
from tests.llm.server import Reply, Request
from tests.memory.writers.model import sensible
from tests.places import BANKS, DOCS, ROOT
from tests.program import Answer, deltamem, own_folders

CONTRACT = Path(__file__).with_name("json_contract.json")
FORMAT1 = ROOT / "tests" / "bank" / "format1"

Shape = Any

# Objects whose keys are data: names of models, files, kinds, depths.
NAMED_BY_DATA = (
    "models",
    "digests",
    "depths",
    "redactions",
    "provenance",
    "listed",
    "by_kind",
    "excluded",
)

STORY = """
--version
frobnicate
init
bank list
episode formats
episode try log.jsonl
episode try log.jsonl --format native
episode try nothing.jsonl
episode try broken.jsonl
browse
browse nowhere
agent serve nowhere

init kitchen --embedder hashing --domain alfworld --description 'Hot food.'
init kitchen --embedder hashing
init 'two words' --embedder hashing
bank methods
init other --embedder nonsense/nowhere
bank info kitchen
bank info nowhere
bank list
node tree kitchen
recall kitchen 'heat some egg'

import kitchen log.jsonl --dry-run
import kitchen log.jsonl
import kitchen log.jsonl
import kitchen log.jsonl --outcome outcomes.csv
init beside --episodes-from kitchen
import kitchen broken.jsonl
import kitchen leaky.jsonl
import kitchen leaky.jsonl --no-redact --dry-run
import kitchen leaky.jsonl --redact-personal --dry-run
import kitchen unsaid.jsonl
import kitchen nothing.jsonl
import kitchen log.jsonl --format nonsense
import kitchen empty.jsonl
import kitchen session.jsonl
import kitchen games.jsonl --outcome won.csv
import --queued
agent install claude-code --bank kitchen --dry-run
agent install nonsense --bank kitchen
agent status claude-code
agent remove claude-code

bank parameters kitchen
bank parameters kitchen task.tau_base=0.5 env.tau_base=0.5 task.k_cons=none
bank parameters kitchen task.tau_base=7
extract kitchen --extractor rules --dry-run
extract kitchen --extractor rules --limit 2
extract kitchen --extractor rules
extract kitchen --extractor rules
extract kitchen
extract kitchen --extractor nonsense
bank parameters kitchen task.tau_base=0.5 env.tau_base=0.5 task.k_cons=1 env.k_cons=1
bank consolidate kitchen --extractor rules --dry-run
bank consolidate kitchen --extractor rules
bank consolidate kitchen --extractor rules

bank info kitchen
node tree kitchen
node tree kitchen --tree task --depth 1
node show kitchen {node}
node show kitchen ffff
node chain kitchen {node}
episode outcome kitchen 9f8bd8da
episode outcome kitchen ffff success
episode review kitchen
bank forget kitchen
bank forget kitchen --preset ehr
node undo kitchen
node redo kitchen
episode list kitchen --waiting
node edit kitchen {node} nonsense
node relabel kitchen ffff success
node move kitchen {node} {node}
node join kitchen {node} {node}
node delete kitchen ffff
bank copy kitchen second
bank rename second third
bank remove third --yes
node search kitchen 'heat some egg' --tree env --limit 2
node search kitchen 'heat some egg'
recall kitchen 'heat some egg and put it on the table.' --env 'You are in a kitchen.'
recall kitchen 'heat some egg and put it on the table.' --env 'You are in a kitchen.' --explain
recall kitchen 'quantum chromodynamics'
recall kitchen ''
bank verify kitchen
bank verify ./torn
bank info ./torn

bank freeze kitchen
bank freeze kitchen
extract kitchen --extractor rules
bank unfreeze kitchen
bank unfreeze kitchen

lab replay kitchen --method nonsense
lab replay kitchen --method synapse:admission=coarse
lab replay kitchen --method synapse --method synapse:forgetting=history --judge-error .2

lab play house.py:HouseEnvironment --learn-from log.jsonl --method raw --bank kitchen --dry-run
lab play house.py:HouseEnvironment --learn-from log.jsonl --method synapse --bank kitchen
lab play house.py:HouseEnvironment --bank kitchen --games 1
lab play house.py:HouseEnvironment --protocol nonsense
lab play nonsense
lab work log.jsonl --embedder hashing

bank export kitchen -o out.deltamem --builder 'The kitchen team'
bank export kitchen -o out.deltamem
bank export kitchen -o out.deltamem --replace --episodes --journal
bank export kitchen --as skills -o skills
bank export kitchen --as skills -o skills
bank export leaky
bank export leaky --as agents-md
bank export leaky --allow-secrets
bank install out.deltamem --name copy --dry-run
bank install out.deltamem --name copy
bank install out.deltamem --name copy
bank install out.deltamem --name copy --replace --unfreeze
bank install out.deltamem --name other --digest sha256:00
bank install skills --name from-skills
bank install log.jsonl --name other
bank export ./paid -o paid.deltamem --builder 'The kitchen team'
bank install paid.deltamem --name paid-for --dry-run
node tree ./paid
bank info ./paid
bank parameters ./living env.tau_base=0.1
recall ./living 'look at the cd under the desklamp' --env 'a bed, a desk, a shelf' --explain
bank diff kitchen copy
bank diff kitchen copy --exit-code
bank diff ./left ./right
bank diff kitchen
bank diff ./killed ./paid
bank diff ./living ./left
bank merge ./living ./paid --dry-run
bank merge ./left ./right --dry-run
bank merge ./left ./right -o both
bank merge ./left ./right
bank merge ./left ./right
bank merge ./left scienceworld
bank compact ./left
bank compact ./left
bank reembed ./minilm --embedder hashing --dry-run
bank reembed ./minilm --embedder hashing
bank reembed ./minilm --embedder hashing
bank reembed kitchen --embedder hashing

model prompts
model prompts --domain alfworld
model prompt task_root_success
model prompt nonsense
model check
model export mine
model export mine
model check mine
model check flawed

extract kitchen --model openai/gpt-4o-mini --dry-run --admit all
episode judge kitchen --model openai/gpt-4o-mini --dry-run
episode judge kitchen --model openai/gpt-4o-mini --limit 1
episode judge kitchen --model openai/stubborn
episode judge kitchen --model openai/gpt-4o-mini
episode judge kitchen --model openai/gpt-4o-mini
episode judge kitchen --model openai/gpt-4o-mini --max-cost 0
extract kitchen --model openai/gpt-4o-mini --limit 1
extract kitchen --model openai/gpt-4o-mini --admit all --limit 1
init shed --embedder hashing --domain alfworld
import shed together.jsonl
extract shed --model openai/gpt-4o-mini --dry-run
extract shed --model openai/gpt-4o-mini --batch asked.jsonl
extract shed --model openai/gpt-4o-mini --batch asked.jsonl --answers broken.jsonl
extract shed --model openai/gpt-4o-mini --answers broken.jsonl
extract shed --model openai/gpt-4o-mini --max-cost 0.0000001
extract shed --model openai/unheard-of --max-cost 1
extract shed --model openai/half-stubborn --limit 2
extract shed --model openai/stubborn --limit 1
extract shed --model nonsense
extract shed --model openai/interrupted
extract shed --model openai/gpt-4o-mini --no-cache
bank info shed
bank parameters shed task.k_cons=1 env.k_cons=1
bank consolidate shed --model openai/gpt-4o-mini
lab replay kitchen --model openai/gpt-4o-mini --method reasoningbank
lab replay kitchen --model openai/gpt-4o-mini --method awm --max-cost 0 --no-cache
bank info ./killed
extract ./killed --model openai/gpt-4o-mini --concurrency 2
model cache
"""


def lines() -> list[str]:
    return [line for line in STORY.splitlines() if line]


def names() -> list[str]:
    """The lines, each by a name of its own: a line that stands twice is numbered."""
    found: list[str] = []
    for line in lines():
        earlier = sum(each.partition(" #")[0] == line for each in found)
        found.append(f"{line} #{earlier + 1}" if earlier else line)
    return found


def told() -> dict[str, Answer]:
    """What each command of the story said, told in order in a folder of its own."""
    with (
        tempfile.TemporaryDirectory() as name,
        own_folders(Path(name)),
        pytest.MonkeyPatch.context() as patch,
        hosted(Path(name) / "cache") as (server, variables),
    ):
        for variable, value in variables.items():
            patch.setenv(variable, value)
        server.replies = replies
        lay_out(Path(name))
        found = {}
        for called, line in zip(names(), lines(), strict=True):
            words = shlex.split(line)
            if "{node}" in words:
                words[-1] = deltamem("node", "tree", "kitchen").data["nodes"][-1]["id"][:8]
            found[called] = deltamem(*words)
        return found


def lay_out(folder: Path) -> None:
    """The logs and banks that the story names."""
    write_log(folder / "log.jsonl", [*RECORDS, *ENOUGH])
    shutil.copy(ROOT / "tests" / "lab" / "house.py", folder)
    unsaid = [heat(thing, success=None) for thing in ("fig", "pear")]
    unsaid[0]["outcome"] = {"success": None, "reason": "the run broke off"}
    write_log(folder / "unsaid.jsonl", unsaid)
    secret = heat("soup")
    secret["task"] += " The key is AKIAIOSFODNN7EXAMPLQ, ask cook@kitchen.example."
    write_log(folder / "leaky.jsonl", [secret])
    (folder / "empty.jsonl").write_text("")
    (folder / "broken.jsonl").write_text(
        json.dumps(heat("bean")) + '\n{"task": \n{"task": "", "steps": []}\n'
    )
    (folder / "outcomes.csv").write_text("id,success\nnobody,true\n")
    aside = {**_message("u8", None), "isSidechain": True}
    games = gzip.decompress((DOCS / "sample" / "alfworld.jsonl.gz").read_bytes()).splitlines()
    (folder / "games.jsonl").write_bytes(games[0])
    (folder / "won.csv").write_text(f"id,success\n{json.loads(games[0])['id']},true\n")
    write_log(folder / "session.jsonl", [_message("u1", None), _message("a1", "u1"), aside])
    write_log(folder / "together.jsonl", [heat(thing) for thing in ("leek", "kale", "beet")])
    flawed = folder / "flawed" / "alfworld"
    flawed.mkdir(parents=True)
    (flawed / "env_residual.md").write_text("{{ no_such_thing }}\n")
    for name in ("left", "right", "killed", "living", "paid"):
        shutil.copytree(FORMAT1 / name, folder / name)
    torn = shutil.copytree(FORMAT1 / "old", folder / "torn")
    lines = (torn / "task.nodes.jsonl").read_bytes()
    (torn / "task.nodes.jsonl").write_bytes(lines.replace(b"root", b"rood", 1))
    minilm = shutil.copytree(BANKS / "scienceworld", folder / "minilm")
    deltamem("unfreeze", minilm)
    deltamem("init", "leaky", "--embedder", "hashing")
    deltamem("import", "leaky", folder / "leaky.jsonl", "--no-redact")
    deltamem("extract", "leaky", "--extractor", "rules")


def _message(name: str, before: str | None) -> dict[str, Any]:
    """A line of a session of Claude Code."""
    kind = "user" if name.startswith("u") else "assistant"
    message = {"role": kind, "content": f"This is {name}."}
    return {"type": kind, "uuid": name, "parentUuid": before, "sessionId": "s", "message": message}


def replies(request: Request) -> Reply:
    """What the models of the story say; each is known by its name."""
    model = str(request.body["model"])
    if model == "interrupted":
        interrupt()
    if model == "stubborn" or (model == "half-stubborn" and "leek" in request.prompt):
        return Reply("I would rather not.")
    return sensible.reply(request)


@cache
def interrupt() -> None:
    """Press Ctrl+C, once: a second one, at a request that was sent ahead, would leave at once."""
    signal.raise_signal(signal.SIGINT)


def shape(value: Any, named: str = "") -> Shape:
    """The keys and types of a value.

    Args:
        value: What `json.loads` gives.
        named: The key under which it stood.

    Returns:
        The name of a type; `[shape]` for a list, of all its elements; an object with a shape for
        each key, of which those that end in `?` are not in every element of a list, or with one
        shape for `*` where the keys are data; `{"|": [shape]}` for more than one of these.
    """
    if isinstance(value, dict):
        if named in NAMED_BY_DATA:
            return {"*": union([shape(each) for each in value.values()])} if value else {}
        return {key: shape(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [union([shape(each) for each in value])] if value else []
    return "null" if value is None else type(value).__name__


def union(shapes: list[Shape]) -> Shape:
    """What is said of things of which each has one of these shapes."""
    kinds: list[Shape] = [each for each in shapes if isinstance(each, str)]
    objects = [each for each in shapes if isinstance(each, dict)]
    lists = [each for each in shapes if isinstance(each, list)]
    kinds = sorted(set(kinds))
    if objects:
        kinds.append(_object_union(objects))
    if lists:
        elements = [each[0] for each in lists if each]
        kinds.append([union(elements)] if elements else [])
    return kinds[0] if len(kinds) == 1 else {"|": kinds}


def _object_union(objects: list[dict[str, Shape]]) -> dict[str, Shape]:
    keys = list(dict.fromkeys(key.rstrip("?") for each in objects for key in each))
    found = {}
    for key in keys:
        held = [each[name] for each in objects for name in (key, f"{key}?") if name in each]
        always = len(held) == len(objects) and all(f"{key}?" not in each for each in objects)
        found[key if always else f"{key}?"] = union(held)
    return found


def lost(recorded: Shape, found: Shape, place: str = "data") -> Iterator[str]:
    """Where a shape does not keep what was recorded."""
    if recorded == found or (recorded, found) == ("float", "int") or recorded in ([], {}):
        return
    if isinstance(recorded, dict) and "|" in recorded:
        kinds = found["|"] if isinstance(found, dict) and "|" in found else [found]
        for kind in kinds:
            if not any(not [*lost(each, kind)] for each in recorded["|"]):
                yield f"{place}: {kind} is none of {recorded['|']}"
    elif isinstance(recorded, list) and isinstance(found, list) and found:
        yield from lost(recorded[0], found[0], f"{place}[]")
    elif isinstance(recorded, dict) and isinstance(found, dict):
        for key, kept in recorded.items():
            there = key if key in found else key.removesuffix("?")
            if there in found:
                yield from lost(kept, found[there], f"{place}.{key}")
            else:
                yield f"{place}.{key} is gone"
    else:
        yield f"{place}: {recorded} became {found}"


def summed_up(answer: Answer) -> dict[str, Shape]:
    document = answer.document
    return {
        "code": answer.code,
        "command": document["command"],
        "status": document["status"],
        "data": shape(document["data"]),
        "errors": shape(document["errors"]),
    }


def recorded() -> dict[str, dict[str, Shape]]:
    found = json.loads(CONTRACT.read_text())
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return told()


def test_every_command_of_the_story_is_recorded() -> None:
    assert sorted(names()) == sorted(recorded())


def test_every_command_there_is_is_told() -> None:
    wanted = {each.name for each in COMMANDS}
    assert wanted <= {found.name for line in lines() if (found := meant(line.split()))}


@pytest.mark.parametrize("name", names())
def test_it_says_all_that_it_said(answers: dict[str, Answer], name: str) -> None:
    before, now = recorded()[name], summed_up(answers[name])
    assert list(answers[name].document) == ["command", "status", "data", "errors"]
    assert {key: now[key] for key in ("code", "command", "status")} == {
        key: before[key] for key in ("code", "command", "status")
    }, answers[name].document["errors"]
    assert [*lost(before["data"], now["data"])] == []
    assert [*lost(before["errors"], now["errors"], "errors")] == []


def record() -> None:
    """Add what the story has and the contract lacks; nothing that is recorded changes."""
    before = recorded() if CONTRACT.exists() else {}
    kept = {name: before.get(name) or summed_up(answer) for name, answer in told().items()}
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in kept.items())
    CONTRACT.write_text(f"{{\n{text}\n}}\n")


if __name__ == "__main__":
    record()
