"""LangSmith: runs of a trace, exported as a list, as JSONL or as a tree of child runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import LogLimits
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcome_keys import Score, verdict_of_whole
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.reader import json_reader
from deltamem_tui.trajectory.readers.sessions import stray
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.spans import (
    ModelCall,
    ToolCall,
    depths,
    last_message,
    messages_in,
    moment,
    task_in,
    trace_episode,
)
from deltamem_tui.trajectory.readers.trace_store import MOST_NAME, as_name, each_trace

_ANSWERS = ("output", "content", "result")


def _parts(value: object) -> Iterator[tuple[str, Json] | RecordError]:
    """Yield runs and those below them, each after its caller, however deep a trace is."""
    runs = as_list(as_mapping(value).get("runs")) or [value]
    waiting = [as_mapping(run) for run in reversed(runs)]
    while waiting:
        run = waiting.pop()
        trace, name = as_name(_trace_of(run)), as_name(run.get("id"))
        if trace is None or name is None:
            yield stray(
                f"a run whose trace or id is not a text of up to {MOST_NAME} characters, "
                "with all that it called"
            )
            continue
        if isinstance(run.get("run_type"), str):
            yield trace, {key: run[key] for key in run if key != "child_runs"}
        else:
            yield stray("a run without `run_type`")
        inherited = {"trace_id": trace, "parent_run_id": name or trace}
        called = map(as_mapping, reversed(as_list(run.get("child_runs"))))
        waiting += [_with(child, inherited) for child in called]


def _with(run: Json, inherited: Json) -> Json:
    return {**run, **{key: inherited[key] for key in inherited if not run.get(key)}}


def _trace_of(run: Json) -> object:
    """Return the trace that a run belongs to; its own id if it is the root and says nothing."""
    order = as_text(run.get("dotted_order"))
    root = order.partition(".")[0].partition("Z")[2]
    return run.get("trace_id") or root or run.get("id")


def _episode(
    conversation: Conversation, trace: str, found: list[object], _: LogLimits
) -> Trajectory:
    runs = sorted(map(as_mapping, found), key=_order)
    root = next((run for run in runs if not run.get("parent_run_id")), runs[0])
    is_whole = not root.get("parent_run_id")
    outcome = verdict_of_whole(
        _feedback(root) if is_whole else (),
        (score for run in runs if run is not root or not is_whole for score in _feedback(run)),
    )
    if outcome.source == "unknown" and (error := as_text(root.get("error"))):
        # That the program broke down is not a verdict on the task, but worth knowing.
        outcome = Outcome(reason=outcome.reason or error)
    within = depths(
        (as_text(run.get("id")), as_text(run.get("parent_run_id")), run.get("run_type") == "tool")
        for run in runs
    )
    return trace_episode(
        conversation,
        [call for run in runs for call in _model_calls(run, root, within)],
        list(_tool_calls(runs, within)),
        task=task_in(root.get("inputs")),
        ended=_last_message(root) if is_whole else [],
        outcome=outcome,
        metadata={"id": trace, "name": as_text(root.get("name"))},
    )


def _last_message(root: Json) -> list[object]:
    """Return what the trace gave back at the end, unless it is a call of one tool or broke down."""
    if root.get("run_type") == "tool" or root.get("error"):
        return []
    return last_message(root.get("outputs"))


def _order(run: Json) -> tuple[int, float, str]:
    return moment(run.get("dotted_order") or run.get("start_time"))


def _model_calls(run: Json, root: Json, within: Mapping[str, int]) -> Iterator[ModelCall]:
    """Yield what a model was asked and told; or the whole that the root run ended with."""
    if run.get("run_type") == "llm":
        extra = as_mapping(as_mapping(run.get("extra")).get("metadata"))
        asked = messages_in(run.get("inputs"))
        answered = messages_in(run.get("outputs"), answer=True)
        depth = within.get(as_text(run.get("id")), 0)
        yield ModelCall(asked, answered, as_text(extra.get("ls_model_name")), depth)
    elif run is root:
        yield ModelCall(messages_in(run.get("outputs")), [])


def _tool_calls(runs: list[Json], within: Mapping[str, int]) -> Iterator[ToolCall]:
    for run in runs:
        if run.get("run_type") == "tool":
            inputs, outputs = as_mapping(run.get("inputs")), as_mapping(run.get("outputs"))
            given = inputs.get("input", inputs)
            found = next((outputs[key] for key in _ANSWERS if key in outputs), outputs or None)
            error = run.get("error")
            name = as_text(run.get("name")) or "tool"
            depth = within.get(as_text(run.get("id")), 0)
            yield ToolCall(name, given, found or error, failed=bool(error), depth=depth)


def _feedback(root: Json) -> Iterator[Score]:
    for name, stats in as_mapping(root.get("feedback_stats")).items():
        value = as_mapping(stats).get("avg", stats if not isinstance(stats, dict) else None)
        yield Score(name, value)


def _is_export(value: object) -> bool:
    runs = as_list(as_mapping(value).get("runs"))
    run = as_mapping(runs[0] if runs else value)
    return isinstance(run.get("run_type"), str) and ("inputs" in run or "dotted_order" in run)


READER = json_reader(
    name="langsmith",
    description="LangSmith: runs with run_type, inputs, outputs and feedback_stats",
    is_own=_is_export,
    read=each_trace(_parts, _episode),
)
