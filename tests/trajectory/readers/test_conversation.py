from __future__ import annotations

import pytest

from deltamem_tui.errors import RecordError
from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.readers.conversation import Conversation
from tests.trajectory.readers.samples import only, plain


def asked(text: str = "Fix it.") -> Conversation:
    conversation = Conversation()
    conversation.user(text)
    return conversation


def steps_of(conversation: Conversation) -> tuple[Step, ...]:
    return only([plain(conversation.episode())]).steps


def test_what_is_said_before_a_call_is_its_thought() -> None:
    conversation = asked()
    conversation.think("Where?")
    conversation.say("I look.")
    conversation.act("ls")
    conversation.answer("a.py\n")
    conversation.say("Fixed.")
    assert steps_of(conversation) == (Step("ls", "a.py", "Where?\nI look."), Step("Fixed."))


def test_calls_made_at_once_become_steps_in_order() -> None:
    conversation = asked()
    conversation.say("Both.")
    conversation.act("ls", "a")
    conversation.act("pwd", "b")
    conversation.answer("/w", "b")
    conversation.answer("a.py", "a")
    assert steps_of(conversation) == (Step("ls", "a.py", "Both."), Step("pwd", "/w"))


def test_answers_without_ids_go_to_the_oldest_call() -> None:
    conversation = asked()
    conversation.act("ls")
    conversation.act("pwd")
    conversation.answer("a.py")
    conversation.answer("/w")
    conversation.answer("more")
    assert steps_of(conversation) == (Step("ls", "a.py"), Step("pwd", "/w\n\nmore"))


def test_an_answer_to_a_call_that_is_not_there_came_back_for_the_last_step() -> None:
    conversation = asked()
    conversation.act("ls", "a")
    conversation.act("pwd", "b")
    conversation.answer("odd", "x")
    assert conversation.awaits("b")
    conversation.answer("a.py", "a")
    conversation.answer("/w", "b")
    assert steps_of(conversation) == (Step("ls", "a.py"), Step("pwd", "odd\n\n/w"))
    assert not list(conversation.left_out())


@pytest.mark.parametrize("call_id", ["", "x"])
def test_an_answer_before_any_step_is_told(call_id: str) -> None:
    conversation = asked()
    conversation.answer(" ", call_id)
    assert not list(conversation.left_out())
    conversation.answer("early", call_id)
    (one,) = conversation.left_out()
    assert str(one).startswith("1 tool result is left out")
    conversation.answer("early too", call_id)
    conversation.act("ls", "x")
    (both,) = conversation.left_out()
    assert str(both).startswith("2 tool results are left out")
    assert steps_of(conversation) == (Step("ls"),)


@pytest.mark.parametrize(
    ("text", "observation"),
    [
        ("no such file", "error: no such file"),
        ("Error: no such file", "Error: no such file"),
        ("<tool_use_error>no\nsuch file", "<tool_use_error>no\nsuch file"),
        ("\nno such file\nan error", "error: no such file\nan error"),
        (" ", "error"),
        ("", "error"),
    ],
)
def test_an_answer_that_is_marked_as_an_error_says_so_in_its_first_line(
    text: str, observation: str
) -> None:
    conversation = asked()
    conversation.act("cat a", "a")
    conversation.answer(text, "a", failed=True)
    assert steps_of(conversation) == (Step("cat a", observation),)


def test_an_answer_to_what_was_said() -> None:
    conversation = asked()
    conversation.act("ls", "unanswered")
    conversation.say("go north")
    conversation.answer("a wall")
    assert steps_of(conversation)[1] == Step("go north", "a wall")


def test_the_users_next_words_answer_the_agent() -> None:
    conversation = asked()
    conversation.say("Done?")
    conversation.user("No.")
    conversation.act("ls")
    conversation.user("Stop.")
    assert steps_of(conversation) == (Step("Done?", "No."), Step("ls", "Stop."))


def test_the_task_is_all_that_is_said_before_the_agent_acts_and_what_was_done_before_is_not() -> (
    None
):
    conversation = Conversation()
    conversation.say("Hello!")
    conversation.act("warm up")
    conversation.user("Fix it.")
    conversation.user("Fix it.")
    conversation.user("Soon.")
    conversation.act("ls")
    found = conversation.episode()
    assert (found.task, found.steps) == ("Fix it.\n\nSoon.", (Step("ls"),))


@pytest.mark.parametrize("first", ["act", "say", "think"])
def test_an_offered_task_is_taken_when_the_agent_goes_to_work(first: str) -> None:
    conversation = Conversation()
    conversation.offer_task("/clear")
    conversation.offer_task("/fix it")
    getattr(conversation, first)("go")
    conversation.act("ls")
    conversation.user("Thanks.")
    found = conversation.episode()
    assert found.task == "/fix it"
    assert (found.steps[-1].action, found.steps[-1].observation) == ("ls", "Thanks.")


def test_an_offered_task_yields_to_the_users_words() -> None:
    conversation = Conversation()
    conversation.offer_task("/fix it")
    conversation.user("Fix it.")
    conversation.act("ls")
    assert conversation.episode().task == "Fix it."


def test_everything_else_the_log_knows() -> None:
    conversation = asked()
    conversation.instruct(" Be brief. ")
    conversation.instruct("Reminder.")
    conversation.act("ls")
    assert conversation.system == "Be brief."
    assert conversation.episode(
        task=" Named. ",
        environment=" here ",
        outcome=Outcome(True, source="stated"),
        agent="m",
        metadata={"id": "1", "none": ""},
    ) == Trajectory(
        "Named.",
        "here",
        (Step("ls"),),
        Outcome(True, source="stated"),
        agent="m",
        metadata={"id": "1"},
    )


def test_what_is_no_episode() -> None:
    with pytest.raises(RecordError, match="the agent did nothing"):
        asked().episode()
    silent = Conversation()
    silent.act("ls")
    with pytest.raises(RecordError, match="no task in it"):
        silent.episode()


def test_an_agent_that_did_something_is_not_said_to_have_done_nothing() -> None:
    thinking = asked()
    thinking.think("Look first.")
    with pytest.raises(RecordError, match="the agent did nothing for its task"):
        thinking.episode()
    early = Conversation()
    early.act("ls")
    early.user("Do it.")
    with pytest.raises(RecordError, match="the agent did nothing for its task"):
        early.episode()


def test_what_came_before_the_users_task_is_told_by_what_it_was() -> None:
    conversation = Conversation()
    conversation.act("ls", "a")
    conversation.answer("a.py", "a")
    conversation.act("pwd")
    conversation.user("Do it.")
    assert not conversation.has_calls
    conversation.act("cat a.py", "b")
    (told,) = conversation.left_out()
    assert str(told) == "2 calls are left out: made before the user's task"
    assert steps_of(conversation) == (Step("cat a.py"),)
