"""Makes random secrets in the text that surrounds them in real life.

A kind of secret is a name, an area and a function that writes one text. The kinds are in two files,
`secrets_tune.py` and `secrets_report.py`; the hash of a kind's name decides which. Rules are tuned
on the first and figures are reported from the second. Names of variables, sentences around tokens
and line prefixes are split in the same way, so that the reporting half has surroundings of its own.

A function returns text in which every secret stands between two marks (`mark`). Wrappings
(prefixes, quotes, JSON) work on marked text, and `unmark` takes the marks out at the end. What is
between them is the secret as the reader of the text sees it.

Templates have fields in ⟨⟩: ⟨an:36⟩ is 36 letters and digits, ⟨v⟩ is a secret value, ⟨NAME⟩ is the
name of a variable in upper case, ⟨host⟩ is a host. See `FILLERS` and `ALPHABETS`.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

HALVES = ("tune", "report")

OPEN, CLOSE = "\ue000", "\ue001"  # around a secret
LINE_OPEN, LINE_CLOSE = "\ue002", "\ue003"  # around a line of a private key
PIECE = 6  # so many consecutive characters of a secret must not be left
LINE_PIECE = 12  # the same for a line of a private key

MARKED = re.compile(
    f"{OPEN}(?P<value>[^{CLOSE}]*){CLOSE}|{LINE_OPEN}(?P<line>[^{LINE_CLOSE}]*){LINE_CLOSE}"
)
FIELD = re.compile(r"⟨([^⟩]+)⟩")


@dataclass(frozen=True)
class Secret:
    value: str
    piece: int

    def left_in(self, shown: str, background: str) -> str | None:
        """A piece of the secret that is in `shown` and not in the text around the secret."""
        if self.piece == LINE_PIECE > len(self.value):
            return None  # the last line of a key may be a few characters
        size = min(self.piece, len(self.value))
        for start in range(len(self.value) - size + 1):
            piece = self.value[start : start + size]
            if piece in shown and piece not in background:
                return piece
        return None


@dataclass(frozen=True)
class Sample:
    text: str  # for a payload: its JSON
    secrets: tuple[Secret, ...]
    background: str  # the text without the secrets
    payload: bool = False

    def left_in(self, output: str) -> str | None:
        """The first piece of a secret that a redactor left in its output."""
        shown = output
        if self.payload:
            try:
                shown = "\n".join([*strings(json.loads(output)), output])
            except ValueError:
                shown = output
        for secret in self.secrets:
            if (piece := secret.left_in(shown, self.background)) is not None:
                return piece
        return None


Written = str | dict[str, Any]
Writer = Callable[[Random], Written]
Wrapping = Callable[[Random, str], str]


@dataclass(frozen=True)
class Kind:
    name: str
    area: str
    write: Writer
    in_scope: bool = True
    wrapped: bool = True  # may get line prefixes

    @property
    def half(self) -> str:
        return half_of(self.name)


def half_of(name: str) -> str:
    return HALVES[hashlib.sha256(name.encode()).digest()[0] & 1]


@dataclass
class Half:
    """The kinds of one half, and the words that they have in common."""

    name: str
    kinds: list[Kind] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)  # around a token that is known by its form
    assignments: list[str] = field(default_factory=list)  # around a named value without a form
    prefixes: list[Wrapping] = field(default_factory=list)  # of lines

    def kind(
        self, name: str, area: str, *, in_scope: bool = True, wrapped: bool = True
    ) -> Callable[[Writer], Writer]:
        """Adds a kind that a function writes."""

        def add(write: Writer) -> Writer:
            self.kinds.append(Kind(name, area, write, in_scope, wrapped))
            return write

        return add

    def token(self, name: str, area: str, *forms: str) -> None:
        """Adds a token that is known by its form; what precedes the first field is public."""

        def write(rng: Random) -> str:
            return fill(rng, rng.choice(self.sentences)).replace("⟪t⟫", token(rng, *forms))

        self.kinds.append(Kind(name, area, write))

    def named(self, name: str, area: str, variables: str, *forms: str) -> None:
        """Adds a value without a form of its own, under the names that its service gives it."""

        def write(rng: Random) -> str:
            text = rng.choice(self.assignments)
            variable = rng.choice(variables.split())
            return fill(rng, text, variable=variable).replace("⟪t⟫", token(rng, *forms))

        self.kinds.append(Kind(name, area, write))

    def context(
        self, name: str, area: str, *templates: str, values: str = "quoted", in_scope: bool = True
    ) -> None:
        """Adds a place where any secret may stand; `values` says which characters fit there."""

        def write(rng: Random) -> str:
            return fill(rng, rng.choice(templates), variable=rng.choice(self.names), values=values)

        self.kinds.append(Kind(name, area, write, in_scope))

    def prefix(self, name: str, area: str, template: str) -> None:
        """Adds a prefix of lines: to wrap other kinds, and as a kind of its own with a private key."""

        def write(rng: Random) -> str:
            return prefix_lines(rng, template, pem(rng))

        self.prefixes.append(lambda rng, text: prefix_lines(rng, template, text))
        self.kinds.append(Kind(name, area, write, wrapped=False))

    def wrapping(
        self, name: str, area: str, *, in_scope: bool = True
    ) -> Callable[[Wrapping], Wrapping]:
        """Adds a way in which a private key is written down."""

        def add(wrap: Wrapping) -> Wrapping:
            def write(rng: Random) -> str:
                return wrap(rng, pem(rng))

            self.kinds.append(Kind(name, area, write, in_scope, wrapped=False))
            return wrap

        return add

    def style(
        self,
        name: str,
        area: str,
        make: Callable[[Random], str],
        *templates: str,
        passwords: bool = False,
    ) -> None:
        """Adds a way in which values look, in places where any value, or any password, may stand."""
        names = [name for name in self.names if is_password(name) or not passwords]

        def write(rng: Random) -> str:
            text = rng.choice(templates or self.assignments)
            filled = fill(rng, text.replace("⟨v⟩", "⟪t⟫"), variable=rng.choice(names))
            return filled.replace("⟪t⟫", mark(make(rng)))

        self.kinds.append(Kind(name, area, write))


def mark(secret: str) -> str:
    return f"{OPEN}{secret}{CLOSE}"


def mark_lines(body: str) -> str:
    """Marks each line of a private key's body."""
    return "\n".join(f"{LINE_OPEN}{line}{LINE_CLOSE}" for line in body.splitlines())


def token(rng: Random, *forms: str) -> str:
    """A token of one of the forms; what is in front of ⟨|⟩, or of the first field, is public."""
    form = rng.choice(forms)
    start = form.find("⟨|⟩") if "⟨|⟩" in form else form.index("⟨")
    return fill(rng, form[:start]) + mark(fill(rng, form[start:].removeprefix("⟨|⟩")))


# --- what templates are filled with --------------------------------------------------------------

ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "a": string.ascii_letters,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": string.ascii_lowercase + string.digits,
    "lo": string.ascii_lowercase,
    "u": string.ascii_uppercase + string.digits,
    "up": string.ascii_uppercase,
    "d": string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "bu": string.ascii_letters + string.digits + "-_",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b32": string.ascii_uppercase + "234567",
    "bech": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
}

WORDS = """
amber anchor autumn badger basil beacon birch bishop bottle breeze bridge bronze cactus candle
canyon carpet castle cedar cherry cobalt copper coral cotton cricket crystal dagger daisy desert
dolphin dragon eagle ember engine falcon feather fiddle forest fossil galaxy garlic ginger glacier
goblin granite harbor hazel heron hollow honey island ivory jacket jasmine jungle kettle ladder
lantern lemon lilac lizard magnet maple marble meadow mirror monsoon mosaic nectar needle nickel
ocean olive onion orbit orchid otter oyster paddle pebble pepper pigeon planet pocket prairie puzzle
quartz rabbit raven ribbon river rocket saddle salmon shadow silver spruce stable sunset tablet
thistle thunder timber tulip tunnel turtle umbrella velvet violet walnut whisper willow window
winter yellow zephyr
""".split()

# Words of wallet seed phrases, from the standard English list.
SEED_WORDS = """
abandon ability absorb acoustic adapt advice agent album alien amateur analyst ankle antenna arctic
arrange aspect atom august avocado balcony bargain behave benefit bicycle blossom bracket bubble
buffalo burden cabbage canvas capable carbon casino census cereal chimney citizen clarify climb
cluster coconut column comfort congress coyote cradle cricket crouch curtain cushion decade defense
denial derive dilemma divorce dolphin dumb eager ecology elbow elegant embody endorse enough episode
erosion estate exhibit fabric famous fatigue fiscal fitness flavor foam fragile frozen fury galaxy
garment gesture giraffe glimpse goddess gorilla grocery habit hamster harvest hedgehog hockey humble
hybrid identify illness impulse inject invest ivory jaguar jewel jungle kangaroo kidney ladder
laundry lecture liberty lobster lunar mandate marble measure mention misery mobile muffin mystery
narrow neglect nominee oblige obtain october olympic orphan oxygen paddle panther patrol pelican
phrase pioneer plunge popular predict punch pyramid quantum rabbit raccoon rebuild regret resist
retreat rhythm ritual salmon satoshi scatter sheriff skeleton slogan sorrow spatial squeeze stumble
sunset surge tattoo theory tobacco tornado trumpet tunnel umbrella unveil vacuum venture vibrant
vintage voyage walnut weasel whisper wrestle yellow zebra
""".split()

FILLERS: dict[str, tuple[str, ...]] = {
    "user": (
        "admin",
        "deploy",
        "app",
        "svc_orders",
        "root",
        "alice",
        "jenkins",
        "reporting",
        "ci-bot",
    ),
    "host": (
        "db.internal",
        "10.0.3.17",
        "pg-primary.prod.svc.cluster.local",
        "db-7.eu-west-1.rds.amazonaws.com",
        "mail.corp.example",
        "cache01",
        "staging.shop.example",
        "localhost",
        "192.168.4.20",
    ),
    "domain": ("shop.example", "corp.example", "git.corp.example", "api.acme.dev", "acme.io"),
    "db": ("orders", "app_production", "shop", "analytics", "users", "billing"),
    "service": (
        "api",
        "worker",
        "web",
        "billing",
        "auth-service",
        "ingest",
        "scheduler",
        "postgres",
    ),
    "file": (
        "config.py",
        "src/settings.ts",
        "deploy/prod.env",
        ".env.local",
        "app/main.go",
        "conf/app.yml",
    ),
    "mail": ("ops@corp.example", "alice@shop.example", "no-reply@acme.io"),
    "ip": ("10.1.2.3", "172.18.0.4", "203.0.113.9", "198.51.100.77"),
    "level": ("INFO", "DEBUG", "WARN", "ERROR"),
    "region": ("eu-west-1", "us-east-1", "ap-southeast-2"),
    "env": ("prod", "staging", "dev", "live", "qa"),
    "cr": ("\r",),
}


def chars(rng: Random, alphabet: str, least: int, most: int | None = None) -> str:
    return "".join(rng.choices(alphabet, k=rng.randint(least, most or least)))


def time_of(rng: Random) -> str:
    return f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"


def date_of(rng: Random) -> str:
    return f"20{rng.randint(24, 26)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def random_uuid(rng: Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def fill(rng: Random, template: str, *, variable: str = "", values: str = "quoted") -> str:
    """Replaces the fields of a template."""
    names = name_styles(variable) if variable else {}

    def replacement(found: re.Match[str]) -> str:
        key, _, option = found[1].partition(":")
        if key == "v":
            return mark(secret_value(rng, option or values, is_password(variable)))
        if key in names:
            return names[key]
        if key in ALPHABETS:
            least, _, most = option.partition("-")
            return chars(rng, ALPHABETS[key], int(least), int(most or least))
        if key in FILLERS:
            return rng.choice(FILLERS[key])
        if key == "n":
            least, _, most = option.partition("-")
            return str(rng.randint(int(least or 1), int(most or 65535)))
        made: dict[str, Callable[[Random], str]] = {
            "uuid": random_uuid,
            "date": date_of,
            "time": time_of,
            "jwt": jwt,
            "word": lambda rng: rng.choice(WORDS),
        }
        if key in made:
            return made[key](rng)
        if key == "t":
            return "⟪t⟫"
        raise ValueError(f"unknown field ⟨{found[1]}⟩")

    return FIELD.sub(replacement, template)


def is_password(name: str) -> bool:
    """Whether people choose the value of this variable, as far as its name says; else a machine does."""
    return not name or re.search(r"pass|pwd|pw$|psk|pre_shared", name) is not None


def name_styles(name: str) -> dict[str, str]:
    """A variable's name in the spellings of languages and formats."""
    words = [word for word in re.split(r"[^A-Za-z0-9]+", name) if word]
    if name.upper() == name:
        words = [word.lower() for word in words]
    first, *rest = words
    camel = first[:1].lower() + first[1:] + "".join(word.capitalize() for word in rest)
    lower = [word.lower() for word in words]
    return {
        "name": "_".join(lower),
        "NAME": "_".join(lower).upper(),
        "camel": camel,
        "Pascal": camel[:1].upper() + camel[1:],
        "kebab": "-".join(lower),
        "dotted": ".".join(lower),
        "Kebab": "-".join(word.capitalize() for word in lower),
        "words": " ".join(lower),
    }


def jwt(rng: Random) -> str:
    def part(value: object) -> str:
        return base64_url(json.dumps(value, separators=(",", ":")).encode())

    header = part({"alg": rng.choice(("HS256", "RS256", "ES256")), "typ": "JWT"})
    claims: dict[str, object] = {
        "sub": str(rng.randint(1, 10**9)),
        "iat": rng.randint(17 * 10**8, 18 * 10**8),
    }
    for name in rng.sample(("iss", "aud", "role", "email", "scope", "jti"), rng.randint(0, 4)):
        claims[name] = chars(rng, ALPHABETS["l"], 6, 24)
    signature = chars(rng, ALPHABETS["bu"], rng.choice((43, 86, 342)))
    return f"{header}.{part(claims)}.{signature}"


def base64_url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


# --- values without a form -----------------------------------------------------------------------

# Which characters other than letters and digits fit in a place.
SYMBOLS = {
    "quoted": "-_.+/=@!~%^*#&,:;?()[]{}|",
    "word": "-_.+/=@!~%^*#&,;?",
    "bare": "-_.+/=@!~",
    "url": "-._~!*",
    "plain": "-_.",
}


def secret_value(rng: Random, place: str, password: bool = True) -> str:
    """A random secret that may stand in a place; people choose passwords, machines make the rest."""
    if place == "token":
        return machine_made(rng)
    styles: list[tuple[int, Callable[[Random, str], str]]] = [
        (40, strong),
        (20, lambda rng, _: with_digit(rng, ALPHABETS["an"], 16, 64)),
        (8, lambda rng, _: chars(rng, ALPHABETS["h"], rng.choice((32, 40, 64)))),
        (8, base64_value),
        (8, passphrase if password else strong),
        (6, short if password else strong),
        (3, with_xxx),
        (2, leading_slash),
        (2, non_ascii if password else strong),
        (3, very_long),
    ]
    make = rng.choices([style for _, style in styles], [weight for weight, _ in styles])[0]
    return make(rng, place)


def machine_made(rng: Random) -> str:
    """A session's id, an access token: letters and digits that no person typed."""
    alphabet = ALPHABETS[rng.choice(("an", "an", "bu", "h", "l"))]
    return with_digit(rng, alphabet, *rng.choice(((20, 32), (32, 64), (64, 200), (500, 1500))))


def with_digit(rng: Random, alphabet: str, least: int, most: int) -> str:
    """Begins with a letter, ends with a letter or digit, and has a digit."""
    size = rng.randint(least, most)
    middle = list(chars(rng, alphabet, size - 2))
    middle[rng.randrange(len(middle))] = rng.choice(string.digits)
    return rng.choice(string.ascii_letters) + "".join(middle) + rng.choice(ALPHABETS["an"])


def strong(rng: Random, place: str) -> str:
    return with_digit(rng, ALPHABETS["an"] * 2 + SYMBOLS[place], 12, 40)


def short(rng: Random, place: str) -> str:
    return with_digit(rng, ALPHABETS["an"] * 2 + SYMBOLS[place], 8, 10)


def base64_value(rng: Random, place: str) -> str:
    if place in ("url", "plain"):
        return with_digit(rng, ALPHABETS["bu"], 24, 64)
    size = rng.choice((16, 24, 32, 48, 64))
    missing = -size % 3
    return chars(rng, ALPHABETS["b"], (size * 8 + 5) // 6) + "=" * missing


def passphrase(rng: Random, place: str) -> str:
    separators = "-_." + (" " if place == "quoted" else "")
    words = rng.sample(WORDS, rng.randint(4, 6))
    if rng.random() < 0.5:
        words = [word.capitalize() for word in words]
    if rng.random() < 0.4:
        words.append(str(rng.randint(2, 99)))
    return rng.choice(separators).join(words)


def with_xxx(rng: Random, place: str) -> str:
    value = with_digit(rng, ALPHABETS["an"] + SYMBOLS[place], 14, 30)
    at = rng.randint(2, len(value) - 2)
    return value[:at] + rng.choice(("xxx", "XXX", "xxxx")) + value[at:]


def leading_slash(rng: Random, place: str) -> str:
    if place in ("url", "plain"):
        return strong(rng, place)
    return "/" + with_digit(rng, ALPHABETS["b"], 19, 42)


def non_ascii(rng: Random, place: str) -> str:
    if place in ("url", "plain"):
        return strong(rng, place)
    return with_digit(rng, ALPHABETS["an"] + "äöüßéñçåøłжщя漢字パス" * 2, 12, 24)


def very_long(rng: Random, place: str) -> str:
    return with_digit(
        rng, ALPHABETS["an"] * 4 + SYMBOLS["plain"] + ("" if place == "url" else "_"), 500, 3000
    )


def weak(rng: Random) -> str:
    """A password as people choose it."""
    word = rng.choice(
        (*WORDS, "admin", "welcome", "summer", "winter", "liverpool", "qwerty", "letmein")
    )
    tail = rng.choice(
        (
            f"{rng.randint(0, 999)}",
            f"{rng.randint(1960, 2026)}",
            "123",
            "1!",
            "!",
            f"@{rng.randint(1, 99)}",
        )
    )
    return rng.choice((word, word.capitalize())) + tail


# --- private keys --------------------------------------------------------------------------------


def base64_lines(rng: Random, size: int, width: int = 64, start: str = "") -> str:
    text = start + chars(rng, ALPHABETS["b"], size - len(start))
    text += "=" * (-len(text) % 4)
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


# Type of PEM block, first characters of its body, sizes of its body.
PEM_TYPES = (
    ("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA", (1588, 3180)),
    ("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", (1624, 3240)),
    ("EC PRIVATE KEY", "MHcCAQEEI", (164, 216)),
    ("PRIVATE KEY", "MC4CAQAwBQYDK2VwBCIEI", (64, 64)),
    ("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkq", (1764, 1764)),
    ("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAA", (360, 2540)),
    ("DSA PRIVATE KEY", "MIIBuwIBAAKBgQ", (600, 900)),
)


def pem(rng: Random, width: int | None = None) -> str:
    """A private key in PEM, with its body's lines marked."""
    name, start, sizes = rng.choice(PEM_TYPES)
    size = rng.choice(sizes)
    default = 70 if name.startswith("OPENSSH") else 64
    body = base64_lines(rng, size, width or default, start)
    return f"-----BEGIN {name}-----\n{mark_lines(body)}\n-----END {name}-----"


def each_line(text: str, template: str, joint: str = "\n") -> str:
    """Puts each line into a template with {}."""
    return joint.join(template.replace("{}", line) for line in text.split("\n"))


def prefix_lines(rng: Random, template: str, text: str) -> str:
    """Puts each line at ⟪line⟫ of a template; ⟪i⟫ is its number, ⟪ms⟫ a part of its time."""
    filled = fill(rng, template)
    number, ms = rng.randint(1, 400), rng.randint(0, 300)
    lines = []
    for line in text.split("\n"):
        shown = filled.replace("⟪i⟫", str(number)).replace("⟪i6⟫", f"{number:6}")
        lines.append(shown.replace("⟪ms⟫", f"{ms:03}").replace("⟪line⟫", line))
        number, ms = number + 1, min(ms + rng.randint(0, 3), 999)
    return "\n".join(lines)


# --- samples -------------------------------------------------------------------------------------


def load(half: str) -> Half:
    loaded: Half = importlib.import_module(f"benchmarks.secrets_{half}").half
    return loaded


def samples(half: str, seed: int, per_kind: int) -> Iterator[tuple[Kind, Sample]]:
    """Texts with secrets, the same ones for the same seed."""
    words = load(half)
    for kind in words.kinds:
        for index in range(per_kind):
            rng = Random(f"{seed}:{kind.name}:{index}")
            yield kind, unmark(wrap(rng, words, kind, kind.write(rng)))


def wrap(rng: Random, words: Half, kind: Kind, written: Written) -> Written:
    """Some texts get a prefix at every line, some come as the payload of a hook."""
    if isinstance(written, dict):
        return written
    if kind.wrapped and words.prefixes and rng.random() < 0.25:
        written = rng.choice(words.prefixes)(rng, written)
    return payload(rng, written) if rng.random() < 0.3 else written


def unmark(written: Written) -> Sample:
    if isinstance(written, str):
        shown = written
        text = MARKED.sub(secret_of, written)
    else:
        shown = "\n".join(strings(written))
        text = json.dumps(stripped(written), ensure_ascii=False)
    secrets = tuple(
        Secret(found["value"], PIECE) if found["value"] else Secret(found["line"], LINE_PIECE)
        for found in MARKED.finditer(shown)
        if found["value"] or found["line"]
    )
    return Sample(text, secrets, MARKED.sub("\0", shown), payload=isinstance(written, dict))


def secret_of(found: re.Match[str]) -> str:
    return found["value"] or found["line"] or ""


def stripped(value: Any) -> Any:
    match value:
        case str():
            return MARKED.sub(secret_of, value)
        case list():
            return [stripped(item) for item in value]
        case dict():
            return {key: stripped(item) for key, item in value.items()}
    return value


def strings(value: Any) -> Iterator[str]:
    """All strings in a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            for key, item in value.items():
                yield key
                yield from strings(item)


# --- payloads of hooks ---------------------------------------------------------------------------


def payload(rng: Random, text: str) -> dict[str, Any]:
    """A hook's payload that shows the text, as Claude Code writes it."""
    shapes = (bash_payload, read_payload, write_payload, edit_payload, prompt_payload)
    return rng.choice(shapes)(rng, text)


def envelope(rng: Random, event: str, **fields: Any) -> dict[str, Any]:
    session = random_uuid(rng)
    return {
        "session_id": session,
        "transcript_path": f"/home/dev/.claude/projects/-home-dev-shop/{session}.jsonl",
        "cwd": "/home/dev/shop",
        "prompt_id": random_uuid(rng),
        "permission_mode": "default",
        "hook_event_name": event,
        **fields,
    }


def tool_payload(rng: Random, tool: str, given: Any, response: Any) -> dict[str, Any]:
    return envelope(
        rng,
        "PostToolUse",
        tool_name=tool,
        tool_input=given,
        tool_response=response,
        tool_use_id=f"toolu_{chars(rng, ALPHABETS['h'], 24)}",
        duration_ms=rng.randint(3, 900),
    )


def bash_payload(rng: Random, text: str) -> dict[str, Any]:
    command = rng.choice(
        ("make deploy", "cat notes.txt", "docker compose up", "git diff", "./run.sh")
    )
    output = "stderr" if rng.random() < 0.2 else "stdout"
    response: dict[str, Any] = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False}
    return tool_payload(
        rng, "Bash", {"command": command, "description": "Run it"}, {**response, output: text}
    )


def read_payload(rng: Random, text: str) -> dict[str, Any]:
    path = f"/home/dev/shop/{rng.choice(FILLERS['file'])}"
    count = text.count("\n") + 1
    file = {
        "filePath": path,
        "content": text,
        "numLines": count,
        "startLine": 1,
        "totalLines": count,
    }
    return tool_payload(rng, "Read", {"file_path": path}, {"type": "text", "file": file})


def write_payload(rng: Random, text: str) -> dict[str, Any]:
    path = f"/home/dev/shop/{rng.choice(FILLERS['file'])}"
    response: dict[str, Any] = {
        "type": "create",
        "filePath": path,
        "content": text,
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    return tool_payload(rng, "Write", {"file_path": path, "content": text}, response)


def edit_payload(rng: Random, text: str) -> dict[str, Any]:
    path = f"/home/dev/shop/{rng.choice(FILLERS['file'])}"
    lines = text.split("\n")
    before, after = "# settings", "# end"
    removed = rng.random() < 0.2  # the secret is in what the edit takes away
    old, new = (text, "# removed") if removed else ("# placeholder", text)
    sign = "-" if removed else "+"
    patch: dict[str, Any] = {
        "oldStart": rng.randint(1, 80),
        "oldLines": (len(lines) if removed else 1) + 2,
        "newStart": rng.randint(1, 80),
        "newLines": (1 if removed else len(lines)) + 2,
        "lines": [
            f" {before}",
            *(["-# placeholder"] if not removed else []),
            *(f"{sign}{line}" for line in lines),
            *(["+# removed"] if removed else []),
            f" {after}",
        ],
    }
    return tool_payload(
        rng,
        "Edit",
        {"file_path": path, "old_string": old, "new_string": new, "replace_all": False},
        {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": f"{before}\n{old}\n{after}\n",
            "structuredPatch": [patch],
            "userModified": False,
            "replaceAll": False,
        },
    )


def prompt_payload(rng: Random, text: str) -> dict[str, Any]:
    request = rng.choice(("Why does this fail?", "Please look at this:", "Here is what I get:"))
    return envelope(rng, "UserPromptSubmit", prompt=f"{request}\n\n{text}")
