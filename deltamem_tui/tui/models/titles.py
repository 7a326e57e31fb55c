"""Titles of neighbours: what tells each from the others is kept in sight, the rest gives way.

Nodes of one family begin alike, and often part late. So a title that does not fit leaves out
what most of its neighbours, or its parent, say as well. Titles that are still the same are told
apart by the words where they part, then by what else their entries say, at last by their ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, takewhile
from operator import itemgetter

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
    texts = [cuttable(entry[0]) for entry in entries]
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
    end = f"{_LEFT_OUT}{' '.join(kept)} " if kept else ""
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
    texts: Sequence[str], width: int, above: str = "", sought: Sequence[str] = ()
) -> dict[str, Title]:
    """Different texts with their titles; of those that look the same, what they part in."""
    words = {text: text.split(" ") for text in texts}
    common = _common(texts, above)
    found = {text: _fitted(words[text], common, width, sought) for text in texts}
    for places in _same([*found.values()]):
        alike = [texts[place] for place in places]
        begun = _begun([words[text] for text in alike])
        if not begun:
            continue
        head = _head(found[alike[0]], width // 2)
        room = width - cell_len(shown(head))
        ends = {text: " ".join(words[text][begun:]) for text in alike}
        apart = _apart([*ends.values()], room, sought=sought)
        found |= {text: (*head, *apart[end]) for text, end in ends.items()}
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


def _head(title: Title, width: int) -> Title:
    """The beginning of what several titles share, as far as there is room, and an ellipsis."""
    text = shown(title)
    begin = set_cell_size(text, min(cell_len(text), width)).rpartition(" ")[0].rstrip()
    return (Piece(f"{begin} {_LEFT_OUT}" if begin else _LEFT_OUT, repeats=True),)


def _fitted(
    words: Sequence[str], common: AbstractSet[WordSequence], width: int, sought: Sequence[str]
) -> Title:
    """A text in at most `width` cells: what is common and not sought gives way, from the left."""
    kept = holding(words, sought)
    repeated = repeated_words(words, common)
    marks = [each and not keep for each, keep in zip(repeated, kept, strict=True)]
    pieces = [
        Piece(" ".join(word for word, _ in run), repeats)
        for repeats, run in groupby(zip(words, marks, strict=True), key=itemgetter(1))
    ]
    if len(pieces) == 1:
        return _cut((Piece(pieces[0].text, repeats=False),), width)
    for place, piece in enumerate(pieces):
        if cell_len(shown(_spaced(pieces))) <= width:
            break
        if piece.repeats and cell_len(piece.text) >= _LEAST:
            pieces[place] = Piece(_LEFT_OUT, repeats=True)
    return _cut(_spaced(pieces), width)


def _spaced(pieces: Sequence[Piece]) -> Title:
    """The pieces of a line, a space between any two but behind an ellipsis."""
    last = len(pieces) - 1
    return tuple(
        piece
        if place == last or piece.text == _LEFT_OUT
        else Piece(f"{piece.text} ", piece.repeats)
        for place, piece in enumerate(pieces)
    )


def _cut(title: Title, width: int) -> Title:
    """As much of a title as there is room for."""
    if cell_len(shown(title)) <= width:
        return title
    room, kept = width - cell_len(_LEFT_OUT), list[Piece]()
    for piece in title:
        text = set_cell_size(piece.text, max(min(cell_len(piece.text), room), 0))
        kept.append(Piece(text, piece.repeats))
        room -= cell_len(text)
    kept = [piece for piece in kept if piece.text]
    if kept and kept[-1].text == _LEFT_OUT:
        return tuple(kept)
    return (*kept, Piece(_LEFT_OUT, repeats=True))
