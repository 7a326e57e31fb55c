"""Passwords on command lines, and in the statements that a database is given.

Most programs have an option of their own for them, often of one letter, which means something
else to every other program: a rule is about a program and its option.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import (
    BARE,
    LITERAL_PLACEHOLDER,
    PASSWORD,
    PLACEHOLDER,
    RANDOM,
    RANDOM_ENDS,
    RUN,
    Rule,
)
from deltamem_tui.trajectory.secrets.settings import SECRET_KEY

# `-p 8080:80` and `-a 10.0.0.1` mean ports and addresses.
_OPTION_PLACEHOLDER = re.compile(
    rf"(?:\d{{1,5}}[.:/-]?){{1,8}}(?:tcp|udp)?|{LITERAL_PLACEHOLDER.pattern}"
)
_FILE_PLACEHOLDER = re.compile(
    rf".*\.(?:pem|key|pub|crt|json|txt|ya?ml|p8|p12|env|enc)|{PLACEHOLDER.pattern}"
)
_IDENTIFIED = r"identified(?: with [\w'\"]{1,40})? by (?:password )?"
_SENT = r"send (?:--? |-\w )?\\?\"(?P<secret>[^\s\"\\$\[\]{}]{6,200})\\{1,2}[rn]"
# Tokens that say where a list goes on, or what was read before it is written.
_LISTS = ("next", "page", "starting", "lock", "change", "client")
_NO_OTHER = "".join(f"(?<!{word}-)" for word in _LISTS)


def _option(program: str, option: str, *hints: str) -> Rule:
    """A program's option whose value is a password."""
    pattern = rf"{program}\b[^\n|;\0]{{0,200}}? {option}{PASSWORD}"
    return Rule("password", re.compile(pattern), hints, placeholder=_OPTION_PLACEHOLDER)


PROGRAMS = (
    b"login",
    b"mysql",
    b"redis-cli",
    b"ldap",
    b"mongo",
    b"zip ",
    b"smbclient",
    b"sudo",
    b"openssl",
    b"7z",
    b"useradd",
    b"usermod",
    b"http ",
    b"https ",
    b"secret set ",
)
"""Programs whose command lines have nothing else that tells of a secret: with an option, these
alone make a text worth a closer look."""

COMMANDS = (
    _option("docker login", "-p[ =]?", "docker login"),
    _option(r"mysql\w{0,6}", "-p", "mysql"),
    _option("(?<=ssh)pass", "-p ?", "pass"),
    _option("redis-cli", "-a ?", "redis-cli"),
    _option(r"ldap[a-z]{3,8}", "-w ?", "ldap"),
    _option("mongo(?:sh|dump)", "-p ?", "mongo"),
    _option("zip", "-P ?", "zip "),
    Rule(
        "password",
        re.compile(
            r"curl\b(?=[^\n\0]{0,600}/)[^\n\0]{0,300}? (?:-u|--user|--proxy-user|-U)[ =]?"
            r"[\"']?[^\s:\"']{1,64}:"
            rf"(?P<secret>{BARE})"
        ),
        ("curl ",),
        placeholder=PLACEHOLDER,
    ),
    # `-U 'domain\user%V'` of programs for shared folders
    Rule(
        "password",
        re.compile(
            r"smbclient\b[^\n|;\0]{0,200}? -U ?[\"']?[^\s%\"']{1,64}%"
            rf"(?P<secret>{BARE})"
        ),
        ("smbclient",),
        placeholder=PLACEHOLDER,
    ),
    # `--password V`, `-storepass V`
    Rule(
        "password",
        re.compile(
            r"(?:(?<=-)|(?<=-store)|(?<=-key)|(?<=-srcstore)|(?<=-deststore))"
            rf"(?:password|passwd|passphrase|pass)[ =]{PASSWORD}"
        ),
        ("pass",),
        placeholder=PLACEHOLDER,
    ),
    # `--token V`, `--api-key V`, `--client-secret=V`
    Rule(
        "token",
        re.compile(
            rf"(?:(?P<key>key)(?:-base)?|{_NO_OTHER}(?<=-)(?:token|secret|pat))"
            rf"[ =][\"']?(?P<secret>{RANDOM}){RANDOM_ENDS}"
        ),
        ("token", "secret", "key", "pat"),
        placeholder=_FILE_PLACEHOLDER,
        before=SECRET_KEY,
    ),
    # `-passin pass:V`
    Rule(
        "password",
        re.compile(rf"(?<=-)pass(?:in|out|wd|word)?[ =][\"']?pass:{PASSWORD}"),
        ("pass",),
        placeholder=PLACEHOLDER,
    ),
    # `echo V | sudo -S`, `echo V | docker login --password-stdin`, and `sudo -S <<< V`
    Rule(
        "password",
        re.compile(
            rf"echo\s{{1,3}}(?:-\w{{1,3}} )?{PASSWORD}\\?[\"']?\s{{0,3}}\|\s{{0,3}}"
            r"(?:sudo (?:-\w{1,3} ){0,4}?(?:-(?!\d)\w{0,3}S|--stdin)\b"
            r"|[^\n|\0]{0,80}?pass(?:word|wd|phrase)(?:-stdin| --stdin|-fd[ =]0)\b)"
        ),
        ("echo ",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            r"sudo (?:-\w{1,3} ){0,4}?-(?!\d)\w{0,3}S\b"
            rf"[^\n|\0]{{0,80}}?<<<\s{{0,3}}{PASSWORD}"
        ),
        ("sudo ",),
        placeholder=PLACEHOLDER,
    ),
    # `echo 'user:V' | chpasswd`
    Rule(
        "password",
        re.compile(
            r"echo\s{1,3}(?:-\w{1,3} )?\\?[\"']?[\w.-]{1,32}:(?P<secret>[^\s\"'`|\\$<>]{6,200})"
            r"(?:\\{1,2}n)?\\?[\"']?\s{0,3}\|\s{0,3}(?:sudo )?(?:/usr/sbin/)?chpasswd\b"
        ),
        ("echo ",),
        placeholder=PLACEHOLDER,
    ),
    # `htpasswd -nb user V`, `htpasswd -b file user V`
    Rule(
        "password",
        re.compile(
            r"(?<=ht)passwd -\w{0,4}b\w{0,3}(?: \S{1,80}){1,2}? "
            rf"{PASSWORD}(?=\\?[\"']?\s{{0,3}}(?:[\n|;&>)\\]|\Z))"
        ),
        ("pass",),
        placeholder=PLACEHOLDER,
    ),
    # `openssl enc -k V`
    Rule(
        "password",
        re.compile(rf"openssl\b[^\n|;\0]{{0,200}}? -[kK] {PASSWORD}"),
        ("openssl",),
        placeholder=_FILE_PLACEHOLDER,
    ),
    Rule(
        "aws secret",
        re.compile(
            rf"(?:(?<= set )|(?<=\.))aws_se(?:cret_access_key|ssion_token)[ \t]{{1,3}}{PASSWORD}"
        ),
        ("aws_se",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "wandb key",
        re.compile(
            r"wandb login\b[^\n|;\0]{0,120}? [\"']?"
            r"(?P<secret>[0-9a-f]{40}|[A-Za-z0-9_]{60,100})(?![A-Za-z0-9])"
        ),
        ("wandb login",),
    ),
    # What a script answers when it is asked: `expect "assword:"`, `send "V\r"`; or says to answer
    Rule(
        "password",
        re.compile(rf"assword(?:(?!send )[^\0]){{0,120}}{_SENT}"),
        ("assword",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(rf"{_SENT}\\?\"(?=[^\n\0]{{0,20}}pass)", re.IGNORECASE),
        ("send ",),
        placeholder=PLACEHOLDER,
    ),
    # SQL: `WITH PASSWORD 'V'`, `PASSWORD('V')`, `IDENTIFIED BY 'V'`
    Rule(
        "password",
        re.compile(
            r"(?:(?:(?<=with )|(?<=encrypted )|(?<=set ))password\s{1,3}(?:=\s{0,3})?"
            r"|(?-i:PASSWORD)\s?\(\s?"
            rf"|(?:(?<=@'localhost' )|(?<=@'%' )){_IDENTIFIED}"
            # Elsewhere the statement ends in a semicolon, or the password is a long one.
            rf"|{_IDENTIFIED}(?='(?:[^\0]{{0,300}};|{RUN})))"
            r"N?\\?'(?P<secret>[^\s'\\]{6,200})\\?'",
            re.IGNORECASE,
        ),
        ("pass", "identified"),
        placeholder=PLACEHOLDER,
    ),
)
