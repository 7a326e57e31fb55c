"""How much of a stranger's file is taken at once, so that no log can exhaust the machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogLimits:
    """Sizes beyond which a log or a part of it is refused.

    Attributes:
        record_bytes: The longest line, or JSON value, that is held in memory at once.
        session_bytes: How much of a log is held in memory at once where records belong together
            and may lie anywhere in it; of the spans of traces, those of one.
        piped_bytes: How much of standard input, of a pipe, or of the spans of traces is copied to
            the disk.
        field_characters: The longest single text of an episode (an observation, a thought, …).
        nesting: How deep JSON values may lie inside one another; half of what Python's own
            stack bears, for whoever compares values or writes them has a part of it in use.
        expansion: How many times larger than its file a compressed log may become …
        expansion_free_bytes: … once this many bytes have come out of it.
    """

    record_bytes: int = 64 * 1024 * 1024
    session_bytes: int = 512 * 1024 * 1024
    piped_bytes: int = 8 * 1024 * 1024 * 1024
    field_characters: int = 4_000_000
    nesting: int = 500
    expansion: int = 200
    expansion_free_bytes: int = 64 * 1024 * 1024


DEFAULT_LIMITS = LogLimits()


def human_size(count: int) -> str:
    """A number of bytes as people write it: `64 MB`, `900 bytes`."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
