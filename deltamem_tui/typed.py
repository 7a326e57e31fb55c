"""Data of declared types, read by msgspec from any thread.

What msgspec learns of a type it keeps at the type's first use, and it evaluates annotations while
it learns. If two threads use a type for the first time at once, its 0.22 ends the whole program by
a segmentation fault. So first uses take turns; nothing is lost by it, for conversions hold the
interpreter's lock anyway.
"""

from __future__ import annotations

import re
from threading import RLock
from typing import TypeVar

import msgspec

T = TypeVar("T")
_TURN = RLock()  # what is converted may convert a part of itself
_PATTERN = re.compile(r"matching regex '\^(\(?\[.).*?Z'")
_NAME, _ID = "of small letters, digits and _, a letter first", "of 16 digits, 0-9 and a-f"


def converted(value: object, kind: type[T]) -> T:
    """Plain data as a type.

    Raises:
        msgspec.ValidationError: It does not fit the type.
    """
    with _TURN:
        try:
            return msgspec.convert(value, kind)
        except UnicodeEncodeError as error:
            raise msgspec.ValidationError("a name that is not valid Unicode") from error
        except msgspec.ValidationError as error:
            words = _PATTERN.sub(lambda found: _NAME if found[1] == "[a" else _ID, str(error))
            raise msgspec.ValidationError(words) from error


def decoder_of(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Return what reads JSON as a type."""
    with _TURN:
        return msgspec.json.Decoder(kind)
