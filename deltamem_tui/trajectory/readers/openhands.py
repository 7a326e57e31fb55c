"""OpenHands: event streams, and events of its SDK."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview
from deltamem_tui.trajectory.model import Outcome, StepStatus, Trajectory
from deltamem_tui.trajectory.outcomes import recorded, together
from deltamem_tui.trajectory.readers.coding import call_text, exit_status, tool_names
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, speaker
from deltamem_tui.trajectory.readers.reader import Reader, json_reader, share
from deltamem_tui.trajectory.readers.sessions import ItemSession, sessions
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.workspace import workspace

# Events about the program's own state, which neither the agent nor the task is part of.
_OWN_AFFAIRS = frozenset(
    {"agent_state_changed", "change_agent_state", "condensation", "condensation_request", "null"}
    | {"pause", "recall", "resume", "start", "status", "stop", "system", ""}
)
# What the program notes with an action and the agent did not say.
_NOTES = frozenset(
    {"action", "action_risk", "agent_state", "blocking", "cause", "confirmation_state", "cwd"}
    | {"enable_think", "hidden", "id", "image_urls", "images_urls", "impl_source"}
    | {"include_extra", "is_confirmed", "is_input", "is_static", "keep_prompt"}
    | {"kernel_init_code", "llm_metrics", "message", "return_all", "security_risk", "source"}
    | {"task_completed", "thought", "timeout", "timestamp", "tool_call_metadata"}
    | {"translated_ipython_code", "wait_for_response"}
)
_SPOKEN = {"run": "command", "run_ipython": "code", "browse_interactive": "browser_actions"}


def _stream_episode(conversation: Conversation, session: ItemSession) -> Trajectory:
    run, events = session.run, session.items
    for event in events:
        if isinstance(event.get("observation"), str):
            _add_observation(conversation, event, as_text(event["observation"]))
        elif (action := as_text(event.get("action"))) not in _OWN_AFFAIRS:
            _add_action(conversation, event, action)
    extras = [as_mapping(event.get("extras")) for event in events]
    system = (as_mapping(each.get("args")) for each in events if each.get("action") == "system")
    places = (as_mapping(each.get("metadata")).get("working_dir") for each in extras)
    instance, issue = as_mapping(run.get("instance")), as_mapping(run.get("issue"))
    config = as_mapping(as_mapping(run.get("metadata")).get("llm_config"))
    owner = "/".join(filter(None, (as_text(issue.get("owner")), as_text(issue.get("repo")))))
    number = as_text(issue.get("number"))
    return conversation.episode(
        task="" if conversation.has_task else as_text(run.get("instruction")),
        environment=workspace(
            repository=as_text(instance.get("repo"))
            or owner
            or _first(each.get("repo_name") for each in extras),
            language=as_text(instance.get("language")),
            tools=next(filter(None, (tool_names(each.get("tools")) for each in system)), []),
            directory=_first(places),
        ),
        outcome=_outcome(run),
        agent=as_text(config.get("model")),
        metadata={"id": as_text(run.get("instance_id")) or (f"{owner}#{number}" if number else "")},
    )


def _first(values: Iterable[object]) -> str:
    return next(filter(None, map(as_text, values)), "")


def _add_observation(conversation: Conversation, event: Json, kind: str) -> None:
    if kind not in _OWN_AFFAIRS and kind != "think":
        extras = as_mapping(event.get("extras"))
        code = as_mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
        text, cause = content_text(event.get("content")), as_text(event.get("cause"))
        conversation.answer(text, cause, failed=kind == "error", status=exit_status(code))


def _add_action(conversation: Conversation, event: Json, action: str) -> None:
    # Newer events keep what belongs to the action under `args`, older ones beside it.
    arguments = as_mapping(event.get("args")) or event
    if action == "message":
        source, text = event.get("source"), as_text(arguments.get("content"))
        # The oldest events do not say who speaks; the first of them is the user.
        if source == "user" or (source is None and not conversation.has_task):
            conversation.user(text)
        elif source in ("agent", None):
            conversation.say(text)
        elif conversation.has_task:  # the program's own words, which the agent hears
            conversation.user(text)
        return
    conversation.think(as_text(arguments.get("thought")))
    if action != "think":
        said = arguments.get(_SPOKEN.get(action, ""))
        given = {
            key: value
            for key, value in arguments.items()
            if key not in _NOTES and value not in (None, "", [], {}, -1)
        }
        text = said if isinstance(said, str) and said.strip() else call_text(action, given)
        conversation.call(action, given, as_text(event.get("id")), action=text)


def _outcome(run: Json) -> Outcome:
    test = as_mapping(run.get("test_result"))
    reports = {
        "resolved": run,
        "report.resolved": as_mapping(run.get("report")),
        "test_result.resolved": test,
        "test_result.report.resolved": as_mapping(test.get("report")),
    }
    outcomes = {name: recorded(report, ("resolved",), ()) for name, report in reports.items()}
    resolved = together(outcomes)
    if resolved.source == "stated" or resolved.reason:  # which is that they contradict each other
        return resolved
    if error := as_text(run.get("error")):
        return Outcome(success=False, source="stated", reason=error)
    if isinstance(run.get("success"), bool) and "result_explanation" in run:
        # The issue resolver asks a model whether the issue is solved, and keeps its answer.
        explained = as_text(run.get("result_explanation"))
        return Outcome(success=run["success"] is True, source="judge", reason=explained)
    return next((each for each in outcomes.values() if each.reason), Outcome())


def _is_event(value: object) -> bool:
    event = as_mapping(value)
    if isinstance(event.get("observation"), str):
        return "content" in event or "extras" in event
    return isinstance(event.get("action"), str) and (
        "args" in event or "action_risk" in event or ("source" in event and "id" in event)
    )


def _counts_anew(events: list[Json], event: Json) -> bool:
    numbers = [each.get("id") for each in (event, *events[-1:])]
    return all(type(number) is int for number in numbers) and numbers[0] == 0


def _is_run(value: object) -> bool:
    run = as_mapping(value)
    history = as_list(value) or as_list(run.get("history")) or as_list(run.get("trajectory"))
    events = [each for item in history[:4] for each in (as_list(item) or [item])]
    return bool(events) and all(map(_is_event, events))


def _claims(preview: Preview) -> float:
    return max(0.95 * share(preview, _is_run), 0.9 * share(preview, _is_event))


OPENHANDS = Reader(
    name="openhands",
    description="OpenHands events (action, observation, cause) and evaluation JSONL",
    claims=_claims,
    read=sessions(
        partial(
            ItemSession,
            keys=("history", "trajectory"),
            is_item=_is_event,
            begins=_counts_anew,
            build=_stream_episode,
        )
    ),
)


_ANSWERS = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
_KINDS = _ANSWERS | {
    *("SystemPromptEvent", "MessageEvent", "ActionEvent", "ConversationStateUpdateEvent"),
    *("Condensation", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent"),
    *("ConversationErrorEvent", "LLMCompletionLogEvent", "TokenEvent", "InterruptEvent"),
}
_DEEDS = frozenset({"MessageEvent", "ActionEvent"})
_THINKING = frozenset({"think", "ThinkAction"})


def _sdk_episode(conversation: Conversation, session: ItemSession) -> Trajectory:
    others = sum(not _is_sdk_event(event) for event in session.items)
    conversation.pass_over("event", "of an unknown kind", others)
    tools: list[str] = []
    for event in session.items:
        kind = as_text(event.get("kind"))
        if kind == "SystemPromptEvent":
            tools = tools or tool_names(event.get("tools"))
        elif kind == "MessageEvent":
            _add_sdk_message(conversation, event)
        elif kind == "ActionEvent":
            _add_sdk_action(conversation, event)
        elif kind in _ANSWERS:
            _add_sdk_answer(conversation, event)
    try:
        return conversation.episode(
            environment=workspace(tools=tools),
            agent=_first(event.get("model") for event in session.items),
            metadata={"id": as_text(session.run.get("id"))},
        )
    except RecordError as error:
        if len(session.items) > 1:
            raise
        hint = "the events of a conversation in files of their own make one list"
        raise RecordError(error.message, hint=hint) from error


def _add_sdk_message(conversation: Conversation, event: Json) -> None:
    message = as_mapping(event.get("llm_message"))
    text = content_text(message.get("content"))
    source = event.get("source") or message.get("role")
    if speaker(source) == "agent":
        conversation.think(as_text(message.get("reasoning_content")))
        conversation.say(text)
    elif speaker(source) == "user" or conversation.has_task:
        conversation.user(text)  # or what the program says in between, which the agent hears


def _add_sdk_action(conversation: Conversation, event: Json) -> None:
    conversation.think(as_text(event.get("reasoning_content")))
    conversation.think(content_text(event.get("thought")))
    given = as_mapping(event.get("action"))
    name = as_text(event.get("tool_name")) or as_text(given.get("kind"))
    if name in _THINKING or given.get("kind") == "ThinkAction":
        conversation.think(as_text(given.get("thought")))
        return
    noted = ("kind", "security_risk", "is_input")
    arguments = {k: v for k, v in given.items() if k not in noted and v is not None}
    # An action that could not be understood is null; what the agent wrote is in the call.
    call = as_mapping(event.get("tool_call"))
    written = (as_mapping(call.get("function")) or call).get("arguments")
    call_id = as_text(event.get("id") or event.get("tool_call_id"))
    conversation.call(name, arguments if given else written, call_id)


def _add_sdk_answer(conversation: Conversation, event: Json) -> None:
    observation = as_mapping(event.get("observation"))
    is_thought = as_text(event.get("tool_name")) in _THINKING
    if is_thought or observation.get("kind") == "ThinkObservation":
        return
    parts = (
        observation.get("content") or observation.get("output"),
        event.get("error") or event.get("rejection_reason"),
    )
    codes = (as_mapping(observation.get("metadata")).get("exit_code"), observation.get("exit_code"))
    by_code = exit_status(codes[0]) or exit_status(codes[1])
    stated: StepStatus | None = "ok" if observation.get("is_error") is False else None
    conversation.answer(
        "\n".join(filter(None, map(content_text, parts))),
        as_text(event.get("action_id")),
        failed=event.get("kind") == "AgentErrorEvent" or observation.get("is_error") is True,
        status=by_code or stated,
    )


def _is_sdk_event(value: object) -> bool:
    return as_text(as_mapping(value).get("kind")) in _KINDS


def _is_sdk(value: object) -> bool:
    events = as_list(as_mapping(value).get("events")) or as_list(value) or [value]
    return _is_sdk_event(events[0])


def _begins_sdk(events: list[Json], event: Json) -> bool:
    acted = any(each.get("kind") in _DEEDS for each in events)
    return event.get("kind") == "SystemPromptEvent" and acted


OPENHANDS_SDK = json_reader(
    name="openhands-sdk",
    description="OpenHands SDK: events of kind MessageEvent, ActionEvent, ObservationEvent",
    is_own=_is_sdk,
    read=sessions(
        partial(
            ItemSession,
            keys=("events",),
            is_item=_is_sdk_event,
            begins=_begins_sdk,
            build=_sdk_episode,
        )
    ),
)
