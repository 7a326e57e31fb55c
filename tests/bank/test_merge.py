"""Merging two banks that parted: which state of a node, what counts, and what is told."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from deltamem_tui.bank import transfer as package
from deltamem_tui.bank.bank import Bank
from deltamem_tui.bank.compact import compact
from deltamem_tui.bank.diff import FieldChange
from deltamem_tui.bank.episodes import EpisodeState, united
from deltamem_tui.bank.merge import MergePlan, merge_into
from deltamem_tui.bank.transfer import copy_bank, install, receive
from deltamem_tui.bank.verify import verify
from deltamem_tui.memory.deltamem.rules import Payload
from tests.bank.parted import append_all, change, merged_into, new, nodes
from tests.bank.support import manifest, node, vector


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


def test_provenance_names_banks_as_people_know_them_each_once(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    one, two = pair
    two.freeze()
    two.unfreeze()  # so that it counts as its own
    moved = Bank.open(two.path.rename(tmp_path / "pantry"))
    merged_into(one, moved)
    append_all(moved, "late", None)
    merged_into(one, Bank.open(moved.path.rename(tmp_path / "cellar")))
    (entry,) = one.manifest.provenance["merged"]
    assert (entry["name"], entry["origin"]) == ("pantry", moved.manifest.origin)


def test_a_tie_of_revisions_is_reported_and_falls_everywhere_alike(
    tmp_path: Path, pair: tuple[Bank, Bank]
) -> None:
    one, two = pair
    for bank, words in ((one, "mine"), (two, "theirs")):
        change(bank, structs.replace(nodes(bank)["a"], payload=Payload("when a", words)))
    plans = [MergePlan([one, two]), MergePlan([two, one])]
    said = [[each.kept.payload["execution_procedure"] for each in plan.conflicts] for plan in plans]
    assert said[0] == said[1]
    (conflict,) = plans[0].conflicts
    both = {
        conflict.kept.payload["execution_procedure"],
        conflict.lost.payload["execution_procedure"],
    }
    assert both == {"mine", "theirs"}


def test_a_tombstone_wins_a_tie_and_loses_to_a_later_change(pair: tuple[Bank, Bank]) -> None:
    one, two = pair
    change(one, structs.replace(nodes(one)["other"], deleted=True))
    change(two, structs.replace(nodes(two)["other"], label="failure"))
    plan = MergePlan([two, one])
    assert [each.kept.deleted for each in plan.conflicts] == [True]
    assert len(plan.changes["task"].deleted) == 1
    change(two, structs.replace(nodes(two)["other"], label="success"))
    plan = merged_into(one, two)
    assert [each.lost.deleted for each in plan.conflicts] == [True]
    assert len(plan.changes["task"].revived) == 1
    assert "other" in nodes(one)


def test_what_grew_below_a_deleted_node_is_hidden_and_comes_back_with_it(
    pair: tuple[Bank, Bank],
) -> None:
    one, two = pair
    grown = append_all(two, "grown", nodes(two)["b"])
    before = nodes(one)
    change(one, *(structs.replace(before[text], deleted=True) for text in ("b", "c")))
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
        hung = structs.replace(before[child], parent=before[above].id, kind=kind, depth=2)
        change(bank, hung, *(structs.replace(each, depth=each.depth + deeper) for each in below))
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
    change(one, structs.replace(above, parent=other.id, kind="residual", depth=2))
    with two.writing() as batch:
        batch.add_node("task", child, vector(2))
        batch.log("learn")
    change(two, structs.replace(other, parent=child.id, kind="residual", depth=3))
    for number, order in enumerate(([one, two], [two, one])):
        merged = new(str(tmp_path), f"merged{number}", order)
        found = merged.tree("task").node(child.id)
        assert (found.parent, found.revision) == (None, 0)
        package.pack(merged).write(tmp_path / f"{number}.deltamem")
        installed, _ = install(receive(tmp_path / f"{number}.deltamem"), tmp_path / f"in{number}")
        assert verify(installed) == []


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
    merged_into(one, two)
    assert one.episodes.record("1" * 16) == records["two"][0]


def test_what_only_one_bank_can_say_stays_the_firsts_and_is_told(tmp_path: Path) -> None:
    numbers = [{"task": {"tau_base": tau}} for tau in (0.5, 0.6)]
    one, two = (
        Bank.create(
            tmp_path / name,
            replace(manifest(name), settings=each, domain=domain, provenance={"who": name}),
        )
        for name, each, domain in zip(("one", "two"), numbers, ("generic", "kitchens"), strict=True)
    )
    plan = merged_into(one, two)
    assert plan.disagreements == [("two", FieldChange("task.tau_base", 0.5, 0.6))]
    assert one.manifest.settings == numbers[0]
    assert one.manifest.domain == "kitchens"
    theirs = {"name": "two", "origin": two.manifest.origin, "who": "two"}
    assert one.manifest.provenance == {"who": "one", "merged": [theirs]}
    merged_into(two, one)
    merged_into(one, two)
    assert one.manifest.provenance["merged"].count(theirs) == 1


def test_what_another_writer_did_meanwhile_is_merged_too(pair: tuple[Bank, Bank]) -> None:
    """A plan that was made of an older state is not written."""
    one, two = pair
    append_all(two, "new", nodes(two)["c"])
    made: list[MergePlan] = []

    def plan() -> MergePlan:
        made.append(MergePlan([one, two]))
        if len(made) == 1:
            append_all(Bank.open(one.path), "meanwhile", nodes(two)["a"])
        return made[-1]

    assert merge_into(one, plan) is made[1]
    assert {"new", "meanwhile"} <= set(nodes(one))
    assert verify(Bank.open(one.path)) == []


SOURCES = ("unknown", "judge", "stated", "user")
WORDS = st.fixed_dictionaries(
    {
        "source": st.sampled_from(SOURCES),
        "success": st.sampled_from((None, True, False)),
        "reason": st.sampled_from(("", "so it seems")),
    }
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    outcome, *others = draw(
        st.lists(WORDS, min_size=1, max_size=4, unique_by=lambda w: w["source"])
    )
    scene = draw(st.sampled_from(({}, {"drawn_scene": "a kitchen"}, {"drawn_scene": "a bedroom"})))
    record = {"id": "1" * 16, "outcome": outcome, "metadata": scene}
    verdicts = [each for each in others if each["source"] != "unknown"]
    receipts = draw(st.sampled_from(({}, {"receipts": [{"id": "2" * 16}]})))
    return orjson.dumps(record | ({"verdicts": verdicts} if verdicts else {}) | receipts)


@given(lines(), lines(), lines())
def test_banks_may_come_in_any_order_and_again(one: bytes, two: bytes, three: bytes) -> None:
    both = united(one, two)
    assert both == united(two, one)
    assert united(both, one) == both
    assert united(both, three) == united(one, united(two, three))


@given(lines(), lines())
def test_a_person_counts_before_the_log_and_that_before_a_judge(one: bytes, two: bytes) -> None:
    said = [
        word
        for record in map(orjson.loads, (one, two))
        for word in (record["outcome"], *record.get("verdicts", ()))
    ]
    found = orjson.loads(united(one, two))
    doubts = any(each["source"] == "user" and each["success"] is None for each in said)
    known = [
        each["source"]
        for each in said
        if each["success"] is not None and not (doubts and each["source"] == "user")
    ]
    if known:
        assert found["outcome"]["source"] == max(known, key=SOURCES.index)
    kept = [found["outcome"], *found.get("verdicts", ())]
    assert {each["source"] for each in kept} | {"unknown"} == {
        *(each["source"] for each in said),
        "unknown",
    }
    assert all(each in said for each in kept)


@given(lines())
def test_a_person_who_cannot_tell_takes_back_what_they_said(line: bytes) -> None:
    """Of copies of one bank, the one in which the verdict was withdrawn is the later."""
    failure = {"source": "user", "success": False, "reason": ""}
    doubt = {"source": "user", "success": None, "reason": "cannot tell"}
    record = orjson.loads(line)
    old, new = (orjson.dumps(record | {"verdicts": [each]}) for each in (failure, doubt))
    found = orjson.loads(united(old, new))
    if record["outcome"]["source"] != "user":
        assert doubt in [found["outcome"], *found.get("verdicts", ())]
        assert failure not in [found["outcome"], *found.get("verdicts", ())]
