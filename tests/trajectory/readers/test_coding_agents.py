from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from deltamem_tui.trajectory.model import LogSource, Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.user_outcomes import user_outcomes
from tests.trajectory.readers.agent_logs import (
    ATIF,
    CLAUDE_CODE,
    CODEX,
    GEMINI,
    LETTA,
    MINI,
    MINI_BARE,
    OPENCLAW,
    OPENHANDS_EVENTS,
    OPENHANDS_OLDEST,
    OPENHANDS_RUN,
    OPENHANDS_SDK,
    SWE_AGENT,
    claude_line,
    codex_event,
    codex_item,
)
from tests.trajectory.readers.samples import (
    Json,
    episode,
    episodes,
    lines,
    notices,
    only,
    pretty,
    readings,
    refusals,
    sample_log,
)

JUDGED = Outcome(True, source="judge", reason="It looks solved.")


def test_swe_agent(tmp_path: Path) -> None:
    assert episode(tmp_path, pretty(SWE_AGENT), "run.traj") == Trajectory(
        task="Fix the parser.",
        environment="Repository: ada/calc\nWorking directory: ~/calc",
        steps=(
            Step("ls", "parser.py", "Look first."),
            Step("I am lost.", "no command found"),
            Step("submit"),
        ),
        source=LogSource("run.traj", "record 1", "swe-agent"),
        agent="some-model",
        metadata={"id": "ada__calc-7", "exit_status": "submitted"},
    )


def test_swe_agent_attempts_are_trials_of_one_task(tmp_path: Path) -> None:
    attempt = {key: SWE_AGENT[key] for key in ("trajectory", "history", "info")}
    first, second = episodes(readings(tmp_path, pretty({"attempts": [attempt, attempt]}), "i.traj"))
    assert first.task == second.task == "Fix the parser."
    assert [first.metadata["trial"], second.metadata["trial"]] == ["1", "2"]
    assert first.metadata["issue"] == second.metadata["issue"] == "i"


@pytest.mark.parametrize("submitted", [None, 0, 1, 2, True, "1"])
def test_swe_agent_list_of_what_was_resolved_speaks_of_the_submitted_attempt(
    tmp_path: Path, submitted: object
) -> None:
    attempt = {key: SWE_AGENT[key] for key in ("trajectory", "history", "info")}
    run = {"attempts": [attempt, attempt], "info": {"best_attempt_idx": submitted}}
    found = episodes(readings(tmp_path, pretty(run), "i.traj"))
    side_file = tmp_path / "resolved.json"
    for resolved, success in ((["i"], True), (["other"], False)):
        side_file.write_bytes(pretty(resolved))
        outcomes = user_outcomes(str(side_file))
        known = [outcomes.apply(item).outcome.success for item in found]
        assert known == [
            success if type(submitted) is int and number == submitted else None for number in (0, 1)
        ]


def test_swe_agent_task_in_the_template_of_its_prompt(tmp_path: Path) -> None:
    prompt = (
        "We're currently solving the following issue within our repository. Here's the issue "
        "text:\nISSUE:\nThe minus is wrong.\n\nSee `calc`.\n\nINSTRUCTIONS:\nNow, you're going "
        "to solve this issue on your own.\n(Open file: n/a)\nbash-$"
    )
    history = [{"role": "user", "content": prompt}]
    found = episode(tmp_path, pretty({**SWE_AGENT, "history": history, "replay_config": None}))
    assert found.task == "The minus is wrong.\n\nSee `calc`."


def test_the_repository_is_named_by_the_id_of_the_issue(tmp_path: Path) -> None:
    config = {"env": {"repo": {"repo_name": "testbed"}}}
    run = pretty({**SWE_AGENT, "replay_config": config})
    found = episode(tmp_path, run, "ada__calc.js-7.traj")
    assert found.environment == "Repository: ada/calc.js\nWorking directory: ~/calc"
    other = episode(tmp_path, run, "calc-7.traj")
    assert other.environment == "Repository: testbed\nWorking directory: ~/calc"


def test_swe_agent_history_alone(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "x", "thought": "Look.", "action": "ls\n"},
        {"role": "tool", "content": "a.py"},
        {"role": "assistant", "content": "x", "thought": "", "action": "submit"},
    ]
    found = episode(tmp_path, pretty({"history": history}))
    assert found.steps == (Step("ls", "a.py", "Look."), Step("submit"))


@pytest.mark.parametrize("mark", [{"is_demo": True}, {"message_type": "demonstration"}])
def test_swe_agent_demonstrations_are_left_out_and_told(
    tmp_path: Path, mark: dict[str, object]
) -> None:
    shown = {"role": "user", "content": "Another issue.", **mark}
    history = [shown, shown, *SWE_AGENT["history"]]  # type: ignore[misc]
    found, told = readings(tmp_path, pretty({**SWE_AGENT, "history": history}))
    assert isinstance(found, Trajectory)
    assert "Another issue." not in found.task
    (word,) = notices([told])
    assert word.message == "3 messages are left out: part of a demonstration"
    assert word.position == "record 1"


def test_mini_swe_agent(tmp_path: Path) -> None:
    assert episode(tmp_path, pretty(MINI)) == Trajectory(
        task="Solve it.\n```bash\nexample\n```",
        environment="Repository: ada/calc\nWorking directory: /testbed",
        steps=(
            Step("ls -la", "<returncode>0</returncode>\n<output>\na.py\n</output>", "Look first."),
            Step("I forgot the block.", "Give exactly one action."),
            Step("git diff", "+x", "Done."),
        ),
        source=LogSource("log.json", "record 1", "mini-swe-agent"),
        agent="some-model",
        metadata={"id": "ada__calc-7", "exit_status": "Submitted"},
    )


def test_mini_swe_agent_bare_messages(tmp_path: Path) -> None:
    found = episode(tmp_path, pretty(MINI_BARE), "ada__calc-7.traj.json")
    assert (found.task, found.steps) == (
        "Solve it.",
        (Step("ls", "<returncode>0</returncode>", "Look."),),
    )
    assert found.metadata == {"id": "ada__calc-7"}
    assert found.outcome == Outcome()
    other = episode(tmp_path, pretty(MINI_BARE), "ada__calc.js-7.traj.json")
    assert other.metadata == {"id": "ada__calc.js-7"}
    assert other.environment == "Repository: ada/calc.js"


OPENHANDS_STEPS = (
    Step("ls", "a.py", "Look first."),
    Step('read(path="/w/b.py", start=0)', "x = 1"),
    Step('finish(final_thought="Fixed.")', "", "It is the minus."),
)


def test_openhands_evaluation(tmp_path: Path) -> None:
    assert episode(tmp_path, lines(OPENHANDS_RUN)) == Trajectory(
        task="Fix the parser.",
        environment="Repository: ada/calc\nLanguage: c\nWorking directory: /w\nTools: execute_bash",
        steps=OPENHANDS_STEPS,
        source=LogSource("log.json", "line 1", "openhands"),
        agent="some-model",
        metadata={"id": "ada__calc-7"},
    )


@pytest.mark.parametrize("content", [pretty(OPENHANDS_EVENTS), lines(*OPENHANDS_EVENTS)])
def test_openhands_events(tmp_path: Path, content: bytes) -> None:
    found = episode(tmp_path, content)
    assert (found.task, found.steps) == ("Fix the parser.", OPENHANDS_STEPS)
    assert found.outcome == Outcome()


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome()),
        ({"error": "StuckInLoop"}, Outcome(False, None, "stated", "StuckInLoop")),
        ({"test_result": {"report": {"resolved": True}}}, Outcome(True, source="stated")),
        ({"report": {"resolved": False}}, Outcome(False, source="stated")),
        (
            {"resolved": True, "report": {"resolved": False}, "error": "Timeout"},
            Outcome(
                reason="the log contradicts itself: resolved true, report.resolved false",
            ),
        ),
        ({"resolved": True, "report": {"resolved": True}}, Outcome(True, source="stated")),
        ({"test_result": {"git_patch": "x"}}, Outcome()),
        ({"success": True}, Outcome()),
        ({"success": True, "result_explanation": "It looks solved."}, JUDGED),
    ],
)  # fmt: skip
def test_openhands_outcomes(tmp_path: Path, changes: dict[str, object], outcome: Outcome) -> None:
    assert episode(tmp_path, lines({**OPENHANDS_RUN, **changes})).outcome == outcome


def test_openhands_oldest_events(tmp_path: Path) -> None:
    found = episode(tmp_path, lines(OPENHANDS_OLDEST))
    assert found.task == "Fix the parser."
    assert found.environment == "Repository: ada/calc"
    assert found.steps == (Step("ls", "a.py", "Look."),)
    assert found.outcome == JUDGED
    assert found.metadata == {"id": "ada/calc#7"}


def test_openhands_pairs(tmp_path: Path) -> None:
    events: list[object] = OPENHANDS_OLDEST["history"]  # type: ignore[assignment]
    message, action, observation = events
    pairs = {**OPENHANDS_OLDEST, "history": [[message], [action, observation]]}
    assert episode(tmp_path, lines(pairs)).steps == (Step("ls", "a.py", "Look."),)


@pytest.mark.parametrize("content", [pretty(OPENHANDS_SDK), lines(*OPENHANDS_SDK)])
def test_openhands_sdk(tmp_path: Path, content: bytes) -> None:
    found = episode(tmp_path, content)
    assert found.task == "Fix the parser.\n[image]"
    assert found.environment == "Tools: terminal, think"
    assert found.steps == (
        Step("ls", "a.py", "Look first."),
        Step('file_editor(path="a.py")', "error: no command given"),
        Step("Fixed.", "", "It is the minus."),
    )
    assert found.outcome == Outcome()


def test_openhands_sdk_events_that_are_none_are_told(tmp_path: Path) -> None:
    said = {"kind": "MessageEvent", "source": "user", "llm_message": {"content": "Fix it."}}
    done = {"kind": "MessageEvent", "source": "agent", "llm_message": {"content": "Done."}}
    log = [said, {"nonsense": 1}, {"kind": "ActionEvnt", "tool_name": "x"}, {"kind": {}}, done]
    path = tmp_path / "log"
    for content, places in (
        (lines(*log), ["line 2", "line 3", "line 4"]),
        (pretty({"events": log}), [f"record 1, event {n}" for n in (2, 3, 4)]),
    ):
        path.write_bytes(content)
        found = list(read_logs([path], format="openhands-sdk"))
        assert [remark.position for remark in refusals(found)] == places
        assert "an event of unknown kind ActionEvnt" in refusals(found)[1].message
        (read,) = episodes(found)
        assert [step.action for step in read.steps] == ["Done."]


def test_openhands_record_that_is_no_event_is_told_with_its_place(tmp_path: Path) -> None:
    asked = {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it."}}
    ran = {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}}
    (told,) = refusals(readings(tmp_path, lines(asked, {"nonsense": 1}, ran)))
    assert told.position == "line 2"


def test_openhands_sdk_event_by_itself_says_what_it_is(tmp_path: Path) -> None:
    (told,) = refusals(readings(tmp_path, pretty(OPENHANDS_SDK[3])))
    assert "the events of a conversation that lie in files of their own make one list" in str(told)


def test_claude_code(tmp_path: Path) -> None:
    assert episode(tmp_path, lines(*CLAUDE_CODE)) == Trajectory(
        task="Fix the parser.\n\n[image]",
        environment="Working directory: ~/calc",
        steps=(
            Step("ls", "a.py", "Where?\nLook first."),
            Step('Read(file_path="a.py")', "x = 1"),
            Step("Fixed.", "Thanks, and the tests?"),
        ),
        source=LogSource("log.json", "line 3", "claude-code"),
        agent="some-model",
        metadata={"id": "s1"},
    )


def test_claude_code_sidechain_alone_is_the_episode(tmp_path: Path) -> None:
    side = [line for line in CLAUDE_CODE if line.get("isSidechain")]
    found = episode(tmp_path, lines(*side))
    assert (found.task, found.steps) == ("Do a sub-task.", (Step("Sub-task done."),))
    assert found.metadata == {"id": "s1"}
    named = episode(tmp_path, lines(*({**line, "agentId": "a7"} for line in side)))
    assert named.metadata == {"id": "a7"}


def test_claude_code_sessions_in_one_file_stay_apart(tmp_path: Path) -> None:
    other = [{**line, "sessionId": "s2", "uuid": ""} for line in CLAUDE_CODE[5:]]
    mixed = [line for pair in zip(CLAUDE_CODE[5:], other, strict=True) for line in pair]
    first, second = episodes(readings(tmp_path, lines(*mixed)))
    assert [first.metadata["id"], second.metadata["id"]] == ["s1", "s2"]
    assert first.steps == second.steps


def test_claude_code_command_with_arguments_is_the_task_if_nothing_else_is(tmp_path: Path) -> None:
    command = claude_line(
        "user",
        "<command-message>fix…</command-message><command-name>/fix</command-name>"
        "<command-args>the parser, 请</command-args>",
    )
    done = claude_line("assistant", [{"type": "text", "text": "Fixed."}])
    found = episode(tmp_path, lines(command, claude_line("user", "Prompt.", isMeta=True), done))
    assert (found.task, found.steps) == ("/fix the parser, 请", (Step("Fixed."),))
    spoken = episode(tmp_path, lines(command, claude_line("user", "Fix it."), done))
    assert spoken.task == "Fix it."


def test_claude_code_command_that_sets_the_agent_to_work_is_the_task(tmp_path: Path) -> None:
    typed = [
        claude_line("user", f"<command-name>/{name}</command-name>") for name in ("clear", "init")
    ]
    printed = claude_line("user", "<local-command-stdout>Cleared.</local-command-stdout>")
    prompt = claude_line("user", "Look around, and write a guide.", isMeta=True)
    done = claude_line("assistant", [{"type": "text", "text": "Written."}])
    found = episode(tmp_path, lines(typed[0], printed, typed[1], prompt, done))
    assert (found.task, found.steps) == ("/init", (Step("Written."),))


def test_claude_code_without_words_of_the_user_is_refused(tmp_path: Path) -> None:
    done = claude_line("assistant", [{"type": "text", "text": "Done."}])
    (told,) = refusals(readings(tmp_path, lines(*CLAUDE_CODE[2:5], done)))
    assert "no task in it: the user says nothing in their own words" in str(told)


def test_codex(tmp_path: Path) -> None:
    assert episode(tmp_path, lines(*CODEX)) == Trajectory(
        task="Fix the parser.",
        environment="Repository: ada/calc\nOperating system: linux\nWorking directory: ~/calc",
        steps=(
            Step("ls", "no such file\n(exit code 2)", "Look first."),
            Step("update_plan()", "Plan updated"),
            Step("apply_patch\n*** Begin\n+x", "Success"),
            Step("Fixed."),
        ),
        source=LogSource("log.json", "line 1", "codex"),
        agent="some-model",
        metadata={"id": "s1"},
    )


def test_codex_without_user_events_takes_the_first_words_of_the_user(tmp_path: Path) -> None:
    kept = [line for line in CODEX if line["type"] != "event_msg"]
    assert episode(tmp_path, lines(*kept)).task == "Fix the parser."


def test_codex_request_behind_what_the_editor_shows(tmp_path: Path) -> None:
    text = "# Context from my IDE setup:\n## Open tabs: a.py\n## My request for Codex:\nFix it.\n"
    asked = codex_event(type="user_message", message=text)
    found = episode(tmp_path, lines(asked, codex_event(type="agent_message", message="Ok.")))
    assert (found.task, found.steps) == ("Fix it.", (Step("Ok."),))


def test_codex_words_that_only_an_event_has(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": [{"type": "output_text", "text": "Look\nfirst."}]}
    found = episode(
        tmp_path,
        lines(
            codex_event(type="user_message", message="Fix it."),
            codex_event(type="agent_message", message="Look first."),
            codex_item(type="message", **said),
            codex_item(type="function_call", name="ls", arguments="{}", call_id="1"),
            codex_item(type="function_call_output", output="a.py", call_id="1"),
            codex_event(type="agent_message", message="Fixed."),
            codex_event(type="task_complete", last_agent_message="Fixed."),
        ),
    )
    assert found.steps == (Step("ls()", "a.py", "Look\nfirst."), Step("Fixed."))


@pytest.mark.parametrize(
    ("said", "system"),
    [
        ("<os>" + " " * 200_000, ""),
        ("<os>" * 100_000, ""),
        ("<os>" + " " * 200_000 + "linux" + " " * 200_000 + "</os>", "linux"),
        ("<os> </os><platform>linux</platform>", "linux"),
    ],
    ids=["blanks", "never-closed", "blanks-around-it", "the-first-that-says-one"],
)
def test_codex_system_among_any_number_of_blanks(tmp_path: Path, said: str, system: str) -> None:
    item = codex_item(type="message", role="user", content=[{"type": "input_text", "text": said}])
    header, *rest = (line for line in CODEX if "operating_system" not in str(line))
    found = episode(tmp_path, lines(header, item, *rest))
    assert ("Operating system: linux" in found.environment) == bool(system)
    assert found.task == "Fix the parser."


def test_codex_local_shell_and_search(tmp_path: Path) -> None:
    log = [
        codex_event(type="user_message", message="Fix it."),
        codex_item(
            type="local_shell_call", call_id="c1", action={"command": ["git", "log", "a b"]}
        ),
        codex_item(type="function_call_output", call_id="c1", output="one"),
        codex_item(type="web_search_call", action={"query": "minus"}),
    ]
    steps = episode(tmp_path, lines(*log)).steps
    assert steps == (Step("git log 'a b'", "one"), Step('web_search(query="minus")'))


def test_openclaw(tmp_path: Path) -> None:
    found = readings(tmp_path, b"garbage " + lines(*OPENCLAW, OPENCLAW[2]))
    assert "8 bytes that are not JSON objects" in str(refusals(found)[0])
    assert episodes(found) == [
        Trajectory(
            task="Fix the parser.",
            environment="Working directory: ~/calc",
            steps=(
                Step("ls", "a.py\n[image]", "Look first."),
                Step('read(path="a.py")', "x = 1"),
                Step("Fixed."),
            ),
            source=LogSource("log.json", "line 1", "openclaw"),
            agent="some-model",
            metadata={"id": "s1"},
        )
    ]


@pytest.mark.parametrize("repeated", [False, True])
def test_gemini_cli(tmp_path: Path, *, repeated: bool) -> None:
    messages: list[Json] = GEMINI["messages"]  # type: ignore[assignment]
    growing: Json = {**messages[2], "toolCalls": []}
    rows = [messages[0], messages[1], growing, *messages[2:]]
    facts = {"sessionId": "s1", "projectHash": "0"}
    content = lines(facts, *rows) if repeated else pretty(GEMINI)
    found = episode(tmp_path, content)
    assert found.task == "Fix the parser."
    assert found.steps == (
        Step("ls", "a.py", "Search: Look first.\nLooking."),
        Step('read_file(path="b.py")', "(error)"),
        Step("Fixed."),
    )
    assert (found.agent, found.metadata) == ("some-model", {"id": "s1"})


def test_atif(tmp_path: Path) -> None:
    assert episode(tmp_path, pretty(ATIF)) == Trajectory(
        task="Fix the parser.",
        environment="Tools: bash",
        steps=(
            Step("ls", "a.py", "Look first.\nI look at both."),
            Step('read(path="a.py")', "x = 1"),
            Step("Fixed."),
        ),
        source=LogSource("log.json", "record 1", "atif"),
        agent="some-model",
        metadata={"id": "s1", "agent": "some-agent"},
    )


def test_atif_keystrokes_in_the_message(tmp_path: Path) -> None:
    message = (
        '{"analysis": "Ready.", "plan": "Look.", "commands": '
        '[{"keystrokes": "cd w\\n"}, {"keystrokes": "ls\\n"}]}'
    )
    steps = [
        {"source": "user", "message": "Fix it.", "is_copied_context": True},
        {"source": "agent", "message": message, "observation": {"results": [{"content": "a.py"}]}},
        {"source": "agent", "message": '{"commands": [], "task_complete": true}'},
    ]
    found = episode(tmp_path, pretty({**ATIF, "steps": steps}))
    assert found.task == "Fix it."
    assert found.steps == (
        Step("cd w", "", "Ready.\nLook."),
        Step("ls", "a.py"),
        Step("task_complete"),
    )


def test_letta(tmp_path: Path) -> None:
    aid, new = readings(tmp_path, pretty(LETTA))
    assert aid == Trajectory(
        task="Fix it.",
        environment="Tools: send_message",
        steps=(Step('send_message(message="Ok")', '{"status": "OK"}'),),
        source=LogSource("log.json", "record 1, agent Aid", "letta"),
        agent="some-model",
        metadata={"name": "Aid"},
    )
    assert "agent New: an agent's state without an episode in it" in str(new)


def test_a_session_of_claude_code_on_the_web(tmp_path: Path) -> None:
    found = only(readings(tmp_path, sample_log("claude_code_web.json")))
    assert (found.task, found.steps) == ("Fix it.", (Step("ls", "x = 1"),))
    assert (found.source.format, found.source.position) == ("claude-code", "record 1, line 1")


@pytest.mark.parametrize("is_text", [False, True])
def test_atif_in_a_wrapper(tmp_path: Path, is_text: bool) -> None:
    document = orjson.loads(sample_log("atif.json"))
    bare = only(readings(tmp_path, orjson.dumps(document)))
    inner = orjson.dumps(document).decode() if is_text else document
    found = only(readings(tmp_path, orjson.dumps({"id": 1, "trajectory": inner, "reward": 0.0})))
    assert (found.id, found.source.format) == (bare.id, "atif")
    assert found.outcome == Outcome(False, 0.0, "stated")
    two = readings(tmp_path, orjson.dumps({"runs": [document, document], "reward": 1}))
    assert [(each.source.position, each.outcome.source) for each in two] == [  # type: ignore[union-attr]
        ("line 1, runs 1", "unknown"), ("line 1, runs 2", "unknown")
    ]  # fmt: skip
