"""A user, an agent and its tools in turn: how the logs of chats become one episode.

Readers say what happened, in order; here is the one place that knows what of it is the task, a
thought, a step and its observation.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Notice, Remark
from deltamem_tui.trajectory.model import Step, StepKind, StepSpeaker, StepStatus, Trajectory
from deltamem_tui.trajectory.readers.coding import call_arguments, call_text, is_command
from deltamem_tui.trajectory.readers.shapes import Json
from deltamem_tui.trajectory.readers.tasks import domain_of, marked_task
from deltamem_tui.trajectory.secrets.redaction import quoted


@dataclass(slots=True)
class StepDraft:
    """A step whose observation may still come."""

    action: str
    thought: str = ""
    call_id: str = ""
    is_call: bool = False
    tool: str | None = None
    arguments: Json | None = None
    kind: StepKind | None = None
    status: StepStatus | None = None
    heard: list[tuple[StepSpeaker, str]] = field(default_factory=list)
    answered: bool = False

    def answer(self, text: str, *, failed: bool = False, status: StepStatus | None = None) -> None:
        """Add a tool's answer, and by it whether the call went well."""
        self.answered = True
        if self.status != "error":
            self.status = "error" if failed else status or self.status
        self.hear(_as_error(text) if failed else text)

    def hear(self, text: str) -> None:
        """Add what a tool said."""
        if text.strip():
            self.heard.append(("tool", text.strip("\n")))

    def step(self) -> Step:
        """Return the step, with all that has come back by now."""
        speakers = {speaker for speaker, _ in self.heard}
        said = [text for speaker, text in self.heard if speaker == "user"]
        return Step(
            self.action,
            "\n\n".join(text for _, text in self.heard),
            self.thought,
            tool=self.tool,
            arguments=self.arguments,
            kind=self.kind,
            status=self.status,
            speaker="tool" if "tool" in speakers else "user" if speakers else None,
            said="\n\n".join(said) if "tool" in speakers else "",
        )


class Conversation:
    """Gathers turns into an episode.

    What the user says first is the task. What the agent says before it calls a tool is the
    thought behind that call; what it says without calling one is a step by itself, and the
    user's next words are its observation. Calls made at once become steps one after another.
    """

    def __init__(self) -> None:
        self._task: list[str] = []
        self._candidate = ""
        self.system = ""  # the first system prompt
        self._steps: list[StepDraft] = []
        # Calls without an answer yet, and those of them without an id; one that is answered is
        # removed once it comes to the front.
        self._open: deque[StepDraft] = deque()
        self._unnamed: deque[StepDraft] = deque()
        self._calls: dict[str, StepDraft] = {}
        self._thoughts: list[str] = []
        self._said: list[str] = []
        self._orphan_results = 0
        self._skipped: Counter[tuple[str, str]] = Counter()
        self.has_gaps = False  # of records that cannot be read

    @property
    def task(self) -> str:
        """The goal, as far as the user has stated it; empty before."""
        return "\n\n".join(self._task)

    def calls(self) -> list[StepDraft]:
        """Return the calls that the agent has made, in order."""
        return [draft for draft in self._steps if draft.is_call]

    def awaits(self, call_id: str) -> bool:
        """Return True if a call of this id was made that no tool has answered."""
        draft = self._calls.get(call_id)
        return draft is not None and not draft.answered

    def instruct(self, text: str) -> None:
        """Add the system prompt. Later ones, such as reminders, change nothing."""
        self.system = self.system or text.strip()

    def user(self, text: str) -> None:
        """Add the user's words: the task if they are the first, else an answer to the agent."""
        text = text.strip()
        if not text:
            return
        if is_command(text, to_program=bool(self._task)):
            self.offer_task(text)
            return
        self._finish_turn()
        if not self._task:
            self._forget_steps()  # what went before was not done for this user's task
            self._task.append(text)
        elif self._steps:
            self._steps[-1].heard.append(("user", text))
        elif text != self._task[-1]:
            self._task.append(text)

    def offer_task(self, text: str) -> None:
        """Offer a task in words not quite the user's; the last counts if the agent goes to work."""
        self._candidate = text.strip() or self._candidate

    def think(self, text: str) -> None:
        """Add a thought of the agent, which belongs to what it says or does next."""
        if text.strip():
            self._take_candidate()
            self._thoughts.append(text.strip())

    def say(self, text: str) -> None:
        """Add words of the agent."""
        if text.strip():
            self._take_candidate()
            self._said.append(text.strip())

    def call(self, name: str, arguments: object, call_id: str = "", *, action: str = "") -> None:
        """Add a call of a tool, by its text if there is no `action`; answers may name `call_id`."""
        text, given = action or call_text(name, arguments), call_arguments(arguments)
        self._act(StepDraft(text, "", call_id, True, name or None, given, "call"))

    def act(self, action: str, call_id: str = "", *, kind: StepKind | None = None) -> None:
        """Add an act that is written as text, such as a command in a block of code."""
        self._act(StepDraft(action, "", call_id, True, kind=kind))

    def _act(self, draft: StepDraft) -> None:
        self._take_candidate()
        draft.thought = "\n".join([*self._thoughts, *self._said])
        self._said.clear()
        self._add(draft)

    def answer(
        self,
        text: str,
        call_id: str = "",
        *,
        failed: bool = False,
        status: StepStatus | None = None,
    ) -> None:
        """Add a tool's answer to the call of this id.

        Without an id it answers what the agent just said, since that then was its action, or else
        the oldest call that has no answer. An answer to a call that this log does not hold is what
        came back for the last step.
        """
        draft = self._calls.get(call_id) if call_id else None
        if draft is None and self._said:
            self._finish_turn()
            draft = self._steps[-1]
            draft.kind = None  # what a tool answers was not said to the user
        if draft is None:
            # An answer with an id never goes to another call that has one.
            draft = _oldest(self._unnamed if call_id else self._open)
        is_lost = self.has_gaps and call_id != "" and call_id not in self._calls
        if draft is None and (is_lost or not self._steps):
            self._orphan_results += bool(text.strip())
        elif draft is None:
            last = self._steps[-1]
            last.answered = last.answered or not call_id
            last.hear(_as_error(text) if failed else text)
        else:
            draft.answer(text, failed=failed, status=status)

    def pass_over(self, what: str, why: str, count: int = 1) -> None:
        """Note what of the log (`message`) is by design no part of the episode, and why."""
        if count:
            self._skipped[what, why] += count

    def pass_over_kind(self, what: str, kind: str, count: int = 1) -> None:
        """Note what is no part of the episode because its kind is not known."""
        why = f"of the unknown kind {quoted(kind, 40)}" if kind else "of no kind"
        self.pass_over(what, why, count)

    def left_out(self) -> Iterator[Remark]:
        """Yield tools' answers to no call of this log, and what was left out by design."""
        if self._orphan_results:
            yield RecordError(
                f"{are_left_out('tool result', self._orphan_results)}: "
                "the log holds no call before it",
                hint="look whether the log has lost its beginning",
            )
        for (what, why), count in self._skipped.items():
            yield Notice(f"{are_left_out(what, count)}: {why}", position="")

    def episode(
        self,
        *,
        task: str = "",
        environment: str = "",
        agent: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> Trajectory:
        """Return the whole as a trajectory."""
        self._finish_turn()
        task = task.strip() or self.task
        if not task and not (self._steps or self._orphan_results or self._skipped):
            raise NothingAskedError("the user asked for nothing in it")
        if not task:
            raise RecordError(
                "no task in it: the user says nothing in their own words",
                hint="commands, reminders and copied context are not taken for a task",
            )
        if not self._steps:
            idle = not (self._thoughts or self._skipped or self._orphan_results)
            reason = "the agent did nothing in it" if idle else "the agent did nothing for its task"
            raise RecordError(
                reason, hint="leave it out, or import it again once there is an answer"
            )
        goal, scene = marked_task(task) or (task, "")
        return Trajectory(
            task=goal,
            environment=scene or environment.strip(),
            steps=tuple(draft.step() for draft in self._steps),
            domain=domain_of(task),
            agent=agent,
            metadata=metadata or {},
        )

    def _take_candidate(self) -> None:
        if self._candidate and not self._task:
            self._forget_steps()
            self._task.append(self._candidate)

    def _finish_turn(self) -> None:
        """Make what was said and led to no call a step: it was said to the user."""
        if self._said:
            draft = StepDraft("\n\n".join(self._said), "\n".join(self._thoughts), kind="message")
            self._said.clear()
            self._add(draft)
            draft.answered = True  # no tool will answer it

    def _add(self, draft: StepDraft) -> None:
        self._steps.append(draft)
        self._open.append(draft)
        if draft.call_id:
            self._calls[draft.call_id] = draft
        else:
            self._unnamed.append(draft)
        self._thoughts.clear()

    def _forget_steps(self) -> None:
        self.pass_over("call", "made before the user's task", len(self.calls()))
        # Only a tool answers before there is a user.
        self._orphan_results += sum(len(each.heard) for each in self._steps if not each.is_call)
        for held in (self._steps, self._open, self._unnamed, self._calls, self._thoughts):
            held.clear()
        self._said.clear()


class NothingAskedError(RecordError):
    """A session in which nothing was asked and nothing done, such as one that was only opened."""


def are_left_out(what: str, count: int, of: str = "") -> str:
    """Return the beginning of a notice of what is left out of an episode."""
    return f"1 {what}{of} is left out" if count == 1 else f"{count:,} {what}s{of} are left out"


def _as_error(text: str) -> str:
    first = text.strip().partition("\n")[0]
    if "error" in first.lower():
        return text
    return f"error: {text.strip()}" if first else "error"


def _oldest(waiting: deque[StepDraft]) -> StepDraft | None:
    while waiting and waiting[0].answered:
        waiting.popleft()
    return waiting[0] if waiting else None
