"""Facts of one episode of real work: files, commands, tools, tables, and what mended what.

They are found by structure: tools and arguments, paths, commands, statements, errors and how a
step ended. A writer by rules makes nodes of them: of an episode's task, and of its scene.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from deltamem_tui.bank.node import Node
from deltamem_tui.errors import ExtractionError
from deltamem_tui.memory.work.acts import (
    INTERPRETERS,
    PARSED,
    SEARCHES,
    SUBCOMMANDS,
    Act,
    clauses_in,
    has_failed,
    is_aside,
    is_edit,
    is_end,
    is_quiet,
    is_read,
    listed,
    named_files,
    read_step,
    simple_commands,
    tables_in,
    way_of,
    words_of,
)
from deltamem_tui.memory.work.paths import Folder, paths_in
from deltamem_tui.memory.work.texts import (
    KINDS,
    WorkFact,
    as_text,
    has_facts,
    is_rule,
    is_signed,
    project_of,
    said_at,
    scene_text,
    shown,
    task_text,
)
from deltamem_tui.memory.writers.extraction import Extraction
from deltamem_tui.text import one_line
from deltamem_tui.trajectory.model import Trajectory

_MOST = {
    "edit": 60,
    "new": 20,
    "read": 60,
    "check": 12,
    "did": 40,
    "fix": 8,
    "error": 6,
    "ask": 6,
    "corrected": 4,
}
_MOST_OF_OTHERS = 30
_CHECKS = listed(
    "test tests pytest build lint check vet tox mypy ruff typecheck clippy verify flake8 eslint "
    "tsc jest vitest fmt gofmt runtests validate golangci nox ctest rspec unittest phpunit phpstan "
    "rubocop assemble analyze msbuild pre-commit"
)
# `test` alone looks at files, and the words from `check` on name no program.
_NO_CHECKS = listed("git cd echo find grep ls cat check lint tests build verify validate vet test")
_OWN = re.compile(r"(?:mcp_+)?deltamem[._-]")  # a memory asked is no work
# Variables that a command runs with, and that hold no secret.
_SET = r"(?<!\S)(?:(?!\w*(?:KEY|TOKEN|SECRET|PASS))[A-Z][A-Z0-9_]*=[\w.:/+-]{0,40} )+"
_PROGRAM = re.compile(r"^.*/|\.(?:bat|cmd|exe)$")
_RUNNER = re.compile(r"^(?:python3? -m|(?:uv|poetry) run|npx) ")
_MISSING = re.compile(r"not found|[Nn]o module named|not recognized")
_PATCHED = re.compile(r"(?:^|\n)\W{0,6}(Add|Update|Modify|Delete)(?: File)?:\W{0,3}([^\s`*]+)")
_TO_FILE = re.compile(r"(?:>>?|\btee(?: -a)?)\s+([\w./~+-]+)")
_FLAG = re.compile(r"(--?[A-Za-z][\w-]*)(?:=.*)?")
_COMMIT = re.compile(r"\bgit(?: -\w \S+)* commit\b")
_BROUGHT = listed("new_string new_str new_text newstring newtext replacement new_content")
_OF_DATA = re.compile(
    r"\.(?:csv|tsv|json\w*|ya?ml|env|ini|cfg|conf|toml|txt|log|sql|xml)$|(?:^|/)\."
)
_SOUGHT = 4000  # characters of an edit in which its first line is sought
_FIX_WITHIN = 8
_TRAPS = 8
_ROUND = 12  # steps that may be done in turn again and again


def facts_of(episode: Trajectory) -> list[WorkFact]:
    """Return the facts of an episode, each once but steps, grouped by kind, in order of their first
    evidence.
    """
    acts = _acts(episode)
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, value in _all(episode, acts):
        values = found[kind]
        if value and len(values) < _MOST.get(kind, _MOST_OF_OTHERS):
            values += [value] if kind == "did" or value not in values else []
    return [WorkFact(kind, value) for kind, values in found.items() for value in values]


def _acts(episode: Trajectory) -> list[Act]:
    """Return what was done, without questions to the memory; what the user corrected has failed."""
    read = (read_step(index, step) for index, step in enumerate(episode.steps))
    acts = [act for act in read if not _OWN.match(act.tool)]
    since = 0
    for index, step in enumerate(episode.steps):
        words = said_at(step)
        if is_rule(words, step.action):
            own = [at for at, act in enumerate(acts) if since <= act.index <= index]
            for at in _corrected(acts, own, words):
                acts[at] = replace(acts[at], failed=True, stopped=shown(words, 100))
        since = index + 1 if words else since
    return acts


def _corrected(acts: Sequence[Act], among: Sequence[int], words: str) -> list[int]:
    """Return which acts a correction speaks of: those that it names first, else the last one."""
    went_well = [at for at in among if acts[at].form != "message" and not acts[at].failed]
    work = [at for at in went_well if not is_quiet(acts[at])]
    places: dict[int, list[int]] = {}
    for at in work:
        act = acts[at]
        names = [act.tool, *act.text.split()[1:2]] if act.form == "command" else []
        names += [path.rpartition("/")[2] for path in named_files(act)]
        spots = (re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words) for name in names if name)
        if found := [spot.start() for spot in spots if spot]:
            places.setdefault(min(found), []).append(at)
    return places[min(places)] if places else work[-1:]


def _all(episode: Trajectory, acts: Sequence[Act]) -> Iterator[WorkFact]:
    folder = Folder(episode)
    yield from _files(folder, acts)
    for act in acts:
        if act.form == "command":
            yield from _commands(act)
        elif act.form == "call":
            if not (act.failed or is_edit(act) or is_end(act) or is_aside(act)):
                yield WorkFact("tool", act.tool)
        elif act.form == "statement" and not act.failed:
            yield from (WorkFact("table", table) for table in tables_in(act.text))
            yield from (WorkFact("clause", clause) for clause in clauses_in(act.text))
    solved = episode.outcome.success is True
    yield from _fixes(acts, folder, solved=solved)
    yield from _outcome(acts, folder, solved=solved)
    is_work = any(each.form == "command" or is_edit(each) for each in acts)
    yield from _asked(episode, is_work=is_work)
    yield WorkFact("in", project_of(episode.environment))


def _files(folder: Folder, acts: Sequence[Act]) -> Iterator[WorkFact]:
    """Files edited, made and read, relative to the folder."""
    made: set[str] = set()
    opened = ""
    for act in acts:
        if act.form in ("message", "statement"):
            continue
        named, told = named_files(act), paths_in(act.answer, 300)
        if is_edit(act):
            touched = _edited(act, named, told, opened)
            opened = touched[0][1] if touched and len(touched) == 1 else opened
        else:
            touched = _shell_edits(act, named)
            if act.form == "command" and act.answer.startswith("["):
                opened = next(iter(told), opened)
            if is_read(act) and named:
                opened = named[0]
            if not act.failed and (is_read(act) or act.tool == "sed"):
                touched += [("read", path) for path in named[:3]]
        for kind, path in touched:
            if not (own := folder.relative(path)):
                continue
            if kind == "new":
                made.add(own)
            # What an episode changes of a file that it made itself is all its making.
            yield WorkFact("new" if kind == "edit" and own in made else kind, own)


def _edited(
    act: Act, named: Sequence[str], told: Sequence[str], opened: str
) -> list[tuple[str, str]]:
    """Return the files that a tool for it changed or made, as kind and path."""
    if patched := _PATCHED.findall(act.text):
        return [("new" if how == "Add" else "edit", path) for how, path in patched]
    start = act.answer[:80].lower()
    path = next(iter(named or told), opened)
    if act.stopped or (act.failed and (told[:1] != [path] or "error" in start)):
        return []
    is_new = "create" in words_of(act.tool) or "creat" in start
    return [("new" if is_new else "edit", path)] if path else []


def _shell_edits(act: Act, named: Sequence[str]) -> list[tuple[str, str]]:
    """Return the files that a command line changed: by `sed -i`, or by what it wrote into them."""
    if act.form != "command" or act.failed:
        return []
    written = _TO_FILE.findall(act.text.partition("\n")[0])
    found = [("new", path) for path in written if paths_in(path)]
    if act.tool in ("sed", "perl") and "-i" in " ".join(act.text.split()[1:3]):
        found += [("edit", path) for path in named]
    return found


def _commands(act: Act) -> Iterator[WorkFact]:
    """Commands by head and flags; what checks the work in full."""
    line = act.text.partition("\n")[0] if "<<" in act.text or len(act.text) > 800 else act.text
    if act.tool in SEARCHES - {"find", "grep", "ls", "echo", "wc", "cd"} or (
        is_edit(act) and act.form == "command"
    ):
        return
    for words in simple_commands(line):
        head = words[0].rpartition("/")[2] if words[0].startswith("/") else words[0]
        if not re.fullmatch(r"[a-z_.][\w./+-]*", head) or len(head) > 40:
            continue
        if not act.failed:
            flags = [flag[1] for word in words[1:] if (flag := _FLAG.fullmatch(word))]
            yield WorkFact("run", " ".join([_head(words, head), *dict.fromkeys(flags[:8])]))
        if not _is_missing(act) and (check := _check(words, head)):
            before = re.search(rf"{_SET}(?={re.escape(words[0])}(?!\S))", line)
            yield WorkFact("check", (before[0] if before else "") + check)


def _is_missing(act: Act) -> bool:
    """Return whether a command could not run, or should not have: it checks nothing."""
    return bool(act.stopped or (act.failed and _MISSING.search(act.answer[:1000])))


def check_of(act: Act) -> str:
    """Return the command of an act that tests, builds or checks; empty if none does."""
    return "" if act.form != "command" or _is_missing(act) else _first_check(act.text[:PARSED])


@lru_cache(maxsize=1024)  # each act is compared with those around it
def _first_check(line: str) -> str:
    found = (_check(words, words[0]) for words in simple_commands(line))
    return next(filter(None, found), "")


def _repeat_keys(act: Act) -> set[object]:
    """Return what marks an act's repeats: its words, and the program that it checks work with."""
    words = check_of(act).split()
    head = _RUNNER.sub("", _head(words, words[0])) if words else ""
    return {frozenset(act.text.split()), *filter(None, [head])}


def _head(words: Sequence[str], head: str) -> str:
    if (name := _PROGRAM.sub("", head)) in SUBCOMMANDS:
        rest = [word for word in words[1:3] if re.fullmatch(r":?[a-z][\w:-]*", word)]
        leads_on = rest[:1] in (["run"], ["exec"], ["get"], ["compose"], ["artisan"])
        take = 2 if leads_on or name == "npx" else 1
        return " ".join([head, *rest[:take]])
    if head in INTERPRETERS:
        if words[1:2] == ["-m"]:
            return " ".join(words[:3])
        if len(words) > 1 and paths_in(words[1]):
            return " ".join(words[: 3 if words[1].endswith("manage.py") else 2])
    return head


def _check(words: Sequence[str], head: str) -> str:
    """Return a command that tests, builds or checks, with what selects a single case left away."""
    names = " ".join(part.rpartition("/")[2] for part in _head(words, head).split())
    is_check = not _CHECKS.isdisjoint((*words_of(names), head)) and "build-server" not in words
    if not is_check or head in _NO_CHECKS:
        return ""
    kept = []
    skip = False
    for word in words[:8]:
        if skip or re.search(r"[=*^$|\\]|::|\d>|--(?:fix|write)", word) or word in (">", "<", "&"):
            skip = False
            continue
        if re.fullmatch(r"-(?:run|k|t|timeout|count|bench|tags|coverprofile)", word):
            skip = True
            continue
        kept.append(word)
    text = shown(" ".join(kept), 80)
    return "" if "~" in text else text


def _fixes(acts: Sequence[Act], folder: Folder, *, solved: bool) -> Iterator[WorkFact]:
    """Yield what went wrong, and what worked next in its stead."""
    done = [act for act in acts if act.form != "message"]
    good = [(at, act) for at, act in enumerate(done) if solved and not act.failed]
    last = {key: at for at, act in good for key in _repeat_keys(act)}
    for at, act in enumerate(done):
        if not (error := act.error) or is_quiet(act) or (is_edit(act) and not act.stopped):
            continue
        fix = _mend(act, done[at + 1 : at + 1 + _FIX_WITHIN]) if solved else []
        what, wrong = _tells(act, folder), shown(error, 140)
        mended = "; ".join(_tells(each, folder) for each in fix)
        if fix and mended != what:
            yield WorkFact("fix", f"{what} → {wrong} ⇒ {mended}")
        elif not fix and all(last.get(key, -1) < at for key in _repeat_keys(act)):
            yield WorkFact("error", f"{what} → {wrong}")


def _mend(act: Act, later: Sequence[Act]) -> list[Act]:
    """Return what mended a failure: what was done last before the same check passed, or what did
    the same in another way, behind what made that possible.
    """
    after = [each for each in later if each.failed or not is_quiet(each)]
    own = _words(act)
    if act.stopped:  # its error is the user's words, which may name what to do instead
        return [each for each in after if not each.failed and _words(each) & own][:1]
    for at, each in enumerate(after):
        if each.stopped and each.tool == act.tool:
            return _mend(each, after[at + 1 :])
    good = [at for at, each in enumerate(after) if not each.failed]
    passed = next((at for at in good if _passes(act, after[at])), 0)
    again = next((at for at in good if _is_again(act, after[at])), -1)
    before = after[: passed or max(again, 0)]
    tried = [at for at, each in enumerate(before) if each.failed and _passes(act, each)]
    between = [each for each in before[max(tried, default=-1) + 1 :] if not each.failed]
    if passed and between:
        return between[:1]
    if again < 0:
        return []
    enabling = [each for each in between if _words(each) & _words(after[again])]
    return [*enabling[-1:], after[again]]


def _words(act: Act) -> set[str]:
    return set(re.findall(r"\w{3,}", act.text[:400])) - {act.tool, "install", "add", "run"}


def _is_again(act: Act, later: Act) -> bool:
    """Return whether a later act does the same in another way: with its tool, or half of its
    words.
    """
    if later.form != act.form or (act.form == "call" and later.tool == act.tool):
        return later.form == act.form
    own, others = set(act.text.split()), set(later.text.split())
    if act.form != "command" or later.tool != act.tool:
        return len(own & others) * 2 >= len(own)
    own -= {act.tool}  # `git add` does not do what `git commit` did not
    lines = (simple_commands(each.text[:PARSED]) for each in (act, later))
    heads, others_heads = ({_head(words, words[0]) for words in line} for line in lines)
    return len(own & others) * 2 >= len(own) and not heads.isdisjoint(others_heads)


def _passes(act: Act, later: Act) -> bool:
    """Return whether a later act is the same, or the same check of more or less of the work."""
    return not _repeat_keys(act).isdisjoint(_repeat_keys(later))


def _tells(act: Act, folder: Folder) -> str:
    """Return an act in few words: a command or a statement as it was, a call by its name and
    arguments.
    """
    if is_edit(act):
        path = next(iter(named_files(act) or paths_in(act.answer, 300)), "")
        # A line of data may be about a person.
        new = "" if _OF_DATA.search(path) else _first_new_line(act)
        return f"edit {shown(folder.relative(path)) or 'a file'}{f': `{new}`' if new else ''}"
    if act.form == "call":
        if "" in act.arguments:
            return shown(act.text.partition("\n")[0], 120)
        return f"{act.tool}({', '.join(key for key in act.arguments if key)})"
    return shown(_without_message(act.text), 240)


def _without_message(command: str) -> str:
    """Return a command line without what a commit was called: that is of its episode alone."""
    found = _COMMIT.search(command)
    if found is None:
        return command
    heads = [words[:3] for words in simple_commands(command[found.start() :])]
    later = [] if "<<" in command else [" ".join(words) for words in heads[1:]]
    return " && ".join([command[: found.end()], *later])


def _first_new_line(act: Act) -> str:
    """Return the first line that an edit of code brought in; empty if the call does not say."""
    texts = {key.lower(): text for key, text in act.arguments.items() if isinstance(text, str)}
    new = next((text for key, text in texts.items() if key in _BROUGHT), "")
    old = {line.strip() for key, text in texts.items() if "old" in key for line in text.split("\n")}
    lines = (line.strip() for line in new[:_SOUGHT].split("\n"))
    return shown(next((line for line in lines if len(line) > 1 and line not in old), ""), 60)


def _outcome(acts: Sequence[Act], folder: Folder, *, solved: bool) -> Iterator[WorkFact]:
    """Yield the way: the acts that counted in order, and what went wrong in them.

    An act that a later one only says better is left out, and of statements the last one counts.
    """
    steps = [act for act in acts if act.form != "message"]
    done = [act for act in steps if not is_quiet(act)] or steps
    kept = way_of([act for act in done if not is_end(act)], solved=solved)
    lines = [
        _tells(act, folder) + (f" → {shown(act.error, 140)}" if act.error else "") for act in kept
    ]
    for line in _without_rounds(lines)[-_MOST["did"] :]:
        yield WorkFact("did", line)


def _without_rounds(lines: Sequence[str]) -> list[str]:
    """Return lines with what was done again and again, a step or a few in turn, told once."""
    kept: list[str] = []
    for line in lines:
        kept.append(line)
        for size in range(1, _ROUND + 1):
            if kept[-size:] == kept[-2 * size : -size]:
                del kept[-size:]
    return kept


def _asked(episode: Trajectory, *, is_work: bool) -> Iterator[WorkFact]:
    """Yield the user's further words: corrections of work on files or in a shell, and other ways
    of asking, but no short text of a conversation, which only answers.
    """
    least = 4 if is_work else 12
    for step in episode.steps:
        words = said_at(step)
        unsaid = not words and step.speaker is None and len(step.action) > 80
        if unsaid and read_step(0, step).form == "message":
            words = step.observation
        if len(words.split()) >= least and len(words) < 2000 and not has_failed(words):
            kind = "corrected" if is_work and is_rule(words, step.action) else "ask"
            yield WorkFact(kind, shown(words, 200))


def skill(episode: Trajectory) -> Extraction:
    """Return the node of an episode in the task tree.

    Raises:
        ExtractionError: The episode has no task.
    """
    if not (task := task_text(episode.task)):
        raise ExtractionError("the episode has no task", source=episode.id)
    if not episode.steps:
        return Extraction(None, "the episode has no steps")
    said = next((step.action for step in reversed(episode.steps) if step.action.strip()), "nothing")
    return _payload(task, as_text(facts_of(episode)) or f"Did: {shown(said, 240)}")


def with_facts(payload: Mapping[str, str], episode: Trajectory) -> dict[str, str]:
    """Return a payload that a model wrote, with the user's own words and the episode's facts."""
    title = one_line(payload["activation_condition"])
    procedure = payload["execution_procedure"].rstrip()
    text = as_text(fact for fact in facts_of(episode) if fact.kind != "did")
    return {
        **payload,
        "activation_condition": f"{title}\n{task_text(episode.task)}",
        "execution_procedure": f"{procedure}\n\n{text}" if text else procedure,
    }


def knowledge(episode: Trajectory, scene: str, chain: Sequence[Node]) -> Extraction:
    """Return what an episode adds to what is known of its scene: tools, tables, and what goes
    wrong.
    """
    trigger = scene_text(scene)
    if not trigger:
        return Extraction(None, "the scene is a folder alone")
    known = {line for node in chain for line in node.payload["execution_procedure"].splitlines()}
    lines = [line for line in _scene_lines(episode) if line not in known]
    if not lines:
        return Extraction(None, "the scene is known, and the episode shows nothing new of it")
    return _payload(trigger, "\n".join(lines))


def _scene_lines(episode: Trajectory) -> list[str]:
    facts = facts_of(episode)
    heads = dict.fromkeys(fact.value.split()[0] for fact in facts if fact.kind == "run")
    tools: dict[str, Counter[str]] = {}
    for act in _acts(episode):
        if act.form == "call" and act.arguments and "" not in act.arguments:
            tools.setdefault(act.tool, Counter()).update(list(act.arguments))
    lines = [f"Tool: {tool}({', '.join(sorted(names))})" for tool, names in tools.items()]
    commands = [f"Command: {head}" for head in heads]
    traps = [f"Trap: {fact.value}" for fact in facts if fact.kind in ("fix", "error")]
    return [*lines, *commands, *traps[:_TRAPS]]


def is_work(notes: Sequence[Node]) -> bool:
    """Return whether notes were written of real work: they hold facts, or are of one signed
    scene.
    """
    signed = is_signed(notes[0].payload["activation_condition"])
    return signed or any(has_facts(each.payload["execution_procedure"]) for each in notes)


def fused(notes: Sequence[Node]) -> Extraction:
    """Return a chain as one node: the root's task, and all lines, each once."""
    texts = (node.payload["execution_procedure"] for node in notes)
    lines = dict.fromkeys(line for text in texts for line in text.splitlines())
    return _payload(notes[0].payload["activation_condition"], "\n".join(lines))


def _payload(condition: str, procedure: str) -> Extraction:
    texts = (condition, procedure, "")
    names = ("activation_condition", "execution_procedure", "termination_condition")
    return Extraction(dict(zip(names, texts, strict=True)), "what the log shows of it")
