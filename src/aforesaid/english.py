"""What we know of English words: which of them are numbers, which say nothing, and where they end."""

from functools import lru_cache
from pathlib import Path

from aforesaid.text import load_sections, words

SMALL_NUMBERS = tuple(words("zero one two three four five six seven eight nine ten eleven twelve"))
NUMBER_WORDS = {word: str(number) for number, word in enumerate(SMALL_NUMBERS)} | {
    "twice": "2",
    "thrice": "3",
    "hundred": "100",
    "thousand": "1000",
}
LISTS = load_sections(Path(__file__).with_name("english.txt"))


def load_list(section: str) -> frozenset[str]:
    return frozenset(" ".join(LISTS[section]).split())


STOP_WORDS = load_list("stop")
ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
SHORTEST_STEM = 3  # letters, which are those that the word begins with


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Without the commonest endings, so that `retries` and `retried` are one word. In small letters."""
    if not (word.isascii() and word.isalpha()) or len(word) <= SHORTEST_STEM:
        return word
    for ending, put in ENDINGS:
        is_stem = len(word) - len(ending) >= SHORTEST_STEM and not word.endswith("ss")
        if is_stem and word.endswith(ending):
            word = word.removesuffix(ending) + put
            break
    if len(word) > SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > SHORTEST_STEM else word


def count(number: int, noun: str) -> str:
    """`1 project`, `2 summaries`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"
