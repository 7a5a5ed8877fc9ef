"""Words that must never be kept: keys and passwords, and orders to the memory itself."""

import re

from recollect.memory.extraction.working_words import either

_PREFIXES = (
    "(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|npm|hf|pypi|shpat|dop_v1|AKIA|ASIA|AIza|ya29|eyJ"
    r"|SG\.)"
)
KEY = re.compile(
    rf"\b{_PREFIXES}[-_.]?[\w-]{{12,}}|-----BEGIN|\b[0-9a-fA-F]{{32,}}\b"
    r"|(?<![\w/+])(?=[\w/+-]*\d)(?=[\w/+-]*[a-z])(?=[\w/+-]*[A-Z])(?![\w-]*/)[\w+-]{28,}={0,2}"
)
_SECRET = either(
    "pass(?:word|phrase|wd|code) pwd secret token api[_-]?key access[_-]?key credentials? pin(?:_code)?"
)
PASSWORD = re.compile(
    rf"\b{_SECRET}s?\b(?:\s+(?:for|of|to|on)(?:\s+[\w-]+){{1,4}})?\s*(?:is|are|=|:|'s)[\s:=`\"']*"
    r"(?=\S*[^\sA-Za-z.,;!?])\S{4,}",
    re.IGNORECASE,
)
IN_ADDRESS = re.compile(
    r"://[^\s/@:]+:[^\s/@]+@|[?&](?:token|key|sig|signature|secret|password|auth|access_token)=",
    re.IGNORECASE,
)
_ALL = r"(?:all |any |every |your |the |previous |prior |earlier |above )*"
# Whoever gets such a sentence kept has every later session obey it.
ORDERS = tuple(
    re.compile(rf"\b{order}", re.IGNORECASE)
    for order in (
        rf"(?:ignore|disregard|forget|override) {_ALL}(?:instructions?|rules?|memor(?:y|ies)|prompts?"
        rf"|everything)\b",
        rf"(?:delete|erase|wipe|clear|overwrite|retire) {_ALL}memor(?:y|ies)\b",
        r"(?:system prompt|you are now|jailbreak)",
        r"(?:do not|don't|never) (?:tell|inform|ask|warn) the user\b",
        r"without (?:the user'?s|asking the user)",
        rf"(?:exfiltrate|send {_ALL}(?:secrets?|credentials|keys|tokens))\b",
    )
)


def has_secret(text: str) -> bool:
    return any(pattern.search(text) for pattern in (KEY, PASSWORD, IN_ADDRESS))


def orders_the_memory(text: str) -> bool:
    return any(order.search(text) for order in ORDERS)
