"""Credit: the sums agree with counting again from all episodes, whatever happened in what order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given
from hypothesis import strategies as st

from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.ledger import shown_to
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.node import Utility
from deltamem_tui.bank.transfer import copy_bank
from deltamem_tui.bank.verify import verify
from deltamem_tui.errors import DeltaMemError
from deltamem_tui.llm.cost import Usage
from deltamem_tui.memory.episodes.credit import node_credit
from deltamem_tui.memory.episodes.importer import take_in
from deltamem_tui.memory.episodes.outcomes import give_outcome
from deltamem_tui.memory.episodes.stored_episodes import episodes
from deltamem_tui.memory.runs.judging import take_judgement
from deltamem_tui.memory.writers.extraction import Call
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.receipt import ShownNode, made
from tests.bank.support import manifest, node, vector
from tests.effort import examples

NODES = 4
Counted = dict[str, tuple[int, int, int, int, int]]


def grown(path: Path) -> Bank:
    """A bank of some nodes, and of no episode."""
    bank = Bank.create(path, manifest())
    with bank.writing() as batch:
        for number in range(NODES):
            batch.add_node("task", node(str(number)), vector(number))
        batch.log("learn")
    return bank


def ids_of(bank: Bank) -> list[str]:
    """Its nodes, and one that it does not have."""
    return [*(each.id for each in bank.tree("task")), "0" * 16]


def an_episode(number: int, outcome: Outcome, shown: Sequence[str]) -> Trajectory:
    receipt = made("f" * 16, number, [ShownNode("task", each) for each in shown], "task", "")
    found = Trajectory(f"task {number}", "", (Step("act", "done"),), outcome)
    return found.with_facts(receipts=(receipt,))


def entries(episode: Trajectory) -> Iterator[ShownNode]:
    return (entry for receipt in episode.receipts for entry in receipt.entries)


def sums(bank: Bank, utility: Utility = "success") -> Counted:
    """Per node: shown, and judged and utility of both classes."""
    found = {each.id: node_credit(bank, "task", each.id, utility) for each in bank.tree("task")}
    return {
        name: (
            each.shown,
            each.strict.judged,
            each.strict.utility,
            each.coarse.judged,
            each.coarse.utility,
        )
        for name, each in found.items()
    }


def counted_again(bank: Bank, utility: Utility = "success") -> Counted:
    """The same, an episode after the other."""
    found = {each.id: [0] * 5 for each in bank.tree("task")}
    for episode in episodes(bank):
        said = (each for each in (episode.outcome, *episode.verdicts) if each.known)
        words = {each.source: worth(each, utility) for each in said}
        strict = words.get("user", words.get("stated"))
        shown = {each.node for each in entries(episode)}
        for counts in (found[each] for each in shown & found.keys()):
            counts[0] += 1
            for place, success in ((1, strict), (3, words.get("judge"))):
                counts[place] += success is not None
                counts[place + 1] += round(10_000 * (success or 0))
    return {name: (a, b, c, d, e) for name, (a, b, c, d, e) in found.items()}


def worth(word: Outcome, utility: Utility) -> float | None:
    whole = None if word.success is None else float(word.success)
    return whole if utility == "success" or word.reward is None else word.reward


def judge(bank: Bank, episode_id: str, *, success: bool) -> None:
    call = Call("judge", None, "m", "", Usage())
    take_judgement(bank, episode_id, Outcome(success, None, "judge"), call)


NUMBERS = st.integers(0, 4)
STEPS = st.tuples(
    st.sampled_from(["import", "outcome", "back", "judge", "compact"]),
    NUMBERS,
    st.booleans(),
    st.sets(st.integers(0, NODES), max_size=3),
)


def act(bank: Bank, what: str, number: int, success: bool, shown: set[int], ids: list[str]) -> None:
    """One thing that may happen to a bank; some of it is refused, which must change nothing."""
    reward = (0.25, 0.75)[success] if number == 3 else None
    outcome = Outcome(success, reward, "stated") if number % 2 else Outcome()
    episode = an_episode(number, outcome, [ids[each] for each in shown])
    try:
        if what == "import":
            take_in(bank, [episode])
        elif what == "outcome":
            give_outcome(bank, episode.id, success=success)
        elif what == "back":
            give_outcome(bank, episode.id, success=None)
        elif what == "judge":
            judge(bank, episode.id, success=success)
        else:
            compact(bank)
    except (DeltaMemError, AssertionError):
        pass


@given(st.lists(STEPS, max_size=14))
@examples(30)
def test_the_sums_agree_with_counting_again(steps: list[tuple[str, int, bool, set[int]]]) -> None:
    with TemporaryDirectory() as folder:
        bank = grown(Path(folder) / "bank")
        for step in steps:
            act(bank, *step, ids_of(bank))
            assert sums(bank) == counted_again(bank)
            assert sums(bank, "reward") == counted_again(bank, "reward")
        assert verify(Bank.open(bank.path)) == []


@given(st.lists(st.lists(STEPS, max_size=6), min_size=3, max_size=3))
@example(
    [[], [("import", 0, False, {0})], [("import", 0, False, set()), ("outcome", 0, False, set())]]
)
@examples(15)
def test_merges_in_any_order_count_nothing_twice(
    histories: list[list[tuple[str, int, bool, set[int]]]],
) -> None:
    with TemporaryDirectory() as folder:
        banks = [copy_bank(grown(Path(folder) / "first"), Path(folder) / "copy")]
        banks += [copy_bank(banks[0], Path(folder) / str(each)) for each in range(2)]
        for bank, steps in zip(banks, histories, strict=True):
            for step in steps:
                act(bank, *step, ids_of(bank))
        shown = {
            (e.node, each.id) for bank in banks for each in episodes(bank) for e in entries(each)
        }
        found = []
        for number, (first, *others) in enumerate(permutations(banks)):
            into = copy_bank(first, Path(folder) / f"into {number}", history=True)
            for other in (*others, others[0]):
                merge_into(into, partial(MergePlan, [into, other]))
            assert sums(into) == counted_again(into)
            assert sums(into, "reward") == counted_again(into, "reward")
            found.append(sums(into))
        assert found == [found[0]] * len(found)
        counts = Counter(name for name, _ in shown)
        assert {name: each[0] for name, each in found[0].items()} == {
            n: counts[n] for n in found[0]
        }


def test_credit_travels_without_the_episodes_and_comes_back_once(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    ids = ids_of(bank)
    take_in(bank, [an_episode(1, Outcome(True, 0.5, "stated"), ids[:2])])
    before = sums(bank)
    assert before[ids[0]] == (1, 1, 10_000, 0, 0)
    copy = copy_bank(bank, tmp_path / "copy")
    assert (len(copy.episodes), sums(copy)) == (0, before)
    merge_into(bank, partial(MergePlan, [bank, copy]))
    assert sums(bank) == before
    credit = shown_to(bank.snapshots, "task").credit("reward")
    assert credit.strict.utility.tolist()[:3] == [5_000, 5_000, 0]


def test_a_bank_that_was_made_before_there_was_credit_gets_it(tmp_path: Path) -> None:
    bank = grown(tmp_path / "bank")
    for name in ("credit.jsonl", "credit.counts.npy", "credit.index.npy"):
        (bank.path / name).unlink()
    bank.freeze()
    bank = Bank.open(bank.path)
    assert verify(bank) == []
    assert set(sums(bank).values()) == {(0, 0, 0, 0, 0)}
    bank.unfreeze()
    take_in(bank, [an_episode(1, Outcome(True, None, "stated"), ids_of(bank)[:1])])
    assert sums(Bank.open(bank.path)) == counted_again(bank)
    assert verify(bank) == []
