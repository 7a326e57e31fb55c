"""Secrets that are known by the place where they stand, and what stands in such places else.

Each row of `PLACES` is a class of places that a rule is about, with other names and programs
than the set of independent secrets has. `HARMLESS` holds what the same rules have to leave.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable

import pytest

from deltamem_tui.trajectory.model import Step, Trajectory
from deltamem_tui.trajectory.redaction import redact
from deltamem_tui.trajectory.secrets.redaction import NOTHING

Maker = Callable[[random.Random], str]
ALNUM = string.ascii_letters + string.digits
WORDS = ("Sunset", "Dragon", "Winter", "Hello", "River", "Boat")


def of(letters: str, count: int, after: str = "") -> Maker:
    return lambda chance: "".join(chance.choices(letters, k=count)) + after


def human(chance: random.Random) -> str:
    """A password as people make one up."""
    first, second = chance.sample(WORDS, 2)
    return f"{first}{chance.choice('_-')}{second}{chance.randint(10, 9999)}{chance.choice('!#')}"


random_key, hexadecimal = of(ALNUM, 32), of("0123456789abcdef", 40)
base64 = of(ALNUM + "+/", 40)

# `§` stands for the secret.
PLACES: dict[str, tuple[Maker, tuple[str, ...]]] = {
    "glued to what is before": (
        of(ALNUM, 48),
        (
            '{"stdout": "done\\nsk-§\\n"}',
            "'done\\tsk-§'",
            '{"log": "{\\"out\\": \\"ok\\\\nsk-§\\"}"}',
            "[1;31msk-§[0m",
            "[01;31m[Ksk-§[m[K",
            "redirect=https%3A%2F%2Fexample.org%3Fkey%3Dsk-§",
            "a\\u0026key\\u003dsk-§\\u0026b",
        ),
    ),
    "a key with a name": (
        random_key,
        (
            "ACME_PAT=§",
            "acmePat: '§'",
            "STRIPE_KEY=§",
            '{"name": "ACME_API_KEY", "value": "§"}',
            '[{"Name":"ACME_TOKEN","Value":"§"}]',
            '"environment": [{\\"name\\": \\"ACME_SECRET\\", \\"value\\": \\"§\\"}]',
            "- name: ACME_TOKEN\n  value: §",
            '<add key="AcmeApiKey" value="§"/>',
            "<apiToken>§</apiToken>",
            '<string name="acme_api_key">§</string>',
            "define('ACME_API_KEY', '§');",
            'monkeypatch.setenv("ACME_TOKEN", "§")',
            "os.environ.setdefault('ACME_SECRET', '§')",
            "| ACME_TOKEN | § |",
            "API Key [None]: §",
            "X-Acme-Key: §",
            "-H 'Acme-Access-Token: §'",
            "acme login --token §",
            "acme --signing-key § run",
            "the acme api key is § until Friday",
            "here is my key: §",
            "I made an access token for you:\n\n  §\n\nIt ends on Friday.",
            "use secret § here",
            "SECRET_KEY_BASE: §",
        ),
    ),
    "a key with a name that shows a hash": (
        hexadecimal,
        ("with token § it works", "the wandb api key is §", "- name: ACME_TOKEN\n  value: §"),
    ),
    "a password with a name": (
        human,
        (
            "- name: DB_PASSWORD\n  value: §",
            '{"key": "db_password", "value": "§"}',
            '<add key="DbPassword" value="§" />',
            "<password>§</password>",
            '<property name="db.password"><![CDATA[§]]></property>',
            "<key>Password</key>\n  <string>§</string>",
            "define( 'FTP_PASS', '§' );",
            "auth: { user: 'ada', pass: '§' }",
            "DB_PASS: §",
            "Server=db;Password=-§;Database=a",
            'psk="§"',
        ),
    ),
    "a password that is told": (
        human,
        (
            "The password for the admin account is §.",
            "the root password is `§`, right?",
            "Your temporary password is: §",
            "user: ada@example.org\npass: §",
            "I set the password to §",
            'log in with password "§"',
            "mot de passe : §",
            "the credentials are ada:§",
            "credentials: ada / §",
        ),
    ),
    "a password on a command line": (
        human,
        (
            "redis-cli -h cache -a § ping",
            "ldapsearch -x -D cn=admin -w § -b dc=example",
            "mongosh -u root -p § --quiet",
            "zip -P § all.zip a b",
            "echo '§' | sudo -S apt-get update",
            "sudo -S apt-get update <<< '§'",
            'echo "§" | docker login -u ada --password-stdin',
            "echo 'ada:§' | sudo chpasswd",
            "smbclient //nas/share -U 'corp\\ada%§'",
            "openssl enc -aes-256-cbc -pass pass:§ -in a",
            "keytool -importcert -storepass § -file a",
            "htpasswd -nb ada §",
            "curl --user 'ada:§' https://example.org",
            "CREATE USER ada WITH PASSWORD '§';",
            "ALTER USER 'ada'@'localhost' IDENTIFIED BY '§'",
            "create user ada identified by '§';",
        ),
    ),
    "a file of a known make": (
        of(ALNUM, 24),
        (
            "$ cat .pgpass\ndb:5432:shop:ada:§\ndb:5432:*:bob:§",
            "machine example.org\n    login ada\n    password §",
            '"type": "random_password", "attributes": {"length": 24, "result": "§"}',
        ),
    ),
    "an account's keys": (
        of(ALNUM + "+/", 86, "=="),
        (
            '{"keyName": "key2", "permissions": "FULL", "value": "§"}',
            "key1       FULL           §",
            '"primaryKey": "§"',
        ),
    ),
    "an address that is signed": (
        of(ALNUM, 64),
        (
            "https://example.org/k?X-Amz-Expires=60&X-Amz-Signature=§",
            "https://example.org/k?X-Goog-Expires=60&X-Goog-Signature=§&a=1",
            "https://example.org/v.mp4?Expires=1&amp;Signature=§",
            "https://a.azurewebsites.net/api/f?code=§",
            "https://a.webhook.office.com/webhookb2/1@2/IncomingWebhook/§/3",
        ),
    ),
    "a header": (
        random_key,
        ("Authorization: SSWS §", "DD-APPLICATION-KEY: §", "x-acme-token: §"),
    ),
    "a cookie": (
        random_key,
        (
            "Cookie: theme=dark; PHPSESSID=§; lang=en",
            "Cookie: sid=§; __Host-auth=§",
            "< set-cookie: connect.sid=s%3A§; HttpOnly",
            "curl -s -b 'session_id=§' https://example.org",
            "requests.get(url, cookies={'sessionid': '§'})",
            "# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t1790000000\tauth\t§",
            '{"cookies": [{"name": "sid", "value": "§", "domain": ".example.org"}]}',
        ),
    ),
    "a private key": (
        of(ALNUM + "+/", 64),
        (
            "$ head -3 a.pem\n-----BEGIN RSA PRIVATE KEY-----\n§\n§",
            '"key": "-----BEGIN PRIVATE KEY-----\\n§\\n§\\n',
            "     1\t-----BEGIN EC PRIVATE KEY-----\n     2\t§\n     3\t§",
            "Private-Lines: 2\n§\n§\nPrivate-MAC: 00",
        ),
    ),
    "a member of a web key": (
        of(ALNUM + "-_", 43),
        (
            '{"kty": "OKP", "crv": "Ed25519", "d": "§", "x": "1"}',
            '{"crv": "P-256", "d": "§", "kty": "EC"}',
            '{"kty": "oct", "k": "§"}',
        ),
    ),
    "a key of the cluster": (
        of("abcdef0123456789", 16),
        ("kubeadm join 10.0.0.1:6443 --token ab12cd.§ --v=5",),
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_secret_is_known_by_its_place(name: str) -> None:
    make, texts = PLACES[name]
    chance = random.Random(name)
    kept = []
    for text in texts:
        for _ in range(8):
            secrets: list[str] = []

            def put(_: re.Match[str], into: list[str] = secrets) -> str:
                into.append(make(chance))
                return into[-1]

            planted = re.sub("§", put, text)
            clean, _ = redact(Trajectory("Deploy.", steps=(Step("continue", planted),)))
            left = clean.steps[0].observation
            if any(secret[at : at + 8] in left for secret in secrets for at in range(9)):
                kept.append(planted)
    assert len(kept) <= 0.02 * 8 * len(texts), kept


HARMLESS = [
    # names without values, and values that are none
    "password is required",
    "the password is incorrect",
    "The password for the database is stored in the vault.",
    "the password is base64-encoded",
    "The password was SHA256-hashed in 2024-11-02.",
    "password is 12-character",
    "Change the password to something stronger.",
    "pass: 12 failed: 3",
    "pass: true",
    "PASS: TestLogin/valid_user_2",
    "- pass: 100%",
    "Passed: 12, Failed: 3",
    "The API key is missing.",
    "the key is missing",
    "the secret is invalid",
    "token is expired",
    "the token is valid for 3600 seconds",
    "use token authentication instead",
    "secret sauce of the implementation",
    "The token 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 is a coin.",
    "credentials: see the wiki",
    "credentials are loaded from ~/.aws/credentials",
    "I created an API key for you:\n\nhttps://example.org/account/settings/api-keys",
    # names and values apart
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: database-credentials",
    "- name: LOG_LEVEL\n  value: information",
    '{"name": "password", "type": "string"}',
    '{"name": "token", "in": "query", "required": true}',
    '<add key="Theme" value="solarized-dark-2"/>',
    '<label for="password">Password:</label>',
    '<a class="reset-password">Forgot password?</a>',
    "<password>secret</password>",
    "define('WP_DEBUG', false);",
    "define('DB_PASSWORD', getenv('DB_PASSWORD'));",
    "os.environ.get('API_TOKEN', 'default')",
    "| name | type |\n| token | string |",
    "PrivateKey = Ed25519PrivateKey | X25519PrivateKey",
    '"result_key": "DescribeS3AccessPointAttachments"',
    "cache-key: linux-4f2a9c0d7b1e4f2a9c0d7b1e4f2a9c0d",
    "Idempotency-Key: 0190a1b2c3d47e5f8a9b0c1d2e3f4a5b",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "PRIMARY_KEY=0123456789abcdef0123",
    "PATH=/usr/local/bin:/usr/bin",
    "compatible: linux-image-5.15.0-91-generic",
    # command lines
    "redis-cli -h cache ping",
    "docker run -p 8080:80 mongo",
    "mongosh -p 27017",
    "echo done | sudo tee /etc/motd",
    "echo 'hello world' | sudo -u postgres psql",
    "cat password.txt | sudo -S true",
    "openssl rsa -passin env:KEY_PASS -in a.pem",
    'mysql -u root -p"$MYSQL_ROOT_PASSWORD"',
    'sshpass -p "$SSH_PASS" ssh ada@example.org',
    "kubectl --token $TOKEN get pods",
    "aws s3api list-objects --starting-token 0190a1b2c3d47e5f8a9b0c1d2e3f4a5b",
    "ssh-keygen --private-key keys/deploy-2024.pem",
    "CREATE USER ada WITH PASSWORD NULL;",
    "git log --author ada -S password",
    "tar -czf a.tar.gz -C /srv .",
    # addresses, headers and cookies
    "signature=inspect.signature(function)",
    "Signature = namedtuple('Signature', 'name')",
    "https://example.org/search?design=modern&sort=newest",
    "https://example.org/errors?code=invalid_request",
    "Authorization: see the chapter on headers",
    "Authorization: AWS4-HMAC-SHA256 Credential=mock_access_key/20220524/us-east-1/aws4_request",
    "Cookie: theme=dark; lang=en; consent=yes",
    "Set-Cookie: session=; Max-Age=0; Path=/",
    "cookies = {'theme': 'dark'}",
    "https://example.webhook.office.com/",
    # keys
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY----- must stand on a line of its own in the configuration",
    '{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"}',
    '{"d": "M10 10h4v4h-4z", "k": "v"}',
    '"type": "random_password", "attributes": {"length": 24, "special": true}',
    "$ ls -la .pgpass\n-rw------- 1 ada ada 40 Nov 2 09:11 .pgpass",
    "listening on 127.0.0.1:5432:5432/tcp",
    "v1.0-beta2 is out",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_in_such_a_place(text: str) -> None:
    episode = Trajectory("Deploy.", steps=(Step("continue", text), Step("tests passed", "")))
    clean, redactions = redact(episode)
    assert clean is episode, clean.steps[0].observation
    assert redactions == NOTHING


NASTY = [
    *(
        "cookie: sid=",
        "password is ",
        "the password for a is ",
        '"d":"',
        'kty"',
        "define('a_key','",
    ),
    *(
        "pgpass\na:1:b:c:",
        "random_password ",
        "echo a | ",
        "curl -b ",
        "identified by '",
        "key is ",
    ),
    *(
        "&signature=a1",
        "secret_key: 'abc123,",
        "credentials a:",
        "name: a_key, ",
        "| token | ",
        "[3m",
    ),
    *(
        "htpasswd -b a a ",
        "A1bCd/",
        "<password>",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "-----END PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "secret = 'a1!",
        "| token | a1",
        "assword send ",
        "密码 para ",
        "$6$a$",
        "openssl -k a",
    ),
]


@pytest.mark.parametrize("piece", NASTY)
def test_many_beginnings_without_an_end_are_read_to_the_end(piece: str) -> None:
    text = "pass key token secret cookie " + piece * (100_000 // len(piece))
    clean, _ = redact(Trajectory("Deploy the site.", steps=(Step("ls", text),)))
    assert clean.task == "Deploy the site."
