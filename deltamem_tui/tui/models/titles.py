"""Titles of neighbours: what tells each from the others is kept in sight, the rest gives way.

Nodes of one family begin alike, and often part late. So a title that does not fit leaves out
what most of its neighbours, or its parent, say as well. Titles that are still the same are told
apart by the words where they part, then by what else their entries say, at last by their ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby, takewhile

from rich.cells import cell_len, set_cell_size

from deltamem_tui.tui.models.found_words import holding
from deltamem_tui.tui.models.repeats import Piece, WordSequence, repeated_words, sequences
from deltamem_tui.tui.models.words import cuttable

BLOCK = 32
"""So many siblings are told apart at once: about as many as one sees."""

LIKE_ABOVE = "″ "
"""Stands for a title that an entry above has too."""

_LEAST = 8
"""Fewer cells than this are not worth a sign that something is left out."""

_LEAST_ID = 4
_LEFT_OUT = "…"

_FRAGMENT = 2
"""So few last words of a sentence say nothing where its beginning is left out."""

_GAP = f" {_LEFT_OUT}"
_ELLIPSES = re.compile(rf"{_LEFT_OUT}(?:\s*{_LEFT_OUT})+")
_ITEM = re.compile(r"\d+[.)]")
"""The number of a step, which says nothing where the step is left out."""

_SENTENCE_END = re.compile(r"[^\W\d_].*[.!?][)\]\"'”]*")

Title = tuple[Piece, ...]
Entry = Sequence[str]
"""What can be said of a node, the most telling first; the last is an id."""


def shown(title: Title) -> str:
    """A title as one sees it."""
    return "".join(piece.text for piece in title)


def titles(
    entries: Sequence[Entry], width: int, above: str = "", sought: Sequence[str] = ()
) -> list[Title]:
    """Titles by which neighbours can be told apart.

    Args:
        entries: What can be said of each, on one line, in the order in which they stand.
        width: The cells that a title may take.
        above: What stands above all of them, such as their parent's title; may be empty.
        sought: Words that do not give way, as a filter has them.

    Returns:
        A title for each. From 24 cells on, no two of them look the same.
    """
    if all(len(entry) == 1 for entry in entries):
        return [(Piece(each, repeats=False),) for each in _short([entry[0] for entry in entries])]
    texts = [_ELLIPSES.sub(_LEFT_OUT, cuttable(entry[0])) for entry in entries]
    by_text = _apart(list(dict.fromkeys(texts)), width, above, sought)
    found = [by_text[text] for text in texts]
    for places in [*_same(found), *_lone(texts, above)]:
        below = [entries[place][1:] for place in places]
        rest = titles(below, width - len(LIKE_ABOVE), sought=sought)
        for place, title in zip(places, rest, strict=True):
            if place != places[0] or texts[place] == above:
                left = entries[place][1:]
                told = title if len(left) > 1 else _ended(entries[place], shown(title), width)
                found[place] = _like_above(told, width)
    ids = _short([entry[-1] for entry in entries])
    for places in _same(found):
        for place in places[1:]:
            found[place] = _like_above(_ended(entries[place], ids[place], width), width)
    return found


def _ended(entry: Entry, node_id: str, width: int) -> Title:
    """The last words of what is said of a node that a neighbour says as well, and its id."""
    text = cuttable(next((each for each in entry[-2::-1] if each), ""))
    room, kept = width - cell_len(f"{LIKE_ABOVE}{LIKE_ABOVE}{_LEFT_OUT} {node_id}"), list[str]()
    for word in reversed(text.split()):
        if (room := room - cell_len(word) - 1) < 0:
            break
        kept.insert(0, word)
    said = _ELLIPSES.sub(_LEFT_OUT, " ".join(kept[_fragment(kept) :])).lstrip(_GAP)
    end = f"{_LEFT_OUT}{said} " if said else ""
    return (*((Piece(end, repeats=True),) if end else ()), Piece(node_id, repeats=False))


def _like_above(title: Title, width: int) -> Title:
    """A title behind the sign that what was said is said above; one sign is enough."""
    if title and title[0].text == LIKE_ABOVE:
        return _cut(title, width)
    return _cut((Piece(LIKE_ABOVE, repeats=True), *title), width)


def _same(found: Sequence[Title]) -> list[list[int]]:
    """The places of titles that look the same, where there are several."""
    places: dict[str, list[int]] = {}
    for place, title in enumerate(found):
        places.setdefault(shown(title), []).append(place)
    return [each for each in places.values() if len(each) > 1]


def _lone(texts: Sequence[str], above: str) -> list[list[int]]:
    """The place of the only text that says what stands above, if there is one."""
    return [[texts.index(above)]] if above and texts.count(above) == 1 else []


def _short(ids: Sequence[str]) -> list[str]:
    """The beginnings of some ids, as long as it takes to tell them apart."""
    length, different = _LEAST_ID, len(set(ids))
    longest = max(map(len, ids), default=0)
    while length < longest and len({each[:length] for each in ids}) < different:
        length += 1
    return [each[:length] for each in ids]


def _apart(
    texts: Sequence[str],
    width: int,
    above: str = "",
    sought: Sequence[str] = (),
    *,
    behind: bool = False,
) -> dict[str, Title]:
    """Different texts with their titles; of those that look the same, what they part in.

    They may be ends of texts, and stand `behind` what is left out of these.
    """
    words = {text: text.split(" ") for text in texts}
    common = _common(texts, above)
    found = {text: _fitted(words[text], common, width, sought, behind=behind) for text in texts}
    for places in _same([*found.values()]):
        alike = [texts[place] for place in places]
        begun = _begun([words[text] for text in alike])
        if not begun:
            continue
        head = _head(found[alike[0]], width // 2)
        room = width - cell_len(head.text)
        ends = {text: " ".join(words[text][begun:]) for text in alike}
        apart = _apart([*ends.values()], room, sought=sought, behind=True)
        found |= {text: _once((head, *apart[end])) for text, end in ends.items()}
    return found


def _common(texts: Sequence[str], above: str) -> frozenset[WordSequence]:
    """The sequences of words that tell nothing: of the parent, and of most of the others."""
    counts = Counter(each for text in texts for each in sequences([text]))
    others = len(texts) - 1
    often = {each for each, count in counts.items() if others and 2 * (count - 1) > others}
    return sequences([above]) | often


def _begun(texts: Sequence[Sequence[str]]) -> int:
    """How many words all of some texts begin with, one of each text left over."""
    alike = takewhile(lambda words: len(set(words)) == 1, zip(*texts, strict=False))
    return min(sum(1 for _ in alike), min(map(len, texts)) - 1)


def _head(title: Title, width: int) -> Piece:
    """The beginning of what several titles share, as far as there is room, and an ellipsis."""
    text = shown(title)
    begin = set_cell_size(text, min(cell_len(text), width)).rpartition(" ")[0].rstrip(_GAP)
    return Piece(f"{begin} {_LEFT_OUT} " if begin else _LEFT_OUT, repeats=True)


def _fitted(
    words: Sequence[str],
    common: AbstractSet[WordSequence],
    width: int,
    sought: Sequence[str],
    *,
    behind: bool,
) -> Title:
    """A text in at most `width` cells: what is common and not sought gives way, from the left."""
    kept = holding(words, sought)
    repeated = repeated_words(words, common)
    marks = [each and not keep for each, keep in zip(repeated, kept, strict=True)]
    if all(marks):
        marks = [False] * len(words)
    runs = [[*run] for _, run in groupby(range(len(words)), key=marks.__getitem__)]
    texts = [" ".join(words[place] for place in run) for run in runs]
    gone = [False] * len(words)
    for number, run in enumerate(runs):
        if cell_len(" ".join(texts)) <= width + (texts[0] == _LEFT_OUT):
            break
        if marks[run[0]] and cell_len(texts[number]) >= _LEAST:
            texts[number] = _LEFT_OUT
            gone[run[0] : run[-1] + 1] = [True] * len(run)
    _leave_out_numbers(words, gone, kept)
    if behind or any(gone):
        _leave_out_fragments(words, gone, kept, behind=behind)
    return _cut(_pieces(words, marks, gone), width)


def _leave_out_numbers(words: Sequence[str], gone: list[bool], kept: Sequence[bool]) -> None:
    """Leaves out the numbers of steps that stand alone; nothing, if nothing else is left."""
    between = zip([True, *gone], [*gone[1:], False], strict=False)
    less = [
        each or (all(around) and not keep and _ITEM.fullmatch(word) is not None)
        for each, around, keep, word in zip(gone, between, kept, words, strict=False)
    ]
    gone[:] = [False] * len(words) if all(less) else less


def _leave_out_fragments(
    words: Sequence[str], gone: list[bool], kept: Sequence[bool], *, behind: bool
) -> None:
    """Leaves out the last words of a sentence whose beginning is left out, if more follows.

    Where texts part their first words stay, and what follows these is left out.
    """
    runs = [[*run] for _, run in groupby(range(len(words)), key=gone.__getitem__)]
    for places in runs:
        rest = places if not gone[places[0]] and (places[0] or behind) else []
        while length := _fragment([words[place] for place in rest]):
            fragment, others = rest[:length], rest[length:]
            giving_way = fragment if places[0] else others
            if any(kept[place] for place in giving_way):
                break
            for place in giving_way:
                gone[place] = True
            rest = others if places[0] else fragment


def _fragment(words: Sequence[str]) -> int:
    """With how many words of a sentence some words begin that go on with another one."""
    for length in range(1, min(_FRAGMENT, len(words) - 1) + 1):
        if _SENTENCE_END.fullmatch(words[length - 1]) and words[length][:1].isupper():
            return length
    return 0


def _pieces(words: Sequence[str], marks: Sequence[bool], gone: Sequence[bool]) -> Title:
    """Words as the pieces of a line, with an ellipsis for each stretch that is left out."""
    pieces, begin, end = list[Piece](), 0, len(words)
    for (is_gone, repeats), run in groupby(zip(gone, marks, strict=True)):
        stop = begin + sum(1 for _ in run)
        text = _LEFT_OUT if is_gone else " ".join(words[begin:stop])
        space = "" if stop == end or (is_gone and not begin) else " "
        pieces.append(Piece(f"{text}{space}", is_gone or repeats))
        begin = stop
    return _once(pieces)


def _once(pieces: Iterable[Piece]) -> Title:
    """The pieces of a line, with one ellipsis where there are two in a row."""
    kept = list[Piece]()
    for piece in pieces:
        text = piece.text
        if kept and kept[-1].text.rstrip().endswith(_LEFT_OUT):
            text = text.lstrip(_GAP)
        if text:
            kept.append(replace(piece, text=text))
    return tuple(kept)


def _cut(title: Title, width: int) -> Title:
    """As much of a title as there is room for."""
    if cell_len(shown(title)) <= width:
        return title
    room, kept = width - cell_len(_LEFT_OUT), list[Piece]()
    for piece in title:
        text = set_cell_size(piece.text, max(min(cell_len(piece.text), room), 0))
        kept.append(Piece(text, piece.repeats))
        room -= cell_len(text)
    while kept and not kept[-1].text.strip(_GAP):
        kept.pop()
    if kept and kept[-1].text.rstrip().endswith(_LEFT_OUT):
        kept[-1] = replace(kept[-1], text=f"{kept[-1].text.rstrip(_GAP)} ")
    return (*kept, Piece(_LEFT_OUT, repeats=True))
