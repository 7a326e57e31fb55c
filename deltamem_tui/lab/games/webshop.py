"""WebShop: its prompts and its published numbers; its episodes are read as any work is."""

from __future__ import annotations

from types import MappingProxyType

from deltamem_tui.memory.domain import Domain


class WebShopDomain(Domain):
    """A shop with a search box; read by the general domain."""

    about = "shopping on a website"
    presets = MappingProxyType({"deltamem": {"tau_task": 0.85, "tau_env": 0.85, "k_cons": 3}})
