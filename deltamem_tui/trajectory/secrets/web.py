"""Secrets in addresses, in the headers of requests, and in cookies."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import rule
from deltamem_tui.trajectory.secrets.values import (
    is_hexadecimal,
    is_jumbled,
    is_key,
    is_placeholder,
    is_random,
    is_strong,
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
_COOKIE_NAME = r"(?P<name>[\w.-]{1,80})"


_USER = re.compile(r"[A-Za-z_][\w.$-]{1,40}$")
# Cookies that count visitors, keep what was chosen, or balance loads
_OPEN_COOKIE = re.compile(
    r"(?i)_?_?(?:g[ac]\w*|gid|gcl\w*|fbp|fbc|utm\w*|hj\w*|optanon\w*|awsalb\w*|clsk|clck|mp_\w*|ajs_\w*"
    r"|amplitude\w*|intercom-\w*|\w*(?:consent|theme|lang|locale|timezone|currency|visitor|analytics)\w*)"
)


def _is_cookie(match: re.Match[str]) -> bool:
    value = match["secret"]
    random = is_random(re.sub(r"%[0-9A-Fa-f]{2}|[:|]", "", value).lstrip("."))
    return random and "%7B" not in value and not _OPEN_COOKIE.fullmatch(match["name"])


def _is_before_host(match: re.Match[str]) -> bool:
    """Whether what stands between a user and a host is a password, and not a tag or a version."""
    user = _USER.search(match.string, max(match.start() - 64, 0), match.start())
    value = match["secret"]
    return user is not None and (is_strong(value) or is_random(value))


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
    rule("password in a url", r"(?<=[A-Za-z0-9])://[^\s:/?#@\"'<>]{0,100}:"
        r"(?P<secret>[^\s/\"'<>@{}$\[][^\s/\"'<>@]{0,200})@(?=[\w\[.-])", "://", is_url_password,
        flags=0),
    # A token in the place of the user
    rule("password in a url", r"(?<=[A-Za-z0-9])://(?P<secret>[A-Za-z0-9_-]{20,200})@(?=[\w\[])",
        "://", lambda value: is_hexadecimal(value) or is_jumbled(re.sub("[_-]", "", value), 20),
        flags=0),
    # The same without what stands before it: `app:V@tcp(db:3306)`, `default:V@cache:6379`
    rule("password in a url",
        r":(?P<secret>[^\s:/@\"'`<>(){}]{6,100})@(?=(?:tcp|unix)\(|[\w-]{2,60}(?:\.[\w-]{1,60}){1,5}(?![\w.])|[\w.-]{2,100}:\d{2,5}\b)",
        ":", accepts=_is_before_host, flags=0),
    # Whoever has a signed address may do what it says.
    rule("signature", rf"{_PARAMETER}(?:sig|signature|hmac|hash_?key|key-pair-signature)="
        r"(?P<secret>[A-Za-z0-9%+/_~-]{20,2000}={0,2})(?![\w(.])", "sig|hmac", _is_signature),
    # Parameters that are keys of services, by other names than those of settings
    rule("token",
        r"(?:[?&;]|u0026)(?:[\w.-]{0,30}_)?(?:key|app_?id|app_?key|auth|sid|session|apikey|ticket|jwt|assertion|code)="
        r"(?P<secret>[\w.~%/+-]{20,2000}={0,2})(?![\w(])", ("?", "&", ";", "u0026"),
        lambda value: (is_random(value) and value.count("-") < 4
        and (any(map(str.isupper, value)) or value.isalnum()) )),
    rule("webhook", r"(?:(?<=/incomingweb)hook/|(?<=//)hook(?:\.[a-z0-9]{2,4})?\.make\.com/"
        r"|(?<=//)hooks\.zapier\.com/hooks/catch/\d{1,12}/|(?<=/web)hook/send\?key="
        r"|(?<=/bot/v2/)hook/)"
        r"(?P<secret>[\w-]{16,100}(?:/[\w-]{20,60})?"
        r"|(?<=/)(?<!make\.com/)[a-z0-9]{6,15}(?=/|\s|\Z))", "hook"),
    rule("authorization header",
        rf"(?:authorization{_HEADER}(?!AWS4-HMAC)(?:[A-Za-z][\w-]{{1,30}}[\s=:]{{1,3}}(?:token=)?\\{{0,8}}[\"']?)?|bearer(?:\s{{1,3}}|[^\w\n]{{2,12}}))"
        r"(?P<secret>(?:\d{1,9}\||[\w:]{1,40}:)?[A-Za-z0-9_/+.~=-]{16,4000})(?![\w(])",
        "authorization|bearer",
        lambda value: not value.startswith("Credential=") and _is_credential(value)),
    rule("authorization header",
        rf"authorization{_HEADER}(?:token|api-?key|key|bearer|basic)[ =:]{{1,3}}"
        r"(?P<secret>[A-Za-z0-9][A-Za-z0-9_.~+/-]{7,80}={0,2})(?![\w(:=\[])", "authorization",
        _is_short_credential),
    # Cookies that identify a user, in the headers, in a command, ...
    rule("cookie", rf"(?<![\w.-]){_COOKIE_NAME}=(?P<secret>{_COOKIE_VALUE})", "cookie|curl ",
        accepts=_is_cookie,
        within=r"(?:cookies?\\{0,8}[\"']?\s?[:=,]|curl\b[^\n\0]{0,300}? (?:-b|--cookie)[ =])"
        r"[^\n\0]{0,8000}"),
    # ... in the file where curl and others keep them, and in what a browser writes down.
    rule("cookie",
        rf"(?:TRUE|FALSE)\t/\S{{0,60}}\t(?:TRUE|FALSE)\t\d{{1,12}}\t{_COOKIE_NAME}\t(?P<secret>{_COOKIE_VALUE})",
        "cookie", accepts=_is_cookie, within=r"cookie[^\0]{0,8000}"),
    rule("cookie",
        rf"name\\?[\"']?\s?:\s?\\?[\"']{_COOKIE_NAME}\\?[\"'],\s{{0,24}}\\?[\"']?value\\?[\"']?"
        rf"\s?:\s?\\?[\"'](?P<secret>{_COOKIE_VALUE})(?=[^{{}}\0]{{0,300}}(?:domain|httponly|path|url|samesite))",
        "name", accepts=_is_cookie),
)  # fmt: skip

EMAIL = rule(
    "e-mail address",
    r"(?<![\w.+-])(?!(?:git|hg|svn)@[\w.-]{1,200}[:/])[^\W_][\w.+-]{0,63}"
    r"@(?:(?:[^\W_]|-){1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-])",
    "@",
    flags=0,
)
