"""What is no secret stays, in what was written for it and in real logs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from deltamem_tui.trajectory.model import LogSource, Trajectory
from deltamem_tui.trajectory.readers import read_logs
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.redaction import NOTHING
from tests.places import GENERATED, PUBLISHED
from tests.trajectory.secrets.planting import (
    planted,
)


def test_names_that_are_no_secrets_stay() -> None:
    found = replace(
        planted("ok"),
        source=LogSource("runs/2026-01-02T03-04-05/django__django-12345.traj", "record 7", "chat"),
        domain="alfworld",
        agent="claude-sonnet-4-5-20250929",
        metadata={
            "id": "valid_train/pick_and_place_simple-KeyChain-None-Safe-204/trial_T20190906_200520",
            "task_type": "pick_two_obj_and_place",
            "session": "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
            "pass": "3 of 5 tests",
            "secret_level": "2",
            "key": "0",
        },
    )
    assert redact(found, personal=True) == (found, NOTHING)


def test_no_false_alarm_on_the_generated_episodes() -> None:
    if not GENERATED.exists():
        pytest.skip("the sample data are not here")
    count = 0
    for found in read_logs([GENERATED]):
        assert isinstance(found, Trajectory)
        count += 1
        for personal in (False, True):
            clean, redactions = redact(found, personal=personal)
            assert clean is found
            assert redactions == NOTHING
    assert count == 677


def test_what_is_found_in_published_logs_are_passwords() -> None:
    if not PUBLISHED.exists():
        pytest.skip("the sample data are not here")
    files: Counter[str] = Counter()
    for found in read_logs([PUBLISHED]):
        if isinstance(found, Trajectory):
            files[Path(found.source.file).name] += redact(found)[1].total
    # Passwords that a tool made up and one that a user gave, all in one file.
    assert +files == {"glaive_toolcall_en_demo.json": 18}


@pytest.mark.parametrize(
    "text",
    [
        "password = os.environ['DB_PASSWORD']",
        "password: str = getpass()",
        "def login(user: str, password: str) -> Token: ...",
        "Enter your password: ",
        "PASSWORD=${DB_PASSWORD}",
        "password: <your password>",
        "password=********",
        "api_key = settings.api_key",
        "token = request.headers.get('Authorization')",
        "secret: changeme-please-01",
        "--- PASS: TestValidateUUID/valid_UUID_with_uppercase (0.00s)",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "token_count=1234567890123456",
        "PWD=/home/ada/projects/calc1/src2",
        "key=lambda item: item[1]",
        "https://example.com/a/b?sort_key=created_at_2026_01_02",
        "primary_key: 0123456789abcdef0123",
        "pip install task-runner-with-a-long-name==1.2.3",
        "ssh ada@example.com:/srv and http://example.com:8080/x",
        "class SkeletonAnimationControllerFactory123(Base):",
        "token: TheAccessTokenProviderFactory",
        "client_secret = HTTPSecretStoreForTheUser.first",
        'conn = connect(user="yourusername", password="yourpassword")',
        "PASSWORD=yourpassword123",
        "postgres://user:password@localhost:5432/app",
        "mysql://root:YOUR_PASSWORD@localhost/app",
        "OPENAI_API_KEY=sk-your-openai-api-key-here",
        f"OPENAI_API_KEY=sk-{'x' * 32}",
        f"use gh{'p_'}{'x' * 36} here",
        f"aws_access_key_id = AKIA{'IOSFODNN7EXAMPLE'}",
        f"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/{'bPxRfiCYEXAMPLEKEY'}",
        "mysql -u root -p app < dump.sql",
        "docker login -u ada --password-stdin ghcr.io",
        "the login page asks for a password and a code",
        "ENV PYTHONUNBUFFERED 1",
        "npm run test -- --grep login -p packages/app",
        "tests/test_tokens.py::test_token_is_refreshed_after_3600_seconds PASSED",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    found = planted(text)
    clean, redactions = redact(found)
    assert clean is found, clean.steps[0].observation
    assert redactions.total == 0
