"""The quick look must say yes to every text, and to every note, in which the rules find a secret.

The texts are those of several sets of planted secrets, cut and changed at random: pieces gone,
signs put in, letters made small. So secrets get as short, and as broken by signs, as the rules
allow. Others are put together from a name, a value, and one of the many ways in which the two
are written side by side.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
import stringzilla
from hypothesis import given
from hypothesis import strategies as st

from deltamem_tui.trajectory.model import Outcome, Step, Trajectory
from deltamem_tui.trajectory.redaction import notes_of, redact
from deltamem_tui.trajectory.secrets import redaction
from deltamem_tui.trajectory.secrets.prefilter import may_hold_secrets, names_may_hold_secrets
from tests.trajectory.secrets.drawing import filled
from tests.trajectory.secrets.planting import COMMANDS, TOKENS, Maker
from tests.trajectory.secrets.test_drawn_set import placed, planted
from tests.trajectory.secrets.test_providers import PREFIXED, uuid

TIMES = 2500
LENGTHS = (1, 1, 2, 4, 8, 16, 40)


def changed(chance: random.Random, text: str) -> str:
    for _ in range(chance.randint(0, 5)):
        at, length = chance.randint(0, len(text)), chance.choice(LENGTHS)
        match chance.choice(("cut", "cut", "put", "lower")):
            case "cut":
                text = text[:at] + text[at + length :]
            case "put":
                text = text[:at] + chance.choice(".~!= \n\"'\\x:-_/#@a") + text[at:]
            case "lower":
                text = text[:at] + text[at : at + length].lower() + text[at + length :]
    return text


def samples(chance: random.Random) -> list[str]:
    """Every example of every rule."""
    texts = [sample.text for sample in (*planted(), *placed())]
    texts += [command.format(make(chance)) for command in COMMANDS for make in VALUES]
    return texts + [make(chance) for make in (*TOKENS.values(), *PREFIXED.values())]


def of(template: str) -> Maker:
    return lambda chance: filled(chance, template)


VALUES = (
    *map(of, ("{P}", "{l6}22", "{l9}", "{a24}", "{l24}", "{w40}", "{S}", "{F}", "{D}", "{M}")),
    *map(of, ("{N}", "{Y}", "{Z}")),
    uuid,
    lambda chance: f"Ab{chance.choice('!@#$%^&*~=?+')}c{chance.randint(10, 9999)}def",
    TOKENS["slack"],
    TOKENS["google"],
)
NAMES = (
    *("pwd", "pw", "pw1", "db_pwd", "userPwd", "PSK", "psk", "pass", "db_pass", "passphrase"),
    *("token", "client-secret", "api_key", "X-Api-Key", "APP_KEY", "credentials", "acmePat", "pat"),
    *("authorization", "cookie: sid", "sig", "Signature", "code", "auth", "cloudant_key", "key"),
    *("JWT_SECRET", "clientSecret", "AUTH_TOKEN", "secret", "SECRET_KEY", "MASTER_KEY", "DB_PASS"),
    *(
        "Passwort",
        "senha",
        "contraseña",
        "mot de passe",
        "密码",
        "パスワード",
        "비밀번호",
        "Пароль",
    ),
    *("X-Auth-Token", "PGPASSWORD", "become_pass", "root_pw", "DEPLOY_TOKEN", "bindpw", "apikey"),
    *("AUTH", "masterauth", "requirepass", "login", "db_password", "x-goog-api-key", "SECRET"),
    *("SMTP_PW", "secret_key_base", "api-secret", "signing key", "TOKENS", "assword"),
)
# `N` stands for the name, `V` for the value, and `_` for blanks or none.
WRAPPINGS = (
    *("N_=_V", "N_:_V", "N_:_'V'", '"N"_:_"V"', "N_:=_'V'", 'N_=>_"V"', "N=`V`", "N V", "N_->_V"),
    *("<N>_V_</N>", "<a N='V'>", "<key>N</key>_<string>_V_</string>", '<p name="N">V</p>'),
    *("<N><![CDATA[V]]></N>", "|_N_|_V_|", "N,V", "- name: N\n  value:_V", "[N]: V", "N [None]: V"),
    *("--N_V", "--N=V", "-N V", "export N=V", "env N V", "ENV N V", "define('N', 'V')"),
    *("os.environ.setdefault('N', 'V')", "server=x;_N_=_V;a=b", "https://a.org/?N=V&b=1"),
    *("the N is V", "the N for staging is_V.", "N for ada: ann:V", "the N are ann_/_V"),
    *("Authorization: Basic V", "Authorization: SSWS V", "N: Bearer V", "ftp://ann:V@host/a"),
    *("curl -u ann:V http://a.org", "https://hook.eu1.make.com/V/", "https://a.org/hook/V"),
    *("N：_V", "N_＝_V", 'N_:=_"V"', 'var N string = "V"', "N: str = 'V'", 'declare -x N="V"'),
    *(
        "set -x N 'V'",
        "N V",
        "N es V",
        "N é V",
        "N ist_V",
        "N是V",
        "N は V です",
        "N — V",
        "N：「V」",
    ),
    *("fill('N', 'V')", 'type(selector="[name=N]", text="V")', "│ N │ V │", "app['N'] = 'V'"),
    *('expect "N:"\nsend "V\\r"', 'send "V\\r" # N', "openssl enc -k V", "aws configure set N V"),
    *("N: $1$abc$V", "N:$2y$10$V", "N $6$abc$V", "aws configure set aws_secret_access_key V"),
    *("Authorization: Token V", "Authorization: N V", "tool login -u ann -p V", "http -a ann:V a"),
    *('let N: &str = "V"', 'variable "N" {\n default = "V"\n}', "setx N V", "set -x N V"),
    *("N('ann', 'V')", 'N("ann", "V")', "a.N(b, 'V')", 'fill("N", "V")', "get('N').type('V')"),
    *("cat N\nV", "cat a.key\nV", "sqlplus ann/V@N", "jdbc:oracle:thin:ann/V@h", "N\tV"),
    *(
        "secrets set N=V",
        "gh secret set N -b V",
        "7z x -pV a",
        "useradd -p V ann",
        "net use \\\\a\\b V /user:a",
    ),
    *(
        "insert into t (a, N) values ('a', 'V')",
        "alias set a http://b a V",
        "mc alias set a http://b a V",
    ),
    *(
        "rabbitmqctl add_user a V",
        "auth=('a', 'V')",
        "x?N=V",
        'identified by "V"',
        "client('a', 'V')",
    ),
    *("getConnection(a, 'b', 'V')", "ConvertTo-SecureString 'V'", "--N=V", "N: V\nb: c", "N_V\n"),
    *("login ann\npassword V", '{"N": {"auth": "V"}}', "N = {'V'}", "use N V", "my key is_V"),
)
BLANKS = ("", "", " ", "  ", "\t", "\n  ", "\N{NO-BREAK SPACE}")


def wrapped(chance: random.Random) -> Iterator[str]:
    """Names and values side by side in every way, and every example within something else."""
    for wrapping in WRAPPINGS:
        for name in NAMES:
            for make in chance.sample(VALUES, 4):
                text = "".join(chance.choice(BLANKS) if c == "_" else c for c in wrapping)
                text = text.replace("N", name).replace("V", make(chance))
                yield text.upper() if chance.random() < 0.05 else text
    for sample in samples(chance):
        yield chance.choice(("<a>{}</a>", '"{}"', "'{}'", "a: {}", "a={}", "| a | {} |")).replace(
            "{}", sample
        )


@pytest.fixture
def chance(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """The seed of a test in which the rules look at everything."""
    monkeypatch.setattr(redaction, "may_hold_secrets", lambda _: True)
    return random.Random(20261122)


@pytest.mark.thorough
def test_no_text_with_a_secret_is_passed_over(chance: random.Random) -> None:
    texts = samples(chance)
    with_secrets = 0
    for _ in range(TIMES):
        text = changed(chance, chance.choice(texts))
        if kinds := redaction.kinds_of_secrets(text):
            with_secrets += 1
            assert_seen(text, kinds)
    assert with_secrets > TIMES / 2


@pytest.mark.thorough
def test_no_secret_is_passed_over_however_it_is_written_down(chance: random.Random) -> None:
    with_secrets = 0
    for text in wrapped(chance):
        if kinds := redaction.kinds_of_secrets(text):
            with_secrets += 1
            assert_seen(text, kinds)
            assert names_may_hold_secrets((text,)), (kinds, text)
    assert with_secrets > TIMES / 2


@given(
    before=st.binary(max_size=300),
    word=st.binary(min_size=1, max_size=20),
    behind=st.binary(max_size=300),
    start=st.integers(0, 100),
)
def test_vector_searches_find_what_plain_ones_do(
    before: bytes, word: bytes, behind: bytes, start: int
) -> None:
    lowered = bytes(range(256)).lower()
    for data in (before + word + behind, before + behind, word * 9 + behind):
        assert stringzilla.translate(data, lowered) == data.lower()
        assert stringzilla.contains(data, word) == (word in data)
        if start < len(data):
            assert stringzilla.find(data, word, start) == data.find(word, start)


def test_a_sign_of_kelvin_hides_no_name() -> None:
    text = "wifi: ps\N{KELVIN SIGN}=Gr4nd-M0untain!77"
    assert may_hold_secrets(text)
    assert redaction.kinds_of_secrets(text) == redaction.kinds_of_secrets(text.lower()) != ()


def assert_seen(text: str, kinds: tuple[str, ...]) -> None:
    for form in (text, json.dumps(text), json.dumps(text, ensure_ascii=False).encode()):
        assert may_hold_secrets(form), (kinds, form)


def test_no_value_is_passed_over_whose_name_makes_it_a_secret(chance: random.Random) -> None:
    with_secrets = 0
    for name in NAMES:
        for make in VALUES:
            notes = notes_of(metadata={name: make(chance)})
            if any(map(redaction.kinds_of_secrets, notes)):
                with_secrets += 1
                assert names_may_hold_secrets(notes), notes
    assert with_secrets > 20


@pytest.mark.parametrize(
    "text",
    [
        "<pwd>Hunter2$9x</pwd>",
        "<dict><key>pwd</key><string>Hunter2$9x</string></dict>",
        "wifi psk = Hunter2$9x",
        "pw = 'Hunter2$9x'",
        "zip -P Hunter2$9x a.zip",
    ],
)
def test_a_secret_goes_from_wherever_an_episode_has_text(text: str) -> None:
    found = Trajectory(
        text,
        text,
        (Step(text, text, text),),
        Outcome(True, reason=text),
        agent=text,
        metadata={"note": text, "psk": "Hunter2$9x", "pw": "Hunter2$9x"},
    )
    clean, redactions = redact(found)
    assert "Hunter2" not in repr(clean)
    assert redactions.total == 10
    for alone in (
        Trajectory("t", steps=(Step("a"),), outcome=Outcome(True, reason=text)),
        Trajectory("t", steps=(Step("a"),), metadata={"note": text}),
        Trajectory("t", steps=(Step("a"),), agent=text),
    ):
        assert redact(alone)[1].total == 1
