"""Redaction against secrets that are drawn at random and written into templates.

What counts: a planted secret is found when no run of eight characters of its secret part is
left in any text of the redacted episode. A look-alike is a false alarm when redaction changes
its episode in any way. The README beside the templates says where they come from.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.validation import admitted
from tests.places import ROOT
from tests.trajectory.secrets.drawing import drawn, filled

TEMPLATES = json.loads((ROOT / "tests/trajectory/secrets_set/templates.json").read_text("utf-8"))
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
    for kinds, bare in (("shaped", TEMPLATES["bare_places"]), ("named", [])):
        for kind, key in TEMPLATES[kinds].items():
            own = TEMPLATES["webhook_places"] if "webhook" in kind and bare else bare
            places = rng.sample(TEMPLATES["named_places"] + own, EACH_KEY)
            for index, place in enumerate(places):
                shape = key["shapes"][index % len(key["shapes"])]
                yield _sample(rng, kind, _named(place, key["name"], shape))


def _drawn(rng: random.Random, kinds: dict[str, list[str]]) -> Iterator[Sample]:
    for kind, templates in kinds.items():
        for template in templates * EACH_TEXT:
            again = f"«{drawn(rng, 'a', 32)}»"
            yield _sample(rng, kind, template.replace("@AGAIN@", again))


@cache
def planted() -> tuple[Sample, ...]:
    """The secrets of the set that was written without knowing the rules."""
    rng = random.Random(SEED)
    return (*_keys(rng), *_drawn(rng, TEMPLATES["texts"]))


@cache
def placed() -> tuple[Sample, ...]:
    """The secrets that are known by the place where they stand, or by their own form."""
    return tuple(_drawn(random.Random(SEED), TEMPLATES["places"]))


@cache
def look_alikes() -> tuple[Sample, ...]:
    """All harmless texts, none of them twice."""
    rng = random.Random(SEED)
    samples: dict[str, Sample] = {}
    for kind, templates in TEMPLATES["harmless"].items():
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


def missed(samples: tuple[Sample, ...]) -> list[Sample]:
    """The planted secrets that redaction leaves in."""
    return [sample for sample in samples if leaks(sample, redact(sample.episode)[0])]


def _by_kind(samples: list[Sample]) -> str:
    return ", ".join(
        f"{kind} {count}" for kind, count in Counter(s.kind for s in samples).most_common()
    )


def test_the_set_is_large_and_each_secret_is_really_in_it() -> None:
    assert len(planted()) >= 600
    assert len(placed()) >= 600
    assert len(look_alikes()) >= 300
    for sample in (*planted(), *placed()):
        assert sample.secrets
        assert leaks(sample, sample.episode)
    assert not any(sample.secrets for sample in look_alikes())
    marks = re.compile(r"[«»]|@(NAME|name|camel|words|VALUE|AGAIN)@|\{[A-Za-z]\d+\}")
    assert not any(marks.search(sample.text) for sample in (*planted(), *look_alikes()))


@pytest.mark.parametrize(("samples", "share"), [(planted, 0.99), (placed, 0.99)])
def test_planted_secrets_are_found(samples: Callable[[], tuple[Sample, ...]], share: float) -> None:
    left = missed(samples())
    assert 1 - len(left) / len(samples()) >= share, _by_kind(left)


def test_at_most_one_look_alike_in_100_is_taken_for_a_secret() -> None:
    taken = [s for s in look_alikes() if texts(redact(s.episode)[0]) != texts(s.episode)]
    assert len(taken) <= 0.01 * len(look_alikes()), _by_kind(taken)


@pytest.mark.parametrize("template", TEMPLATES["look_alikes"])
def test_what_stands_in_the_place_of_a_secret_stays(template: str) -> None:
    text = filled(random.Random(7), template)
    episode = Trajectory("Deploy.", steps=(Step("continue", text), Step("tests passed", "")))
    clean, redactions = redact(episode)
    assert clean is episode, clean.steps[0].observation
    assert redactions.total == 0
