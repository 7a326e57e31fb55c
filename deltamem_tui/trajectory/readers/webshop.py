"""WebShop: as ReAct text that ends with a score, and as people used it, a line a page view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcomes import stated_under
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.labelled import SEARCH_LOG, labelled_parts
from deltamem_tui.trajectory.readers.reader import Reader, Reading, json_reader
from deltamem_tui.trajectory.readers.sessions import Session, line_blocks, sessions, stray
from deltamem_tui.trajectory.readers.shapes import as_list, as_mapping, as_text

_ACTION = re.compile(r"^Action:[ \t]*", re.MULTILINE)
_RESET = re.compile(r"^Action:[ \t]*reset\b", re.MULTILINE)
_PAGE_ACTION = re.compile(r"^Action:[ \t]*(?:search|click|think)\[", re.MULTILINE)
_THOUGHT = re.compile(r"think\[(?P<text>.*)\]?", re.DOTALL)
_SCORE = re.compile(r"Your score \(min 0\.0, max 1\.0\):[ \t]*(?P<score>-?[\d.]+)")
_INSTRUCTION = re.compile(r"Instruction:\s*(?P<goal>.+?)(?:\n|\[SEP\]|\[Search\]|\Z)", re.DOTALL)
# Between episodes the program that ran them prints its running means and a rule.
_BETWEEN = re.compile(r"^(?:-{10,}|\d+(?: [\d.]+){3})[ \t]*$")


def _read(log: Log) -> Iterator[Reading]:
    number = ""  # is printed before an episode, as the last line of the block before
    for block in line_blocks(log, "an episode", begins=_RESET.match):
        if isinstance(block, RecordError):
            yield block
            continue
        yield from _text_episode(block, number)
        last = next((line.text.strip() for line in reversed(block) if line.text.strip()), "")
        number = last if last.isdecimal() else ""


def _text_episode(block: list[TextLine], number: str) -> Iterator[Reading]:
    position, texts = block[0].position, [line.text for line in block]
    begin = next((index for index, text in enumerate(texts) if _ACTION.match(text)), None)
    if begin is None:
        return
    if not _RESET.match(texts[0]):
        reason = "actions whose beginning, with the task, is not in the log"
        yield RecordError(reason, position=position)
        return
    parts = labelled_parts(takewhile(lambda text: not _BETWEEN.match(text), texts))
    steps = _text_steps(parts)
    page, *done = steps
    goal = _INSTRUCTION.search(page.observation)
    if goal is None:
        yield RecordError("no `Instruction:` on the first page", position=position)
        return
    scores = [found["score"] for step in steps if (found := _SCORE.search(step.observation))]
    yield Trajectory(
        task=goal["goal"].strip(),
        steps=tuple(done),
        outcome=stated_under({"Your score": scores[-1]}, "Your score") if scores else Outcome(),
        source=LogSource(position=position),
        domain="webshop",
        metadata={"id": number} if number else {},
    )


def _text_steps(parts: Iterator[tuple[str, str]]) -> list[Step]:
    steps: list[Step] = []
    thoughts: list[str] = []
    thinks = False
    for kind, text in parts:
        if kind == "action":
            thought = _THOUGHT.fullmatch(text)
            thinks = thought is not None
            if thought:
                thoughts.append(thought["text"].removesuffix("]").strip())
            else:
                steps.append(Step(text, "", "\n".join(thoughts)))
                thoughts = []
        elif not thinks:
            last = steps.pop()
            steps.append(Step(last.action, text, last.thought))
    return steps


def _text_claims(preview: Preview) -> float:
    if preview.layout != "text" or SEARCH_LOG.search(preview.head):
        return 0.0
    return 0.9 * bool(_RESET.search(preview.head) or _PAGE_ACTION.search(preview.head))


# Lists and mappings come as themselves, or as Python writes them.
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_SESSION = re.compile(r"\d{8}_\d+_\w+|fixed_\d+")
_TAB = re.compile(r"/([A-Z][A-Za-z]*)(?:/|$)")
_LONGEST = 2_000  # characters of a written list; a person types fewer keywords


@dataclass(frozen=True, slots=True)
class _PageView:
    page: str
    keywords: tuple[str, ...]
    number: int
    item: str
    options: tuple[tuple[str, str], ...]
    tab: str
    text: str


def _view(value: object) -> _PageView:
    record = as_mapping(value)
    content, page = as_mapping(record.get("content")), as_text(record.get("page"))
    number, item = as_text(content.get("page")), as_text(content.get("asin"))
    pairs = _words(content.get("options"))
    options = tuple(zip(pairs[::2], pairs[1::2], strict=False))
    # The tab of an item's page (Description, Features, …) is only in the address.
    tab = _TAB.search(as_text(record.get("url"))) if page == "item_sub_page" else None
    seen = {
        "results": ", ".join(_words(content.get("search_result_asins"))),
        "item": item,
        "options": ", ".join(f"{name}: {value}" for name, value in options),
        "price": as_text(content.get("price")),
    }
    lines = (f"{name}: {text}" for name, text in seen.items() if text)
    return _PageView(
        page=page,
        keywords=_words(content.get("keywords")),
        number=int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1,
        item=item,
        options=options,
        tab=tab[1] if tab else "",
        text="\n".join([page.replace("_", " "), *lines]),
    )


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(one or other for one, other in _QUOTED.findall(value[:_LONGEST])) or (value,)
    pairs = (text for pair in as_mapping(value).items() for text in pair)
    return tuple(map(as_text, as_list(value) or pairs))


def _action(before: _PageView, after: _PageView) -> str:
    chosen = [value for name, value in after.options if (name, value) not in before.options]
    is_same_item = before.item == after.item and before.page == "item_page"
    moves = {
        "index": "click[Back to Search]" if before.page != "index" else "",
        "item_sub_page": f"click[{after.tab or 'Description'}]",
        "item_page": (
            "click[< Prev]"
            if before.page == "item_sub_page"
            else "".join(f"click[{each}]" for each in chosen[:1])
            if is_same_item
            else f"click[{after.item}]"
        ),
        "search_results": (
            f"search[{' '.join(after.keywords)}]"
            if before.page == "index" or before.keywords != after.keywords
            else "click[Next >]"
            if before.page == "search_results" and after.number > before.number
            else "click[< Prev]"
        ),
        "done": "click[Buy Now]",
    }
    return "" if after == before else moves.get(after.page, f"open[{after.page}]")


@dataclass(slots=True)
class _Visit(Session):
    pages: list[object] = field(default_factory=list)

    def begins_another(self, value: object) -> bool:
        return _is_page(value) and _session(value) != _session(self.pages[0])

    def take(self, value: object) -> None:
        if not _is_page(value):
            raise stray("not a page view")
        self.pages.append(value)

    def episode(self, _: Conversation) -> Trajectory:
        first, last = as_mapping(self.pages[0]), as_mapping(self.pages[-1])
        views = list(map(_view, self.pages))
        moves = ((_action(before, after), after.text) for before, after in pairwise(views))
        return Trajectory(
            task=as_text(as_mapping(first.get("goal")).get("instruction_text")).strip(),
            steps=tuple(Step(action, text) for action, text in moves if action),
            outcome=stated_under(last, "reward") if views[-1].page == "done" else Outcome(),
            domain="webshop",
            agent="human",
            metadata={"id": _session(first)},
        )


def _session(value: object) -> str:
    found = _SESSION.search(as_text(as_mapping(value).get("url")))
    return found[0] if found else ""


def _is_page(value: object) -> bool:
    return {"page", "url"} <= as_mapping(value).keys()


READERS = (
    Reader(
        name="webshop",
        description="WebShop as ReAct text, also in a notebook: Action, Observation, Your score",
        claims=_text_claims,
        read=_read,
    ),
    json_reader(
        name="webshop-human",
        description="WebShop as people used it: JSONL of page views with goal and url",
        is_own=lambda value: (
            _is_page(value) and "instruction_text" in as_mapping(as_mapping(value).get("goal"))
        ),
        read=sessions(_Visit),
    ),
)
