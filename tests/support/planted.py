"""Secrets that are planted: made at run time from parts, of alphabets and a seed of their own, and not by
the rules' own samples. No line here looks like a live key."""

import base64
import json
import string
from dataclasses import dataclass
from random import Random

LOWER_HEX, WORD = "0123456789abcdef", string.ascii_letters + string.digits
BASE64 = WORD + "+/"


@dataclass(frozen=True, slots=True)
class Planted:
    """`secret` must not be found anywhere afterwards; `text` is how it is met."""

    kind: str
    secret: str
    text: str


def planted(count: int = 100, seed: int = 60) -> list[Planted]:
    """Every kind at least once, in turn."""
    random = Random(seed)
    made = [kind(random) for _ in range(count // len(KINDS) + 1) for kind in KINDS]
    return made[:count]


def _of(random: Random, alphabet: str, length: int) -> str:
    """With a digit and letters of both cases, where the alphabet has them: real ones do."""
    while True:
        value = "".join(random.choices(alphabet, k=length))
        if any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
            return value


def _prefixed(kind: str, prefix: str, alphabet: str, length: int, how: str = "{}"):  # type: ignore[no-untyped-def]
    def make(random: Random) -> Planted:
        secret = prefix + _of(random, alphabet, length)
        return Planted(kind, secret, how.format(secret))

    return make


def _password(random: Random) -> str:
    return _of(random, WORD, 9) + random.choice("!#%*+?") + _of(random, WORD, 3)


def _context(kind: str, how: str):  # type: ignore[no-untyped-def]
    def make(random: Random) -> Planted:
        secret = _password(random)
        return Planted(kind, secret, how.format(secret))

    return make


def _jwt(random: Random) -> Planted:
    def part(value: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = part({"sub": _of(random, WORD, 12), "iss": "https://id.example.org"})
    token = ".".join((part({"alg": "HS256", "typ": "JWT"}), claims, _of(random, WORD + "-_", 43)))
    return Planted("jwt", token, f"the session token was {token} in the reply")


def _pem(label: str):  # type: ignore[no-untyped-def]
    def make(random: Random) -> Planted:
        lines = [_of(random, BASE64, 64) for _ in range(12)]
        edge = "-" * 5
        body = "\n".join(lines)
        whole = f"{edge}BEGIN {label}{edge}\n{body}\n{_of(random, BASE64, 22)}==\n{edge}END {label}{edge}"
        return Planted(label.lower(), lines[5], f"$ cat key\n{whole}\ndone")

    return make


def _hash(random: Random) -> Planted:
    secret = "$2y$10$" + _of(random, WORD + "./", 53)
    return Planted("bcrypt", secret, f"admin:{secret}:0:0")


def _discord(random: Random) -> Planted:
    secret = ".".join(("O" + _of(random, WORD, 25), _of(random, WORD, 6), _of(random, WORD, 38)))
    return Planted("discord", secret, f"client.run('{secret}')")


def _twilio(random: Random) -> Planted:
    secret = _of(random, LOWER_HEX, 32)
    return Planted("twilio auth", secret, f"TWILIO_AUTH_TOKEN={secret}")


def _aws_secret(random: Random) -> Planted:
    secret = _of(random, BASE64, 40)
    return Planted("aws secret", secret, f"aws_secret_access_key = {secret}")


def _azure(random: Random) -> Planted:
    secret = _of(random, BASE64, 86) + "=="
    text = (
        f"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={secret};EndpointSuffix=core"
    )
    return Planted("azure storage", secret, text)


KINDS = (
    _prefixed("aws", "AK" + "IA", string.ascii_uppercase + "234567", 16, "key id {} is in use"),
    _aws_secret,
    _prefixed("google api", "AI" + "za", WORD + "_-", 35, "maps?v=3&x={}"),
    _prefixed("google oauth", "ya" + "29.", WORD + "_-", 120, "access: {}"),
    _azure,
    _prefixed("github", "gh" + "p_", WORD, 36, "remote: https://{}@github.com/a/b"),
    _prefixed("github app", "gh" + "s_", WORD, 36, "echo {} | login"),
    _prefixed("github fine", "github" + "_pat_", WORD + "_", 82, "GH={}"),
    _prefixed("gitlab", "gl" + "pat-", WORD + "_-", 20, "PRIVATE-TOKEN: {}"),
    _prefixed("slack bot", "xo" + "xb-", string.digits + "-" + WORD, 50, "slack says {}"),
    _prefixed("slack webhook", "T0", WORD, 40, "https://hooks." + "slack.com/services/{}"),
    _prefixed("stripe", "sk" + "_live_", WORD, 24, "stripe.api = {}"),
    _prefixed("stripe webhook", "wh" + "sec_", WORD, 32, "signing {}"),
    _twilio,
    _prefixed("twilio key", "S" + "K", LOWER_HEX, 32, "sid {}"),
    _prefixed("npm", "np" + "m_", WORD, 36, "//registry.example.org/:_authToken={}"),
    _prefixed("pypi", "pypi-" + "AgE", WORD + "_-", 160, "twine -p {}"),
    _prefixed("docker", "dckr" + "_pat_", WORD + "_-", 27, "docker login with {}"),
    _prefixed("huggingface", "h" + "f_", WORD, 34, "hub {}"),
    _prefixed("openai", "sk-" + "proj-", WORD + "_-", 120, "the key {} works"),
    _prefixed("anthropic", "sk-" + "ant-api03-", WORD + "_-", 93, "x: {}"),
    _prefixed(
        "telegram", "".join(("73", "5501", "92")) + ":A" + "A", WORD + "_-", 33, "bot{}/getMe"
    ),
    _discord,
    _prefixed("databricks", "da" + "pi", LOWER_HEX, 32, "host with {}"),
    _prefixed("digitalocean", "dop" + "_v1_", LOWER_HEX, 64, "doctl auth init -t {}"),
    _prefixed("shopify", "shp" + "at_", LOWER_HEX, 32, "X-Shopify-Access-Token: {}"),
    _prefixed("square", "sq0" + "csp-", WORD + "_-", 43, "square {}"),
    _prefixed("mailgun", "ke" + "y-", LOWER_HEX, 32, "api:{}"),
    _jwt,
    _pem("RSA PRIVATE" + " KEY"),
    _pem("OPENSSH PRIVATE" + " KEY"),
    _pem("PGP PRIVATE" + " KEY BLOCK"),
    _hash,
    _context("url", "psql postgres://app:{}@db.internal:5432/shop"),
    _prefixed("basic header", "", BASE64, 28, "> Authorization: Basic {}"),
    _prefixed("bearer header", "", WORD + "-._", 48, "curl -H 'Authorization: Bearer {}'"),
    _prefixed("cookie", "", WORD, 40, "< Set-Cookie: session={}; HttpOnly; Path=/"),
    _context("shell variable", "export DB_PASSWORD={}"),
    _context("json password", '{{"user": "shop", "password": "{}"}}'),
    _context("yaml password", "  password: {}"),
    _context("option", "mysqldump --password={} shop"),
    _context("curl user", "curl -u deploy:{} https://repo.example.org/"),
    _context("connection string", "Server=db;Database=shop;User Id=sa;Password={};"),
    _context("said", "By the way, the password for the staging box is {} and nobody knows"),
    _prefixed("secret key", "", WORD, 50, "SECRET_KEY = '{}'"),
    _prefixed("sendgrid", "SG." + "aB3dE6gH9jK2mN5pQ8sT1v" + ".", WORD + "_-", 43, "mail via {}"),
)
