"""A model that answers sensibly from its prompt alone, always the same, without being one.

It does what the prompts ask for, in the plainest way: a trigger from the task or the scene, a
procedure from the log's actions, and of what the notes know already only the difference.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tests.llm.server import Reply, Request

_BLOCK = re.compile(r'<record of="(\w+)" sign="(\w+)">\n(.*?)\n</record sign="\2">', re.DOTALL)
_LIMIT = re.compile(r"at most (\d+) words")
_ACTION = re.compile(r"^Action: (.*)$", re.MULTILINE)
_SEEN = re.compile(r"(?:[Oo]n|[Ii]n) the ([a-z]+) \d+, you see ([^.]*)\.")
_PROCEDURE = re.compile(r"^(?:How|What):", re.MULTILINE)
_DIGITS = re.compile(r"\s*\d+")
_FIELDS = ("activation_condition", "execution_procedure", "termination_condition")


@dataclass(frozen=True)
class Asked:
    """What a prompt says, read as a model would."""

    prompt: str

    @property
    def parts(self) -> dict[str, str]:
        return {name: text for name, _, text in _BLOCK.findall(self.prompt)}

    @property
    def words(self) -> tuple[int, int]:
        """The most words of the trigger and of the procedure."""
        trigger, procedure, *_ = map(int, _LIMIT.findall(self.prompt))
        return trigger, procedure

    @property
    def of_facts(self) -> bool:
        return "in which scene these facts hold" in self.prompt

    @property
    def is_record(self) -> bool:
        return "for which tasks this is a warning" in self.prompt

    @property
    def may_skip(self) -> bool:
        return '{"skip": true, "quote"' in self.prompt

    @property
    def notes(self) -> str:
        return self.parts.get("notes", "")


def reply(request: Request, delay: float = 0.0) -> Reply:
    """What the model says to a request."""
    return Reply(json.dumps(answer(Asked(request.prompt))), delay=delay)


def answer(asked: Asked) -> dict[str, object]:
    """A payload, or a skip where it is allowed and nothing is new."""
    if '"solved"' in asked.prompt:
        return {"reasons": "The last observation says so.", "solved": "yes"}
    new = [line for line in _lines(asked) if line not in asked.notes]
    if asked.may_skip and not new and (quote := _quote(asked)):
        return {"skip": True, "quote": quote}
    trigger_words, procedure_words = asked.words
    procedure = "\n".join(new or _lines(asked) or ["look around"])
    if asked.is_record:
        first, second = ("[TRAP]", "[FIX]") if "[TRAP]" in asked.prompt else _MARKS
        procedure = f"{first} {_cut(procedure, procedure_words - 10)}\n{second} none"
    end = "" if asked.of_facts or asked.is_record else "The last action was answered."
    texts = (_cut(_trigger(asked), trigger_words), _cut(procedure, procedure_words), end)
    return dict(zip(_FIELDS, texts, strict=True))


_MARKS = ("[FAILED]", "[UNEXPLORED]")


def _lines(asked: Asked) -> list[str]:
    """What the log shows, a line each, without the numbers of its instances."""
    if "steps" not in asked.parts:  # a chain to fuse
        lines = [line for line in asked.notes.splitlines() if line and not line.startswith("###")]
        return list(dict.fromkeys(f"all: {line}" for line in lines))
    steps = asked.parts["steps"]
    if asked.of_facts:
        found = [
            f"{place} has {_DIGITS.sub('', thing).strip()}"
            for place, things in _SEEN.findall(steps)
            for thing in re.split(r", and |, | and ", things)
        ]
        return list(dict.fromkeys(found))[:12] or ["nothing lies about"]
    actions = [_DIGITS.sub(" [n]", each) for each in _ACTION.findall(steps)]
    return list(dict.fromkeys(actions))[:40]


def _quote(asked: Asked) -> str:
    """What of the log stands in a note of the kind that can cover it, if anything does."""
    notes = asked.notes.split("### ")
    fitting = [
        _PROCEDURE.split(note)[-1]
        for note in notes
        if asked.of_facts or ("WARNING" in note.partition("\n")[0]) == asked.is_record
    ]
    found = [line for line in _lines(asked) if any(line in note for note in fitting)]
    return max(found, key=lambda line: len(line.split()), default="")


def _trigger(asked: Asked) -> str:
    if "steps" not in asked.parts:
        when = re.findall(r"^(?:When|Where):\s*(.*)$", asked.notes, re.MULTILINE)
        return f"{when[-1]} and the like" if when else "notes"
    if asked.of_facts:
        return ", ".join(dict.fromkeys(_DIGITS.sub("", asked.parts["environment"]).split(", ")))
    return _DIGITS.sub("", asked.parts["task"].strip())


def _cut(text: str, most: int) -> str:
    """The first words, with the line ends as they are."""
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    return text if len(ends) <= most else text[: ends[most - 1]]
