"""Texts of real work as nodes keep them: tasks, scenes, and facts as lines.

A fact is a kind and a value, and a node keeps them as lines (`Edited: pkg/cli/main.go`).
Addresses, account names, long numbers and secrets are masked by their form; what has none (a
person's name in a sentence) is not recognised.

Two tasks of one form differ in names: a release, a file, a service. What an older one names is
found by comparing their words, and takes the present task's name wherever it stands by itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from deltamem_tui.memory.work.paths import FOLDER, is_file
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Step


class WorkFact(NamedTuple):
    """A fact of an episode.

    Attributes:
        kind: `edit`, `new`, `read`, `check`, `run`, `tool`, `table`, `clause`, `fix`, `error`,
            `did`, `ask`, `corrected` or `in`, the project.
        value: What was edited, run, asked.
    """

    kind: str
    value: str


_CHANGED = {"edit": "Edited", "new": "Made"}  # first, since a title begins with what is first
_LISTED = {"read": "Read", "tool": "Called", "table": "Tables", "clause": "Clauses"}
_JOINED = {"check": "Checked with", "run": "Ran"}
_SINGLE = {
    "did": "Did",
    "fix": "Went wrong",
    "error": "Stayed wrong",
    "ask": "Asked also",
    "corrected": "Corrected",
    "in": "In",
}
_LABELS = {**_CHANGED, **_SINGLE, **_LISTED, **_JOINED}
_KIND_OF = {label: kind for kind, label in _LABELS.items()}
KINDS = tuple(_LABELS)
_FILES = ("edit", "new", "read")

_PERSONAL = (
    (re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}\b"), "<address>"),
    (re.compile(r"(?<![/\w])(?!add|alter|remove|create|drop)[a-z]+_[a-z]+_\d{3,}\b"), "<user>"),
    (
        re.compile(r"(?i)\b(ssn|zip(?: code)?|card)(\W{1,4}(?:ending )?)['\"]?\d[\w-]*"),
        r"\1\2<value>",
    ),
    (
        re.compile(r"(?i)\b((?:born|birth(?:day| ?date)?|dob)\b[^\d\n]{0,20})\d[\d/.-]{5,9}"),
        r"\1<date>",
    ),
    (re.compile(r"(?<![\w#])[A-Z]\d{6,}\b"), "<id>"),
    (
        re.compile(
            r"\b((?:[Rr]eservation|[Bb]ooking|[Oo]rder|[Tt]icket|[Ff]light|[Cc]ode)"
            r"(?: (?:id|ID|number|code|is|was))* #?)(?=[A-Z0-9-]*\d)[A-Z0-9][A-Z0-9-]{3,}\b"
        ),
        r"\1<id>",
    ),
    (
        re.compile(
            r"\b((?:I['’]m|I am|[Nn]ame is|[Tt]his is|on behalf of) )[A-Z][a-z]+(?: [A-Z][a-z]+)+"
        ),
        r"\1<name>",
    ),
    (re.compile(r"(?<![\w/.-])(?:\+\d[\d -]{8,}\d|\d{4}(?:[ -]?\d{4}){3})\b"), "<number>"),
    (re.compile(r"/(?:Users|home)/[\w.-]+"), "~"),
    (
        # What an import has marked already stays: `[redacted: key]`.
        re.compile(
            r"(?i)\b((?:api[_-]?key|token|password|secret)['\"]?\s*[=:]\s*['\"]?)"
            r"(?!\[redacted: |['\"])[^\s'\"`,;)}\]]+"
        ),
        r"\1<secret>",
    ),
)
_VERBATIM = 200
_TASK_WORDS = 200
_TASK_CHARACTERS = 4_000
_SCENE_WORDS = 60
_SCENE_CHARACTERS = 40_000
_NAMES = re.compile(r"[\w.*/-]*\w")
_ONE_FORM = 0.6
_EDITING = re.compile(r"\b(?:sed|perl)\s.*-i|<<")  # what it wrote fits its own file alone
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]\S*")
_REPOSITORY = re.compile(
    r"(?:repository|repo|project):? ([\w./-]*\w)(?=[:,;.]?(?:\s|$))(?![ ]\w)", re.IGNORECASE
)
_NAME_WORDS = 4  # of what one task names otherwise than another
_THANKED = re.compile(
    r"\W*(?:ok(?:ay)?|yes|ah|oh|wow)?\W*(?:many |much |great )?(?:thanks|thank you|thx|perfect|lgtm"
    r"|excellent|awesome|(?:that|it|this|now it) works(?: now)?|well done|great (?:job|work))\b",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"\W*(?:no\W(?!\W*(?:problem|worries|thanks?)\b)|nope\b|wrong\b|undo\b|revert\b|stop\b(?!.*(?:perfect|thanks))"
    r"|that'?s (?:not|wrong)|this is (?:not(?! bad)|wrong)"
    r"|(?:that|it|this) (?:is wrong|is not(?! bad)|isn'?t|does ?n[o']t|still(?! works)|did ?n[o']t)"
    r"|(?:you )?still (?:fail|broken|wrong|not)|not what i)\w*",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?|\b(?:but|now|then|next|also|please|could you|can you)\b", re.IGNORECASE)
_RULE = re.compile(
    r"(?:^|[,.;:!]\s|\b(?:and|but|please|so|we)\s)(?:never|always|do not|don['’]?t|stop)\b"
    r"|\buse\b.{3,60}\b(?:instead|not|rather)\b",
    re.IGNORECASE,
)
# Words that say, without a no, that something else was wanted.
_STRONG = re.compile(
    r"\W*(?:that['’]?s (?:not|wrong)|this is (?:not(?! bad)|wrong)|wrong\b|undo\b|revert\b"
    r"|stop(?:\W+(?:we|you|it|never|do not|don['’]?t)|\W{1,3}\w+ing)\b"
    r"|(?:please )?(?:never|always|do not|don['’]?t)\b(?! (?:worry|mind|bother|forget))"
    r"|we (?:always|never|use)\b|prefer\b.{2,60}\bover\b|you forgot\b"
    r"|[^,.?!\n]{4,60}, not (?:with |in |by )?[\w./-]{1,60}\W{0,9}$"
    r"|i (?:said|told|meant)\b|why (?:did|do|would|are) you\b(?! think)"
    r"|(?:please )?use\b.{2,60}\b(?:instead of|rather than|not)\b)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?:[^.!?\n]|\.(?=\w))*\?\W*")
_NO = re.compile(r"\b(?:no|not|never|don['’]?t)\b", re.IGNORECASE)
_PASSING = re.compile(
    r"\b(?:undo|revert)\b|\b(?:that|it|this)(?:['’]s| is| still)? (?:not|wrong|does ?n[o']t)\b",
    re.IGNORECASE,
)
_BRIEF = 200  # characters of thanks; a longer text asks for more
_SHORT = 120  # of a line in a model's words where not all fit
_SIGNED = re.compile(r" \[scene ([0-9a-f]{8})\]$")


def impersonal(text: str) -> str:
    """Return a text without addresses, accounts, homes and secrets."""
    for pattern, kind in _PERSONAL:
        text = pattern.sub(kind, text)
    return text


def shown(text: str, width: int = _VERBATIM) -> str:
    """Return a text of a log on one line, as it was but for what is personal."""
    return one_line(impersonal(text.strip()[: 4 * width]), width)


def task_text(task: str) -> str:
    """Return a task as it is looked for: its own words, without what identifies a person."""
    words = impersonal(task[:_TASK_CHARACTERS]).split()
    return one_line(" ".join(words[:_TASK_WORDS]))


def scene_text(scene: str) -> str:
    """Return a scene as it is looked for: its beginning, and a digest of all of it.

    A folder alone is no scene: then it is empty.
    """
    plain = one_line(impersonal(scene[:_SCENE_CHARACTERS]))
    if not plain or re.fullmatch(r"[Ww]orking directory: \S+", plain) or _PATH.fullmatch(plain):
        return ""
    digest = hashlib.sha256(plain.encode()).hexdigest()[:8]
    return f"{' '.join(plain.split()[:_SCENE_WORDS])} [scene {digest}]"


def project_of(scene: str) -> str:
    """Return the name of the folder that a scene calls its working folder or repository, or is;
    else empty.
    """
    plain = scene[:_TASK_CHARACTERS].strip()
    folder = FOLDER.search(plain) or _REPOSITORY.match(plain)
    path = folder.group(1) if folder else plain if _PATH.fullmatch(plain) else ""
    name = re.split(r"[/\\]", path.rstrip("/\\."))[-1]
    return name or (plain if re.fullmatch(r"[\w.-]+", plain) else "")


def said_at(step: Step) -> str:
    """Return what a log says that the user said after a step."""
    return step.said or (step.observation if step.speaker == "user" else "")


def is_thanks(words: str) -> bool:
    """Return whether words thank, and ask for nothing more."""
    return bool(_THANKED.match(words)) and len(words) < _BRIEF and not _ASKS.search(words)


def is_correction(words: str) -> bool:
    """Return whether words say that what was done is wrong."""
    return bool(_CORRECTED.match(words))


def is_rule(words: str, before: str = "") -> bool:
    """Return whether words correct what was done, and neither ask nor answer what was `before`."""
    asks = _QUESTION.fullmatch(words) or before.rstrip("*_ )\n").endswith("?")
    if asks and not _NO.search(words):
        return False
    return bool(_STRONG.match(words)) or (is_correction(words) and bool(_RULE.search(words)))


def is_passing(words: str) -> bool:
    """Return whether a correction is about what was just done, and no rule for later."""
    return bool(_PASSING.search(words))


def is_signed(trigger: str) -> bool:
    """Return whether a trigger ends with the digest of its scene."""
    return bool(_SIGNED.search(trigger))


def as_text(facts: Iterable[WorkFact]) -> str:
    """Facts as a node keeps them: a line a kind, or a line a fact where those are long."""
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for fact in facts:
        kinds[fact.kind].append(fact.value)
    lines = []
    for kind, values in kinds.items():
        label, between = _LABELS[kind], "; " if kind in _JOINED else ", "
        if kind in _SINGLE:
            lines += [f"{label}: {value}" for value in values]
        elif plain := [value for value in values if between.strip() not in value]:
            lines.append(f"{label}: {between.join(plain)}")
    return "\n".join(lines)


def from_text(text: str) -> list[WorkFact]:
    """Read the facts that a node keeps; every line without a label is part of its way."""
    found = []
    for line in text.splitlines():
        if numbered := re.match(r"\d+\. (.+)", line):
            found.append(WorkFact("did", numbered.group(1)))
            continue
        label, _, rest = line.partition(": ")
        if (kind := _KIND_OF.get(label)) and rest:
            values = [rest] if kind in _SINGLE else rest.split("; " if kind in _JOINED else ", ")
            if kind in _FILES:
                files = [each for each in values if is_file(each.strip())]
                if not files or any(" " in each.strip() for each in values):
                    found.append(WorkFact("did", line.strip()))  # a person's or a model's prose
                    continue
                values = files
            found += [WorkFact(kind, value) for each in values if (value := each.strip())]
        elif line.strip():
            found.append(WorkFact("did", line.strip()))
    return found


def has_facts(text: str) -> bool:
    """Return whether a text has a line of facts."""
    return any(line.partition(": ")[0] in _KIND_OF for line in text.splitlines())


def is_worded(text: str) -> bool:
    """Return whether a text has words of a person or a model beside its facts."""
    return any(
        line.strip() and line.partition(": ")[0] not in _KIND_OF for line in text.splitlines()
    )


def fitted(steps: Sequence[str], room: int, checks: Collection[str] | None) -> list[str]:
    """Return the steps of a way that fit into `room` characters, with their marks.

    What was done before goes first, or else the beginning. In the words of a person or a model
    (`checks` is not None) the checks that are told anyway go before that, the longest lines are
    cut, and what must hold stays.
    """

    def are_long() -> bool:
        return sum(map(len, kept)) + 4 * len(kept) > room

    kept = [*steps]
    if checks is not None and are_long():
        kept = [each for each in kept if each not in checks] or kept
        while are_long() and len(longest := max(kept, key=len)) > _SHORT:
            kept[kept.index(longest)] = one_line(longest, _SHORT)
    again = [at for at in range(1, len(kept)) if kept[at] in kept[:at]]
    while len(kept) > 1 and are_long():
        del kept[again.pop() if again else int(kept[0].startswith(("Needs: ", "[FAILED]")))]
    return kept


def renaming(old: str, new: str) -> dict[str, str]:
    """Return what stands in a task for what an older one of the same form names."""
    before, after = ([*_NAMES.finditer(task)][:60] for task in (old, new))
    matcher = SequenceMatcher(
        None, [each[0] for each in before], [each[0] for each in after], autojunk=False
    )
    if matcher.ratio() < _ONE_FORM:
        return {}
    names = {}
    for kind, start, end, first, to_end in matcher.get_opcodes():
        at, to = start, first
        if kind in ("equal", "delete"):
            continue
        nouns = [_noun(old, before, each) for each in range(at, end)]
        if all(nouns) and end - at == to_end - to:
            for one, other, noun in zip(before[at:end], after[to:to_end], nouns, strict=True):
                alone = f"{noun} " if len(one[0]) == 1 else ""  # `plane G` of the planes (F, G)
                names[alone + one[0]] = alone + other[0]
            continue
        if min(at, to) > 0 and (start == end or len(before[at][0]) == 1):
            at, to = at - 1, to - 1  # `ice` for `ice cream`; an `M` alone is no name
        if 0 < end - at <= _NAME_WORDS and to_end - to <= _NAME_WORDS:
            name = old[before[at].start() : before[end - 1].end()]
            names[name] = new[after[to].start() : after[to_end - 1].end()]
    return {name: own for name, own in names.items() if len(name) > 1}


def _noun(text: str, words: Sequence[re.Match[str]], at: int) -> str:
    """Return the noun before the list that a word is part of; empty if it is part of none."""
    gaps = [text[one.end() : other.start()].strip() for one, other in pairwise(words)]
    if "," not in gaps[max(at - 1, 0) : at + 1]:
        return ""
    while at and gaps[at - 1] == ",":
        at -= 1
    return words[at - 1][0].removesuffix("s") if at else ""


def names_of_another(steps: Iterable[str], old: str, new: str) -> set[str]:
    """Return the words of steps that an older task has and the present one does not."""
    said, other, own = (
        {word.lower() for word in _NAMES.findall(text)} for text in (" ".join(steps), old, new)
    )
    return said & other - own


def instead_of_names(
    way: Sequence[str], others: Iterable[tuple[Sequence[str], float]]
) -> dict[str, list[str]]:
    """Return what other ways have where a way has a name, by the steps that differ in it alone.

    Each of the others comes with what it counts; of names and others the most usual are first.
    """
    counts: dict[str, dict[str, float]] = {}
    said = " ".join(way)
    for steps, weight in others:
        pairs = (pair for each in _in_place(way, steps) for pair in _other_name(*each))
        for name, other in dict.fromkeys(pairs):
            own = counts.setdefault(name, {})
            own[other] = own.get(other, 0.0) + weight
    usual = sorted(counts, key=lambda name: -sum(counts[name].values()))
    found = {name: sorted(counts[name], key=lambda other: -counts[name][other]) for name in usual}
    unsaid = {name: [other for other in own if other not in said] for name, own in found.items()}
    return {name: own for name, own in unsaid.items() if own}


def _in_place(way: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield steps of two ways that stand in each other's place and begin alike."""
    matcher = SequenceMatcher(None, way, other, autojunk=False)
    for kind, start, end, first, to_end in matcher.get_opcodes():
        rest = [*other[first:to_end]] if kind == "replace" else []
        for step in way[start:end]:
            heads = [each.partition(" ")[0] for each in rest]
            if (head := step.partition(" ")[0]) in heads:
                yield step, rest[heads.index(head)]
                del rest[: heads.index(head) + 1]


def _other_name(step: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield the name by which alone two steps differ, as both have it."""
    own, its = step.split(), other.split()
    matcher = SequenceMatcher(None, own, its, autojunk=False)
    changes = [each for each in matcher.get_opcodes() if each[0] != "equal"]
    if len(changes) == 1 and changes[0][0] == "replace":
        _, start, end, first, to_end = changes[0]
        if len(own[end - 1]) == 1:  # `pot 4`: a number or a letter alone is no name
            start, first = start - 1, first - 1
        if start > 0 and end - start <= _NAME_WORDS and to_end - first <= _NAME_WORDS:
            yield " ".join(own[start:end]), " ".join(its[first:to_end])


def adapted(step: str, names: Mapping[str, str]) -> str:
    """Return a step with the present task's names where the old ones stand by themselves.

    What came of it then stays as it was.
    """
    did, sign, answer = step.partition(" → ")
    if not names or _EDITING.search(did):
        return step
    ordered = sorted(names, key=len, reverse=True)
    pattern = "|".join(f"{_before(name)}{re.escape(name)}" for name in ordered)
    own = {name.lower(): new for name, new in names.items()}
    named = re.compile(rf"(?i:{pattern})(?!\w|\.\d)")
    rest = named.sub("\n", did)
    # Half of a command with the new names would be worse than all of it with the old ones.
    if any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", rest) for name in names):
        return step
    return f"{named.sub(lambda found: own[found.group().lower()], did)}{sign}{answer}"


def _before(name: str) -> str:
    """Return what may stand before a name: a plain word is one only as a part of a path or a
    value.
    """
    if name.isdigit():  # alone it may be the value of an option
        return r"(?<=[/#_:])"
    if name[0].isdigit():
        return r"(?<![\d.])"
    return r"(?<=[\s/=:.])(?<!//)" if name.isalpha() else r"(?<![\w*])"
