"""WebShop as people used it: one line a page view. What they did, the next page tells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import urlsplit

from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.outcome_keys import stated_under
from deltamem_tui.trajectory.readers.reader import Reader, share
from deltamem_tui.trajectory.readers.sessions import Session, sessions
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.whole_log import stray

# Lists and mappings come as themselves, or as Python writes them.
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_SESSION = re.compile(r"\d{8}_\d+_\w+|fixed_\d+")
_LONGEST = 2_000  # characters of a written list; nobody types more keywords


@dataclass(frozen=True, slots=True)
class _View:
    """One page as it was seen."""

    page: str
    keywords: tuple[str, ...] = ()
    number: int = 1
    item: str = ""
    options: tuple[tuple[str, str], ...] = ()
    tab: str = ""
    text: str = ""


def _view(value: object) -> _View:
    record = as_mapping(value)
    content = as_mapping(record.get("content"))
    page = as_text(record.get("page"))
    number = as_text(content.get("page"))
    return _View(
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
    """The tab of an item's page (Description, Features, …), which only the address names."""
    try:
        parts = urlsplit(as_text(record.get("url"))).path.split("/")
    except ValueError:  # no address
        return ""
    return next((part for part in parts if part.isalpha() and part[:1].isupper()), "")


def _described(page: str, content: Json) -> str:
    """What the log keeps of a page, in words."""
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


def _action(before: _View, after: _View) -> str:
    """What somebody did to come from one page to the next; empty if it was only loaded anew."""
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


def _action_to_results(before: _View, after: _View) -> str:
    if before.page == "index" or before.keywords != after.keywords:
        return f"search[{' '.join(after.keywords)}]"
    if before.page == "search_results" and after.number > before.number:
        return "click[Next >]"
    return "click[< Prev]"


def _action_to_item(before: _View, after: _View) -> str:
    if before.page == "item_sub_page":
        return "click[< Prev]"
    chosen = [value for name, value in after.options if (name, value) not in before.options]
    if before.item == after.item and before.page == "item_page":
        return f"click[{chosen[0]}]" if chosen else ""
    return f"click[{after.item}]"


@dataclass(slots=True)
class _Visit(Session):
    """The pages that somebody saw in one visit."""

    pages: list[object] = field(default_factory=list)

    def begins_another(self, value: object) -> bool:
        return _is_page(value) and _session(value) != _session(self.pages[0])

    def take(self, value: object) -> None:
        if not _is_page(value):
            raise stray("no view of a page")
        self.pages.append(value)

    def episode(self) -> Trajectory:
        first, last = as_mapping(self.pages[0]), as_mapping(self.pages[-1])
        views = list(map(_view, self.pages))
        goal = as_mapping(first.get("goal"))
        name = _session(first)
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
            metadata={"id": name} if name else {},
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


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, _is_page_view)


READER = Reader(
    name="webshop-human",
    description="WebShop as people used it: JSONL of page views with goal and url",
    claims=_claims,
    read=sessions(_Visit),
)
