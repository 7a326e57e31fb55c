"""Answers: the JSON object in a model's answer, checked against what it was asked for.

Models wrap JSON in fences, greetings and thoughts, so the object is searched for. They add
fields, give lists where text is asked, and count words badly: what is meant is read all the same.
Only what cannot be used is refused, worded so that the model can mend it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deltamem_tui.text import clean, count_tokens

ANSWER_LIMIT = 200_000
SKIP = "skip"
QUOTE = "quote"
UNRELATED = "unrelated"
ITEMS = "items"

_THOUGHTS = re.compile(r"\A\s*(?:<think(?:ing)?>)?.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_MOST_ATTEMPTS = 200
_MOST = 2  # times as many words as were asked for: models count them badly
_LONGEST_WORD = 20
# Tokens of an answer for each word that it may have, and for what is around the words.
_TOKENS_A_WORD = 3
_FRAME_TOKENS = 400

Texts = Mapping[str, str]


class UnusableAnswer(Exception):  # noqa: N818 - not a failure: the reason to ask again
    """A fault of an answer, worded for its model; `usable` is taken if asking again is no help."""

    def __init__(self, reason: str, usable: object = None) -> None:
        super().__init__(reason)
        self.usable = usable


@dataclass(frozen=True, slots=True)
class Field:
    """One text of the object: one of the `choices` if there are any; empty at 0 words."""

    name: str
    most_words: int
    optional: bool = False
    choices: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        """True if an object without it is of no use."""
        return bool(self.most_words) and not self.optional

    def read(self, value: object) -> str:
        """Return the field's text; a list is one line an entry.

        Raises:
            UnusableAnswer: It is not text, is empty, or far too long.
        """
        if not self.most_words:
            return ""
        text = clean(self._text(value)).strip()
        if self.choices and (text := text.casefold().rstrip(".")) not in self.choices:
            raise UnusableAnswer(f'"{self.name}" must be one of {", ".join(self.choices)}')
        if not text and self.required:
            raise UnusableAnswer(f'"{self.name}" must not be empty')
        words, most = count_tokens(text), _MOST * self.most_words
        if words > most or len(text) > most * _LONGEST_WORD:
            raise UnusableAnswer(
                f'"{self.name}" has {words} words and {len(text):,} characters; '
                f"it may have {self.most_words} words"
            )
        return text

    def _text(self, value: object) -> str:
        if isinstance(value, list) and not any(isinstance(each, list | dict) for each in value):
            return "\n".join(map(self._text, value))
        if isinstance(value, dict | list):
            kind = "an object" if isinstance(value, dict) else "a list of lists"
            raise UnusableAnswer(f'"{self.name}" must be text, not {kind}')
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing to write: the model quotes what covers it all, or the chain is `unrelated`."""

    quote: str
    unrelated: bool = False


@dataclass(frozen=True, slots=True)
class Contract:
    """The object that is asked for, or a list of as many as there are `items`.

    `{"skip": true, "quote": "…"}`, or an empty list, may come instead if `skip`;
    `{"unrelated": true}` if `unrelated`.
    """

    fields: tuple[Field, ...]
    skip: bool = False
    items: int = 0
    unrelated: bool = False

    @property
    def tokens(self) -> int:
        """The tokens that an answer of the longest texts takes."""
        words = sum(field.most_words for field in self.fields) * max(self.items, 1)
        return _FRAME_TOKENS + _TOKENS_A_WORD * words

    def schema(self) -> dict[str, Any]:
        """Return the object as a JSON schema, in the subset that providers take as strict.

        In that subset every key must be there, so a model that skips leaves the texts empty.
        """
        properties: dict[str, Any] = {
            field.name: {"type": "string"} | ({"enum": field.choices} if field.choices else {})
            for field in self.fields
        }
        if self.items:
            return _object_schema({ITEMS: {"type": "array", "items": _object_schema(properties)}})
        if self.skip:
            properties |= {SKIP: {"type": "boolean"}, QUOTE: {"type": "string"}}
        if self.unrelated:
            properties[UNRELATED] = {"type": "boolean"}
        return _object_schema(properties)

    def read(self, text: str) -> tuple[Texts, ...] | Skip:
        """Find the objects in `text` and check each; those above the most are left out.

        Raises:
            UnusableAnswer: They are not there, or of no use.
        """
        answer = json_object(text)
        filled = all(answer.get(field.name) for field in self.fields if field.required)
        if self.items:
            return self._items([answer] if filled else answer.get(ITEMS))
        quote = answer.get(QUOTE)
        if self.unrelated and _is_true(answer.get(UNRELATED)) and not filled:
            return Skip("", unrelated=True)
        if not _is_true(answer.get(SKIP)) or (filled and not quote):
            return (self._texts(answer),)
        if not self.skip:
            raise UnusableAnswer("skipping is not allowed here: fill in every field")
        return Skip(clean(quote).strip() if isinstance(quote, str) else "")

    def _items(self, found: object) -> tuple[Texts, ...]:
        if not isinstance(found, list):
            raise UnusableAnswer(f'the object must have the field "{ITEMS}", a list of objects')
        if not found and not self.skip:
            raise UnusableAnswer("there is no item: give one at least")
        if not all(isinstance(each, dict) for each in found):
            raise UnusableAnswer("each item must be an object")
        return tuple(map(self._texts, found[: self.items]))

    def _texts(self, answer: Mapping[str, Any]) -> Texts:
        """Return the fields of one object, without what else it has."""
        required = [field.name for field in self.fields if field.required]
        if missing := [name for name in required if name not in answer]:
            raise UnusableAnswer(f"these fields are missing: {', '.join(missing)}")
        return {field.name: field.read(answer.get(field.name)) for field in self.fields}


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().casefold() == "true")


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def spoken(text: str) -> str:
    """Return what a model says after it has thought aloud."""
    return _THOUGHTS.sub("", text).strip()


def json_object(text: str) -> dict[str, Any]:
    """Return the one JSON object in `text`, wherever it is.

    Raises:
        UnusableAnswer: There is none, there are several different ones, or the text is empty
            or far too long.
    """
    if len(text) > ANSWER_LIMIT:
        raise UnusableAnswer(f"the answer is longer than {ANSWER_LIMIT:,} characters")
    if not (answer := spoken(text)):
        raise UnusableAnswer("the answer is empty")
    objects = [*_objects(answer)]
    found = [each for number, each in enumerate(objects) if each not in objects[:number]]
    if len(found) != 1:
        how_many = (
            f"are {len(found)} different JSON objects" if found else "is no complete JSON object"
        )
        raise UnusableAnswer(f"there {how_many} in the answer")
    return found[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost objects, from the left; a brace that begins none is passed over."""
    # Line breaks inside of texts are not JSON, but what they mean is plain.
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    for _ in range(_MOST_ATTEMPTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
            yield value
        except RecursionError:
            return
        except json.JSONDecodeError as error:
            if error.pos >= len(text) or error.msg.startswith("Unterminated"):
                return  # cut off: what is inside is a part, not an answer
            end = at + 1
        at = text.find("{", end)
