"""What a bank says of real work, asked as a person would ask: learnt and recalled in the open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from deltamem_tui import Outcome, Step, Trajectory, create_bank, editing, learn, open_bank, recall
from deltamem_tui.bank.bank import Bank
from deltamem_tui.embedding.load import load
from deltamem_tui.memory.deltamem.definition import Parameters
from deltamem_tui.memory.deltamem.rules import Payload
from deltamem_tui.memory.transfer.merging import merge
from deltamem_tui.memory.work.facts import facts_of
from deltamem_tui.memory.work_context import digest, mended
from deltamem_tui.memory.writers.extraction import Extraction, FunctionWriter
from tests.memory.work.support import episode


def bank_of(
    path: Path,
    episodes: Sequence[Trajectory],
    numbers: Parameters | None = None,
    name: str = "hashing",
) -> Bank:
    embedder = load(name)
    bank = create_bank(path / "bank", embedder=embedder, parameters=numbers)
    for each in episodes:
        learn(bank, each, embedder=embedder)
    return bank


def deploy(version: str) -> Trajectory:
    return episode(
        f"Deploy release {version} of the shop to production",
        [
            (f"git checkout v{version}", f"HEAD is now at v{version}"),
            ("make build", "built"),
            (f"kubectl set image deployment/shop shop=registry/shop:{version}", "image updated"),
            ("kubectl rollout status deployment/shop", "successfully rolled out"),
        ],
    )


def test_the_next_release_is_deployed_like_the_last_ones(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, [deploy("2.4"), deploy("2.5"), deploy("2.6")])
    told = recall(bank, "Deploy release 2.7 of the shop to production").context
    assert "kubectl set image deployment/shop shop=registry/shop:2.7" in told
    assert "git checkout v2.7" in told
    assert "with the names of this task" in told
    assert "3 near this one" in told


def test_a_folder_in_front_of_a_command_hides_nothing(tmp_path: Path) -> None:
    steps = [
        ("cd /repo && go test ./...", "--- FAIL: TestQuota\nquota_test.go:9: expected 5, got 7"),
        ("cd /repo && sed -i 's/7/5/' quota/limit.go", ""),
        ("cd /repo && go test ./...", "ok"),
    ]
    tasks = ("Mend the quota", "Speed up the mailer", "Name the flags")
    bank = bank_of(tmp_path, [episode(task, steps) for task in tasks])
    told = recall(bank, "Raise the quota of the mailer").context
    assert "Check with: go test ./..." in told
    assert "quota/limit.go" in told
    ((_, line), *_) = mended(
        bank, "cd /repo && go test ./...", "quota_test.go:9: expected 5, got 7"
    )
    assert "then worked: sed -i" in line


def test_a_program_that_is_missing_checks_nothing(tmp_path: Path) -> None:
    missing = "error: Exit code 127\n/bin/bash: line 1: ruff: command not found"
    steps = [("ruff check .", missing), ('write(path="total.txt", content="6")', "created")]
    bank = bank_of(tmp_path, [episode("Write the sum of the numbers into total.txt", steps)])
    told = recall(bank, "Write the sum of the prices into total.txt").context
    assert "Check with" not in told
    assert "ruff: command not found" in told


def test_a_repository_that_was_mended_before_says_where_and_how(tmp_path: Path) -> None:
    bugs = ["Boolean truthy values", "Nested unknown fields", "Enum by value", "UUID versions"]
    mended = [
        episode(
            f"Fix the failing test: {bug}",
            [
                ("cat src/marshal/fields.py", "class Field: ..."),
                ('edit_file(path="src/marshal/fields.py", old="a", new="b")', "ok"),
                ("pytest tests/test_fields.py -q", "212 passed in 9.02s"),
            ],
        )
        for bug in bugs
    ]
    told = recall(bank_of(tmp_path, mended), "TimeDelta serialization loses precision").context
    assert "src/marshal/fields.py" in told
    assert "Check with: pytest tests/test_fields.py -q" in told
    assert "Nothing near is known" in told


def test_what_failed_at_the_very_task_is_shown_with_what_it_saw(tmp_path: Path) -> None:
    restore = "Restore last night's backup of the {} database into staging"
    episodes = [
        episode(
            restore.format("orders"),
            [
                ("df -h /restore", "/dev/sdb 400G 20G 380G 5% /restore"),
                ("pg_restore -j 4 -d staging /restore/orders.dump", "restored"),
            ],
        ),
        episode(
            restore.format("users"),
            [
                (
                    "pg_restore -d staging /tmp/users.dump",
                    "pg_restore: error: No space left on device",
                ),
                ("The backup could not be restored.", ""),
            ],
            success=False,
        ),
    ]
    told = recall(bank_of(tmp_path, episodes), restore.format("users")).context
    failed = next(line for line in told.splitlines() if line.startswith("Failed at this task"))
    assert "/tmp/users.dump" in failed
    assert "No space left on device" in failed
    assert "pg_restore -j 4" in told
    assert "df -h /restore" in told


def test_the_clue_of_a_failure_is_kept(tmp_path: Path) -> None:
    mailer = episode(
        "The mailer sends nothing since noon, find out why",
        [
            ("systemctl restart mailer", "restarted"),
            ("rabbitmqctl list_queues", "mail 12000 error: 0 consumers allowed, quota 0"),
            ("Finish[I restarted the mailer twice; it does not help]", ""),
        ],
        success=False,
    )
    told = recall(bank_of(tmp_path, [mailer]), "The mailer sends nothing since noon, find out why")
    assert "0 consumers allowed, quota 0" in told.context
    assert "systemctl restart mailer" in told.context


def test_a_command_that_was_not_found_is_told_with_what_worked(tmp_path: Path) -> None:
    lint = episode(
        "Run the linter over the package",
        [
            ("ruff check .", "bash: line 1: ruff: command not found"),
            ("uv run ruff check .", "All checks passed!"),
        ],
    )
    told = recall(bank_of(tmp_path, [lint]), "lint the project with ruff").context
    assert "ruff check . → bash: line 1: ruff: command not found" in told
    assert "uv run ruff check ." in told


def test_a_step_that_failed_to_find_out_is_kept(tmp_path: Path) -> None:
    fix = episode(
        "Fix test_parse_date, it fails only on CI",
        [
            ("pytest tests/test_dates.py", "12 passed"),
            ("TZ=UTC pytest tests/test_dates.py", "FAILED tests/test_dates.py::test_parse_date"),
            ('edit_file(path="app/dates.py", old="a", new="b")', "ok, 1 replacement"),
            ("pytest", "212 passed"),
            ("Fixed: parse_date used the machine's local zone.", ""),
        ],
    )
    told = recall(bank_of(tmp_path, [fix]), "test_parse_date fails only on CI, please fix").context
    assert "TZ=UTC pytest tests/test_dates.py → FAILED tests/test_dates.py::test_parse_date" in told
    assert "app/dates.py" in told
    assert "1 replacement" not in told


@pytest.mark.parametrize("budget", [60, 150, 300])
def test_a_context_stays_within_its_budget(tmp_path: Path, budget: int) -> None:
    files = [
        (f'edit_file(path="src/part{n}/module{n}.py", old="a", new="b")', "ok") for n in range(60)
    ]
    episodes = [episode(f"Change all parts, time {n}", files) for n in range(3)]
    bank = bank_of(tmp_path, episodes, replace(Parameters.preset("generic"), budget=budget))
    told = recall(bank, "Change the parts again").context
    assert "src/part" in told
    assert len(told) <= budget * 4


def _scene_recalled(bank: Bank, scene: str) -> bool:
    answer = recall(bank, "Refund it", scene)["env"]
    return answer is not None and answer.match is not None


def test_one_policy_is_one_root(tmp_path: Path) -> None:
    policy = "Shop policy. Refunds need a confirmation. " * 40
    calls = [('refund(order="1")', "Error: not confirmed"), ('confirm(order="1")', "ok")]
    episodes = [episode(f"Refund order {n}", calls, environment=policy) for n in range(5)]
    bank = bank_of(tmp_path, episodes)
    assert len(list(bank.tree("env").roots())) == 1
    assert len(bank.tree("task")) == 5
    other = f"{policy} Bags cost extra."  # alike, and another
    assert _scene_recalled(bank, policy)
    assert not _scene_recalled(bank, other)
    learn(bank, episode("Refund it", calls, environment=other), embedder=load("hashing"))
    assert len(list(bank.tree("env").roots())) == 2


def test_a_scene_has_one_root_below_which_only_what_is_new_is_noted(tmp_path: Path) -> None:
    policy = "Shop policy. Refunds need a confirmation. " * 40
    refund, ship = ('refund(order="1")', "Error: not confirmed"), ('ship(order="1")', "ok")
    done = ('refund(order="2")', "ok")
    ways = [[ship], [refund], [ship, refund], [done], [refund, done]]
    outcomes = (False, True, True, True, True)
    bank = bank_of(
        tmp_path,
        [
            episode(task, way, success, policy)
            for task, way, success in zip(("A", "B", "C", "Sing", "E"), ways, outcomes, strict=True)
        ],
    )
    lines = [
        line
        for node in bank.tree("env")
        for line in node.payload["execution_procedure"].splitlines()
    ]
    assert len(lines) == len({*lines})
    assert [node.depth for node in bank.tree("env")] == [1, 2]
    # What a later episode showed of the scene is told as well.
    told = recall(bank, "Sing", policy).context
    assert "Trap: refund(order) → Error: not confirmed\n" in told


def written(bank: Bank, each: Trajectory, when: str, how: str) -> list[str]:
    """Let a model write of an episode; returns what it was asked for."""
    asked: list[str] = []

    def write(purpose: str, *_: object) -> Extraction:
        asked.append(purpose)
        return Extraction(Payload(when, how, "It says so."), "said", model="m")

    learn(bank, each, FunctionWriter("model", write), embedder=load("hashing"))
    return asked


def test_what_a_model_wrote_is_found_by_the_users_own_words(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, [])
    calls = [("get_user(id=1)", "ok"), ("refund(order=1)", "ok"), ("close(ticket=1)", "ok")]
    how = "Needs: the order.\n1. get_user(id=[id])\n2. refund(order=[order])\nWhy: it is due."
    own = "My parcel came broken, what now?"
    asked = written(bank, episode(own, calls, environment="A shop. " * 9), "Refund a parcel", how)
    assert asked == ["task_root_success"]  # the rules write of the scene
    (node,) = bank.tree("task")
    assert node.payload["activation_condition"] == f"Refund a parcel\n{own}"
    asked = written(bank, episode(own, calls), "A gift", "After step 1:\n+ check_gift(id=[id])")
    assert asked == ["task_residual_success"]
    told = recall(bank, own).context
    assert "“Refund a parcel”:\n- Needs: the order.\n- get_user(id=[id])\n" in told
    assert "\n- Done when: It says so.\n" in told
    told = recall(bank, f"{own} It was a gift").context
    assert "“A gift”:\n- get_user(id=[id])\n- check_gift(id=[id])\n- refund(order=" in told
    assert "Tools used in such tasks: " in told
    # Of what is about something else no note is told.
    told = recall(bank, "What is my name?").context
    assert "Tools used in such tasks: " in told
    assert "Needs" not in told


def test_where_no_tool_is_likely_the_usual_ones_are_named(tmp_path: Path) -> None:
    episodes = [
        episode(f"Do errand number {n}", [(f'tool_{n}(order="1")', "ok")]) for n in range(20)
    ]
    told = recall(bank_of(tmp_path, episodes), "Say something else entirely").context
    assert "Tools used in such tasks: tool_" in told


def test_a_folder_is_no_scene(tmp_path: Path) -> None:
    bank = bank_of(
        tmp_path,
        [episode("Sum it up", [("cat a.txt", "1")], environment="Working directory: ~/proj")],
    )
    assert len(bank.tree("env")) == 0


def test_an_empty_bank_says_nothing(tmp_path: Path) -> None:
    assert recall(bank_of(tmp_path, []), "Deploy it").context == ""


def test_the_papers_rule_can_be_chosen(tmp_path: Path) -> None:
    numbers = Parameters.preset("generic")
    paper = replace(numbers, task=replace(numbers.task, recall="paper", tau_base=0.99))
    bank = bank_of(tmp_path, [deploy("2.4")], paper)
    assert recall(bank, "Sing a song").context == ""
    assert (
        recall(bank, "Deploy release 2.4 of the shop to production").context.count("### Base") == 1
    )


def test_what_the_user_corrected_is_told_near_it_and_its_rules_at_the_start(tmp_path: Path) -> None:
    told = "No, never call pip here, use uv instead"
    steps = [
        Step("pip install httpx", f"installed\n{told}", kind="call", said=told),
        Step("uv add httpx", "No, that is all for now", kind="call", speaker="user"),
    ]
    won = Outcome(success=True, source="user")
    added = [
        Trajectory(f"Add the package {name}", "Working directory: /x/shop", tuple(steps), won)
        for name in ("httpx", "rich", "numpy")
    ]
    bank = bank_of(tmp_path, added)
    near = recall(bank, "Add the package pandas", "shop").context
    assert f"pip install httpx → the user: {told}" in near
    assert "The user corrected" not in recall(bank, "Sing a song of sixpence", "/y/till").context
    start = digest(bank, 200, None, "shop")
    assert told in start
    assert "that is all" not in start
    assert digest(bank, 200, None, "elsewhere") == ""


def test_what_the_user_stopped_is_no_mend_and_no_habit(tmp_path: Path) -> None:
    told = "no, never use pip here, use uv"
    steps = (
        Step("pip install redis", "error: externally-managed-environment", kind="call"),
        Step("pip install --break-system-packages redis", "installed", kind="call"),
        Step("Redis is installed.", told, kind="message", speaker="user"),
        Step("uv add redis", "added redis", kind="call"),
    )
    won = Outcome(success=True, source="user")
    added = Trajectory("Add the package redis", "Working directory: /x/shop", steps, won)
    facts = facts_of(added)
    fixes = [fact.value for fact in facts if fact.kind == "fix"]
    assert [fix.partition(" ⇒ ")[2] for fix in fixes] == ["uv add redis"] * 2
    assert [fact.value for fact in facts if fact.kind == "run"] == ["uv add"]
    bank = bank_of(tmp_path, [added])
    assert told in recall(bank, "Install Stripe's Python package", "/home/me/shop").context
    ((_, line),) = mended(bank, "pip install x", "error: externally-managed-environment")
    assert line.endswith("then worked: uv add redis")


def test_a_known_project_hears_nothing_of_others(tmp_path: Path) -> None:
    done = [
        episode(
            f"Cache list {n}",
            [('edit_file(path="shop/catalog.py")', "ok"), ("pytest", "1 passed")],
            environment="Working directory: /x/shop",
        )
        for n in range(3)
    ]
    bank = bank_of(tmp_path, done)
    assert "pytest" in recall(bank, "Rewrite the menu", "/home/me/shop").context
    learn(
        bank, episode("Rewrite it", [("poetry run pytest -q", "1 passed")], environment="/x/menu")
    )
    told = recall(bank, "Cache list 2", "/home/me/menu").context
    assert "Evidence: 1 past task, none near; 3 near in other projects." in told
    assert "Check with: poetry run pytest" in recall(bank, "Rewrite it", "/x/menu").context
    assert recall(bank, "Rewrite the menu", "/home/me/other").context == ""
    assert digest(bank, 200, None, "poems") == ""


def test_a_tool_called_with_other_arguments_is_learnt(tmp_path: Path) -> None:
    calls = [
        ('read_file(path="a.py")', "1"),
        ('read_file(path="a.py", view="2")', "1"),
        ('find_user(email="x")', "ok"),
        ('find_user(email="x", zip="1")', "ok"),
    ]
    bank = bank_of(tmp_path, [episode("Look", calls, environment="Shop policy. Be kind.")])
    assert len(bank.tree("env")) == 1


def test_a_persons_line_is_recalled_and_odd_lines_break_nothing(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, [episode("Rotate the key", [("vault rotate key", "ok")])])
    (node,) = bank.tree("task").roots()
    said = "Edited: a.py, , b.py\nAlways take a backup first.\nDid: vault rotate key"
    editing.edit(bank, "task", node, {**node.payload, "execution_procedure": said})
    assert "Always take a backup first." in recall(bank, "Rotate the key").context


def test_words_have_what_the_files_leave_under_their_title(tmp_path: Path) -> None:
    steps = [("sed -i 's/7/5/' quota/limit.go", ""), ("go test ./...", "ok")]
    tasks = ("Mend the quota", "Speed up the mailer", "Name the flags")
    bank = bank_of(tmp_path, [episode(task, steps) for task in tasks])
    node = next(each for each in bank.tree("task").roots() if "quota" in each.title)
    looked = "".join(f"{n}. look at {'x' * 90} {n}\n" for n in range(1, 16))
    said = f"Needs: a clean checkout.\n{looked}16. go test ./...\nWhy: limits are inclusive.\n"
    facts = "Edited: quota/limit.go\nChecked with: go test ./..."
    payload = {
        "activation_condition": "Mend the quota's bounds\nthe quota is off by one",
        "execution_procedure": said + facts,
        "termination_condition": "",
    }
    editing.edit(bank, "task", node, payload)
    told = recall(bank, "The quota is off by one again").context
    assert "Solved “Mend the quota's bounds”:\n- Needs: a clean checkout.\n- look at" in told
    assert "- Why: limits are inclusive." in told
    assert told.count("go test ./...") == 1
    assert 1_000 < len(told) <= 1_200


def test_what_happened_is_not_renamed(tmp_path: Path) -> None:
    steps = [
        ("pytest -n 12 tests/test_dates.py", "FAILED test_parse_date"),
        ("edit dates.py", "ok"),
    ]
    bank = bank_of(tmp_path, [episode("Fix test_parse_date of issue 12", steps)])
    told = recall(bank, "Fix test_parse_time of issue 3").context
    assert "test_parse_time" not in told
    assert "-n 3" not in told


def test_of_a_long_way_what_led_to_its_end_is_told(tmp_path: Path) -> None:
    looked = [
        (f"go to shelf {number}", f"On the shelf {number} is nothing.") for number in range(12)
    ]
    steps = [
        ("go to desk 1", "On the desk 1 are a pen 2 and a mug 1."),
        ("take mug 1 from desk 1", "Taken."),
        *looked,
        ("go to basin 1", "You see a basin 1."),
        ("clean mug 1 with basin 1", "The mug is clean."),
        ("go to tray 3", "On the tray 3 is nothing."),
        ("put mug 1 on tray 3", "Done."),
    ]
    bank = bank_of(
        tmp_path, [episode(f"Put a clean mug on the tray of room {n}", steps) for n in "abc"]
    )
    told = recall(bank, "Put a clean mug on the tray of room d").context
    assert "shelf" not in told
    needed = [action for action, _ in steps if "shelf" not in action]
    places = [told.index(action) for action in needed]
    assert places == sorted(places)


def test_two_things_done_alike_are_two(tmp_path: Path) -> None:
    steps = [
        ("put spoon 1 on tray 3", "Done."),
        ("take spoon 2 from desk 1", "Taken."),
        *[("examine tray 3", "On the tray 3 is a spoon 1.")] * 12,
        ("put spoon 2 on tray 3", "Done."),
    ]
    bank = bank_of(
        tmp_path, [episode(f"Put two spoons on tray 3 of room {n}", steps) for n in "abc"]
    )
    told = recall(bank, "Put two spoons on tray 3 of room d").context
    assert "put spoon 1" in told
    assert "put spoon 2" in told


def test_an_episode_that_two_banks_learnt_speaks_once(tmp_path: Path) -> None:
    episodes = [deploy("2.4"), deploy("2.5"), deploy("2.6")]
    one, other = bank_of(tmp_path / "one", episodes), bank_of(tmp_path / "other", episodes[::-1])
    merge([one, other], tmp_path / "both")
    told = recall(open_bank(tmp_path / "both"), "Deploy release 2.7 of the shop to production")
    assert "Evidence: 3 past tasks" in told.context


def test_files_of_a_few_other_tasks_are_not_named(tmp_path: Path) -> None:
    def edited(task: str, path: str) -> Trajectory:
        return episode(task, [(f"sed -i 's/a/b/' {path}", ""), ("make test", "ok")])

    shop = [edited(f"Round the total of invoice {n}", f"shop/total_{n}.py") for n in range(3)]
    blog = [edited(f"Publish the post about gardening {n}", f"blog/post_{n}.md") for n in range(3)]
    bank = bank_of(tmp_path, [*shop, *blog])
    told = recall(bank, "Configure telemetry sampling for the queue worker").context
    assert "make test" in told
    assert "total_" not in told
    assert "post_" not in told
    near = recall(bank, "Publish the post about gardening 7").context
    assert "post_1" in near
    assert "total_" not in near


def test_a_trap_is_told_once(tmp_path: Path) -> None:
    steps = [("mail send --all", "error: quota exceeded"), ("mail send --batch 50", "sent")]
    scene = "Mail server. Sends by the batch, and has a quota by the hour."
    bank = bank_of(tmp_path, [episode(f"Send letter {n}", steps, environment=scene) for n in "abc"])
    told = recall(bank, "Send letter d", scene).context
    assert told.count("quota exceeded") == 1 + told.count("1. mail send --all → error")


def test_the_way_that_does_what_the_task_asks_for_is_told(tmp_path: Path) -> None:
    def served(verb: str, thing: str, place: str) -> Trajectory:
        steps = [
            (f"take {thing}", "Taken."),
            (f"{verb} {thing}", "Done."),
            (f"put {thing}", "Put."),
        ]
        return episode(f"{verb} some {thing} and put it in the {place}", steps)

    warm = [("heat", thing, "cupboard") for thing in ("soup", "bread", "stew", "rice", "tea")]
    cold = [("cool", thing, "cupboard") for thing in ("milk", "juice", "wine", "water", "pudding")]
    bank = bank_of(tmp_path, [served(*each) for each in (*warm, *cold)])
    told = recall(bank, "heat some pudding now and put it in the big cupboard").context
    assert "Solved “heat some" in told


def test_of_two_kinds_of_work_the_one_asked_about_answers(
    tmp_path: Path,
) -> None:
    parts = ("parser", "lexer", "printer", "linker", "loader", "cache", "graph", "index")
    coding = [
        episode(
            f"Fix the failing test of the {part} in the compiler",
            [
                (f'edit(path="src/{part}.go", old="a", new="b")', "ok"),
                ("go test ./...", "ok"),
            ],
        )
        for part in parts
    ]
    service = [
        episode(
            f"A customer wants to {wish} the reservation of a flight",
            [
                (f'get_reservation(id="{number}")', '{"status": "booked"}'),
                (f'update_reservation(id="{number}", what="{wish}")', '{"status": "done"}'),
            ],
        )
        for number, wish in enumerate(("move", "upgrade", "shorten", "split"))
    ]
    bank = bank_of(tmp_path, [*coding, *service])
    asked_of_service = recall(bank, "A customer wants to cancel the reservation of a flight")
    assert "update_reservation" in asked_of_service.context
    assert ".go" not in asked_of_service.context
    assert "go test" not in asked_of_service.context
    asked_of_code = recall(bank, "Fix the failing test of the scanner in the compiler").context
    assert "Check with: go test ./..." in asked_of_code
    assert "src/" in asked_of_code
    assert "reservation" not in asked_of_code


def two_projects(path: Path, scene: str) -> Bank:
    """Three sessions each of a shop that `npm test` checks and of a bank that cargo does."""
    episodes = []
    for project, check in (("shop", "npm test"), ("bank", "cargo test")):
        for part in ("menu", "footer", "search"):
            steps = [(f'edit(path="src/{part}.txt", old="a", new="b")', "ok"), (check, "ok")]
            environment = scene.format(project)
            episodes.append(episode(f"Fix the {part}", steps, environment=environment))
    return bank_of(path, episodes)


def test_a_project_is_told_of_itself(tmp_path: Path) -> None:
    bank = two_projects(tmp_path, "Working directory: /x/{}")
    told = recall(bank, "Fix the header", "Working directory: /x/shop").context
    assert "npm test" in told
    assert "cargo test" not in told
    assert "cargo test" in recall(bank, "Fix the header", "Working directory: /y/bank").context
    assert "src/footer.txt" in recall(bank, "Fix the footer", "Working directory: /x/shop").context
    assert "cargo" not in digest(bank, 200, project="shop")
    assert "cargo" in digest(bank, 200)


def test_asking_the_memory_is_no_work(tmp_path: Path) -> None:
    steps = [
        ('mcp__deltamem__recall(task="the sum")', "nothing is near"),
        ('deltamem_recall(task="the sum")', "nothing is near"),
        ('lookup(name="the sum")', "6"),
    ]
    tasks = ("Find the sum of the prices", "Find the sum of the weights", "Find the sum")
    told = recall(bank_of(tmp_path, [episode(each, steps) for each in tasks]), tasks[0]).context
    assert "lookup" in told
    assert "deltamem" not in told


def test_a_legend_is_shown_only_for_its_words(tmp_path: Path) -> None:
    steps = [('deltas(name="x")', "1"), ('basement(name="x")', "2")]
    tasks = ("Count the deltas of x", "Count the deltas of y", "Count the deltas of z")
    told = recall(bank_of(tmp_path, [episode(each, steps) for each in tasks]), tasks[0]).context
    assert "deltas" in told
    assert "each delta below it" not in told


def test_a_check_is_told_with_the_variables_it_needs(tmp_path: Path) -> None:
    parts = ("cart", "tax", "mail", "stock")
    bank = bank_of(
        tmp_path,
        [
            episode(
                f"Mend the {part}",
                [
                    (f"pytest tests/test_{part}.py", "FAILED: No module named 'shop'")
                    if part == "cart"
                    else (f"cat shop/{part}.py", "..."),
                    (f"sed -i s/a/b/ shop/{part}.py", ""),
                    (f"API_TOKEN=x1 PYTHONPATH=. pytest tests/test_{part}.py", "1 passed"),
                ],
            )
            for part in parts
        ],
    )
    told = recall(bank, "Mend the search").context
    assert "Check with: PYTHONPATH=. pytest" in told
    assert "x1" not in told


def test_of_few_tasks_the_nearest_names_its_files_and_only_here(tmp_path: Path) -> None:
    def edited(task: str, path: str, project: str) -> Trajectory:
        steps = [(f"sed -i s/a/b/ {path}", ""), ("make test", "ok")]
        return episode(task, steps, environment=f"Working directory: /x/{project}")

    tasks = {"Raise the VAT for Austria": "shop/tax.py", "Speed up the search": "shop/find.py"}
    shop = [edited(task, path, "shop") for task, path in tasks.items()]
    other = edited("Test the config loader", "tests/config_test.go", "cli")
    bank = bank_of(tmp_path, [*shop, other, edited("Name the flags", "cmd/flags.go", "cli")])
    told = recall(bank, "Correct the VAT", "Working directory: /x/shop").context
    assert "shop/tax.py" in told
    assert "shop/find.py" not in told
    told = recall(bank, "The config test fails", "Working directory: /x/shop").context
    assert "config_test.go" not in told


def test_an_error_that_a_way_tells_is_told_once(tmp_path: Path) -> None:
    steps = [
        ("git tag v1", ""),
        ("git push --tags", "error: no upstream"),
        ("git push origin v1", "ok"),
    ]
    tasks = [f"Release version {n} to the forge" for n in "123"]
    bank = bank_of(tmp_path, [episode(each, steps) for each in tasks])
    assert recall(bank, "Release version 4 to the forge").context.count("no upstream") == 1


def restart(service: str, node: str, *extra: tuple[str, str]) -> Trajectory:
    steps = [
        ("look around", "a rack, a console"),
        (f"drain {node}", "drained"),
        (f"restart {service} on {node}", "Which one? 0: main, 1: spare"),
        ("0", "restarted"),
        *extra,
        (f"undrain {node}", "ready"),
    ]
    return episode(f"Restart the {service} and keep the site up", steps)


def test_a_way_names_what_others_had_in_its_place(tmp_path: Path) -> None:
    refused = ("restart all", "No known service is called so")
    bank = bank_of(
        tmp_path, [restart("mailer", "alpha", refused), *[restart("mailer", "beta")] * 2]
    )
    told = recall(bank, "Restart the mailer and keep the site up").context
    assert "Where alpha is not there: beta." in told or "Where beta is not there: alpha." in told
    assert "3. 0\n" in told
    assert "look around" not in told


def test_a_way_with_names_of_another_task_alone_stands_behind(tmp_path: Path) -> None:
    def mounted(one: str, other: str) -> Trajectory:
        steps = [f"stat volume {one}", f"fsck volume {other}", f"mount volume {other}", "sync"]
        task = f"Mount the smaller one of the volumes ({one}, {other}) and say its size"
        return episode(task, [(each, "done") for each in steps])

    bank = bank_of(tmp_path, [mounted("B", "G"), mounted("D", "E")])
    asked = mounted("G", "H").task
    assert "1. stat volume G\n2. fsck volume H" in recall(bank, asked).context


def test_what_failed_is_told_with_what_mended_it(tmp_path: Path) -> None:
    edit = ("sed -i s/a/b/ shop/settings.py", "")
    others = [episode(f"Mend the {part}", [edit]) for part in ("cart", "tax", "mail")]
    failed = episode(
        "Upgrade Django from 4.2 to 5.1",
        [("pip install django==5.1", "error: storages conflicts"), edit],
        success=False,
    )
    solved = episode(
        "Second try: upgrade Django to 5.1, the site has to stay green",
        [("pip uninstall storages", "ok"), edit, ("pip install django==5.1", "ok")],
    )
    bank = bank_of(tmp_path, [failed, solved, *others], name="minilm")
    told = recall(bank, "Upgrade Django from 5.1 to 6.0 in the shop").context
    assert "Tried, not solved" in told
    assert "pip uninstall storages" in told


def test_an_error_is_told_where_its_own_words_are_asked_for(tmp_path: Path) -> None:
    wrong = episode(
        "Remove the files a1 and a2 in the folder /data/old",
        [
            ("rm /data/old/a1 /data/old/a2", "rm: cannot remove '/data/old/a1': No such file"),
            ("touch /data/old/a1; rm /data/old/a1 /data/old/a2", ""),
        ],
    )
    others = [
        episode(f"Remove the {kind} files in the folder /data/{kind}", [(f"find -name {kind}", "")])
        for kind in [
            "log",
            "tmp",
            "bak",
            "swp",
            "orig",
            "rej",
            "pyc",
            "obj",
            "lib",
            "jar",
            "war",
            "zip",
        ]
    ]
    bank = bank_of(tmp_path, [wrong, *others])
    assert "cannot remove" not in recall(bank, "Remove the css files in /data/web").context
    assert "cannot remove" in recall(bank, "Remove the files a1 and a3 in /data").context


def test_scratch_scripts_of_two_tasks_are_no_check(tmp_path: Path) -> None:
    parts = ("cart", "tax", "mail", "stock")
    steps = {part: [(f"python test_{part}_once.py", "ok"), ("ls", "x")] for part in parts}
    bank = bank_of(tmp_path, [episode(f"Mend the {part}", steps[part]) for part in parts])
    assert "Check with" not in recall(bank, "Translate the manual").context


def test_of_equally_near_sessions_the_latest_name_their_files(tmp_path: Path) -> None:
    def session(number: int) -> Trajectory:
        names = [f"area{number:02}/module_{letter}.py" for letter in "abcdef"]
        return episode(
            "Review the open pull request",
            [(f"sed -i s/a/b/ {name}", "") for name in names],
            environment="Working directory: /x/shop",
        )

    bank = bank_of(tmp_path, [session(number) for number in range(24)])
    told = recall(bank, "Review the open pull request", "Working directory: /x/shop").context
    named = [number for number in range(24) if f"area{number:02}" in told]
    assert named[-3:] == [21, 22, 23]
    likely = next(line for line in told.splitlines() if line.startswith("Likely here"))
    assert "area23" in likely
    assert "area00" not in likely


def test_a_scene_names_its_repository_as_the_readme_does(tmp_path: Path) -> None:
    bank = two_projects(tmp_path, "Repository {}: some tools")
    for scene in ("Repository shop: Python", "Repository shop", "Working directory: /x/shop"):
        told = recall(bank, "Translate the manual", scene).context
        assert "npm test" in told
        assert "cargo test" not in told
    everything = recall(bank, "Translate the manual", "Project notes of the team").context
    assert "cargo test" in everything
    assert "most usual in 6 past tasks.\n" in f"{everything}\n"


def test_tools_that_only_look_are_no_news_and_others_are_told_elsewhere_too(tmp_path: Path) -> None:
    calls = [
        *('Grep(pattern="x")', 'Glob(pattern="*.py")', 'list_directory(path="src")'),
        *('TodoWrite(todos="[]")', 'find_user_id_by_email(email="x")', 'create_todo(title="x")'),
    ]
    steps = [(call, "ok") for call in calls]
    tasks = ("Look the customer up", "Cancel the journey", "Write the greeting")
    shop = [episode(each, steps, environment="Working directory: /x/shop") for each in tasks]
    told = recall(bank_of(tmp_path, shop), "Translate the manual", "/y/till").context
    assert "Tools used in such tasks: create_todo, find_user_id_by_email\n" in told
    assert "3 past tasks of other projects" in told


def test_what_failed_keeps_its_own_names(tmp_path: Path) -> None:
    lost = episode("Deploy to staging", [("make deploy ENV=staging", "error: no disk")], False)
    told = recall(bank_of(tmp_path, [lost]), "Deploy to production").context
    assert "ENV=staging" in told
    assert "ENV=production" not in told


def test_a_correction_of_the_moment_is_no_rule(tmp_path: Path) -> None:
    def session(task: str, said: str) -> Trajectory:
        steps = (
            Step("edit src/a.py", "ok", said=said),
            Step("pytest", "1 passed"),
        )
        return Trajectory(task, "Working directory: /x/shop", steps, Outcome(True, source="stated"))

    once, rule = "that's wrong, revert everything", "we always write tests first"
    bank = bank_of(tmp_path, [session("Cut the tax", once), session("Fill the cart", rule)])
    told = recall(bank, "Translate the manual", "Working directory: /x/shop").context
    assert f"The user corrected then: “{rule}”" in told
    assert f"The user corrected then: “{once}”" not in told
    assert once in recall(bank, "Cut the tax", "Working directory: /x/shop").context
