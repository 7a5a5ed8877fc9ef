"""The whole API, driven from its own description: whatever is sent, nothing fails inside."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok

from aforesaid.paths import Paths
from aforesaid.web import openapi, stream
from aforesaid.web.app import all_endpoints
from tests.support.examples import examples
from tests.support.web import HOST, Answer, Site, ask, headers, site
from tests.support.web_content import NAME, fill

pytestmark = pytest.mark.slow

AnyCase = Case[Any]
QUIET = settings(
    examples(6),  # for each operation and each way
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
KNOWN = {
    "id": ("1", "2", "session-0"),
    "name": (NAME,),
    "key": ("brief.tokens", "nope"),
}


@pytest.fixture
def web(home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("AFORESAID_WEB_DELETE_SECONDS", "0")
    with site(home) as found:
        fill(found, tmp_path)
        yield found


def send(web: Site, case: AnyCase, known: str | None, *, real: bool) -> Answer:
    """Through the whole application, as it would come over the network. `known`: something that is there, in
    the path; `real`: and a project."""
    told = case.as_transport_kwargs(base_url=f"http://{HOST}")
    path = str(told["url"]).removeprefix(f"http://{HOST}")
    if known is not None:
        for value in case.path_parameters.values():
            path = path.replace(f"/{quote(str(value), safe='')}", f"/{known}", 1)
    params = dict(told.get("params") or {})
    if real and "project" in params:
        params["project"] = 1
    if params:
        path += "?" + urlencode(params, doseq=True, errors="replace")
    data = json.dumps(told["json"]).encode() if "json" in told else told.get("data") or b""
    data = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
    sent = headers(content_length=str(len(data)))
    answer = asyncio.run(ask(web.app, case.method, path, sent, data))
    if case.method != "GET":
        web.ingest()
    return answer


def faults(document: dict[str, Any], case: AnyCase, answer: Answer) -> str | None:
    operation = document["paths"][case.path][case.method.lower()]
    said = operation["responses"].get(str(answer.status))
    if answer.status >= 500 or said is None:
        return f"{case.method} {case.path}: {answer.status} {answer.body[:200]!r}"
    if answer.status < 300:
        shape = said["content"]["application/json"]["schema"]
        if wrong := next(Draft202012Validator(shape).iter_errors(answer.json), None):
            return f"{case.method} {case.path}: {wrong.message[:200]} at {list(wrong.path)}"
    return None


def test_whatever_is_sent_nothing_fails_inside(web: Site) -> None:
    """T50: generated requests to every route."""
    document = openapi.document(all_endpoints())
    counted: Counter[str] = Counter()
    found: set[str] = set()
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            cases = operation.as_strategy(generation_mode=mode)
            names = [
                value for name in KNOWN if f"{{{name}}}" in operation.path for value in KNOWN[name]
            ]
            known = st.sampled_from([None, *names])

            @QUIET
            @given(case=cases, one=known, real=st.booleans())
            def drive(case: AnyCase, one: str | None, real: bool) -> None:
                answer = send(web, case, one, real=real)
                counted[str(answer.status)] += 1
                if wrong := faults(document, case, answer):
                    found.add(wrong)

            drive()
    sys.stdout.write(f"{counted.total()} cases: {dict(sorted(counted.items()))}\n")
    assert found == set()


def test_the_description_is_valid_openapi() -> None:
    document = openapi.document((*all_endpoints(), stream.ENDPOINT))
    schemathesis.openapi.from_dict(document).validate()
    names = []
    for path, operations in document["paths"].items():
        for operation in operations.values():
            names.append(operation["operationId"])
            placed = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"]
            assert all(f"{{{name}}}" in path for name in placed)
            assert path.count("{") == len(placed)
            for status, answer in operation["responses"].items():
                if "$ref" in answer:
                    answer = document["components"]["responses"][status]  # noqa: PLW2901
                for content in answer["content"].values():
                    Draft202012Validator.check_schema(content["schema"])
    assert len(names) == len(set(names))


def test_every_row_says_what_it_does_and_what_it_answers() -> None:
    for row in all_endpoints():
        assert row.summary.endswith("."), row.path
        assert row.response is not None, row.path
        for parameter in (*row.in_path, *row.query, *row.body):
            assert parameter.about, (row.path, parameter.name)


def test_the_description_is_served(web: Site) -> None:
    assert web.get("/openapi.json")["openapi"] == "3.1.0"
