"""What secrets look like: one rule for each kind, with the letters that announce it.

A rule's hints are looked for first, which is far cheaper than its pattern. Patterns hold no
unbounded runs, so that none is slow on any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    Attributes:
        kind: What a replacement and a report call it.
        pattern: Finds it. The group `secret`, if there is one, is the part to take out.
        hints: Any of them is in every text that holds one, in lower case; where the rule is
            about a name and its value, the pattern begins with one.
        guessed: Whether the value may be a placeholder, since only its name makes it a secret.
        before: If the group `key` takes part in a match, what must stand right before it.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    guessed: bool = False
    before: re.Pattern[str] | None = None


def _token(kind: str, prefix: str, body: str, *hints: str) -> Rule:
    """A token that is known by how it begins, and stands by itself."""
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{prefix}){body}(?![A-Za-z0-9])", re.ASCII)
    return Rule(kind, pattern, hints)


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
_NAMED = r"\\?[\"']?\s{0,3}(?::=|=>|[:=])\s{0,3}"
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

# Tokens have no blank in them, so they are looked for in `LONG_WORD`s only.
LONG_WORD = re.compile(r"[A-Za-z0-9_+/=.:~-]{16,20000}")
TOKENS = (
    _token("anthropic key", "sk-ant-", r"[A-Za-z0-9_-]{20,200}", "sk-ant-"),
    _token("openrouter key", "sk-or-", r"[A-Za-z0-9_-]{20,200}", "sk-or-"),
    _token("langfuse key", r"[ps]k-lf-", r"[0-9a-f-]{30,40}", "k-lf-"),
    _token("openai key", "sk-", r"[A-Za-z0-9_-]{20,250}", "sk-"),
    _token("google key", "AIza", r"[A-Za-z0-9_-]{35}", "aiza"),
    _token("google token", r"ya29\.|GOCSPX-|1//0", r"[\w-]{20,300}", "ya29.", "gocspx-", "1//0"),
    _token("github token", "gh[pousr]_|github_pat_", r"[A-Za-z0-9_]{22,255}", "gh", "github_"),
    _token("gitlab token", "gl(?:pat|dt|ft|soat|rt|cbt|ptt|agent)-", r"[\w.-]{20,64}", "gl"),
    _token("aws key", "A3T[A-Z0-9]|A[BK]IA|ACCA|ASIA", r"[A-Z0-9]{16}", "a3t", "ia", "acca"),
    _token("hugging face token", "hf_|api_org_", r"[A-Za-z0-9]{30,60}", "hf_", "api_org_"),
    _token("groq key", "gsk_", r"[A-Za-z0-9]{40,80}", "gsk_"),
    _token("xai key", "xai-", r"[A-Za-z0-9]{40,120}", "xai-"),
    _token("perplexity key", "pplx-", r"[A-Za-z0-9]{40,80}", "pplx-"),
    _token("nvidia key", "nvapi-", r"[A-Za-z0-9_-]{40,100}", "nvapi-"),
    _token("replicate token", "r8_", r"[A-Za-z0-9]{35,60}", "r8_"),
    _token("fireworks key", "fw_", r"[A-Za-z0-9]{20,40}", "fw_"),
    _token("pinecone key", "pcsk_", r"[A-Za-z0-9_]{40,120}", "pcsk_"),
    _token("langsmith key", r"lsv2_(?:pt|sk)_|ls__", r"[0-9a-f_]{32,60}", "lsv2_", "ls__"),
    _token("tavily key", "tvly-", r"[A-Za-z0-9-]{20,60}", "tvly-"),
    _token("firecrawl key", "fc-", r"[0-9a-f]{32}", "fc-"),
    _token("e2b key", "e2b_", r"[0-9a-f]{40}", "e2b_"),
    _token("slack token", r"xox[abcdeoprs][.-]|xapp-", r"[A-Za-z0-9.-]{10,250}", "xox", "xapp"),
    _token("stripe key", r"[rs]k_(?:live|test)_|whsec_", "[A-Za-z0-9+/]{20,250}", "k_", "whsec_"),
    _token("elevenlabs key", "sk_", r"[0-9a-f]{40,64}", "sk_"),
    _token("sendgrid key", r"SG\.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}", "sg."),
    _token("mailgun key", "key-", r"[0-9a-f]{32}", "key-"),
    _token("npm token", "npm_", r"[A-Za-z0-9]{36}", "npm_"),
    _token("pypi token", "pypi-", r"[A-Za-z0-9_-]{50,400}", "pypi-"),
    _token("docker token", "dckr_pat_|dckr_oat_", r"[A-Za-z0-9_-]{20,80}", "dckr_"),
    _token("digitalocean token", r"do[opr]_v1_", r"[0-9a-f]{64}", "_v1_"),
    _token("shopify token", r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}", "shp"),
    _token("linear key", "lin_api_", r"[A-Za-z0-9]{30,60}", "lin_api_"),
    _token("notion token", "ntn_|secret_", r"[A-Za-z0-9]{40,60}", "ntn_", "secret_"),
    _token("figma token", "figd_", r"[A-Za-z0-9_-]{30,60}", "figd_"),
    _token("sentry token", r"sntry[su]_", r"[A-Za-z0-9+/=_-]{40,300}", "sntry"),
    _token("supabase key", r"sbp_|sb_secret_", r"[A-Za-z0-9_-]{20,60}", "sbp_", "sb_secret_"),
    _token("databricks token", "dapi", r"[0-9a-f]{32}(?:-\d)?", "dapi"),
    _token("vault token", r"hv[sbr]\.", r"[A-Za-z0-9_-]{24,200}", "hvs.", "hvb.", "hvr."),
    _token("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,70}", "age-secret-key-"),
    _token("twilio key", "AC|SK", r"[0-9a-f]{32}", "ac", "sk"),
    _token("telegram token", r"\d{8,10}:AA", r"[A-Za-z0-9_-]{33}", ":aa"),
    _token("jwt", r"eyJ[\w-]{8,4000}\.eyJ", r"[\w-]{4,8000}(?:\.[\w-]{4,2000})?", "eyj"),
    Rule(
        "webhook",
        re.compile(
            r"https://(?:hooks\.slack\.com/(?:services|workflows)|(?:\w{1,10}\.)?discord(?:app)?\.com"
            r"/api/webhooks)/(?P<secret>[A-Za-z0-9_/-]{20,200})"
        ),
        ("hooks.slack.com", "/api/webhooks/"),
    ),
)  # fmt: skip

ASSIGNMENTS = (
    Rule(
        "password in a url",
        re.compile(
            r"(?<=[A-Za-z0-9])://[^\s:/?#@\"'<>]{0,100}:"
            r"(?P<secret>[^\s/\"'<>@{}$\[][^\s/\"'<>@]{0,200})@(?=[\w\[.-])"
        ),
        ("://",),
    ),
    Rule(
        "aws secret",
        re.compile(
            rf"secret_?(?:access_?)?key{_ASSIGNED}(?P<secret>[A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
            re.IGNORECASE,
        ),
        ("secret",),
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
        guessed=True,
    ),
    Rule(
        "token",
        re.compile(
            rf"(?:(?P<key>key)|secret|token|credential)s?{_ASSIGNED}"
            rf"(?P<secret>{_RANDOM})(?![A-Za-z0-9(])",
            re.IGNORECASE,
        ),
        ("key", "secret", "token", "credential"),
        guessed=True,
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
        guessed=True,
    ),
    Rule(
        "password",
        re.compile(rf"-(?:password|passwd|passphrase|pass)[ =]{_VALUE}"),
        ("-pass",),
        guessed=True,
    ),
    Rule(
        "password",
        re.compile(rf"sshpass -p ?{_VALUE}"),
        ("sshpass",),
        guessed=True,
    ),
    Rule(
        "password",
        re.compile(
            r"curl\b[^\n]{0,300}? (?:-u|--user) ?[\"']?[^\s:\"']{1,64}:"
            rf"(?P<secret>{_BARE})"
        ),
        ("curl ",),
        guessed=True,
    ),
)

EMAIL = Rule(
    "e-mail address",
    re.compile(
        r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-])"
    ),
    ("@",),
)

# What stands where a secret would stand in examples, templates and type annotations.
PLACEHOLDER = re.compile(
    r"(?i:[x*.#_=-]+|[./~].*|(?:your|my|the|some)[_-].*|.*(?:example|placeholder|changeme|redacted).*"
    r"|(?:none|null|true|false|undefined|required|optional|string|secret|token|password)s?[.!?]?"
    r"|(?:os|process|self|config|settings|request|req|args|env|ctx|options|props|this|data)\..*"
    r")|[a-z]+\d{0,4}(?:[._/-][a-z]+\d{0,4})+"  # names of variables, settings and functions
    r"|[A-Za-z]+[.!?:]+|[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+|[A-Z]+(?:_[A-Z]+)+|[a-z]+(?:[A-Z][a-z]+)+"
)

# Letters, in lower case, of the secrets that dashes and points may cut into short pieces. In
# file names and ids, where dashes are everywhere, these are what makes one worth a closer look.
SIGNS_IN_NAMES = (
    *("sk-", "k-lf-", "aiza", "ya29.", "gocspx-", "1//0", "github_pat_", "nvapi-", "pcsk_"),
    *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glptt-", "glagent-", "tvly-"),
    *("lsv2_", "ls__", "xox", "xapp-", "k_live_", "k_test_", "whsec_", "sg.", "pypi-", "dckr_"),
    *("figd_", "sntry", "sbp_", "sb_secret_", "hvs.", "hvb.", "hvr.", ":aa", "eyj", "sq0csp-"),
    *("-----begin", "pass", "pwd", "pw=", "key=", "keys=", "key:", "secret", "token", "bearer "),
    *("authorization", "credential", "curl ", "hooks"),
)
