"""Secrets known by their names: a name, something between, and a value.

What stands between is an equals sign or a colon in most texts. In others the value has a name
of its own (`name: X`, `value: V`), is an element of XML, or the next argument of a call.
"""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import (
    CAMEL_CASE,
    PASSWORD,
    PLACEHOLDER,
    RANDOM,
    RANDOM_ENDS,
    RUN,
    SHUFFLED,
    TOKEN_PLACEHOLDER,
    Rule,
)

# Of keys whose name alone says nothing, since tables, maps and caches have keys too: a word
# that makes one a secret, ...
SECRET_KEY = re.compile(
    r"(?:api|access|account|admin|app|application|auth|bot|cipher|client|consumer|deploy|encryption"
    r"|fernet|functions?|hmac|host|ingest|integration|jwt|license|management|master|personal"
    r"|private|project|secret|security|server|service|session|shared|signing|storage|subscription"
    r"|team|user|webhook)[ _-]?$",
    re.IGNORECASE,
)
# ... and in capitals, or as a header, any word but those of keys that everybody may know.
_OPEN_KEYS = (
    "cache|composite|foreign|group|hash|idempotency|index|lookup|map|object|order|partition|pass"
    "|primary|public|publishable|registry|result|row|s3|shard|site|sort|storage|surrogate|unique|websocket"
)
_ANY_KEY = re.compile(
    rf"(?<![A-Za-z0-9_-])(?![A-Za-z0-9_-]{{0,20}}?(?:{_OPEN_KEYS})[_-]$)[A-Za-z0-9_-]{{1,23}}[_-]$",
    re.IGNORECASE,
)

# After the name: of which place, or the how-many-th it is, as in `SECRET_KEY_BASE`.
_WHICH = r"(?:[ _-]?(?:base|prod(?:uction)?|dev|staging|test|live|old|new|\d))?"
# `key = V`, `"key": "V"`, `Key [None]: V`, the prompt of a tool that shows the value it has;
# also with the wide signs of Chinese and Japanese.
_ASSIGNED = r"\\?[\"']?(?:\]|\s?\[[^\]\n]{0,30}\])?\s{0,3}(?::=|=>|[:=\uff1a\uff1d]|%3[Dd])\s{0,3}"
# `- name: KEY`, `value: V` of manifests, also as members of JSON and attributes of XML.
APART = (
    r"\\?[\"']?(?:,|\s|\\n)(?:[^{}<>\n\\]{0,60},)?(?:\s|\\n){0,24}\\?[\"']?"
    r"(?:parameter|secret)?_?val(?:ue)?\\?[\"']?\s{0,3}[:=]\s{0,3}"
)
# `<key>V</key>`, `<property name="key">V</property>`, and `<key>key</key><string>V` of plists.
ELEMENT = (
    r"(?:\\?[\"']\s{0,3}>|>|</key>\s{0,9}<string>)\s{0,3}(?:<!\[CDATA\[)?"
    r"(?=[^<>\n]{6,600}(?:<|\]\]>))"
)
_KEY_NAMES = r"(?:(?P<key>key)|secret|token|credential)s?"
_QUOTE = r"\\?[\"'`]?"
# `| KEY | V |`
IN_A_TABLE = r"\s{0,40}[|\u2502]\s{1,3}"
# What an element shows to people has no digits or signs, unless it is a password.
_UNLIKE_A_LABEL = r"(?=[^<>\s]{0,60}[\d!@#$%^&*+=~])"
LONG_NAMES = r"(?:password|passwd|passphrase|passcode|passwort|passe)"
# `pass` and its like are parts of many words, and of many names of passwords.
_SHORT_NAMES = (
    r"(?:(?<![a-z])|(?<=db)|(?<=user)|(?<=root)|(?<=admin)|(?<=smtp)|(?<=mail)|(?<=key)|(?<=store)"
    r"|(?<=auth)|(?<=login)|(?<=http)|(?<=sql))(?:pwd|pass|pw)\d?"
)
SHORT_NAME = re.compile(rb"pw(?:d|\d?[\s\x80-\xff]{0,6}[=:\"'\\<>])")
"""How passwords are named in few letters, and what follows: a sign, or else a blank or a digit
of some script first. Of their values all but those in quotation marks stand behind `=` or `>`."""

# Unions of types stand like the cells of a table.
_NAME_PLACEHOLDER = re.compile(f"{PLACEHOLDER.pattern}|{CAMEL_CASE.pattern}")

# A call that gives a name its value.
_SETTER = r"(?:define|env(?:iron)?(?:\.(?:get|setdefault))?|setdefault)\s?\(\s{0,3}\\?[\"']"
_SETTERS = ("define", "env", "setdefault(")
_NEXT = r"\\?[\"']\s{0,3},\s{0,3}"

SETTINGS = (
    Rule(
        "aws secret",
        re.compile(
            rf"secret[ _-]?(?:access[ _-]?)?key(?:{_ASSIGNED}|{APART}){_QUOTE}"
            r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
            re.IGNORECASE,
        ),
        ("secret",),
        placeholder=TOKEN_PLACEHOLDER,
    ),
    Rule(
        "token",
        re.compile(
            rf"{_KEY_NAMES}{_WHICH}(?:{_ASSIGNED}|{APART}|{ELEMENT}|{IN_A_TABLE}){_QUOTE}"
            rf"(?P<secret>{RANDOM}){RANDOM_ENDS}",
            re.IGNORECASE,
        ),
        ("key", "secret", "token", "credential"),
        placeholder=_NAME_PLACEHOLDER,
        before=SECRET_KEY,
    ),
    # `STRIPE_KEY=`, `X-Shop-Key:`: of any name, so the value has no marks in it that paths
    # and sentences have.
    Rule(
        "token",
        re.compile(
            rf"(?:(?P<key>(?-i:KEY)|key(?=[\"']?:\s))){_WHICH}(?:{_ASSIGNED}|{APART}){_QUOTE}"
            rf"(?P<secret>{RUN}(?:(?=[A-Za-z]{{0,64}}\d)(?=\d{{0,64}}[A-Za-z])[A-Za-z0-9]{{20,512}}"
            rf"|{SHUFFLED}[A-Za-z0-9+/]{{32,512}})={{0,2}})"
            r"(?![A-Za-z0-9(._/+-])",
            re.IGNORECASE,
        ),
        ("key",),
        placeholder=CAMEL_CASE,
        before=_ANY_KEY,
    ),
    # Personal access tokens: `AZURE_DEVOPS_PAT`. Paths and patterns begin with the same letters.
    Rule(
        "token",
        re.compile(
            r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=P)))pat(?![A-Za-z])"
            rf"(?:{_ASSIGNED}|{APART}|{ELEMENT}|{IN_A_TABLE}){_QUOTE}(?P<secret>{RANDOM}){RANDOM_ENDS}",
            re.IGNORECASE,
        ),
        ("pat",),
        placeholder=PLACEHOLDER,
    ),
    # Django's own keys have signs that end all other values.
    Rule(
        "token",
        re.compile(r"django-insecure-[a-z0-9!@#$%^&*(_=+)-]{20,80}"),
        ("django-insecure-",),
        placeholder=TOKEN_PLACEHOLDER,
    ),
    Rule(
        "token",
        re.compile(
            rf"secret(?:_key)?{_WHICH}\\?[\"']?\]?\s{{0,3}}(?:=|:(?=[^\n\0]{{0,80}}=))\s{{0,3}}\\?(?P<quote>[\"'])"
            r"(?=(?:[^\s\"'\\]{0,30}?\d){3})(?=(?:[^\s\"'\\]{0,30}?[a-z]){3})"
            r"(?P<secret>[^\s\"'`\\<>{}/:]{32,80})\\?(?P=quote)",
            re.IGNORECASE,
        ),
        ("secret",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"(?:{LONG_NAMES}\d?(?:{_ASSIGNED}|{APART})|(?<![a-z])psk\s?=\s?"
            # `pass:` is a test's verdict, `pass=` a password; so is what is in quotation marks.
            rf"|{_SHORT_NAMES}(?:=|\s?:=\s?(?=[\"'`])|\s=\s(?=[\"'`]|\S{{0,60}}\d)|\\?[\"']\s{{0,3}}:\s{{0,3}}|:\s?(?=[\"'])|(?:(?-i:(?<=_PASS))|(?<=db_pass)|(?<=user_pass)|(?<=smtp_pass)|(?<=mail_pass)):\s))"
            rf"{PASSWORD}",
            re.IGNORECASE,
        ),
        ("pass", "pw", "psk"),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"(?:{LONG_NAMES}|{_SHORT_NAMES}){ELEMENT}{_UNLIKE_A_LABEL}"
            r"(?P<secret>[^\s<>]{6,200})(?:\]\]>|\s{0,3})<",
            re.IGNORECASE,
        ),
        ("pass", "pw"),
        placeholder=PLACEHOLDER,
    ),
    # `Password=-x;` of a connection string ends at the semicolon, whatever it begins with.
    Rule(
        "password",
        re.compile(
            r"(?:(?<=;)|(?<=; ))(?:password|pwd)\s?=\s?"
            r"(?P<secret>[^\s;\"'<>{}$][^\s;\"'<>]{5,200})(?=;)",
            re.IGNORECASE,
        ),
        ("pass", "pw"),
        placeholder=PLACEHOLDER,
    ),
    # The next argument: `setenv("API_KEY", "V")`, `define('DB_PASSWORD', 'V')`.
    Rule(
        "token",
        re.compile(
            rf"{_SETTER}[\w.-]{{0,60}}(?:key|salt|secret|token|_pat){_WHICH}{_NEXT}\\?[\"']"
            rf"(?P<secret>{RANDOM})[\"'\\]",
            re.IGNORECASE,
        ),
        _SETTERS,
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            rf"{_SETTER}[\w.-]{{0,60}}(?:password|passwd|pass|pwd){_NEXT}(?=[\"'])"
            rf"{PASSWORD}",
            re.IGNORECASE,
        ),
        _SETTERS,
        placeholder=PLACEHOLDER,
    ),
    # The keys and salts of a site may have every sign in them, and blanks too. They stand below
    # the password of its database.
    Rule(
        "token",
        re.compile(
            rf"{_SETTER}[\w.-]{{0,60}}(?:_key|salt|secret){_NEXT}(?P<quote>[\"'])"
            r"(?=(?:[^\"'\n]{0,40}?\d){3})(?P<secret>[^\"'\n]{32,80})(?P=quote)",
            re.IGNORECASE,
        ),
        ("pass",),
        placeholder=PLACEHOLDER,
        within=re.compile(r"(?<=db_)password[^\0]{0,4000}", re.IGNORECASE),
    ),
    # Images are built with a blank between name and value.
    Rule(
        "password",
        re.compile(
            r"env[ \t]{1,3}\w{0,60}(?:PASSWORD|PASSWD|PASSPHRASE)[ \t]{1,3}"
            rf"{PASSWORD}",
            re.IGNORECASE,
        ),
        ("env",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "token",
        re.compile(
            r"env[ \t]{1,3}\w{0,60}(?:KEY|SECRET|TOKEN|CREDENTIALS?|_PAT|KEY_BASE)[ \t]{1,3}[\"']?"
            rf"(?P<secret>{RANDOM}){RANDOM_ENDS}",
            re.IGNORECASE,
        ),
        ("env",),
        placeholder=PLACEHOLDER,
    ),
)
