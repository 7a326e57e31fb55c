from __future__ import annotations

import json

import pytest

from deltamem_tui.errors import AnswerError
from deltamem_tui.memory.model.environment import environment_part
from deltamem_tui.memory.prompts import library as prompts
from tests.llm.server import ModelServer
from tests.llm.support import client

TEXT = (
    "You work in the repository `delta`, written in Python.\nMake the tests pass!\n"
    "The tools are bash and an editor."
)


def said(text: str) -> str:
    return json.dumps({"environment": text})


def test_the_scenes_own_words_are_drawn_out(server: ModelServer) -> None:
    server.answer(
        said("You work in the repository `delta`, written in python.\n\nThe tools are bash")
    )
    part = environment_part(client(server), TEXT)
    assert part.text == (
        "You work in the repository `delta`, written in python.\nThe tools are bash"
    )
    assert part.prompt == prompts.digest(prompts.find("generic", "environment"))
    assert part.usage.calls == 1
    assert TEXT in server.requests[0].prompt


@pytest.mark.parametrize("none", ["none", "None."])
def test_there_may_be_none(server: ModelServer, none: str) -> None:
    server.answer(said(none))
    assert environment_part(client(server), "Make the tests pass!").text == ""


def test_words_that_are_not_there_are_refused(server: ModelServer) -> None:
    server.answer(said("A dark cave."))
    with pytest.raises(AnswerError, match=r"not in the text word for word: 'A dark cave\.'"):
        environment_part(client(server), TEXT)


def test_a_long_instruction_is_cut_in_its_middle(server: ModelServer) -> None:
    server.answer(said("The tools are bash and an editor."))
    text = f"{TEXT}\n{'Do it well. ' * 20_000}\n{TEXT}"
    part = environment_part(client(server, window=6_000), text)
    assert part.text == "The tools are bash and an editor."
    assert client(server).count(server.requests[0].prompt) < 4_500
    assert "characters left out" in server.requests[0].prompt
