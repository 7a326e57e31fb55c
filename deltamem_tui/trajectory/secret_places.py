"""All rules about where a secret stands, in the order in which they name what they find."""

from __future__ import annotations

from deltamem_tui.trajectory.secret_commands import COMMANDS
from deltamem_tui.trajectory.secret_files import FILES
from deltamem_tui.trajectory.secret_prose import PROSE
from deltamem_tui.trajectory.secret_settings import SETTINGS
from deltamem_tui.trajectory.secret_web import WEB

PLACES = (*FILES, *WEB, *SETTINGS, *COMMANDS, *PROSE)
