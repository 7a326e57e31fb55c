"""Passwords on command lines, in statements of databases, and in calls that log in.

Most programs have an option of their own for them, often of one letter, which means something
else to every other program: a rule is about a program and its option, or about an option that
stands beside that of the user. In a call it is the argument behind the user's name.
"""

from __future__ import annotations

import re
from functools import partial

from deltamem_tui.trajectory.secrets.rules import END_OF_LINE, QUOTED, VALUE, Rule, rule
from deltamem_tui.trajectory.secrets.values import (
    is_brand,
    is_digest,
    is_hexadecimal,
    is_literal,
    is_measure,
    is_mixed,
    is_password,
    is_placeholder,
    is_random,
    is_strong,
    is_unmistakable,
)

_REST = r"[^\n|;\0]"
_USER = r" (?:-u|-U|-l|--user(?:name)?|--login)[ =]?"
_NO_NUMBER = r"(?!(?:\d{1,5}[.:/-]?){1,8}(?:tcp|udp)?(?![^\s\"']))"
_IDENTIFIED = r"identified(?: with [\w'\"]{1,40})? by (?:password )?"
_SENT = r"send (?:--? |-\w )?\\?\"(?P<secret>[^\s\"\\$\[\]{}]{6,200})\\{1,2}[rn]"
_SQL_QUOTED = r"N?\\{0,8}(?P<quote>['\"])(?P<secret>[^\s'\"\\]{4,200})\\{0,8}(?P=quote)"

# What logs in, and takes the user's name and the password as arguments; and what it is given first.
_LOGINS = (
    r"(?:log_?in|sign_?in|authenticat\w{1,5}|credentials?|auth|connect(?:ion)?|bind(?:_s)?"
    r"|create_\w{0,6}user|pdo|mysqli|ftp|redis|aes\.new|getbytes|client|begin|handler|initialize|secret(?:string)?::new|jwt\.(?:en|de)code|jwt\.(?:sign|verify)"
    r"|hmac|encrypt)"
)
_ARGUMENT = (
    r"\s{0,20}(?:(?:\w{1,20}\s?[=:]\s?)?[bru]?\\{0,8}[\"'][^\"'\n\\]{0,160}\\{0,8}[\"']"
    r"|[\w.$&-]{1,60}(?:\([^()\n]{0,60}\))?)[,:]"
)
_CALLED = (
    r"\w{0,12}\\?[\"']?(?:\s?[=:]\s?|,\s?\\?[\"']\w{1,20}\\?[\"']:\s?)?[(\[{]"
    rf"(?:{_ARGUMENT}){{1,3}}\s{{0,20}}(?:Some\()?(?:\w{{1,20}}\s?[=:]\s?)?{QUOTED}(?=\s{{0,20}}[,)\]}}])"
)
_NO_ARGUMENT = re.compile(
    r"(?i)/.*|#.*|credentials?|google|github|email|submit|button|success|click|redirect\w*|utf-?8"
    r"|basic|digest|bearer|oauth2?|base64|bcrypt|admin|guest|anonymous|localhost|enabled|root"
)


_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")


def _is_argument(value: str) -> bool:
    """Whether a text that is an argument of a call may be a password."""
    return (
        is_literal(value)
        and not _NO_ARGUMENT.fullmatch(value)
        and (is_mixed(value) or value.isalpha() or _APP_PASSWORD.fullmatch(value) is not None)
    )


def _is_on_a_command_line(match: re.Match[str]) -> bool:
    value, start = match["secret"], match.start("secret")
    before_it = match.string[max(start - 12, 0) : start]
    if re.search(r"(?:-h|-H|-b|-i|-f|-d|-D|host|name|ssid|set) ?[= ]?$", before_it, re.IGNORECASE):
        return False
    return (is_unmistakable(value) or is_random(value)) and not is_measure(value)


def _is_strong_argument(match: re.Match[str]) -> bool:
    """Whether an argument of a call that logs in is a password by itself."""
    value = match["secret"]
    return is_hexadecimal(value) or (
        is_strong(value)
        and any(map(str.isdigit, value))
        and not is_brand(value)
        and not is_digest(value)
    )


# Letters of options differ by their case.
_command = partial(rule, "password", flags=0)


def _option(program: str, option: str, *hints: str) -> Rule:
    """A program's option whose value is a password."""
    pattern = rf"{program}\b{_REST}{{0,200}}? {option}{_NO_NUMBER}{VALUE}"
    return rule("password", pattern, hints, is_literal, flags=0)


PROGRAMS = (
    *(b"login", b"mysql", b"mariadb", b"redis-cli", b"ldap", b"zip ", b"7z", b"smbclient", b"sudo"),
    *(b"openssl", b"useradd", b"usermod", b"http ", b"https ", b"secret set ", b" -u", b'"-u'),
    *(b" -l ", b" --user", b"-token"),
)
"""Programs and options whose command lines may have no other sign of a secret: with an option,
these alone make a text worth a closer look."""

LOGIN_PROGRAMS = (
    *(b"ssh-keygen", b"lftp", b"smbclient", b"winrm", b"impacket-", b"psexec", b"crackmapexec"),
    *(b"netexec", b"nxc", b"snmpwalk", b"ipmitool", b"sqlcmd", b"bcp", b"cqlsh", b"mosquitto_"),
    *(b"cryptsetup", b"qpdf", b"unrar", b"unzip", b"mount", b"ldapmodify", b"rabbitmqadmin"),
)
"""Programs that take a password with an option of their own."""
LOGIN_COMMANDS = (b"http-basic", b"snmp-server ", b"user-secrets ", b"ftp> ")
"""Commands that take a password without one,"""
SHARE_COMMANDS = (b"alias set ", b"net use ", b"xfreerdp ")
"""and such that do so beside the address of what they open."""

COMMANDS = (
    _option(r"(?:mysql\w{0,6}|mariadb[\w-]{0,6})", "-p", "mysql", "mariadb"),
    _option("(?<=ssh)pass", "-p ?", "pass"),
    _option("redis-cli", "-a ?", "redis-cli"),
    _option(r"ldap[a-z]{3,8}", "-w ?", "ldap"),
    _option("zip", "-P ?", "zip "),
    _option("7z[ar]?", "-p", "7z"),
    _option("user(?:add|mod)", "-p ", "useradd", "usermod"),
    _option("openssl", "-[kK] ", "openssl"),
    _option("(?:winrm|nxc|netexec|crackmapexec)", "-p ", "winrm", "nxc", "netexec", "crackmapexec"),
    # `az login -u ann -p V`
    _command(rf"login\b(?={_REST}{{0,300}}?{_USER}){_REST}{{0,300}}? (?:-p|--password)[ =]?"
        rf"{_NO_NUMBER}{VALUE}", "login ", is_literal),
    # Of any other program, what stands beside the user's name and looks like a password
    _command(rf"(?<=[ \"])(?:-u|-U|-l|--user(?:name)?|--login)[ =]\S{{1,60}} {_REST}{{0,120}}?"
        rf"(?<= )(?:-p|-P|-pw|-w|-a|--pass|/p:)[ =]?{_NO_NUMBER}{VALUE}",
        "-u |-l |-u=|--user|--login", is_strong),
    # `curl -u ann:V`, `http -a ann:V`; in quotation marks it may have blanks in it
    _command(rf"(?:curl\b(?=[^\n\0]{{0,600}}[/.]){_REST}{{0,300}}? (?:-u|--user|--proxy-user|-U)"
        rf"|(?<![\w/.-])https? {_REST}{{0,300}}?(?:-a|--auth))[ =]?"
        rf"(?:\\?(?P<open>[\"'])(?=[^\n\"']{{1,128}}(?P=open)))?[^\s:\"'/]{{1,64}}:"
        r"(?!\d{1,5}(?!\w))(?P<secret>(?(open)[^\n\"'\\$<>{}]{4,64}"
        r"|[^\s\"'`<>{}\[\](),;&|\\$/~.-](?:[^\s\"'`<>{}\[\],;&|\\]|&(?!\w{1,30}=)){3,200}))",
        "curl |http |https ", is_literal),
    # `-U 'domain\user%V'` of programs for shared folders,
    _command(rf"smbclient\b{_REST}{{0,200}}? -U ?[\"']?[^\s%\"']{{1,64}}%{VALUE}", "smbclient",
        is_password),
    # `--password V`, `-storepass V`
    _command(r"(?:(?<=-)|(?<=-store)|(?<=-key)|(?<=-srcstore)|(?<=-deststore))"
        rf"(?:password|passwd|passphrase|pass)(?:(?P<equals>=)|[ ]){VALUE}", "pass",
        accepts=lambda match: (is_literal if match["equals"] or match["quote"] else is_password)(
            match["secret"])),
    # `secrets set NAME=V`, `secret set NAME --body V`: of these all values are secrets.
    rule("token",
        rf"secrets? set (?:{_REST}{{0,120}}? )?(?:\w{{1,60}}=|(?:--body|-b)[ =]?){VALUE}",
        "secret set |secrets set ", is_literal, flags=0),
    # A strong password anywhere on the line of a program that takes one
    rule("password",
        r"(?<=[\s\"'`,=:%])(?P<secret>[A-Za-z0-9][^\s\"'`<>{}()\\,;|/]{7,300})(?=[\s\"'`,;)\\]|\Z)",
        tuple(map(bytes.decode, (*LOGIN_PROGRAMS, *LOGIN_COMMANDS, *SHARE_COMMANDS))),
        accepts=_is_on_a_command_line,
        within=rf"(?:(?:{'|'.join(map(bytes.decode, LOGIN_PROGRAMS))})(?=[^\n\0]{{0,300}}? -(?!\d))"
        rf"|{'|'.join(map(bytes.decode, LOGIN_COMMANDS))}"
        rf"|(?:{'|'.join(map(bytes.decode, SHARE_COMMANDS))})(?=[^\n\0]{{0,300}}?[/\\]))"
        r"[^\n\0]{0,300}", flags=0),
    # What a client says to a server: `USER ann`, `PASS V`; `AUTH V`; `AUTH PLAIN V`
    _command(r"(?:(?<=\n)|(?<=> )|(?<=C: ))PASS (?P<secret>[^\s]{4,64})(?=\s|\Z)", "pass ",
        accepts=lambda match: is_literal(match["secret"])
        and "USER " in match.string[max(match.start() - 200, 0) : match.start()]),
    _command(
        r"AUTH (?:PLAIN )?(?P<secret>[A-Za-z0-9+/=!@#$%^&*._-]{8,200})(?=\s|\Z)",
        "auth ", lambda value: is_random(value) or is_strong(value)),
    rule("password",
        r"334 [A-Za-z0-9+/=]{4,60}\s{1,4}(?:[CS<>:]{1,2} )?"
        r"(?P<secret>[A-Za-z0-9+/]{8,200}={0,2})(?=\s|\Z)",
        "334 ", flags=0),
    # `curl -u V:`, a token in the place of the user
    _command(
        rf"curl\b{_REST}{{0,300}}? (?:-u|--user)[ =]?[\"']?"
        r"(?P<secret>[A-Za-z0-9_-]{20,200}):(?=[\s\"']|x\b)",
        "curl ", is_random),
    # `put-parameter --type SecureString --value V`
    rule("password", rf"securestring\b{_REST}{{0,200}}? --value[ =]{VALUE}", "securestring",
        is_literal),
    # `-passin pass:V`
    _command(rf"(?<=-)pass(?:in|out|wd|word)?[ =][\"']?pass:{VALUE}", "pass", is_password),
    # `echo V | sudo -S`, `echo V | docker login --password-stdin`, and `sudo -S <<< V`
    _command(
        rf"(?:echo(?: -\w{{1,3}})?|printf(?: '%s(?:\\{{1,2}}n)?')?)\s{{1,3}}{VALUE}(?:\\{{1,2}}n)?"
        r"\\?[\"']?\s{0,3}\|\s{0,3}"
        r"(?:sudo (?:-\w{1,3} ){0,4}?(?:-(?!\d)\w{0,3}S|--stdin)\b"
        r"|[^\n|\0]{0,80}?(?:pass(?:word|wd|phrase)(?:-stdin| --stdin|-fd[ =]0)| --with-token)\b"
        r"|[^\n|\0]{0,80}?passwd\b|[^\n|\0]{0,40}?secrets? )", "echo |printf ", is_password),
    _command(
        rf"sudo (?:-\w{{1,3}} ){{0,4}}?-(?!\d)\w{{0,3}}S\b[^\n|\0]{{0,80}}?<<<\s{{0,3}}{VALUE}",
        "sudo ", is_password),
    # `htpasswd -nb user V`, `htpasswd -b file user V`
    _command(r"(?<=ht)passwd -\w{0,4}b\w{0,3}(?: \S{1,80}){1,2}? "
        rf"{VALUE}(?=\\?[\"']?\s{{0,3}}(?:[\n|;&>)\\]|\Z))", "pass", is_password),
    rule("wandb key", rf"wandb login\b{_REST}{{0,120}}? [\"']?"
        r"(?P<secret>[0-9a-f]{40}|[A-Za-z0-9_]{60,100})(?![A-Za-z0-9])", "wandb login", flags=0),
    # `jdbc:oracle:thin:ann/V@host`, `sqlplus ann/V@host`
    rule("password",
        r"(?:jdbc:oracle:\w{2,5}:|sql(?:plus|ldr) (?:-\w{1,4} ){0,3})\\?[\"']?[\w$#.-]{1,40}/"
        r"\\?[\"']?(?P<secret>[^\s/@\"'<>{}$\\]{3,100})\\?[\"']?@",
        "jdbc:oracle:|sqlplus |sqlldr ", lambda value: not is_placeholder(value)),
    # The settings of caches and of directories, and what clients say to servers
    rule("password",
        rf"(?:(?<=require)pass|(?<=master)auth|(?<=bind)pw)[ \t]{{1,8}}{VALUE}{END_OF_LINE}",
        "pass|auth|pw", is_literal),
    # What a script answers when it is asked: `expect "assword:"`, `send "V\r"`; or says to answer
    rule("password", rf"assword(?:(?!send )[^\0]){{0,120}}{_SENT}", "assword", is_password,
        flags=0),
    # SQL: `WITH PASSWORD 'V'`, `PASSWORD('V')`, `IDENTIFIED BY 'V'`
    rule(
        "password",
        r"(?:(?:(?<=with )|(?<=encrypted )|(?<=set )|(?<=login ))password\s{1,3}(?:=\s{0,3})?"
        r"|(?-i:PASSWORD)\s?\(\s?"
        rf"|(?:(?<=@'localhost' )|(?<=@'%' )){_IDENTIFIED}"
        # Elsewhere the statement ends in a semicolon, or the password is a long one.
        rf"|{_IDENTIFIED}(?=['\"](?:[^\0]{{0,300}};|[\w/+-]{{16}})))"
        rf"{_SQL_QUOTED}",
        "pass|identified",
        is_literal,
    ),
    # `smtp.login("x", "V")`, `HTTPBasicAuth("x", "V")`, `new PDO(url, "x", "V")`, `auth=("x", "V")`
    rule("password", rf"{_LOGINS}{_CALLED}",
        "login|log_in|sign|auth|credential|connect|bind|create_|pdo|mysqli", _is_argument),
    # The same with other arguments behind it
    rule("password",
        r"(?<=[,(])\s{0,20}(?:\w{1,20}\s?[=:]\s?)?[bru]?\\{0,8}(?P<quote>[\"'])(?P<secret>[^\s\"'\\]{8,200})\\{0,8}(?P=quote)"
        r"(?=\s{0,20}[,)\]}.])",
        "login|log_in|sign|auth|credential|connect|bind|create_|pdo|mysqli|ftp(|redis|client(|begin(|handler(|initialize(|aes.new|getbytes|secret|jwt.|hmac|encrypt",
        accepts=_is_strong_argument, within=rf"{_LOGINS}\w{{0,12}}\(.[^\0;]{{0,300}}"),
    # `ConvertTo-SecureString "V"`
    rule("password", rf"-securestring (?:-\w{{1,12}} ){{0,2}}{QUOTED}", "-securestring ",
        is_literal),
    # `fill("#password", "V")`, `get("#password").type("V")`
    rule("password",
        r"(?:fill|type|send_keys|sendkeys|setvalue|set_value|input_text|enter_text|append)\("
        r"[^\n\0]{0,80}?pass(?:word|wd|phrase|code)?[\w\\\"'\]]{0,8},\s{0,3}"
        rf"(?:\\?[\"']?(?:text|value|keys)\\?[\"']?\s?[:=]\s?)?{QUOTED}",
        "fill(|type(|keys(|sendkeys(|send_keys(|value(|_text(|append(", _is_argument),
    rule("password",
        r"pass(?:word|wd|phrase|code)?[\w\\\"'\]-]{0,12}\)(?:\.(?:first|clear|focus|click)\(\))?"
        rf"\.(?:type|fill|send_keys|sendkeys|setvalue|set_value|press_?sequentially)\(\s?{QUOTED}",
        "pass", _is_argument),
)  # fmt: skip
