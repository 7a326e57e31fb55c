"""A trace as tracing tools keep it: calls of models and tools, drawn together into one episode.

Every call of a model repeats the conversation so far, so the longest of them holds it all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.calls import call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, parts_of, tell
from deltamem_tui.trajectory.readers.shapes import as_mapping
from deltamem_tui.trajectory.readers.traced import as_object, last_words, task_in


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model.

    Attributes:
        asked: The messages it was given: the conversation so far.
        told: The messages it answered with.
        model: Its name.
    """

    asked: Sequence[object]
    told: Sequence[object]
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool that was traced by itself.

    Attributes:
        name: The tool.
        given: Its arguments.
        answer: What it returned.
        call_id: The model's call that it was made for, if the trace says so.
        failed: Whether the trace says that it failed.
    """

    name: str
    given: object
    answer: object
    call_id: str = ""
    failed: bool = False


def trace_episode(
    conversation: Conversation,
    model_calls: Sequence[ModelCall],
    tool_calls: Sequence[ToolCall],
    *,
    task: str = "",
    asked: str = "",
    ended: Sequence[object] = (),
    outcome: Outcome | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Trajectory:
    """The episode of one trace.

    Args:
        conversation: A new one; is told the trace, for who wants to know what it left out.
        model_calls: In order of time.
        tool_calls: In order of time. They answer the calls that a model's messages hold, and
            are the steps where those hold none.
        task: The goal, if the trace names it; else the first thing the user says.
        asked: What the trace was given, where that is no goal in itself. The conversation
            that begins with it, or with the task, is the episode; others are sub-agents'.
        ended: The agent's last message, if the trace as a whole gave one back (see
            `last_words`). It is told where the calls end with a tool's, whose model's answer to
            it was not traced.
        outcome: How it ended, if the trace says so.
        metadata: Other facts.

    Raises:
        RecordError: It has no task or no step.
    """
    longest = _longest(_own(model_calls, task or asked))
    if longest:
        tell(conversation, longest.asked)
        _tell_told(conversation, longest.told, tool_calls)
    else:
        if task:
            conversation.user(task)
        _tell_steps(conversation, tool_calls)
    _tell_last(conversation, ended, task or asked)
    return conversation.episode(
        task=task,
        environment=conversation.system,
        outcome=outcome,
        agent=longest.model if longest else "",
        metadata=metadata,
    )


def _tell_told(
    conversation: Conversation, told: Sequence[object], tool_calls: Sequence[ToolCall]
) -> None:
    """What the model answered, and what the tools did that its messages leave out."""
    if not conversation.has_calls and not tell(Conversation(), told).has_calls:
        _tell_steps(conversation, tool_calls)  # the messages are the agent's first and last words
        tell(conversation, told)
        return
    tell(conversation, told)
    for call in tool_calls:
        if conversation.awaits(call.call_id):
            conversation.answer(content_text(call.answer), call.call_id, failed=call.failed)
    _join(conversation, [call for call in tool_calls if not call.call_id])


def _tell_last(conversation: Conversation, ended: Sequence[object], task: str) -> None:
    """What the whole gave back, unless a model has said it, or some words like it."""
    exchange = conversation.last_exchange
    if exchange is None or tell(Conversation(), ended).has_calls:
        return
    if not _repeats(_words_of(ended), task, *exchange):
        tell(conversation, ended)


def _repeats(words: str, task: str, call: str, result: str) -> bool:
    """Whether last words are the task, what the last call was given, or what came back for it."""
    in_json = orjson.dumps(words).decode()[1:-1]
    if words in call or in_json in call:
        return True
    return words in (task.strip(), result.strip(), _words_of(last_words(result)))


def _words_of(messages: Sequence[object]) -> str:
    parts = (part for each in messages for part in parts_of(as_mapping(each)))
    return "\n".join(map(content_text, parts)).strip()


def _join(conversation: Conversation, tool_calls: Sequence[ToolCall]) -> None:
    """Answer the calls that no message answers by what was traced of the same calls.

    That is so at the end of a trace, where no later call of a model repeats what came back.
    """
    made = conversation.calls()
    waiting = [index for index, call in enumerate(made) if not call.is_answered]
    if not waiting or not tool_calls:
        return
    texts = (call_text(call.name, as_object(call.given)) for call in tool_calls)
    by_text, by_name = _grouped(texts), _grouped(call.name for call in tool_calls)
    by_action, by_tool = (
        _grouped(call.action for call in made),
        _grouped(call.tool for call in made),
    )
    found: dict[int, int | None] = {}
    left: dict[str, list[int]] = {}
    for index in waiting:
        if runs := by_text.get(made[index].action):
            found[index] = _own_run(index, by_action[made[index].action], runs)
        else:
            left.setdefault(made[index].tool, []).append(index)
    for tool, (index, *others) in left.items():
        # Its arguments are written in another way: then it must be the only one.
        runs = by_name.get(tool, [])
        if not others and len(runs) == len(by_tool[tool]):
            found[index] = _own_run(index, by_tool[tool], runs)
    answers = {index: tool_calls[run] for index, run in found.items() if run is not None}
    conversation.answer_calls(
        {index: (content_text(run.answer), run.failed) for index, run in answers.items()}
    )


def _grouped(keys: Iterable[str]) -> dict[str, list[int]]:
    """Where each of some keys stands among them."""
    groups: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        groups.setdefault(key, []).append(index)
    return groups


def _own_run(index: int, same: Sequence[int], runs: Sequence[int]) -> int | None:
    """The run of a call, of calls that are the same and of their runs, both in order of time.

    Of more runs than calls those at the end count, and of fewer the last calls had none.
    """
    turn = bisect_left(same, index) + max(len(runs) - len(same), 0)
    return runs[turn] if turn < len(runs) else None


def _tell_steps(conversation: Conversation, tool_calls: Sequence[ToolCall]) -> None:
    for index, call in enumerate(tool_calls):
        call_id = f"{index} {call.call_id}"
        conversation.act(call_text(call.name, call.given), call_id)
        conversation.answer(content_text(call.answer), call_id, failed=call.failed)


def _own(calls: Sequence[ModelCall], task: str) -> Sequence[ModelCall]:
    """The calls in which a user says the task; all of them if none is, or if it is not known."""
    own = [call for call in calls if task and task in task_in(call.asked)]
    return own or calls


def _longest(calls: Sequence[ModelCall]) -> ModelCall | None:
    """The call that holds most of the conversation; the last of those that hold as much."""
    best: ModelCall | None = None
    for call in calls:
        if call.asked and (best is None or len(call.asked) >= len(best.asked)):
            best = call
    return best
