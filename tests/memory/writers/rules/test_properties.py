"""What holds for any episode and any chain."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.bank.node import Node
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.domain import GENERAL, domain_for
from deltamem_tui.memory.method import RulesExtractor
from deltamem_tui.text import clean, count_tokens, one_line
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from tests.effort import examples
from tests.memory.support import extract, fuse
from tests.memory.writers.rules.episodes import EVERY, learnt, node

RULES = RulesExtractor()
MOST_TOKENS = 1500

# Pieces of the known domains between arbitrary text: more likely to hit a rule than noise.
_PIECES = st.sampled_from(
    [
        "go to drawer 1", "take mug 2 from", "In it, you see a", "You open the drawer 1", "; ",
        "This room is called the kitchen. In it, you see: \n\t", "A door to the hallway (that",
        "Your task is to melt ", "Your task is to find a(n) ", "planes (", "B, D) has the",
        "click[", "color [red][blue]", "search[", "$9.99", "[B08H5DCD65]", "Ambiguous request", "0",
        "No known action", "focus on the thing", "Available actions: ", "(((", "→", "\x1b[31m",
        "\n", "After `", "[FAILED] ", "- ", "1. ",
    ]
)  # fmt: skip
TEXTS = st.lists(st.one_of(_PIECES, st.text(max_size=20)), max_size=6).map("".join)
STEPS = st.builds(
    Step, action=TEXTS, observation=TEXTS, reward=st.none() | st.floats(-100, 100, width=32)
)
EPISODES = st.builds(
    Trajectory,
    task=TEXTS.map(lambda text: f"do {text}").filter(one_line),
    environment=TEXTS,
    steps=st.lists(STEPS, max_size=12).map(tuple),
    outcome=st.builds(
        Outcome, success=st.booleans(), reward=st.none() | st.floats(0, 1), source=st.just("stated")
    ),
    domain=st.sampled_from(["", "alfworld", "scienceworld", "webshop", "other"]),
)
CHAINS = st.one_of(
    st.just(()),
    st.builds(Payload, TEXTS, TEXTS, TEXTS).map(lambda payload: (node(payload),)),
    st.sampled_from(EVERY).map(learnt),
)
TREE_NAMES: st.SearchStrategy[str] = st.sampled_from(["task", "env"])


@given(TREE_NAMES, EPISODES, CHAINS)
def test_any_episode_gives_a_whole_clean_bounded_payload_or_a_reason(
    tree: str, episode: Trajectory, chain: tuple[Node, ...]
) -> None:
    extraction = extract(RULES, tree, episode, chain)
    assert extraction == extract(RulesExtractor(), tree, episode, chain)
    assert extraction.reason
    assert "\n" not in extraction.reason
    payload = extraction.payload
    if payload is None:
        return
    assert payload["activation_condition"].strip()
    assert payload["execution_procedure"].strip()
    assert "\n" not in payload["activation_condition"]
    text = "\n".join(
        [
            payload["activation_condition"],
            payload["execution_procedure"],
            payload["termination_condition"],
        ]
    )
    assert clean(text) == text
    assert count_tokens(text) <= MOST_TOKENS
    of_work = domain_for(episode.domain) is GENERAL
    if tree == "task" and not episode.outcome.success and not of_work:
        assert payload["termination_condition"] == ""
        assert payload["execution_procedure"].startswith("[")


@given(TREE_NAMES, EPISODES, CHAINS)
def test_a_chain_that_holds_the_episode_has_nothing_to_learn_from_it(
    tree: str, episode: Trajectory, chain: tuple[Node, ...]
) -> None:
    first = extract(RULES, tree, episode, ())
    # Each episode of real work counts as evidence, the same one again too.
    counts = tree == "task" and domain_for(episode.domain) is GENERAL
    if first.payload is not None and not counts:
        held = learnt(episode, tree)
        assert extract(RULES, tree, episode, held).payload is None


@given(TREE_NAMES, st.lists(EPISODES, min_size=1, max_size=4))
def test_any_chain_fuses_into_a_whole_payload(tree: str, episodes: list[Trajectory]) -> None:
    chain: tuple[Node, ...] = ()
    for episode in episodes:
        if extract(RULES, tree, episode, chain).payload is not None:
            chain = learnt(episode, tree, chain)
    if chain:
        fused = fuse(RULES, tree, chain)
        assert fused == fuse(RULES, tree, chain)
        assert fused.payload is not None
        assert fused.payload["activation_condition"].strip()
        assert fused.payload["execution_procedure"].strip()


@examples(5)
@given(st.integers(1, 40))
def test_long_texts_are_cut_and_long_commands_left_out(size: int) -> None:
    long = "word " * (size * 1000)
    steps = (Step("ls", long), *(Step(f"{number} {long}", long) for number in range(4)))
    for success in (True, False):
        episode = Trajectory(long, long, steps, Outcome(success, None, "user"))
        payload = learnt(episode)[0].payload
        assert count_tokens(payload["execution_procedure"]) < 400
        assert count_tokens(payload["activation_condition"]) <= 200
