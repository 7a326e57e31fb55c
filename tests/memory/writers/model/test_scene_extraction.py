"""A scene is drawn out of an instruction in the instruction's own words, or not at all."""

from __future__ import annotations

import re

import pytest

from deltamem_tui.memory.prompts import library as prompts
from deltamem_tui.memory.prompts.use import SCENE
from deltamem_tui.memory.writers.extraction import Extraction, FailedCallError
from deltamem_tui.memory.writers.model import ModelExtractor
from deltamem_tui.trajectory.domains import GENERIC
from deltamem_tui.trajectory.model import Step, Trajectory
from tests.llm.server import ModelServer
from tests.llm.support import MODEL, client
from tests.memory.writers.model.support import said as told

TEXT = (
    "You work in the repository `delta`, written in Python.\nMake the tests pass!\n"
    "The tools are bash and an editor (vi)."
)


def said(text: str) -> str:
    return told({"environment": text})


def sent(server: ModelServer) -> str:
    return server.requests[-1].prompt


def episode(task: str = TEXT, domain: str = "") -> Trajectory:
    return Trajectory(task, steps=(Step("ls", "delta"),), domain=domain)


def draw(model: ModelExtractor, episode: Trajectory) -> Extraction:
    return model.write(SCENE, episode, ())


def scene(drawing: Extraction) -> str:
    assert drawing.payload is not None
    return drawing.payload[SCENE]


def drawn(server: ModelServer, *answers: str, task: str = TEXT) -> Extraction:
    server.answer(*map(said, answers))
    return draw(ModelExtractor(client(server)), episode(task))


def test_the_scenes_own_words_are_drawn_out(server: ModelServer) -> None:
    found = drawn(server, "You work in the repository `delta`, written in python.\n\nThe tools are")
    # As the instruction spells it, whatever the model made of it.
    assert scene(found) == "You work in the repository `delta`, written in Python.\nThe tools are"
    assert found.prompt == prompts.digest(prompts.find(GENERIC, "environment"))
    assert (found.model, found.attempts, found.usage.calls, found.cut) == (MODEL, 1, 1, "")
    assert TEXT in server.requests[0].prompt


@pytest.mark.parametrize(
    ("copied", "kept"),
    [
        ("an editor (vi", "an editor (vi)."),
        ("- THE TOOLS are bash…", "The tools are bash"),
        ("Python. Make the\ttests pass", "Python. Make the tests pass!"),
    ],
)
def test_the_text_says_how_a_passage_is_spelt(server: ModelServer, copied: str, kept: str) -> None:
    assert scene(drawn(server, copied)) == kept


@pytest.mark.parametrize("none", ["none", "None."])
def test_there_may_be_none(server: ModelServer, none: str) -> None:
    assert scene(drawn(server, none, task="Make the tests pass!")) == ""


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("A dark cave.", r"not in the text word for word: 'A dark cave\.'"),
        ("the tool", "not in the text word for word"),  # not a whole word of it
        ("The editor and bash", "not in the text word for word"),
        (TEXT, "the whole text: leave out what the agent shall do"),
        ("\n".join(reversed(TEXT.splitlines())), "the whole text"),
    ],
)
def test_other_words_are_refused_with_a_reason_and_paid_all_the_same(
    server: ModelServer, answer: str, reason: str
) -> None:
    with pytest.raises(FailedCallError, match=reason) as caught:
        drawn(server, answer)
    call = caught.value.call
    assert (call.purpose, call.tree, call.attempts, call.usage.calls) == ("draw", "env", 3, 3)
    assert caught.value.source == episode().id
    second = server.requests[1].body["messages"][-1]["content"]
    assert "cannot be used" in second


def test_a_long_instruction_is_cut_in_its_middle(server: ModelServer) -> None:
    server.answer(said("The tools are bash and an editor"))
    task = f"{TEXT}\n{'Do it well. ' * 20_000}\n{TEXT}"
    asking = client(server, window=6_000)
    found = draw(ModelExtractor(asking), episode(task))
    assert scene(found) == "The tools are bash and an editor"
    assert found.cut == "the instruction's middle left out"
    assert asking.count(server.requests[0].prompt) < 4_500
    assert "characters left out" in server.requests[0].prompt


@pytest.mark.parametrize("answer", ["characters left out", "left", "out …] it well"])
def test_our_own_mark_is_no_part_of_the_instruction(server: ModelServer, answer: str) -> None:
    task = f"You are in the hall. {'Do it well. ' * 20_000} Find the key."
    asking = client(server, window=6_000)
    server.answer(said("You are in the hall."))
    draw(ModelExtractor(asking), episode(task))
    mark = re.search(r"well\. Do it [^[]*\[… [\d,]+ characters left out …\]\W*\w+", sent(server))
    assert mark
    server.answer(said(mark[0]), said(answer), said("You are in the hall."))
    found = draw(ModelExtractor(asking), episode(task))
    assert (scene(found), found.attempts) == ("You are in the hall.", 3)
