"""Small logs of chats that were kept as Markdown."""

from __future__ import annotations

from tests.trajectory.readers.samples import sample_log

SPECSTORY = sample_log("specstory.txt").decode()

# A ~ stands for the two spaces with which the program ends its lines.
AIDER = sample_log("aider.txt").decode()
