"""LangSmith: runs of a trace, exported as a list, as JSONL or as a tree of child runs."""

from __future__ import annotations

from collections.abc import Iterator

from deltamem_tui.trajectory.logs.log import Preview
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation, in_full
from deltamem_tui.trajectory.readers.gathered import Gathered
from deltamem_tui.trajectory.readers.reader import Reader, Reading, share
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.spans import (
    ModelCall,
    ToolCall,
    messages_in,
    task_in,
    trace_episode,
)
from deltamem_tui.trajectory.readers.verdicts import Score, verdict
from deltamem_tui.trajectory.readers.whole_log import Records, stray, whole_log

_ANSWERS = ("output", "content", "result")


def _gather(records: Records) -> Iterator[Reading]:
    with Gathered(records.limits) as gathered:
        for record in records:
            runs = as_list(as_mapping(record.value).get("runs")) or [record.value]
            for run in _with_children(runs):
                if isinstance(run.get("run_type"), str):
                    alone = {key: run[key] for key in run if key != "child_runs"}
                    yield from gathered.add(_trace_of(run), record.position, alone)
                else:
                    yield stray("a run without `run_type`", record.position)
            records.release()
        for trace, position, found in gathered.traces():
            yield from in_full(position, _episode, trace, found)


def _with_children(runs: list[object]) -> Iterator[Json]:
    """Runs and those below them, without recursion: a trace may be deep."""
    waiting = list(map(as_mapping, runs))
    while waiting:
        run = waiting.pop()
        yield run
        for child in as_list(run.get("child_runs")):
            inherited = {"trace_id": _trace_of(run), "parent_run_id": run.get("id")}
            waiting.append({**inherited, **as_mapping(child)})


def _trace_of(run: Json) -> str:
    """The trace that a run belongs to; its own id if it is the root and says nothing."""
    order = as_text(run.get("dotted_order"))
    root = order.partition(".")[0].partition("Z")[2]
    return as_text(run.get("trace_id")) or root or as_text(run.get("id"))


def _episode(conversation: Conversation, trace: str, found: list[object]) -> Trajectory:
    runs = sorted(map(as_mapping, found), key=_order)
    root = next((run for run in runs if not run.get("parent_run_id")), runs[0])
    outcome = verdict(_feedback(root))
    if outcome.source == "unknown" and (error := as_text(root.get("error"))):
        # That the program broke down is no verdict on the task, but worth knowing.
        outcome = Outcome(reason=outcome.reason or error)
    return trace_episode(
        conversation,
        [call for run in runs for call in _model_calls(run, root)],
        list(_tool_calls(runs)),
        task=task_in(root.get("inputs")),
        outcome=outcome,
        metadata={"id": trace, "name": as_text(root.get("name"))},
    )


def _order(run: Json) -> str:
    return as_text(run.get("dotted_order") or run.get("start_time"))


def _model_calls(run: Json, root: Json) -> Iterator[ModelCall]:
    """What a model was asked and told; or the whole that the root run ended with."""
    if run.get("run_type") == "llm":
        extra = as_mapping(as_mapping(run.get("extra")).get("metadata"))
        asked, told = messages_in(run.get("inputs")), messages_in(run.get("outputs"), answer=True)
        yield ModelCall(asked, told, as_text(extra.get("ls_model_name")))
    elif run is root:
        yield ModelCall(messages_in(run.get("outputs")), [])


def _tool_calls(runs: list[Json]) -> Iterator[ToolCall]:
    for run in runs:
        if run.get("run_type") == "tool":
            inputs, outputs = as_mapping(run.get("inputs")), as_mapping(run.get("outputs"))
            given = inputs.get("input", inputs)
            found = next((outputs[key] for key in _ANSWERS if key in outputs), outputs or None)
            error = run.get("error")
            name = as_text(run.get("name")) or "tool"
            yield ToolCall(name, given, found or error, failed=bool(error))


def _feedback(root: Json) -> Iterator[Score]:
    for name, stats in as_mapping(root.get("feedback_stats")).items():
        value = as_mapping(stats).get("avg", stats if not isinstance(stats, dict) else None)
        yield Score(name, value)


def _is_run(value: object) -> bool:
    run = as_mapping(value)
    return isinstance(run.get("run_type"), str) and ("inputs" in run or "dotted_order" in run)


def _claims(preview: Preview) -> float:
    def is_export(value: object) -> bool:
        runs = as_list(as_mapping(value).get("runs"))
        return _is_run(runs[0] if runs else value)

    return 0.95 * share(preview, is_export)


READER = Reader(
    name="langsmith",
    description="LangSmith: runs with run_type, inputs, outputs and feedback_stats",
    claims=_claims,
    read=whole_log(_gather),
)
