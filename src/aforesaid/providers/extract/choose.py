"""Which of the agent's own sentences are worth keeping: causes, constraints, findings, decisions, open ends.

A sentence is scored by what it says (cues), where it stands (its label, the closing message, a commit message) and
how specific it is (code, names, numbers). What only accompanies the work, repeats a better sentence or needs its
neighbours to be understood is left out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aforesaid.providers.extract.passages import LONGEST, Passage, read_passages
from aforesaid.similarity import content_words, word_overlap

CLOSING, COMMIT, BETWEEN = "closing", "commit", "between"  # where a passage stands


def _cue(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


CAUSE = _cue(
    r"\b(?:because|due to|root cause|caused? by|causes\b|turn(?:s|ed) out|the reason|reasons? (?:is|was|for|why)"
    r"|stems? from|result(?:s|ed)? (?:from|in)|leads? to|led to|which means|meaning (?:that )?|that'?s why"
    r"|this is why|therefore|since (?:the|it|we|this|there|git|no)|so that|thus\b|hence\b"
    r"|the (?:\w+ )?(?:problem|issue|bug|culprit|failure|error|difference) (?:was|is|came|lies|comes|here)"
    r"|wurde? (?:durch|von)|weil|ursache|deshalb|daher|denn|parce que|puisque|à cause|porque|debido a|ya que)\b"
    r"|, so (?!far\b|i'?ll\b|let)|因为|由于|原因|所以|导致|ため|ので|原因|だから"
)
CONSTRAINT = _cue(
    r"\b(?:must(?:n't)?|cannot|can't|won't|never|always|only (?:if|when|works?|the|one|for|has|on)|requires?|needs? to"
    r"|has to|have to|not allowed|no longer|unless|otherwise|instead of|rather than|expects?|assumes?|does(?:n't| not)"
    r"|do(?:n't| not)|is(?:n't| not)|are(?:n't| not)|limit(?:ed|s)? to|at most|at least|careful|note that|gotcha|caveat"
    r"|important|beware|deprecated|incompatible|by design|intentional(?:ly)?|on purpose|edge case|even (?:if|though)"
    r"|however|but|although|without|missing|lacks?|fails?|failed|breaks?|muss|nur|nicht|kein\w*|doit|ne .{1,20} pas"
    r"|sans|debe|solo|nunca|sin)\b|必须|不能|只能|不要|没有|しかし|必要|できない|ない"
)
FINDING = _cue(
    r"\b(?:found|discovered|noticed|confirmed|verified|reproduced|actually|in fact|already|currently|exists?|uses?"
    r"|handled|stored|returns?|calls?|triggers?|happens? when|when (?:the|a|you|it)|key (?:difference|point|insight)"
    r"|means|indicates?|shows? that|by default|equals?|corresponds|gefunden|bestätigt|trouvé|confirmé|encontr\w+"
    r"|confirm\w+)\b|发现|确认|其实|実は|確認"
)
DECISION = _cue(
    r"\b(?:decided|decision|chose|choos(?:e|ing)|opted|prefer(?:red)?|kept?|keeping|went with|go(?:ing)? with|trade-?off"
    r"|(?:better|simpler|safer|cleaner|faster|consistent) (?:than|to|with|because|since)|avoid(?:s|ing)?|prevents?"
    r"|ensures?|preserves?|matches|entschieden|décidé|decid\w+)\b|决定|選"
)
VERIFIED = _cue(
    r"\b(?:tests? (?:now )?pass(?:es|ed)?|all \w+ pass|passes|works (?:now|correctly|as)|no (?:errors|failures|issues)"
    r"|lint(?:er)? (?:is )?clean|builds?)\b"
)
CHANGED = _cue(
    r"(?:i(?:'ve| have)? |we(?:'ve| have)? |successfully |now )*(?:add(?:s|ed)?|chang(?:es?|ed)|updat(?:es?|ed)"
    r"|modif(?:y|ies|ied)|remov(?:es?|ed)|delet(?:es?|ed)|fix(?:es|ed)?|mov(?:es?|ed)|renam(?:es?|ed)"
    r"|refactor(?:s|ed)?|extract(?:s|ed)?|implement(?:s|ed)?|creat(?:es?|ed)|replac(?:es?|ed)|introduc(?:es?|ed)"
    r"|wrapp?(?:s|ed)?|convert(?:s|ed)?|simplif(?:y|ies|ied)|consolidat(?:es?|ed)|split|wir(?:es?|ed)|us(?:es?|ed)"
    r"|switch(?:es|ed)?|revert(?:s|ed)?|bump(?:s|ed)?|enabl(?:es?|ed)|disabl(?:es?|ed)|document(?:s|ed)?"
    r"|restor(?:es?|ed)|return(?:s|ed)?|pass(?:es|ed)|check(?:s|ed)|call(?:s|ed)?)\b"
)
WHY_LABEL = _cue(
    r"(?:the )?(?:root )?(?:causes?|problems?|issues?|bugs?|why|reasons?|findings?|analysis|explanation|insights?"
    r"|background|rationale|key (?:points?|differences?|insights?|findings?)|how it works|what (?:happens|happened|was wrong"
    r"|went wrong)|ursache|grund|problem|cause|raison|problème|causa|motivo|problema)\b|原因|问题|理由|問題"
)
CAVEAT_LABEL = _cue(
    r"(?:important|notes?|caveats?|limitations?|gotchas?|warnings?|constraints?|trade-?offs?|edge cases?|risks?|decisions?"
    r"|hinweis|attention|nota|注意)\b"
)
CHANGE_LABEL = _cue(
    r"(?:the |my )?(?:fix|fixes|solutions?|changes?|what (?:i )?(?:changed|did)|implementation|changed|modified|updated"
    r"|created|added|lösung|änderung\w*|solution|correction|cambios?|solución)\b|修复|修改|変更|修正"
)
NEXT_LABEL = _cue(
    r"(?:suggested |possible |recommended |open |remaining )*(?:next steps?|next\b|remaining|to-?dos?|follow[- ]?ups?"
    r"|what'?s (?:left|next|missing)|still (?:to do|open|needed|missing)|open (?:questions|points|issues|items)"
    r"|not (?:yet )?(?:done|implemented)|outstanding|future work|left to do|known (?:issues|limitations)|nächste schritte"
    r"|offen|prochaines? étapes?|à faire|próximos pasos|pendiente)|下一步|待办|次のステップ|残り"
)
OPEN = _cue(
    r"\b(?:next steps? (?:is|are|would|could)|you(?:'ll| will)? (?:still )?(?:need|have) to|remains? to be"
    r"|(?:is|are|was|were) (?:still|not yet)\b|still (?:needs?|to do|open|missing|fails?|failing|broken|unresolved)"
    r"|(?:has|have)(?:n't| not) (?:been|yet|run|tested)|not yet\b|left (?:to do|as is|out|untouched|open|for)|follow-?up"
    r"|to-?do\b|in a later|(?:did(?:n't| not)) (?:run|touch|test)|not (?:tested|verified)|untested"
    r"|noch (?:nicht|offen)|reste à|falta\b|todavía no)\b|尚未|还没|まだ"
)
ASKS = _cue(
    r"(?:would you like|do you want|want me to|shall i|should (?:i|we)|which (?:option|approach|one)|let me know"
    r"|i can (?:also )?\w+ .{3,80} if you)"
)
CHAT = _cue(
    r"(?:(?:all )?done|perfect|great|excellent|good|nice|sure|certainly|of course|absolutely|exactly|yes|no|ok(?:ay)?"
    r"|got it|all set|finished|hmm+|wait|you'?re (?:absolutely )?right|thanks.*|hope .*|feel free.*"
    r"|good (?:question|catch|point).*|great question.*|here(?:'s| is| are)\b.{0,60}:?|.*\blet me know\b.*"
    r"|(?:now |first,? |next,? |so |ok(?:ay)?,? |and )*(?:let me|let's|i'?ll|i will|i'?m going to|i need to|i should"
    r"|i want to|i can see|i see|i understand|we need to|lass mich|ich werde|je vais|voy a|我来|让我)\b.*"
    r"|(?:the |your |all )*(?:fix|changes?|work|implementation|tests?|task|code|refactoring|feature|build|lint\w*"
    r"|everything)s? (?:is|are|has been|have been|now)?\s*(?:now )?(?:complete|completed|done|ready|pass(?:es|ing)?"
    r"|implemented|working|finished|in place|clean|good)\b.{0,40}"
    r"|(?:i'?ve|i have|we'?ve) (?:now )?(?:successfully )?(?:completed|finished|made|done|implemented) "
    r"(?:all |the |these |both |your )*(?:changes?|fix(?:es)?|work|tasks?|implementation|refactoring|plan|steps)\b.{0,30}"
    r"|(?:what|how) (?:i|was|changed).{0,40}|changes made.*)[\s.!:—-]*"
)
# A sentence that begins so needs the one before it.
POINTING = _cue(
    r"(?:it|this|that|these|those|they|he|she|both|which|such|then|also|and|but|first|next|finally|additionally"
    r"|however|otherwise|here|there|above|below)\b(?! (?:\w+ )?(?:file|function|module|method|test|field|flag|repo|branch|"
    r"command|package|hook|check|class|error|means?|is because))"
)
CODE = re.compile(r"`[^`]+`|\b\w+(?:[._/]\w+)+\b|\b[a-z]+[A-Z]\w+|\b[A-Z]\w*[a-z]\w*[A-Z]\w*|\w+\(\)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?![\w])")
SAME = 0.6  # of the words of the shorter one
LEAST_WORDS = 4
LEAST, LEAST_WIDE = 25, 10  # characters, and in scripts without spaces
PLACES = {CLOSING: 1.0, COMMIT: 1.2, BETWEEN: 0.0}
WORTH, WORTH_BETWEEN = 1.5, 2.6  # scores from which a passage is kept


@dataclass(frozen=True, slots=True)
class Chosen:
    """`why`: it states a cause, a constraint, a finding or a decision, and not only what was changed."""

    text: str
    score: float
    why: bool
    order: int
    place: str = CLOSING


def is_chat(sentence: str) -> bool:
    return CHAT.fullmatch(sentence) is not None or ASKS.match(sentence) is not None


def is_open(passage: Passage) -> bool:
    return NEXT_LABEL.match(passage.label) is not None or (
        OPEN.search(passage.text) is not None and not passage.text.endswith((":", "?"))
    )


def score(passage: Passage, place: str) -> tuple[float, bool]:
    """How much it says, and whether it says why."""
    said = passage.text
    least = LEAST if said.isascii() else LEAST_WIDE
    if len(said) < least or said.endswith(("?", "？")) or is_chat(said):
        return 0.0, False
    words = [word for word in said.split() if word[0] not in "`(" or " " in word]
    if said.endswith(":") or said[0] == "/" or (said.isascii() and len(words) < LEAST_WORDS):
        return 0.0, False
    cause, constraint = bool(CAUSE.search(said)), bool(CONSTRAINT.search(said))
    finding, decision = bool(FINDING.search(said)), bool(DECISION.search(said))
    labelled = WHY_LABEL.match(passage.label) or CAVEAT_LABEL.match(passage.label)
    changed = bool(CHANGED.match(said)) or bool(CHANGE_LABEL.match(passage.label))
    points = 2.0 * cause + 1.1 * constraint + 0.8 * finding + 0.9 * decision
    points += 1.0 * bool(labelled) + 0.8 * changed + 0.3 * passage.joined
    points += 0.4 * min(3, len(CODE.findall(said))) + 0.2 * min(2, len(NUMBER.findall(said)))
    points += PLACES[place]
    if POINTING.match(said) and not passage.joined:
        points -= 1.2
    if VERIFIED.search(said) and not (cause or constraint):
        points -= 1.0  # outcomes are told by exit codes
    if len(said) > LONGEST:
        points -= 0.8
    why = cause or bool(labelled) or ((constraint or decision or finding) and not changed)
    return points, why


def choose(texts: Iterable[tuple[str, str]], *, after: Sequence[str] = ()) -> list[Chosen]:
    """The passages of some texts, each with its place, best first and each thing once. `after`: said already."""
    found: list[Chosen] = []
    order = 0
    for place, source in texts:
        for passage in read_passages(source):
            order += 1
            if is_open(passage) and place != COMMIT:
                continue
            points, why = score(passage, place)
            least = WORTH_BETWEEN if place == BETWEEN else WORTH
            if points >= least and (why or place != BETWEEN):
                found.append(Chosen(passage.whole, points, why, order, place))
    return without_repetitions(_last_causes(found), after)


def _last_causes(found: list[Chosen]) -> list[Chosen]:
    """While an agent searches it names one cause after the other: the later ones are nearer to the truth."""
    between = [each for each in found if each.place == BETWEEN]
    kept = set(between[-KEPT_BETWEEN:])
    return [each for each in found if each.place != BETWEEN or each in kept]


KEPT_BETWEEN = 6


def without_repetitions(found: Iterable[Chosen], said: Sequence[str] = ()) -> list[Chosen]:
    known = [set(content_words(each)) for each in said]
    kept: list[Chosen] = []
    for each in sorted(found, key=lambda one: -one.score):
        own = set(content_words(each.text))
        if own and not any(_repeats(own, other) for other in known):
            known.append(own)
            kept.append(each)
    return kept


def _repeats(own: set[str], other: set[str]) -> bool:
    return bool(other) and len(own & other) >= SAME * min(len(own), len(other)) and (
        len(own) <= len(other) * 1.5 or word_overlap(own, other) >= SAME
    )


def find_open_ends(message: str | None) -> list[str]:
    """What the agent says is left to do: items under such a heading, and sentences that say so."""
    return [
        passage.text
        for passage in read_passages(message or "")
        if is_open(passage) and not is_chat(passage.text) and len(passage.text) > 3
    ]


def find_question(message: str | None) -> str | None:
    """The question the agent ends with, if it asks one."""
    ending = [passage.text for passage in read_passages(message or "")][-3:]
    return next((s for s in reversed(ending) if s.endswith(("?", "？")) or ASKS.match(s)), None)
