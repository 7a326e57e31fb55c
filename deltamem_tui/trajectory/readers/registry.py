"""All log formats, in one place. A new format is one module beside this one and one line here."""

from __future__ import annotations

from deltamem_tui.trajectory.readers import alfworld_wrapper, native, react, rollout
from deltamem_tui.trajectory.readers.reader import Reader

READERS: tuple[Reader, ...] = (
    native.READER,
    rollout.READER,
    react.READER,
    alfworld_wrapper.READER,
)
