"""Policies for every method: which episodes are admitted, and which nodes are forgotten."""

from typing import Literal, get_args

Forgetting = Literal["none", "periodical", "history", "combined"]
FORGETTINGS: tuple[Forgetting, ...] = get_args(Forgetting)
