"""Safe ways into JSON of unknown shape: each gives the type it names, or nothing."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from contextlib import suppress

import orjson

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.json_text import parse_json
from deltamem_tui.trajectory.model import Trajectory

_DATA = re.compile(
    r"data:(image|audio|video|application(?=/(?:pdf|octet-stream|zip|msword|vnd\.)))"
    r"/[\w.+-]+;base64,[A-Za-z0-9+/=]+"
)
_MEDIA = frozenset({"image", "audio", "video"})
_IMAGE_WORDS = ("image", "blob", "inline_data", "inlinedata")
_IMAGE = re.compile("|".join(_IMAGE_WORDS))
# Where parts of messages say of what kind their bytes are.
_KIND_KEYS = ("mimeType", "mime_type", "media_type", "mediaType", "mime")
# Where OpenAI's, Google's and Bedrock's parts keep bytes under a name, and what kind they are
# if they do not say.
_WRAPPED = {
    "inlineData": ("data", "image"),
    "inline_data": ("data", "image"),
    "input_audio": ("data", "audio"),
    "file": ("file_data", "document"),
    "document": ("source", "document"),
    "audio": ("source", "audio"),
    "video": ("source", "video"),
}


def without_images(text: str) -> str:
    """Return the text with a note in place of each picture or file written into it."""
    if ";" not in text or ";base64," not in text:  # one letter is found far faster
        return text
    return _DATA.sub(lambda found: f"[{_medium(found[1])}]", text)


def medium_in(part: Json, kind: str) -> str:
    """`image`, `audio`, `video` or `document` if a part of a message is one; else empty."""
    for key in filter(part.__contains__, _WRAPPED):
        held, usual = _WRAPPED[key]
        inner = as_mapping(part[key])
        if held in inner:
            return _named_kind(inner) or usual
    if _IMAGE.search(kind) or not part.keys().isdisjoint(_IMAGE_WORDS):
        return _named_kind(part) or "image"
    if kind in ("file", "input_file", "document") and _has_bytes(part):
        return _named_kind(part) or "document"
    return ""


def _has_bytes(part: Json) -> bool:
    kind = as_mapping(part.get("source")).get("type")
    return "file_data" in part or "url" in part or kind in ("base64", "url", "file")


def _named_kind(part: Json) -> str:
    names = (as_text(part.get(key)) for key in _KIND_KEYS)
    name = next(filter(None, names), "")
    return _medium(name.partition("/")[0].lower()) if name else ""


def _medium(kind: str) -> str:
    return kind if kind in _MEDIA else "document"


def without_pictures(trajectory: Trajectory) -> Trajectory:
    """Return the episode with a note in place of each picture that was written into a text."""
    if b";base64," not in trajectory.searchable:
        return trajectory
    return trajectory.with_texts(without_images)


Json = Mapping[str, object]

# Of an object as Python shows it; a longer one stays text.
_MOST_SHOWN = 100_000
_NESTED_TEXTS = 3
_JSON_BEGINS = re.compile(r"\s*[{\[]")


def as_mapping(value: object) -> Json:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return text as it is, nothing for null, and any other value as JSON writes it."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return as_json(value)


def unfolded(value: object) -> object:
    """Return a value out of the JSON text that holds it."""
    if not isinstance(value, str) or _JSON_BEGINS.match(value) is None:
        return value
    try:
        return parse_json(value.encode("utf-8", "surrogatepass"))
    except RecordError:
        return value


def unquoted(value: object) -> object:
    """Return the text that a text in JSON is; any other value as it is."""
    if isinstance(value, str) and value.startswith('"'):
        with suppress(ValueError):
            return orjson.loads(value)
    return value


def opened_text(value: object) -> object:
    """Return what is in a text that is JSON, or Python's way to show it, in a text again."""
    for _ in range(_NESTED_TEXTS):
        inner = unfolded(unquoted(value))
        if inner is value:
            break
        value = inner
    return value


def as_object(value: object) -> object:
    """Return what a program has kept as an object, also where it is written as Python shows one."""
    if not isinstance(value, str) or not value.startswith("{'") or len(value) > _MOST_SHOWN:
        return value
    for rest in ("", "'}", '"}'):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return ast.literal_eval(value + rest)
    return value


def as_json(value: object) -> str:
    """Return any value as JSON writes it, text in quotation marks."""
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, UnicodeDecodeError):
        pass
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError as error:
        raise RecordError("JSON nested too deep to be read") from error
