"""OpenHands: event streams, and events of its SDK."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview, Record
from deltamem_tui.trajectory.model import Outcome, Trajectory
from deltamem_tui.trajectory.outcome_keys import recorded
from deltamem_tui.trajectory.outcomes import together
from deltamem_tui.trajectory.readers.coding import call_text, exit_status, tool_names
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, speaker
from deltamem_tui.trajectory.readers.reader import (
    Reader,
    Reading,
    conversation_readings,
    json_reader,
    share,
)
from deltamem_tui.trajectory.readers.sessions import (
    Session,
    session_of,
    sessions,
    stray,
    stray_kind,
)
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


@dataclass(slots=True)
class _StreamSession(Session):
    """Events that are records by themselves."""

    events: list[Json] = field(default_factory=list)

    def whole(self, record: Record) -> Iterator[Reading] | None:
        run = as_mapping(record.value)
        if isinstance(record.value, list):
            run = {"history": record.value}
        elif isinstance(run.get("trajectory"), list):
            run = {**run, "history": run["trajectory"]}
        if not isinstance(run.get("history"), list):
            return None
        return conversation_readings(record.position, _stream_episode, run)

    def begins_another(self, value: object) -> bool:
        """Return True if the events are counted anew."""
        numbers = [event.get("id") for event in (as_mapping(value), *self.events[-1:])]
        return all(type(number) is int for number in numbers) and numbers[0] == 0

    def take(self, value: object) -> None:
        if not _stream_is_event(value):
            raise stray("neither an event nor a run with a `history`")
        self.events.append(as_mapping(value))

    def episode(self, conversation: Conversation) -> Trajectory:
        return _stream_episode(conversation, {"history": self.events})


def _stream_episode(conversation: Conversation, run: Json) -> Trajectory:
    events = list(_events(as_list(run.get("history"))))
    for event in events:
        _add(conversation, event)
    extras = [as_mapping(event.get("extras")) for event in events]
    system = (as_mapping(each.get("args")) for each in events if each.get("action") == "system")
    noted = [as_text(each.get("repo_name")) for each in extras]
    places = (as_text(as_mapping(each.get("metadata")).get("working_dir")) for each in extras)
    instance, issue = as_mapping(run.get("instance")), as_mapping(run.get("issue"))
    metadata = as_mapping(run.get("metadata"))
    owner = "/".join(filter(None, (as_text(issue.get("owner")), as_text(issue.get("repo")))))
    number = as_text(issue.get("number"))
    return conversation.episode(
        task="" if conversation.has_task else as_text(run.get("instruction")),
        environment=workspace(
            repository=as_text(instance.get("repo")) or owner or _first(noted),
            language=as_text(instance.get("language")),
            tools=next(filter(None, (tool_names(each.get("tools")) for each in system)), []),
            directory=_first(places),
        ),
        outcome=_outcome(run),
        agent=as_text(as_mapping(metadata.get("llm_config")).get("model")),
        metadata={"id": as_text(run.get("instance_id")) or (f"{owner}#{number}" if number else "")},
    )


def _events(history: list[object]) -> Iterator[Json]:
    """Yield the events in order; the oldest logs keep them as pairs of action and observation."""
    for item in history:
        for event in item if isinstance(item, list) else [item]:
            yield as_mapping(event)


def _first(texts: Iterable[str]) -> str:
    """Return the first text that says something; empty if none does."""
    return next(filter(None, texts), "")


def _add(conversation: Conversation, event: Json) -> None:
    if isinstance(observation := event.get("observation"), str):
        if observation not in _OWN_AFFAIRS and observation != "think":
            text, cause = content_text(event.get("content")), as_text(event.get("cause"))
            extras = as_mapping(event.get("extras"))
            code = as_mapping(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
            conversation.answer(
                text, cause, failed=observation == "error", status=exit_status(code)
            )
        return
    action = event.get("action")
    if not isinstance(action, str) or action in _OWN_AFFAIRS:
        return
    # Newer events keep what belongs to the action under `args`, older ones beside it.
    arguments = as_mapping(event.get("args")) or event
    if action == "message":
        _stream_tell_message(conversation, event, as_text(arguments.get("content")))
        return
    conversation.think(as_text(arguments.get("thought")))
    if action != "think":
        given = _given(arguments)
        text = _action_text(action, arguments, given)
        conversation.call(action, given, as_text(event.get("id")), action=text)


def _stream_tell_message(conversation: Conversation, event: Json, text: str) -> None:
    source = event.get("source")
    # The oldest events do not say who speaks; the first of them is the user.
    if source == "user" or (source is None and not conversation.has_task):
        conversation.user(text)
    elif source in ("agent", None):
        conversation.say(text)
    elif conversation.has_task:  # the program's own words, which the agent hears
        conversation.user(text)


def _action_text(action: str, arguments: Json, given: Json) -> str:
    spoken = arguments.get(_SPOKEN.get(action, ""))
    return spoken if isinstance(spoken, str) and spoken.strip() else call_text(action, given)


def _given(arguments: Json) -> Json:
    return {
        key: value
        for key, value in arguments.items()
        if key not in _NOTES and value not in (None, "", [], {}, -1)
    }


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


def _stream_is_event(value: object) -> bool:
    event = as_mapping(value)
    if isinstance(event.get("observation"), str):
        return "content" in event or "extras" in event
    return isinstance(event.get("action"), str) and (
        "args" in event or "action_risk" in event or ("source" in event and "id" in event)
    )


def _is_run(value: object) -> bool:
    run = as_mapping(value)
    events = list(_events(as_list(run.get("history") or run.get("trajectory"))[:4]))
    return bool(events) and all(map(_stream_is_event, events))


def _stream_claims(preview: Preview) -> float:
    whole = share(preview, lambda value: _is_run(value) or _is_run({"history": value}))
    return max(0.95 * whole, 0.9 * share(preview, _stream_is_event))


OPENHANDS = Reader(
    name="openhands",
    description="OpenHands events (action, observation, cause) and evaluation JSONL",
    claims=_stream_claims,
    read=sessions(_StreamSession),
)


_ANSWERS = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
_KINDS = _ANSWERS | {
    *("SystemPromptEvent", "MessageEvent", "ActionEvent", "ConversationStateUpdateEvent"),
    *("Condensation", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent"),
    *("ConversationErrorEvent", "LLMCompletionLogEvent", "TokenEvent", "InterruptEvent"),
}
_DEEDS = frozenset({"MessageEvent", "ActionEvent"})
_THINKING = frozenset({"think", "ThinkAction"})


@dataclass(slots=True)
class _SdkSession(Session):
    """Events that are records by themselves."""

    id: str = ""
    events: list[Json] = field(default_factory=list)

    def whole(self, record: Record) -> Iterator[Reading] | None:
        value = record.value
        events = value if isinstance(value, list) else as_mapping(value).get("events")
        if not isinstance(events, list):
            return None
        name = as_text(as_mapping(value).get("id"))
        return session_of(_SdkSession(id=name), events, record.position, "event")

    def begins_another(self, value: object) -> bool:
        """Return True if a new system prompt follows the agent's work."""
        return as_mapping(value).get("kind") == "SystemPromptEvent" and (
            self.breaks_off or any(event.get("kind") in _DEEDS for event in self.events)
        )

    def take(self, value: object) -> None:
        self.events.append(_event(value))

    def episode(self, conversation: Conversation) -> Trajectory:
        return _sdk_episode(conversation, self.id, self.events)


def _event(value: object) -> Json:
    event = as_mapping(value)
    if not _sdk_is_event(event):
        raise stray_kind(as_text(event.get("kind")), "an event")
    return event


def _sdk_episode(conversation: Conversation, name: str, events: list[Json]) -> Trajectory:
    tools: list[str] = []
    agent = ""
    for event in events:
        kind = as_text(event.get("kind"))
        if kind == "SystemPromptEvent":
            tools = tools or tool_names(event.get("tools"))
        elif kind == "MessageEvent":
            _sdk_tell_message(conversation, event)
        elif kind == "ActionEvent":
            _tell_action(conversation, event)
        elif kind in _ANSWERS:
            _add_answer(conversation, event)
        agent = agent or as_text(event.get("model"))
    try:
        return conversation.episode(
            environment=workspace(tools=tools), agent=agent, metadata={"id": name}
        )
    except RecordError as error:
        if len(events) > 1:
            raise
        hint = "the events of a conversation that lie in files of their own make one list"
        raise RecordError(error.message, hint=hint) from error


def _sdk_tell_message(conversation: Conversation, event: Json) -> None:
    message = as_mapping(event.get("llm_message"))
    text = content_text(message.get("content"))
    source = event.get("source") or message.get("role")
    if speaker(source) == "agent":
        conversation.think(as_text(message.get("reasoning_content")))
        conversation.say(text)
    elif speaker(source) == "user" or conversation.has_task:
        conversation.user(text)  # or what the program says in between, which the agent hears


def _tell_action(conversation: Conversation, event: Json) -> None:
    conversation.think(as_text(event.get("reasoning_content")))
    conversation.think(content_text(event.get("thought")))
    given = as_mapping(event.get("action"))
    name = as_text(event.get("tool_name")) or as_text(given.get("kind"))
    if name in _THINKING or given.get("kind") == "ThinkAction":
        conversation.think(as_text(given.get("thought")))
        return
    arguments = {
        key: value
        for key, value in given.items()
        if key not in ("kind", "security_risk", "is_input") and value is not None
    }
    # An action that could not be understood is null; what the agent wrote is in the call.
    call = as_mapping(event.get("tool_call"))
    written = as_mapping(call.get("function")) or call
    conversation.call(
        name,
        arguments if given else written.get("arguments"),
        as_text(event.get("id") or event.get("tool_call_id")),
    )


def _add_answer(conversation: Conversation, event: Json) -> None:
    observation = as_mapping(event.get("observation"))
    parts = (
        observation.get("content") or observation.get("output"),
        event.get("error") or event.get("rejection_reason"),
    )
    thought = as_text(event.get("tool_name")) in _THINKING
    if thought or observation.get("kind") == "ThinkObservation":
        return
    text = "\n".join(filter(None, map(content_text, parts)))
    failed = event.get("kind") == "AgentErrorEvent" or observation.get("is_error") is True
    status = exit_status(as_mapping(observation.get("metadata")).get("exit_code"))
    if status is None:
        status = exit_status(observation.get("exit_code"))
    if status is None and observation.get("is_error") is False:
        status = "ok"
    conversation.answer(text, as_text(event.get("action_id")), failed=failed, status=status)


def _sdk_is_event(value: object) -> bool:
    return as_text(as_mapping(value).get("kind")) in _KINDS


def _is_conversation(value: object) -> bool:
    events = as_list(as_mapping(value).get("events")) or as_list(value)
    return bool(events) and _sdk_is_event(events[0])


OPENHANDS_SDK = json_reader(
    name="openhands-sdk",
    description="OpenHands SDK: events of kind MessageEvent, ActionEvent, ObservationEvent",
    is_own=lambda value: _sdk_is_event(value) or _is_conversation(value),
    read=sessions(_SdkSession),
)
