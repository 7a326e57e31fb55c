"""`python -m deltamem_tui` is `deltamem`."""

from __future__ import annotations

from deltamem_tui.cli.app import main

main()
