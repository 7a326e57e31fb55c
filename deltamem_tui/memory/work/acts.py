"""Steps of real work as acts: a call, a command, a statement or a message, and how it went.

What a log states of a step is taken from its typed fields. A log that states nothing is read by
the shape of its text alone: `name(key="value")`, a command line, a statement of SQL; everything
else is the agent's prose.

The way of an episode is the acts that led to its end, in order. An act that the next one only says
better is left out, and of statements the last one counts. Of a long episode only those acts are
kept that share a name with one that is kept already, from the end backwards: what the last act is
about, what brought that about, and so on.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from deltamem_tui.memory.work.paths import paths_in
from deltamem_tui.trajectory.model import Step

Form = Literal["call", "command", "statement", "message"]


def listed(words: str) -> frozenset[str]:
    """Return the words of a line."""
    return frozenset(words.split())


_CALL = re.compile(r"([A-Za-z_][\w.-]*)\s?[(\[{](.*)[)\]}]\s*", re.DOTALL)
_NAMED = re.compile(r"""(\w+)\s*[=:]\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,\s]+)""")
_HEADED = re.compile(r"([A-Z][A-Za-z]+|[a-z]+(?:_[a-z]+)+)\s*\n")
_STATEMENT = re.compile(
    r"(?:select\s.*|show\s+\w+|desc(?:ribe)?\s+[`\w.]+|insert\s+into\s|update\s+\S+\s+set\s"
    r"|delete\s+from\s|with\s+\w+\s+as\s*\(|(?:create|alter|drop)\s+(?:table|view|index)\s)",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSES = re.compile(
    r"\b(join|group by|order by|limit|having|distinct|intersect|except|union|not in|like|between"
    r"|count|avg|sum|max|min)\b",
    re.IGNORECASE,
)
_TABLES = re.compile(
    r"(?:\b(?:from|join|into|update)|^desc(?:ribe)?)\s+[`\"\[]?([A-Za-z_]\w*(?:\.\w+)?)",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\.{0,2}/|~/)?[a-z_][\w./+-]*(?=\s|$|;)")
_PROSE = re.compile(
    r"(?:\S+\s+){3,}[^\n|;&$<>]*[a-z]{2}[.!?:]\s*$"
    r"|(?!(?:\S+\s+){0,9}\S+\s*$)\S+,?\s+(?:the|a|an|to|is|are|was|that|this|it|we|you|i|my|your|for|of"
    r"|and|be|me|us|let|all)\b",
    re.IGNORECASE,
)
_SHELLS = re.compile(
    r"(?:bash|shell|sh|terminal|execute_?command|run_?(?:shell|command)\w*|exec)$", re.IGNORECASE
)
_FAILED = re.compile(
    r"^\W*(?:[\w.]*(?:error|exception)\b|invalid\b|unknown\b|no (?:such|known)\b|cannot\b|can't\b"
    r"|could not\b|failed\b|fatal\b|not found\b|permission denied|no space left|usage:)"
    r"|^[^\n]{0,80}\b(?:error|fatal): ",
    re.IGNORECASE,
)
_FAILED_BELOW = re.compile(
    r"^traceback \(most recent|command not found|: no such file|\(exit code [1-9]\d*\)\Z"
    r"|^(?:--- )?FAIL\b|^FAILED\b|^E   |\b[1-9]\d* (?:failed|errors?)\b",
    re.IGNORECASE | re.MULTILINE,
)
_COMMITTED = re.compile(
    r"(?m)^\[[\w./ ()-]+ [0-9a-f]{7,40}\] .*"
)  # git did, whatever stands before
_LISTING = re.compile(r"^\s*\d+\s*[:→|\t]")
_TELLING = (  # what a failed test says of itself, its name, an exception
    re.compile(r"E {3,}(\S.{6,})"),
    re.compile(r"((?:FAILED|ERROR) \S+\.py\b.*)"),
    re.compile(r"((?:\w+\.)*[A-Z]\w*(?:Error|Exception): .+)"),
)
_NO_ERROR = re.compile(
    r"(?i)File |Traceback|(?:error: )?(?:exit (?:code|status):? \d+|[.fesx]+(?: +\[ *\d+%\])?)$"
)
_ERROR_LINE = re.compile(
    r"\b(?:error|exception|fatal|panic|denied|refused|undefined|unknown|invalid"
    r"|missing|unable|cannot|can't|no space|quota|timed? ?out"
    r"|not (?:found|allowed|defined|installed)|no such|noauth|exceeded"
    r"|unauthori[sz]ed|forbidden|conflict|(?:un)?expected)\b",
    re.IGNORECASE,
)
_FAILED_LINE = re.compile(r"\bfail(?:ed|ure)?\b", re.IGNORECASE)
_LEADING = re.compile(r"\s*(?:cd\s+[^\s;&|]+\s*(?:&&|;)\s*)*(?:timeout\s+\d\S*\s+)?(?=\S)")
_REDIRECT = re.compile(r"\s*\d?>{1,2}&?\s*(?:\d\b|/dev/null)")
_BETWEEN = frozenset(("do", "then", "else", "done", "fi", "{", "}", "!"))
_HANDING_ON = frozenset(("-exec", "-execdir", "-ok", "xargs"))
_CARRYING = frozenset(("sudo", "time", "nohup", "env", "for", "while", "if"))
SUBCOMMANDS = listed(
    "go git npm npx yarn pnpm cargo docker kubectl make just uv pip poetry gh aws terraform helm "
    "systemctl apt apt-get dotnet mvn mvnw gradle gradlew rails rake bundle mix golangci-lint php "
    "composer bazel xcodebuild swift bun deno sbt hatch flutter dart zig cabal meson playwright"
)
"""Programs whose second word says what is done."""
PARSED = 1500  # characters of a line that are read as a shell reads it
_ANSWER = 4000
_SET = re.compile(r"(?:[A-Z]\w*=\S* )*")
_PATCH = "*** Begin Patch"
INTERPRETERS = ("python", "python3", "node", "bash", "sh", "ruby")
LONG = 12  # acts of an episode that is told whole
_NAME = re.compile(r"[A-Za-z][\w./-]*(?: \d+\b)?|\d[\w.-]*")
_COMMON = 0.5  # a name in more of an episode's acts does not tell which one led to which
_GAP = 2  # acts between two that are kept belong to them
_JOINING = listed(
    "a an and around as at by for from in in/on into of off on onto out over the to up with"
)
_EDITS = {"edit", "write", "replace", "patch", "create", "insert", "multiedit", "update", "modify"}
_READS = {"read", "open", "view", "cat", "head", "tail", "less", "show", "bat", "nl"}
SEARCHES = listed("grep rg glob search find list ls tree locate fd scroll goto pwd cd echo wc")
_QUIET = listed("ls cd pwd cat tree open goto head look scroll_up scroll_down")
_OF_FILES = {"file", "files", "dir", "directory", "folder", "code", "content", "path", "text"}
_ASIDE = {"todowrite", "todoread", "writetodos", "updateplan", "updatetodolist", "codebasesearch"}
_OF_A_FILE = re.compile(r"path|file|uri", re.IGNORECASE)  # an argument's name
_NAMING_A_FILE = re.compile(r"[Tt]he file /|at: /|^\*\*\* |File:")
_ENDS = {"submit", "think", "finish", "answer", "final_answer"}


@dataclass(frozen=True, slots=True)
class Act:
    """A step of work.

    Attributes:
        index: Which step of the episode it is.
        form: A tool's call, a command line, a statement of a query language, or prose.
        tool: The tool called; a command's first word.
        text: What was done, as the agent wrote it.
        arguments: A call's arguments by name; what has no name is at "".
        answer: What came back of it, without what the user said.
        failed: Whether the answer says that it went wrong.
        paid: Whether the environment rewarded it.
        stopped: The user's words that it should not have been done; it counts as failed.
    """

    index: int
    form: Form
    tool: str
    text: str
    answer: str = ""
    failed: bool = False
    paid: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""

    @property
    def error(self) -> str:
        """The line of the answer that says what went wrong; empty if none does."""
        if self.stopped:
            return f"the user: {self.stopped}"
        return error_line(self.answer) if self.failed else ""


def read_step(index: int, step: Step) -> Act:
    """Return a step as an act, by what the log states and else by its shape."""
    text, tool, arguments = step.action.strip(), step.tool, step.arguments or {}
    answer = "" if step.speaker == "user" else step.observation[:_ANSWER]
    answer = answer.removesuffix(step.said).rstrip() if step.said else answer
    if step.kind == "message":
        return Act(index, "message", "", text)
    if tool:
        given = (arguments[key] for key in ("command", "cmd", "script") if arguments.get(key))
        command = _line(next(given, ""))
        command = command or (text if _SHELLS.search(tool) and not text.startswith(tool) else "")
        form: Form = "command" if command else "call"
        if not command and (query := str(arguments.get("query") or arguments.get("sql") or "")):
            form, command = ("statement", query) if _STATEMENT.match(query) else (form, "")
        text = command or text
        tool = head_of(text) if form == "command" else tool
    else:
        form, tool, arguments = _shape(text)
        if form == "message":
            return Act(index, "message", "", text)
    if form == "command" and _PATCH in text:  # an edit that is made through a shell
        form, tool, arguments = "call", "apply_patch", {"": text}
    text = bare(text) if form == "command" else text
    failed = step.status == "error" or (step.status is None and has_failed(answer))
    return Act(index, form, tool, text, answer, failed, (step.reward or 0) > 0, arguments)


def _line(command: object) -> str:
    """Return a command line of an argument: `["bash", "-lc", "make"]` is `make`."""
    if not isinstance(command, list):
        return str(command)
    words = list(map(str, command))
    is_shell = len(words) == 3 and words[1].startswith("-") and words[1].endswith("c")
    return words[2] if is_shell else shlex.join(words)


def _shape(text: str) -> tuple[Form, str, Mapping[str, Any]]:
    """Form, tool and arguments of an action of which the log states nothing."""
    if _STATEMENT.match(text):
        return "statement", "sql", {}
    if call := _CALL.fullmatch(text):
        return "call", call.group(1), _arguments(call.group(2)[:PARSED])
    if headed := _HEADED.match(text):
        return "call", headed.group(1), {"": text[headed.end() :][:PARSED]}
    if text.isdecimal():  # an answer to a program that asks which
        return "command", text, {}
    first = text.partition("\n")[0][:PARSED]
    if _COMMAND.match(first) and not _PROSE.match(first):
        return "command", head_of(first), {}
    return "message", "", {}


def _arguments(text: str) -> dict[str, Any]:
    named = {name: value.strip("\"'") for name, value in _NAMED.findall(text)}
    is_named = named and re.match(r"\s*\w+\s*[=:]|\s*[{\"']", text)
    return named if is_named else {"": text.strip("\"'`\n ")}


def has_failed(answer: str) -> bool:
    """Return whether an answer says that something went wrong, by its form."""
    start = _COMMITTED.split(answer[:_ANSWER])[-1].lstrip("\n")
    if _LISTING.match(start) or start.startswith(("diff ", "[File", "commit ")):
        return False
    return bool(_FAILED.search(start) or _FAILED_BELOW.search(start))


def error_line(answer: str) -> str:
    """Return the line of an answer that tells most of what went wrong; empty if none does."""
    weak = ""
    lines = [each.strip().strip("`") for each in answer[:_ANSWER].splitlines()]
    for tells in _TELLING:
        if told := next(filter(None, map(tells.match, lines)), None):
            return told[1][:200]
    for line in lines:
        if len(line) < 8 or _LISTING.match(line) or _NO_ERROR.match(line):
            continue
        if _ERROR_LINE.search(line):
            return line[:200]
        weak = weak or (line if _FAILED_LINE.search(line) else "")
    return weak[:200]


def without_variables(command: str) -> str:
    """Return a command without the variables that are set before it."""
    return _SET.sub("", command, count=1)


def check_name(command: str) -> str:
    """Return a check without its variables, files and packages."""
    kept: list[str] = []
    for word in without_variables(command).split():
        if kept and kept[-1] in INTERPRETERS and not word.startswith("-"):
            return f"{kept[-1]} {word}"
        if word.startswith("-") or "/" in word or ("." in word and kept):
            break
        kept.append(word)
    return " ".join(kept[:3]) or command


def is_end(act: Act) -> bool:
    """Return whether an act only thinks or ends the episode: no part of any way."""
    return act.tool.lower() in _ENDS


def is_edit(act: Act) -> bool:
    """Return whether an act changes a file: its tool's name says so, and it is about a file."""
    if not _EDITS.intersection(words_of(act.tool)[:2]):
        return False
    if act.form == "command":
        return act.tool in _EDITS
    return not act.arguments or "" in act.arguments or bool(named_files(act))


def is_read(act: Act) -> bool:
    """Return whether an act shows a file."""
    return bool(_READS.intersection(words_of(act.tool)[:2]))


def is_quiet(act: Act) -> bool:
    """Return whether an act only looks around: what it answers tells of files, not of itself."""
    if act.form == "command":
        # What opens may be a door.
        return act.tool in _QUIET and (act.tool != "open" or bool(named_files(act)))
    if act.form == "statement":
        return act.text[:4].lower() in ("show", "desc")
    words = words_of(act.tool)
    about_files = len(words) == 1 or bool(_OF_FILES.intersection(words))
    looks = is_read(act) or (about_files and not SEARCHES.isdisjoint(words))
    return act.form == "call" and looks


def is_aside(act: Act) -> bool:
    """Return whether a call looks at files or keeps the agent's own list: any agent does that."""
    words = words_of(act.tool)
    is_looking = is_quiet(act) or SEARCHES.issuperset(words)
    return words != ["search"] and (is_looking or "".join(words) in _ASIDE)


def named_files(act: Act) -> list[str]:
    """Return the files that a call's arguments or a command's line name."""
    if act.form == "command":
        return paths_in(act.text.partition("\n")[0], 400)
    keyed = [str(value) for key, value in act.arguments.items() if _OF_A_FILE.search(key)]
    loose = str(act.arguments.get("", ""))
    if not keyed and "\n" not in loose[:200]:
        keyed = [loose[:300]]
    if not keyed and not act.arguments.get(""):
        starts = (str(value)[:300] for value in act.arguments.values())
        keyed = [start for start in starts if "\n" not in start]
    if found := [path for text in keyed for path in paths_in(text)]:
        return found
    return paths_in(next(filter(_NAMING_A_FILE.search, loose.splitlines()), ""))


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake, kebab or camel case, in lower letters."""
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.findall(r"[a-z]+|\d+", split.lower())


def bare(command: str) -> str:
    """Return a command line without what only says where, or for how long, it runs."""
    return _LEADING.sub("", command, count=1)


def head_of(command: str) -> str:
    """Return a command's first word after its assignments, and after `cd … &&`."""
    return next(iter(_without_prefix(bare(command).split())), "")


def simple_commands(line: str) -> list[list[str]]:
    """Return the commands of a shell line, each as its words: pipes, lists and `-exec` taken
    apart.
    """
    commands: list[list[str]] = [[]]
    for word in _shell_words(_REDIRECT.sub("", line[:PARSED])):
        if set(word) <= set("|;&()\n") or word in _BETWEEN:
            commands.append([])
            continue
        commands[-1].append(word.strip("`"))
        if word in _HANDING_ON:
            commands.append([])
    return [own for each in commands if (own := _without_prefix(each))]


def _shell_words(line: str) -> list[str]:
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&()<>\n")
        lexer.whitespace_split, lexer.commenters, lexer.whitespace = True, "", " \t\r"
        return [word for word in lexer if word]
    except ValueError:  # a quotation mark without its other half
        return [word for word in re.split(r"\s+|(?<=[;|])|(?=[;|])", line) if word]


def _without_prefix(words: list[str]) -> list[str]:
    """Return a command's words without assignments and what only carries it out."""
    at = 0
    while at < len(words) and (words[at] in _CARRYING or re.match(r"[A-Za-z_]\w*=", words[at])):
        at += 1
    return words[at:]


def tables_in(statement: str) -> list[str]:
    """Return the tables that a statement of a query language names."""
    found = (table.lower() for table in _TABLES.findall(statement))
    return [table for table in found if table not in ("select", "set", "where")]


def clauses_in(statement: str) -> list[str]:
    """Return the clauses and functions that a statement uses."""
    return [re.sub(r"\s+", " ", clause).upper() for clause in _CLAUSES.findall(statement)]


def way_of(acts: Sequence[Act], *, solved: bool) -> list[Act]:
    """Return the acts that an episode's end came of; all of them if it did not succeed."""
    long = solved and len(acts) > LONG
    kept: list[Act] = []
    for act in _leading_to_end(acts) if long else acts:
        if act.form == "statement":
            kept = [each for each in kept if each.form != "statement"]
        while kept and (kept[-1].text == act.text if long else _is_said_better(kept[-1], act)):
            kept.pop()
        kept.append(act)
    return kept


def _leading_to_end(acts: Sequence[Act]) -> list[Act]:
    """Return the acts that were paid and the last one, and those that they came of.

    An act came of those that name what it names, and of the one whose answer first told of that.
    """
    names = [_names(act) for act in acts]
    counts = Counter(name for own in names for name in own)
    ends = {at for at, act in enumerate(acts) if act.paid} | {len(acts) - 1}
    common = {name for name, count in counts.items() if count > _COMMON * len(acts)}
    common -= {name for at in ends for name in names[at]}
    names = [own - common for own in names]
    first: dict[str, int] = {}
    bringing = 0
    for at, act in enumerate(acts):
        bringing = at if names[at] else bringing  # to look around shows where one went before
        for name in _NAME.findall(act.answer):
            first.setdefault(name, bringing)
    wanted: set[str] = set()
    kept: set[int] = set()
    new = ends
    while new:
        kept |= new
        own = {name for at in new for name in names[at]} - wanted
        wanted |= own
        about = {at for at, each in enumerate(names) if each & own}
        new = {
            at
            for at in about | {first[name] for name in own if name in first}
            if not acts[at].failed and at not in kept
        }
    near = {
        between
        for at in kept
        for later in range(at + 2, at + _GAP + 2)
        if later in kept
        for between in range(at + 1, later)
    }
    return [act for at, act in enumerate(acts) if at in kept or (at in near and not act.failed)]


def _names(act: Act) -> set[str]:
    """Return what an act is about, without its tool and words that only join."""
    if act.form == "call" and "" not in act.arguments:
        return {str(value)[:80] for value in act.arguments.values() if value not in (None, "")}
    _, _, rest = act.text.partition(" ")
    return set(_NAME.findall(rest)) - _JOINING


def _is_said_better(act: Act, later: Act) -> bool:
    """Return whether a later act is another try of the same: its command or most of its words."""
    if act.form != later.form or act.tool != later.tool or act.form == "call":
        return act.text == later.text
    own, others = set(act.text.split()), set(later.text.split())
    if own == others:
        return not act.failed or later.failed  # that it failed at first may be all there is to know
    if act.tool in SUBCOMMANDS:  # `kubectl set` and `kubectl rollout` are two things
        return False
    return len(own) > 2 and len(own & others) > 0.4 * max(len(own), len(others))
