"""Tokens of a form of their own: a table of prefixes that providers document.

All of them have sixteen or more letters and digits in a row, a digit among them. So the words
that may be one are found by a plain search for long runs, and the table is tried on those alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_RUN_LENGTH = 16
_RUN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_RUNS = bytes(97 if byte in _RUN_BYTES else 32 for byte in range(256))
_RUN = b"a" * _RUN_LENGTH
_BEFORE, _AFTER = 80, 6_000  # of a word, around the run in it
_WORD_END = re.compile(rb"[^A-Za-z0-9_+/=.:~-]")
_ESCAPE = re.compile(rb"\A(?:[abfnrtv]|x[0-9A-Fa-f]{2}|u00[0-9A-Fa-f]{2})")
_EXAMPLE = re.compile(rb"(?i)your[_-]|example|placeholder|x{8}|\*{4}|(?:0123456789|abcdefghij){2}")

_LETTERS, _HEX, _URL = r"[A-Za-z0-9]{20,300}", r"[0-9a-f]{32,72}", r"[\w-]{20,400}"
# Kind, prefixes and what follows.
_TABLE = (
    ("groq key", "gsk_", _LETTERS),
    ("xai key", "xai-", _LETTERS),
    ("perplexity key", "pplx-", _LETTERS),
    ("replicate token", "r8_", _LETTERS),
    ("linear key", "lin_api_", _LETTERS),
    ("npm token", "npm_", _LETTERS),
    ("hugging face token", "hf_|api_org_", _LETTERS),
    ("notion token", "ntn_|secret_", r"[A-Za-z0-9]{40,60}"),
    ("fireworks key", "fw_", _LETTERS),
    ("vercel token", "vc[pick]_", _LETTERS),
    ("netlify token", "nf[pcoub]_", r"[A-Za-z0-9]{36,60}"),
    ("posthog key", "phx_", _LETTERS),
    ("render key", "rnd_", _LETTERS),
    ("apify token", "apify_api_", _LETTERS),
    ("facebook token", "EAA", r"[A-Za-z0-9]{45,300}"),
    ("firecrawl key", "fc-", _HEX),
    ("e2b key", "e2b_", _HEX),
    ("elevenlabs key", "sk_", _HEX),
    ("mailgun key", "key-", _HEX),
    ("digitalocean token", "do[por]_v1_", _HEX),
    ("shopify token", "shp(?:at|ca|pa|ss)_", _HEX),
    ("databricks token", "dapi", _HEX),
    ("pulumi token", "pul-", _HEX),
    ("rubygems key", "rubygems_", _HEX),
    ("sonar token", "sq[upa]_", _HEX),
    ("twilio key", "SK", r"[0-9a-f]{32}"),
    ("pypi token", "pypi-", r"[\w-]{50,400}"),
    ("jina key", "jina_", r"[\w-]{50,400}"),
    ("anthropic key", "sk-ant-", _URL),
    ("openrouter key", "sk-or-", _URL),
    ("langfuse key", "[ps]k-lf-", r"[0-9a-f-]{30,40}"),
    ("openai key", "sk-", _URL),
    ("nvidia key", "nvapi-", _URL),
    ("tavily key", "tvly-", _URL),
    ("docker token", "dckr_[po]at_", _URL),
    ("figma token", "figd_", _URL),
    ("supabase key", "sbp_|sb_secret_", _URL),
    ("vault token", r"hv[sbr]\.", _URL),
    ("pinecone key", "pcsk_", _URL),
    ("together key", "tgp_v1_", _URL),
    ("contentful token", "CFPAT-", _URL),
    ("heroku key", "HRKU-", _URL),
    ("square secret", "sq0(?:atp|csp)-", _URL),
    ("square token", "EAAA", r"[\w-]{56,64}"),
    ("google key", "AIza", r"[\w-]{35}"),
    ("google token", r"ya29\.|GOCSPX-|1//0", r"[\w-]{20,300}"),
    ("github token", "gh[pousr]_|github_pat_", r"\w{22,255}"),
    ("gitlab token", "gl(?:pat|[dfr]t|soat|cbt|ptt|agent)-", r"[\w.-]{20,64}"),
    ("aws key", "A3T[A-Z0-9]|A[BK]IA|ACCA|ASIA", r"[A-Z0-9]{16}"),
    ("bedrock key", "ABSK", r"[A-Za-z0-9+/]{100,200}={0,2}"),
    ("alibaba key", "LTAI", r"[A-Za-z0-9]{17,21}"),
    ("tencent key", "AKID", r"[A-Za-z0-9]{32}"),
    ("langsmith key", r"lsv2_[ps][tk]_|ls__", r"[0-9a-f_]{32,60}"),
    ("slack token", r"xox[a-z][.-]|xapp-", r"[A-Za-z\d-]{16}[A-Za-z\d.-]{0,240}"),
    ("stripe key", r"[rs]k_(?:live|test)_|whsec_", "[A-Za-z0-9+/]{20,250}"),
    ("razorpay key", "rzp_(?:live|test)_", "[A-Za-z0-9]{14,24}"),
    ("sendgrid key", r"SG\.", r"[\w-]{16,32}\.[\w-]{32,64}"),
    ("sentry token", "sntry[su]_", r"[\w+/=-]{40,300}"),
    ("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,70}"),
    ("cerebras key", "csk-", r"[a-z0-9]{40,60}"),
    ("sourcegraph token", "sgp_", r"(?:[0-9a-z]{5,20}_)?[0-9a-f]{40}"),
    ("azure secret", r"[\w.~]{3}\dQ~", r"[\w.~-]{31,34}"),
    ("cloudflare key", r"v1\.0-", r"[0-9a-f]{24}-[0-9a-f]{146}"),
    ("join token", "SWMTKN-1-", r"[0-9a-z]{40,60}-[0-9a-z]{20,30}"),
    ("tailscale key", r"tskey-[a-z]{2,10}-", r"[A-Za-z0-9-]{20,60}"),
    ("dynatrace token", r"dt0[a-zA-Z]\d{2}\.[A-Z0-9]{24}\.", "[A-Z0-9]{64}"),
    ("resend key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("atlassian token", "AT[AC]TT3", r"[\w=-]{100,250}"),
    ("bitbucket password", "ATBB", r"[A-Za-z0-9]{32}"),
    ("trello token", "ATTA", r"[0-9a-f]{64}[0-9A-Fa-f]{8}"),
    ("fly token", "fm[12][ar]?_|fo1_", r"[\w+/-]{40,1000}"),
    ("doppler token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[\w.]{40,60}"),
    ("terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[\w=-]{60,70}"),
    ("grafana token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    ("grafana token", "glc_", r"[A-Za-z0-9+/]{32,400}={0,2}"),
    ("new relic key", "NR(?:AK|JS)-", r"[A-Z0-9a-z-]{27,40}"),
    ("postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("planetscale token", "pscale_(?:tkn|pw|oauth)_", r"[\w.=-]{32,64}"),
    ("neon key", "napi_", r"[a-z0-9]{40,70}"),
    ("brevo key", "x(?:key|smtp)sib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("hubspot token", r"pat-[a-z]{2}\d-", r"[0-9a-f-]{36}"),
    ("airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("dropbox token", r"sl\.", r"[\w=-]{100,200}"),
    ("buildkite token", "bk[a-z]{2}_", r"[0-9a-f]{40}"),
    ("telegram token", r"(?:bot)?\d{8,10}:AA", r"[\w-]{33}"),
    ("mailchimp key", "", r"[0-9a-f]{32}-us\d{1,2}"),
    ("new relic key", "", r"(?:[0-9a-f]{36}|eu01xx[0-9a-f]{30})NRAL"),
    ("discord token", r"(?=[A-Za-z]{0,27}\d)[MNO][\w-]{22,27}\.", r"[\w-]{6}\.[\w-]{27,40}"),
    ("1password token", "ops_eyJ", r"[\w-]{100,2000}={0,2}"),
    ("jwt", r"eyJ[\w-]{13,4000}\.eyJ", r"[\w-]{4,8000}(?:\.[\w-]{4,2000})?"),
    ("webhook", r"(?<=//hooks\.slack\.com/)(?:services|workflows)/", r"[\w/-]{20,200}"),
    ("webhook", r"(?<=/api/webhooks/)\d{5,}/", r"[\w-]{20,200}"),
)  # fmt: skip
_KINDS = tuple(kind for kind, _, _ in _TABLE)
_TOKEN = re.compile(
    "|".join(
        rf"(?<![A-Za-z0-9])((?:{prefix}){body})(?![A-Za-z0-9])" for _, prefix, body in _TABLE
    ).encode()
)


def tokens_in(data: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield the tokens in a text in UTF-8, each with its kind, as often as they occur."""
    for word in _long_words(data):
        for match in _TOKEN.finditer(word):
            token = match[0]
            if not _EXAMPLE.search(token) and len(set(token)) > 8:
                yield token, _KINDS[(match.lastindex or 1) - 1]


def _long_words(data: bytes) -> set[bytes]:
    """Return the words in which letters and digits stand in long runs, each once."""
    runs = data.translate(_RUNS)
    words: set[bytes] = set()
    end, place = 0, runs.find(_RUN)
    while place >= 0:
        end = runs.find(b" ", place)
        end = len(data) if end < 0 else end
        run = data[place:end]
        if _may_be_token(run):
            words.add(_around(data, place, end))
        place = runs.find(_RUN, end)
    return words


_ID = re.compile(rb"[0-9a-f-]*|[0-9TZ_-]*|[a-z]*")
_DIGIT, _LETTER, _CAPITAL = (re.compile(each) for each in (rb"\d", rb"[A-Za-z]", rb"_.*[A-Z]"))


def _may_be_token(run: bytes) -> bool:
    """Return True if a run has letters, and digits or a capital behind a prefix."""
    if _ID.fullmatch(run) and len(run) < 100:  # a UUID, a digest, a date
        return False
    is_mixed = _DIGIT.search(run) is not None or _CAPITAL.search(run) is not None
    return is_mixed and _LETTER.search(run) is not None


def _around(data: bytes, start: int, end: int) -> bytes:
    """Return the word around a run, without a line break that is written out before it."""
    before = data[max(start - _BEFORE, 0) : start]
    cut = max((match.end() for match in _WORD_END.finditer(before)), default=0)
    glued = before[cut - 1 : cut] == b"\\"
    stop = _WORD_END.search(data, end, end + _AFTER)
    word = before[cut:] + data[start : stop.start() if stop else end + _AFTER]
    return _ESCAPE.sub(b"", word, count=1) if glued else word
