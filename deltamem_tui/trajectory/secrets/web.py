"""Secrets in addresses, in the headers of requests, and in cookies."""

from __future__ import annotations

import re

from deltamem_tui.trajectory.secrets.rules import (
    PLACEHOLDER,
    RANDOM,
    RANDOM_ENDS,
    RUN,
    URL_PLACEHOLDER,
    Rule,
)

# In an address, before a parameter; also as JSON and HTML write the sign.
_PARAMETER = (
    r"(?:(?<=[?&,; ])|(?<=u0026)|(?<=[?&;]x-amz-)|(?<=[?&;]x-goog-)"
    r"|(?<=u0026x-amz-)|(?<=u0026x-goog-))"
)
# Values of cookies have percent signs where signs are escaped.
_COOKIE_VALUE = rf"(?=[\w%.+/~-]{{0,60}}?{RUN})(?=[^\d\s;]{{0,60}}\d)[\w%.+/~=-]{{16,4000}}"
_COOKIE_NAME = (
    r"(?:[\w.-]{0,40}(?:sess|token|auth|jwt|csrf|xsrf|remember|login|identity|clearance|sid)"
    r"[\w.-]{0,20})"
)

WEB = (
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
        "connection string",
        re.compile(
            r"(?:(?:(?<=account)|(?<=sharedaccess)|(?<=instrumentation))key|(?<=sharedaccess)signature)="
            rf"(?P<secret>{RUN}[A-Za-z0-9+/=%&-]{{20,400}})",
            re.IGNORECASE,
        ),
        ("key", "sig"),
    ),
    # Whoever holds a signed address may do what it says.
    Rule(
        "connection string",
        re.compile(rf"sig=(?P<secret>{RUN}[A-Za-z0-9%+/_-]{{30,120}})"),
        ("sig",),
    ),
    Rule(
        "signature",
        re.compile(
            rf"{_PARAMETER}signature=(?P<secret>(?=[A-Za-z%_~-]{{0,60}}\d){RUN}[A-Za-z0-9%+/_~-]{{20,2000}}={{0,2}})"
            r"(?![\w(.])",
            re.IGNORECASE,
        ),
        ("sig",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "signature",
        re.compile(
            rf"{_PARAMETER}code=(?P<secret>(?=[A-Za-z_/-]{{0,60}}\d){RUN}[\w%/+-]{{40,400}}={{0,2}})"
        ),
        ("code=",),
        placeholder=PLACEHOLDER,
    ),
    Rule(
        "webhook",
        re.compile(
            r"(?:(?<=/incomingweb)hook/|(?<=//)hook(?:\.[a-z0-9]{2,4})?\.make\.com/"
            r"|(?<=//)hooks\.zapier\.com/hooks/catch/\d{1,12}/|(?<=/web)hook/send\?key="
            r"|(?<=/bot/v2/)hook/)"
            r"(?P<secret>[\w-]{16,100}(?:/[\w-]{20,60})?"
            r"|(?<=/)(?<!make\.com/)[a-z0-9]{6,15}(?=/|\s|\Z))",
            re.IGNORECASE,
        ),
        ("hook",),
    ),
    Rule(
        "authorization header",
        re.compile(
            r"(?:(?:authorization|(?<=api-)key|(?:(?<=auth-)|(?<=private-))token)"
            r"\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:(?:bearer|basic|token)\s{1,3})?|bearer\s{1,3})"
            r"(?P<secret>(?!AWS4-HMAC)(?=[A-Za-z_/+.=-]{0,200}[\d=]|[A-Za-z]{32})"
            rf"{RUN}[A-Za-z0-9_/+.~=-]{{16,4000}})",
            re.IGNORECASE,
        ),
        ("auth", "bearer", "key", "token"),
        placeholder=PLACEHOLDER,
    ),
    # A short name and a short password in base 64, filled up to be of four signs.
    Rule(
        "authorization header",
        re.compile(
            r"authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?basic\s{1,3}"
            r"(?P<secret>[A-Za-z0-9+/]{8,18}={1,2})",
            re.IGNORECASE,
        ),
        ("auth",),
    ),
    # Schemes of single services: `Authorization: SSWS V`.
    Rule(
        "authorization header",
        re.compile(
            r"authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?[A-Za-z][\w-]{1,30}\s{1,3}(?!Credential=)"
            rf"(?P<secret>{RANDOM}){RANDOM_ENDS}",
            re.IGNORECASE,
        ),
        ("auth",),
        placeholder=PLACEHOLDER,
    ),
    # Cookies that say who somebody is, in the headers, in a command, ...
    Rule(
        "cookie",
        re.compile(rf"(?<![\w.-]){_COOKIE_NAME}=(?P<secret>{_COOKIE_VALUE})", re.IGNORECASE),
        ("cookie", "curl "),
        placeholder=PLACEHOLDER,
        within=re.compile(
            r"(?:cookies?\\?[\"']?\s?[:=]|curl\b[^\n\0]{0,300}? (?:-b|--cookie)[ =])"
            r"[^\n\0]{0,8000}",
            re.IGNORECASE,
        ),
    ),
    # ... in the file where curl and others keep them, and in what a browser writes down.
    Rule(
        "cookie",
        re.compile(
            rf"(?:TRUE|FALSE)\t/\S{{0,60}}\t(?:TRUE|FALSE)\t\d{{1,12}}\t{_COOKIE_NAME}\t(?P<secret>{_COOKIE_VALUE})",
            re.IGNORECASE,
        ),
        ("cookie",),
        placeholder=PLACEHOLDER,
        within=re.compile(r"cookie[^\0]{0,8000}", re.IGNORECASE),
    ),
    Rule(
        "cookie",
        re.compile(
            rf"\"name\\?\"\s?:\s?\\?\"{_COOKIE_NAME}\\?\",\s{{0,24}}\\?\"value\\?\"\s?:\s?\\?\"(?P<secret>{_COOKIE_VALUE})",
            re.IGNORECASE,
        ),
        ("cookie",),
        placeholder=PLACEHOLDER,
        within=re.compile(r"cookies?\\?\"\s?:\s?\[[^\]\0]{0,8000}", re.IGNORECASE),
    ),
    Rule(
        "cookie",
        re.compile(
            rf"['\"]{_COOKIE_NAME}['\"]\s?:\s?['\"](?P<secret>{_COOKIE_VALUE})['\"]",
            re.IGNORECASE,
        ),
        ("cookie",),
        placeholder=PLACEHOLDER,
        within=re.compile(r"cookies\s?=\s?\{[^{}\n\0]{0,2000}\}", re.IGNORECASE),
    ),
)
