"""What is found in one episode of real work, and what of it is kept."""

from __future__ import annotations

import pytest

from deltamem_tui import Outcome, Step, Trajectory
from deltamem_tui.memory.work.facts import facts_of
from deltamem_tui.memory.work.paths import Folder, paths_in
from deltamem_tui.memory.work.texts import adapted, as_text, from_text, renaming, shown
from tests.memory.work.support import episode


def test_prose_and_the_users_words_are_no_tools() -> None:
    said = episode(
        "Sum the numbers in numbers.txt",
        [
            ("cat numbers.txt", "1\n2\n3"),
            ("The sum is 6.", "Now double it please"),
            ("Now it is 12.", ""),
        ],
    )
    facts = facts_of(said)
    assert {fact.value for fact in facts if fact.kind in ("run", "tool")} <= {"cat"}
    assert ("read", "numbers.txt") in facts


def test_no_person_is_remembered() -> None:
    asked = episode(
        "Cancel the order of mohamed_hernandez_5188",
        [
            ('find_user(email="mo.her@example.com")', "mohamed_hernandez_5188"),
            ('cancel(user_id="mohamed_hernandez_5188", card="4929 3921 0028 1172")', "cancelled"),
            ("curl -u mo.her@example.com https://shop.example.com", "ok"),
            ("Edit()", "The file /home/mohamed/shop/cart.py has been updated."),
        ],
    )
    text = as_text(facts_of(asked))
    assert "cancel(user_id, card)" in text
    assert not any(word in text for word in ("mohamed", "5188", "mo.her", "4929"))
    assert "Edited: shop/cart.py" in text


def test_of_a_conversation_what_was_asked_is_kept_and_not_each_answer() -> None:
    also = "I was born on 1990-05-12, and I also want to know if my second bag is free"
    said = [("Do you want me to go on? " * 5, words) for words in ("Yes, please go on now", also)]
    (asked,) = (fact.value for fact in facts_of(episode("Cancel it", said)) if fact.kind == "ask")
    assert asked == also.replace("1990-05-12", "<date>")


def test_facts_are_read_back_as_they_were_written() -> None:
    worked = episode(
        "Add a flag",
        [
            ("Read(./pkg/cli/main.go)", "1→package main"),
            ("Edit()", "The file /home/u/app/pkg/cli/main.go has been updated."),
            ("go test ./... 2>&1 | tail -1", "ok"),
            ("SELECT name FROM users JOIN teams ON teams.id = users.team", "[]"),
        ],
    )
    facts = facts_of(worked)
    assert from_text(as_text(facts)) == facts
    assert ("edit", "pkg/cli/main.go") in facts
    assert ("check", "go test ./...") in facts
    assert ("did", "go test ./... 2>&1 | tail -1") in facts
    assert {("table", "users"), ("table", "teams"), ("clause", "JOIN")} <= set(facts)


def test_typed_fields_come_before_the_shape_of_a_text() -> None:
    typed = Step(
        "x", "boom", tool="Bash", arguments={"command": "make lint"}, kind="call", status="error"
    )
    talk = Step("make it so", "", kind="message")
    facts = facts_of(Trajectory("t", "", (typed, talk), Outcome(True, source="stated")))
    assert ("check", "make lint") in facts
    assert not any("it so" in fact.value for fact in facts)


def test_every_command_of_a_deploy_is_kept() -> None:
    steps = [
        ("make deploy ENV=staging", "error: migrations are not applied"),
        ("make migrate ENV=staging", "3 migrations applied"),
        ("make deploy ENV=staging", "200 on /health"),
        ("kubectl -n shop set image deploy/shop shop=shop:2.4", "image updated"),
        ("kubectl -n shop rollout status deploy/shop", "successfully rolled out"),
    ]
    facts = facts_of(episode("Deploy release 2.4", steps))
    did = [fact.value for fact in facts if fact.kind == "did"]
    assert [each.partition(" → ")[0] for each in did] == [action for action, _ in steps]
    (fix,) = [fact.value for fact in facts if fact.kind == "fix"]
    assert fix.endswith("⇒ make migrate ENV=staging")


def test_the_folder_of_an_episode_does_not_depend_on_the_run() -> None:
    steps = [(f"cat /srv/{root}/app/a.py", "1") for root in "qwertyuiop"] + [("cat app/a.py", "1")]
    folder = Folder(episode("Look", steps))
    assert folder.roots == [f"/srv/{root}" for root in "qwertyui"]


def test_another_command_of_the_same_program_mends_nothing() -> None:
    steps = [
        ("cargo build", "error: linker `cc` not found"),
        ("cargo test --workspace --quiet", "test result: ok"),
    ]
    facts = facts_of(episode("Build it", steps))
    assert [fact.kind for fact in facts if fact.kind in ("fix", "error")] == ["error"]


def test_another_target_mends_nothing_and_what_git_committed_did_not_fail() -> None:
    steps = [
        ("./gradlew testDebugUnitTest --daemon", "error: tests failed"),
        ("./gradlew installDebug --daemon", "BUILD SUCCESSFUL"),
        ("git commit -m `x`", "bash: x: command not found\n[main 8e7c3ed] Say it"),
    ]
    facts = facts_of(episode("Build it", steps))
    assert [fact.kind for fact in facts if fact.kind in ("fix", "error")] == ["error"]


@pytest.mark.parametrize(
    ("line", "checks"),
    [
        ("dotnet build-server shutdown; check; test -f x; check /c/Dev", []),
        *((each, [each]) for each in ("./gradlew :app:testDebugUnitTest", "gradlew.bat test")),
        *((each, [each]) for each in ("mvn verify", "dotnet test", "dotnet build", "swift test")),
        *((each, [each]) for each in ("xcodebuild test", "mix test", "bundle exec rspec")),
        *((each, [each]) for each in ("php artisan test", "composer test", "bazel test", "ctest")),
        *((each, [each]) for each in ("vendor/bin/phpunit", "python manage.py test")),
    ],
)
def test_a_check_needs_a_program(line: str, checks: list[str]) -> None:
    facts = facts_of(episode("Mend it", [(line, "ok")]))
    assert [fact.value for fact in facts if fact.kind == "check"] == checks


@pytest.mark.parametrize(
    "words",
    [
        "please use httpx instead of requests",
        "I said the config goes in settings.toml, not in .env",
        "that's wrong: the timezone must be Europe/Paris",
        "Why did you edit the generated file? Edit schema.graphql and run make gen",
        "stop - we never push to main",
    ],
)
def test_a_user_corrects_in_many_words(words: str) -> None:
    steps = (Step("ls", "gen", kind="call"), Step("Done.", words, kind="message", speaker="user"))
    facts = facts_of(Trajectory("Mend it", "", steps, Outcome(success=True, source="user")))
    assert [fact.value for fact in facts if fact.kind == "corrected"] == [words]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("Done.", "Why do you think that the server sends it twice?"),
        ("I can share the height, or use a spring. Which one?", "Stop sharing it and use a spring"),
    ],
)
def test_a_question_and_an_answer_correct_nothing(asked: str, words: str) -> None:
    steps = (Step("ls", "gen", kind="call"), Step(asked, words, kind="message", speaker="user"))
    facts = facts_of(Trajectory("Mend it", "", steps, Outcome(success=True, source="user")))
    assert [fact.value for fact in facts if fact.kind in ("ask", "corrected")] == [words]
    assert not [fact for fact in facts if fact.kind == "corrected"]


def test_what_mended_is_what_stood_before_the_check_that_passed() -> None:
    steps = [
        ("pytest -q", "E       assert 2 == 3\n1 failed"),
        ('edit_file(path="a.py", new_text="round(share)")', "ok"),
        ("pytest -q", "E       assert 2 == 4\n1 failed"),
        ('edit_file(path="a.py", new_text="quantize(share)")', "ok"),
        ("pytest -q", "3 passed"),
        ("psql -h localhost -p 5433 -c check", "could not connect: Connection refused"),
        ("ssh -f -N -L 5433:db:5432 bastion", "forwarding"),
        ("psql -h localhost -p 5433 -c check -U shop", "ok"),
    ]
    fixes = [fact.value for fact in facts_of(episode("Mend it", steps)) if fact.kind == "fix"]
    mends = [fix.partition(" ⇒ ")[2] for fix in fixes]
    assert mends[:2] == ["edit a.py: `quantize(share)`"] * 2
    assert mends[2].startswith("ssh -f -N -L 5433")


def test_files_are_told_below_the_folder_and_commands_without_their_shell() -> None:
    missing = {"command": "python -m pytest"}
    steps = (
        Step("r", "1", tool="Read", arguments={"file_path": "/home/me/shop/shop/refund.py"}),
        Step("x", "ok", tool="shell", arguments={"command": ["bash", "-lc", "pytest -q"]}),
        Step("y", "No module named pytest", tool="shell", arguments=missing, status="error"),
    )
    known = Trajectory("Look", "Working directory: ~/shop", steps, Outcome(True))
    facts = facts_of(known)
    assert ("read", "shop/refund.py") in facts
    assert [fact.value for fact in facts if fact.kind == "check"] == ["pytest -q"]


def test_a_dotted_name_of_code_is_no_file() -> None:
    code = "System.IO e.g i.e tips.length e.target.value Mono.Cecil Plugin.Log console.log"
    files = "Makefile go.mod a.test.tsx README.MD page.gohtml Plugin.cs .github/x.yml b/c.odd"
    assert paths_in(f"{code} {files}") == files.split()
    assert from_text("Edited: System.IO, a.cs") == [("edit", "a.cs")]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("def test_it():\nE       assert 404 == 201\n1 failed in 0.52s", "assert 404 == 201"),
        (
            "error: F.     [100%]\n=== FAILURES ===\nE     KeyError: 'an unknown rate'\n1 failed",
            "KeyError: 'an unknown rate'",
        ),
        ("error: .F   [100%]\nFAILED a_test.py::test_b - KeyError: 'x'", "test_b - KeyError: 'x'"),
        ("error: Exit code 1\nTraceback:\nKeyError: 'rate'", "KeyError: 'rate'"),
    ],
)
def test_a_failed_test_is_known_by_what_it_says(answer: str, told: str) -> None:
    facts = facts_of(episode("Fix it", [("pytest -q", answer)]))
    (error,) = [fact.value for fact in facts if fact.kind == "error"]
    assert error.endswith(told)


def test_a_check_that_passed_in_another_form_did_not_stay_wrong() -> None:
    looked = [(f"cat shop/part{n}.py", "...") for n in range(9)]
    steps = [
        ("pytest tests/test_tax.py", "E       assert 2 == 3\n1 failed"),
        *looked,
        ("sed -i s/2/3/ shop/tax.py", ""),
        ("python -m pytest -q", "9 passed"),
    ]
    for success in (True, False):
        kinds = [fact.kind for fact in facts_of(episode("Mend it", steps, success))]
        assert ("error" in kinds) is not success


def test_an_edit_says_what_it_brought_and_a_commit_not_what_it_was_called() -> None:
    steps = [
        ("go test ./...", "--- FAIL: TestQuota\nquota_test.go:9: expected 5, got 7"),
        ('edit_file(path="quota/limit.go", old_text="limit = 7", new_text="limit = 5")', "ok"),
        ("go test ./...", "ok"),
        ('edit_file(path="data/people.csv", new_text="Jane Miller,4711")', "ok"),
        ('git commit -am "Raise the quota to five" && git push', "pushed"),
    ]
    values = [fact.value for fact in facts_of(episode("Mend it", steps))]
    assert "edit quota/limit.go: `limit = 5`" in values
    assert "git commit && git push" in values
    assert not [value for value in values if "4711" in value]
    assert any(value.endswith("⇒ edit quota/limit.go: `limit = 5`") for value in values)


def test_nothing_worked_in_an_episode_that_failed() -> None:
    steps = [("make deploy", "error: no migrations"), ("make deploy FORCE=1", "500 on /health")]
    facts = facts_of(episode("Deploy it", steps, success=False))
    assert [fact.kind for fact in facts if fact.kind in ("fix", "error")] == ["error"]


def test_what_was_written_into_a_file_is_shown_as_it_was() -> None:
    names = renaming("it ignores APP_CONFIG of 4.1, why?", "it ignores APP_LOG of 4.2, why?")
    assert adapted("rg -n APP_CONFIG", names) == "rg -n APP_LOG"
    for step in ("sed -i 's/APP_CONF/APP_CONFIG/' config.go", "pip install tool==4.1.3"):
        assert adapted(step, names) == step


def test_names_of_a_list_are_renamed_one_by_one() -> None:
    names = renaming(
        "Compare the two volumes (B, D), then mount the smaller one",
        "Compare the two volumes (G, H), then mount the smaller one",
    )
    assert adapted("resize volume d", names) == "resize volume H"
    assert adapted("attach a disk to volume b", names) == "attach a disk to volume G"
    names = renaming("Back up the table orders now", "Back up the table orders archive now")
    assert adapted("dump /db/orders", names) == "dump /db/orders archive"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("curl -H 'X-Api-Key: [redacted: key]' host", "curl -H 'X-Api-Key: [redacted: key]' host"),
        ("curl -H 'X-Api-Key: k3v9' host", "curl -H 'X-Api-Key: <secret>' host"),
        ('{"token": "k3v9", "user": "ada"}', '{"token": "<secret>", "user": "ada"}'),
        ("login(password='k3v9')", "login(password='<secret>')"),
        ("PASSWORD=k3v9 make", "PASSWORD=<secret> make"),
    ],
)
def test_a_secret_is_masked_and_what_is_around_it_stays(said: str, told: str) -> None:
    assert shown(said) == told


@pytest.mark.parametrize("shell", [["apply_patch"], ["bash", "-lc"]])
def test_a_patch_through_a_shell_edits_its_files(shell: list[str]) -> None:
    patch = "*** Begin Patch\n*** Update File: src/loader.ts\n@@\n-a\n+b\n*** End Patch"
    last = patch if shell == ["apply_patch"] else f"apply_patch <<'EOF'\n{patch}\nEOF"
    step = Step(
        "shell", "Success", kind="call", tool="shell", arguments={"command": [*shell, last]}
    )
    found = facts_of(Trajectory("Mend the loader", "", (step,), Outcome(True)))
    assert ("edit", "src/loader.ts") in [(each.kind, each.value) for each in found]
    assert not any(each.kind in ("run", "tool") for each in found)
