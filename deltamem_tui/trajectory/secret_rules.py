"""What secrets look like: one rule for each kind, with the letters that announce it.

A rule's hints are looked for first, which is far cheaper than its pattern. Patterns hold no
unbounded runs, so that none is slow on any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# What stands where a secret would stand in examples, templates and type annotations: of values
# that only their names make secrets, ...
PLACEHOLDER = re.compile(
    r"(?i:[x*.#_=-]+|[./~].*|(?:your|my|the|some)[_-].*|.*(?:example|placeholder|changeme|redacted).*"
    r"|your[a-z]{0,20}(?:pass|pw|secret|token|key|credential)[a-z]{0,12}\d{0,4}"
    r"|(?:none|null|true|false|undefined|required|optional|string|secret|token|password)s?[.!?]?"
    r"|(?:os|process|self|config|settings|request|req|args|env|ctx|options|props|this|data)\..*"
    r")|[a-z]+\d{0,4}(?:[._/-][a-z]+\d{0,4})+"  # names of variables, settings and functions
    r"|[A-Za-z]+[.!?:]+|[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+|[A-Z]+(?:_[A-Z]+)+|[a-z]+(?:[A-Z][a-z]+)+"
)
# ... of passwords in addresses, where little else may be told from a bad password, ...
URL_PLACEHOLDER = re.compile(
    r"(?i:[x*.#_=-]+|pass(?:word|wd)?|pw|pwd|secret|token|your[_-]?(?:db[_-]?)?(?:pass|pw|secret|token)\w*)"
)
# ... and of tokens, which are as good as never found in one by chance.
TOKEN_PLACEHOLDER = re.compile(r"(?i:.*(?:your[_-]|example|placeholder|x{8}|\*{4}).*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    Attributes:
        kind: What a replacement and a report call it.
        pattern: Finds it. The group `secret`, if there is one, is the part to take out.
        hints: Any of them is in every text that holds one, in lower case; where the rule is
            about a name and its value, the pattern begins with one.
        placeholder: What a value is that only stands in the place of a secret, if that can be told.
        before: If the group `key` takes part in a match, what must stand right before it.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    placeholder: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None


# `key` alone says nothing: tables and maps have keys.
_SECRET_KEY = re.compile(
    r"(?:api|access|account|admin|app|auth|bot|client|consumer|encryption|license|master|private"
    r"|secret|service|session|signing|subscription|webhook)[ _-]?$",
    re.IGNORECASE,
)
# A value that no person would write as a word: at least sixteen letters and digits, or
# letters alone with capitals where no name has them, as in `aBc` or `aBC`, three times.
_MIXED = r"(?=[A-Za-z_/+.=-]{0,200}\d)(?=[\d_/+.=-]{0,200}[A-Za-z])"
_SHUFFLED = r"(?-i:(?=(?:[A-Za-z_/+.=-]{0,40}?(?:[A-Z][a-z](?=[A-Z])|[a-z](?=[A-Z]{2}))){3}))"
_RANDOM = rf"(?:{_MIXED}|{_SHUFFLED})[A-Za-z0-9_/+.~=-]{{16,512}}"
# A password: all between quotation marks, or else up to where a shell or a setting ends it.
# It does not begin like a variable, a path, an option or a template.
_BARE = (
    r"[^\s\"'`<>{}\[\]()$*,;&|\\/~.-](?:[^\s\"'`<>{}\[\](),;&|\\]|&(?!\w{1,30}=)){5,200}(?![\w(\[])"
)
_QUOTE = r"(?:\\?(?P<quote>[\"'`]))?"
_VALUE = rf"{_QUOTE}(?P<secret>(?(quote)[^\s\\]{{6,200}}?(?=\\?(?P=quote))|{_BARE}))"
_NAMED = r"\\?[\"']?\]?\s{0,3}(?::=|=>|[:=])\s{0,3}"
_ASSIGNED = rf"{_NAMED}\\?[\"'`]?"

PRIVATE_KEY = Rule(
    "private key",
    re.compile(
        r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
        r"(?:.{0,20000}?-----END (?P=label)-----|[A-Za-z0-9+/=\s\\:,-]{0,20000})",
        re.DOTALL,
    ),
    ("-----begin",),
)

ASSIGNMENTS = (
    Rule(
        "password in a url",
        re.compile(
            r"(?<=[A-Za-z0-9])://[^\s:/?#@\"'<>]{0,100}:"
            r"(?P<secret>[^\s/\"'<>@{}$\[][^\s/\"'<>@]{0,200})@(?=[\w\[.-])"
        ),
        ("://",),
        placeholder=URL_PLACEHOLDER,
    ),
    Rule(
        "aws secret",
        re.compile(
            rf"secret_?(?:access_?)?key{_ASSIGNED}(?P<secret>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
            re.IGNORECASE,
        ),
        ("secret",),
        placeholder=TOKEN_PLACEHOLDER,
    ),
    Rule(
        "connection string",
        re.compile(
            r"(?:AccountKey|SharedAccessKey|SharedAccessSignature|InstrumentationKey)="
            r"(?P<secret>[A-Za-z0-9+/=%&-]{20,400})",
            re.IGNORECASE,
        ),
        ("accountkey=", "sharedaccess", "instrumentationkey="),
    ),
    Rule(
        "authorization header",
        re.compile(
            r"(?:(?:authorization|api-key|auth-token|private-token)"
            r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token)\s{1,3})?|bearer\s{1,3})"
            r"(?P<secret>(?=[A-Za-z_/+.=-]{0,200}[\d=]|[A-Za-z]{32})[A-Za-z0-9_/+.~=-]{12,4000})",
            re.IGNORECASE,
        ),
        ("authorization", "bearer", "api-key", "auth-token", "private-token"),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "token",
        re.compile(
            rf"(?:(?P<key>key)|secret|token|credential)s?{_ASSIGNED}"
            rf"(?P<secret>{_RANDOM})(?![A-Za-z0-9(])",
            re.IGNORECASE,
        ),
        ("key", "secret", "token", "credential"),
        placeholder=PLACEHOLDER,
        before=_SECRET_KEY,
    ),
    Rule(
        "password",
        re.compile(
            # `pass:` is a test's verdict, `pass=` a password.
            rf"(?:(?:password|passwd|passphrase|passwort){_NAMED}"
            r"|(?<![a-z])(?:pwd|pass|pw)(?:=|\s=\s|\\?[\"']\s{0,3}:\s{0,3}))"
            rf"{_VALUE}",
            re.IGNORECASE,
        ),
        ("pass", "pwd", "pw="),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(rf"-(?:password|passwd|passphrase|pass)[ =]{_VALUE}"),
        ("-pass",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            r"env[ \t]{1,3}\w{0,60}(?:PASSWORD|PASSWD|PASSPHRASE)[ \t]{1,3}"
            rf"{_VALUE}",
            re.IGNORECASE,
        ),
        ("env ",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "token",
        re.compile(
            r"env[ \t]{1,3}\w{0,60}(?:KEY|SECRET|TOKEN|CREDENTIALS?)[ \t]{1,3}[\"']?"
            rf"(?P<secret>{_RANDOM})(?![A-Za-z0-9(])",
            re.IGNORECASE,
        ),
        ("env ",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(rf"login[ \t]{{1,3}}\S{{1,64}}\s{{1,3}}password[ \t]{{1,3}}{_VALUE}"),
        ("login ",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            r"(?:docker login\b[^\n|;]{0,100}? -p[ =]?|mysql\w{0,6}\b[^\n|;]{0,200}? -p)"
            rf"{_VALUE}"
        ),
        ("docker login", "mysql"),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "authorization header",
        re.compile(r"\"auth\\?\"\s{0,3}:\s{0,3}\\?\"(?P<secret>[A-Za-z0-9+/]{16,400}={0,2})"),
        ('"auth',),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "private key",
        re.compile(r"client-key-data\\?\"?:\s{0,3}\\?\"?(?P<secret>[A-Za-z0-9+/]{40,20000}={0,2})"),
        ("client-key-data",),
    ),
    Rule(
        "connection string",
        re.compile(r"sig=(?P<secret>[A-Za-z0-9%+/]{30,120})"),
        ("sig=",),
    ),
    Rule(
        "password",
        re.compile(rf"sshpass -p ?{_VALUE}"),
        ("sshpass",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "password",
        re.compile(
            r"curl\b[^\n]{0,300}? (?:-u|--user) ?[\"']?[^\s:\"']{1,64}:"
            rf"(?P<secret>{_BARE})"
        ),
        ("curl ",),
        placeholder=PLACEHOLDER,
    ),
)

EMAIL = Rule(
    "e-mail address",
    re.compile(
        r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-])"
    ),
    ("@",),
)

# Letters, in lower case, of the secrets that dashes and points may cut into short pieces. In
# file names and ids, where dashes are everywhere, these are what makes one worth a closer look.
SIGNS_IN_NAMES = (
    *("sk-", "k-lf-", "aiza", "ya29.", "gocspx-", "1//0", "github_pat_", "nvapi-", "pcsk_"),
    *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glptt-", "glagent-", "tvly-"),
    *("lsv2_", "ls__", "xox", "xapp-", "k_live_", "k_test_", "whsec_", "sg.", "pypi-", "dckr_"),
    *("figd_", "sntry", "sbp_", "sb_secret_", "hvs.", "hvb.", "hvr.", ":aa", "eyj", "sq0csp-"),
    *("-----begin", "pass", "pwd", "pw=", "key=", "keys=", "key:", "secret", "token", "bearer "),
    *("authorization", "credential", "curl ", "hooks", "docker login", "mysql", "sig=", "auth"),
    *("hrku-", "atatt3", "cfpat-", "jina_", "eaaa", "pat-na", "pat-eu", "pscale_", "atlasv1"),
    *("q~", "xkeysib-", "sl.b", "dp.", "fm1", "fm2", "fo1_", "nrak-", "pa-"),
)
