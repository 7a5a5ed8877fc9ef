"""Orders to the memory itself, which must never be kept."""

import re

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


def orders_the_memory(text: str) -> bool:
    return any(order.search(text) for order in ORDERS)
