"""A skill that another program wrote: its front matter says when, its body how.

Only the description is taken out of the front matter, and nothing of it is built: YAML can
name a part and repeat it, so that a few lines become more than any machine holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from deltamem_tui.bank.node import Node, Origin, Payload, born
from deltamem_tui.errors import RecordError
from deltamem_tui.text import clean, one_line

if TYPE_CHECKING:
    import yaml

EXTRACTOR = "skill"

_RULE = "---"
_DEEPEST = 32
_MERGE = "<<"


def parted(text: str) -> tuple[str, str]:
    """A file's front matter and its body, both clean; without front matter, all is body."""
    text = clean(text)
    first, _, rest = text.partition("\n")
    if first.rstrip() != _RULE:
        return "", text
    end = 0
    while end < len(rest):
        line_end = rest.find("\n", end)
        line_end = len(rest) if line_end < 0 else line_end
        if rest[end:line_end].rstrip() == _RULE:
            return rest[:end], rest[line_end + 1 :]
        end = line_end + 1
    return "", text


def adopted(head: str, body: str, source: str) -> Node:
    """The root that such a skill becomes.

    Args:
        head: The front matter, without the lines around it.
        body: What stands below.
        source: The file's name, for errors.

    Raises:
        RecordError: The front matter is not YAML, uses what is not needed for a description,
            or has none; or there is no body.
    """
    import yaml

    try:
        description = clean(_description(head) or "").strip()  # YAML can spell out any character
    except (yaml.YAMLError, ValueError) as error:
        reason = one_line(str(error), 120)
        raise RecordError(f"the front matter is not plain YAML: {reason}", source=source) from error
    if not description or not body.strip():
        raise RecordError(
            "a skill needs a description in its front matter, and a body", source=source
        )
    origin = Origin(extractor=EXTRACTOR, outcome_source="unknown")
    return born("task", None, "success", Payload(description, body.strip()), origin)


def _description(head: str) -> str | None:
    """The text under `description` in the outermost mapping."""
    import yaml

    level, is_key, key, found = 0, True, "", None
    for event in _events(head):
        if isinstance(event, yaml.CollectionEndEvent):
            level -= 1
        elif isinstance(event, yaml.CollectionStartEvent):
            level += 1
            if level == 1 and not isinstance(event, yaml.MappingStartEvent):
                return None
            key = "" if level == 2 and is_key else key
        elif not isinstance(event, yaml.ScalarEvent):
            continue
        elif level == 1 and is_key:
            key = event.value
        elif level == 1 and key == "description":
            found = event.value
        if level == 1 and not _opens(event):
            is_key = not is_key
    return found


def _opens(event: yaml.Event) -> bool:
    import yaml

    return isinstance(event, yaml.CollectionStartEvent)


def _events(head: str) -> Iterator[yaml.Event]:
    """The front matter piece by piece.

    Raises:
        ValueError: It names or repeats parts, or nests them too deeply.
    """
    import yaml

    level = 0
    for event in yaml.parse(head, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if getattr(event, "anchor", None):  # those that are repeated have one, too
            raise ValueError("it uses anchors")
        if isinstance(event, yaml.ScalarEvent) and event.value == _MERGE and not event.style:
            raise ValueError("it uses merge keys")
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > _DEEPEST:
            raise ValueError(f"it is nested deeper than {_DEEPEST}")
        yield event
