"""All rules about where a secret stands, in the order in which they name what they find."""

from __future__ import annotations

from deltamem_tui.trajectory.secrets.calls import CALLS
from deltamem_tui.trajectory.secrets.commands import COMMANDS
from deltamem_tui.trajectory.secrets.files import FILES
from deltamem_tui.trajectory.secrets.human_chosen import MADE_UP
from deltamem_tui.trajectory.secrets.languages import LANGUAGES
from deltamem_tui.trajectory.secrets.logins import LOGINS
from deltamem_tui.trajectory.secrets.prose import PROSE
from deltamem_tui.trajectory.secrets.settings import SETTINGS
from deltamem_tui.trajectory.secrets.variables import VARIABLES
from deltamem_tui.trajectory.secrets.web import WEB

PLACES = (
    *FILES,
    *WEB,
    *SETTINGS,
    *COMMANDS,
    *PROSE,
    *MADE_UP,
    *LANGUAGES,
    *VARIABLES,
    *CALLS,
    *LOGINS,
)
