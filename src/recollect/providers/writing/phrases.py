"""Short English text: plurals, lists, quotations, and cuts that leave no loose end."""

from collections.abc import Sequence

from recollect import text

FACT_LEAST, FACT_MOST = 50, 150
TITLE_LEAST, TITLE_MOST = 3, 8
SUBTITLE_MOST = 24
STOPS = (".", "!", "?", "。", "！", "？", ".”", "?”", "!”", "。”", "？”", "！”")
# A phrase that is cut must not end in one of these.
LOOSE_ENDS = set("+&-–—/|=") | frozenset(
    text.words(
        "a an and as at but by for from if in into is it its nor of on onto or over per so than that the "
        "their then this to under until using via was when which while with without your our my be are "
        "not no also both each every any between across after before"
    )
)


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def join(items: Sequence[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 3 more`."""
    kept = (
        list(items)
        if len(items) <= most
        else [*items[: max(1, most - 1)], f"{len(items) - max(1, most - 1)} more"]
    )
    if len(kept) < 2:
        return "".join(kept)
    return f"{', '.join(kept[:-1])} and {kept[-1]}"


def code(source: str, limit: int = 80) -> str:
    """In backticks, on one line."""
    inner = text.one_line(source, limit).replace("`", "'")
    return f"`{inner}`" if inner else ""


def quoted(source: str, limit: int) -> str:
    """In typographic quotation marks, on one line."""
    inner = text.one_line(source, limit).strip("“”\"'")
    return f"“{inner}”"


def capital(phrase: str) -> str:
    """With a capital letter, unless the first word is a path, a name or code: they keep their case."""
    first = phrase.split(None, 1)[0] if phrase.strip() else ""
    plain = first.rstrip(",.:;!?").isalpha() and first[1:] == first[1:].lower()
    return phrase[:1].upper() + phrase[1:] if plain else phrase


def sentence(phrase: str) -> str:
    """With a capital letter and a full stop. A phrase that starts with code keeps its case."""
    return capital(stopped(phrase))


def stopped(phrase: str) -> str:
    """With a full stop, its words as they are."""
    bare = phrase.strip().rstrip(",;:")
    return bare if not bare or bare.endswith(STOPS) else f"{bare}."


def story(phrases: Sequence[str]) -> str:
    return " ".join(sentence(phrase) for phrase in phrases if phrase.strip())


def first_words(phrase: str, most: int) -> str:
    """At most so many words, and no loose end when it had to be cut."""
    found = phrase.split()
    if len(found) <= most:
        return " ".join(found)
    kept = found[:most]
    while len(kept) > 1 and kept[-1].lower().strip(",;:(") in LOOSE_ENDS:
        kept.pop()
    cut = " ".join(kept).rstrip(",;:(-–—")
    return cut + "`" if cut.count("`") % 2 else cut


def title(phrase: str, *fillers: str) -> str | None:
    """A title of three to eight words. Fillers are added at the end, in turn, while it is too short."""
    found = " ".join(text.one_line(phrase, 160).replace("`", "").split()).rstrip(".:;,")
    for filler in fillers:
        if len(found.split()) >= TITLE_LEAST:
            break
        found = f"{found} {filler}".strip()
    cut = first_words(found, TITLE_MOST)
    return capital(cut) if len(cut.split()) >= TITLE_LEAST else None


def fits(clauses: Sequence[str]) -> bool:
    """Whether all the clauses together have no more words than a subtitle may have."""
    return sum(len(clause.split()) for clause in clauses) <= SUBTITLE_MOST


def subtitle(clauses: Sequence[str]) -> str | None:
    """As many clauses as fit into the words a subtitle may have."""
    kept = ""
    for clause in filter(None, clauses):
        longer = f"{kept}; {clause}" if kept else clause
        if len(longer.split()) <= SUBTITLE_MOST:
            kept = longer
        elif not kept:
            kept = first_words(longer, SUBTITLE_MOST)
    return sentence(kept) or None


def fact(statement: str, *contexts: str) -> str | None:
    """One statement of the right length. Contexts are true additions for one that is too short."""
    found = sentence(" ".join(statement.split()))
    for context in contexts:
        if len(found) >= FACT_LEAST:
            break
        found = sentence(f"{found.rstrip('.')} {context}")
    found = text.cut(found, FACT_MOST)
    if found.count("`") % 2:
        found = (
            found.rstrip("…").rstrip() + "…`"
            if len(found) < FACT_MOST
            else found[: FACT_MOST - 2] + "…`"
        )
    return found if len(found) >= FACT_LEAST else None
