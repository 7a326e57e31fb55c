"""WebShop, through the package `web_agent_site` that its users install themselves.

It cannot be installed by pip, and brings a search engine and a gigabyte of products, so nothing
here was ever run against it: this is written after its published interface, and is tried with a
stand-in only.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from deltamem_tui.lab.environment import GameInfo, Observation, Start
from deltamem_tui.lab.environments.needs import no_such_game, no_such_split, require
from deltamem_tui.trajectory.model import Trajectory

_INSTALL = "set WebShop up as its own page says, and put its folder on PYTHONPATH"
# By the number of the goal, as in WebShop's own experiments; the rest is for training.
_TEST, _DEV = 500, 1_500
_SEPARATOR = " [SEP] "
_LABEL = re.compile(r"^\s*Instruction:\s*", re.IGNORECASE)
_NUMBER = re.compile(r"(?:fixed_|goal_)?(\d+)")


class WebShopEnvironment:
    """Purchases; the score is the shop's own, given when something is bought.

    Args:
        games: The file of the products; the shop's own default without one.
    """

    name = "webshop"
    domain = "webshop"
    limit = 15
    splits = ("test", "dev", "train")

    def __init__(self, games: Path | None = None) -> None:
        self._products = games

    def games(self, split: str) -> Sequence[GameInfo]:
        """The goals of a split, by number."""
        if split not in self.splits:
            raise no_such_split(split, self.splits)
        known = len(self._shop.server.goals)
        numbers = {
            "test": range(min(_TEST, known)),
            "dev": range(min(_TEST, known), min(_DEV, known)),
            "train": range(min(_DEV, known), known),
        }[split]
        return [GameInfo(str(number), split, digest=self._digest) for number in numbers]

    def load(self, game: GameInfo) -> WebShopGame:
        """Load a goal."""
        if not game.name.isdecimal() or int(game.name) >= len(self._shop.server.goals):
            raise no_such_game(game.name, self.name)
        return WebShopGame(self._shop, int(game.name))

    def game_of(self, episode: Trajectory) -> str:
        """The number of the goal that an episode's log names."""
        named = episode.metadata.get("game") or episode.metadata.get("id", "")
        found = _NUMBER.fullmatch(named)
        return str(int(found[1])) if found else ""

    @cached_property
    def _digest(self) -> str:
        """That of the products, if their file is told."""
        if self._products is None:
            return ""
        with self._products.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]

    @cached_property
    def _shop(self) -> Any:
        require(("web_agent_site",), _INSTALL)
        from web_agent_site.envs import WebAgentTextEnv

        products = {"file_path": str(self._products)} if self._products else {}
        return WebAgentTextEnv(observation_mode="text", human_goals=True, **products)


class WebShopGame:
    """A purchase.

    Args:
        shop: WebShop's environment in text mode.
        number: The goal's.
    """

    def __init__(self, shop: Any, number: int) -> None:
        self._shop, self._number = shop, number

    def start(self) -> Start:
        """Begin."""
        page, _ = self._shop.reset(session=self._number)
        instruction = str(self._shop.instruction_text)
        told = {"instruction:", instruction.strip().lower(), _LABEL.sub("", instruction).lower()}
        parts = [each for each in page.split(_SEPARATOR) if each.strip().lower() not in told]
        return Start(_LABEL.sub("", instruction).strip(), _SEPARATOR.join(parts), self._commands())

    def step(self, action: str) -> Observation:
        """Do something: `search[words]` or `click[what the page has]`."""
        page, reward, done, _ = self._shop.step(action)
        return Observation(page, float(reward), bool(done), () if done else self._commands())

    def _commands(self) -> tuple[str, ...]:
        offered = self._shop.get_available_actions()
        clicks = [f"click[{each}]" for each in offered["clickables"] if each != "search"]
        return (*(["search[words]"] if offered["has_search_bar"] else []), *clicks)
