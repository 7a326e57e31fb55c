"""Weak secrets behind names that leave no doubt: short ones, words, and words with blanks.

`settings` asks that a value look like a password, since `password: incorrect` and
`password=userInput` are none. Here it may be `zebra`: what says enough is a name in capitals
before an equals sign, as shells and containers have it, an option of a program, a header, or a
line of its own.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import (
    LITERAL_PLACEHOLDER,
    MIXED,
    PASSWORD,
    PLACEHOLDER,
    SHORT_KEY,
    SHORT_PASSWORD,
    TOKEN_PLACEHOLDER,
    Rule,
)
from deltamem_tui.trajectory.secrets.settings import LONG_NAMES, SECRET_KEY

# Lists go on with tokens, and models have tokens of their own.
_OTHERS = ("next", "page", "starting", "lock", "change", "client", "pad", "eos", "bos", "mask")
_NO_OTHER = "".join(f"(?<!{word}[_-])" for word in _OTHERS)
_NO_NAME = re.compile(
    rf"(?i:(?:my|your|the|test|change|replace|some)[_-].*|.*\.(?:pem|key|json|txt|ya?ml|env|sh|py))"
    rf"|{LITERAL_PLACEHOLDER.pattern}"
)
_NO_HEADER = re.compile(
    rf"(?i:.*(?:token|key|secret).*)|{PLACEHOLDER.pattern}|{TOKEN_PLACEHOLDER.pattern}"
)
# Words that make a sentence, which no passphrase is.
_SENTENCE = re.compile(
    r"(?i:.*(?<![a-z])(?:the|an?|your|my|must|be|is|are|was|not|no|to|for|please|enter|at|or|and|in"
    r"|of|on|by|should|with|from|using|via|if|has|can|does|required|invalid|password|example|change"
    r"|this|that|it|you|we|will|only|least|per|new|old|failed|access)(?![a-z]).*)"
)
_WORD = r"[A-Za-z0-9!@#$%^&*+=?-]{1,20}"

VARIABLES = (
    # `PGPASSWORD=zebra`, `-e MYSQL_ROOT_PASSWORD=mariaSecret`
    Rule(
        "password",
        re.compile(
            r"(?:PASSWORD|PASSWD|PASSPHRASE|(?:(?<=[A-Z0-9]_)|(?<=SSH))(?:PASS|PWD?)(?=\d?=[\"']?[A-Za-z]))"
            rf"\d?={SHORT_PASSWORD}"
        ),
        ("pass", "pw"),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `--password=zebra`
    Rule(
        "password",
        re.compile(rf"(?<=-)(?:password|passwd|passphrase|pass)={SHORT_PASSWORD}"),
        ("pass",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `"password": "admin"`, `become_password: "camelCase"`, and `password: admin` as a line
    Rule(
        "password",
        re.compile(
            rf"{LONG_NAMES}(?:\\?[\"']?\s{{0,3}}[:=]\s{{0,3}}\\?(?P<quote>[\"'])|:[ ]{{1,3}})"
            r"(?P<secret>(?(quote)[^\s\"'`\\]{4,200}|[A-Za-z][\w!@#$%^&*-]{3,4}))"
            r"(?(quote)\\?(?P=quote)|(?=[ \t]{0,40}(?:\n|\\n|\Z)))",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `become_pass: V` of inventories; `pass: V` is a test's verdict too.
    Rule(
        "password",
        re.compile(
            r"(?<=[a-z0-9]_)(?:pass|pwd?):[ \t]{1,3}(?=[\"']?[A-Za-z])(?=[^\s\d]{0,60}\d)"
            rf"{PASSWORD}",
            re.IGNORECASE,
        ),
        ("pass", "pw"),
        placeholder=PLACEHOLDER,
    ),
    # `let pw: &str = "V"`, `password: str = "V"`, `var password string = "V"`
    Rule(
        "password",
        re.compile(
            r"(?:passw(?:or)?d|passphrase|pwd?)(?::\s?&?(?:'\w{1,10} )?[A-Za-z]{2,12}| string)"
            r"\s?=\s?\\?(?P<quote>[\"'])(?P<secret>[^\s\"'`\\]{4,200})\\?(?P=quote)",
            re.IGNORECASE,
        ),
        ("pass", "pw"),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `password = "correct horse battery staple"`, and such words as a line
    Rule(
        "password",
        re.compile(
            rf"{LONG_NAMES}\s?(?:=|:=)\s?\\?(?P<quote>[\"'])(?P<secret>(?:{_WORD} ){{2,8}}{_WORD})"
            r"\\?(?P=quote)",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=_SENTENCE,
    ),
    Rule(
        "password",
        re.compile(
            rf"{LONG_NAMES}: (?P<secret>(?-i:[a-z]{{3,12}} ){{3,7}}(?-i:[a-z]{{3,12}}))(?=\n|\Z)",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=_SENTENCE,
    ),
    # `DEPLOY_TOKEN=ci-deploy-77`
    Rule(
        "token",
        re.compile(
            rf"(?i:{_NO_OTHER})"
            r"(?:(?P<key>KEY)|SECRET|TOKEN)(?:_BASE)?=(?P<quote>[\"'])?"
            rf"(?P<secret>{MIXED}[A-Za-z0-9][A-Za-z0-9_.+~-]{{7,80}})"
            r"(?(quote)(?P=quote)|(?![\w(./:=\[-]))"
        ),
        ("key", "secret", "token"),
        placeholder=_NO_NAME,
        before=SECRET_KEY,
    ),
    # `setx API_TOKEN V`, `set -gx API_TOKEN V`
    Rule(
        "token",
        re.compile(
            r"set(?:x| -[A-Za-z]{1,3})[ \t]{1,3}\w{0,60}_"
            r"(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASS|PW)"
            rf"[ \t]{{1,3}}[\"']?(?P<secret>{SHORT_KEY})"
        ),
        ("setx ", "set -"),
        placeholder=_NO_NAME,
    ),
    # `heroku config:set APP_SECRET=V` is known by its name; of these all values are secrets.
    Rule(
        "token",
        re.compile(
            r"secrets? set (?:[^\n|;\0]{0,120}? )?(?:\w{1,60}=|(?:--body|-b)[ =]?)"
            rf"{SHORT_PASSWORD}"
        ),
        ("secret set ", "secrets set "),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `X-Auth-Token: V`, `api-key: V`
    Rule(
        "authorization header",
        re.compile(
            rf"(?:(?:(?<=[a-z][_-])|(?<=api)(?=key\\?\")){_NO_OTHER}(?:(?P<key>key)|token|secret))"
            rf"\\?[\"']?[ ]?:[ \t]{{0,3}}\\?[\"']?(?P<secret>{SHORT_KEY})",
            re.IGNORECASE,
        ),
        ("key", "token", "secret"),
        placeholder=_NO_HEADER,
        before=SECRET_KEY,
    ),
    # `apikey: V`, `API key: V` as a line; with anything behind it, it is a sentence.
    Rule(
        "token",
        re.compile(
            rf"(?:(?<=api)|(?<=api ))key:[ \t]{{1,3}}[\"']?(?P<secret>{SHORT_KEY})"
            r"(?=[\"']?[ \t]{0,40}(?:\n|\\n|\Z))",
            re.IGNORECASE,
        ),
        ("key:",),
        placeholder=_NO_HEADER,
    ),
    Rule(
        "authorization header",
        re.compile(
            r"authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:token|api-?key|key|bearer|basic)"
            r"[ =:]{1,3}"
            rf"(?P<secret>{SHORT_KEY})",
            re.IGNORECASE,
        ),
        ("auth",),
        placeholder=_NO_HEADER,
    ),
    # `variable "db_password" { default = "V" }` of Terraform
    Rule(
        "password",
        re.compile(
            rf"(?:{LONG_NAMES}|(?<=_)pass)\\?\"\s?\{{[^{{}}\0]{{0,400}}?(?<!\w)default\s{{0,20}}=\s?{PASSWORD}",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    Rule(
        "token",
        re.compile(
            r"(?:(?P<key>key)|token|secret)\\?\"\s?\{[^{}\0]{0,400}?(?<!\w)default\s{0,20}=\s?\\?\""
            rf"(?P<secret>{SHORT_KEY})(?=\\?\")",
            re.IGNORECASE,
        ),
        ("key", "token", "secret"),
        placeholder=PLACEHOLDER,
        before=SECRET_KEY,
    ),
)
