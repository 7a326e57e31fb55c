"""Claude Code: JSONL sessions, a line for each message, block or note of the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.logs.log import Preview, Record
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from deltamem_tui.trajectory.readers.messages import content_text, tell_message
from deltamem_tui.trajectory.readers.own_words import typed_command
from deltamem_tui.trajectory.readers.reader import Reader, Reading, share
from deltamem_tui.trajectory.readers.shapes import Json, as_mapping, as_text
from deltamem_tui.trajectory.readers.whole_log import placed, whole_log
from deltamem_tui.trajectory.readers.workspace import workspace

_NOT_A_MODEL = "<synthetic>"
_OWN_KEYS = ("uuid", "sessionId", "leafUuid", "messageId")


def _gather(records: Iterable[Record], log_name: str) -> Iterator[Reading]:  # noqa: ARG001
    sessions: dict[str, _Session] = {}
    for record in records:
        line = as_mapping(record.value)
        if line.get("type") not in ("user", "assistant"):
            continue  # summaries, snapshots and other notes of the program
        name = as_text(line.get("sessionId"))
        if name not in sessions:
            sessions[name] = _Session(record.position)
        sessions[name].add(line)
    for name, session in sessions.items():
        yield session.reading(name)


class _Session:
    """One session, gathered line by line."""

    def __init__(self, position: str) -> None:
        self._position = position
        self._main = Conversation()
        self._side = Conversation()
        self._has_main = False
        self._sub_agent = ""
        self._seen: set[str] = set()
        self._directory = ""
        self._agent = ""

    def add(self, line: Json) -> None:
        """One line; one that was there before, as in a session taken up again, counts once."""
        uuid = as_text(line.get("uuid"))
        if uuid and uuid in self._seen:
            return
        self._seen.add(uuid)
        self._directory = self._directory or as_text(line.get("cwd"))
        aside = line.get("isSidechain") is True
        self._has_main = self._has_main or not aside
        self._sub_agent = self._sub_agent or as_text(line.get("agentId"))
        if _is_the_programs(line):
            return
        message = as_mapping(line.get("message"))
        model = as_text(message.get("model"))
        if model == _NOT_A_MODEL:
            return  # an error of the service, in the model's place
        self._agent = self._agent or model
        conversation = self._side if aside else self._main
        if line["type"] == "user":
            conversation.offer_task(typed_command(content_text(message.get("content"))))
        tell_message(conversation, {**message, "role": line["type"]})

    def reading(self, name: str) -> Reading:
        """The episode: the main conversation, or the sub-agent's where there is no other."""
        conversation = self._main if self._has_main else self._side
        if not self._has_main and self._sub_agent:
            name = self._sub_agent  # what is said of the session is not said of its helpers
        try:
            return placed(self._episode(conversation, name), self._position)
        except RecordError as error:
            return RecordError(error.message, position=self._position, hint=error.hint)

    def _episode(self, conversation: Conversation, name: str) -> Trajectory:
        return conversation.episode(
            environment=workspace(directory=self._directory),
            agent=self._agent,
            metadata={"id": name},
        )


def _is_the_programs(line: Json) -> bool:
    """Whether a line is in somebody's name but written by the program."""
    return any(line.get(key) is True for key in ("isMeta", "isCompactSummary", "isApiErrorMessage"))


def _is_line(value: object) -> bool:
    line = as_mapping(value)
    if line.get("type") in ("user", "assistant"):
        return isinstance(line.get("message"), dict) and ("sessionId" in line or "uuid" in line)
    return isinstance(line.get("type"), str) and any(key in line for key in _OWN_KEYS)


def _claims(preview: Preview) -> float:
    if any("payload" in as_mapping(value) for value in preview.records):
        return 0.0
    return 0.95 * share(preview, _is_line)


READER = Reader(
    name="claude-code",
    description="Claude Code: JSONL sessions",
    claims=_claims,
    read=whole_log(_gather),
)
