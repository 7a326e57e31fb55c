"""Secrets that are short, or words, and are known by where they stand; and their harmless twins.

Of another set of 100 such places, written apart from the rules, 7 were found before there were
these rules, and 92 with them; 99 since those that it showed to be missing were added. `§` stands
for the secret.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets
from deltamem_tui.trajectory.secrets.redaction import NOTHING

Maker = Callable[[random.Random], str]


def camel(chance: random.Random) -> str:
    """Two words, as names of variables are written."""
    return chance.choice(["walrus", "copper"]) + chance.choice(["Garden", "Thimble"])


def short(chance: random.Random) -> str:
    return chance.choice(["robin", "ferry", "cedar"])


def human(chance: random.Random) -> str:
    return f"{chance.choice(['Walrus', 'Copper'])}{chance.randint(2, 99)}garden"


def dashed(chance: random.Random) -> str:
    return f"ci-runner-{chance.randint(10, 99)}"


def key(chance: random.Random) -> str:
    return f"k{chance.randint(10, 99)}" + "".join(chance.choices("abcdefXYZ", k=9)) + "7"


def hexadecimal(chance: random.Random) -> str:
    return "".join(chance.choices("0123456789abcdef", k=30)) + "a1"


def phrase(chance: random.Random) -> str:
    return " ".join(chance.sample(["copper", "walrus", "thimble", "garden", "ferry"], 4))


PLANTED: list[tuple[Maker, tuple[str, ...]]] = [
    (
        camel,
        (
            "docker run -e MYSQL_ROOT_PASSWORD=§ mariadb",
            "wget --user=ann --password=§ https://a.org/x",
            "mysql -h db -uroot -p§ shop",
            'ansible_become_password: "§"',
            'let pw: &str = "§";',
            'const password: string = "§";',
            'var password string = "§"',
            'variable "db_password" {\n  type    = string\n  default = "§"\n}',
            'DriverManager.getConnection(url, "app", "§");',
            'smtp.login("bot@a.org", "§")',
            "imap.login('ann', '§')",
            'requests.get(u, auth=("ann", "§"))',
            "HTTPBasicAuth('ann', '§')",
            '.basic_auth("ann", Some("§"))',
            'smtp.PlainAuth("", "ann", "§", host)',
            'ConvertTo-SecureString "§" -AsPlainText -Force',
            'page.fill("input[name=password]", "§")',
            'cy.get("#password").type("§")',
            'driver.find_element(By.ID, "password").send_keys("§")',
            'az login -u ann -p "§"',
            "helm registry login r.org -u ann -p §",
            "rabbitmqctl add_user ann §",
            "bindpw §",
            "INSERT INTO users (id, name, password) VALUES (1, 'ann', '§');",
            "INSERT INTO `users` (`password`, `name`) VALUES ('§', 'ann')",
        ),
    ),
    (
        short,
        (
            "PGPASSWORD=§ psql",
            "SSHPASS=§ sshpass -e ssh a",
            "mongodump --password=§",
            '{"user": "ann", "password": "§"}',
            "db:\n  password: §\n  port: 1",
            "curl -u ann:§ https://a.org",
            "http -a ann:§ GET a.org",
            "jdbc:mysql://h/db?user=root&password=§",
            "jdbc:oracle:thin:scott/§@//h:1521/X",
            "sqlplus ann/§@ORCL",
        ),
    ),
    (
        human,
        (
            "ansible_become_pass: §",
            "mysql_root_pw: §",
            'new NetworkCredential("svc", "§")',
            "7z x -p§ a.7z",
            "useradd -m -p § ann",
            "net use Z: \\\\host\\share /user:CORP\\ann §",
            "net use Z: \\\\host\\share § /user:ann",
            "rabbitmqctl change_password ann §",
            "requirepass §",
            'write(content="$ cat ~/.pgpass\\ndb.org:5432:prod:app:§")',
            "$ cat .vault_pass\n§",
            "masterauth §",
            "AUTH §",
            'SET PASSWORD FOR ann = PASSWORD("§")',
            'CREATE USER ann IDENTIFIED BY "§";',
            "| password | § |",
            "fly secrets set TOK=§",
            "mc alias set s3 https://a.org admin §",
        ),
    ),
    (dashed, ("export DEPLOY_TOKEN=§", "##[debug] Setting env API_SECRET=§")),
    (
        key,
        (
            "X-Auth-Token: §",
            "api-key: §",
            "x-goog-api-key: §",
            "apikey: §",
            "service:\n  apiKey: §\n  retries: 3",
            "Use this one.\nAPI key: §",
            "api key: '§'",
            "headers = {'X-API-Key': '§'}",
            "Authorization: Token §",
            "Authorization: ApiKey §",
            "setx API_TOKEN §",
            "set -x API_TOKEN §",
            "gh secret set DEPLOY --body §",
            'gh secret set DEPLOY -b "§"',
            "heroku config:set SECRET=§",
            'variable "api_key" {\n  default = "§"\n}',
        ),
    ),
    (
        hexadecimal,
        (
            'Client("AC0", "§")',
            'write(content="$ cat config/master.key\\n§")',
            "$ cat config/master.key\n§",
            "$ cat config/credentials/production.key\n§",
        ),
    ),
    (
        phrase,
        (
            'password = "§"',
            "passphrase: §",
            'curl --user "ann:§" https://a.org',
        ),
    ),
]
CASES = [(make, place) for make, places in PLANTED for place in places]

HARMLESS = [
    # what messages say
    "Invalid password: access denied",
    "password: incorrect",
    "login failed: password mismatch",
    "password: must be at least 8 characters",
    "Bad credentials: password expired",
    # names that are like those of passwords, and values that are none
    "MYSQL_PWD=$MYSQL_PWD mysql",
    "DB_PASSWORD=<your password>",
    "TESTS_PASS=true",
    "NUM_PASS=1234",
    "first_pass: 0.452s",
    "all_tests_pass: true",
    "NEXT_TOKEN=page-0002",
    "MAX_TOKENS=8192",
    "let password: &str = args.next().unwrap();",
    "password: str = Field(min_length=8)",
    "password: Optional[str] = None",
    'variable "db_password" {\n  type = string\n  sensitive = true\n}',
    'variable "ssh_key" {\n  default = "~/.ssh/id_rsa.pub"\n}',
    'password = "Please enter your password again"',
    "passphrase: enter a passphrase for the key",
    "tool --password=$PW",
    # headers
    "X-Request-Id: abc12345x",
    "cache-key: node-v18-abc",
    "apikey: required",
    "api key: see step 2 of the guide",
    "API key: my-key-2",
    "apiKey: v1.2.3-beta (the default)",
    "You need a key: room12door",
    "Authorization: required",
    "Authorization: Bearer ${TOKEN}",
    "AUTH CRAM-MD5",
    "250-AUTH LOGIN PLAIN XOAUTH2",
    # command lines
    "curl -u user:pass https://a.org",
    "docker run -u 1000:1000 img https://a.org",
    "docker login -u ann --password-stdin",
    'gh secret set DEPLOY --body "$VALUE"',
    "gh secret set DEPLOY < file.txt",
    "heroku config:set NODE_ENV=production",
    "set -e TOKEN_FILE path",
    "setx PATH C:\\tools",
    "net use Z: \\\\host\\share",
    "rabbitmqctl add_user $U $P",
    "rabbitmqctl list_users",
    "7z a -p out.7z dir",
    "usermod -aG docker ann",
    "mc alias set s3 https://a.org $USER $PASS",
    "$ cat README.key\nwalrus",
    # calls
    "getConnection(url, user, password)",
    'getConnection(url, "app", System.getenv("PW"))',
    'client.login("ann", password)',
    'signIn("google", "/dashboard")',
    'auth=("user", "password")',
    "ConvertTo-SecureString $pw -AsPlainText",
    'Client("localhost", 8080)',
    'page.fill("#password", pw)',
    'page.fill("#name", "Walrus2garden")',
    'cy.get("#password").should("be.visible")',
    # addresses, settings and tables
    "jdbc:oracle:thin:@db:1521/XE",
    "sqlplus / as sysdba",
    "https://a.org/login?password=***",
    "masterauth is not set",
    "bindpw is required",
    "INSERT INTO users (name, age) VALUES ('ann', 31);",
    "INSERT INTO users (name, password) VALUES ('ann', NULL)",
    "INSERT INTO users (name, password) VALUES (?, ?)",
    'SET PASSWORD FOR ann = PASSWORD("$PW")',
    "| password | varchar | not null |",
    "| Password | sha256 |",
]


def shown(text: str) -> Trajectory:
    """An episode that shows the text; of a file that is looked at, as call and result."""
    if text.startswith("$ cat "):
        call, _, content = text[2:].partition("\n")
        return Trajectory("Deploy.", steps=(Step(call, content),))
    return Trajectory("Deploy.", steps=(Step("continue", text),))


@pytest.mark.parametrize(("make", "place"), CASES)
def test_a_weak_secret_is_known_by_its_place(make: Maker, place: str) -> None:
    chance = random.Random(place)
    for _ in range(4):
        secret = make(chance)
        text = place.replace("§", secret)
        clean, redactions = redact(shown(text))
        assert secret not in clean.text
        assert redactions.total >= 1
        for form in (text, json.dumps(text)):
            assert may_hold_secrets(form)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_stands_in_such_a_place_and_is_no_secret_stays(text: str) -> None:
    episode = shown(text)
    assert redact(episode) == (episode, NOTHING)


def test_each_row_of_a_table_loses_its_password_only() -> None:
    text = "INSERT INTO users (name, password, age) VALUES ('ann', '{}', 31), ('bob', '{}', 32);"
    clean, redactions = redact(shown(text.format("walrusGarden", "copperThimble")))
    mark = "[redacted: password]"
    assert clean.steps[0].observation == text.format(mark, mark)
    assert redactions.counts == {"password": 2}


NASTY = [
    "insert into t (a, password) values (1,",
    "getConnection(a, b, ",
    'login("a", "',
    'variable "db_password" { ',
    "login -u a -p ",
    "cat a_token\n",
    'type("password',
    "api-key: a1",
    'password = "a b c ',
    "password: abc abc ",
    "api key: a1b2c3d4 ",
    "secrets set a ",
    "net use \\\\a /user:a ",
    "rabbitmqctl a",
    "jdbc:oracle:thin:a/",
    "http -a a:",
    "AUTH a1",
    "set -x A_TOKEN a1",
    "alias set a a a ",
    "pw:pw ",
]


@pytest.mark.parametrize("piece", NASTY)
def test_many_beginnings_without_an_end_are_read_to_the_end(piece: str) -> None:
    clean, _ = redact(shown("= pass key token secret " + piece * (60_000 // len(piece))))
    assert clean.task == "Deploy."
