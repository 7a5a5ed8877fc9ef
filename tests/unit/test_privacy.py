"""The redactor as a whole: marks, known values, guarded files, payloads, rules of the user's own."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import settings
from aforesaid.agents.registry import FIELDS
from aforesaid.errors import ConfigError
from aforesaid.memory.changes import Memories
from aforesaid.memory.folders import find_places
from aforesaid.model.memories import Memory
from aforesaid.model.requests import Reply, Request, Unavailable, Usage
from aforesaid.paths import Paths
from aforesaid.privacy import files, marking, own_rules, payloads
from aforesaid.privacy.files import Guarded
from aforesaid.privacy.redactor import Redactor
from aforesaid.privacy.rules import expand
from aforesaid.providers.base import RedactingModel
from aforesaid.worker.spool import set_aside
from tests.support.planted import planted
from tests.support.tables import loop_over

SECRET = expand("ghp_{A36}")
OTHER = SECRET[:4] + SECRET[:3:-1]


@pytest.fixture
def redactor(home: Paths) -> Redactor:
    return replace(
        settings.build_redactor(home, settings.load(home.config_file, {}), {}), fields=FIELDS
    )


def test_equal_secrets_have_equal_marks_and_others_have_others(
    redactor: Redactor, home: Paths
) -> None:
    first, same, other = (redactor.text(f"x {s}") for s in (SECRET, SECRET, OTHER))
    assert first == same != other
    assert first.startswith("x [secret:github:")
    assert home.redaction_key.stat().st_mode & 0o777 == 0o600
    again = settings.build_redactor(home, settings.load(home.config_file, {}), {})
    assert again.text(f"x {SECRET}") == first


def test_another_key_makes_other_marks() -> None:
    one = Redactor(marking.keyed(lambda: b"1" * 32)).text(SECRET)
    assert one != Redactor(marking.keyed(lambda: b"2" * 32)).text(SECRET)


def test_no_key_is_made_before_there_is_a_secret(redactor: Redactor, home: Paths) -> None:
    assert redactor.text("nothing to see") == "nothing to see"
    assert not home.redaction_key.exists()


def test_a_damaged_key_is_replaced(home: Paths) -> None:
    home.redaction_key.write_bytes(b"short")
    assert len(marking.key_in(home.redaction_key)) == marking.SIZE
    assert marking.key_in(home.redaction_key) == marking.key_in(home.redaction_key)


@given(
    st.lists(
        st.sampled_from([*(p.text for p in planted(46)), "words", "\n", "<private>", "</private>"])
    )
)
def test_to_redact_twice_changes_nothing(parts: list[str]) -> None:
    once = Redactor(marking.keyed(lambda: b"k" * 32)).text(" ".join(parts))
    assert Redactor(marking.keyed(lambda: b"k" * 32)).text(once) == once


@given(st.text())
def test_any_text_can_be_redacted(text: str) -> None:
    assert isinstance(Redactor().text(text), str)


@given(st.binary())
def test_any_bytes_can_be_redacted(data: bytes) -> None:
    assert isinstance(payloads.redacted(Redactor(), data), bytes)


FRAGMENTS = st.sampled_from(
    (
        *(each.text for each in planted()),
        *(
            "password",
            "token=",
            " is ",
            "-u me:",
            "--pass",
            "Bearer ",
            "login x ",
            "\\n",
            "\n",
            " ",
        ),
        *(
            SECRET[4:16],
            SECRET[4:34],
            ".env:1:",
            "+++ b/.env\n",
            "+x",
            "://a:",
            "@b",
            "'",
            '"',
            "<private>",
        ),
    )
)
PARTS = st.lists(FRAGMENTS, max_size=4).map("".join)


@given(
    st.recursive(PARTS, lambda part: st.lists(part) | st.dictionaries(PARTS, part), max_leaves=6)
)
def test_one_look_at_a_whole_payload_misses_nothing_that_a_look_at_each_part_finds(
    payload: object,
) -> None:
    redactor = Redactor(values=own_rules.find_secrets({"API_TOKEN": SECRET[4:]}))
    shown = payloads.value(redactor, payload)
    assert payloads.change_texts(shown, redactor.text) == shown


def test_a_pattern_of_ones_own_may_say_where_a_text_begins() -> None:
    redactor = Redactor(own=own_rules.compiled(["^blue[0-9]{4}$"]))
    assert "blue1234" not in str(payloads.value(redactor, {"a": "x", "b": ["blue1234"]}))


def test_what_ends_a_sentence_is_no_part_of_a_secret() -> None:
    assert Redactor().text(f"The key was {SECRET}.") == "The key was [secret:github]."


@loop_over(
    ("text", "kept"),
    [
        ("MYSQL_ROOT_PASSWORD: seahorse", False),
        ("DB_PASSWORD='two words here'", False),
        ("PASSWORD=letmeinn", False),
        ("password=letmein", False),
        ("password: hunter2", False),
        ("login(password=letmein)", True),
        ("password = password", True),
        ("password: required", True),
        ('PASSWORD = "The password is wrong"', True),
        ("PASSWORD: str = read()", True),
    ],
)
def test_what_a_shell_or_a_list_of_variables_assigns_may_be_plain_words(
    text: str, kept: bool
) -> None:
    text = expand(text)
    assert (Redactor().text(text) == text) is kept


def test_a_payload_without_a_secret_keeps_its_bytes() -> None:
    body = b'{"b" : [1, 2.50], "a":"\\u00e9 \xc3\xa9"}\n'
    assert payloads.redacted(Redactor(), body) is body


def test_only_texts_of_a_payload_change() -> None:
    event = {"n": 1.5, "flag": True, "none": None, "list": [1, SECRET], SECRET: {"deep": [SECRET]}}
    shown = payloads.value(Redactor(fields=FIELDS), event)
    mark = "[secret:github]"
    assert shown == {
        "n": 1.5,
        "flag": True,
        "none": None,
        "list": [1, mark],
        mark: {"deep": [mark]},
    }


def test_values_of_telling_variables_are_known_word_for_word() -> None:
    value = "".join(("horse", "-7/", 'q"', "staple"))
    env = {
        "SHOP_TOKEN": value,
        "EDITOR": "not-a-secret-1",
        "A_KEY": "short",
        "B_KEY": "/etc/ssl/key.bin",
    }
    redactor = Redactor(values=own_rules.find_secrets(env))
    assert redactor.text(f"<{value}>") == "<[secret:environment]>"
    assert value not in redactor.text(json.dumps({"x": value}))
    assert "staple" not in redactor.text("https://a/?q=horse-7%2Fq%22staple")
    assert (
        redactor.text("not-a-secret-1 short /etc/ssl/key.bin")
        == "not-a-secret-1 short /etc/ssl/key.bin"
    )
    assert Redactor(values=own_rules.find_secrets(env, ["SHOP_TOKEN"])).text(value) == value


@loop_over(
    "value", ["true", "password", "12345678901", "https://a.example.org/x", "a,b,c-d", "~/keys/x1"]
)
def test_a_value_that_tells_nothing_is_no_secret(value: str) -> None:
    assert not own_rules.is_literal_secret(value)


@loop_over(
    ("path", "holds"),
    [
        *(
            (p, True)
            for p in (
                "/a/.env",
                ".env.local",
                "prod.env",
                "/h/.ssh/id_ed25519",
                "k.pem",
                "/h/.netrc",
            )
        ),
        *(
            (p, True)
            for p in (
                "/h/.aws/credentials",
                "/h/.kube/config",
                "C:\\x\\.env",
                ".npmrc",
                "secrets.yaml",
            )
        ),
        *(
            (p, False)
            for p in (
                ".env.example",
                "id_rsa.pub",
                "src/env.py",
                "credentials.py",
                "keys.md",
                "a.key.ts",
            )
        ),
        ("config/prod.yml", True),
        ("other/prod.yml", False),
    ],
)
def test_files_are_guarded_by_their_names(path: str, holds: bool) -> None:
    assert Guarded(("config/prod.yml",)).holds(path) is holds


def test_of_a_guarded_file_only_the_path_is_kept() -> None:
    event = {
        "tool_input": {"file_path": "/a/.env", "content": "COLOUR=mauve"},
        "tool_response": {"filePath": "/a/.env", "structuredPatch": [{"lines": ["+COLOUR=mauve"]}]},
    }
    shown = payloads.value(Redactor(fields=FIELDS), event)
    assert "mauve" not in json.dumps(shown)
    assert shown["tool_input"]["file_path"] == "/a/.env"


@pytest.mark.parametrize(
    "command", ["cat .env", "cat > prod.env <<EOF\nCOLOUR=mauve\nEOF", "head -3 ~/.ssh/id_rsa"]
)
def test_a_command_that_names_a_guarded_file_keeps_its_first_line(command: str) -> None:
    event = {"tool_input": {"command": command}, "tool_response": {"stdout": "COLOUR=mauve"}}
    shown = payloads.value(Redactor(fields=FIELDS), event)
    assert "mauve" not in json.dumps(shown)
    assert shown["tool_input"]["command"].startswith(command.partition("\n")[0])


def test_grep_and_diffs_do_not_show_guarded_files() -> None:
    text = "src/a.py:1:mauve\nconf/.env:3:COLOUR=mauve\n"
    assert Redactor().text(text) == f"src/a.py:1:mauve\nconf/.env:3:{files.MARK}\n"
    hunk = "index 1..2\n+++ b/.env\n@@ -1 +1 @@\n+COLOUR=mauve"
    diff = f"diff --git a/.env b/.env\n{hunk}\ndiff --git a/b b/b\n+mauve"
    shown = Redactor().text(diff)
    assert "COLOUR" not in shown
    assert shown.endswith("diff --git a/b b/b\n+mauve")


def test_a_guarded_file_is_known_in_any_letter_case() -> None:
    text = "src/A.py:1:mauve\nconf/.ENV:3:COLOUR=mauve\nCredentials.JSON:1:mauve .env .env\n"
    kept = f"src/A.py:1:mauve\nconf/.ENV:3:{files.MARK}\nCredentials.JSON:1:{files.MARK}\n"
    assert Redactor().text(text) == kept
    assert Redactor().text(kept) == kept
    # Its lower case is longer than it is: places must not shift.
    assert Redactor().text(f"İ {text}").endswith(kept[18:])
    assert Redactor().text(".ENV:1:" + "mauve " * 500) == f".ENV:1:{files.MARK}"


def test_a_pattern_of_ones_own_is_replaced_like_any_other() -> None:
    redactor = Redactor(own=own_rules.compiled(["ACME-[A-Z]{4,8}"]))
    assert redactor.text("the ACME-WXYZ one") == "the [secret:own] one"


@loop_over(
    ("pattern", "why"),
    [
        ("(a+)+b", "no end"),
        (r"\w*x", "no end"),
        ("(a{1,9}){1,9}b", "within another"),
        ("(?:a|ab){1,50}c", "alternative"),
        (r"(a)\1", "refers back"),
        (r"\w{0,100}\w{0,100}x", "too many ways"),
        ("[", "no regular expression"),
        ("a{0,3}", "matches nothing at all"),
        ("x" * 600, "characters"),
    ],
)
def test_a_pattern_that_could_take_long_is_refused_with_the_reason(pattern: str, why: str) -> None:
    """T61: the user's own rules as well."""
    with pytest.raises(ConfigError, match=why):
        own_rules.compiled([pattern])


def test_a_wrong_pattern_in_the_settings_is_named(home: Paths) -> None:
    home.config_file.write_text('[privacy]\npatterns = ["(a+)+"]\n')
    with pytest.raises(ConfigError, match=r"privacy\.patterns"):
        settings.load(home.config_file, {})


def test_a_file_that_is_set_aside_loses_its_secrets_and_no_other_byte(tmp_path: Path) -> None:
    sound, telling = tmp_path / "sound", tmp_path / "telling"
    sound.write_bytes(b"\xff\x00 cut off {")
    telling.write_bytes(b'{"x": "a\\n' + SECRET.encode() + b'", "cut')
    set_aside(Redactor(), sound, tmp_path / "a")
    set_aside(Redactor(), telling, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == b"\xff\x00 cut off {"
    assert SECRET.encode() not in (tmp_path / "b").read_bytes()
    assert not sound.exists()
    assert not telling.exists()


@pytest.mark.parametrize("hidden", [SECRET, "<private>mulberry</private>"])
def test_a_file_too_large_for_memory_is_gone_through_in_pieces(
    hidden: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aforesaid.worker.spool.WHOLE", 1000)
    monkeypatch.setattr("aforesaid.worker.spool.PART", 256)
    monkeypatch.setattr("aforesaid.worker.spool.OVERLAP", 128)
    file = tmp_path / "large"
    file.write_text("some words " * 60 + hidden + " more words" * 60)
    set_aside(Redactor(), file, tmp_path / "aside")
    shown = (tmp_path / "aside").read_text()
    assert SECRET not in shown
    assert "mulberry" not in shown


def test_a_memory_written_by_hand_keeps_its_bytes_and_is_told_without_the_secret(
    home: Paths, tmp_path: Path
) -> None:
    found = find_places(home, str(tmp_path), settings.load(home.config_file, {}))
    memories = Memories(found, redactor=Redactor())
    with memories.change("made") as change:
        change.write(Memory("vpn", "About the VPN", "project", "Use it."))
    file = memories.all().memories[0].path
    text = file.read_text().replace("Use it.", f"Its key is {SECRET}.")
    file.write_text(text.replace("About the VPN", f"The VPN, {SECRET}"))
    stored = memories.get("vpn")
    assert stored is not None
    assert "[secret:github]" in stored.memory.body
    with memories.change("pinned") as change:
        change.write(replace(stored.memory, pinned=True), expected=stored.checksum)
    assert file.read_text().count(SECRET) == 2
    assert SECRET not in file.with_name("MEMORY.md").read_text()
    with memories.change("said") as change:
        change.write(Memory("ci", "About CI", "project", f"Its key is {OTHER}."))
    assert OTHER not in "".join(path.read_text() for path in file.parent.glob("*.md"))


class Echo:
    name, model, longest_seconds = "echo", "echo-1", 1.0

    def __init__(self, answer: Reply | Unavailable) -> None:
        self.asked: list[Request] = []
        self._answer = answer

    def ask(self, request: Request) -> Reply | Unavailable:
        self.asked.append(request)
        return self._answer

    def close(self) -> None: ...


def test_a_model_is_told_no_secret_and_its_words_are_searched_for_some() -> None:
    reply = Reply(f"It is {SECRET}", "echo-1", Usage(1, 0, 0, 1))
    within = Echo(reply)
    answer = RedactingModel(within, Redactor()).ask(
        Request("be brief", (), f"what is {SECRET}?", 10)
    )
    assert within.asked[0].message == "what is [secret:github]?"
    assert isinstance(answer, Reply)
    assert answer.text == "It is [secret:github]"


def test_the_error_of_a_server_that_quotes_the_key_is_not_kept() -> None:
    within = Echo(
        Unavailable(f"Incorrect API key: {SECRET}", Reply(SECRET, "m", Usage(1, 0, 0, 1)))
    )
    answer = RedactingModel(within, Redactor()).ask(Request("", (), "hello", 10))
    assert SECRET not in repr(answer)


KEY = "\n".join(
    (
        "-----BEGIN RSA PRIVATE " + "KEY-----",
        *(expand("{B64}")[n:] + expand("{B64}")[:n] for n in range(5)),
        "-----END RSA PRIVATE " + "KEY-----",
    )
)
LINES = KEY.splitlines()


@loop_over(
    "wrap",
    [
        lambda line: f"    {line}",
        lambda line: f"+{line}",
        lambda line: f"# {line}",
        lambda line: f" * {line}",
        lambda line: f"web-1  | {line}",
        lambda line: f"2026-11-18T01:02:03.456Z {line}",
        lambda line: f"Nov 18 01:02:03 host app[12]: {line}",
        lambda line: f"E   {line}",
        lambda line: f"src/a.py:12:{line}",
        lambda line: f"    12→{line}",
        lambda line: f'"{line}\\n" +',
        lambda line: f"'{line}' .",
        lambda line: f"> {line}",
    ],
)
def test_a_private_key_is_one_block_in_whatever_it_is_quoted(wrap: Callable[[str], str]) -> None:
    wrapped = list(map(wrap, LINES))
    for part in (wrapped, wrapped[:-2], wrapped[2:]):  # also if its head or foot is cut off
        shown = Redactor().text("before\n" + "\n".join(part) + "\nafter")
        assert not [line for line in LINES[2:-2] if line in shown]
        assert shown.startswith("before\n")


def test_a_private_key_in_a_patch_is_replaced_in_every_line() -> None:
    event = {
        "tool_input": {"old_string": LINES[3], "new_string": "x"},
        "tool_response": {
            "structuredPatch": [{"lines": [" a", *(f"+{line}" for line in LINES), " z"]}]
        },
    }
    shown = payloads.value(Redactor(fields=FIELDS), event)
    assert not [line for line in LINES[1:-1] if line in json.dumps(shown)]
    lines = shown["tool_response"]["structuredPatch"][0]["lines"]
    assert (len(lines), lines[0], lines[-1]) == (len(LINES) + 2, " a", " z")


def test_what_is_secret_in_one_text_of_a_payload_is_replaced_in_the_others() -> None:
    value = expand("{A14}")
    event = {"old": f"x {value} y", "new": f"DB_PASSWORD={value}", "list": [value]}
    assert value not in json.dumps(payloads.value(Redactor(fields=FIELDS), event))
    assert value not in json.dumps(
        payloads.value(Redactor(), {"password": value, "said": f"it: {value}"})
    )


@loop_over(
    "text",
    [
        "smtp_pass: {}",
        "dbPassword = '{}'",
        '{{\\"apiKey\\": \\"{}\\"}}',
        '<add key="Password" value="{}"/>',
        "<key>Password</key>\n  <string>{}</string>",
        "- name: DB_PASSWORD\n  value: {}",
        "getenv('DB_PASSWORD') ?: '{}'",
        'process.env.API_TOKEN || "{}"',
        'cfg.setPassword("{}")',
        "set -x DB_PASSWORD {}",
        "ENV DB_PASSWORD {}",
        "docker run -e DB_PASSWORD={} app",
        "Server=a;User Id=b;Password={};Encrypt=true",
        "psql 'host=a password={} dbname=b'",
        "curl -H 'X-Api-Key: {}' https://a.example.org",
        "smbclient //a/b -U me%{}",
        'name="password"\n\n{}\n--b',
        "user=a&password={}&x=1",
        "user%3Da%26password%3D{}%26x%3D1",
        "&quot;password&quot;: &quot;{}&quot;",
        'p\\u0061ssword = "{}"',
        'pass\u200bword = "{}"',
        "ghp: the password is {}.",
        "| password | {} |",
        "machine a\n  login b\n  password {}",
    ],
)
def test_a_name_is_known_in_any_syntax(text: str) -> None:
    value = expand("{A14}")
    assert value not in Redactor().text(text.replace("{}", value))


@loop_over(
    "value",
    [
        *(
            "<your-token>",
            "changeme",
            "${VAR}",
            "$(cmd)",
            "{{ x }}",
            "os.environ['X']",
            "None",
            "null",
            "true",
        ),
        *(
            "str",
            "get_password()",
            "self.password",
            "********",
            "xxxxxxxx",
            "your-token-here",
            "/etc/app/key.pem",
        ),
    ],
)
def test_placeholders_references_and_types_are_no_secrets(value: str) -> None:
    for text in (f"password: {value}", f"API_KEY={value}", f'"token": "{value}"'):
        assert Redactor().text(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("kubectl attach token to q7Zt2Lw9Xb4Kd8Rm3Vc6Jh5Yn1 please", False),
        ("q7Zt2Lw9Xb4Kd8Rm3Vc6Jh5Yn1 (deploy token of staging)", False),
        ("the api key we got: see 3fa91c07be52d8463fa91c07be52d846", False),
        ('Client("AC{h32}", "99a7bd30a30a0332828a31981cf4a9f9")', False),
        ('new ethers.Wallet("0x{h64}")', False),
        ('let password = String::from("kX9#mP2$vL");', False),
        ("ALTER USER bob WITH PASSWORD 'correct-horse-battery-staple';", False),
        (
            "seed: abstract absorb abuse ability access abandon about able accident absurd above absent",
            False,
        ),
        ("opened with q7Zt2Lw9Xb4Kd8Rm3Vc6Jh5Yn1 yesterday", True),
        ('password = getpass("Enter the password: ")', True),
        ("a.py,sha256=glc_FZMyib4OhW7RQ42vav9er5-jeLUo8K4wfDaFsu8", True),
        ("token check in commit 3fa91c07be52d8463fa91c07be52d8463fa91c07", True),
        ("the password test\nq7Zt2Lw9Xb4Kd8Rm3Vc6Jh5Yn1", True),
        ("PASS: demangle.exp: _ZN3fooC4EiOS_iS0_iS0_", True),
    ],
)
def test_a_random_token_on_a_line_that_names_a_secret_is_redacted(text: str, kept: bool) -> None:
    text = expand(text)
    assert (Redactor().text(text) == text) is kept
