"""Small logs of agents that are given an issue and a repository."""

from __future__ import annotations

import orjson

from tests.trajectory.readers.samples import Json

SWE_AGENT: Json = {
    "environment": "main",
    "trajectory": [
        {
            "action": "ls\n",
            "observation": "parser.py\r\n",
            "response": "DISCUSSION\nLook first.\n```\nls\n```",
            "thought": "Look first.",
            "state": '{"working_dir": "/home/ada/calc"}',
        },
        {"action": "", "observation": "no command found", "response": "I am lost.", "thought": ""},
        {"action": "submit", "observation": "", "response": "submit", "thought": ""},
    ],
    "history": [
        {"role": "system", "content": "You are a programmer."},
        {"role": "user", "content": "A demonstration of another issue.", "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": "Fix the parser."}]},
    ],
    "info": {"exit_status": "submitted", "submission": "diff"},
    "replay_config": orjson.dumps(
        {
            "env": {"repo": {"github_url": "https://ada:pw@example.org/ada/calc.git"}},
            "agent": {"model": {"name": "some-model"}},
            "problem_statement": {"id": "ada__calc-7"},
        }
    ).decode(),
}

MINI: Json = {
    "trajectory_format": "mini-swe-agent-1",
    "instance_id": "ada__calc-7",
    "info": {
        "exit_status": "Submitted",
        "submission": "diff",
        "config": {"model": {"model_name": "some-model"}, "environment": {"cwd": "/testbed"}},
    },
    "messages": [
        {"role": "system", "content": "One bash block each time."},
        {"role": "user", "content": "Solve it.\n```bash\nexample\n```"},
        {"role": "assistant", "content": "THOUGHT: Look first.\n\n```bash\nls -la\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        {"role": "assistant", "content": "I forgot the block."},
        {"role": "user", "content": "Give exactly one action."},
        {
            "role": "assistant",
            "content": "Done.",
            "tool_calls": [
                {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "git diff"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "+x"},
        {"role": "exit", "content": "the patch again"},
    ],
}

MINI_BARE = [
    {"role": "system", "content": "Use ```mswea_bash_command blocks."},
    {"role": "user", "content": "Solve it."},
    {"role": "assistant", "content": "Look.\n```mswea_bash_command\nls\n```"},
    {"role": "user", "content": "<returncode>0</returncode>"},
]

OPENHANDS_EVENTS: list[Json] = [
    {
        "id": 0,
        "source": "agent",
        "action": "system",
        "args": {"content": "You are an agent.", "tools": [{"function": {"name": "execute_bash"}}]},
    },
    {"id": 1, "source": "user", "action": "message", "args": {"content": "Fix the parser."}},
    {"id": 2, "source": "user", "action": "recall", "args": {"query": "Fix the parser."}},
    {"id": 3, "source": "environment", "observation": "recall", "cause": 2, "content": "x"},
    {
        "id": 4,
        "source": "agent",
        "action": "run",
        "args": {"command": "ls", "thought": "Look first.", "is_input": False},
    },
    {
        "id": 5,
        "source": "agent",
        "action": "read",
        "args": {"path": "/w/b.py", "thought": "", "start": 0, "end": -1, "view_range": None},
    },
    {"id": 6, "source": "agent", "observation": "read", "cause": 5, "content": "x = 1"},
    {
        "id": 7,
        "source": "agent",
        "observation": "run",
        "cause": 4,
        "content": "a.py",
        "extras": {"metadata": {"working_dir": "/w"}},
    },
    {"id": 8, "source": "environment", "observation": "agent_state_changed", "content": ""},
    {"id": 9, "source": "agent", "action": "think", "args": {"thought": "It is the minus."}},
    {"id": 10, "source": "agent", "observation": "think", "cause": 9, "content": "logged"},
    {"id": 11, "source": "agent", "action": "finish", "args": {"final_thought": "Fixed."}},
]

OPENHANDS_RUN: Json = {
    "instance_id": "ada__calc-7",
    "instruction": "Fix the parser.",
    "history": OPENHANDS_EVENTS,
    "instance": {"repo": "ada/calc", "language": "c"},
    "metadata": {"llm_config": {"model": "some-model"}},
    "error": None,
}

OPENHANDS_OLDEST: Json = {
    "issue": {"owner": "ada", "repo": "calc", "number": 7},
    "instruction": "Fix the parser.",
    "history": [
        {"action": "message", "content": "Fix the parser.", "action_risk": None},
        {"action": "run", "command": "ls", "thought": "Look.", "action_risk": None},
        {"observation": "run", "content": "a.py", "exit_code": 0},
    ],
    "success": True,
    "result_explanation": "It looks solved.",
    "error": None,
}

OPENHANDS_SDK: list[Json] = [
    {"kind": "SystemPromptEvent", "tools": [{"title": "terminal"}, {"title": "think"}]},
    {"kind": "ConversationStateUpdateEvent", "key": "full_state", "value": {}},
    {
        "kind": "MessageEvent",
        "source": "user",
        "llm_message": {
            "role": "user",
            "content": [
                {"type": "text", "text": "Fix the parser."},
                {"type": "image", "image_urls": ["data:image/png;base64,AAAA"]},
            ],
        },
    },
    {
        "kind": "ActionEvent",
        "id": "a1",
        "thought": [{"type": "text", "text": "Look first."}],
        "tool_name": "terminal",
        "action": {"kind": "ExecuteBashAction", "command": "ls", "is_input": False},
    },
    {
        "kind": "ActionEvent",
        "id": "a2",
        "thought": [],
        "tool_name": "file_editor",
        "action": None,
        "tool_call": {"name": "file_editor", "arguments": '{"path": "a.py"}'},
    },
    {
        "kind": "ObservationEvent",
        "action_id": "a1",
        "tool_name": "terminal",
        "observation": {"kind": "O", "content": [{"type": "text", "text": "a.py"}]},
    },
    {"kind": "AgentErrorEvent", "tool_name": "file_editor", "error": "no command given"},
    {
        "kind": "ActionEvent",
        "id": "a3",
        "tool_name": "think",
        "action": {"kind": "ThinkAction", "thought": "It is the minus."},
    },
    {"kind": "ObservationEvent", "action_id": "a3", "tool_name": "think", "observation": {}},
    {
        "kind": "MessageEvent",
        "source": "agent",
        "llm_message": {"role": "assistant", "content": [{"type": "text", "text": "Fixed."}]},
    },
]

ATIF: Json = {
    "schema_version": "ATIF-v1.5",
    "session_id": "s1",
    "agent": {
        "name": "some-agent",
        "model_name": "some-model",
        "tool_definitions": [{"type": "function", "function": {"name": "bash"}}],
    },
    "steps": [
        {"step_id": 1, "source": "system", "message": "You are an agent."},
        {"step_id": 2, "source": "user", "message": "Fix the parser."},
        {"step_id": 3, "source": "agent", "message": "Copied.", "is_copied_context": True},
        {
            "step_id": 4,
            "source": "agent",
            "message": "I look at both.",
            "reasoning_content": "Look first.",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "ls"}},
                {"tool_call_id": "c2", "function_name": "read", "arguments": {"path": "a.py"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c2", "content": "x = 1"},
                    {"source_call_id": "c1", "content": [{"type": "text", "text": "a.py"}]},
                    {"subagent_trajectory_ref": [{"session_id": "other"}]},
                ]
            },
        },
        {"step_id": 5, "source": "system", "message": "Reminder: hurry."},
        {"step_id": 6, "source": "agent", "message": "Fixed."},
    ],
}
