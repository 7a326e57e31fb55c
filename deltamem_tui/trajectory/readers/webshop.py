"""WebShop: as ReAct text that ends with a score, and as people used it, a line a page view."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import urlsplit

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Log
from deltamem_tui.trajectory.logs.record import Preview, TextLine
from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.labelled import SEARCH_LOG, TextTurn
from deltamem_tui.trajectory.readers.reader import Reader, Reading, json_reader
from deltamem_tui.trajectory.readers.sessions import Session, line_blocks, sessions, stray
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text

_ACTION = re.compile(r"^Action:[ \t]*(?P<text>.*)")
_OBSERVATION = re.compile(r"^Observation:[ \t]*(?P<text>.*)")
_RESET = re.compile(r"^Action:[ \t]*reset\b", re.MULTILINE)
_PAGE_ACTION = re.compile(r"^Action:[ \t]*(?:search|click|think)\[", re.MULTILINE)
_THOUGHT = re.compile(r"think\[(?P<text>.*)\]?", re.DOTALL)
_SCORE = re.compile(r"Your score \(min 0\.0, max 1\.0\):[ \t]*(?P<score>-?[\d.]+)")
_INSTRUCTION = re.compile(r"Instruction:\s*(?P<goal>.+?)(?:\n|\[SEP\]|\[Search\]|\Z)", re.DOTALL)
_NUMBER = re.compile(r"^\d+$")
# Between episodes the program that ran them prints its running means and a rule.
_BETWEEN = re.compile(r"^(?:-{10,}|\d+(?: [\d.]+){3})[ \t]*$")


def _read(log: Log) -> Iterator[Reading]:
    before: list[TextLine] = []
    for block in line_blocks(log, "an episode", begins=_RESET.match):
        if isinstance(block, RecordError):
            yield block
        else:
            yield from _finished(block, _number_before(before))
            before = block


def _number_before(block: list[TextLine]) -> str:
    """Return the number that is printed before an episode, the last line of the block before."""
    last = next((line.text.strip() for line in reversed(block) if line.text.strip()), "")
    return last if _NUMBER.match(last) else ""


def _finished(block: list[TextLine], number: str) -> Iterator[Reading]:
    texts = [line.text for line in block]
    if not any(map(_ACTION.match, texts)):
        return
    position = block[0].position
    if not _RESET.match(texts[0]):
        yield RecordError(
            "actions whose beginning, with the task, is not in the log", position=position
        )
        return
    turns = _turns(texts)
    page = turns[0].observation
    goal = _INSTRUCTION.search(page)
    if goal is None:
        yield RecordError("no `Instruction:` on the first page", position=position)
        return
    yield Trajectory(
        task=goal["goal"].strip(),
        steps=tuple(_steps(turns[1:])),
        outcome=_outcome(turns),
        source=LogSource(position=position),
        domain="webshop",
        metadata={"id": number} if number else {},
    )


def _turns(lines: Sequence[str]) -> list[TextTurn]:
    turns: list[TextTurn] = []
    for line in lines:
        action, observation = _ACTION.match(line), _OBSERVATION.match(line)
        if action:
            turns.append(TextTurn([action["text"]]))
        elif observation:
            turns[-1].answer = [observation["text"]]
        elif _BETWEEN.match(line):
            break
        elif turns[-1].answer:
            turns[-1].answer.append(line)
        else:
            turns[-1].lines.append(line)  # a thought of several lines
    return turns


def _steps(turns: Sequence[TextTurn]) -> Iterator[Step]:
    thoughts: list[str] = []
    for turn in turns:
        thought = _THOUGHT.fullmatch(turn.written)
        if thought:
            thoughts.append(thought["text"].removesuffix("]").strip())
        else:
            yield Step(turn.written, turn.observation, "\n".join(thoughts))
            thoughts = []


def _outcome(turns: Sequence[TextTurn]) -> Outcome:
    scores = [found["score"] for turn in turns if (found := _SCORE.search(turn.observation))]
    return stated_under({"Your score": scores[-1]}, "Your score") if scores else Outcome()


def _text_claims(preview: Preview) -> float:
    if preview.layout != "text" or SEARCH_LOG.search(preview.head):
        return 0.0
    return 0.9 * bool(_RESET.search(preview.head) or _PAGE_ACTION.search(preview.head))


TEXT = Reader(
    name="webshop",
    description="WebShop as ReAct text, also inside a notebook: Action, Observation, Your score",
    claims=_text_claims,
    read=_read,
)


# Lists and mappings come as themselves, or as Python writes them.
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_SESSION = re.compile(r"\d{8}_\d+_\w+|fixed_\d+")
_LONGEST = 2_000  # characters of a written list; a person types fewer keywords


@dataclass(frozen=True, slots=True)
class _PageView:
    """One page as it was seen."""

    page: str
    keywords: tuple[str, ...] = ()
    number: int = 1
    item: str = ""
    options: tuple[tuple[str, str], ...] = ()
    tab: str = ""
    text: str = ""


def _view(value: object) -> _PageView:
    record = as_mapping(value)
    content = as_mapping(record.get("content"))
    page = as_text(record.get("page"))
    number = as_text(content.get("page"))
    return _PageView(
        page=page,
        keywords=_words(content.get("keywords")),
        number=int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 1,
        item=as_text(content.get("asin")),
        options=_options(content.get("options")),
        tab=_tab(record) if page == "item_sub_page" else "",
        text=_described(page, content),
    )


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(first or second for first, second in _QUOTED.findall(value[:_LONGEST])) or (
            value,
        )
    return tuple(as_text(word) for word in as_list(value))


def _options(value: object) -> tuple[tuple[str, str], ...]:
    if isinstance(value, str):
        words = [first or second for first, second in _QUOTED.findall(value[:_LONGEST])]
        return tuple(zip(words[::2], words[1::2], strict=False))
    return tuple((key, as_text(option)) for key, option in as_mapping(value).items())


def _tab(record: Json) -> str:
    """Return the tab of an item's page (Description, Features, …), which only the address names."""
    try:
        parts = urlsplit(as_text(record.get("url"))).path.split("/")
    except ValueError:  # no address
        return ""
    return next((part for part in parts if part.isalpha() and part[:1].isupper()), "")


def _described(page: str, content: Json) -> str:
    """Return what the log keeps of a page, in words."""
    found = ", ".join(_words(content.get("search_result_asins")))
    price = as_text(content.get("price"))
    options = ", ".join(f"{name}: {value}" for name, value in _options(content.get("options")))
    lines = [
        page.replace("_", " "),
        f"results: {found}" if found else "",
        f"item: {as_text(content.get('asin'))}" if content.get("asin") else "",
        f"options: {options}" if options else "",
        f"price: {price}" if price else "",
    ]
    return "\n".join(filter(None, lines))


def _action(before: _PageView, after: _PageView) -> str:
    """Return the action that led from one page to the next; empty if it was only loaded anew."""
    if after == before:
        return ""
    if after.page == "index":
        return "click[Back to Search]" if before.page != "index" else ""
    if after.page == "search_results":
        return _action_to_results(before, after)
    if after.page == "item_sub_page":
        return f"click[{after.tab or 'Description'}]"
    if after.page == "item_page":
        return _action_to_item(before, after)
    return "click[Buy Now]" if after.page == "done" else f"open[{after.page}]"


def _action_to_results(before: _PageView, after: _PageView) -> str:
    if before.page == "index" or before.keywords != after.keywords:
        return f"search[{' '.join(after.keywords)}]"
    if before.page == "search_results" and after.number > before.number:
        return "click[Next >]"
    return "click[< Prev]"


def _action_to_item(before: _PageView, after: _PageView) -> str:
    if before.page == "item_sub_page":
        return "click[< Prev]"
    chosen = [value for name, value in after.options if (name, value) not in before.options]
    if before.item == after.item and before.page == "item_page":
        return f"click[{chosen[0]}]" if chosen else ""
    return f"click[{after.item}]"


@dataclass(slots=True)
class _Visit(Session):
    """The pages of one visit."""

    pages: list[object] = field(default_factory=list)

    def begins_another(self, value: object) -> bool:
        return _is_page(value) and _session(value) != _session(self.pages[0])

    def take(self, value: object) -> None:
        if not _is_page(value):
            raise stray("no view of a page")
        self.pages.append(value)

    def episode(self, _: Conversation) -> Trajectory:
        first, last = as_mapping(self.pages[0]), as_mapping(self.pages[-1])
        views = list(map(_view, self.pages))
        goal = as_mapping(first.get("goal"))
        bought = views[-1].page == "done"
        return Trajectory(
            task=as_text(goal.get("instruction_text")).strip(),
            steps=tuple(
                Step(action, after.text)
                for before, after in pairwise(views)
                if (action := _action(before, after))
            ),
            outcome=stated_under(last, "reward") if bought else Outcome(),
            domain="webshop",
            agent="human",
            metadata={"id": _session(first)},
        )


def _session(value: object) -> str:
    found = _SESSION.search(as_text(as_mapping(value).get("url")))
    return found[0] if found else ""


def _is_page(value: object) -> bool:
    return {"page", "url"} <= as_mapping(value).keys()


def _is_page_view(value: object) -> bool:
    record = as_mapping(value)
    return {"page", "url", "goal"} <= record.keys() and "instruction_text" in as_mapping(
        record["goal"]
    )


HUMAN = json_reader(
    name="webshop-human",
    description="WebShop as people used it: JSONL of page views with goal and url",
    is_own=_is_page_view,
    read=sessions(_Visit),
)
