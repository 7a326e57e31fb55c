"""A skill that another program wrote: its front matter is the condition, its body the procedure.

YAML can name a part and repeat it, so that a few lines become more than any machine holds. So
front matter is refused if it does, before anything is built of it.
"""

from __future__ import annotations

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.deltamem.collections import Payload
from deltamem_tui.text import clean, one_line

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
        body: The text below.
        source: The file's name, for errors.

    Raises:
        RecordError: The front matter is not YAML, is nested too deeply, uses anchors or merge
            keys, or has no description; or there is no body.
    """
    import yaml

    try:
        description = clean(_description(head)).strip()  # YAML can spell out any character
    except (yaml.YAMLError, ValueError) as error:
        reason = one_line(str(error), 120)
        raise RecordError(f"the front matter is not plain YAML: {reason}", source=source) from error
    if not description or not body.strip():
        raise RecordError(
            "a skill needs a description in its front matter, and a body", source=source
        )
    origin = Origin(extractor=EXTRACTOR, outcome_source="unknown")
    return born("task", None, "success", Payload(description, body.strip()), origin)


def _description(head: str) -> str:
    """The text under `description` in the outermost mapping; empty if there is none.

    Raises:
        ValueError: A part is named or repeated, or nested too deeply.
    """
    import yaml

    level = 0
    for event in yaml.parse(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if getattr(event, "anchor", None):  # those that are repeated have one, too
            raise ValueError("it uses anchors")
        if isinstance(event, yaml.ScalarEvent) and event.value == _MERGE and not event.style:
            raise ValueError("it uses merge keys")
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > _DEEPEST:
            raise ValueError(f"it is nested deeper than {_DEEPEST}")
    # The base loader makes texts, lists and mappings, nothing else.
    found = yaml.load(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))  # noqa: S506
    description = found.get("description") if isinstance(found, dict) else None
    return description if isinstance(description, str) else ""
