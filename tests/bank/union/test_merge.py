"""Merging: the laws, over banks with random pasts, against a slow and plain account of them."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltamem_tui.bank import codec
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.diff import diff
from deltamem_tui.bank.episodes import EpisodeState
from deltamem_tui.bank.node import Node, Payload
from deltamem_tui.bank.travel import parcel
from deltamem_tui.bank.travel.copying import copy_bank
from deltamem_tui.bank.travel.installing import install, receive
from deltamem_tui.bank.union.merge import Plan, merge_into, merge_to
from deltamem_tui.bank.union.merge_diff import difference
from deltamem_tui.bank.upkeep.compact import compact
from deltamem_tui.bank.upkeep.verify import verify
from deltamem_tui.errors import BankCorruptError, BankExistsError, BankFrozenError, StorageError
from tests.bank.fragile import NEVER, FragileOS, KilledError
from tests.bank.histories import KINDS, World, account, joined, shown
from tests.bank.killing import run_until_killed
from tests.bank.support import contents, learn_one, manifest, node, vector

histories = st.tuples(
    st.integers(0, 2**32), st.lists(st.sampled_from(KINDS), min_size=4, max_size=40)
)


def world(folder: str, history: tuple[int, list[str]], banks: int = 3) -> World:
    """At least so many banks, with a common past and a time apart."""
    seed, kinds = history
    made = World(Path(folder), Random(seed))
    made.begin()
    for kind in kinds[: len(kinds) // 3]:
        made.happen(kind)
    while len(made.banks) < banks:
        made.happen("copy")
    for kind in kinds[len(kinds) // 3 :]:
        made.happen(kind)
    return made


def new(folder: str, name: str, banks: Sequence[Bank]) -> Bank:
    merged = merge_to(Path(folder) / name, Plan(banks))
    assert verify(merged) == []
    return merged


@given(histories)
@settings(deadline=None, max_examples=60)
def test_a_merge_holds_what_the_plain_account_says(history: tuple[int, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        banks = world(folder, history).banks
        expected = joined([account(bank) for bank in banks])
        merged = new(folder, "merged", banks)
        assert account(merged) == expected
        assert shown(merged) == expected.holding()
        merge_into(banks[0], lambda: Plan(banks))
        assert verify(Bank.open(banks[0].path)) == []
        assert account(banks[0]) == expected
        assert shown(banks[0]) == expected.holding()


@given(histories)
@settings(deadline=None, max_examples=40)
def test_merging_is_idempotent_commutative_and_associative(history: tuple[int, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two, three = world(folder, history).banks[-3:]
        twice = new(folder, "twice", [one, one])
        assert account(twice) == account(one)
        assert shown(twice) == shown(one)
        left = new(folder, "left", [one, two])
        right = new(folder, "right", [two, one])
        assert account(left) == account(right)
        assert shown(left) == shown(right)
        left_first = new(folder, "left-first", [left, three])
        right_first = new(folder, "right-first", [one, new(folder, "others", [two, three])])
        assert account(left_first) == account(right_first)
        assert shown(left_first) == shown(right_first)
        again = new(folder, "again", [left_first, two, left])
        assert account(again) == account(left_first)
        assert shown(again) == shown(left_first)


@given(histories)
@settings(max_examples=40, deadline=None)
def test_a_plan_foretells_the_difference_that_the_merge_makes(
    history: tuple[int, list[str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = world(folder, history)
        for number, bank in enumerate(made.banks):
            with bank.writing() as batch:
                batch.put_episode({"id": "1" * 16, "outcome": {"success": number > 1 or None}})
                batch.put_episode({"id": f"{number + 2:016x}"})
                batch.set_state("1" * 16, EpisodeState(number % 2))
                batch.log("import")
        copy = shutil.copytree(made.banks[0].path, Path(folder) / "before")
        planned = difference(Plan(made.banks))
        merged_into(*made.banks)
        assert planned == diff(Bank.open(copy), Bank.open(made.banks[0].path))


@given(histories)
@settings(deadline=None, max_examples=40)
def test_a_difference_to_the_merged_bank_lists_what_is_new(history: tuple[int, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two = world(folder, history, banks=2).banks[-2:]
        merged = new(folder, "merged", [one, two])
        held = joined([account(one), account(two)]).holding()
        for name, tree in diff(one, merged).trees.items():
            mine = {each.id for each in one.tree(name)}
            expected = {node_id for of, node_id in held if of == name} - mine
            assert {each.id for each in tree.added} == expected


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Bank, Bank]:
    """A chain of three and a root beside it, in a bank and in a copy that goes its own way."""
    bank = Bank.create(tmp_path / "one", manifest("one"))
    with bank.writing() as batch:
        above = None
        for text in ("a", "b", "c"):
            above = node(text, above)
            batch.add_node("task", above, vector(len(text)))
            batch.count("task", above.id, hits=1, recalls=2, successes=1)
        batch.add_node("task", node("other"), vector(9))
        batch.log("learn")
    return bank, copy_bank(bank, tmp_path / "two", history=True)


def nodes(bank: Bank) -> dict[str, Node]:
    bank.refresh()
    return {
        each.payload.activation_condition.removeprefix("when "): each for each in bank.tree("task")
    }


def change(bank: Bank, *changed: Node) -> None:
    with bank.writing() as batch:
        for each in changed:
            batch.revise_node("task", each)
        batch.log("edit")


def grow(bank: Bank, text: str, parent: Node | None) -> Node:
    with bank.writing() as batch:
        grown = node(text, parent)
        batch.add_node("task", grown, vector(3))
        batch.log("learn")
    return grown


def grow_chain(bank: Bank, above: Node | None, length: int) -> Node:
    """The deepest of so many nodes, each below the one before."""
    with bank.writing() as batch:
        for number in range(length):
            above = node(str(number), above)
            batch.add_node("task", above, vector(1))
        batch.log("learn")
    assert above is not None
    return above


def merged_into(first: Bank, *others: Bank) -> Plan:
    plan = merge_into(first, lambda: Plan([first, *others]))
    assert verify(Bank.open(first.path)) == []
    return plan


def test_a_bank_merged_with_itself_stays_byte_for_byte(pair: tuple[Bank, Bank]) -> None:
    one, _ = pair
    before = {path.name: path.read_bytes() for path in one.path.iterdir()}
    assert merged_into(one, Bank.open(one.path)).empty
    assert {path.name: path.read_bytes() for path in one.path.iterdir()} == before


def test_what_was_counted_before_banks_parted_counts_once(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    for bank, hits in ((one, 3), (two, 4)):
        with bank.writing() as batch:
            batch.count("task", nodes(bank)["a"].id, hits=hits)
            batch.log("learn")
    merged_into(one, two)
    assert one.tree("task").counts(nodes(one)["a"].id).hits == 1 + 3 + 4
    merged_into(two, one)
    merged_into(one, two)
    assert one.tree("task").counts(nodes(one)["a"].id).hits == 8


def test_two_that_unfroze_the_same_bank_count_apart(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    one, _ = pair
    one.freeze()
    shutil.copytree(one.path, tmp_path / "elsewhere")
    other = Bank.open(tmp_path / "elsewhere")
    for bank in (one, other):
        bank.unfreeze()
        with bank.writing() as batch:
            batch.count("task", nodes(bank)["a"].id, hits=1)
            batch.log("learn")
    assert one.manifest.origin != other.manifest.origin
    merged_into(one, other)
    assert one.tree("task").counts(nodes(one)["a"].id).hits == 3


def test_a_bank_from_before_there_were_origins_counts_by_its_name(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    record = json.loads((one.path / "bank.json").read_bytes())
    del record["origin"]
    (one.path / "bank.json").write_text(json.dumps(record))
    for path in one.path.glob("origins.*"):
        path.unlink()
    old = Bank.open(one.path)
    assert verify(old) == []
    merged_into(two, old)
    merged_into(two, old)
    # It is not known that the copy came of it under another name, so its counts are its own.
    assert two.tree("task").counts(nodes(two)["a"].id).hits == 2


def test_provenance_names_banks_as_people_know_them_each_once(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    one, two = pair
    two.freeze()
    two.unfreeze()  # so that it counts as its own
    moved = Bank.open(two.path.rename(tmp_path / "pantry"))
    merged_into(one, moved)
    grow(moved, "late", None)
    merged_into(one, Bank.open(moved.path.rename(tmp_path / "cellar")))
    (entry,) = one.manifest.provenance["merged"]
    assert (entry["name"], entry["origin"]) == ("pantry", moved.manifest.origin)


def test_a_tie_of_revisions_is_reported_and_falls_everywhere_alike(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    one, two = pair
    for bank, words in ((one, "mine"), (two, "theirs")):
        change(bank, replace(nodes(bank)["a"], payload=Payload("when a", words)))
    plans = [Plan([one, two]), Plan([two, one])]
    said = [[each.kept.payload.execution_procedure for each in plan.conflicts] for plan in plans]
    assert said[0] == said[1]
    (conflict,) = plans[0].conflicts
    assert conflict.kind == "tie"
    both = {conflict.kept.payload.execution_procedure, conflict.lost.payload.execution_procedure}
    assert both == {"mine", "theirs"}


def test_a_tombstone_wins_a_tie_and_loses_to_a_later_change(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    change(one, replace(nodes(one)["other"], deleted=True))
    change(two, replace(nodes(two)["other"], label="failure"))
    plan = Plan([two, one])
    assert [each.kept.deleted for each in plan.conflicts] == [True]
    assert len(plan.changes["task"].deleted) == 1
    change(two, replace(nodes(two)["other"], label="success"))
    plan = merged_into(one, two)
    assert [each.kind for each in plan.conflicts] == ["overtaken"]
    assert len(plan.changes["task"].revived) == 1
    assert "other" in nodes(one)


def test_one_sides_later_change_is_no_conflict(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    for label in ("failure", "success", "failure"):
        change(two, replace(nodes(two)["b"], label=label))
    assert merged_into(one, two).conflicts == []
    assert nodes(one)["b"].label == "failure"


def test_that_a_chain_was_fused_is_no_matter_of_revisions(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    change(one, replace(nodes(one)["b"], consolidated=True))
    for label in ("failure", "success"):
        change(two, replace(nodes(two)["b"], label=label))
    merged_into(one, two)
    assert (nodes(one)["b"].consolidated, nodes(one)["b"].revision) == (True, 2)


def test_what_grew_below_a_deleted_node_is_hidden_and_comes_back_with_it(
    pair: tuple[Bank, Bank],
) -> None:
    one, two = pair
    grown = grow(two, "grown", nodes(two)["b"])
    before = nodes(one)
    change(one, *(replace(before[text], deleted=True) for text in ("b", "c")))
    plan = merged_into(one, two)
    assert plan.changes["task"].hidden == (grown.id,)
    assert set(nodes(one)) == {"a", "other"}
    assert merged_into(one, two).empty
    compact(one)
    assert verify(Bank.open(one.path)) == []
    assert merged_into(one, two).empty
    with one.writing() as batch:
        batch.revise_node("task", before["b"])
        batch.log("undo")
    plan = merged_into(one, two)
    assert plan.changes["task"].revived == (grown.id,)
    assert nodes(one)["grown"].payload == grown.payload


def test_nodes_moved_below_each_other_become_a_root_and_its_child(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    for bank, child, above in ((one, "other", "a"), (two, "a", "other")):
        before = nodes(bank)
        kind: Any = "residual"
        deeper = before[above].depth + 1 - before[child].depth
        below = [before[text] for text in ("b", "c")] if child == "a" else []
        hung = replace(before[child], parent=before[above].id, kind=kind, depth=2)
        change(bank, hung, *(replace(each, depth=each.depth + deeper) for each in below))
    plan = merged_into(one, two)
    greatest = max((nodes(one)[text] for text in ("a", "other")), key=lambda each: each.id)
    assert plan.changes["task"].loosened == (greatest.id,)
    assert greatest.parent is None
    assert len(nodes(one)) == 4
    assert merged_into(one, two).empty


def test_a_newborn_that_a_merge_makes_a_root_still_says_what_its_id_was_made_from(
    tmp_path: Path,
) -> None:
    """Its line says no parent, and keeps aside the one that it was born below."""
    above, other = node("a"), node("other")
    child = next(each for each in (node(str(n), above) for n in range(99)) if each.id > "f")
    one = Bank.create(tmp_path / "one", manifest("one"))
    with one.writing() as batch:
        for each in (above, other):
            batch.add_node("task", each, vector(1))
        batch.log("learn")
    two = copy_bank(one, tmp_path / "two", history=True)
    change(one, replace(above, parent=other.id, kind="residual", depth=2))
    with two.writing() as batch:
        batch.add_node("task", child, vector(2))
        batch.log("learn")
    change(two, replace(other, parent=child.id, kind="residual", depth=3))
    for number, order in enumerate(([one, two], [two, one])):
        merged = new(str(tmp_path), f"merged{number}", order)
        found = merged.tree("task").node(child.id)
        assert (found.parent, found.revision) == (None, 0)
        parcel.pack(merged).write(tmp_path / f"{number}.deltamem")
        installed, _ = install(receive(tmp_path / f"{number}.deltamem"), tmp_path / f"in{number}")
        assert verify(installed) == []


def test_what_is_hidden_deeper_than_any_line_may_say_is_kept(tmp_path: Path) -> None:
    """A deleted node lies deep, and another bank has learnt a long chain below it."""
    length = codec.DEPTH_LIMIT // 2 + 1
    top = node("top")
    one = Bank.create(tmp_path / "one", manifest("one"))
    with one.writing() as batch:
        batch.add_node("task", top, vector(1))
        batch.log("learn")
    two = copy_bank(one, tmp_path / "two", history=True)
    deepest = grow_chain(one, None, length)
    grow_chain(two, top, length)
    hung = replace(top, parent=deepest.id, kind="residual", depth=length + 1)
    change(one, hung)
    change(one, replace(hung, deleted=True))
    plan = merged_into(one, two)
    assert len(plan.changes["task"].hidden) == length
    assert merged_into(one, two).empty
    assert merged_into(two, one).changes["task"].hidden == plan.changes["task"].hidden


def test_a_claim_counts_however_its_line_is_laid_out(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    """The format is JSON: another writer may leave blanks."""
    one, two = pair
    grown = grow(two, "grown", nodes(two)["b"])
    change(one, *(replace(nodes(one)[text], deleted=True) for text in ("b", "c")))
    merged_into(one, two)
    for name in ("journal.jsonl", "task.index.npy"):
        (one.path / name).unlink()
    path = one.path / "task.nodes.jsonl"
    lines = [json.dumps(json.loads(line), indent=None) for line in path.read_bytes().splitlines()]
    path.write_text("".join(line + "\n" for line in lines))
    assert '"meant": {' in lines[-1]
    other = Bank.open(one.path)
    assert verify(other) == []
    assert Plan([other, two]).changes["task"].hidden == (grown.id,)
    assert compact(other).done
    with other.writing() as batch:
        batch.revise_node("task", nodes(two)["b"])
        batch.log("undo")
    assert merged_into(other, two).changes["task"].revived == (grown.id,)


def test_a_tree_that_grows_too_deep_is_kept_and_told(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    one.change_manifest(
        "parameters", lambda now: (replace(now, parameters={"task": {"d_max": 3}}), {})
    )
    grow(two, "deep", nodes(two)["c"])
    assert merged_into(one, two).changes["task"].too_deep == 1
    assert nodes(one)["deep"].depth == 4


def test_episodes_come_once_and_stay_learnt(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    records: dict[str, list[dict[str, Any]]] = {
        "one": [{"id": "1" * 16, "outcome": {"success": None}}, {"id": "2" * 16}],
        "two": [{"id": "1" * 16, "outcome": {"success": True}}, {"id": "3" * 16}],
    }
    for bank in pair:
        with bank.writing() as batch:
            for record in records[bank.name]:
                batch.put_episode(record)
            batch.set_state(records[bank.name][1]["id"], EpisodeState.LEARNT)
            batch.log("import")
    with one.writing() as batch:
        batch.set_state("1" * 16, EpisodeState.LEARNT)
        batch.log("learn")
    merged_into(two, one)
    assert two.episodes.ids() == ["1" * 16, "3" * 16, "2" * 16]
    assert two.episodes.waiting() == []
    assert two.episodes.record("1" * 16) == records["two"][0]
    without = Plan([one, two], with_episodes=False)
    assert without.episodes is None
    merged_into(one, two)
    assert one.episodes.record("1" * 16) == records["two"][0]


def test_a_persons_word_on_an_episode_stays(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    for bank, source in ((one, "user"), (two, "stated")):
        with bank.writing() as batch:
            batch.put_episode({"id": "1" * 16, "outcome": {"success": True, "source": source}})
            batch.log("import")
    for order in ((one, two), (two, one)):
        merged_into(*order)
        kept = order[0].episodes.record("1" * 16)
        assert kept is not None
        assert kept["outcome"]["source"] == "user"


def test_what_only_one_bank_can_say_stays_the_firsts_and_is_told(tmp_path: Path) -> None:
    numbers = [{"task": {"tau_base": tau}} for tau in (0.5, 0.6)]
    one, two = (
        Bank.create(
            tmp_path / name,
            replace(manifest(name), parameters=each, domain=domain, provenance={"who": name}),
        )
        for name, each, domain in zip(("one", "two"), numbers, ("generic", "kitchens"), strict=True)
    )
    plan = merged_into(one, two)
    assert [(each.what, each.kept, each.lost) for each in plan.disagreements] == [
        ("task.tau_base", 0.5, 0.6)
    ]
    assert one.manifest.parameters == numbers[0]
    assert one.manifest.domain == "kitchens"
    theirs = {"name": "two", "origin": two.manifest.origin, "who": "two"}
    assert one.manifest.provenance == {"who": "one", "merged": [theirs]}
    merged_into(two, one)
    merged_into(one, two)
    assert one.manifest.provenance["merged"].count(theirs) == 1


def test_a_new_bank_tells_where_all_of_it_comes_from(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    one, two = pair
    merged = new(str(tmp_path), "both", [one, two])
    origins = {each["origin"] for each in merged.manifest.provenance["merged"]}
    assert origins == {one.manifest.origin, two.manifest.origin}
    assert merged.manifest.origin not in origins
    assert merged.name == "both"
    detail = merged.commit.detail
    assert [each["name"] for each in detail["from"]] == ["one", "two"]
    with pytest.raises(BankExistsError):
        merge_to(tmp_path / "both", Plan([one, two]))


def test_a_frozen_bank_gives_and_does_not_take(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    grow(two, "new", None)
    two.freeze()
    merged_into(one, Bank.open(two.path))
    assert "new" in nodes(one)
    with pytest.raises(BankFrozenError):
        merge_into(two, lambda: Plan([two, one]))


def test_the_merge_is_a_commit_that_lives_on(pair: tuple[Bank, Bank]) -> None:
    """What is written afterwards stands on what was merged."""
    one, two = pair
    grown = grow(two, "new", nodes(two)["c"])
    merged_into(one, two)
    assert one.commit.event == "merge"
    with one.writing() as batch:
        batch.count("task", grown.id, hits=2)
        batch.log("learn")
    learn_one(one, 7)
    assert verify(Bank.open(one.path)) == []


def test_what_another_writer_did_meanwhile_is_merged_too(pair: tuple[Bank, Bank]) -> None:
    """A plan that was made of an older state is not written."""
    one, two = pair
    grow(two, "new", nodes(two)["c"])
    made: list[Plan] = []

    def plan() -> Plan:
        made.append(Plan([one, two]))
        if len(made) == 1:
            grow(Bank.open(one.path), "meanwhile", nodes(two)["a"])
        return made[-1]

    assert merge_into(one, plan) is made[1]
    assert {"new", "meanwhile"} <= set(nodes(one))
    assert verify(Bank.open(one.path)) == []


Damage = Callable[[Bank], None]


def _lying_index(bank: Bank) -> None:
    path = bank.path / "task.index.npy"
    index = np.load(path)
    index["failure"][-1] ^= True
    np.save(path, index)


def _long_vector(bank: Bank) -> None:
    path = bank.path / "task.embeddings.npy"
    vectors = np.load(path)
    vectors[-1] *= 2
    np.save(path, vectors)


def _broken_line(bank: Bank) -> None:
    path = bank.path / "task.nodes.jsonl"
    text = path.read_bytes()
    place = text.rindex(b'"success"')
    path.write_bytes(text[:place] + b'"succesS"' + text[place + 9 :])


def _altered_node(bank: Bank) -> None:
    path = bank.path / "task.nodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b"how new", b"HOW NEW"))


def _too_few_counts(bank: Bank) -> None:
    path = bank.path / "task.counts.npy"
    counts = np.load(path)
    counts[0] = 0
    np.save(path, counts)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_lying_index, "the index contradicts the line"),
        (_long_vector, "not of unit length"),
        (_broken_line, "not a node"),
        (_altered_node, "does not say what its id was made from"),
        (_too_few_counts, "counts less of node"),
    ],
)
def test_nothing_unsound_is_taken_in(pair: tuple[Bank, Bank], damage: Damage, reason: str) -> None:
    one, two = pair
    grow(two, "new", None)
    (two.path / "journal.jsonl").unlink()
    damage(two)
    before = {path.name: path.read_bytes() for path in one.path.iterdir()}
    with pytest.raises(BankCorruptError, match=reason):
        merge_into(one, lambda: Plan([one, Bank.open(two.path)]))
    assert {path.name: path.read_bytes() for path in one.path.iterdir()} == before


def test_an_altered_state_of_a_node_that_both_have_is_not_taken(pair: tuple[Bank, Bank]) -> None:
    """Neither says that it was changed, so the one that was altered must not win the tie."""
    one, two = pair
    (two.path / "journal.jsonl").unlink()
    path = two.path / "task.nodes.jsonl"
    text = path.read_bytes()
    plans = []
    for number in range(50):
        path.write_bytes(text.replace(b'"how other"', b'"how o%03dr"' % number))
        plans.append(Plan([one, Bank.open(two.path)]))
        if len(plans[-1].changes["task"].revised):
            with pytest.raises(BankCorruptError, match="does not say what its id was made from"):
                plans[-1].check()
            with pytest.raises(BankCorruptError, match="does not say what its id was made from"):
                merged_into(one, Bank.open(two.path))
            return
    pytest.fail("the altered state never won")


def test_verify_tells_counts_that_are_less_than_the_others(pair: tuple[Bank, Bank]) -> None:
    _, two = pair
    (two.path / "journal.jsonl").unlink()
    _too_few_counts(two)
    assert "counts less of node" in verify(Bank.open(two.path))[0].message


def everything(bank: Bank) -> Any:
    """All that a merge may change, the manifest too."""
    bank = Bank.open(bank.path)
    return contents(bank), account(bank), bank.manifest


@pytest.mark.parametrize("how", ["before", "half", "disk full"])
@pytest.mark.parametrize("into", ["first", "new"])
def test_killed_at_every_effect_a_merge_was_done_or_not(
    tmp_path: Path, pair: tuple[Bank, Bank], how: str, into: str
) -> None:
    one, two = pair
    for bank in pair:
        learn_one(bank, 1 if bank is one else 2)
        change(bank, replace(nodes(bank)["a"], label="failure" if bank is one else "success"))
    before = everything(one)

    def merge(name: str) -> None:
        first = Bank.open(tmp_path / name / "first")
        if into == "first":
            merge_into(first, lambda: Plan([first, two]))
        else:
            merge_to(tmp_path / name / "new", Plan([first, two]))

    def fresh(name: str) -> Path:
        shutil.copytree(one.path, tmp_path / name / "first")
        return tmp_path / name / into

    after_path = fresh("undisturbed")
    with FragileOS(NEVER).at_work() as counting:
        merge("undisturbed")
    after = everything(Bank.open(after_path))
    assert after != before
    assert len(counting.names) > 20
    for last, name in enumerate(counting.names, start=1):
        if how == "half" and name != "pwrite":
            continue
        path = fresh(str(last))
        try:
            with FragileOS(last, how).at_work():
                merge(str(last))
        except (KilledError, StorageError):
            pass
        if into == "new" and not path.exists():
            continue
        found = everything(Bank.open(path))
        states = [after] if into == "new" else [before, after]
        assert any(_same(found, state) for state in states), f"effect {last}"
        if into == "first":
            merge(str(last))
            assert _same(everything(Bank.open(path)), after)
            with Bank.open(path).writing():
                pass
            assert verify(Bank.open(path)) == []


def test_what_a_killed_merge_left_is_in_nobodys_way(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    path = tmp_path / "banks" / "both"

    def merge() -> None:
        merge_to(path, Plan(pair))

    effects = run_until_killed(merge)
    assert effects is not None
    for last in range(1, effects + 1, 5):
        shutil.rmtree(path.parent)
        path.parent.mkdir()
        assert run_until_killed(merge, last) is None
        if not path.exists():
            merge()
        assert [each.name for each in path.parent.iterdir()] == [path.name]
        assert verify(Bank.open(path)) == []


def _same(found: Any, wanted: Any) -> bool:
    """Equal but for what every new bank draws or is called."""
    unnamed = [(each[0], each[1], replace(each[2], name="", origin="")) for each in (found, wanted)]
    return bool(unnamed[0] == unnamed[1])
