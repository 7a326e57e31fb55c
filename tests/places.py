"""Where things lie that tests read: the project itself, and samples that may lie beside it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
BANKS = ROOT / "memory_banks"
PROMPTS = ROOT / "prompts"
DOCS = ROOT / "docs"

SHARED = ROOT.parent / "shared" / "data"
"""Real logs. They are not part of the project: tests that need them skip where they are not."""

GENERATED = SHARED / "generated"
PUBLISHED = SHARED / "third_party"
