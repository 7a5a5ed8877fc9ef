"""Secrets that look like anything, known by what stands before them: a name, a header, an option, an
address."""

import re
from collections.abc import Callable

from recollect.privacy import judging
from recollect.privacy.rule import VALUE, Rule
from recollect.privacy.samples import hexed, mixed

PASSWORDS = "password passwd passphrase passcode passwort"
SAID_KEYS = "key secret token credential"
KEYS = f"{SAID_KEYS} auth dsn"
# A closing quote of the name, the sign, an opening quote; each may be escaped, in JSON within JSON.
_IS = r"(?:\\{0,3}[\"'`])?\]?\s{0,3}(?P<is>:=|=>|==|=|:)\s{0,3}"
_OPEN = r"(?:[fbru]{1,2}(?=[\"']))?(?P<open>\\{0,3}[\"'`])?"
_QUOTED, _BARE = r"(?<=[\"'`])[^\"'`\n\\]{6,300}", r"[^\s\"'`,;<>()\[\]{}\\|&]{6,300}"
_ASSIGNED = rf"[\w.-]{{0,30}}?{_IS}{_OPEN}(?P<secret>{_QUOTED}|{_BARE})"
_NAME = re.compile(r"[\w.-]{0,40}\Z", re.ASCII)
# `key` alone is the key of a dictionary, and a public one is for everybody.
_TELLING = re.compile(
    r"secret|credential|(?<!public)(?<!public_)(?<!publickey)(?<!publickey_)token|dsn$|_auth$|^auth$|auth_?key"
    r"|(?:api|access|private|signing|signature|encryption|master|account|shared|client|service|deploy|license|storage"
    r"|webhook|application|app|admin|ssh|hmac|jwt|session|root|write|read|integration|server|crypt|cipher)[_.-]?key"
)
_PARAMETERS = (
    "access_token api token sig key auth secret password code x- client_ refresh_ id_token private_"
)
_FLAG = re.compile(r"(?:^|[\s\"'`(=])--?[\w-]{0,30}\Z", re.ASCII)


def _either(words: str) -> str:
    return "|".join(words.split())


def _named(match: re.Match[str]) -> str:
    """The whole name that is assigned to."""
    begin = match.start()
    before = _NAME.search(match.string, max(0, begin - 40), begin)
    return (before[0] if before else "") + match.string[begin : match.start("is")].rstrip(
        "\"'`\\] \t\n"
    )


def _password(match: re.Match[str]) -> bool:
    return _is_assigned(match, _named(match), 8)


def _key(match: re.Match[str]) -> bool:
    name = _named(match)
    told = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return bool(_TELLING.search(told)) and _is_assigned(match, name, 12)


def _is_assigned(match: re.Match[str], name: str, least: int) -> bool:
    """Programs assign what they compute; only files and shells assign bare values."""
    value, text = match[VALUE], match.string
    if _is_type(match):
        return False
    tight = match["is"] == "=" and not text[match.end("is")].isspace()
    if name.isupper() and (tight or match["is"] == ":") and least == 8 and _is_words(value):
        return len(value) >= least and not judging.is_placeholder(value)
    if match["open"]:
        return judging.is_secret(value, least)
    if text[match.end() : match.end() + 1] in ("(", "["):
        return False
    if name.isupper() and tight:
        return judging.is_secret(value, least)
    strong = judging.is_random if value.isidentifier() else judging.is_secret
    return strong(value, least)


def _is_words(value: str) -> bool:
    return value.replace(" ", "").isalpha()


def _is_type(match: re.Match[str]) -> bool:
    """`AWS::IAM::AccessKey` is what something is, and what follows says no more than that."""
    name = _NAME.search(match.string, max(0, match.start() - 40), match.start())
    begin = name.start() if name else match.start()
    return match.string[max(0, begin - 2) : begin] == "::"


def _in_address(match: re.Match[str]) -> bool:
    value = match[VALUE]
    weak = value.lower() in ("password", "passwd", "pass", "pw", "secret", "token", "pwd", "port")
    return not (weak or judging.is_placeholder(value) or value.startswith("%s"))


def _option(match: re.Match[str]) -> bool:
    begin = match.start()
    return bool(_FLAG.search(match.string, max(0, begin - 40), begin + 1)) and _argument(match)


def _argument(match: re.Match[str]) -> bool:
    return judging.is_secret(match[VALUE], 6)


def _random(match: re.Match[str]) -> bool:
    return judging.is_random(match[VALUE], 12) and not _is_type(match)


def _netrc(match: re.Match[str]) -> bool:
    return _in_address(match) and len(match[VALUE].strip("\"'")) >= 6


def _cookie(match: re.Match[str]) -> bool:
    pairs = (pair.partition("=")[2].strip() for pair in match[VALUE].split(";"))
    return any(judging.is_random(value, 12) and value.isalnum() for value in pairs)


def _said(match: re.Match[str]) -> bool:
    value = match[VALUE].rstrip(".,;:!?)")
    return judging.is_secret(value, 6) and any(c.isdigit() for c in value)


def _rule(
    name: str,
    pattern: str,
    needles: str,
    judge: Callable[[re.Match[str]], bool],
    example: str,
    *counters: str,
) -> Rule:
    compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)
    return Rule(name, compiled, tuple(needles.split()), example, counters, judge)


CONTEXT: tuple[Rule, ...] = (
    _rule(
        "url",
        r"://[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/@\"'<>\\]{3,200})@(?=[\w\[])",
        "://",
        _in_address,
        f"postgres://app:{mixed(12)}@db.internal:5432/app",
        "https://user:password@host",
        "http://localhost:8080/@scope",
        "https://${USER}:${TOKEN}@host",
    ),
    _rule(
        "url-parameter",
        r"[?&](?:access_token|api_?key|token|sig|signature|key|auth|secret|password|code|x-amz-signature"
        r"|x-amz-security-token|x-goog-signature|client_secret|refresh_token|id_token|private_token)"
        r"=(?P<secret>[\w%.~+/=-]{8,2000})",
        " ".join(f"{sign}{name}" for sign in "?&" for name in _PARAMETERS.split()),
        _random,
        f"https://a.example.org/f?sig={mixed(43)}",
        "https://a.example.org/?key=name",
        "?token=your-token-here-1",
    ),
    _rule(
        "header",
        r"authorization\\{0,3}[\"']?\s{0,3}[:=,]\s{0,3}\\{0,3}[\"']?"
        r"(?:(?:bearer|basic|token|digest|apikey|key|bot|negotiate|ssws|geniekey)\s{1,3})?"
        r"(?P<secret>[\w.~+/=:-]{8,4000})",
        "authorization",
        _random,
        f"Authorization: Basic {mixed(24)}==",
        "Authorization: Bearer <token>",
        "the authorization: what it is",
    ),
    _rule(
        "bearer",
        r"bearer\s{1,3}(?P<secret>[\w.~+/=-]{16,4000})",
        "bearer",
        _random,
        f"-H 'Bearer {mixed(32)}'",
        "a bearer token-based-authentication",
    ),
    _rule(
        "cookie",
        r"cookie\\{0,3}[\"']?\s{0,3}:\s{0,3}\\{0,3}[\"']?(?P<secret>[\w.-]{1,80}=[^\r\n\"'\\]{8,4000})",
        "cookie",
        _cookie,
        f"Cookie: sid={mixed(32)}; theme=dark",
        "Cookie: theme=dark; lang=en",
    ),
    _rule(
        "account-key",
        r"(?<=account|daccess)key=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
        "key=",
        _random,
        f"AccountName=a;AccountKey={mixed(86)}==;EndpointSuffix=x",
        "AccountKey=name",
    ),
    _rule(
        "password",
        f"(?:{_either(PASSWORDS)}){_ASSIGNED}",
        PASSWORDS,
        _password,
        f'db_password = "{mixed(8)}!x"',
        "password = get_password()",
        'password = "password"',
        "password: str",
        "password=self.password1",
        'prompt="Password: ", stream=None',
    ),
    _rule(
        "pwd",
        "pwd" + _ASSIGNED,
        "pwd",
        _password,
        f"Pwd={mixed(10)};",
        "PWD=/home/me",
        "pwd = os.getcwd()",
    ),
    _rule(
        "assignment",
        rf"(?<!\[)(?:{_either(KEYS)}){_ASSIGNED}",
        KEYS,
        _key,
        f"API_KEY={hexed(32)}",
        "token = tokenize(source)",
        "secret_key = os.environ['SECRET_KEY']",
        'api_key: "YOUR_API_KEY_HERE_1"',
        "[secret:github:1f3a]",
    ),
    _rule(
        "option",
        r"-(?:pass(?:word|wd|phrase)?|token|secret|api-?key|access-?key|auth-?key|pat|pwd|credential)"
        r"[\w-]{0,20}(?:=|\s{1,3})[\"']?(?P<secret>[^\s\"'`\\]{6,300})",
        "-pass -token -secret -api -access -auth -pat -pwd -credential",
        _option,
        f"mysql --password {mixed(10)} shop",
        "tool --token TOKEN --password-file secret.txt",
        "--password=$DB_PASSWORD",
    ),
    _rule(
        "user-option",
        r"(?:curl\b[^\n]{0,300}?\s(?:-u|--user)[\s=]{1,3}[\"']?[^\s:\"']{1,100}:|sshpass\s{1,3}-p\s{0,3}[\"']?"
        r"|mysql(?:dump|admin)?\b[^\n]{0,200}?\s-p|docker\s{1,3}login\b[^\n]{0,200}?\s-p[\s=]{1,3}[\"']?"
        r"|redis-cli\b[^\n]{0,200}?\s-a\s{1,3}[\"']?)(?P<secret>[^\s\"'`\\]{6,200})",
        "curl sshpass mysql docker redis-cli",
        _argument,
        f"curl -s -u admin:{mixed(10)} https://a.example.org",
        "curl -u user:password https://a.example.org",
        "mysql -u root -p shop",
    ),
    _rule(
        "netrc",
        r"login\s{1,10}\S{1,100}\s{1,10}password\s{1,10}(?P<secret>\S{4,200})",
        "login",
        _netrc,
        f"machine a.example.org login me password {mixed(9)}",
        "login name password password",
    ),
    _rule(
        "said",
        rf"(?:(?P<word>{_either(PASSWORDS)}|pwd)|{_either(SAID_KEYS)})s?"
        r"(?:\s{1,2}(?:for|of|to|on|in)(?:\s{1,2}[\w.-]{1,40}){1,5}?)?\s{0,2}(?:(?:is|are|was|'s):?|(?(word)[:=]|(?!)))\s{1,3}[`\"'“‘]{0,2}"
        r"(?P<secret>[^\s`\"'“”‘’]{5,299}[^\s`\"'“”‘’.,;:)])",
        f"{PASSWORDS} pwd {SAID_KEYS}",
        _said,
        "the password for staging is " + mixed(9),
        "the password is base64-encoded",
        "the token is then validated",
    ),
)
