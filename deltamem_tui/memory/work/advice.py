"""The text of a recall: what such work usually needs, and what the nearest tasks add to it.

What failed at this very task comes first, then the base, then what the task's own kind adds, then
what went wrong before and what mended it. One line tells the evidence. All of it stays within
a number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from deltamem_tui.embedding.lexical import Lexical, terms
from deltamem_tui.memory.work.acts import LONG, check_name, without_variables
from deltamem_tui.memory.work.counting import READ, Counted, Experience, Lesson
from deltamem_tui.memory.work.texts import (
    adapted,
    fitted,
    instead_of_names,
    is_passing,
    names_of_another,
    renaming,
)
from deltamem_tui.text import counted, one_line

_SAME_TASK = 0.85  # the share of two tasks' words that are in both, from which on they are one
WENT_WRONG = "Went wrong before: "
CHARS = 4  # of a token
NEAR = 0.45  # from this nearness on a task is called like another
_LOOKED_AT = 24
_BASE = 3
_FEW = 12
_KIN = 0.3  # nearness from which one of few lessons may help
_KIN_GAP = 0.05
_DIGEST = 12
_HABIT = 0.5  # the share of few tasks that makes a tool a habit


# Tuned on development parts of logs of real work; none was chosen on what it is judged by.
_BASE_FILES = 4  # files named as edited most
_BASE_SHARE = 0.08  # of all tasks edit a file that is named so
_PATH = 0.9  # weight of a path that the task speaks of
_CUT = 0.3  # of a path said by the task, from where it counts
_LATE = 0.5  # weight of what the latest sessions touched
_TOOL_CUT = 0.1  # likelihood from which a tool is named
_WAYS = 2  # nearest ways told
_WAY_GAP = 0.1  # further from the best than this, a way is not told
_FAR = 0.1  # nearness below which nothing is told of an episode
_FIT = 0.2  # bonus of a procedure that does what the task's words ask for
_DUE = 0.5  # likelihood from which a way is expected to do something
_AGREE = 0.15  # bonus of a way over tables that others use too
_FOREIGN = 0.05  # penalty of a procedure that names what only its own task names
_BONUS = 0.07  # bonus of a solved way
_TITLE = 60  # characters of a task as the title of its way
_SURE = 0.45  # nearness from which one way is enough
_INSTEAD = 3  # names of a procedure for which others are told
_OTHERS = 5  # for each
_PROCEDURE = 4  # steps of a way that another one may do otherwise
_FIXES = 1  # errors told
_FIX_SAID = 0.3  # share of an error that the task names
_FIX_NEAR = 0.3  # or likelihood among near tasks,
_FIX_TOP = 0.6  # the nearest of which is at least so near
_STEP = 200  # characters of a step
_CORRECTIONS = 2  # told at once


@dataclass(frozen=True, slots=True)
class Advice:
    """A text for a task.

    Attributes:
        lines: Its lines; none if there is nothing to say.
        quoted: The lessons that it speaks of by name, or that are near, by their places.
    """

    lines: list[str]
    quoted: list[int]


def advice(experience: Experience, room: int) -> Advice:
    """Return what an experience says for its task, in at most `room` characters."""
    return _Writer(experience, room).write()


def digest(experience: Experience, room: int) -> list[str]:
    """Return what any task of a bank needs, in at most `room` characters; none of a few tasks."""
    return _Writer(experience, room).digest() if len(experience.lessons) >= _BASE else []


class _Writer:
    def __init__(self, experience: Experience, room: int) -> None:
        self.e, self.left = experience, room
        self.failed: list[int] = []
        self.quoted: list[int] = []
        self.order = experience.order
        self.near = [row for row in self.order[:50] if experience.nearness[row] >= NEAR]

    def write(self) -> Advice:
        e = self.e
        if not e.lessons:
            return Advice([], [])
        files = e.counted(["edit", "read", "new"])
        of_files = sum(each.near for each in files) >= 0.5
        self.left -= len(self.evidence()) + 1
        failed = self.failures()
        fixes = self.fixes()
        if len(e.lessons) < _BASE and e.top < _FAR and not fixes:
            return Advice([], [])  # a task or two do not make a base
        if of_files:
            near = [row for row in self.order[:_LOOKED_AT] if e.nearness[row] >= _FAR]
            kept = self.left // 3 if any(e.lessons[row].worded for row in near) else 0
            self.left -= kept
            shown = [*self.checks(), *self.files(files)]
            self.left += kept  # and what the files leave
            # Where files are few, there is room for how it was done.
            shown += self.ways(1, worded=True) or (self.ways(1) if self.near else [])
        else:
            usual = [*self.tools(), *self.checks()]
            shown = [*self.ways(_WAYS), *usual]
        said = "\n".join(shown)
        lines = [
            *failed,
            *shown,
            *(fix for fix in fixes if fix[len(WENT_WRONG) :].partition("; then")[0] not in said),
        ]
        own = [row for row in self.order if e.project in e.lessons[row].projects]
        rows = dict.fromkeys([*self.quoted, *self.near, *own])
        lines += self.corrections(rows, "\n".join(lines))
        if not lines:
            return Advice([], [])
        return Advice([*lines, self.evidence()], self.quoted or self.near[:3])

    def digest(self) -> list[str]:
        """Return the base alone: checks, files or tools, and what went wrong more than once."""
        e = self.e
        edits = [each.value for each in e.counted(["edit"])[:_DIGEST] if each.seen > 1]
        shown = [*self.checks(), *self.row_of("Edited most: ", edits)]
        if not edits:
            shown += self.tools()
        for each in e.counted(["fix"]):
            what, _, worked = each.value.partition(" ⇒ ")
            if each.seen > 1:
                line = f"Went wrong {each.seen} times: {one_line(what, 170)}"
                shown += self.taken([f"{line}; then worked: {one_line(worked, 100)}"])
        return shown + self.corrections(reversed(range(len(e.lessons))))

    def taken(self, lines: Iterable[str]) -> list[str]:
        """Return the lines for which there is room; it is used up by them."""
        kept = []
        for line in lines:
            if line and len(line) < self.left:
                kept.append(line)
                self.left -= len(line) + 1
        return kept

    def evidence(self) -> str:
        """Return how much stands behind the text."""
        whole = counted(self.e.here or len(self.e.lessons), "past task")
        whole += "" if self.e.here else " of other projects"
        if not self.near and (self.quoted or self.e.top >= _KIN):
            return f"Evidence: {whole}, none of them very near."
        if not self.near:
            return f"Nothing near is known; this is what is most usual in {whole}."
        here = [row for row in self.near if self.e.is_here[row] or not self.e.here]
        solved = sum(self.e.lessons[row].solved for row in here)
        near = f"{len(here)} near this one, {solved} of these solved" if here else "none near"
        others = len(self.near) - len(here)
        return f"Evidence: {whole}, {near}{f'; {others} near in other projects' * bool(others)}."

    def failures(self) -> list[str]:
        """Return what failed at this very task."""
        e = self.e
        asked = set(terms(e.task))
        failed = (row for row in self.order[:_LOOKED_AT] if not e.lessons[row].solved)
        words = {row: set(terms(e.lessons[row].task)) for row in failed}
        rows = [
            row
            for row, own in words.items()
            if asked and len(asked & own) >= _SAME_TASK * len(asked | own)
        ]
        lines = []
        for row in rows[:2]:
            if text := "; ".join(self.steps(e.lessons[row])[-3:]):
                lines.append(f"Failed at this task before: {one_line(text, 300)}")
                self.failed.append(row)
        self.quoted += self.failed
        return self.taken(dict.fromkeys(lines))

    def corrections(self, rows: Iterable[int], said: str = "") -> list[str]:
        """Return what the user corrected in some lessons of this project, if it is not said.

        What was wrong once with what was done is told of near lessons alone.
        """
        near = {*self.quoted, *self.near}
        lines = [
            f"The user corrected then: “{one_line(words, 160)}”"
            for row in rows
            if self.e.is_here[row]
            for words in self.e.lessons[row].of("corrected")
            if words[:60] not in said and (row in near or not is_passing(words))
        ]
        return self.taken([*dict.fromkeys(lines)][:_CORRECTIONS])

    def steps(self, lesson: Lesson) -> list[str]:
        """Return a lesson's way, with the present task's names in place of its own."""
        # What failed was not tried under other names.
        names = renaming(lesson.task, self.e.task) if lesson.solved else {}
        if lesson.of("table"):  # a word may be a column there
            names = {old: new for old, new in names.items() if not old.isalpha()}
        width = _STEP * (1 + lesson.worded)
        return [one_line(adapted(step, names), width) for step in lesson.of("did")]

    def title(self, lesson: Lesson, steps: Sequence[str]) -> str:
        """Return what stands over a way: how it ended, its task, and whose names it has."""
        failed = "Note on a failed try at" if lesson.worded else "Tried, not solved:"
        names, width = "", _STEP * (1 + lesson.worded)
        if [one_line(each, width) for each in lesson.of("did")] != [*steps]:
            is_mixed = names_of_another(steps, lesson.task, self.e.task)
            names = f" {'partly ' if is_mixed else ''}with the names of this task"
        title = one_line(lesson.title, 2 * _TITLE) or one_line(lesson.task, _TITLE)
        return f"{'Solved' if lesson.solved else failed} “{title}”{names}:"

    def ranked_ways(self, *, worded: bool) -> dict[int, float]:
        """Return the lessons whose ways may be told, each with its rank, the best first."""
        e = self.e
        tables = {("table", each.value): each.near for each in e.counted(["table"])}
        expected = e.expected()
        due = {head for head, share in expected.items() if share > _DUE}

        def rank(row: int) -> float:
            lesson, steps = e.lessons[row], self.steps(e.lessons[row])
            own = [tables[fact] for fact in e.facts[row] if fact in tables]
            agreed = sum(own) / len(own) if own else 0.0
            did = e.heads(row)
            fits = [expected[head] if head in did else 1 - expected[head] for head in did | due]
            lacks = min((1 - expected[head] for head in due - did), default=1.0)
            # One line may do in its own way what is asked for.
            fit = lacks * sum(fits) / len(fits) if fits and len(steps) > 1 else 0.5
            is_other = names_of_another(steps, lesson.task, e.task) and len(steps) >= _PROCEDURE
            bonus = _BONUS * lesson.solved - _FOREIGN * bool(is_other)
            return e.nearness[row] + _AGREE * agreed + _FIT * fit + bonus

        told_of = [
            row
            for row in self.order[:_LOOKED_AT]
            if row not in self.failed
            and (e.is_here[row] or e.nearness[row] >= NEAR)
            and (e.lessons[row].worded or not worded)
            and (e.nearness[row] >= NEAR or worded or not e.lessons[row].worded)
            and (e.lessons[row].solved or len(self.steps(e.lessons[row])) <= LONG)
        ]
        ranks = {row: e.nearness[row] if worded else rank(row) for row in told_of}
        return dict(sorted(ranks.items(), key=lambda each: -each[1]))

    def ways(self, most: int, *, worded: bool = False) -> list[str]:
        """Return the nearest ways, word by word: solved ones, and failed attempts.

        Where files and checks say the rest already, only what a person or a model wrote counts
        (`worded`).
        """
        e, ranks = self.e, self.ranked_ways(worded=worded)
        order = [*ranks]
        best = max(ranks.values(), default=0.0)
        mend = self.mend(order)
        order = [*order[:1], *mend, *(row for row in order[1:] if row not in mend)]
        lines: list[str] = []
        told: set[str] = set()
        for row in order:
            is_far = ranks[row] < best - _WAY_GAP or e.nearness[row] < _FAR
            if len(told) >= max(most, 2 * len(mend)) or (is_far and row not in mend):
                break
            lesson, steps = e.lessons[row], self.steps(e.lessons[row])
            is_enough = bool(told) and e.nearness[self.quoted[-1]] >= _SURE
            if is_enough and len(steps) < _PROCEDURE and row not in mend:
                continue
            end = "\n".join(steps) if lesson.worded else "".join(steps[-1:])
            if not end or end in told:
                continue
            title = self.title(lesson, steps)
            checks = lesson.of("check") if lesson.worded else None
            kept = fitted(steps, self.left - len(title), checks)
            if told and lesson.worded and kept != steps:
                continue  # half of a second note says nothing
            steps = kept
            own = [f"{title} {steps[0]}"]
            if steps[1:]:
                marks = ("-" if lesson.worded else f"{n}." for n in range(1, len(steps) + 1))
                own = [title, *map(" ".join, zip(marks, steps, strict=True))]
            if len(steps) >= _PROCEDURE and lesson.solved and not told:
                own += self.instead(row, steps)
            if kept := self.taken(own):
                lines += kept
                told.add(end)
                self.quoted += [row] if row not in self.quoted else []
        return lines

    def instead(self, row: int, steps: Sequence[str]) -> Iterator[str]:
        """Yield what other solved ways have where a procedure has a name, a line a name."""
        e = self.e
        solved = [at for at in self.near if at != row and e.lessons[at].solved]
        others = [(self.steps(e.lessons[at]), e.weights[at]) for at in solved]
        for name, own in [*instead_of_names(steps, others).items()][:_INSTEAD]:
            yield f"Where {name} is not there: {', '.join(own[:_OTHERS])}."

    def mend(self, order: Sequence[int]) -> list[int]:
        """Return the nearest lesson that succeeded, where the first of an order did not."""
        e = self.e
        if not order or e.lessons[order[0]].solved:
            return []
        return [row for row in order if e.lessons[row].solved and e.nearness[row] >= _KIN][:1]

    def checks(self) -> list[str]:
        """Return what verifies the work: each command once, in its most usual form."""
        e = self.e
        forms: dict[str, list[Counted]] = {}
        here = {value for _, value in e.known_here}
        for each in e.counted(["check"]):
            if each.value not in here:
                continue
            forms.setdefault(check_name(each.value), []).append(each)
        ranked = []
        for name, same in forms.items():
            seen = sum(each.seen for each in same)
            # `cargo fmt` alone would change files, where it was asked to check them.
            only_checks = [each for each in same if "--check" in each.value]
            usual = max(only_checks or same, key=lambda each: (each.seen, -len(each.value)))
            is_usual = usual.seen > 1 or len(same) == 1 or bool(only_checks)
            set_before = usual.value.removesuffix(without_variables(usual.value))
            text = usual.value if is_usual else set_before + name
            near, base = (sum(getattr(each, how) for each in same) for how in ("near", "base"))
            ranked.append((near, base, seen, text))
        whole = len(e.lessons)
        # A few of a dozen tasks do not make a habit.
        least = 0.04 if whole > _FEW else 1 / 3
        good = [
            text
            for near, base, seen, text in sorted(ranked, reverse=True)
            if (seen > 1 and base >= least) or (near > 0.25 and self.near)
        ]
        return self.taken([f"Check with: {'; '.join(good[:6])}"] if good else [])

    def files(self, files: Sequence[Counted]) -> list[str]:
        """Return the files that such work is about: the base, the likeliest for this task, the
        rest.
        """
        e = self.e
        edits = {each.value: each for each in e.counted(["edit", "new"])}
        reads = {each.value: each for each in e.counted(["read"])}
        changed = {each.value for each in e.counted(["edit"])}
        once = {each.value for each in e.counted(["new"]) if each.seen == 1}
        won = {each.value for each in e.counted(["new"], solved=True)}
        # Files made again and again, or only by failed attempts, do not belong to the project.
        passing = {each.value for each in e.counted(["new"])} - changed - (once & won)
        here = {value for _, value in e.known_here}
        paths = [
            each.value
            for each in files
            if each.value in here and each.value not in passing and each.value[0] != "/"
        ]
        match = _matches(e.task, paths)
        if len(e.lessons) <= _FEW:  # what a few other tasks touched is no habit
            known = {each.value for each in files if each.base >= _HABIT}
            # What is nearest may help where little is known, and what is as near.
            kin = self.near or [
                row for row in self.order if e.nearness[row] >= max(_KIN, e.top - _KIN_GAP)
            ]
            self.quoted += [row for row in kin if row not in (*self.near, *self.quoted)]
            known |= {value for row in kin for _, value in e.facts[row]}
            match = {path: said for path, said in match.items() if said > _CUT or path in known}
            paths = [*match]
        none = Counted("", 0.0, 0.0, 0)
        likely = {
            path: edits.get(path, none).near
            + READ * reads.get(path, none).near
            + _PATH * max(0.0, match[path] - _CUT)
            for path in paths
        }
        usual = (each for each in edits.values() if each.base >= _BASE_SHARE and each.seen > 2)
        most = sorted((p for p in usual if p.value in match), key=lambda each: -each.base)
        head = [each.value for each in most[:_BASE_FILES]]
        late = e.lately()
        order = sorted(
            set(paths) - set(head), key=lambda path: (-likely[path], -late.get(path, 0.0), path)
        )
        own = order[: 10 - len(head)]
        rest = sorted(
            order[len(own) :], key=lambda path: (-likely[path] - _LATE * late.get(path, 0.0), path)
        )
        lines = self.row_of("Edited most: ", head)
        lines += self.row_of("Likely here: ", own)
        return [*lines, *self.by_folder("Also: ", rest)]

    def row_of(self, title: str, items: Sequence[str]) -> list[str]:
        """Return a title with as many items as there is room for."""
        kept: list[str] = []
        size = len(title)
        for item in items:
            if size + len(item) + 2 >= self.left:
                break
            kept.append(item)
            size += len(item) + 2
        return self.taken([title + ", ".join(kept)] if kept else [])

    def by_folder(self, title: str, paths: Sequence[str]) -> list[str]:
        """Paths by their folders, as many as there is room for, the best first."""
        folders: dict[str, list[str]] = {}
        size = len(title) + 1
        for path in paths:
            folder, _, name = path.rpartition("/")
            more = len(name) + 2 + (0 if folder in folders else len(folder) + 3)
            if size + more < self.left:
                folders.setdefault(folder, []).append(name)
                size += more
        groups = [
            (f"{folder}/: " if folder else "") + ", ".join(names)
            for folder, names in folders.items()
        ]
        return self.taken([title + "; ".join(groups)] if groups else [])

    def tools(self) -> list[str]:
        """Return the tools of such tasks, and what only failed attempts used."""
        e = self.e
        counts = e.counted(["tool"])
        few = len(e.lessons) <= _FEW
        usual = [each for each in counts[:3] if not few or each.base >= _HABIT]
        tools = [each for each in counts if each.near >= _TOOL_CUT] or usual
        if not tools:
            return []
        good = {each.value for each in tools}
        won = {each.value: each.near for each in e.counted(["tool"], solved=True)}
        lost = e.counted(["tool"], solved=False)
        bad = [
            each.value
            for each in lost
            if each.near > 0.25
            and each.seen > 1
            and each.near - won.get(each.value, 0.0) > 0.2
            and each.value not in good
        ]
        lines = [f"Tools used in such tasks: {', '.join(each.value for each in tools)}"]
        if bad:
            some = ", ".join(bad[:3])
            lines.append(f"Only failed attempts used {some}: avoid unless the rules ask for it.")
        return self.taken(lines)

    def fixes(self) -> list[str]:
        """Errors that came before in such tasks or that the task names, and what mended them."""
        e = self.e
        here = e.known_here
        found = [each for each in e.counted(["fix"]) if ("fix", each.value) in here]
        asked = set(terms(e.task))
        words = [set(terms(each.value)) for each in found]
        shares = [len(asked & own) / (len(asked) or 1) for own in words]
        if len(e.lessons) > _FEW:  # words that many tasks say do not tell which one is meant
            texts = [*(each.value for each in found), *(each.task for each in e.lessons)]
            shares = Lexical(texts).scores(e.task)[: len(found)]
        ranked = []
        for each, share in zip(found, shares, strict=True):
            if share >= _FIX_SAID or (each.near >= _FIX_NEAR and e.top >= _FIX_TOP):
                ranked.append((share + each.near, each.value))
        lines = []
        for _, value in sorted(ranked, reverse=True)[:_FIXES]:
            what, _, mended = value.partition(" ⇒ ")
            lines.append(f"{WENT_WRONG}{one_line(what, 170)}; then worked: {one_line(mended, 100)}")
        return self.taken(lines)


def _matches(task: str, paths: Sequence[str]) -> dict[str, float]:
    """Return how much of each path's words a task says, from 0 to 1."""
    words = {path: set(terms(re.sub(r"\.\w+$|[/.]", " ", path))) for path in paths}
    told = Lexical([" ".join(each) for each in words.values()])
    asked = set(terms(task))
    found = {}
    for path, own in words.items():
        said = sum(told.weight(word) for word in own & asked)
        found[path] = said / (sum(told.weight(word) for word in own) + 2.0)
    return found
