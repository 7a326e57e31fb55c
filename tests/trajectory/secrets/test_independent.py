"""Redaction against secrets that its rules were not written for.

Where the templates come from, and what was measured before and after the rules were mended, is
told in `independent`.

What counts: a planted secret is found when no run of eight characters of its secret part is
left in any text of the redacted episode. A look-alike is a false alarm when redaction changes
its episode in any way.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.validation import admitted
from tests.trajectory.secrets.independent.drawing import drawn, filled
from tests.trajectory.secrets.independent.keys import (
    BARE_PLACES,
    NAMED,
    NAMED_PLACES,
    SHAPED,
    WEBHOOK_PLACES,
)
from tests.trajectory.secrets.independent.look_alikes import HARMLESS
from tests.trajectory.secrets.independent.texts import TEXTS

SEED = 20261121
RUN = 8
"""So many characters of a secret in a row are a leak."""
EACH_KEY = 10
"""Samples of each kind of key, every one in another context."""
EACH_TEXT = 3
"""Samples of each whole text with a secret in it."""
EACH_HARMLESS = 4
"""Samples of each look-alike that has a random part; one without is planted once."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An episode with something planted in it.

    Attributes:
        kind: What was planted.
        text: The text it stands in.
        secrets: What must be gone; empty for a look-alike.
        episode: The episode the text is part of.
    """

    kind: str
    text: str
    secrets: tuple[str, ...]
    episode: Trajectory


def _camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(map(str.capitalize, rest))


def _named(place: str, name: str, value: str) -> str:
    """The place with the variable's name and the secret written in."""
    for mark, spelling in (
        ("@NAME@", name),
        ("@name@", name.lower()),
        ("@camel@", _camel(name)),
        ("@words@", name.lower().replace("_", " ")),
        ("@VALUE@", value),
    ):
        place = place.replace(mark, spelling)
    return place


def _episode(rng: random.Random, text: str) -> Trajectory:
    """An ordinary episode with the text in one of its fields, admitted as every reader's is."""
    return admitted(_with(rng, text))


def _with(rng: random.Random, text: str) -> Trajectory:
    first = Step("ls", "Makefile  README.md  src  tests", "Let me look around first.")
    last = Step("pytest -q", "12 passed in 0.84s", "Now the tests.")
    task, environment = "Make the failing build green.", "A Linux shell, bash, Python 3.12."
    place = rng.choice(
        ["task", "environment", "thought", "action", "reason", "metadata"] + ["observation"] * 6
    )
    if place == "task":
        return Trajectory(f"{task}\n{text}", environment, (first, last))
    if place == "environment":
        return Trajectory(task, f"{environment}\n{text}", (first, last))
    if place == "reason":
        return Trajectory(
            task, environment, (first, last), Outcome(True, source="user", reason=text)
        )
    if place == "metadata":
        return Trajectory(task, environment, (first, last), metadata={"note": text})
    middle = {
        "thought": Step("continue", "ok", text),
        "action": Step(text, "ok"),
        "observation": Step("run it", text),
    }[place]
    return Trajectory(task, environment, (first, middle, last))


def _sample(rng: random.Random, kind: str, template: str) -> Sample:
    marked = filled(rng, template)
    secrets = tuple(re.findall("«(.*?)»", marked, re.DOTALL))
    text = marked.replace("«", "").replace("»", "")
    return Sample(kind, text, secrets, _episode(rng, text))


def _keys(rng: random.Random) -> Iterator[Sample]:
    """Every kind of key, each time in another place."""
    for kinds, bare in ((SHAPED, BARE_PLACES), (NAMED, ())):
        for kind, (name, shapes) in kinds.items():
            own = WEBHOOK_PLACES if "webhook" in kind and bare else bare
            places = rng.sample(NAMED_PLACES + own, EACH_KEY)
            for index, place in enumerate(places):
                shape = shapes[index % len(shapes)]
                yield _sample(rng, kind, _named(place, name, shape))


@cache
def planted() -> tuple[Sample, ...]:
    """All secrets of the set."""
    rng = random.Random(SEED)
    samples = list(_keys(rng))
    for kind, templates in TEXTS.items():
        for template in templates * EACH_TEXT:
            again = f"«{drawn(rng, 'a', 32)}»"
            samples.append(_sample(rng, kind, template.replace("@AGAIN@", again)))
    return tuple(samples)


@cache
def look_alikes() -> tuple[Sample, ...]:
    """All harmless texts of the set, none of them twice."""
    rng = random.Random(SEED)
    samples: dict[str, Sample] = {}
    for kind, templates in HARMLESS.items():
        for template in templates * EACH_HARMLESS:
            sample = _sample(rng, kind, template)
            samples.setdefault(sample.text, sample)
    return tuple(samples.values())


def texts(episode: Trajectory) -> str:
    """Every text of the episode."""
    facts = [text for fact in episode.metadata.items() for text in fact]
    return "\n".join([episode.text, episode.outcome.reason, episode.domain, episode.agent, *facts])


def leaks(sample: Sample, episode: Trajectory) -> bool:
    """Whether a run of a planted secret is still to be read in the episode."""
    left = texts(episode)
    return any(
        secret[start : start + RUN] in left
        for secret in sample.secrets
        for start in range(max(1, len(secret) - RUN + 1))
    )


@cache
def missed() -> tuple[Sample, ...]:
    """The planted secrets that redaction leaves in."""
    return tuple(sample for sample in planted() if leaks(sample, redact(sample.episode)[0]))


@cache
def false_alarms() -> tuple[Sample, ...]:
    """The harmless texts that redaction changes."""
    return tuple(s for s in look_alikes() if texts(redact(s.episode)[0]) != texts(s.episode))


def _by_kind(samples: tuple[Sample, ...]) -> str:
    return ", ".join(
        f"{kind} {count}" for kind, count in Counter(s.kind for s in samples).most_common()
    )


def test_the_set_is_large_and_each_secret_is_really_in_it() -> None:
    assert len(planted()) >= 600
    assert len(look_alikes()) >= 300
    assert all(sample.secrets and leaks(sample, sample.episode) for sample in planted())
    assert not any(sample.secrets for sample in look_alikes())
    marks = re.compile(r"[«»]|@(NAME|name|camel|words|VALUE|AGAIN)@|\{[A-Za-z]\d+\}")
    assert not any(marks.search(sample.text) for sample in (*planted(), *look_alikes()))


def test_at_least_99_of_100_planted_secrets_are_found() -> None:
    recall = 1 - len(missed()) / len(planted())
    assert recall >= 0.99, f"{recall:.1%}; missed: {_by_kind(missed())}"


def test_at_most_one_look_alike_in_100_is_taken_for_a_secret() -> None:
    share = len(false_alarms()) / len(look_alikes())
    assert share <= 0.01, f"{share:.1%}; taken: {_by_kind(false_alarms())}"
