"""The verbs of work requests: their past tense, and what kind of work they ask for."""

from typing import Literal

from recollect import text

Intent = Literal["fix", "add", "refactor", "ask", "other"]

# Verbs that only take -ed, -d or a doubled letter are built by rule; these are not.
IRREGULAR = {
    "begin": "began", "break": "broke", "bring": "brought", "build": "built", "bind": "bound",
    "catch": "caught", "choose": "chose", "cut": "cut", "do": "did", "draw": "drew", "find": "found",
    "forbid": "forbade", "freeze": "froze", "get": "got", "give": "gave", "hide": "hid", "hook": "hooked",
    "keep": "kept", "let": "let", "make": "made", "overwrite": "overwrote", "pay": "paid", "put": "put",
    "read": "read", "rebuild": "rebuilt", "redo": "redid", "rerun": "reran", "rewrite": "rewrote",
    "rewind": "rewound", "run": "ran", "send": "sent", "set": "set", "shrink": "shrank", "show": "showed",
    "shut": "shut", "speed": "sped", "spin": "spun", "split": "split", "swap": "swapped", "take": "took",
    "teach": "taught", "tell": "told", "throw": "threw", "undo": "undid", "unset": "unset", "win": "won",
    "write": "wrote", "debug": "debugged",
}  # fmt: skip
DOUBLED = frozenset(
    text.words(
        "drop stop plan log tag map trim strip wrap skip scan pin plug ship step stub swap zip "
        "unzip flip grab unwrap remap permit refer prefer chop pop snap dedup"
    )
)

FIX = frozenset(text.words("fix debug repair resolve correct solve mend address patch unbreak"))
ADD = frozenset(
    text.words(
        "add implement create build support introduce write make enable allow generate provide "
        "scaffold develop"
    )
)
REFACTOR = frozenset(
    text.words(
        "refactor rename move extract clean simplify split reorganize reorganise restructure inline "
        "dedupe dedup deduplicate consolidate tidy modularize modularise decouple unify reformat "
        "rework rewrite"
    )
)
ASK = frozenset(
    text.words(
        "explain find look check investigate review analyze analyse tell show describe summarize "
        "summarise search research see inspect understand explore examine compare list read study "
        "audit trace locate identify figure verify confirm evaluate"
    )
)
OTHER = frozenset(
    text.words(
        "adapt adjust align annotate append apply archive assert attach automate backport batch bind "
        "block bring bump bundle bypass cache call cap catch centralize change check choose clarify "
        "clear clone close collapse collect combine comment commit compile complete compress compute "
        "configure connect convert copy count cover cut deactivate declare decode default defer define "
        "delete deploy deprecate derive detect disable discard dispatch display distinguish do "
        "document downgrade download draw drop embed emit encode encrypt enforce enhance ensure escape "
        "exclude execute expand export expose extend factor fetch fill filter finalize finish flag "
        "flatten flip follow forbid force format forward freeze get give grab group guard handle "
        "harden hash hide highlight hoist hook ignore import improve include increase index initialize "
        "inject insert install instrument integrate invalidate isolate join keep launch let leverage "
        "lift limit link lint load localize lock log loosen lower maintain map mark match measure "
        "memoize merge migrate minify mock modernize modify mount narrow normalize omit open optimize "
        "order organize output overhaul overwrite pad parallelize parameterize parse pass patch "
        "persist pin place plan plug polish pop populate port prefer prefix prepare preserve prevent "
        "print process profile propagate protect prune publish pull push put raise randomize rebase "
        "rebuild record redesign redirect redo reduce register refuse reject release reload remove render "
        "reorder replace report reproduce require rerun reset resize respect restart restore restrict "
        "retry return reuse revert revise revise rotate round route run sanitize save scale scan "
        "schedule scope seed select send separate serialize serve set setup ship shorten shrink shut "
        "silence skip slim sort specify speed spin squash stabilize stage standardize start stop store "
        "stream streamline strengthen strip stub style submit suppress swap switch sync tag take teach "
        "terminate test throttle throw tighten toggle track transform translate treat trigger trim try "
        "tune turn tweak type undo unify uninstall unpin unset unwrap update upgrade upload use "
        "validate vendor version warn watch widen wire work wrap zip"
    )
)
# Verbs that say how things are to be. As a deed, "Kept money as cents", they sound wrong.
LASTING = frozenset(
    text.words("keep let get do try work prefer treat respect follow maintain ensure")
)
# Verbs that at the start of a commit subject are as often nouns: "Test suite", "Cache key".
ALSO_NOUNS = frozenset(
    text.words(
        "address build cache call cap change comment debug default display filter format group "
        "guard hash hook import index limit link list load lock log map mark match measure merge "
        "mock mount order output patch plan port print process profile pull push read record "
        "release report return review round route scale scan schedule scope search select sort "
        "stage start stop store stream stub style switch sync tag test trace track trigger turn "
        "type version watch work"
    )
)
DETERMINERS = (
    "the ",
    "a ",
    "an ",
    "all ",
    "every ",
    "each ",
    "this ",
    "that ",
    "these ",
    "both ",
    "no ",
)
KNOWN = FIX | ADD | REFACTOR | ASK | OTHER
VOWELS = "aeiou"


def past(verb: str) -> str:
    """`add` gives `added`, `apply` gives `applied`, `drop` gives `dropped`."""
    word = verb.lower()
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in DOUBLED:
        return f"{word}{word[-1]}ed"
    if word.endswith("e"):
        return f"{word}d"
    if word.endswith("y") and len(word) > 2 and word[-2] not in VOWELS:
        return f"{word[:-1]}ied"
    return f"{word}ed"


PAST = {past(verb): verb for verb in sorted(KNOWN)}


def base(word: str) -> str | None:
    """The verb a word is a form of, if it is one that people ask work with."""
    lower = word.lower()
    if lower in KNOWN:
        return lower
    if lower in PAST:
        return PAST[lower]
    if lower.endswith("s") and lower[:-1] in KNOWN:
        return lower[:-1]
    if lower.endswith("es") and lower[:-2] in KNOWN:
        return lower[:-2]
    return None


def is_request(phrase: str) -> bool:
    """Whether a phrase starts with a verb that asks for work, and not with a noun that looks like one."""
    first, _, rest = phrase.partition(" ")
    verb = base(first.strip(".,:;"))
    return verb is not None and (verb not in ALSO_NOUNS or rest.lower().startswith(DETERMINERS))


def intent(verb: str) -> Intent:
    if verb in FIX:
        return "fix"
    if verb in ADD:
        return "add"
    if verb in REFACTOR:
        return "refactor"
    return "ask" if verb in ASK else "other"
