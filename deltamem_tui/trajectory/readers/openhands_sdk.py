"""OpenHands SDK: events that name their `kind`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.record import Preview, Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.notice import located
from deltamem_tui.trajectory.readers.calls import call_text
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.in_full import in_full
from deltamem_tui.trajectory.readers.messages import content_text
from deltamem_tui.trajectory.readers.reader import Reader, Reading, share
from deltamem_tui.trajectory.readers.roles import speaker
from deltamem_tui.trajectory.readers.sessions import Session, sessions
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text
from deltamem_tui.trajectory.readers.whole_log import stray_kind
from deltamem_tui.trajectory.readers.workspace import tool_names, workspace

_ANSWERS = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
_KINDS = _ANSWERS | {
    *("SystemPromptEvent", "MessageEvent", "ActionEvent", "ConversationStateUpdateEvent"),
    *("Condensation", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent"),
    *("ConversationErrorEvent", "LLMCompletionLogEvent", "TokenEvent", "InterruptEvent"),
}
_DEEDS = frozenset({"MessageEvent", "ActionEvent"})
_THINKING = frozenset({"think", "ThinkAction"})


@dataclass(slots=True)
class _Session(Session):
    """Events that are records by themselves."""

    events: list[Json] = field(default_factory=list)

    def whole(self, record: Record) -> Iterator[Reading] | None:
        value = record.value
        events = value if isinstance(value, list) else as_mapping(value).get("events")
        return _readings(events, record.position) if isinstance(events, list) else None

    def begins_another(self, value: object) -> bool:
        """Whether an agent is told anew what it is for, after it has worked."""
        return as_mapping(value).get("kind") == "SystemPromptEvent" and (
            self.breaks_off or any(event.get("kind") in _DEEDS for event in self.events)
        )

    def take(self, value: object) -> None:
        self.events.append(_event(value))

    def episode(self) -> Trajectory:
        conversation = Conversation()
        episode = _episode(conversation, self.events)
        self.told.extend(conversation.unheard())
        return episode


def _readings(values: list[object], position: str) -> Iterator[Reading]:
    """What is no event, and the episode that the events make, each with its position."""
    events: list[Json] = []
    for number, value in enumerate(values, 1):
        try:
            events.append(_event(value))
        except RecordError as error:
            yield located(error, "", f"{position}, event {number}")
    if events:
        yield from in_full(position, _episode, events)


def _event(value: object) -> Json:
    event = as_mapping(value)
    if not _is_event(event):
        raise stray_kind(as_text(event.get("kind")), "an event")
    return event


def _episode(conversation: Conversation, events: list[Json]) -> Trajectory:
    tools: list[str] = []
    agent = ""
    for event in events:
        kind = as_text(event.get("kind"))
        if kind == "SystemPromptEvent":
            tools = tools or tool_names(event.get("tools"))
        elif kind == "MessageEvent":
            _tell_message(conversation, event)
        elif kind == "ActionEvent":
            _tell_action(conversation, event)
        elif kind in _ANSWERS:
            _tell_answer(conversation, event)
        agent = agent or as_text(event.get("model"))
    try:
        return conversation.episode(environment=workspace(tools=tools), agent=agent)
    except RecordError as error:
        if len(events) > 1:
            raise
        hint = "the events of a conversation that lie in files of their own make one list"
        raise RecordError(error.message, hint=hint) from error


def _tell_message(conversation: Conversation, event: Json) -> None:
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
    conversation.act(
        call_text(name, arguments if given else written.get("arguments")),
        as_text(event.get("id") or event.get("tool_call_id")),
    )


def _tell_answer(conversation: Conversation, event: Json) -> None:
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
    conversation.answer(text, as_text(event.get("action_id")), failed=failed)


def _is_event(value: object) -> bool:
    return as_text(as_mapping(value).get("kind")) in _KINDS


def _is_conversation(value: object) -> bool:
    events = as_list(as_mapping(value).get("events")) or as_list(value)
    return bool(events) and _is_event(events[0])


def _claims(preview: Preview) -> float:
    return 0.95 * share(preview, lambda value: _is_event(value) or _is_conversation(value))


READER = Reader(
    name="openhands-sdk",
    description="OpenHands SDK: events of kind MessageEvent, ActionEvent, ObservationEvent",
    claims=_claims,
    read=sessions(_Session),
)
