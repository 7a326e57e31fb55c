"""A question to a bank, and its answer, with other numbers beside the bank's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.protocol import EmbedderCard
from deltamem_tui.memory.method import display_of, method_of
from deltamem_tui.memory.recall_result import CollectionRecall, Query, RecallResult
from deltamem_tui.memory.vectors.search import Candidate, EmbeddingCache, card_of, embedder_of

CANDIDATES = 20
_RULES = {"kind": "kind of task", "work": "similar past tasks"}
NOTHING_RECALLED = "Nothing is recalled: the agent is told nothing."


Embedders = dict[EmbedderCard, EmbeddingCache]
"""The embedders that were asked for: to change a number embeds nothing anew."""


def answer(bank: Bank, query: Query, embedders: Embedders) -> RecallResult:
    """Ask a bank, with its embedder, which is loaded when it is first asked for."""
    card = card_of(bank)
    if card not in embedders:
        embedders[card] = EmbeddingCache(embedder_of(bank))
    return method_of(bank).recall(bank, query, embedders[card])


@dataclass(frozen=True, slots=True)
class MatchLine:
    """One line of a collection's answer: a candidate, or what a line between them says."""

    kind: Literal["match", "runner-up", "threshold", "rule"]
    text: str = ""
    candidate: Candidate | None = None
    title: str = ""


def match_lines(bank: Bank, found: CollectionRecall | None) -> list[MatchLine]:
    """Return the candidates, best first, and a line for the threshold or another rule."""
    if found is None:
        return []
    lines = [
        MatchLine("match" if found.matches(each) else "runner-up", candidate=each, title=title)
        for each, title in zip(found.candidates, _titles(bank, found), strict=True)
    ]
    others = sum(each.rule != "threshold" for each in found.candidates)
    if uses_threshold(found):
        above = others + sum(each.score >= found.threshold for each in found.candidates[others:])
        lines.insert(above, MatchLine("threshold", f"threshold {found.threshold:g}"))
    if others:
        text = f"↑ by {_RULES.get(found.rule, found.rule)} · ↓ for comparison"
        lines.insert(others, MatchLine("rule", text))
    return lines


def _titles(bank: Bank, found: CollectionRecall) -> list[str]:
    """Return the titles of the candidates, no two alike where their texts are not."""
    nodes = [each.node for each in found.candidates]
    titles = display_of(bank, found.collection).titles(nodes)
    return [title or node.id for title, node in zip(titles, nodes, strict=True)]


def uses_threshold(found: CollectionRecall | None) -> bool:
    """Return whether a threshold decided what is recalled."""
    if found is None or found.threshold <= -1:
        return False
    return found.match is None or found.match.rule == "threshold"


def why_matched(bank: Bank, found: CollectionRecall | None) -> str:
    """Say why the first node matched and not the next; empty if nothing was asked."""
    if found is None:
        return ""
    if not found.candidates:
        return "Nothing is known here yet."
    display, match = display_of(bank, found.collection), found.match
    if match is None:
        limit, score = found.threshold, found.candidates[0].score
        far = f"below the threshold {limit:g}" if limit > -1 else "not near enough"
        return f"No match: the best score, {score:.3f}, is {far}."
    if match.rule != "threshold":
        root = display.of_title(found.chain[0])
        kind = f" ({root})" if match.rule == "kind" and display.layered else ""
        how = _RULES.get(match.rule, match.rule)
        why = f"Matched by {how}{kind}. The threshold is not used."
    elif found.threshold > -1:
        why = f"Its score {match.score:.3f} reaches the threshold {found.threshold:g}."
    else:
        why = "The nearest are recalled, whatever their score."
    place = found.candidates.index(match) + 1
    if place == len(found.candidates):
        return why
    following = found.candidates[place]
    title = f"The next, “{_titles(bank, found)[place]}”,"
    if found.matches(following):
        return f"{why} {title} is recalled too."
    above = bank.tree(found.collection).chain(following.node.id)[0]
    is_kin = match.rule == "kind" and above.id == found.chain[0].id
    if following.rule != match.rule and (is_kin or following.score <= match.score):
        reason = "is of this kind, but its names are less similar" if is_kin else "is less similar"
        return f"{why} {title} {reason}."
    if -1 < found.threshold <= following.score and match.rule == "threshold":
        return f"{why} {title} reaches it too ({following.score:.3f}), but only the best is used."
    less = " as a failure" if following.penalty and following.node.label == "failure" else ""
    return f"{why} {title} scores {following.score:.3f}{less}."
