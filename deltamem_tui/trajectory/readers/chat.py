"""A chat as an episode: who speaks, what of it is the task, thought and action in one text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Trajectory
from deltamem_tui.trajectory.readers.coding import own_words
from deltamem_tui.trajectory.readers.conversation import Conversation, NothingAskedError
from deltamem_tui.trajectory.readers.messages import (
    add_message,
    content_text,
    is_result,
    parts_of,
    speaker,
    unknown_speaker,
)
from deltamem_tui.trajectory.readers.shapes import Json, as_list, as_mapping, as_text, unfolded
from deltamem_tui.trajectory.readers.tasks import marked_task, task_and_scene

# Spaces are counted, not starred: two runs of them side by side would make a search quadratic.
_THOUGHT = re.compile(r"\A\s*(?:thoughts?|think)[ \t]{0,3}\d{0,4}:", re.IGNORECASE)
_ACTION = re.compile(r"^[ \t]*(?:action|act)[ \t]{0,3}\d{0,4}:", re.IGNORECASE | re.MULTILINE)
_OBSERVATION = re.compile(r"\A\s*observation[ \t]{0,3}\d{0,4}:", re.IGNORECASE)
# Calls that a model writes as text because it was taught to.
_CALL = re.compile(r"<(?:function=|execute>|tool_call>|function_calls>)")
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_COMMAND = re.compile(r"(?:bash|sh|shell)?[ \t]*\n(?P<command>.*)", re.DOTALL)
# Cline, Roo and Kilo write a call as an element of the reply's text, named after the tool.
_ELEMENT = re.compile(
    r"<(?P<tool>execute_command|read_file|write_to_file|replace_in_file|search_files|list_files"
    r"|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|apply_diff"
    r"|ask_followup_question|attempt_completion|new_task|plan_mode_respond|insert_content"
    r"|search_and_replace|switch_mode|update_todo_list|codebase_search)>\n?(?P<body>.*?)"
    r"</(?P=tool)>",
    re.DOTALL,
)
_PARAMETER = re.compile(r"<(?P<name>\w{1,40})>\n?(?P<value>.*?)\n?</(?P=name)>", re.DOTALL)
_ELEMENT_ANSWER = re.compile(
    r"\[\w+(?: for [^\n]*)?\] Result:\s*(?:Command executed\.\s*)?(?:Output:\n)?"
)
_FINAL = {"attempt_completion": "result", "ask_followup_question": "question"}
_TEXT_KINDS = (None, "", "text", "input_text", "output_text")
_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thought")
_NODS_TO_THOUGHT = frozenset({"", "ok", "ok."})  # of an environment that was told to nod
_NOD_LENGTH = 120
_EXAMPLE = "part of a solved example"


def thought_and_action(text: str, *, in_fences: bool = False) -> tuple[str, str]:
    """Return what an agent thought and did: the action is empty where a labelled thought is all."""
    labelled = _THOUGHT.match(text)
    begin = labelled.end() if labelled else 0
    found = _ACTION.search(text) or _CALL.search(text)
    if found is None and in_fences:
        parts = text[begin:].split("```")
        command = _COMMAND.fullmatch(parts[1]) if len(parts) == 3 and not parts[2].strip() else None
        if command:
            return parts[0].strip(), command["command"].strip()
    if found is None and labelled:
        found = _FENCE.search(text)
    if found is None:
        return (text[begin:].strip(), "") if labelled else ("", text.strip())
    label = found.end() if _ACTION.match(text, found.start()) else found.start()
    action = text[label:].strip()
    return (text[begin : found.start()].strip(), action) if action else ("", text.strip())


def _observation_of(text: str) -> str:
    found = _OBSERVATION.match(text) or _ELEMENT_ANSWER.match(text)
    return text[found.end() :].strip() if found else text.strip()


def spoken(message: object) -> Json:
    """Return a message with `role` and `content`, whatever the log calls them."""
    given = as_mapping(message)
    name = as_text(given.get("role") or given.get("from"))
    role = speaker(name)
    if role is None:
        raise unknown_speaker(name)
    keys = ("content", "value", "text", "parts", "system_prompt")
    content = next((given[key] for key in keys if given.get(key) is not None), None)
    if name == "function_call" and isinstance(content, str):
        value = unfolded(content)
        calls: list[object] = [value] if isinstance(value, dict) else as_list(value)
        if calls and all(as_mapping(call).get("name") for call in calls):
            return {"role": role, "content": "", "tool_calls": calls}
    return {**given, "role": role, "content": content}


def episode(
    messages: Iterable[object],
    *,
    task: str = "",
    environment: str = "",
    conversation: Conversation | None = None,
) -> Trajectory:
    """Return the episode in a list of messages; `conversation` then knows what was left out.

    The task is the first thing a user says, or the next if that is a briefing, at which the agent
    nods, and what follows marks the task. The environment is the scene in that message, else the
    briefing, else the system's prompt, unless the log names them. Examples that say they are some
    are left out.
    """
    conversation = conversation or Conversation()
    whole = list(messages)
    own = [message for message in whole if not _is_example(as_mapping(message))]
    conversation.pass_over("message", _EXAMPLE, len(whole) - len(own))
    heard = list(map(spoken, own))
    opening = next((index for index, message in enumerate(heard) if _asks(message)), None)
    if opening is None:
        if {message["role"] for message in heard} | {"system"} == {"user", "system"}:
            raise NothingAskedError("the user asked for nothing in it")
        hint = "look whether the log has lost its beginning, or name its format with `--format`"
        raise RecordError("no message of a user, so no task", hint=hint)
    for message in heard[:opening]:
        _add_before_task(conversation, message)
    _add_results(conversation, heard[opening])
    prompts = (_text(message) for message in heard[:opening] if message["role"] == "system")
    rules = "\n".join(filter(None, prompts))
    if _is_briefing(heard[opening : opening + 3]):
        rules = _text(heard[opening])
        opening += 2
    task_text, scene = task_and_scene(_asked(heard[opening]))
    conversation.user(task_text)
    _replay(conversation, heard[opening + 1 :], in_fences="```" in rules)
    return conversation.episode(task=task, environment=environment or scene or rules)


def _is_briefing(first: Sequence[Json]) -> bool:
    """Return True if a user first only instructs, the agent nods, and then the task comes."""
    if len(first) < 3 or first[1]["role"] != "agent" or not _is_text(first[1]):
        return False
    reply = _text(first[1])
    if not 0 < len(reply) <= _NOD_LENGTH or thought_and_action(reply)[1] != reply:
        return False
    return _asks(first[2]) and marked_task(_asked(first[2])) is not None


def _replay(conversation: Conversation, messages: Iterable[Json], *, in_fences: bool) -> None:
    """Add what follows the task; a thought alone, if only nodded at, leads to the next action."""
    pending = ""
    for message in messages:
        text = _text(message) if _is_text(message) else None
        is_nod = message["role"] == "user" and text is not None and text.lower() in _NODS_TO_THOUGHT
        if pending and is_nod:
            conversation.think(pending)
        elif pending:
            conversation.act(pending)  # a thought that is answered like an action is one
        nodded, pending = bool(pending) and is_nod, ""
        if message["role"] == "agent" and text is not None:
            pending = _speak(conversation, message, in_fences=in_fences)
        elif message["role"] != "user" or text is None:
            add_message(conversation, message)
        elif _ELEMENT_ANSWER.match(own := own_words(text)):
            conversation.answer(_observation_of(own))
        elif not nodded:
            conversation.user(_observation_of(own))
    if pending:
        conversation.act(pending)


def _speak(conversation: Conversation, message: Json, *, in_fences: bool) -> str:
    for key in _THOUGHT_KEYS:
        if isinstance(message.get(key), str):
            conversation.think(as_text(message[key]))
    text = _text(message)
    if element := _ELEMENT.search(text):
        _add_element(conversation, text[: element.start()].strip(), element)
        return ""
    thought, action = thought_and_action(text, in_fences=in_fences)
    if not action:
        return thought
    if action == text:
        conversation.say(text)
    else:
        conversation.think(thought)
        is_code = in_fences and text.rstrip().endswith("```")
        conversation.act(action, kind="code" if is_code else None)
    return ""


def _add_element(conversation: Conversation, said: str, element: re.Match[str]) -> None:
    """Add a call that is written as an element, or the words for the user that it holds."""
    given = {each["name"]: each["value"] for each in _PARAMETER.finditer(element["body"])}
    given.pop("requires_approval", None)
    words = given.get(_FINAL.get(element["tool"], ""))
    if words is None:
        conversation.say(said)
        conversation.call(element["tool"], given)
    else:
        conversation.think(said)
        conversation.say(words)


def _is_text(message: Json) -> bool:
    if message.get("tool_calls") or message.get("function_call"):
        return False
    return all(
        part.get("type") in _TEXT_KINDS and not part.keys().isdisjoint(("text", "value"))
        for part in parts_of(message)
    )


def _text(message: Json) -> str:
    return content_text(message.get("content")).strip()


def _words(message: Json) -> str:
    """Return what a user says in their own words, without what tools answer in the same message."""
    own_parts = [part for part in parts_of(message) if not is_result(part)]
    return own_words(content_text(own_parts).strip())


def _asked(message: Json) -> str:
    return _observation_of(_words(message))


def _asks(message: Json) -> bool:
    return message["role"] == "user" and bool(_words(message))


def _add_before_task(conversation: Conversation, message: Json) -> None:
    """Add what was done before the task: no step, but a tool's answer there to no call was lost."""
    if message["role"] != "agent":
        _add_results(conversation, message)
    elif not _is_text(message):
        add_message(conversation, message)
    elif (action := thought_and_action(_text(message))[1]) != _text(message):
        conversation.act(action)


def _add_results(conversation: Conversation, message: Json) -> None:
    if message["role"] == "tool":
        add_message(conversation, message)
    elif message["role"] == "user" and (found := [*filter(is_result, parts_of(message))]):
        add_message(conversation, {**message, "content": found})


def _is_example(message: Json) -> bool:
    return message.get("is_demo") is True or as_text(message.get("name")).startswith("example_")
