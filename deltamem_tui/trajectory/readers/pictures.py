"""Pictures and other files that are written into logs: left out, with a note that they were there.

Their base64 is unreadable, and most of a log that has some.
"""

from __future__ import annotations

import re

from msgspec.structs import replace
from stringzilla import contains

from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text

_DATA = re.compile(
    r"data:(image|audio|video|application(?=/(?:pdf|octet-stream|zip|msword|vnd\.)))"
    r"/[\w.+-]+;base64,[A-Za-z0-9+/=]+"
)
PICTURE_SIGN = b";base64,"
"""Stands before each picture in a text."""
_MEDIA = frozenset({"image", "audio", "video"})
_IMAGE_WORDS = ("image", "blob", "inline_data", "inlinedata")
_IMAGE = re.compile("|".join(_IMAGE_WORDS))
# Where parts of messages say of what kind their bytes are.
_KIND_KEYS = ("mimeType", "mime_type", "media_type")
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
    """The text with a note in place of each picture or other file that was written into it."""
    return _DATA.sub(lambda found: f"[{_medium(found[1])}]", text) if _may_hold(text) else text


def medium_in(part: Json, kind: str) -> str:
    """`image`, `audio`, `video` or `document` if a part of a message is one; else empty."""
    for key in filter(part.__contains__, _WRAPPED):
        held, usual = _WRAPPED[key]
        inner = as_mapping(part[key])
        if held in inner:
            return _named_kind(inner) or usual
    if _IMAGE.search(kind) or not part.keys().isdisjoint(_IMAGE_WORDS):
        return _named_kind(part) or "image"
    if kind in ("input_file", "document") and _has_bytes(part):
        return "document"
    return ""


def _has_bytes(part: Json) -> bool:
    source = as_mapping(part.get("source"))
    return "file_data" in part or source.get("type") in ("base64", "url", "file")


def _named_kind(part: Json) -> str:
    """What the bytes of a part are, as it says itself; empty if it does not."""
    names = (as_text(part.get(key)) for key in _KIND_KEYS)
    name = next(filter(None, names), "")
    return _medium(name.partition("/")[0].lower()) if name else ""


def _medium(kind: str) -> str:
    return kind if kind in _MEDIA else "document"


def without_pictures(trajectory: Trajectory) -> Trajectory:
    """The episode with a note in place of each picture that was written into a text."""
    if trajectory.has_plain_texts or not contains(trajectory.searchable, PICTURE_SIGN):
        return trajectory
    return replace(
        trajectory,
        task=without_images(trajectory.task),
        environment=without_images(trajectory.environment),
        steps=tuple(step.with_texts(without_images) for step in trajectory.steps),
    )


def _may_hold(text: str) -> bool:
    return ";" in text and ";base64," in text  # one letter is found far faster
