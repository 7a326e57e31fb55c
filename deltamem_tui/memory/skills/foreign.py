"""A skill that another program wrote: its front matter is the condition, its body the procedure.

YAML can name a part and repeat it, so that a few lines become more than any machine holds. So
nothing is built of front matter: its description is picked out while it is parsed.
"""

from __future__ import annotations

from deltamem_tui.bank.node import Node, Origin, born
from deltamem_tui.errors import RecordError
from deltamem_tui.memory.deltamem.collections import Payload
from deltamem_tui.text import clean, one_line

EXTRACTOR = "skill"

_RULE = "---"


def parted(text: str) -> tuple[str, str]:
    """A file's front matter and its body, both clean; without front matter, all is body."""
    text = clean(text)
    first, *lines = text.split("\n")
    if first.rstrip() == _RULE:
        for number, line in enumerate(lines):
            if line.rstrip() == _RULE:
                return "\n".join(lines[:number]), "\n".join(lines[number + 1 :])
    return "", text


def adopted(head: str, body: str, source: str) -> Node:
    """The root that a skill with such a front matter and body becomes.

    Raises:
        RecordError: The front matter is not YAML or has no description; or there is no body.
    """
    import yaml

    try:
        description = clean(_description(head)).strip()  # YAML can spell out any character
    except yaml.YAMLError as error:
        reason = one_line(str(error), 120)
        raise RecordError(f"the front matter is not plain YAML: {reason}", source=source) from error
    if not description or not body.strip():
        raise RecordError(
            "a skill needs a description in its front matter, and a body", source=source
        )
    origin = Origin(extractor=EXTRACTOR, outcome_source="unknown")
    return born("task", None, "success", Payload(description, body.strip()), origin)


def _description(head: str) -> str:
    """The text under `description` in the outermost mapping; empty if there is none."""
    import yaml

    found, key, level, in_mapping = "", None, 0, False
    for event in yaml.parse(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
        if level == 0 and isinstance(event, yaml.NodeEvent):
            in_mapping = isinstance(event, yaml.MappingStartEvent)
        elif level == 1 and in_mapping and isinstance(event, yaml.NodeEvent):
            text = event.value if isinstance(event, yaml.ScalarEvent) else ""
            if key is None:
                key = text
            else:
                found, key = (text if key == "description" else found), None
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
    return found
