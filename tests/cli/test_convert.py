"""Any log becomes ATIF, without a bank."""

from __future__ import annotations

import json

from tests.cli.support import Program


def test_logs_become_documents(program: Program) -> None:
    said = [{"role": "user", "content": "Use key sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx and go"}]
    said += [{"role": "assistant", "content": "gone"}]
    (program.folder / "chat.json").write_text(json.dumps({"messages": said}))
    answer = program.json("convert", "chat.json", "-o", "out.jsonl")
    assert answer.data == {"file": "out.jsonl", "episodes": 1, "rejected": 0, "left_out": 0}
    (line,) = (program.folder / "out.jsonl").read_text().splitlines()
    document = json.loads(line)
    assert document["schema_version"] == "ATIF-v1.7"
    assert "AbCdEf" not in line
    assert "already" in program("convert", "chat.json", "-o", "out.jsonl").error
    (program.folder / "chat.json").write_text(json.dumps({"messages": said[:1]}))
    assert program("convert", "chat.json", "-o", "out.jsonl", "--replace").code == 1


def test_outcomes_are_stated_or_given(program: Program) -> None:
    records: list[dict[str, object]] = [
        {"id": name, "messages": [{"role": "user", "content": f"Go to {name}."}, *said]}
        for said in ([{"role": "assistant", "content": "gone"}],)
        for name in "abc"
    ]
    records[1]["resolved"] = False
    (program.folder / "chats.jsonl").write_text("\n".join(map(json.dumps, records)))
    convert = ("convert", "chats.jsonl", "-o", "out.jsonl", "--replace", "--outcome")
    for given, ended in (("success", [True, False, True]), ("resolved.txt", [True, False, False])):
        (program.folder / "resolved.txt").write_text("a\nb\n")
        assert program(*convert, given).code == 0
        lines = (program.folder / "out.jsonl").read_text().splitlines()
        assert [json.loads(line)["extra"]["success"] for line in lines] == ended
    (program.folder / "resolved.txt").write_text("x\n")
    told = program(*convert, "resolved.txt")
    assert (told.code, "none of its 1 id names an episode" in told.error) == (1, True)


def test_a_bank_gives_its_episodes(program: Program) -> None:
    answer = program.json("export", "kitchen", "--as", "atif", "-o", "kitchen.atif.jsonl")
    assert isinstance(answer.data, dict)
    assert answer.data["episodes"] == 4
    lines = (program.folder / "kitchen.atif.jsonl").read_text().splitlines()
    assert [json.loads(line)["schema_version"] for line in lines] == ["ATIF-v1.7"] * 4
    again = program.json("convert", "kitchen.atif.jsonl", "-o", "again.jsonl")
    assert isinstance(again.data, dict)
    assert again.data["episodes"] == 4
