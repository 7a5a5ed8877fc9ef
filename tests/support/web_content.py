"""A small memory, made through the API itself: two projects, three sessions, observations, memories."""

from pathlib import Path

from tests.support.web import Site

NAME = "no-friday-deploys"
MEMORY = "We never deploy on Fridays, because nobody is there on Saturday."


def fill(web: Site, folder: Path) -> None:
    for number in range(3):
        project = folder / f"project-{number % 2}"
        project.mkdir(exist_ok=True)
        work(web, f"session-{number}", project, f"Add greeting {number} to hello.py")
    answer = web.ask("POST", "/api/memories?project=1", {"text": MEMORY, "name": NAME})
    assert answer.status < 300, answer.body


def work(web: Site, session: str, project: Path, prompt: str) -> None:
    """A turn as an agent without hooks tells it, written down."""
    file, text = str(project / "hello.py"), f"def greet():\n    return {prompt!r}\n"
    name = f"/sessions/{session}"
    told = [
        ("init", {"project": str(project), "prompt": prompt}),
        (
            "observations",
            {
                "tool_name": "Write",
                "tool_input": {"file_path": file, "content": text},
                "tool_response": {"type": "create", "filePath": file, "content": text},
            },
        ),
        ("observations", {"tool_name": "Bash", "tool_input": {"command": "pytest"}}),
        ("summarize", {"last_message": f"Added it to {file}. Next: call it."}),
    ]
    for what, body in told:
        answer = web.ask("POST", f"{name}/{what}", body)
        assert answer.status == 202, answer.body
    web.ingest()
    web.work()
