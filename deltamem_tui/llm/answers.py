"""Answers: the JSON object in a model's answer, checked against what it was asked for.

Models wrap JSON in fences, greetings and thoughts, so the object is searched for. Whether it is
the right one is decided strictly, and each refusal is worded so that the model can mend it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deltamem_tui.text import clean, count_tokens, one_line

ANSWER_LIMIT = 200_000
SKIP = "skip"
QUOTE = "quote"
ITEMS = "items"

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_MOST_ATTEMPTS = 200
# Models count words badly: what is a little over is still what was asked for.
_TOLERANCE = 1.25
_LONGEST_WORD = 20


class UnusableAnswer(Exception):  # noqa: N818 - not a failure: the reason to ask again
    """What is wrong with an answer, worded for its model. Never leaves this package."""


@dataclass(frozen=True, slots=True)
class Field:
    """One text of the object that is asked for; it must stay empty if it may have 0 words."""

    name: str
    most_words: int
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Skip:
    """The model says that there is nothing to write.

    Attributes:
        quote: The known text that it says covers everything; empty if it quoted nothing.
    """

    quote: str


@dataclass(frozen=True, slots=True)
class Contract:
    """The object that is asked for; `{"skip": true, "quote": "…"}` may come instead if `skip`.

    Attributes:
        items: The most objects, if `{"items": […]}` is asked for, a list of them; 0 if it is one.
            The list may be empty if `skip`.
    """

    fields: tuple[Field, ...]
    skip: bool = False
    items: int = 0

    def schema(self) -> dict[str, Any]:
        """The object as a JSON schema, in the subset that providers take as strict.

        In that subset every key must be there, so a model that skips leaves the texts empty.
        """
        properties: dict[str, Any] = {field.name: {"type": "string"} for field in self.fields}
        if self.items:
            return _object_schema({ITEMS: {"type": "array", "items": _object_schema(properties)}})
        if self.skip:
            properties |= {SKIP: {"type": "boolean"}, QUOTE: {"type": "string"}}
        return _object_schema(properties)

    def read(self, text: str) -> Mapping[str, str] | Skip:
        """Find the object in `text` and check it.

        Raises:
            UnusableAnswer: It is not there, or not as asked for.
        """
        answer = json_object(text)
        if answer.get(SKIP, False) is not False:
            return self._skipped(answer)
        return self._texts(answer, {SKIP, QUOTE} if self.skip else {SKIP})

    def read_items(self, text: str) -> tuple[Mapping[str, str], ...]:
        """Find the list of objects in `text` and check each.

        Raises:
            UnusableAnswer: It is not there, or not as asked for.
        """
        answer = json_object(text)
        found = answer.get(ITEMS)
        if set(answer) != {ITEMS} or not isinstance(found, list):
            raise UnusableAnswer(f'the object must have the one field "{ITEMS}", a list of objects')
        if len(found) > self.items:
            raise UnusableAnswer(f"there are {len(found)} items; there may be {self.items}")
        if not found and not self.skip:
            raise UnusableAnswer("there is no item: give one at least")
        if not all(isinstance(each, dict) for each in found):
            raise UnusableAnswer("each item must be an object")
        return tuple(self._texts(each, set()) for each in found)

    def _texts(self, answer: Mapping[str, Any], further: set[str]) -> Mapping[str, str]:
        """The fields of one object, which may have the `further` keys too."""
        names = [field.name for field in self.fields]
        missing = [name for name in names if name not in answer]
        if missing:
            raise UnusableAnswer(f"these fields are missing: {', '.join(missing)}")
        strange = [one_line(name, 40) for name in answer if name not in {*names, *further}]
        if strange:
            raise UnusableAnswer(f"these fields were not asked for: {', '.join(strange[:5])}")
        return {field.name: _checked(field, answer[field.name]) for field in self.fields}

    def _skipped(self, answer: Mapping[str, Any]) -> Skip:
        if answer[SKIP] is not True:
            raise UnusableAnswer(f'"{SKIP}" must be true or false')
        if not self.skip:
            raise UnusableAnswer("skipping is not allowed here: fill in every field")
        if any(answer.get(field.name) for field in self.fields):
            raise UnusableAnswer('either "skip" is true or the fields are filled in, not both')
        quote = answer.get(QUOTE, "")
        if not isinstance(quote, str):
            raise UnusableAnswer(f'"{QUOTE}" must be text')
        return Skip(clean(quote).strip())


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def spoken(text: str) -> str:
    """What a model says after it has thought aloud."""
    return _THOUGHT.sub("", text).strip()


def json_object(text: str) -> dict[str, Any]:
    """The one JSON object in `text`, wherever it stands.

    Raises:
        UnusableAnswer: There is none, there are several different ones, or the text is empty
            or far too long.
    """
    if len(text) > ANSWER_LIMIT:
        raise UnusableAnswer(f"the answer is longer than {ANSWER_LIMIT:,} characters")
    answer = spoken(text)
    if not answer:
        raise UnusableAnswer("the answer is empty")
    found: list[dict[str, Any]] = []
    for value in _objects(answer):
        if value not in found:
            found.append(value)
    if not found:
        raise UnusableAnswer("there is no complete JSON object in the answer")
    if len(found) > 1:
        raise UnusableAnswer(f"there are {len(found)} different JSON objects in the answer")
    return found[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost objects, from the left; a brace that begins none is passed over."""
    # Line breaks inside of texts are not JSON, but what they mean is plain.
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    for _ in range(_MOST_ATTEMPTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _checked(field: Field, value: object) -> str:
    if not isinstance(value, str):
        kind = {list: "a list", dict: "an object", type(None): "null"}.get(type(value), "a number")
        raise UnusableAnswer(f'"{field.name}" must be text, not {kind}')
    text = clean(value).strip()
    if not field.most_words:
        if text:
            raise UnusableAnswer(f'"{field.name}" must be empty here')
        return ""
    if not text and not field.optional:
        raise UnusableAnswer(f'"{field.name}" must not be empty')
    words, most = count_tokens(text), int(field.most_words * _TOLERANCE)
    if words > most or len(text) > most * _LONGEST_WORD:
        raise UnusableAnswer(
            f'"{field.name}" has {words} words and {len(text):,} characters; '
            f"it may have {field.most_words} words"
        )
    return text
