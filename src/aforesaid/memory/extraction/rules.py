"""Finds statements to remember in a user's message, by rules.

A clause is an order, a norm, a fact, a practice of the team or a word of the user about themselves; each cue
that it is meant to last (`always`, `instead of`, a reason, a name of a tool …) gives a point, and what speaks
for the moment takes one. `MIN_POINTS` are needed. In doubt a sentence is not kept: users repeat what they want
remembered. The body keeps the whole sentence, so that its scope and reason stay with it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from aforesaid.english import STOP_WORDS
from aforesaid.memory.extraction.sentences import (
    ASIDE,
    HASTY,
    MASK,
    PLACE,
    PLACES,
    SYMPTOM,
    TAG,
    UNSURE,
    any_of,
    is_hearsay,
    is_joke,
    masked,
    normalize,
    orders_the_memory,
    own_sentences,
    passing,
)
from aforesaid.memory.format import slugify
from aforesaid.model.memories import FEEDBACK, PROJECT, REFERENCE, USER, Memory
from aforesaid.model.prose import sentences
from aforesaid.privacy.redactor import RULES, Redactor
from aforesaid.similarity import parse_sentences, text_words
from aforesaid.text import one_line, words

# Tools of a kind: a project mostly uses one of it. The last kinds are a matter of the person.
TOOLS = (
    "npm pnpm yarn bun|pip uv poetry pipenv conda pdm hatch|pytest unittest nose|jest vitest mocha jasmine ava|"
    "playwright cypress selenium puppeteer|eslint biome oxlint tslint|black yapf autopep8 ruff|prettier dprint|"
    "mypy pyright pytype|postgres postgresql mysql mariadb sqlite mssql oracle|redis memcached valkey|"
    "mongodb dynamodb couchdb firestore|rabbitmq kafka nats sqs activemq|docker podman nerdctl|"
    "webpack vite rollup esbuild parcel turbopack|moment dayjs luxon date-fns|axios fetch ky got superagent|"
    "requests httpx aiohttp urllib|redux zustand mobx jotai recoil pinia vuex|tailwind bootstrap bulma|"
    "maven gradle bazel sbt|make just task|jenkins circleci travis|jira linear asana trello|"
    "confluence notion sharepoint|slack teams discord mattermost|django flask fastapi|express fastify koa hono|"
    "rebase merge|graphql rest grpc|yaml toml json|javascript typescript|kubernetes nomad swarm|"
    "terraform pulumi ansible|sequelize typeorm prisma drizzle knex|winston pino bunyan|main master develop trunk|"
    "tabs spaces|bash zsh fish|vim neovim nvim emacs vscode"
)
KINDS = {name: n for n, row in enumerate(TOOLS.split("|")) for name in row.split()}
PERSONAL = KINDS["tabs"]  # and the kinds behind it
VAGUE = {"just", "task", "make", "got", "rest", "fetch", "requests", "teams", "main", "merge", "linear"}

VERB = any_of(
    "use run write add put keep make check ask show tell explain name call prefer avoid create include import "
    "export test format lint commit push rebase squash merge branch open close pin prefix start begin end read "
    "update document comment follow respect log handle validate escape wrap type annotate declare define install "
    "build deploy release ship tag bump sign verify confirm review propose plan answer reply respond speak talk "
    "give provide list cite link quote do be let let's leave ignore skip stop touch edit change modify delete "
    "remove rename move refactor rewrite regenerate generate mock stub hard-?code force(?:-push)? amend revert "
    "reset store save set treat assume think work go pass specify indent sort group split mention translate "
    "convert fetch pull sync clean send post upload publish mark assign invent guess summari[sz]e apologi[sz]e "
    "suggest introduce depend rely query select migrate drop seed throw return render display print compute parse "
    "fix implement look find investigate debug figure try get help finish continue proceed extract inline simplify "
    "optimi[sz]e compare replace restore draft prepare take wire hook connect apply undo redo retry restart stay "
    "stick expect want need round batch stage proofread support disable enable trust hide warn prompt"
)
# The agent's work, as opposed to what the programs do that it writes.
WORK = re.compile(
    r"\b"
    + any_of(
        "commit\\w* push\\w* squash\\w* rebas\\w* install\\w* deploy\\w* merg\\w* lint\\w* mock\\w* stub\\w* "
        "refactor\\w* reformat\\w* review\\w* hard-?cod\\w* tests? specs? branch(?:es)? prs? pull_requests? docs? "
        "documentation readme changelog comments? docstrings? type_hints? imports? exports? dependenc(?:y|ies) "
        "packages? librar(?:y|ies) fixtures? code functions? class(?:es)? variables? tabs spaces indentation "
        "semicolons? migrations? diffs? emojis? todos? ci builds? releases? secrets? lock_?files? main master "
        "conventions? linter formatter ask confirm explain answer guess apologi[sz]e summari[sz]e regenerate edit "
        "touch hand assert\\w* logger amend files? package-lock"
    )
    + r"\b"
)
_DONE = any_of(
    "commit push pr pull_request merge release deploy(?:ment)? change session task edit migration refactoring "
    "answer feature fix"
)
STANDING = re.compile(
    r"\b(?:always|never|ever|(?:whenever|(?:every|each|any) ?time)(?! i\b)|from (?:now|here) on(?:wards)?|(?:going|moving) forward"
    r"|henceforth|in (?:the )?future|as a (?:general )?rule|in general|no longer|nowadays|these days"
    rf"|(?:don't|doesn't) .*\bany ?more|no matter|without exception|(?:before|after|on|with|for|in) (?:each|every|any) {_DONE})\b"
)
FIRM = re.compile(r"\bfrom (?:now|here) on|(?:going|moving) forward|henceforth|in (?:the )?future")
CONTRAST = re.compile(
    r"\b(?:instead of|rather than|in place of)\b|(?:,| and| but|\bis|\bare) not (?!yet|sure|only)\w|, no \w|, just the| not \w+\W*$|\bprefer .* (?:over|to) \w"
)
BEHAVIOUR = re.compile(r"\b(?:instead of|rather than) (?:\w+ )?\w+ing\b")
ONLY = re.compile(r"\b(?:only|exactly one|just one|a single|at most|at least|every(?:where|thing))\b")
ONE = re.compile(r"\b(?:only (?:ever )?(?:be |want |have |need )?one|exactly one|a single)\b")
# What a program shows and does.
PROGRAM = re.compile(
    r"\b"
    + any_of(
        "buttons? pages? rows? forms? menus? headers? footers? sidebars? dialogs? modals? players? games? carts? "
        "screens? icons? dashboards? placeholders? fields? popups? (?:the|an?)_users? titles? lists? returns? shows? display\\w* "
        "redirect\\w* render\\w* visible hidden blue red green submit\\w* clicks?"
    )
    + r"\b"
)
TASK_BEHIND = re.compile(rf", (?:so |and |please )*{VERB} (?:it|that|this|them)\b")
MOMENTARY = re.compile(
    r"(?:please )?(?:run|show|list|find|count|check|look|open|start|give|print|delete|remove|rename|fix|replace"
    r"|convert|switch|move)\b"
)
EMBEDDED = re.compile(r"\b(?:why|how|what|whether|where|that|which)\b")
REASON = re.compile(r"\b(?:because|since (?!yesterday)|so that|otherwise|due to)\b")
CONDITION = re.compile(
    r"\b(?:without (?:asking|my|permission|approval|telling|being|a review)|unless|before (?:you|\w+ing|each|every)|if the)\b"
)
FORBIDS = re.compile(
    r"\b(?:don't|mustn't|shouldn't|may not|can't be|avoid|stop (?:using|\w+ing)|no more|forbid\w*|not allowed)\b"
)
NORM = re.compile(
    r"\b(?:should|must|mustn't|shouldn't|ha(?:s|ve) to|needs? (?:to|an?)|supposed to|may not|can't|may)\b"
)
STATES = re.compile(
    r"\b(?:is|are|lives?|runs?|uses?|goes|go|belongs?|owns?|comes?|stays?|means?|needs?|requires?|expects?|supports?"
    r"|targets?|talks?|handles?|contains?|gets?|follows?|starts?|wins?|tests?)\b"
)
STATUS = re.compile(
    r"\b(?:gone|dead|frozen|legacy|deprecated|generated|vendored|read-only|immutable|obsolete|canonical|mirror|owns"
    r"|source of truth|contract|responsible|mandatory|forbidd?en|forbids|idempotent|unique|official|owner|tracked)\b"
)
FOLLOWS = re.compile(r",? so (?!that\b)(?=\w)|, (?:ask|if|use|change)\b")
OURS = re.compile(rf"\b(?:our|ours)\b|^(?:this|the whole) {PLACES}\b")
PRACTICE = re.compile(
    r"(?:we(?:'re|'ve)?|the team|everyone|everybody)\b(?! (?:(?:don't|can't|didn't) )?(?:need|have|had|want|should|could|can"
    r"|must|see|know|get|care|got|might|will|would|may|shall|lack|do)\b(?! not?\b| snapshot))"
)
CHANGED = re.compile(
    r"\b(?:moved|switched|migrated|upgraded|dropped|stopped|decided|agreed|quit) \w+"
)
DEICTIC = re.compile(
    rf"(?:it|this|that|these|those|they|he|she|them|here|there(?! should| must))(?:'s|'re)?\b(?! {PLACES})"
)
POINTS_AT = re.compile(
    rf"\b(?:those|these|this) (?!{PLACES}|is|are|was|we|i|you|the|they|it|means)\w+s?\b"
)
_THING = r"(?:it|this|that|them|these|those|so|one|again|mind)"
POINTLESS = re.compile(
    rf"(?:{VERB}|\w+ed) {_THING}(?:\W*$| (?:again|any ?more|please|either|here|there|like)\b)|\bnever mind\b"
)
DEFINITE = re.compile(r"(?:(?:to|in|on) )?(?:the|your|its|my)\b")
DURATIVE = re.compile(r"(?:please )?(?:avoid|stay|stick|keep|prefer|follow|respect|favou?r) \w")
# A clause behind an order that gives its reason.
GROUND = re.compile(r", (?:we|it|they|another|nothing|nobody|the [\w-]+) (?!should|can you)\w")
GENERIC_OBJECT = re.compile(
    r"any(?:thing)?\b|(?!the|this|that|your|my|need|it)(?:[\w-]+ )?[\w-]+(?<!s)s\b"
)
GENERIC = re.compile(
    r"(?:all|any|every|each|no) \w|(?!the |this |that |it|your |my |some |two |there |his |its |does|is |was )"
    r"(?:[a-z_.-]+ ){0,2}?[a-z-]+(?<!s)s (?:(?:in|of|for|to|with|that) .*?)?(?=\w)"
)
SPECIFIC = re.compile(
    r"(?:the|our|der|die|das|el|la|le) (?!user\b)(?:[\w-]+ (?:of|de|for) (?:the|a|our|pruebas)?|[\w.-]+ [\w.-]+ (?:is|are|can't|must|should|has|uses"
    r"|runs|lives|owns)\b|[\w.]+-\w)|[a-z]+[._/-]\w+ (?:is|are)\b"
)
HARD = re.compile(
    rf"\d|\w/|/\w|\w\.\w{{1,4}}\b|\w_\w|[a-z][A-Z]|\b[A-Z]{{2,}}\b|{MASK}|#\w|[A-Za-z]{{2,}} ?(?=[\u2e80-\uffef])|(?<=[\u2e80-\uffef]) ?[A-Za-z]{{2,}}"
    r"|(?<=[a-z] )[A-Z][a-z]+"
)
PATH = re.compile(rf"\w/|/\w|\w\.\w{{1,4}}\b|{MASK}")

ROLE = r"(?:\w+(?:er|or|ist|ian|ant|ect)|dev|dba|sre|nurse|student|novice|newbie|cto|ceo)"
_VERY = any_of("really strongly much generally usually always also still do definitely mostly")
SELF = re.compile(
    rf"i(?:'d| would)?(?: {_VERY})* (?:prefer|rather (?:that |have )?(?:you|we))\b(?! (?:the|that|this|it|an?|option|b\b|\d) )(?! (?:this|it|option)\b)"
    rf"|i (?:{_VERY} )*(?:like|love) (?!the|this|that|it|your|how).+? (?:better|more) than (?!the|before)"
    r"|i(?:'m)? ?(?:really |just )?(?:hate|dislike|don't (?:like|need|want)|not a fan of|a fan of)"
    r" (?!the|this|that|it|your|how|to|you|any?\b|an\b|these|those)(?:[\w-]+ ){0,2}?\w+(?:s|ing)\b"
    rf"|i(?:'m| am| work as) (?:also )?an? (?!bit|little|lot)(?:[\w-]+ ){{0,3}}?{ROLE}\b(?!.*\bbut\b)"
    r"|i(?:'m| am) (?:also )?(?:colou?r-?blind|dyslexic|deaf|blind|left-handed|based in|fluent in|new to (?!this)"
    r"|more comfortable|used to (?!this|it)|on (?:windows|mac\w*|a mac|linux|ubuntu|debian|fedora|arch|nixos|wsl))"
    rf"|i (?:(?:mostly|usually|always) )?(?:use|work in|code in|work with) {any_of(' '.join(n for n in KINDS if KINDS[n] >= PERSONAL))}\b"
    r"|my (?:first |last |full |nick ?)?(?:name|handle|github \w+|time ?zone|editor|ide|shell|os|keyboard layout"
    r"|(?:native|first) language|mother tongue|pronouns) (?:is|are) (?!not|no|missing|wrong|shown|\w+(?:ed|ing)\b)"
    r"|(?:you can )?call me (?!back|when|if|a\b)\w"
)
WISH = re.compile(r"i (?:only |just )?(?:want|need|expect|'d like|would like)\b(?! (?:you )?to\b)")
TO_ME = re.compile(
    r"\b(?:ask|prompt|consult|warn|notify|check with|confirm with) me\b(?! again| if| a )|\b(?:show|tell) me\b.* before"
    r"|\b(?:answer|reply|respond|talk|speak|write)(?: to)? me\b|\byour (?:answers?|repl(?:y|ies)|responses?|explanations|summaries)"
    r"|\bfor me, i\b|\bdon't \w+ (?:stuff|things|anything) i didn't\b"
)
YOU = (
    r"(?:(?:please|you (?:should|must|need to|have to|are to|can)|you|make sure (?:to|you|that you)|be sure to|also|only|just"
    r"|i (?:want|need|expect|'d like|would like) you to|i'd like you to|let's|remember to|don't forget to|do|then|to),? )*"
)
ORDER = re.compile(
    rf"{YOU}(?:(?:always|never|don't|don't ever|avoid|stop|no more|never,? ever),? )*(?:{VERB}\b|(?<=avoid )\w|(?<=stop )\w+ing|(?<=more )\w)"
    r"|(?:please )?(?:don't|never|always) \w+|stop \w+ing|avoid\b"
)
NONE_OF = re.compile(r"no (?!need|idea|problem|one\b|longer|more\b|matter|worries|that|the)(?:[\w-]+ ){0,2}?\w+s\b")

_LEAD = any_of(
    "please and also so ok okay hey hi hello btw by_the_way well right yes yep yeah but oh ah fyi again hm+ thanks "
    "thank_you sorry great good nice perfect cool fine looks_good lgtm seriously honestly as_i_said like_i_said "
    "i_said i_told_you(?:_to)? as_(?:i_)?(?:mentioned|said)(?:_before|_earlier)? one_(?:more_|last_)?(?:thing|note|rule) "
    "a_(?:quick_)?(?:note|reminder) reminder important rule nb ps for_the_record heads_up another_thing personally "
    "just_so_you_know first second third finally ugh"
)
_NO = (
    r"(?:no|nope|nah)(?=\W*[,.!:—–-]|\s+(?:use|we|it|not|don't|always|never|i|the|that's|this|you|our)\b)[,.!:]?(?: that's wrong)?"
    r"|actually|wrong(?=[,.!:])|not quite|(?:this|that|it)(?:'s| is) (?:not (?:fully |quite |really |entirely )?(?:true|right|correct)|wrong)"
    r"|i mean\b[^:,]{0,30}[:,]"
)
_SIGN = rf"[^\w{MASK}`\"'“„«@#/.-]"
CORRECTS = re.compile(rf"(?:{_SIGN}|(?:{_LEAD})\b)*(?:{_NO})(?:{_SIGN}+|$)")
OPENING = re.compile(rf"(?:{_SIGN}|(?:{_LEAD}|{_NO})(?!\w))+")
SCOPED = re.compile(r"(?:for|in|within|under|inside) (?:the )?[^,:]{2,40}[,:] ")
SCOPES = re.compile(
    rf"(?:(?:{PLACE.pattern}|{FIRM.pattern}|{SCOPED.pattern}"
    r"|(?:when(?:ever)?|if|(?:before|after|every|each|any) ?(?:time|each|every|any)?)\b[^,]*,(?= )),? ?)+"
)
JOINT = re.compile(
    r"(?:[,:]|\s[-–—])\s+(?:(?:and|but|so|also|please|then)\s+)*"
    r"|\s(?:and|but|so)\s+(?=(?:please )?(?:we|i|you|don't|never|always|the|our|no|only|use)\b)"
)
POLITE = re.compile(r"(?:can|could|would|will) you (?P<please>please )?(?P<rest>.*?)\??\W*$")
BUILDS = re.compile(
    r"(?:(?:can|could|would) you |please |i (?:want|need|would like|'d like)(?: you to)? |let's )*"
    r"(?:build|create|write|implement|design|develop|generate|make|add|draft)? ?(?:me )?an? \w"
)
THINKS = re.compile(r"(?:\W|(?:and|but|so|also|basically|well|yeah|hmm?) )*i (?:think|guess|feel like|believe),? (?:that )?")
MIN_POINTS = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence is worth. `type`: of the memory, if it has enough points. `why`: why it does not last."""

    type: str = PROJECT
    points: int = 0
    why: str | None = None

    @property
    def lasts(self) -> bool:
        return self.why is None and self.points >= MIN_POINTS


def read(sentence: str, *, alone: bool = True, spec: bool = False) -> Reading:
    """`alone`: the message has no task beside it, which an order could be about. `spec`: it asks for something to
    be built, so that the rest are requirements."""
    plain = masked(sentence)
    text = normalize(plain)
    thinks = THINKS.match(text)
    text = text[thinks.end() :] if thinks else text
    corrects = CORRECTS.match(text) is not None
    text = _bare(TAG.sub("", text) if corrects else text)
    polite = POLITE.match(text)
    # "can you always rely on it?" asks; "could you please always run it?" does not.
    if polite and polite["please"] and (STANDING.search(text) or TO_ME.search(text)):
        text = polite["rest"]
    if kind := _remembered(text, plain):
        return Reading(kind, MIN_POINTS)
    if why := passing(text):
        return Reading(why=why)
    hard = HARD.search(plain) is not None or any(map(is_tool, words(text)))
    best = Reading()
    for start, clause in _clauses(text):
        if is_hearsay(clause):
            break
        if is_task(clause) and f"{clause}:" in text:
            break
        if UNSURE.search(text[start : text.index(clause) + len(clause)]):
            return Reading(why="not decided")
        found = _weigh(text[start:], clause, plain, hard=hard, alone=alone, corrects=corrects)
        less = bool(thinks) + 2 * (spec and not re.match(r"we\b|i\b|this ", clause))
        found = replace(found, points=found.points - less)
        best = max(best, found, key=lambda each: each.points)
        if best.lasts:
            break
    return best


def _bare(text: str) -> str:
    found = OPENING.match(text)
    return text[found.end() :] if found else text


def _clauses(text: str) -> Iterator[tuple[int, str]]:
    """Where each begins with its scope or condition, and its text up to the next."""
    scope = SCOPES.match(text)
    begin = scope.end() if scope else 0
    joints = list(JOINT.finditer(text, begin))
    starts = [begin, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(text)]
    for start, end in zip(starts, ends, strict=True):
        yield (0 if start == begin else start), text[start:end]


def _weigh(
    text: str, clause: str, plain: str, *, hard: bool, alone: bool, corrects: bool
) -> Reading:
    """Of a clause, with all that follows it in its sentence."""
    deictic = DEICTIC.match(clause) is not None
    if POINTLESS.search(clause) or (deictic and not corrects):
        return Reading()
    place = PLACE.search(text) is not None or bool(SCOPED.match(text))
    standing, work = STANDING.search(text) is not None, WORK.search(text) is not None
    points = 2 * standing + bool(CONTRAST.search(text)) + bool(BEHAVIOUR.search(text))
    points += sum(bool(cue.search(text)) for cue in (ONLY, ONE, REASON, CONDITION))
    points += place + corrects + hard - deictic
    points -= 2 * bool(POINTS_AT.search(clause))
    points -= 2 * bool(re.search(r"\bwill\b", clause) or TASK_BEHIND.search(text))
    in_project = place or PATH.search(plain) is not None
    if SELF.match(clause):
        return Reading(FEEDBACK if in_project else USER, points + 2)
    if re.search(r"\b(?:imh?o|in my opinion)\b", clause):
        return Reading(USER, points + 1)
    symptom = SYMPTOM.search(clause) is not None
    if WISH.match(clause):
        wish = points - hard + bool(re.search(r"\b(?:one|single)\b", clause))
        return Reading(USER if TO_ME.search(text) else PROJECT, wish)
    if re.match(r"i\b|i'|my\b|you (?!have|must|should|need|can)", clause):
        return Reading()
    if PRACTICE.match(clause) and not symptom:
        points += 1 + bool(FORBIDS.search(clause)) + bool(CHANGED.search(clause))
        return Reading(PROJECT, points)
    if NONE_OF.match(clause) and not symptom:
        return Reading(FEEDBACK, points + 2 - (not alone))
    if ORDER.match(clause):
        return _weigh_order(text, clause, points, work=work, alone=alone, in_project=in_project)
    located = ADDRESS.search(plain) is not None and KEPT_AT.search(plain) is not None
    points += located - 2 * bool(PROGRAM.search(clause) and not located)
    subject = bool(GENERIC.match(clause)) or bool(SPECIFIC.match(clause))
    if OURS.search(clause):
        points += 1
    if NORM.search(clause):
        subject |= clause.startswith("we ")
        points += subject + bool(FORBIDS.search(clause)) + bool(STATUS.search(text))
        return Reading(FEEDBACK, points + bool(re.match("all|every|any|each", clause)))
    if symptom:
        return Reading()
    if STATES.search(clause):
        points += subject + bool(STATUS.search(text)) + bool(FOLLOWS.search(text))
        points -= bool(re.match(r"the \w+ (?:is|are)\b", clause) and not located)
        return Reading(_fact_type(plain), points)
    points += (work and subject) + bool(FORBIDS.search(text)) - corrects
    return Reading(FEEDBACK, points if len(text.split()) > 2 or not text.isascii() else 0)


def _weigh_order(
    text: str, clause: str, points: int, *, work: bool, alone: bool, in_project: bool
) -> Reading:
    """Most orders are for this turn."""
    if HASTY.search(clause) or ", just " in text or (clause.startswith("let's") and not STANDING.search(text)):
        return Reading()
    points += work - (not alone) - (not re.match("you (?:must|have|need|should)", clause))
    points += bool(DURATIVE.match(clause)) + bool(GROUND.search(text))
    points += bool(FORBIDS.search(clause)) and not STANDING.search(clause)
    points -= 2 * bool(PROGRAM.search(clause) and not work)
    found = ORDER.match(clause)
    embedded = EMBEDDED.search(clause)
    lead = clause[: embedded.start()] if embedded else clause
    if embedded and not (STANDING.search(lead) or FORBIDS.search(lead)):
        return Reading()
    rest = clause[found.end() :].lstrip() if found else ""
    points += bool(GENERIC_OBJECT.match(rest) and rest.split()[0] not in KINDS) - bool(DEFINITE.match(rest) and not work)
    points += bool(FIRM.search(text)) - bool(ONLY.search(clause) and "only" not in clause[:12])
    points -= bool(MOMENTARY.match(clause) and not STANDING.search(text))
    if TO_ME.search(text):
        return Reading(FEEDBACK if in_project else USER, points + 2)
    return Reading(FEEDBACK, points)


ADDRESS = re.compile(r"https?://\S+")
PRODUCT = re.compile(
    r"\b(?:linear|jira|notion|confluence|figma|grafana|sentry|slack)\b", re.IGNORECASE
)
KEPT_AT = re.compile(r"\b(?:is|are|lives?|found|tracked|kept)\b.*?\b(?:at|in|on|under)\b", re.IGNORECASE)


def _fact_type(plain: str) -> str:
    there = ADDRESS.search(plain) or PRODUCT.search(plain) or PATH.search(plain)
    return REFERENCE if there and KEPT_AT.search(plain) else PROJECT


def is_task(text: str) -> bool:
    """Of a sentence in normal form: a question, or an order for this turn alone."""
    bare = _bare(text)
    if passing(text) == "a question":
        return True
    return ORDER.match(bare) is not None and not STANDING.search(text) and not NONE_OF.match(bare)


def is_tool(name: str) -> bool:
    return name.lower() in KINDS and name.lower() not in VAGUE


REMEMBER = re.compile(
    r"(?:(?:we|you) (?:should|must|need to|have to) )?(?P<how>remember|memori[sz]e|don't forget"
    r"|(?:keep|bear) in mind|(?:make|take) (?:a )?note|note|be aware|fyi|mind)(?: this| the following)?"
    r"(?:\s*[:,-]\s*(?:that )?| that | (?=(?:we|i|i'm|our|my|always|never) ))(?P<what>\S.*)"
)
STRONG = ("remember", "memori", "don't forget", "make", "take")
POINTS_BACK = re.compile(
    r"(?:please )?(?:remember|keep|memori[sz]e|save|note|don't forget) (?:that|this|it)"
    r"(?: down| in mind| in (?:your )?memory| to (?:your )?memory)?(?:,? please)?\W*$"
    r"|(?:please )?(?:remember|keep in mind)[.!]*$"
)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i'd|me|my|mine)\b")


def _remembered(text: str, plain: str) -> str | None:
    """The type of what is to be remembered in so many words. `note` is said in passing, too."""
    found = REMEMBER.match(text)
    if not found or text.rstrip().endswith(("?", "？")):
        return None
    what = found["what"]
    strong = found["how"].startswith(STRONG)
    if len(what.split()) < MIN_WORDS and what.isascii():
        return None
    if not strong and (DEICTIC.match(what) or POINTS_AT.match(what) or WANTED.search(what)):
        return None
    if found["how"] in ("note", "be aware", "fyi", "mind") and not (
        STANDING.search(what) or PLACE.search(what) or re.search(r"\b(?:all|only|our|we|must)\b", what)
    ):
        return None
    return _guess_type(what, plain)


WANTED = re.compile(r"\bwe (?:need|want|would like|have) ")
MIN_WORDS = 3


def _guess_type(text: str, plain: str) -> str:
    """By how it begins."""
    if SELF.match(text) or TO_ME.search(text) or FIRST_PERSON.search(text):
        return FEEDBACK if PLACE.search(text) else USER
    if ORDER.match(text) or NONE_OF.match(text):
        return FEEDBACK
    return REFERENCE if ADDRESS.search(plain) or PRODUCT.search(plain) else _fact_type(plain)


MAX_LINE, MAX_BODY = 200, 2_000
MAX_SENTENCE, MAX_STATEMENTS = 500, 8  # characters of a sentence; statements of one message
NAME_WORDS = 8
LEAVE_OUT = re.compile(
    r"\b(?:the user(?:'s)?|the|an?|is|are|be|to|you|your|that|of|from now on|please|it|we|in this (?:repo"
    r"|project)|and|so|also|i(?:'[dm]|'ve|'ll)?(?![/'])|my|me)\b",
    re.IGNORECASE,
)
REMEMBER_OPENING = re.compile(
    r"^(?:please )?(?:remember|keep in mind|bear in mind|don't forget|do not forget|note|take note"
    r"|be aware|make a note|memori[sz]e)(?: this| the following)?"
    r"(?:\s*[:,]\s*(?:that )?|\s[–—-]+\s| that | to |(?<!note)(?<!aware)\s)",
    re.IGNORECASE,
)
SAID_OPENING = re.compile(OPENING.pattern, re.IGNORECASE)
SAID_POLITE = re.compile(POLITE.pattern, re.IGNORECASE)
# `First names are`, `OK responses have`: a part of what is spoken of, and no opening.
SUBJECT = re.compile(
    r"(?:first|second|ok|okay|so|well|please|right|now|actually|yes|also|important|rule)\s+(?:(?!(?:i|we|you|it|always"
    r"|never|do|don't|use|please|that|the|this|these|our|my|your|all|every|no)\b)\w+\s+){0,2}"
    r"(?:is|are|was|were|has|have|last|live|lives)\b",
    re.IGNORECASE,
)
PLEASE = re.compile(r",? (?:please|pls|plz|thanks|thank you)$", re.IGNORECASE)
WHY = re.compile(
    r",?\s+(?:because|so that|since(?= (?:we|i|it|the|they|our|that|this|you|there|my)\b)"
    r"|otherwise)\s+(?P<why>\S.*)$|\s+\((?:because|since)\s+(?P<inner>[^)]+)\)",
    re.IGNORECASE,
)
SO = re.compile(r",\s+so\s+(?!that\b)(?P<how>\S.*)$", re.IGNORECASE)
WHEN = re.compile(r"^(?P<when>(?:whenever|(?:every|each|any) ?time)\b[^,]*),", re.IGNORECASE)
A_REASON = re.compile(
    r"^(?:because|the reason is(?: that)?|reason:|that's because|otherwise)\s+(?P<why>\S.*)$",
    re.IGNORECASE,
)
# Another person, or a second verb: then more than the beginning would have to be turned round.
TWO_THINGS = re.compile(
    r"\b(?:i|i'm|i'd|i've|me|my|mine|we|us|our|you|your|and|but|or)\b|,(?! not\b)", re.IGNORECASE
)
_MORE = r"(?: also| really| definitely| still| do| very much| much| strongly| too)*"
_OFTEN = r"(?P<often> generally| usually| always| mostly)?"
THIRD = tuple(
    (re.compile(rf"^{first}\b", re.IGNORECASE), third)
    for first, third in (
        (rf"i{_MORE}{_OFTEN}{_MORE} prefer", r"The user\g<often> prefers"),
        (rf"i(?:'d| would){_MORE} (?P<would>prefer|rather)", r"The user would \g<would>"),
        (rf"i{_MORE}{_OFTEN}{_MORE} like", r"The user\g<often> likes"),
        (r"i(?:'m| am)(?: also)?", "The user is"),
        ("my", "The user's"),
    )
)


def describe(sentence: str) -> str:
    """One line, without the opening, the reason and the consequence."""
    line = sentence
    for part in (SO, WHY):
        if found := part.search(masked(line)):
            line = line[: found.start()] + line[found.end() :]
    for opening in (SAID_OPENING, REMEMBER_OPENING, SAID_OPENING):
        found = opening.match(masked(line))
        if found and not (opening is SAID_OPENING and SUBJECT.match(line)):
            line = line[found.end() :]
    if asked := SAID_POLITE.match(masked(line)):
        line = line[asked.start("rest") : asked.end("rest")]
    line = PLEASE.sub("", line.strip(" ,;:-").rstrip(" .!?。"))
    for pattern, put in THIRD:
        found = pattern.match(line)
        if found and not TWO_THINGS.search(line, found.end()):
            line = found.expand(put) + line[found.end() :]
            break
    return one_line(line[:1].upper() + line[1:], MAX_LINE)


def make_name(description: str) -> str:
    telling = words(LEAVE_OUT.sub(" ", ADDRESS.sub(" ", description)).replace("'", ""))
    return slugify(" ".join(telling[:NAME_WORDS]) or description)


def find_reasons(sentence: str, after: str = "") -> tuple[str, str]:
    """Why, and how to apply it, if that was said in the sentence; the why also in the next one."""
    plain = masked(sentence)
    why = how = ""
    if found := WHY.search(plain):
        group = "why" if found["why"] else "inner"
        why = sentence[found.start(group) : found.end(group)]
    elif found := A_REASON.match(masked(after)):
        why = after[found.start("why") :]
    if (found := SO.search(plain)) and len(found["how"].split()) >= MIN_WORDS:
        how = sentence[found.start("how") :]
    elif found := WHEN.search(plain):
        how = found["when"]
    return _sentence(why), _sentence(how)


def _sentence(text: str) -> str:
    text = FIRM.sub("", text).strip(" ,;:")
    text = one_line(text[:1].upper() + text[1:], MAX_LINE)
    return text if not text or text[-1] in ".!?…" else f"{text}."


def format_body(statement: str, why: str = "", how: str = "") -> str:
    labels = [f"**Why:** {why}"] * bool(why) + [f"**How to apply:** {how}"] * bool(how)
    return "\n\n".join(filter(None, (statement.strip()[:MAX_BODY], "\n".join(labels))))


_WORD = r"[`\"'“]?[\w@#][\w@./+#-]*[`\"'”%]?"
_TERM = rf"{_WORD}(?:\s+{_WORD}){{0,3}}?"
_ENDS = any_of(
    "in for on when whenever because since from here everywhere now please so as to at if by and but or going "
    "any_?more any_longer instead last this though a_while ages already some months weeks years"
)
_END = rf"(?=\s*(?:$|[.,;!)]|\s{_ENDS}\b))"
_NEWS = r"^(?:\W|(?:no|nope|nah|actually|sorry|wrong|wait|please|well|hm+|ok|okay|but|it(?:'s| is)|should be)\b)*"
_USED = r"\b(?:use|using|uses|prefer|prefers|want|run|like|on|is|are)\s+"
_MOVED = r"\b(?:moved|switched|migrated|upgraded|changed|went)\b"
_LEFT = r"(?:no longer (?:use|support|run|need)|(?:stopped|quit) (?:using|supporting)|dropped(?: support for)?)"
# What is new and what is old; the other is empty where only one is said.
SWAPS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_USED}(?P<new>{_TERM})(?:\s+now)?\s*,?\s+(?:instead of|rather than|in place of|over|and not)\s+"
        rf"(?P<old>{_TERM}){_END}",
        rf"{_USED}(?P<new>{_TERM})(?:\s+now)?,\s+not\s+(?P<old>{_TERM}){_END}",
        rf"{_MOVED}(?:\s+(?!from\b|to\b)[\w'-]+){{0,4}}?\s+from\s+(?P<old>{_TERM})\s+(?:over\s+)?to\s+"
        rf"(?P<new>{_TERM}){_END}",
        rf"\b(?:don't|do not|dont) use\s+(?P<old>{_TERM})\b.*?,\s*(?:but |we )?use\s+(?P<new>{_TERM})"
        rf"(?:\s+instead)?{_END}",
        rf"\b{_LEFT}\s+(?P<old>{_TERM}){_END}(?P<new>)",
        rf"\b(?:don't|do not) (?:use|support)\s+(?P<old>{_TERM})\s+any ?(?:more|longer)\b(?P<new>)",
        rf"(?P<old>){_MOVED}(?: over)? to\s+(?P<new>{_TERM}){_END}",
        rf"^(?P<old>)(?:\W|(?:no|nope|nah|actually)\b)+(?:we use|we're using|use|it's)\s+(?P<new>{_TERM}){_END}",
    )
)
# Too short to be understood alone: what it is about was said before.
SHORT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_NEWS}not\s+(?P<old>{_TERM})\s*(?:,\s*(?:but\s+)?|\s+but\s+)(?P<new>{_TERM})\W*$",
        rf"{_NEWS}(?P<new>{_TERM}),?\s+(?:and )?not\s+(?P<old>{_TERM})\W*$",
    )
)
# What it takes the place of stands in a memory.
INSTEAD = re.compile(
    rf"^\W*(?:no|nope|nah|actually)\b\W*(?:please )?use\s+(?P<new>{_TERM})\s+instead\W*$",
    re.IGNORECASE,
)
_TIMES = any_of(
    r"january february march april may june july august september october november december spring summer \d{4}"
)
# `for sessions`; but neither `for this repo` nor `in January`.
LIMIT = re.compile(
    rf"\s+(?:for|in|on|to|with)\s+(?!(?:this|our|the|all|my) (?:\w+ )?{PLACES}\b|{_TIMES}\b)(?P<to>[^,.;!]+)",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"^(?:the|an?|our|my|your)\s+", re.IGNORECASE)
TERM_REST = re.compile(r"\s+(?:for|in|on|when|here|as|to|everywhere|with)\b.*$", re.IGNORECASE)
VERSION = re.compile(r"^(?P<name>[A-Za-z][\w.+#-]*)\s+v?\d+(?:\.\d+)*$")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# A memory that says what is used, and not merely names it.
_USES = any_of(
    "use uses used using prefers? with via through on in to is are by only supports? runs?"
)
_AFTER = any_of("to for in as when over not and or from on under at with by instead here")
MIN_ECHO = 0.5  # of the memory's words, in what the assistant had said


@dataclass(frozen=True, slots=True)
class Correction:
    """`old` or `new` is empty if it was not said. `about`: the assistant's sentence that a short correction
    refers to. `where`: what it is limited to."""

    old: str
    new: str
    about: str = ""
    where: str = ""


def read_correction(sentence: str) -> Correction | None:
    found = next(filter(None, (pattern.search(sentence) for pattern in SWAPS)), None)
    return _make_correction(found, sentence[found.end() :]) if found else None


def read_short(sentence: str, before: str) -> Correction | None:
    """`not 80 columns, 100` corrects what the assistant has just said; `no, use spaces instead` a memory."""
    if (found := INSTEAD.match(sentence)) and found["new"].strip("`\"'").lower() in KINDS:
        return Correction("", found["new"].strip("`\"'"))
    for found in filter(None, (pattern.match(sentence) for pattern in SHORT)):
        made = _make_correction(found, "")
        for line in sentences(before):
            if has_word(line, made.old) and made.old.lower() not in STOP_WORDS:
                return replace(made, about=line)
    return None


def _make_correction(found: re.Match[str], rest: str) -> Correction:
    def bare(term: str) -> str:
        return ARTICLE.sub("", TERM_REST.sub("", term.strip(" `\"'“”,"))).strip("`\"'“” .")

    limit = LIMIT.match(rest)
    return Correction(bare(found["old"]), bare(found["new"]), where=limit["to"] if limit else "")


def contradicted(correction: Correction, memories: Iterable[Memory]) -> tuple[Memory, str] | None:
    """The one memory that says the old, and the old as it is written there; None if there are several."""
    found = [(memory, old) for memory in memories if (old := _old_in(memory, correction))]
    return found[0] if len(found) == 1 else None


def _old_in(memory: Memory, correction: Correction) -> str | None:
    text = f"{memory.description}\n{memory.body.partition('**Why:**')[0]}"
    if correction.new and has_word(text, correction.new):
        return None
    limits = {word for each in parse_sentences(correction.where) for word in each.telling}
    if limits and limits.isdisjoint(text_words(text)):
        return None
    if correction.about:
        about = {word for each in parse_sentences(memory.description) for word in each.about}
        near = len(about & text_words(correction.about)) >= MIN_ECHO * len(about)
        return correction.old if near and has_word(text, correction.old) else None
    if correction.old:
        return correction.old if _uses_term(text, correction.old) else None
    return _other_version(text, correction.new) or _other_tool(text, correction.new)


def has_word(text: str, word: str) -> bool:
    return bool(word) and _whole_word(word).search(text) is not None


def _whole_word(word: str) -> re.Pattern[str]:
    pattern = rf"(?<![\w-])(?<!\d[.,]){re.escape(word)}(?![\w-])(?![.,]\d)"
    return re.compile(pattern, re.IGNORECASE)


def _uses_term(text: str, word: str) -> bool:
    named = rf"(?:the |an? |our )?[`\"']?{re.escape(word)}[`\"']?"
    pattern = rf"\b{_USES}\s+{named}(?=\s*$|\s*[.,;:!)]|\s+{_AFTER}\b)"
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None


def _other_version(text: str, new: str) -> str | None:
    version = VERSION.match(new)
    if not version:
        return None
    pattern = rf"(?<![\w-]){re.escape(version['name'])}\s+v?\d+(?:\.\d+)*(?![\w-])"
    found = set(re.findall(pattern, text, re.IGNORECASE))
    return found.pop() if len(found) == 1 else None


def _other_tool(text: str, new: str) -> str | None:
    """The only tool that it names, of the same kind."""
    kind = KINDS.get(new.lower().partition(" ")[0])
    others = {word for word in re.findall(r"[\w-]+", text.lower()) if KINDS.get(word) == kind}
    if kind is None or len(others) != 1:
        return None
    (other,) = others
    return other if _uses_term(text, other) else None


def replace_term(text: str, old: str, new: str) -> str:
    """Replaces the old by the new. Of `80 columns` and `100`, only the number is replaced."""
    numbers = NUMBER.findall(old), NUMBER.findall(new)
    units = (NUMBER.sub("", each).strip().lower() for each in (old, new))
    if len(numbers[0]) == len(numbers[1]) == 1 and len(set(units)) == 2:
        old, new = numbers[0][0], numbers[1][0]
    return _whole_word(old).sub(lambda _: new, text)


def drop_sentences(text: str, old: str, put: str) -> str:
    """Replaces the first line or sentence that has the old by `put`, and drops the others that have it."""
    parts, joint = (text.split("\n"), "\n") if "\n" in text else (sentences(text), " ")
    kept: list[str] = []
    for part in parts:
        if not has_word(part, old):
            kept.append(part)
        elif put not in kept:
            kept.append(put)
    return joint.join(kept if put in kept else [put, *kept])


@dataclass(frozen=True, slots=True)
class Statement:
    """`said`: the user's sentence. `stands`: it can be understood alone; else it only corrects a memory."""

    type: str
    description: str
    body: str
    correction: Correction | None = None
    said: str = ""
    stands: bool = True


def statements(prompt: str, before: str = "", redactor: Redactor = RULES) -> list[Statement]:
    """Of a user's message; `before`: the assistant's last message. Sentences with a secret are left out, even
    if it is redacted: they say nothing without it."""
    own = [ASIDE.sub("", sentence) for sentence in own_sentences(prompt)]
    if is_joke("\n".join(map(masked, own))):
        return []
    tasks = [is_task(normalize(masked(sentence))) for sentence in own]
    spec = bool(own) and BUILDS.match(_bare(normalize(own[0]))) is not None
    found: dict[str, Statement] = {}
    for number, sentence in enumerate(own):
        last = own[number - 1] if number else ""
        if last and POINTS_BACK.match(_bare(normalize(masked(sentence)))):
            asked = Reading(_guess_type(normalize(last), last), MIN_POINTS, _unfit(last, redactor))
            kept = _statement(asked, last) if asked.lasts and not tasks[number - 1] else None
        else:
            alone = not any(tasks[:number] + tasks[number + 1 :])
            kept = _stated(sentence, own[number + 1 :], before, alone=alone, spec=spec)
            kept = None if kept and _unfit(sentence, redactor) else kept
        if kept:
            found.setdefault(kept.said, kept)
    return list(found.values())[:MAX_STATEMENTS]


def _unfit(sentence: str, redactor: Redactor) -> str | None:
    if len(sentence) > MAX_SENTENCE or orders_the_memory(sentence) or redactor.has_secret(sentence):
        return "a secret, an order to the memory, or too long"
    return None


def _stated(
    sentence: str, after: list[str], before: str, *, alone: bool, spec: bool
) -> Statement | None:
    if f" {' '.join(words(sentence))} " in f" {' '.join(words(before))} ":
        return None  # quoted from the answer
    found = read(sentence, alone=alone, spec=spec)
    short = None if found.why else read_short(sentence, before)
    if short:
        made = _statement(found, sentence)
        return replace(made, type=PROJECT, correction=short, stands=False)
    if found.lasts or _denies_echo(sentence, before):
        return _statement(found, sentence, "".join(after[:1]))
    return None


DENIED = re.compile(r"\bnot (?:an? |the )?[\"“`](?P<term>[^\"”`]+)[\"”`]")


def _denies_echo(sentence: str, before: str) -> bool:
    """The user denies what the assistant has just called something."""
    found = DENIED.search(sentence)
    return found is not None and found["term"].lower() in before.lower()


def _statement(found: Reading, sentence: str, after: str = "") -> Statement:
    why, how = find_reasons(sentence, after)
    body = format_body(sentence, why, how)
    return Statement(found.type, describe(sentence), body, read_correction(sentence), sentence)


def guess_type(text: str) -> str:
    """Of something that is remembered in any case."""
    return _guess_type(_bare(normalize(masked(text))), masked(text))
