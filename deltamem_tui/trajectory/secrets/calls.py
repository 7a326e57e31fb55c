"""Secrets that are arguments: of calls that log in, of fields that are typed into, of rows.

What says that a value is a password is which argument it is: the one behind the user's name.
It stands in quotation marks, so it is no variable, whatever it looks like.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import LITERAL_PLACEHOLDER, Rule

_V = r"\\?(?P<quote>[\"'])(?P<secret>[^\s\"'`\\,]{4,200})\\?(?P=quote)"
_USER = r"(?:\\?[\"'][^\"'\n\\]{0,120}\\?[\"']|[\w.$-]{1,60})"
_NEXT = r"\s{0,3},\s{0,20}"
_ENDS = r"(?=[,)])"

# What people do in an application after they have logged in, and the methods of doing so.
_NO_PASSWORD = re.compile(
    r"(?i:.*://.*|/.*|\#.*|\w+@[\w.-]+|[\w-]+\.(?:\w+\.)*(?:com|org|net|io|local|html?|php|json)"
    r"|credentials?|google|github|email|submit|button|success|click|redirect\w*|utf-?8|basic|digest"
    r"|bearer|oauth2?|sha-?\d+|md5|base64|bcrypt|admin|guest|anonymous|localhost|visible|enabled)"
    rf"|{LITERAL_PLACEHOLDER.pattern}"
)
_LOGINS = "login|signin|sign_in|authenticate|credentials?|authentication|auth"
_COLUMNS = 8


def _rows(before: int) -> Rule:
    """The passwords in the rows of a table, behind so many other values of the same row."""
    columns = rf"(?:[^,()\n]{{1,40}},){{{before}}}"
    values = rf"(?:\s?(?:'[^'\n]{{0,120}}'|[^,()'\s]{{0,60}}),){{{before}}}"
    return Rule(
        "password",
        re.compile(rf"\({values}\s?N?\\?'(?P<secret>[^\s'\\]{{4,200}})\\?'(?=\s?[,)])"),
        ("insert into",),
        placeholder=LITERAL_PLACEHOLDER,
        within=re.compile(
            rf"insert into\s[^()\n\0]{{1,80}}\({columns}"
            r"\s?[\w\"`\[]{0,20}pass(?:word|wd)?[\"`\]]?\s?[,)]"
            r"[^\0;]{0,4000}",
            re.IGNORECASE,
        ),
    )


CALLS = (
    # `smtp.login("x", "V")`, `HTTPBasicAuth("x", "V")`, `new NetworkCredential("x", "V")`,
    # `auth=("x", "V")`, `PlainAuth("", "x", "V", host)`
    Rule(
        "password",
        re.compile(
            rf"(?:(?<![a-z])(?:{_LOGINS})|(?<=basic)auth|(?<=digest)auth|(?<=plain)auth|(?<=ntlm)auth"
            r"|(?<=set)login|(?<=network)credentials?|(?<=password)(?:credentials?|authentication))"
            rf"(?:\s?=\s?)?\((?:\s{{0,20}}\\?[\"']{{2}},\s?)?\s{{0,20}}{_USER}{_NEXT}(?:Some\()?{_V}{_ENDS}",
            re.IGNORECASE,
        ),
        ("login", "sign", "auth", "credential"),
        placeholder=_NO_PASSWORD,
    ),
    # `getConnection(url, "x", "V")`
    Rule(
        "password",
        re.compile(
            rf"getconnection\(\s{{0,20}}{_USER}(?:\([^()\n]{{0,60}}\))?{_NEXT}{_USER}{_NEXT}{_V}{_ENDS}",
            re.IGNORECASE,
        ),
        ("getconnection(",),
        placeholder=_NO_PASSWORD,
    ),
    # `ConvertTo-SecureString "V"`
    Rule(
        "password",
        re.compile(rf"-securestring (?:-\w{{1,12}} ){{0,2}}{_V}", re.IGNORECASE),
        ("-securestring ",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `Client("AC…", "V")`: the key of an account of Twilio
    Rule(
        "token",
        re.compile(
            rf"client\(\s{{0,20}}{_USER}{_NEXT}\\?[\"'](?P<secret>[0-9a-f]{{32,64}})\\?[\"']",
            re.IGNORECASE,
        ),
        ("client(",),
    ),
    # `fill("#password", "V")`, `get("#password").type("V")`
    Rule(
        "password",
        re.compile(
            r"(?:fill|type|send_keys|sendkeys|setvalue|set_value|input_text|enter_text|append)\("
            r"[^\n\0]{0,80}?pass(?:word|wd|phrase|code)?[\w\\\"'\]]{0,8},\s{0,3}"
            rf"(?:\\?[\"']?(?:text|value|keys)\\?[\"']?\s?[:=]\s?)?{_V}",
            re.IGNORECASE,
        ),
        ("fill(", "type(", "keys(", "sendkeys(", "send_keys(", "value(", "_text(", "append("),
        placeholder=_NO_PASSWORD,
    ),
    Rule(
        "password",
        re.compile(
            r"pass(?:word|wd|phrase|code)?[\w\\\"'\]-]{0,12}\)(?:\.(?:first|clear|focus|click)\(\))?"
            rf"\.(?:type|fill|send_keys|sendkeys|setvalue|set_value|press_?sequentially)\(\s?{_V}",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=_NO_PASSWORD,
    ),
    *map(_rows, range(_COLUMNS)),
)
