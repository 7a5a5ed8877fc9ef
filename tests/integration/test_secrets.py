"""Secrets through every way in, with the real hooks and the real worker; afterwards nothing of them is
anywhere."""

import asyncio
import http.client
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from aforesaid.paths import Paths
from aforesaid.privacy.redactor import Redactor
from aforesaid.worker import rpc
from tests.support import claude_mem_databases
from tests.support.planted import Planted, planted
from tests.support.product import aforesaid, fire, settled, until, work
from tests.support.traces import traces
from tests.support.transcripts import Written

SESSION = "0b5f3c1e-0000-4000-8000-00000000000"
STAND_IN = "stands-in-for-the-secrets"
OWN = "".join(("Zq8", "-wT4", "_nB7", "xK2"))  # known by its variable alone
IN_DOTENV = "".join(("plain", "words", "of", "dotenv"))
PRIVATE = "".join(("nobody", "shall", "ever", "read", "this"))
KEY_LINES = [
    "".join(("MIIEowIBAAK", f"q{n}Zt2Lw9Xb4Kd8Rm", "3Vc6Jh5Yn1Ps0Gf" * 2)) for n in range(6)
]
PEM = "\n".join(
    ("-----BEGIN RSA PRIVATE " + "KEY-----", *KEY_LINES, "-----END RSA PRIVATE " + "KEY-----")
)
WRAPPED = "".join(("Vb7", "!qT2", "mXw9", "Zk4"))
# The same password in the syntaxes that it is met in.
WRAPPINGS = "\n\n".join(
    (
        f"smtp_pass: {WRAPPED}",
        f"<password>{WRAPPED}</password>",
        f"define('DB_PASSWORD', '{WRAPPED}');",
        f'os.environ.get("DB_PASSWORD", "{WRAPPED}")',
        f"CREATE USER app IDENTIFIED BY '{WRAPPED}';",
        f"web-1  | ansible_become_pass={WRAPPED}",
        f'{{\\\\\\"password\\\\\\": \\\\\\"{WRAPPED}\\\\\\"}}',
        f"sshpass -p '{WRAPPED}' ssh app",
        f"user%3Da%26password%3D{WRAPPED}%26x%3D1",
        "\n".join(f"web-1  | {line}" for line in PEM.splitlines()),
        PEM.replace("\n", "\\n"),
    )
)
ALWAYS = (WRAPPED, *KEY_LINES)
SAID = f"Look. <private>{PRIVATE}</private> Go on."


@pytest.fixture
def project(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AFORESAID_SYNTHESIS_PROVIDER", "rules")
    monkeypatch.setenv("SHOP_API_TOKEN", OWN)
    monkeypatch.setenv("AFORESAID_WEB_PORT", str(20_000 + os.getpid() % 10_000))
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def test_planted_secrets_leave_no_trace_whichever_way_they_come_in(
    home: Paths, project: Path, tmp_path: Path
) -> None:
    """T60, T62: a hundred of them, of at least 25 kinds, through every way in; then every byte is
    searched."""
    secrets = planted()
    every = "\n\n".join([*(each.text for each in secrets), WRAPPINGS, OWN, SAID])
    hooks(project, every, secrets)
    over_http(home, project, every)
    transcript(project, every)
    claude_mem(tmp_path, every)
    export(home, tmp_path, project, every)
    settled(home)
    remember(home, project, secrets)
    cut_off(home, every)
    settled(home)
    until(lambda: not any(home.spool_new.iterdir()))
    redactor = Redactor()
    known = [each for each in secrets if each.secret not in redactor.text(each.text)]
    found = traces(home.data, [*(each.secret for each in known), OWN, PRIVATE, IN_DOTENV, *ALWAYS])
    kinds = {each.kind for each in known}
    sys.stdout.write(
        f"\n{len(known)} of {len(secrets)} secrets, {len(kinds)} kinds; traces: {len(found)}\n"
    )
    assert len(known) >= 95
    assert len(kinds) >= 25
    assert found == []
    # The search would have found them: what is not secret is there.
    assert traces(home.data, ["Look.", "DefaultEndpointsProtocol"])
    rpc.stop(home)
    assert (
        traces(home.data, [*(each.secret for each in known), OWN, PRIVATE, IN_DOTENV, *ALWAYS])
        == []
    )


def hooks(project: Path, every: str, secrets: list[Planted]) -> None:
    """Prompt, tool input, tool output, error, path, last message; a guarded file; a compaction's wishes."""
    session = f"{SESSION}1"
    common = {"session_id": session, "prompt_id": "p1"}
    start = {"session_id": session, "source": "startup"}
    assert fire("SessionStart", start, project=project).returncode == 0
    fire("UserPromptSubmit", common | {"prompt": f"Remember that {every}"}, project=project)
    paths = [f"/srv/{each.secret}/app.py" for each in secrets if "/" not in each.secret]
    tools: list[dict[str, Any]] = [
        bash("a", "cat notes", every),
        bash("b", every, "done"),
        {
            "tool_name": "Write",
            "tool_use_id": "c",
            "tool_input": {"file_path": str(project / "a.py"), "content": every},
            "tool_response": {"type": "create", "content": every},
        },
        {
            "tool_name": "Read",
            "tool_use_id": "d",
            "tool_input": {"file_path": str(project / ".env")},
            "tool_response": {"type": "text", "file": {"content": IN_DOTENV, "numLines": 1}},
        },
        bash("e", "cat .env", IN_DOTENV),
        edit(str(project / "deploy.py")),
        {
            "tool_name": "mcp__db__query",
            "tool_use_id": "f",
            "tool_input": {"sql": every},
            "tool_response": [{"type": "text", "text": json.dumps({"rows": every})}],
        },
        {
            "tool_name": "Glob",
            "tool_use_id": "g",
            "tool_input": {"pattern": "*"},
            "tool_response": {"filenames": [path for path in paths if is_a_token(path)]},
        },
    ]
    for tool in tools:
        fire("PostToolUse", common | tool, project=project)
    failed = {"tool_name": "Bash", "tool_use_id": "h", "tool_input": {"command": "false"}}
    fire(
        "PostToolUseFailure", common | failed | {"error": f"Exit code 1\n{every}"}, project=project
    )
    fire(
        "PreCompact", common | {"trigger": "manual", "custom_instructions": every}, project=project
    )
    fire("Stop", common | {"last_assistant_message": every}, project=project)
    fire("SessionEnd", {"session_id": session, "reason": "other"}, project=project)


def is_a_token(path: str) -> bool:
    """A path has no words around it that would say what it holds."""
    return Redactor().text(path) != path


def edit(path: str) -> dict[str, Any]:
    """A key in a patch is a text per line."""
    lines = [" KEY = (", *(f"+{line}" for line in PEM.splitlines()), " )", f"+PASS='{WRAPPED}'"]
    return {
        "tool_name": "Edit",
        "tool_use_id": "i",
        "tool_input": {
            "file_path": path,
            "old_string": KEY_LINES[2],
            "new_string": PEM,
            "password": WRAPPED,
        },
        "tool_response": {
            "filePath": path,
            "structuredPatch": [{"oldStart": 1, "lines": lines}],
        },
    }


def bash(use: str, command: str, output: str) -> dict[str, Any]:
    return {
        "tool_name": "Bash",
        "tool_use_id": use,
        "tool_input": {"command": command},
        "tool_response": {"stdout": output, "stderr": output, "interrupted": False},
    }


def over_http(home: Paths, project: Path, every: str) -> None:
    opened = json.loads(aforesaid("open", "--json").stdout)
    link = http.client.HTTPConnection("127.0.0.1", opened["port"], timeout=30)
    headers = {
        "Authorization": f"Bearer {home.web_token.read_text().strip()}",
        "Content-Type": "application/json",
    }
    for path, body in (
        ("init", {"project": str(project), "prompt": every}),
        ("observations", {"tool_name": "Run", "tool_input": {"x": every}, "tool_response": every}),
        ("observations", {"tool_name": "Run", "tool_input": {}, "error": every}),
        ("summarize", {"last_message": every}),
    ):
        link.request("POST", f"/sessions/api-1/{path}", json.dumps(body), headers)
        answer = link.getresponse()
        assert answer.status == 202, answer.read()
        answer.read()
    link.close()


def transcript(project: Path, every: str) -> None:
    """A session that no hook told of, and one that hooks told of in part."""
    told = Written(session=f"{SESSION}2")
    told.prompt(every)
    told.call("toolu_1", command=every)
    told.result("toolu_1", every, {"stdout": every, "stderr": "", "interrupted": False})
    told.says(every)
    for line in told.lines:
        line["cwd"] = str(project)
    told.write(Path(os.environ["HOME"]) / ".claude" / "projects" / "shop")
    done = aforesaid("import", "claude-code", "--json")
    assert done.returncode == 0, done.stderr


def claude_mem(folder: Path, every: str) -> None:
    database = claude_mem_databases.current(folder / "claude-mem.db")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "UPDATE observations SET narrative = ?, facts = ?", (every, json.dumps([every]))
        )
        connection.execute("UPDATE user_prompts SET prompt_text = ?", (every,))
        connection.execute("UPDATE session_summaries SET learned = ?, notes = ?", (every, every))
        connection.execute("DELETE FROM observations WHERE id > 3")
        connection.execute("DELETE FROM user_prompts WHERE id > 3")
        connection.execute("DELETE FROM session_summaries WHERE id > 3")
        connection.commit()
    done = aforesaid("import", "claude-mem", str(database), "--json")
    assert done.returncode == 0, done.stderr


def export(home: Paths, folder: Path, project: Path, every: str) -> None:
    """Of a home where nothing was redacted: an export is a text, and somebody else may have written it."""
    elsewhere = {"AFORESAID_HOME": str(folder / "elsewhere")}
    file = folder / "export.jsonl"
    other = Paths.of(os.environ | elsewhere)
    for name, value in elsewhere.items():
        os.environ[name], before = value, os.environ[name]
    work(project, f"{SESSION}3", prompt=f"Please do {STAND_IN}")
    settled(other)
    assert aforesaid("remember", f"Always {STAND_IN}", cwd=project).returncode == 0
    assert aforesaid("export", "-o", str(file), cwd=project).returncode == 0
    rpc.stop(other)
    os.environ["AFORESAID_HOME"] = before
    text = file.read_text()
    assert STAND_IN in text
    file.write_text(text.replace(STAND_IN, json.dumps(every)[1:-1]))
    done = aforesaid("import", "file", str(file), "--json")
    assert done.returncode == 0, done.stderr


def remember(home: Paths, project: Path, secrets: list[Planted]) -> None:
    texts = [each.text for each in secrets]
    for part in (texts[:8], texts[8:16], [WRAPPINGS], [OWN, SAID]):
        done = aforesaid("remember", "Note: " + " ".join(part), cwd=project)
        assert done.returncode == 0, done.stderr

    async def talk() -> None:
        program = str(Path(sys.executable).with_name("aforesaid"))
        server = StdioServerParameters(
            command=program, args=["mcp"], env=dict(os.environ), cwd=str(project)
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            for part in (texts[16:32], [WRAPPINGS], [OWN, SAID]):
                await session.call_tool("remember", {"text": "Note: " + " ".join(part)})

    asyncio.run(talk())
    with closing(sqlite3.connect(home.database)) as connection:
        (newest,) = connection.execute("SELECT max(id) FROM visible_observations").fetchone()
    edited = aforesaid(
        "edit", str(newest), "--narrative", " ".join([*texts[32:48], WRAPPINGS]), cwd=project
    )
    assert edited.returncode == 0, edited.stderr


def cut_off(home: Paths, every: str) -> None:
    """A payload whose sender died, and one of an agent that nobody knows: set aside, without what is
    secret."""
    whole = json.dumps({"hook_event_name": "Stop", "last_assistant_message": every, "x": "y"})
    for name, head in (("cut-1", b"claude-code"), ("cut-2", b"nobody")):
        data = b"aforesaid/1 %s save /srv\0\n" % head + whole[:-8].encode()
        (home.spool_tmp / name).write_bytes(data)
        (home.spool_tmp / name).replace(home.spool_new / name)
    until(lambda: (home.spool_bad / "cut-1").exists() and (home.spool_bad / "cut-2").exists())


def test_of_a_payload_too_large_to_be_kept_whole_nothing_private_is_kept(
    home: Paths, project: Path
) -> None:
    """T62: split over chunks: the tag is in the part that is cut away, its words are in the part that is
    left."""
    size = 17 * 1024 * 1024
    output = "x " * (size // 4) + "<private>" + "y " * (size // 4) + PRIVATE
    event = {"session_id": f"{SESSION}4", "prompt_id": "p1"} | bash("a", "cat large", output)
    fire("PostToolUse", event, project=project)
    until(lambda: any(home.spool_bad.iterdir()))
    settled(home)
    assert traces(home.data, [PRIVATE]) == []
