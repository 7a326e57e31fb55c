"""What a rule for secrets is, and what the values look like that rules look for.

A rule's hints are looked for first, which is far cheaper than its pattern. Patterns hold no
unbounded runs, so that none is slow on any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BETWEEN_TEXTS = "\n\0\n"
"""Stands between the texts of an episode while they are searched, so that no secret begins
in one and ends in another. No admitted text holds it."""

# Letters with capitals where no name has them, as in `aBc` or `aBC`, three times.
SHUFFLED = r"(?-i:(?=(?:[A-Za-z0-9_/+.=-]{0,40}?(?:[A-Z][a-z](?=[A-Z])|[a-z](?=[A-Z]{2}))){3}))"

# Capitals, small letters and digits; a name of a class may have them too, see `CAMEL_CASE`.
JUMBLED = r"(?-i:(?=[A-Za-z]{0,60}\d)(?=[\da-z]{0,60}[A-Z])(?=[\dA-Z]{0,60}[a-z]))"

# What a message says of a password, which is none itself.
_STATES = (
    "access|authentication|confirmation|correct|incorrect|mismatch(?:ed)?|invalid|denied|wrong"
    "|missing|fail(?:ed|ure)?|expired|rejected|accepted|verified|authenticated|unknown|empty|blank"
    "|protected|disabled|enabled|changed|unchanged|updated|removed|reset|hidden|masked|encrypted"
    "|hashed|provided|prompt(?:ed)?|does|doesn't|must|should|cannot|can't|please|nothing|unset"
    "|stored|minimum|length|strength|policy"
)
_TYPES = "pass(?:w(?:or)?d)?|pwd|text|test|bytes|char|varchar|field|type|value|number|username|user"
# What stands where a secret would stand in examples, templates and type annotations: of values
# that only their names make secrets, ...
_WRITTEN_OUT = (
    rf"(?i:[x*.#_=-]+|[.~].*|/(?!{SHUFFLED}).*"
    r"|(?:your|my|the|some|test|fake|dummy|mock|sample)[_-].*"
    r"|.*(?:example|placeholder|changeme|redacted).*"
    r"|your[a-z]{0,20}(?:pass|pw|secret|token|key|credential)[a-z]{0,12}\d{0,4}"
    r"|(?:none|null|true|false|undefined|required|optional|string|secret|token|password)s?[.!?]?"
    rf"|(?:{_STATES}|{_TYPES})[.!,:]?"
    r"|(?:os|process|self|config|settings|request|req|args|env|ctx|options|props|this|data)\..*"
    r"|!(?:vault|ref|sub|secret|env|getatt|include|importvalue|join|encrypted\S*)"
    r"|\$(?:\w+|[{(].*)|%\w+%"  # variables of a shell, which quotation marks do not stop
    r")|[a-z]+\d{0,4}(?:[._/-][a-z]+\d{0,4})+"  # names of variables, settings and functions
    r"|[A-Za-z]+[.!?:]+|[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+[?!|&]{0,2}|[A-Z]+(?:_[A-Z]+)+"
)
PLACEHOLDER = re.compile(rf"{_WRITTEN_OUT}|[a-z]+(?:[A-Z][a-z]+)+")
# ... where no name of a variable can stand, since a shell or quotation marks make it a text, ...
LITERAL_PLACEHOLDER = re.compile(
    rf"{_WRITTEN_OUT}|(?i:.*passw(?:or)?d.*)|(?:your|my|some|the|db|user|new)[A-Z][a-z]+"
)
# ... of passwords in addresses, where little else may be told from a bad password, ...
URL_PLACEHOLDER = re.compile(
    r"(?i:[x*.#_=-]+|pass(?:word|wd)?|pw|pwd|secret|token|your[_-]?(?:db[_-]?)?(?:pass|pw|secret|token)\w*)"
)
# ... and of tokens, which are as good as never found in one by chance.
TOKEN_PLACEHOLDER = re.compile(r"(?i:.*(?:your[_-]|example|placeholder|x{8}|\*{4}).*)", re.DOTALL)
# Names of classes have digits too, but each capital begins a word.
CAMEL_CASE = re.compile(
    rf"[A-Za-z]?[a-z]*\d{{0,5}}(?:[A-Z][a-z]+\d{{0,3}}|[A-Z]\d{{1,2}}){{2,8}}|{TOKEN_PLACEHOLDER.pattern}",
    re.DOTALL,
)


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
        within: Finds the stretch of text that may hold several of them; it begins with a hint
            then, and the pattern need not.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    placeholder: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None
    within: re.Pattern[str] | None = None


# A value that no person would write as a word: at least sixteen letters and digits, or shuffled
# letters alone. Sixteen of them stand together, and not as small letters only: that is what
# `may_hold_secrets` sees.
_SIGNS = "A-Za-z0-9_/+.~=-"
RUN = rf"(?-i:(?=[{_SIGNS}]{{0,80}}?(?=[a-z]{{0,15}}[A-Z0-9_/+-])[A-Za-z0-9_/+-]{{16}}))"
MIXED = r"(?=[A-Za-z_/+.~=-]{0,200}\d)(?=[\d_/+.~=-]{0,200}[A-Za-z])"
RANDOM = rf"(?:{MIXED}|{SHUFFLED}){RUN}[{_SIGNS}]{{16,512}}+"
# Letters and digits of what was made up for a program.
SHORT_KEY = (
    r"(?=[A-Za-z_.~+/-]{0,60}\d)(?=[\d_.~+/-]{0,60}[A-Za-z])[A-Za-z0-9][A-Za-z0-9_.~+/-]{7,80}={0,2}"
    r"(?![\w(:=\[])"
)
RANDOM_ENDS = r"(?![A-Za-z0-9(])"


# A password: all between quotation marks, or else up to where a shell or a setting ends it.
# It does not begin like a variable, a path, an option or a template, and is no call.
def bare(least: int) -> str:
    """A pattern of a password without quotation marks, of so many letters at least."""
    return (
        r"(?![\w.]{1,80}[(\[])[^\s\"'`<>{}\[\]()$*,;&|\\/~.-]"
        rf"(?:[^\s\"'`<>{{}}\[\](),;&|\\]|&(?!\w{{1,30}}=)){{{least - 1},200}}(?![\w(\[])"
    )


BARE = bare(6)
_QUOTE = r"(?:\\?(?P<quote>[\"'`]))?"
SHORT_PASSWORD = (
    rf"{_QUOTE}(?P<secret>(?(quote)[^\s\\\"'`]{{4,200}}?(?=\\?(?P=quote))"
    rf"|(?!\d{{1,5}}(?!\w)){bare(4)}))"
)
PASSWORD = rf"{_QUOTE}(?P<secret>(?(quote)[^\s\\]{{6,200}}?(?=\\?(?P=quote))|{BARE}))"

EMAIL = Rule(
    "e-mail address",
    # Of any script; `git@example.org:a/b` is where a repository lies.
    re.compile(
        r"(?<![\w.+-])(?!(?:git|hg|svn)@[\w.-]{1,200}[:/])[^\W_][\w.+-]{0,63}"
        r"@(?:(?:[^\W_]|-){1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-])"
    ),
    ("@",),
)

# Letters, in lower case, of the secrets that dashes and points may cut into short pieces. In
# file names and ids, where dashes are everywhere, these are what makes one worth a closer look.
SIGNS_IN_NAMES = (
    *("k-lf-", "aiza", "ya29.", "gocspx-", "1//0", "github_pat_", "nvapi-", "pcsk_"),
    *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glptt-", "glagent-", "tvly-"),
    *("lsv2_", "ls__", "xox", "xapp-", "k_live_", "k_test_", "whsec_", "sg.", "pypi-", "dckr_"),
    *("figd_", "sntry", "sbp_", "sb_secret_", "hvs.", "hvb.", "hvr.", ":aa", "eyj", "sq0"),
    *("-----begin", "secret", "token", "bearer ", "credential", "curl ", "hook", "sig=", "auth"),
    *("hrku-", "atatt3", "cfpat-", "jina_", "eaaa", "pscale_", "atlasv1"),
    *("q~", "xkeysib-", "sl.b", "dp.", "fm1", "fm2", "fo1_", "nrak-", "pa-"),
    *("cookie", "signature", "identified", "django-insecure", "v1.0-", "kty", '"d'),
)
