"""Secrets beside the name of whom they let in: on command lines, in addresses and in settings.

`-p` and `-a` mean many things, so a rule is about a program, or about a login with a user.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import (
    JUMBLED,
    LITERAL_PLACEHOLDER,
    PASSWORD,
    RANDOM,
    SHORT_KEY,
    SHORT_PASSWORD,
    Rule,
    bare,
)

_NO_PASSWORD = re.compile(rf"(?:\d{{1,5}}[.:/-]?){{1,8}}(?:tcp|udp)?|{LITERAL_PLACEHOLDER.pattern}")
# Mechanisms, in the words of mail servers
_MECHANISM = re.compile(
    rf"(?i:(?:login|plain|x?oauth|cram|digest|scram|ntlm|sha|md|gssapi|tls)\S*)|{LITERAL_PLACEHOLDER.pattern}"
)
_REST = r"[^\n|;\0]"
_USER = r" (?:-u|--user(?:name)?)[ =]?"
_END_OF_LINE = r"(?=[ \t]{0,40}(?:\n|\\n|\\?[\"']|\Z))"

LOGINS = (
    # `curl -u ann:V`, `http -a ann:V`; in quotation marks it may have blanks in it
    Rule(
        "password",
        re.compile(
            rf"(?:curl\b(?=[^\n\0]{{0,600}}/){_REST}{{0,300}}? (?:-u|--user|--proxy-user|-U)"
            rf"|(?<![\w/.-])https? {_REST}{{0,300}}?(?:-a|--auth))[ =]?"
            r"(?:\\?(?P<quote>[\"'])[^\s:\"']{1,64}:(?P<quoted>)|[^\s:\"']{1,64}:)"
            rf"(?P<secret>(?(quoted)[^\n\"'\\$<>{{}}]{{4,64}}(?=\\?(?P=quote))|(?!\d{{1,5}}(?!\w)){bare(4)}))"
        ),
        ("curl ", "http ", "https "),
        placeholder=_NO_PASSWORD,
    ),
    # `az login -u ann -p V`
    Rule(
        "password",
        re.compile(
            rf"login\b(?={_REST}{{0,300}}?{_USER}){_REST}{{0,300}}? (?:-p|--password)[ =]?"
            rf"{PASSWORD}"
        ),
        ("login ",),
        placeholder=_NO_PASSWORD,
    ),
    Rule(
        "password",
        re.compile(
            rf"(?:7z[ar]?\b{_REST}{{0,200}}? -p|user(?:add|mod)\b{_REST}{{0,200}}? -p ){PASSWORD}"
        ),
        ("7z", "useradd", "usermod"),
        placeholder=_NO_PASSWORD,
    ),
    # `net use Z: \\host\share V /user:ann`, `… /user:ann V`
    Rule(
        "password",
        re.compile(
            r"net use (?:\S{1,40} )?\\{2,4}\S{1,120} (?:/user:\S{1,80} |(?=\S{1,80} /user:))"
            r"\\?[\"']?(?P<secret>[^\s\"'*/$%<\\][^\s\"'<>\\]{3,100})",
            re.IGNORECASE,
        ),
        ("net use ",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"rabbitmqctl {_REST}{{0,80}}?(?:add_user|change_password|authenticate_user)"
            rf" \S{{1,60}} {PASSWORD}"
        ),
        ("rabbitmqctl ",),
        placeholder=_NO_PASSWORD,
    ),
    # `jdbc:oracle:thin:ann/V@host`, `sqlplus ann/V@host`
    Rule(
        "password",
        re.compile(
            r"(?:jdbc:oracle:\w{2,5}:|sql(?:plus|ldr) (?:-\w{1,4} ){0,3})\\?[\"']?[\w$#.-]{1,40}/"
            r"\\?[\"']?(?P<secret>[^\s/@\"'<>{}$\\]{3,100})\\?[\"']?@",
            re.IGNORECASE,
        ),
        ("jdbc:oracle:", "sqlplus ", "sqlldr "),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `jdbc:mysql://host/db?user=ann&password=V`
    Rule(
        "password",
        re.compile(
            r"(?<=[?&;])pass(?:word|wd)?=(?P<secret>[^\s&\"'`<>;,(){}$\[\]\\*%][^\s&\"'`<>;,(){}\[\]\\]{3,200})",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # The settings of caches and of directories
    Rule(
        "password",
        re.compile(rf"(?<=require)pass[ \t]{{1,3}}{PASSWORD}{_END_OF_LINE}", re.IGNORECASE),
        ("pass",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"(?:(?<=master)auth|(?<=bind)pw)[ \t]{{1,8}}{PASSWORD}{_END_OF_LINE}",
            re.IGNORECASE,
        ),
        ("auth", "pw"),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            r"(?:(?<![^\n])|(?<=> ))AUTH (?:[\w-]{1,30} )?"
            rf"(?=[A-Za-z!@#$%^&*_-]{{0,60}}\d)(?=\d{{0,60}}[A-Za-z]){PASSWORD}{_END_OF_LINE}"
        ),
        ("auth",),
        placeholder=_MECHANISM,
    ),
    # The file of a secret, and what is in it: also as what was done, and what came of it
    Rule(
        "token",
        re.compile(
            rf"cat {_REST}{{0,120}}?(?:token|secret|passw(?:or)?d|_pass|api[_-]?key|[\w-]\.key)"
            r"(?:\.txt|\.key)?\\?[\"']?(?:\n|\\n)(?:\0\n)?"
            rf"(?P<secret>[0-9a-f]{{32,64}}|{RANDOM}){_END_OF_LINE}"
        ),
        ("cat ",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            r"(?<=[_.-])pass(?:word|wd)?(?:\.txt)?\\?[\"']?(?:\n|\\n)(?:\0\n)?"
            rf"(?P<secret>{JUMBLED}[A-Za-z0-9]{{8,40}}){_END_OF_LINE}"
        ),
        ("pass",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `| password | V |`
    Rule(
        "password",
        re.compile(
            rf"(?:password|passwd|passphrase)\*{{0,2}}`?\s{{0,40}}[|\u2502]\s{{1,3}}`?(?P<secret>{JUMBLED}{SHORT_KEY})"
            r"`?\s{0,40}[|\u2502]",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    # `SET PASSWORD … PASSWORD("V")`, `IDENTIFIED BY "V"`
    Rule(
        "password",
        re.compile(
            r"(?:(?:(?<=with )|(?<=set ))password\s{1,3}(?:=\s{0,3})?|(?-i:PASSWORD)\s?\(\s?"
            r"|identified by )"
            r"\\?\"(?P<secret>[^\s\"\\]{6,200})\\?\"",
            re.IGNORECASE,
        ),
        ("pass", "identified by"),
        placeholder=LITERAL_PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"(?:(?<=mc )|(?<=mcli ))alias set \S{{1,60}} \S{{1,200}} \S{{1,80}} {SHORT_PASSWORD}"
        ),
        ("alias set ",),
        placeholder=_NO_PASSWORD,
    ),
)
