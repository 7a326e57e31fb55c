"""What the values of secrets look like, and what occupies their place in code and in examples.

A value that only its name or its place makes a secret has to pass one of the tests here. How
strict that one is depends on how much the place says: after `PGPASSWORD=` any word will do, in a
sentence about passwords only what forms ask for.
"""

from __future__ import annotations

import re

# Letters with capitals where no name has them, as in `aBc` or `aBC`, three times.
_SHUFFLED = r"(?=(?:[A-Za-z0-9_/+.=-]{0,40}?(?:[A-Z][a-z](?=[A-Z])|[a-z](?=[A-Z]{2}))){3})"
_SIGNS = "A-Za-z0-9_/+.~=-"
# Sixteen letters and digits together, and not only small letters: that is what the prefilter sees.
_RUN = rf"(?=[{_SIGNS}]{{0,200}}?(?=[a-z]{{0,15}}[A-Z0-9_/+-])[A-Za-z0-9_/+-]{{16}})"
_MIXED = r"(?=[^\d]{0,200}\d)(?=[^A-Za-z]{0,200}[A-Za-z])"
_RANDOM = re.compile(rf"(?:{_MIXED}|{_SHUFFLED}){_RUN}[{_SIGNS}]{{16,4000}}")
_JUMBLED = re.compile(
    r"(?=[A-Za-z]{0,60}\d)(?=[\da-z]{0,60}[A-Z])(?=[\dA-Z]{0,60}[a-z])[A-Za-z0-9]+"
)
_SWITCH = re.compile("(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_HEXADECIMAL = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{32,128}")
_DIGEST = re.compile(
    r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)

# What a message says of a password, which is not a password itself.
_STATES = (
    "access|authentication|confirmation|correct|incorrect|mismatch(?:ed)?|invalid|denied|wrong"
    "|missing|fail(?:ed|ure)?|expired|rejected|accepted|verified|authenticated|unknown|empty|blank"
    "|protected|disabled|enabled|changed|unchanged|updated|removed|reset|hidden|masked|encrypted"
    "|hashed|provided|prompt(?:ed)?|does|doesn't|must|should|cannot|can't|please|nothing|unset"
    "|stored|minimum|length|strength|policy|visible|inherit|default"
)
_TYPES = (
    "1?pass(?:w(?:or)?d)?|pwd|text|test(?:ing)?|bytes|char|varchar|field|type|value|number|username|user"
    "|str|int|bool|boolean|any|object|strings?|secret(?:str)?|token|password|required|optional"
)
_EXAMPLES = (
    r"[x*.•#_=-]+|[.~].*|[^<>]*<[^<>]+>.*"
    r"|(?:your|my|the|some|test|fake|dummy|mock|sample)[_-].*"
    r"|.*(?:example|placeholder|change[_-]?me|change-this|redacted|replace[_-]?(?:me|with)|\*{4}|x{8}|\.{3}).*"
    r"|your[a-z]{0,20}(?:pass|pw|secret|token|key|credential|database|user|host)[a-z]{0,12}\d{0,4}"
    r"|[a-z]*\[[^\[\]]*\]|flag\{[0-9a-f]+\}|[^a-z0-9]*%s[^a-z0-9]*"
    r"|(?:none|null|nil|true|false|undefined)[.!?]?"
    rf"|(?:{_STATES}|{_TYPES})s?[.!?,:]?"
)
_REFERENCES = (
    r"(?:os|process|self|config|settings|request|req|args|env|ctx|options|props|this|data)\..*"
    r"|!(?:vault|ref|sub|secret|env|getatt|include|importvalue|join|encrypted\S*)"
    r"|\$(?:\w+|[{(].*)|%\w+%|.*(?:\$\{|\{\{|\$\(|<%=).*"
)
# Names of variables, settings, files and functions.
_NAMES = (
    r"[a-z]+\d{0,4}(?:[._/-][a-z]+\d{0,4})+|[A-Za-z]+[.!?:]+"
    r"|[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+[?!|&]{0,2}|[A-Z]+(?:_[A-Z0-9]+)+"
)
_PLACEHOLDER = rf"(?i:{_EXAMPLES}|{_REFERENCES}|/.*)"
_EITHER = re.compile(_PLACEHOLDER, re.DOTALL)
_NAME = re.compile(rf"{_NAMES}|[a-z]+(?:[A-Z][a-z]+)+")
_LITERAL_NAME = re.compile(
    rf"{_NAMES}|(?i:.*passw(?:or)?d.*)|(?:your|my|some|the|db|user|new)[A-Z][a-z]+"
)
_TOKEN_EXAMPLE = re.compile(r"(?i:.*(?:your[_-]|example|placeholder|x{8}|\*{4}).*)", re.DOTALL)
# Names of classes have digits too, but each capital begins a word.
_CLASS = re.compile(r"[A-Za-z]?[a-z]*\d{0,5}(?:[A-Z][a-z]+\d{0,3}|[A-Z]\d{1,2}){2,8}")
_URL_EXAMPLE = re.compile(
    r"(?i:[x*.#_=-]+|pass(?:word|wd)?|pw|pwd|secret|token|your[_-]?(?:db[_-]?)?(?:pass|pw|secret|token)\w*)"
)
# Methods, sizes, versions, days, files, addresses, members of records: of what has digits too.
_MEASURE = re.compile(
    r"(?i:(?:aes|sha|md|rsa|hs|es|rs|ps|utf|base|bcrypt|argon|scrypt|pbkdf|oauth|http|tls|ssl|rfc"
    r"|python|ntlm|crc|level|version|step|v|case|xoauth|cram|md|tcp|udp)[-_]?\d[\w.+-]{0,14}"
    r"|\d+[-\u2013+]?\d*[-_]?(?:bits?|bytes?|chars?|characters?|digits?|letters?|days?|hours?|h|s"
    r"|ms|x|times|%)(?:-[a-z-]*)?|\d{4}-\d\d-\d\d\S*|v?\d+(?:\.\d+)+\S*|(?:\d{1,5}[.:/-]?){1,8}(?:tcp|udp)?"
    r"|[\w./-]+\.(?:py|js|ts|txt|json|ya?ml|md|env|go|rs|java|sh|ini|cfg|toml|html?|pem|key|pub|crt"
    r"|p8|p12|enc|php|com|org|net|io|local)|\w+://.*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[\w./-]+@v?\d[\w.]*"
    r"|#[0-9a-f]{3,8}|(?:[\w.-]*/[\w./-]*|pr|mr|issue|bug|gh|ticket)#\d+|[\w.]+\(.*|[A-Za-z_]+=[^=].*)"
)
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
# `Support24` and `1Password` are made like some passwords, and so are members of modules.
_BRAND = re.compile(r"\d?[A-Z][a-z]+\d{0,4}")
_MEMBER = re.compile(r"[a-z]\w*(?:\.[A-Za-z]\w*){2,}")
# A digit, or a sign that does not only end a sentence
_UNLIKE_A_WORD = re.compile(r"\d|\S[!#$%^*&]+[^\s!?.,:;]")
_SENTENCE = re.compile(
    r"(?i:.*(?<![a-z])(?:the|an?|your|my|must|be|is|are|was|not|no|to|for|please|enter|at|or|and|in"
    r"|of|on|by|should|with|from|using|via|if|has|can|does|required|invalid|password|example|change"
    r"|this|that|it|you|we|will|only|least|per|new|old|failed|access|none|null)(?![a-z]).*)",
    re.DOTALL,
)
_PHRASE = re.compile(
    r"(?=\S+ \S+ |.{0,40}\d)[\w!@#$%^&*+=?.'-]{1,24}(?: [\w!@#$%^&*+=?.'-]{1,24}){1,8}"
)
# Words with dashes say what should stand there, more often than not.
_INSTRUCTION = re.compile(
    r"(?:your|the|some|an?|test|fake|dummy|mock|sample|insert|replace|change|put|enter|add|set|use"
    r"|paste|any|not|no|none|todo|default|my)-.*"
    r"|.*-(?:here|me|example|placeholder|goes|value|name|id|file|path|secret|token|key)(?:-.*)?|x+(?:-x+)+"
)
_WORDS = re.compile(r"[a-z]{2,20}\d{0,4}(?:-(?:[a-z]{2,20}\d{0,4}|\d{1,6})){2,7}")
_KEY = re.compile(rf"{_MIXED}[A-Za-z0-9][A-Za-z0-9_.~+/-]{{7,200}}={{0,2}}")


def is_placeholder(value: str) -> bool:
    """Whether a value is an example, a template, or the name of what holds the real value."""
    return _EITHER.fullmatch(value) is not None or _NAME.fullmatch(value) is not None


def is_token_example(value: str) -> bool:
    """Whether a token is only shown as an example: by chance, hardly any looks like that."""
    return _TOKEN_EXAMPLE.fullmatch(value) is not None


def is_url_password(value: str) -> bool:
    """Whether the password of an address is a real one; there, nearly everything is."""
    return not _URL_EXAMPLE.fullmatch(value) and "{" not in value


def is_class_name(value: str) -> bool:
    """Whether a value is a name in which each capital begins a word."""
    return _CLASS.fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Whether a value is one that no person would write: sixteen or more letters and digits."""
    return (
        _RANDOM.fullmatch(value) is not None
        and not is_class_name(value)
        and not is_placeholder(value)
    )


def is_measure(value: str) -> bool:
    """Whether a value with digits is a size, a version, a method, a day or a file."""
    return _MEASURE.fullmatch(value) is not None


def is_jumbled(value: str, least: int) -> bool:
    """Whether a value has so many capitals, small letters and digits, and nothing else."""
    return (
        len(value) >= least and _JUMBLED.fullmatch(value) is not None and not is_class_name(value)
    )


def is_scrambled(value: str) -> bool:
    """Whether capitals, small letters and digits alternate as only chance lets them."""
    return len(_SWITCH.findall(value)) > 0.35 * len(value)


def is_hexadecimal(value: str) -> bool:
    """Whether a value is a long number in hexadecimal digits, as keys and hashes are."""
    return _HEXADECIMAL.fullmatch(value) is not None


def is_digest(value: str) -> bool:
    """Whether a value has the form of a commit, a checksum or an id, all of which are public."""
    return _DIGEST.fullmatch(value) is not None


def is_mixed(value: str, least: int = 6) -> bool:
    """Whether a value has letters and digits or signs, and is not a measure, a file or a name."""
    return (
        len(value) >= least
        and _UNLIKE_A_WORD.search(value) is not None
        and any(map(str.isalpha, value))
        and not _MEASURE.fullmatch(value)
        and not _EITHER.fullmatch(value)
        and not (_PATH.fullmatch(value) and not is_random(value))
    )


def is_strong(value: str, least: int = 8) -> bool:
    """Whether a value is a password as forms ask for: both cases, or signs, besides digits."""
    return (
        is_mixed(value, least)
        and not _PATH.fullmatch(value)
        and (
            (any(map(str.isupper, value)) and any(map(str.islower, value)))
            or any(letter in "!@#$%^&*+=?~" for letter in value)
        )
    )


def is_unmistakable(value: str) -> bool:
    """Whether a value is a password wherever passwords are spoken of, and hardly anything else."""
    return (
        is_strong(value.strip("*"))
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
        and not is_class_name(value)
        and not value.startswith("0x")
        and not is_digest(value)
        and not _MEMBER.fullmatch(value)
    )


def is_brand(value: str) -> bool:
    """Whether a value is a capitalised word with a number, as products are called."""
    return _BRAND.fullmatch(value) is not None


def has_signs(value: str) -> bool:
    """Whether a value has a sign in it that names do not have."""
    return any(letter in "!@#$%^&*+=~" for letter in value)


def is_phrase(value: str) -> bool:
    """Whether a value is a passphrase: some words that do not make a sentence."""
    return _PHRASE.fullmatch(value) is not None and not _SENTENCE.fullmatch(value)


def is_password(value: str) -> bool:
    """Whether a value may be a password where also a variable could be named."""
    return len(value) >= 6 and not is_placeholder(value)


def is_literal(value: str, least: int = 4) -> bool:
    """Whether a value may be a password where it cannot be a variable: between quotation marks."""
    if any(map(str.isspace, value)):
        return is_phrase(value)
    return (
        len(value) >= least
        and not _EITHER.fullmatch(value)
        and not _LITERAL_NAME.fullmatch(value)
        and not (value.isdigit() and (least > 4 or len(value) < 6))
    )


def is_key(value: str) -> bool:
    """Whether a value may be a short key that a person or a program made up."""
    return (
        _KEY.fullmatch(value) is not None
        and not is_placeholder(value)
        and not _MEASURE.fullmatch(value)
        and not _INSTRUCTION.fullmatch(value)
    )


def is_words(value: str) -> bool:
    """Whether a value is made of words with dashes that do not say what to put there."""
    return _WORDS.fullmatch(value) is not None and not _INSTRUCTION.fullmatch(value)
