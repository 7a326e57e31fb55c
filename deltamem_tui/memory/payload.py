"""What may be written as a node's texts, written by rules, a model or a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deltamem_tui.bank.node import TEXT_LIMIT
from deltamem_tui.errors import ExtractionError
from deltamem_tui.text import clean, one_line


def cleaned(
    payload: Mapping[str, str], fields: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, str]:
    """The payload without control characters and outer white space, in the fields' order.

    Args:
        payload: The texts of a node, by field.
        fields: The fields of its collection.
        optional: Those that may be empty.

    Raises:
        ExtractionError: A field is empty that must not be, unknown, or far too long.
    """
    if unknown := set(payload).difference(fields):
        raise ExtractionError(f"the payload has an unknown field {one_line(min(unknown), 40)!r}")
    texts = {name: clean(payload.get(name, "")).strip() for name in fields}
    empty = [name for name, text in texts.items() if not text and name not in optional]
    if empty:
        raise ExtractionError(f"the payload has no {empty[0].replace('_', ' ')}")
    if max(map(len, texts.values())) > TEXT_LIMIT:
        raise ExtractionError(f"the payload is longer than {TEXT_LIMIT:,} characters")
    return texts
