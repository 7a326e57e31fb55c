"""Templates filled with what is drawn at random."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "L": string.ascii_letters,
    "l": string.ascii_lowercase,
    "v": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "B": string.ascii_uppercase + "234567",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "n": "123456789",
    "G": "ACGT",
    "p": string.ascii_letters + string.digits + "!#%*-_.^~+",
    "s": string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)",
    "o": string.ascii_letters + string.digits + "./",
    "q": string.ascii_letters + string.digits + "-_.~!",
}
WORDS = (
    "Copper",
    "Lantern",
    "Walrus",
    "Thistle",
    "Harbour",
    "Velvet",
    "Cobalt",
    "Juniper",
    "Saddle",
    "Pepper",
    "Quartz",
)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def drawn(rng: random.Random, letter: str, length: int) -> str:
    return "".join(rng.choices(ALPHABETS[letter], k=length))


def _human(rng: random.Random) -> str:
    first, second = rng.sample(WORDS, 2)
    return (
        f"{first}{rng.choice('-_.')}{second}{rng.randrange(10, 9999)}{rng.choice(['', '!', '#'])}"
    )


def _strong(rng: random.Random) -> str:
    """A password as people make one up to please a form: words, a number and signs."""
    first, second = (word.capitalize() for word in rng.sample(PLAIN_WORDS, 2))
    return f"{first}{rng.choice('!@#%^')}{second}{rng.randint(10, 9999)}{rng.choice('!?#')}"


def _leet(rng: random.Random) -> str:
    """Small letters and digits mixed, without a sign: `ma4pi3to9se1`."""
    return "".join(
        f"{rng.choice('bcdfgklmnprst')}{rng.choice('aeiou')}{rng.randint(0, 9)}" for _ in range(4)
    )


def _key(rng: random.Random) -> str:
    return f"k{rng.randint(10, 99)}{''.join(rng.choices('abcdefXYZ', k=9))}7"


def _jwt_head(rng: random.Random) -> str:
    """Header and claims, as anybody may read them; the signature is the secret."""
    claims = {"sub": drawn(rng, "d", 10), "name": rng.choice(WORDS), "iat": 1763700000}
    parts = [
        json.dumps(part, separators=(",", ":")) for part in ({"alg": "HS256", "typ": "JWT"}, claims)
    ]
    return ".".join(
        _encoded(part).rstrip("=").replace("+", "-").replace("/", "_") for part in parts
    )


MADE: dict[str, Callable[[random.Random], str]] = {
    "J": _jwt_head,
    "P": _human,
    "C": lambda rng: _encoded(f"deploy:{drawn(rng, 'a', 20)}"),
    "E": lambda rng: _encoded(_human(rng)),
    "T": lambda rng: _encoded(drawn(rng, "d", 18)).rstrip("="),
}
PLAIN_WORDS = ("copper", "staple", "window", "marble", "saddle", "orchid", "rocket", "velvet")
MADE |= {
    "S": _strong,
    "F": _leet,
    "Y": _key,
    "D": lambda rng: "-".join(rng.sample(PLAIN_WORDS, 4)),
    "Z": lambda rng: " ".join(rng.sample(PLAIN_WORDS, 4)),
    "M": lambda rng: rng.choice(["walrus", "copper"]) + rng.choice(["Garden", "Thimble"]),
    "N": lambda rng: rng.choice(["robin", "ferry", "cedar"]),
    "I": lambda rng: f"{rng.choice(['Walrus', 'Copper'])}{rng.randint(2, 99)}garden",
    "R": lambda rng: f"ci-runner-{rng.randint(10, 99)}",
}


def filled(rng: random.Random, template: str) -> str:
    """The template with its random parts drawn."""

    def value(match: re.Match[str]) -> str:
        letter, length = match.groups()
        return drawn(rng, letter, int(length)) if length else MADE[letter](rng)

    return re.sub(r"\{([A-Za-z])(\d*)\}", value, template)
