"""Tokens that are known by how they begin, of the providers that give such ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deltamem_tui.trajectory.secrets.rules import Rule, rule
from deltamem_tui.trajectory.secrets.values import is_token_example

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector


def _token(kind: str, prefix: str, body: str, *hints: str) -> Rule:
    """A token that is known by how it begins, and stands by itself."""
    pattern = rf"(?<![A-Za-z0-9])(?:{prefix}){body}(?![A-Za-z0-9])"
    return rule(kind, pattern, hints, lambda value: not is_token_example(value), flags=re.ASCII)


def _tokens(body: str, prefixes: str) -> Iterator[Rule]:
    """Rules for tokens of one make, of which each kind is given with its prefixes."""
    for entry in prefixes.split(", "):
        kind, _, begins = entry.partition(": ")
        found = begins.split(" ")
        yield _token(kind, "|".join(map(re.escape, found)), body, *map(str.lower, found))


# Tokens have no blank in them, so they are looked for in long words only.
_WORD = "[A-Za-z0-9_+/=.:~-]{16,20000}"
_LONG_WORD = re.compile(_WORD)
# What may stand right before a word with a letter or digit of its own as its last: a line break
# that is written out, a sign by its number, a colour of a terminal that has lost its first byte.
# Each by itself, since a pattern that begins with one sign is looked for far faster.
_GLUED_WORDS = (
    ("\\", re.compile(rf"\\(?:[abfnrtv]|x[0-9A-Fa-f]{{2}}|u00[0-9A-Fa-f]{{2}})({_WORD})")),
    ("%", re.compile(rf"%[0-9A-Fa-f]{{2}}({_WORD})")),
    ("[", re.compile(rf"\[[0-9;]{{0,11}}[mK]({_WORD})")),
)
STANDS_ALONE = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv])|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u00[0-9A-Fa-f]{2})"
    r"|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9;\[][mK]))"
)
"""A pattern of the place before a word, where no letter or digit is that belongs to it."""


def long_words(text: str) -> list[str]:
    """The words that are long enough for a token, each once, also without what is glued to them."""
    words = dict.fromkeys(_LONG_WORD.findall(text))
    for sign, pattern in _GLUED_WORDS:
        if sign in text:
            words |= dict.fromkeys(pattern.findall(text))
    return list(words)


TOKENS = (
    # Of the same make, by their prefixes; the longer one before the one it begins with
    *_tokens(r"[A-Za-z0-9]{24,300}",
        "groq key: gsk_, xai key: xai-, perplexity key: pplx-, replicate token: r8_, "
        "linear key: lin_api_, apify token: apify_api_, posthog key: phx_, "
        "docker hub token: dop_, render key: rnd_, npm token: npm_, "
        "prefect key: pnu_ pnb_, hugging face token: hf_ api_org_, "
        "netlify token: nfp_ nfc_ nfo_ nfu_ nfb_, "
        "vercel token: vcp_ vci_ vck_ vca_ vcc_, notion token: ntn_ secret_, "
        "fireworks key: fw_"),
    *_tokens(r"[0-9a-f]{32,72}",
        "firecrawl key: fc-, e2b key: e2b_, elevenlabs key: sk_, mailgun key: key-, "
        "digitalocean token: dop_v1_ doo_v1_ dor_v1_, "
        "shopify token: shpat_ shpca_ shppa_ shpss_, databricks token: dapi, "
        "cursor key: crsr_, pulumi token: pul-, rubygems key: rubygems_, "
        "sonar token: squ_ sqp_ sqa_, mailersend key: mlsn."),
    *_tokens(r"[\w-]{50,400}", "pypi token: pypi-, jina key: jina_"),
    *_tokens(r"(?=\D{0,60}\d)[\w-]{20,400}",
        "anthropic key: sk-ant-, openrouter key: sk-or-, openai key: sk-, "
        "nvidia key: nvapi-, tavily key: tvly-, docker token: dckr_pat_ dckr_oat_, "
        "figma token: figd_, supabase key: sbp_ sb_secret_, "
        "vault token: hvs. hvb. hvr., pinecone key: pcsk_, "
        "contentful token: CFPAT-, together key: tgp_v1_, "
        "square secret: sq0atp- sq0csp-, heroku key: HRKU-"),
    _token("langfuse key", r"[ps]k-lf-", r"[0-9a-f-]{30,40}", "k-lf-"),
    _token("google key", "AIza", r"[A-Za-z0-9_-]{35}", "aiza"),
    _token("google token", r"ya29\.|GOCSPX-|1//0", r"[\w-]{20,300}", "ya29.", "gocspx-", "1//0"),
    _token("github token", "gh[pousr]_|github_pat_", r"[A-Za-z0-9_]{22,255}", "gh", "github_"),
    _token("gitlab token", "gl(?:pat|[dfr]t|soat|cbt|ptt|agent)-", r"[\w-]{16}[\w.-]{4,48}", "gl"),
    _token("aws key", "A3T[A-Z0-9]|A[BK]IA|ACCA|ASIA", r"[A-Z0-9]{16}", "a3t", "ia", "acca"),
    _token("langsmith key", r"lsv2_(?:pt|sk)_|ls__", r"[0-9a-f_]{32,60}", "lsv2_", "ls__"),
    _token("slack token", "xox[a-z][.-]|xapp-", r"[A-Za-z\d-]{16}[A-Za-z\d.-]{0,240}", "xox", "xa"),
    _token("stripe key", r"[rs]k_(?:live|test)_|whsec_", "[A-Za-z0-9+/]{20,250}", "k_", "whsec_"),
    _token("sendgrid key", r"SG\.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}", "sg."),
    _token("sentry token", r"sntry[su]_", r"[A-Za-z0-9+/=_-]{40,300}", "sntry"),
    _token("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,70}", "age-secret-key-"),
    _token("twilio key", "AC|SK", r"[0-9a-f]{32}", "ac", "sk"),
    _token("cerebras key", "csk-", r"[a-z0-9]{40,60}", "csk-"),
    _token("voyage key", "pa-", r"(?=[A-Za-z_-]{0,42}\d)(?=[^A-Z]{0,42}[A-Z])[\w-]{43}", "pa-"),
    _token("sourcegraph token", "sgp_", r"(?:[0-9a-z]{5,20}_)?[0-9a-f]{40}", "sgp_"),
    _token("azure secret", r"[\w.~]{3}\dQ~", r"[\w.~-]{31,34}", "q~"),
    _token("cloudflare key", r"v1\.0-", r"[0-9a-f]{24}-[0-9a-f]{146}", "v1.0-"),
    _token("new relic key", r"[0-9a-f]{36}|eu01xx[0-9a-f]{30}", "NRAL", "nral"),
    _token("join token", "SWMTKN-1-", r"[0-9a-z]{40,60}-[0-9a-z]{20,30}", "swmtkn-1-"),
    _token("alibaba key", "LTAI", r"[A-Za-z0-9]{17,21}", "ltai"),
    _token("tencent key", "AKID", r"[A-Za-z0-9]{32}", "akid"),
    _token("bedrock key", "ABSK", r"[A-Za-z0-9+/]{100,200}={0,2}", "absk"),
    _token("tailscale key", r"tskey-[a-z]{2,10}-", r"[A-Za-z0-9-]{20,60}", "tskey-"),
    _token("modal token", "a[ks]-", r"(?=[A-Za-z]{0,21}\d)[A-Za-z0-9]{22}", "ak-", "as-"),
    _token("dynatrace token", r"dt0[a-zA-Z]\d{2}\.[A-Z0-9]{24}\.", "[A-Z0-9]{64}", "dt0"),
    _token("resend key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", "re_"),
    _token("mapbox key", r"sk\.eyJ", r"[\w-]{60,200}\.[\w-]{20,30}", "sk.eyj"),
    _token("circleci token", "CCI(?:PAT|PRJ)_", r"[A-Za-z0-9]{20,24}_[0-9a-f]{40}", "ccip"),
    _token("crates token", "cio", r"(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}", "cio"),
    _token("nuget key", "oy2", r"[a-z0-9]{43}", "oy2"),
    _token("clojars token", "CLOJARS_", r"[0-9a-z]{60}", "clojars_"),
    _token("easypost key", "EZ[AT]K", r"[A-Za-z0-9]{54}", "ezak", "eztk"),
    _token("razorpay key", "rzp_(?:live|test)_", r"[A-Za-z0-9]{14,24}", "rzp_"),
    _token("1password token", "ops_eyJ", r"[\w-]{100,2000}={0,2}", "ops_eyj"),
    _token("scaleway key", "SCW", r"(?=[A-Z]{0,16}\d)[A-Z0-9]{17}", "scw"),
    _token("amazon token", r"amzn1?\.(?:mws|oa2-cs)\.", r"[\w.-]{0,20}?[\w-]{30,80}", "amzn"),
    _token("atlassian token", "ATATT3|ATCTT3", r"[\w=-]{100,250}", "att3", "ctt3"),
    _token("bitbucket password", "ATBB", r"[A-Za-z0-9]{32}", "atbb"),
    _token("trello token", "ATTA", r"[0-9a-f]{64}[0-9A-Fa-f]{8}", "atta"),
    _token("fly token", "fm[12][ar]?_|fo1_", r"[\w+/-]{40,1000}", "fm1", "fm2", "fo1_"),
    _token("doppler token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.", r"[\w.]{40,60}", "dp."),
    _token("terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[\w=-]{60,70}", "atlasv1"),
    _token("grafana token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}", "glsa_"),
    _token("grafana token", "glc_", r"[A-Za-z0-9+/]{32,400}={0,2}", "glc_"),
    _token("new relic key", "NR(?:AK|JS)-", r"[A-Z0-9a-z-]{27,40}", "nrak-", "nrjs-"),
    _token("postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}", "pmak-"),
    _token("planetscale token", "pscale_(?:tkn|pw|oauth)_", r"[\w-]{16}[\w.=-]{16,48}", "pscale_"),
    _token("neon key", "napi_", r"[a-z0-9]{40,70}", "napi_"),
    _token(
        "discord token", r"(?=[A-Za-z]{0,27}\d)(?=[^A-Z]?[A-Z])[MNO][A-Za-z0-9_-]{22,27}",
        r"\.[\w-]{6}\.[\w-]{27,40}", "m", "n", "o",
    ),
    _token("square token", "EAAA", r"[\w-]{56,64}", "eaaa"),
    _token("facebook token", "EAA", r"[A-Za-z0-9]{45,300}", "eaa"),
    _token("brevo key", "x(?:key|smtp)sib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", "sib-"),
    _token("hubspot token", r"pat-[a-z]{2}\d-", r"[0-9a-f-]{36}", "pat-"),
    _token("airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat"),
    _token("dropbox token", r"sl\.", r"[\w=-]{100,200}", "sl."),
    _token("buildkite token", "bk[a-z]{2}_", r"[0-9a-f]{40}", "bk"),
    _token("telegram token", r"(?:bot)?\d{8,10}:AA", r"[A-Za-z0-9_-]{33}", ":aa"),
    _token("jwt", r"eyJ[\w-]{13,4000}\.eyJ", r"[\w-]{4,8000}(?:\.[\w-]{4,2000})?", "eyj"),
    rule(
        "webhook",
        r"https://(?:hooks\.slack\.com/(?:services|workflows)"
        r"|(?:\w{1,10}\.)?discord(?:app)?\.com/api/webhooks)/(?P<secret>[A-Za-z0-9_/-]{20,200})",
        "hooks.slack.com|/api/webhooks/",
        flags=0,
    ),
)  # fmt: skip

# Class name, what a report calls its finds, and letters (in lower case) that such a text
# holds: most detectors have no cheap way of their own to say no. Left out are those that
# take guesses (entropy, keywords, IP addresses), and those whose kinds have a rule of ours.
_CHOSEN = (
    ("AWSKeyDetector", "aws key", ("aws",)),
    ("AzureStorageKeyDetector", "connection string", ("accountkey=",)),
    ("CloudantDetector", "cloudant key", ("cloudant",)),
    ("DiscordBotTokenDetector", "discord token", ("discord", "bot_token", "bot token")),
    ("IbmCloudIamDetector", "ibm cloud key", ("ibm",)),
    ("IbmCosHmacDetector", "ibm cloud key", ("ibm", "cos_")),
    ("MailchimpDetector", "mailchimp key", ("-us",)),
    ("SlackDetector", "slack token", ("xox", "hooks.slack")),
    ("SoftlayerDetector", "softlayer key", ("softlayer",)),
)
_NAMES = frozenset(name for name, _, _ in _CHOSEN)


def detected(text: str, lowered: str) -> Iterator[tuple[str, str]]:
    """The secrets that the library finds, each with its kind.

    Args:
        text: Any text.
        lowered: The same in lower case.
    """
    for name, kind, hints in _CHOSEN:
        if any(hint in lowered for hint in hints):
            for value in _detectors()[name].analyze_string(text):
                if value:
                    yield kind, value


@lru_cache(maxsize=1)
def _detectors() -> dict[str, RegexBasedDetector]:
    # Loading the library takes a tenth of a second: only texts with a hint in them pay it.
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    known: dict[str, Any] = get_mapping_from_secret_type_to_class()
    return {plugin.__name__: plugin() for plugin in known.values() if plugin.__name__ in _NAMES}
