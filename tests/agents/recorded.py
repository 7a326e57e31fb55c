"""Events as agents tell of them: what stands on the hooks' stdin."""

from __future__ import annotations

import json
from typing import Any

TASK = "Fix the failing date parser."
FOLDER = "/home/ada/calc"
SHARED = {"session_id": "s1", "transcript_path": "/logs/s1.jsonl", "cwd": FOLDER}
MISSING = "/bin/sh: 1: ruff: command not found"
CODE = {"is_error": True, "exit_code": 127, "content": MISSING}
CALL = {"tool_name": "Bash", "tool_input": {"command": "ruff check ."}}
SILENT = {"session_id": "s1", "cwd": FOLDER}  # of where the log lies
OPENHANDS = {"session_id": "s1", "working_dir": FOLDER}

RECORDED: dict[tuple[str, str], dict[str, Any]] = {
    ("claude-code", "prompt"): SHARED
    | {"hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt": TASK},
    ("claude-code", "failure"): SHARED
    | CALL
    | {
        "hook_event_name": "PostToolUseFailure",
        "error": f"Exit code 127\n{MISSING}",
        "is_interrupt": False,
    },
    ("claude-code", "start"): SHARED | {"hook_event_name": "SessionStart", "source": "compact"},
    ("claude-code", "end"): SHARED | {"hook_event_name": "SessionEnd", "reason": "exit"},
    ("codex", "prompt"): SHARED | {"hook_event_name": "UserPromptSubmit", "prompt": TASK},
    ("codex", "failure"): SHARED
    | CALL
    | {"hook_event_name": "PostToolUse", "tool_response": f"Exit code: 127\n{MISSING}"},
    ("codex", "start"): SHARED | {"hook_event_name": "SessionStart", "source": "compact"},
    ("codex", "end"): SHARED | {"hook_event_name": "SessionEnd", "transcript_path": None},
    ("gemini", "prompt"): SHARED | {"hook_event_name": "BeforeAgent", "prompt": TASK},
    ("gemini", "failure"): SHARED
    | CALL
    | {"hook_event_name": "AfterTool", "tool_response": {"error": MISSING, "llmContent": ""}},
    ("gemini", "start"): SHARED | {"hook_event_name": "SessionStart", "source": "startup"},
    ("gemini", "end"): SHARED | {"hook_event_name": "SessionEnd", "reason": "exit"},
    ("openhands", "prompt"): OPENHANDS | {"event_type": "UserPromptSubmit", "message": TASK},
    ("openhands", "failure"): OPENHANDS
    | {"event_type": "PostToolUse", **CALL, "tool_response": CODE},
    ("openhands", "end"): OPENHANDS | {"event_type": "SessionEnd"},
    ("qwen", "prompt"): SHARED | {"hook_event_name": "UserPromptSubmit", "prompt": TASK},
    ("qwen", "failure"): SHARED
    | CALL
    | {
        "hook_event_name": "PostToolUse",
        "tool_response": {
            "llmContent": f"Command: ruff check .\nOutput: {MISSING}\nExit Code: 127\nSignal: 0",
            "returnDisplay": MISSING,
        },
    },
    ("qwen", "start"): SHARED | {"hook_event_name": "SessionStart", "source": "compact"},
    ("qwen", "end"): SHARED | {"hook_event_name": "Stop", "last_assistant_message": "Done."},
    ("copilot", "prompt"): SILENT | {"hook_event_name": "UserPromptSubmit", "prompt": TASK},
    ("copilot", "failure"): SILENT
    | CALL
    | {
        "hook_event_name": "PostToolUse",
        "tool_result": {
            "result_type": "success",
            "text_result_for_llm": f"{MISSING}\n<shellId: 1 completed with exit code 127>",
        },
    },
    ("copilot", "start"): SILENT | {"hook_event_name": "SessionStart", "source": "new"},
    ("copilot", "end"): SILENT | {"hook_event_name": "SessionEnd", "reason": "complete"},
    ("cursor", "prompt"): SHARED | {"hook_event_name": "beforeSubmitPrompt", "prompt": TASK},
    ("cursor", "failure"): SHARED
    | CALL
    | {"hook_event_name": "postToolUse", "tool_output": json.dumps({"output": MISSING})},
    ("cursor", "start"): SHARED | {"hook_event_name": "sessionStart"} | {"source": "startup"},
    ("cursor", "end"): SHARED | {"hook_event_name": "sessionEnd", "reason": "completed"},
    ("opencode", "prompt"): SILENT | {"prompt": TASK},
    ("opencode", "failure"): SILENT | CALL | {"tool_response": MISSING},
    ("opencode", "end"): SILENT,
}
