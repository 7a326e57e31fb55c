"""Secrets in addresses, in the headers of requests, and in cookies."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import rule
from deltamem_tui.trajectory.secrets.values import (
    is_key,
    is_placeholder,
    is_random,
    is_url_password,
)

_HEADER = r"\\{0,8}[\"']?\s{0,3}[:=,]?\s{0,3}\\{0,8}[\"']?"
# In an address, before a parameter; also as JSON and HTML write the sign.
_PARAMETER = (
    r"(?:(?<=[?&,; ])|(?<=u0026)|(?<=[?&;]x-amz-)|(?<=[?&;]x-goog-)"
    r"|(?<=u0026x-amz-)|(?<=u0026x-goog-))"
)
# Values of cookies have percent signs where signs are escaped.
_COOKIE_VALUE = r"[\w%.+/~=:|-]{16,4000}"
_COOKIE_NAME = (
    r"(?:[\w.-]{0,40}(?:sess|token|auth|jwt|csrf|xsrf|remember|login|identity|clearance|sid|aspnet|logged_in)"
    r"[\w.-]{0,20})"
)


def _is_cookie(value: str) -> bool:
    return is_random(re.sub(r"%[0-9A-Fa-f]{2}|[:|]", "", value).lstrip(".")) and "%7B" not in value


def _is_signature(value: str) -> bool:
    return is_random(re.sub(r"%[0-9A-Fa-f]{2}", "", value)) or is_random(value.replace("%", "="))


def _is_credential(value: str) -> bool:
    """Whether a value is a random one, or letters in base 64."""
    return not is_placeholder(value) and (
        is_random(re.sub(r"[|:]", "", value)) or (len(value) >= 32 and value.isalpha())
    )


def _is_short_credential(value: str) -> bool:
    return is_key(value) and not re.search("token|key|secret", value, re.IGNORECASE)


WEB = (
    rule(
        "password in a url",
        r"(?<=[A-Za-z0-9])://[^\s:/?#@\"'<>]{0,100}:"
        r"(?P<secret>[^\s/\"'<>@{}$\[][^\s/\"'<>@]{0,200})@(?=[\w\[.-])",
        "://",
        is_url_password,
        flags=0,
    ),
    # Whoever has a signed address may do what it says.
    rule(
        "signature",
        rf"{_PARAMETER}(?:sig|signature|hmac|hash_?key|key-pair-signature)="
        r"(?P<secret>[A-Za-z0-9%+/_~-]{20,2000}={0,2})(?![\w(.])",
        "sig|hmac",
        _is_signature,
    ),
    rule(
        "signature",
        rf"{_PARAMETER}code=(?P<secret>[\w%/+.-]{{20,400}}={{0,2}})",
        "code=",
        lambda value: is_random(value) and any(map(str.isupper, value)),
        flags=0,
    ),
    # Parameters that are keys of services, by other names than those of settings
    rule(
        "token",
        r"(?<=[?&])(?:key|app_?id|app_?key|auth|sid|session|apikey|ticket|jwt|assertion)="
        r"(?P<secret>[\w.~%-]{20,2000})(?![\w(])",
        "key=|app|auth=|sid=|session=|ticket=|jwt=|assertion=",
        lambda value: is_random(value) and value.count("-") < 4,
    ),
    rule(
        "webhook",
        r"(?:(?<=/incomingweb)hook/|(?<=//)hook(?:\.[a-z0-9]{2,4})?\.make\.com/"
        r"|(?<=//)hooks\.zapier\.com/hooks/catch/\d{1,12}/|(?<=/web)hook/send\?key="
        r"|(?<=/bot/v2/)hook/)"
        r"(?P<secret>[\w-]{16,100}(?:/[\w-]{20,60})?"
        r"|(?<=/)(?<!make\.com/)[a-z0-9]{6,15}(?=/|\s|\Z))",
        "hook",
    ),
    rule(
        "authorization header",
        rf"(?:authorization{_HEADER}(?!AWS4-HMAC)(?:[A-Za-z][\w-]{{1,30}}[\s=:]{{1,3}}(?:token=)?\\{{0,8}}[\"']?)?|bearer\s{{1,3}})"
        r"(?P<secret>(?:\d{1,9}\||[\w:]{1,40}:)?[A-Za-z0-9_/+.~=-]{16,4000})(?![\w(])",
        "authorization|bearer",
        lambda value: not value.startswith("Credential=") and _is_credential(value),
    ),
    rule(
        "authorization header",
        rf"authorization{_HEADER}(?:token|api-?key|key|bearer|basic)[ =:]{{1,3}}"
        r"(?P<secret>[A-Za-z0-9][A-Za-z0-9_.~+/-]{7,80}={0,2})(?![\w(:=\[])",
        "authorization",
        _is_short_credential,
    ),
    # Cookies that say who somebody is, in the headers, in a command, ...
    rule(
        "cookie",
        rf"(?<![\w.-]){_COOKIE_NAME}=(?P<secret>{_COOKIE_VALUE})",
        "cookie|curl ",
        _is_cookie,
        within=r"(?:cookies?\\{0,8}[\"']?\s?[:=,]|curl\b[^\n\0]{0,300}? (?:-b|--cookie)[ =])"
        r"[^\n\0]{0,8000}",
    ),
    # ... in the file where curl and others keep them, and in what a browser writes down.
    rule(
        "cookie",
        rf"(?:TRUE|FALSE)\t/\S{{0,60}}\t(?:TRUE|FALSE)\t\d{{1,12}}\t{_COOKIE_NAME}\t(?P<secret>{_COOKIE_VALUE})",
        "cookie",
        _is_cookie,
        within=r"cookie[^\0]{0,8000}",
    ),
    rule(
        "cookie",
        rf"[\"']?name\\?[\"']?\s?:\s?\\?[\"']{_COOKIE_NAME}\\?[\"'],\s{{0,24}}\\?[\"']?value\\?[\"']?"
        rf"\s?:\s?\\?[\"'](?P<secret>{_COOKIE_VALUE})",
        "cookie",
        _is_cookie,
        within=r"cookies?[^\0]{0,4000}",
    ),
)

EMAIL = rule(
    "e-mail address",
    r"(?<![\w.+-])(?!(?:git|hg|svn)@[\w.-]{1,200}[:/])[^\W_][\w.+-]{0,63}"
    r"@(?:(?:[^\W_]|-){1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-])",
    "@",
    flags=0,
)
