"""The user's own sentences in a message, and why a sentence is not meant to last.

Pasted text is told from talk by the structure of its lines; quotations are masked. Sentences are compared in a
normal form: small letters, without misspellings of the words that matter, and with English words for those of
other languages.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache

from aforesaid.model.prose import sentences, split
from aforesaid.text import clean


def any_of(words: str) -> str:
    """A pattern for one of these words; `_` is a space."""
    return f"(?:{'|'.join(words.split()).replace('_', ' ')})"


LONGEST, END = 6_000, 1_500  # characters; of a longer text only the ends are read
LONGEST_TALK = 250  # characters of a paragraph that addresses nobody; a longer one is a document
_TAGS = any_of(
    "paste file log output document content context example quote transcript e?mail message system tool "
    "command local user stdin stdout diff code text"
)
PASTED = (
    re.compile(r"\[(?:Request interrupted|Pasted text|Image)[^\]\n]*\]"),
    re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
    re.compile(r"```.*?(?:```|\Z)", re.DOTALL),
    re.compile(r"<([a-z][\w-]*)\b[^<>\n]*>.*?</\1>", re.DOTALL | re.IGNORECASE),
    re.compile(rf"<{_TAGS}[\w-]*[^<>\n]*>.*", re.DOTALL | re.IGNORECASE),
    re.compile(r"^#{1,6} \S.*", re.DOTALL | re.MULTILINE),
)
# Written by a program in the user's name, or the prompt of a script.
NOT_SPOKEN = re.compile(
    r"\s*(?:/\w|This session is being continued|Caveat:|Base directory for this skill|\w+ hook feedback:"
    r"|Operation stopped by|Another Claude|The USER performed|You are (?:an?|the|my|our|now)\b|Act as\b"
    r"|Your task is\b|Implement (?:the following plan|task \d))",
    re.IGNORECASE,
)
SHELL = re.compile(r"\s*[$❯%➜]\s")
# Logs, diffs, tables, code, aligned columns, positions in files: a line that nobody types.
MACHINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d|at \S+\(|File \"|[$❯%➜>]\s|\d+\s*[+|:]|# ?\d|diff --|@@|[+✓✗●✖]"
    r"|---|===|\||-->|\s{4}|\t|[{}\]]|\"\w+\":|\w*(?:Error|Exception|Warning):|Traceback|(?:INFO|WARN|WARNING"
    r"|ERROR|DEBUG|TRACE|FATAL|FAIL|PASS)\b|(?:error|warning|fatal|hint|panic)\b.{0,20}[:[(]|npm (?:ERR|error)"
    r"|[\w.-]+ +\| |\S+:\d+:)|.*(?:[{;]|\)\s*:|=>|\S {8,})\s*$|\S+(?: \S+)? {2,}\S.* {2,}\S"
)
TALK = re.compile(r"\b(?:i|i'm|we|you|me|my|our|let's|please)\b|[?？]", re.IGNORECASE)
# A line that introduces a text which is not the user's, or only to be worked on.
RULES = re.compile(
    r"\b(?:rules?|conventions?|guidelines?|preferences?|principles|remember|in mind|from now on|going forward"
    r"|habits)\b",
    re.IGNORECASE,
)
_HANDLE = any_of(
    "polish translate review summari[sz]e proof-?read answer reply rewrite shorten improve check look_at read "
    "explain format correct see think_(?:of|about) thoughts_on got gets? getting paste sen[dt] wrote "
    "received from mean"
)
HANDED_OVER = re.compile(
    rf"\b{_HANDLE}\b.*\b(?:this|these|following|below|it)\b[^.,]{{0,20}}\W*$", re.IGNORECASE
)
# People begin sentences with small letters, too.
LOOSE_END = re.compile(r"(?<=[^\W_]{2}[.!?])\s+(?=\S)|(?<=[`\"'”][.!?])\s+(?=\S)|;\s+")
QUOTATION = re.compile(
    r"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|„[^“\n]+“|(?<![\w])'[^'\n]+'(?![\w])"
)
MASK = "¤"


def own_words(text: str) -> str:
    if NOT_SPOKEN.match(text):
        return ""
    if len(text) > LONGEST:
        first, last = text[:END].rpartition("\n\n")[0], text[-END:].partition("\n\n")[2]
        text = f"{first}\n\n{last}"
    text = clean(text)
    for pasted in PASTED:
        text = pasted.sub("\n", text)
    return "\n".join(_spoken(re.split(r"\n[ \t]*\n", text))).strip()


def _spoken(paragraphs: list[str]) -> Iterator[str]:
    """Behind a text that was introduced, the user speaks again after lines of a machine, if at all."""
    introduced = output_seen = False
    for number, paragraph in enumerate(paragraphs):
        lines = paragraph.strip("\n").split("\n")
        addressed = TALK.search(paragraph) is not None
        if introduced and not (output_seen and addressed and not MACHINE.match(lines[0])):
            output_seen |= any(map(MACHINE.match, lines))
            continue
        introduced = False
        for at, line in enumerate(lines):
            if MACHINE.match(line):
                introduced = output_seen = SHELL.match(line) is not None
                break
            if addressed or len(line) <= LONGEST_TALK:
                yield line
            more = at + 1 < len(lines) or number + 1 < len(paragraphs)
            if more and _introduces(line):
                introduced, output_seen = True, any(map(MACHINE.match, lines[at + 1 :]))
                break


def _introduces(line: str) -> bool:
    ends = line.rstrip().endswith((":", "："))
    return (ends and not RULES.search(line)) or HANDED_OVER.search(line) is not None


def own_sentences(text: str) -> list[str]:
    """The sentences of the user's own words, each on one line."""
    parts = (part for each in sentences(own_words(text)) for part in split(each, LOOSE_END))
    return [part for part in parts if part]


def masked(sentence: str) -> str:
    """The sentence with quotations and code masked, at the same length: they are mentioned, not said."""
    return QUOTATION.sub(
        lambda quoted: quoted[0][0] + MASK * (len(quoted[0]) - 2) + quoted[0][-1], sentence
    )


# What matters of other languages, by the English that it is read as.
GLOSSES = {
    "always": "immer stets ausschließlich toujours siempre 始终 一直 总是 必须 一定要 务必 いつも 常に 必ず",
    "never": "nie niemals jamais nunca jamás 永远不要 绝不 绝对不要 絶対に",
    "still": "immer_noch encore todavía 仍然 まだ",
    "from now on": "ab_jetzt künftig ab_sofort désormais dorénavant a_partir_de_ahora 从现在起 以后 今後 これから",
    "don't": "不要 不得 禁止 别用 しないでください ないでください",
    "not": "nicht kein keine keinen pas 而不是 ではなく じゃなく",
    "only": "nur uniquement seulement solo sólo solamente 只 だけ",
    "please": "bitte 请 してください",
    "we": "wir nous nosotros usamos utilizamos 我们",
    "our": "unser unsere unserem notre nos nuestro nuestra nuestros nuestras 我们的 私たちの",
    "in this project": "dieses_projekt diesem_projekt ce_projet este_proyecto 这个项目 本项目 この(?:プロジェクト|リポジトリ)",
    "i prefer": "ich_bevorzuge ich_mag ich_möchte_lieber je_préfère prefiero 我喜欢 我更喜欢",
    "answer me": "antworte_mir antworte réponds-moi réponds respóndeme responde 回答我 回答 答えて",
    "must": "muss müssen darf dürfen soll sollen doit doivent debe deben",
    "because": "weil parce_que porque 因为 ので",
    "instead of": "statt anstatt au_lieu en_vez_de",
    "remember that": "merk_dir merke_dir denk_daran souviens-toi n'oublie_pas_que recuerda_que 记住 覚えておいて",
    "is": "ist sind est sont está",
    "uses": "benutzt verwendet utilise usa",
    "fails": "schlägt fehl kaputt échoue marche falla funciona termina 失败 报错 失敗 エラー 動きません",
    "this one": "dieser_test diese_funktion ce_test este_test 这个测试 这个函数 このテスト この関数",
    "for now": "erstmal vorerst noch_nicht pour_l'instant por_ahora 先 暂时 とりあえず",
    "why": "warum wieso weshalb was_macht pourquoi por_qué 为什么 どうして なぜ",
    "can you": "kannst_du könntest_du peux-tu pouvez-vous puedes podrías",
}
_ENGLISH = {
    word.replace("_", " "): english for english, row in GLOSSES.items() for word in row.split()
}
_BY_LENGTH = sorted(_ENGLISH, key=len, reverse=True)
GLOSS = re.compile(
    "|".join(
        each if ord(each[0]) > 0x2E80 else rf"(?<![\w-]){re.escape(each)}(?![\w-])"
        for each in _BY_LENGTH
    )
)
SPANISH_DONT = re.compile(r"^no (?=\w+[ae]s\b)")
CONTRACTED = re.compile(
    r"\b(do|does|did|is|are|was|were|has|have|should|could|would|must|ca|wo)nt\b"
)
SHORTHAND = {
    **dict.fromkeys(("pls", "plz"), "please"),
    **dict.fromkeys(("bc", "cuz", "coz"), "because"),
    **{"w/o": "without", "im": "i'm", "lets": "let's", "ive": "i've", "id": "id", "u": "you", "do not": "don't"},
    **{"should not": "shouldn't", "must not": "mustn't", "cannot": "can't", "can not": "can't"},
}
SHORT = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, SHORTHAND))})(?![\w/])")
MISSPELT = (
    "always never instead prefer remember should because before please without whenever everywhere"
).split()
LIKENESS = 0.85  # of a misspelt word


@lru_cache(maxsize=4096)
def _spelled(word: str) -> str:
    if len(word) < 5 or not word.isalpha():
        return word
    found = get_close_matches(word, MISSPELT, 1, LIKENESS)
    same = found and found[0][0] == word[0] and not word.startswith(found[0])
    return found[0] if same else word


def normalize(plain: str) -> str:
    """Of a masked sentence."""
    text = " ".join(plain.lower().replace("’", "'").replace("，", ", ").replace("、", ", ").split())
    text = GLOSS.sub(lambda found: f" {_ENGLISH.get(found[0], 'in this project')} ", text)
    text = SPANISH_DONT.sub("don't ", " ".join(text.split()))
    text = SHORT.sub(lambda found: SHORTHAND[found[0]], CONTRACTED.sub(r"\1n't", text))
    return re.sub(r"[a-z]{5,}", lambda found: _spelled(found[0]), text)


PLACES = (
    any_of(
        "project repo repository code_?base monorepo team company org organi[sz]ation workspace house shop"
    )
    + "s?"
)
PLACE = re.compile(
    r"\b(?:in|on|for|across|throughout|at) (?:this|our|my|all(?: of)? (?:our|my)(?: own)?|the (?:whole|entire)) "
    rf"(?:\w+ )?{PLACES}\b[,:]?"
)
_QUESTION = any_of(
    "should shall do does did is are was were can could would will why how what where which who whose whether "
    "am has have isn't aren't don't_you doesn't didn't won't wouldn't couldn't shouldn't any"
)
_ASKED = any_of(
    "i we you he she it they the this that there these those our my an? someone anyone to do does did is are "
    "can could would should true exactly about come idea reason chance"
)
QUESTION = re.compile(
    rf"[?？][\"')\]\s]*$|^(?:and |but |so |ok |hmm? |or )?{_QUESTION} {_ASKED}\b|^why\b|^can you\b|\bwonder(?:ing)?\b"
    r"|^(?:please )?(?:explain|tell|show|describe|check|find out)\b.* (?:why|how|what|where|which|whether|if)\b"
    r"|\bcould you (?:check|confirm|tell|explain|verify|find out)\b|吗|(?:ます|です)か"
)
ASIDE = re.compile(rf",\s+(?:so |and |but )?(?!can you (?:check|look|verify|confirm|take)|why){_QUESTION}\b[^,]*[?:]\W*$|,? right, can we\b.*$", re.IGNORECASE)
TAG = re.compile(r",? (?:or|right|no|ok|correct|isn't it)\?\W*$")
_TURN = any_of(
    "file function method class module line part ticket issue pr mr pull-request branch commit change step "
    "task turn session round once one run case test time week morning afternoon evening sprint month component "
    "page view script migration conversation chat feature fix bug release demo approach option version"
)
_ORDINAL = any_of("current new next last first second third other same previous old two three")
_WHILE = any_of(
    "right_away today tonight tomorrow yesterday since_last this_week temporarily meanwhile in_the_meantime currently yet for_now this_time "
    "for_(?:that|these|those|the_(?:moment|time_being|demo|day|rest|next|current)) (?:at|in)_the_moment "
    "at_this_point for_a_(?:while|moment|second|minute|bit|day|week) for_once as_long_as at_some_point "
    "next_(?:week|time|month|sprint)"
)
TEMPORARY = re.compile(
    rf"\b(?:{_WHILE}|for this(?! (?:\w+ )?{PLACES}\b))\b|\bline \d|\b(?:above|below)\b"
    rf"|\b(?:(?:this|that|these|those) (?:\w+ )?{_TURN}s?|the {_ORDINAL} (?:{_TURN}s?|\w+))\b"
    r"|\bwhile (?:i|we|you|it|the|they)\b|^for option\b"
)
# An order for this moment; a fact may hold `now`.
HASTY = re.compile(
    r"(?<!from )\bnow\b(?! on\b)|^(?:\W*\w+\W+){0,3}?just\b(?! so you know)|\b(?:until|till|untill)\b"
)
_PERHAPS = any_of(
    "suppose supposing imagine maybe perhaps not_sure might what_if hypothetically in_theory could wonder\\w* "
    "i_guess probably thinking_(?:about|of) considering i_think i_suppose i_feel let's_say unsure undecided "
    "no_idea i_don't_know one_day some_?day would_be_(?:nice|good|great|cool) seems? looks_like consider"
)
UNSURE = re.compile(
    rf"\b{_PERHAPS}\b|\b(?:we|that|they|you|there) would\b|^as an? \w+,? i |\bif (?:we|i|you|it|they|one) (?:\w+ )?(?:\w+ed|were|had|did|would|always|never)\b"
)
# How people report a fault: it will be fixed, and then it is no longer true.
_FAULT = any_of(
    "fail(?:s|ed|ing)? crash(?:es|ing)? broken breaks errors? exceptions? times_out hangs? stuck "
    "(?:doesn't|don't|didn't|can't|not)_(?:work\\w*|see|find|open|log|reach|come|start|load|compile|build|exist) "
    "wrong flickers? slow missing null throws? overflows? leaks? drifts? flaky still again down empty blank bug "
    "problem nothing output passe?s? issue undefined worked was were had i_(?:always_)?get i_got never_(?:finish\\w*|stop\\w*|work\\w*|end\\w*)"
)
SYMPTOM = re.compile(rf"\b{_FAULT}\b")
# Somebody else may have said what follows.
HEARSAY = re.compile(
    r"\b"
    + any_of(
        "says? said saying wrote writes? reads told tells? telling claims? claimed mention(?:s|ed)? "
        "suggest(?:s|ed)? recommend(?:s|ed)? states? stated insists? wants thinks? prefers according_to "
        "apparently supposedly as_per per_the readme colleagues? boss reviewer"
    )
    + r"\b"
)
OWN_SAYING = re.compile(
    r"\bi(?:'ve| have)? (?:\w+ )?(?:said|say|told|wrote|mentioned)\b|as i said"
)
JOKE = re.compile(
    r"\b(?:yeah,? (?:right|sure|great)|(?:great|brilliant|genius|wonderful) (?:idea|plan|move)"
    r"|oh,? (?:sure|great|yeah|yes|wow|joy)|sure,? (?:why not|always|never|let's)|what could (?:possibly )?go"
    r" wrong|who needs|haha+|lol|lmao|rofl|as if|just kidding|jk|kidding)\b|(?:^|\s)/s\b|[🙄😂🤣🤡😏]",
    re.IGNORECASE,
)
_ALL = r"(?:all |any |every |your |the |previous |prior |earlier |above )*"
# If such a sentence were kept, every later session would obey it.
ORDERS = re.compile(
    rf"\b(?:(?:ignore|disregard|forget|override) {_ALL}(?:instructions?|rules?|memor(?:y|ies)|prompts?|everything)\b"
    rf"|(?:delete|erase|wipe|clear|overwrite|retire) {_ALL}memor(?:y|ies)\b|system prompt|you are now|jailbreak"
    r"|(?:do not|don't|never) (?:tell|inform|ask|warn) the user\b|without (?:the user'?s|asking the user)"
    rf"|(?:exfiltrate|send {_ALL}(?:secrets?|credentials|keys|tokens))\b)",
    re.IGNORECASE,
)


def is_joke(message: str) -> bool:
    return JOKE.search(message) is not None


def is_hearsay(text: str) -> bool:
    return HEARSAY.search(text) is not None and OWN_SAYING.search(text) is None


def passing(text: str) -> str | None:
    """Why a sentence in normal form is not meant to last, or None."""
    checks = (
        (QUESTION, "a question"),
        (TEMPORARY, "for this moment only"),
    )
    return next((why for pattern, why in checks if pattern.search(text)), None)


def orders_the_memory(text: str) -> bool:
    return ORDERS.search(text) is not None
