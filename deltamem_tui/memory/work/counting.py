"""Facts of a bank's episodes counted for a task, the near ones more.

Each episode speaks with a weight that falls with its distance from the task. Where none is near,
what is left is the base: what such tasks of this bank usually need. Its weights fall more slowly,
so that a bank of several kinds of work answers with the one that is asked about.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp

from deltamem_tui.embedding.lexical import Lexical, terms
from deltamem_tui.memory.work.texts import WorkFact

FAILED_SHARE = 0.5  # what a failed episode's word counts beside a solved one's
_FILES = ("edit", "new", "read")
_DOING = ("run", "tool")
# Tuned on development parts, as the numbers of `advice`.
_LEXICAL = 0.4  # the share of the words in a nearness; the rest is the embedding's
_WIDTH = 0.05  # a nearness so much lower weighs a third
_FLOOR = 0.25  # the nearness from which the near ones outweigh the base
_BASE_WIDTH = 0.14  # the same for the base: of a bank with several kinds of work its own counts
_ELSEWHERE = 0.1  # what an episode of another project counts
_KAPPA = 2.0  # episodes of evidence that the base is worth
_SINCE = 20  # sessions after which an earlier one counts a third as lately
READ = 0.6  # weight of a read beside an edit


@dataclass(frozen=True, slots=True)
class Lesson:
    """The facts of one episode: a node's task, facts and label.

    Attributes:
        key: Its node's id.
        task: What was asked, in the user's own words where those are known.
        facts: What was found in it.
        solved: Whether it succeeded.
        worded: Whether a person or a model put it into words.
        episodes: What it was learnt from.
        title: Its task in few words of a person or a model, if not the task itself.
    """

    key: str
    task: str
    facts: tuple[WorkFact, ...]
    solved: bool
    worded: bool = False
    episodes: tuple[str, ...] = ()
    title: str = ""

    def of(self, kind: str) -> list[str]:
        """Return the values of its facts of a kind."""
        return [fact.value for fact in self.facts if fact.kind == kind]

    @property
    def projects(self) -> set[str]:
        """The folders that it was learnt in."""
        return {*self.of("in")}


@dataclass(frozen=True, slots=True)
class Counted:
    """A fact with its evidence.

    Attributes:
        base: The share of all episodes of such work that have it.
        near: The share of the weight of the near ones that have it.
        seen: In how many episodes.
    """

    value: str
    base: float
    near: float
    seen: int


@dataclass
class Experience:
    """Lessons with their weights for one task.

    Attributes:
        task: The task.
        lessons: What speaks.
        similarities: The cosine of each lesson's task with this one.
        project: Where the task is; what was learnt elsewhere counts less.
        order: The lessons, the nearest first.
        known_here: The facts of this project, each once; all of them if none is asked for.
    """

    task: str
    lessons: Sequence[Lesson]
    similarities: Sequence[float]
    project: str = ""

    def __post_init__(self) -> None:
        texts = [" ".join([each.title, each.task, *each.of("ask")]) for each in self.lessons]
        self.lexical = Lexical(texts).scores(self.task)
        self.nearness = [
            (1 - _LEXICAL) * max(0.0, cosine) + _LEXICAL * shared
            for cosine, shared in zip(self.similarities, self.lexical, strict=True)
        ]
        self.top = top = max(self.nearness, default=0.0)
        # An episode at the top speaks with weight `strength`, one `width` below with a third of it.
        self.strength = exp((min(top, 0.9) - _FLOOR) / 0.08)
        shares = self._shares()
        self.is_here = [share == 1.0 for share in shares]
        self.weights = [
            share
            * self.strength
            * exp((near - top) / _WIDTH)
            * (1.0 if each.solved else FAILED_SHARE)
            for share, near, each in zip(shares, self.nearness, self.lessons, strict=True)
        ]
        self.base = [
            share * exp((near - top) / _BASE_WIDTH)
            for share, near in zip(shares, self.nearness, strict=True)
        ]
        names = _one_name_each(
            Counter(f.value for each in self.lessons for f in each.facts if f.kind in _FILES)
        )
        self.order = sorted(range(len(self.lessons)), key=lambda row: -self.nearness[row])
        self.facts = [
            {
                (f.kind, names.get(f.value, f.value) if f.kind in _FILES else f.value)
                for f in each.facts
            }
            for each in self.lessons
        ]
        self.here = shares.count(1.0)
        here = zip(self.facts, shares, strict=True)
        self.known_here = {fact for facts, share in here if share == 1.0 for fact in facts}

    def _shares(self) -> list[float]:
        """Return what each lesson counts by its project."""
        if not self.project:
            return [1.0] * len(self.lessons)
        is_known = any(self.project in each.projects for each in self.lessons)
        return [
            1.0 if self.project in each.projects or not (is_known or each.projects) else _ELSEWHERE
            for each in self.lessons
        ]

    def expected(self) -> dict[str, float]:
        """Return how likely what is done is, by the word of the task that tells most of it.

        A word tells what the solved tasks that have it share: `heat` that something is heated,
        the name of a thing nothing.
        """
        asked = set(terms(self.task))
        seen: Counter[str] = Counter()
        both: dict[str, Counter[str]] = defaultdict(Counter)
        for row, lesson in enumerate(self.lessons):
            for word in asked & set(terms(lesson.task)) if lesson.solved else ():
                seen[word] += 1
                both[word].update(self.heads(row))
        likely: dict[str, float] = defaultdict(float)
        for word, counts in both.items():
            for head, count in counts.items():
                likely[head] = max(likely[head], count / (seen[word] + 1))
        return likely

    def heads(self, row: int) -> set[str]:
        """Return the first words of what a lesson ran and called: its programs and tools.

        What its way does twice stands there twice: `take`, `take again`.
        """
        steps = Counter(step.split()[0] for step in self.lessons[row].of("did"))
        again = {f"{head} again" for head, count in steps.items() if count > 1}
        return again | {value.split()[0] for kind, value in self.facts[row] if kind in _DOING}

    def lately(self) -> Mapping[str, float]:
        """Return the share of the latest work here that touched each file, a read counting less."""
        touched: defaultdict[str, float] = defaultdict(float)
        here = [facts for facts, is_here in zip(self.facts, self.is_here, strict=True) if is_here]
        weights = [exp(-ago / _SINCE) for ago in range(len(here))]
        whole = sum(weights)
        for facts, weight in zip(reversed(here), weights, strict=True):
            for kind, path in facts:
                if kind in _FILES:
                    touched[path] += weight / whole * (READ if kind == "read" else 1.0)
        return touched

    def counted(self, kinds: Iterable[str], solved: bool | None = None) -> list[Counted]:
        """Return the facts of some kinds, the likeliest first."""
        kinds = set(kinds)
        base: dict[str, float] = defaultdict(float)
        near: dict[str, float] = defaultdict(float)
        seen: dict[str, int] = defaultdict(int)
        whole = all_weight = 0.0
        for row, lesson in enumerate(self.lessons):
            if solved is not None and lesson.solved is not solved:
                continue
            sure = 1.0 if lesson.solved or solved is not None else FAILED_SHARE
            whole += sure * self.base[row]
            all_weight += self.weights[row]
            for value in {value for kind, value in self.facts[row] if kind in kinds}:
                base[value] += sure * self.base[row]
                near[value] += self.weights[row]
                seen[value] += 1
        found = []
        for value, count in base.items():
            prior = count / whole
            posterior = (near[value] + _KAPPA * prior) / (all_weight + _KAPPA)
            found.append(Counted(value, prior, posterior, seen[value]))
        return sorted(found, key=lambda each: (-each.near, -each.base, each.value))


def _one_name_each(counts: Mapping[str, int]) -> dict[str, str]:
    """Return each path → the path that the same file mostly has.

    `/home/x/app/a/b.py` and `b.py`'s folder `a` name one file with `a/b.py`, where no other file
    ends alike; a folder before paths that are known without it is that of the repository.
    """
    endings: dict[str, list[str]] = defaultdict(list)
    for path in counts:
        parts = path.split("/")
        for at in range(1, len(parts)):
            endings["/".join(parts[at:])].append(path)
    outer = Counter(
        path[: -len(ending) - 1]
        for ending, longer in endings.items()
        if ending in counts
        for path in longer
        if "/" not in path[: -len(ending) - 1]
    )
    found = {}
    for path in counts:
        top, _, below = path.partition("/")
        if outer[top] > 2 and below in counts:
            found[path] = below
            continue
        longer = endings.get(path, []) if "/" in path else []
        parts = path.split("/")
        tails = ("/".join(parts[at:]) for at in range(1, len(parts) - 1))
        shorter = [each for each in tails if each in counts]
        same = [*(longer if len(longer) == 1 else ()), *shorter]
        best = max(same, key=lambda each: (counts[each], each), default=path)
        found[path] = best if counts[best] >= counts[path] else path
    return found
