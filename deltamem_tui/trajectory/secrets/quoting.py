"""What a report quotes of a log: one short line, without the secrets that stand in it.

People paste refusals and previews into chats and trackers. A text is cleared before it is cut,
since the first half of a key would not be recognised as one.
"""

from __future__ import annotations

from deltamem_tui.text import one_line
from deltamem_tui.trajectory.secrets.redaction import without_secrets

QUOTED = 4096
"""How many characters are looked at, of a text of which far fewer are shown."""


def quoted(text: str, width: int) -> str:
    """The beginning of a text of a log, as a report may show it.

    Args:
        text: Any text from a log: a value, a key, what stands in the place of a record.
        width: The most characters to return, the closing ellipsis included.
    """
    return one_line(without_secrets(text[:QUOTED]), width)
