"""The detectors of `detect-secrets`, for the kinds of secrets that our own rules leave to it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector

# Class name, what a report calls its finds, and letters (in lower case) that such a text
# holds: most detectors have no cheap way of their own to say no. Left out are those that
# take guesses (entropy, keywords, IP addresses), and those whose kinds have a rule of ours.
_CHOSEN = (
    ("AWSKeyDetector", "aws key", ("aws",)),
    ("AzureStorageKeyDetector", "connection string", ("accountkey=",)),
    ("CloudantDetector", "cloudant key", ("cloudant",)),
    ("DiscordBotTokenDetector", "discord token", ("discord", "bot_token", "bot token")),
    ("IbmCloudIamDetector", "ibm cloud key", ("ibm",)),
    ("IbmCosHmacDetector", "ibm cloud key", ("ibm", "cos_")),
    ("MailchimpDetector", "mailchimp key", ("-us",)),
    ("SlackDetector", "slack token", ("xox", "hooks.slack")),
    ("SoftlayerDetector", "softlayer key", ("softlayer",)),
)
_NAMES = frozenset(name for name, _, _ in _CHOSEN)


def detected(text: str, lowered: str) -> Iterator[tuple[str, str]]:
    """The secrets that the library finds, each with its kind.

    Args:
        text: Any text.
        lowered: The same in lower case.
    """
    for name, kind, hints in _CHOSEN:
        if any(hint in lowered for hint in hints):
            for value in _detectors()[name].analyze_string(text):
                if value:
                    yield kind, value


@lru_cache(maxsize=1)
def _detectors() -> dict[str, RegexBasedDetector]:
    # Loading the library takes a tenth of a second: only texts with a hint in them pay it.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    known: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return {plugin.__name__: plugin() for plugin in known.values() if plugin.__name__ in _NAMES}
