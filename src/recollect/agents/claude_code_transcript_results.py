"""A tool's result as the hook would have told it.

For most tools `toolUseResult` is the hook's `tool_response` to the letter. Four things differ, and are put
right here and nowhere else:

- A failed call has its error as the model saw it, between tags; the hook has it without.
- A sub-agent that the client put in the background against the model's wish has no wish in the hook's words.
- A call that the user stopped, or that the client did not live to finish, fires no hook. It is told as an
  interrupted failure, without the client's advice to the model on what to do next.
- Sub-agents, and older clients there, keep only the text that the model saw. The parts of it that the hook
  would have sent are taken out of that text again: what a file was before it changed is not among them.

The client shows the model only the beginning of a large output and keeps the rest beside the transcript;
where there is nothing but that text, the rest is read in. The hook itself gets 30,000 characters of it, and
so does whoever reads this where the client kept the hook's own words.
"""

import re
from pathlib import Path
from typing import Any

from recollect.agents.claude_code_transcript_lines import Json, text_of

STOPPED = "[Request interrupted by user for tool use]"
LOST = "[Tool call interrupted: the session ended before this call's result was recorded]"
DENIALS = {"user-rejected": STOPPED, "interrupted": LOST}
REJECTED = "User rejected tool use"
SAID = "the user said:"
LARGE_OUTPUT = 1_000_000  # bytes of one that lies beside the transcript
CUT = "\n[The output goes on; it was cut here.]"
NOTHING = ("(Bash completed with no output)", "Tool ran without output or errors")
WHOLE_FILE = 2_000  # lines that are read when nobody asks for fewer

_tagged = re.compile(r"\A<tool_use_error>(.*)</tool_use_error>\s*\Z", re.DOTALL)
_numbered = re.compile(r" *(\d+)(?:\t|→)(.*)\Z", re.DOTALL)
_reminder = re.compile(r"\n*<system-reminder>.*?</system-reminder>\s*\Z", re.DOTALL)
_saved = re.compile(r"\A<persisted-output>.*?saved to: ([^\n]+)", re.DOTALL)


def outcome(name: str, given: object, block: Json, entry: Json, folder: str) -> Json:
    """The fields of PostToolUse or of PostToolUseFailure. `folder` holds the session's large outputs."""
    text = text_in(block.get("content"))
    if why := _interruption(block, entry, text):
        return interrupted(text if SAID in text else why)
    if block.get("is_error"):
        tagged = _tagged.match(text)
        return {"error": tagged[1] if tagged else text, "is_interrupt": False}
    if (result := entry.get("toolUseResult")) is not None:
        return {"tool_response": result}
    return {"tool_response": _shaped(name, given, _whole(text, folder))}


def asked(given: object, fields: Json) -> object:
    """The hook's `tool_input`, of what the model gave."""
    response = fields.get("tool_response")
    sent_away = isinstance(response, dict) and response.get("isAsync")
    if sent_away and isinstance(given, dict) and given.get("run_in_background") is False:
        return {name: value for name, value in given.items() if name != "run_in_background"}
    return given


def interrupted(why: str) -> Json:
    return {"error": why, "is_interrupt": True}


def text_in(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(text_of(part, "text") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _interruption(block: Json, entry: Json, text: str) -> str:
    if not block.get("is_error"):
        return ""
    if why := DENIALS.get(text_of(entry, "toolDenialKind")):
        return why
    stopped = entry.get("toolUseResult") == REJECTED or text.startswith(STOPPED[:-1])
    return STOPPED if stopped else ""


def _shaped(name: str, given: object, text: str) -> Any:
    args = given if isinstance(given, dict) else {}
    match name:
        case "Bash" | "PowerShell":
            return {"stdout": "" if text in NOTHING else text, "stderr": "", "interrupted": False}
        case "Read":
            return _read(args, _reminder.sub("", text))
        case "Write":
            path, content = args.get("file_path"), args.get("content")
            if not text.startswith("File created"):
                return {"type": "update", "filePath": path, "content": content}
            created = {"type": "create", "filePath": path, "content": content}
            return created | {"structuredPatch": [], "originalFile": None}
        case "Edit":
            return {"filePath": args.get("file_path")}
        case _:
            return text


def _read(args: Json, text: str) -> Json:
    found = [_numbered.match(line) for line in text.split("\n")]
    read = [line for line in found if line]
    if len(read) < len(found):  # not a text file, or in a form of another client
        return {"type": "text", "file": {"filePath": args.get("file_path"), "content": text}}
    whole = len(read) < WHOLE_FILE and not ("offset" in args or "limit" in args)
    file = {
        "filePath": args.get("file_path"),
        "content": "\n".join(line[2] for line in read),
        "numLines": len(read),
        "startLine": int(read[0][1]),
    }
    return {"type": "text", "file": file | ({"totalLines": len(read)} if whole else {})}


def _whole(text: str, folder: str) -> str:
    """With the output that lies beside the transcript. Only the name of the file is believed: anything can
    print such a text, with any path."""
    saved = _saved.match(text)
    if not saved:
        return text
    try:
        with Path(folder, Path(saved[1].strip()).name).open("rb") as file:
            data = file.read(LARGE_OUTPUT + 1)
    except (OSError, ValueError):
        return text
    kept = data[:LARGE_OUTPUT].decode("utf-8", "replace")
    return kept + CUT if len(data) > LARGE_OUTPUT else kept
