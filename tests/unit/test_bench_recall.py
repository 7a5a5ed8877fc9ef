"""Tiny runs of the recall and search benchmarks, through the real store."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from aforesaid.errors import AforesaidError, install_command
from aforesaid.model.records import ObservationRecord
from aforesaid.recall.rank import Weights
from benchmarks.__main__ import bench
from benchmarks.recall import prompts, run, tuning
from benchmarks.recall.loading import Loaded, unseen
from benchmarks.recall.sets import DataSet, Memory, Question, session_block, turn_record
from benchmarks.search import run as search_run
from benchmarks.search.synthetic import Text

SAID = (
    ("Ann", "I bought a red kite at the market."),
    ("Bo", "My sailing boat needs new varnish."),
    ("Ann", "The harbour festival starts in the evening."),
    ("Bo", "We ate grilled mackerel and lemon cake."),
    ("Ann", "The library lends telescopes now."),
    ("Bo", "A telescope showed us the rings of Saturn."),
)
AT = 1_700_000_000_000


@pytest.fixture
def data() -> DataSet:
    turns = [
        turn_record(f"s{number // 3}", f"t{number}", AT + number * 1000, text, (speaker,))
        for number, (speaker, text) in enumerate(SAID)
    ]
    sessions = tuple(session_block("talk", f"s{n}", AT, turns[n * 3 : n * 3 + 3]) for n in (0, 1))
    questions = (
        Question("q1", "Who bought a kite?", "one", ("t0",), AT + 60_000),
        Question("q2", "What was seen through the telescopes?", "two", ("t4", "t5"), AT + 60_000),
    )
    return DataSet("talk", (Memory("talk", sessions, questions),))


@pytest.mark.parametrize("encoder", ["none", "static"])
def test_questions_go_through_the_real_search(data: DataSet, encoder: str) -> None:
    made = run.measure(data, unseen, encoder=encoder)
    assert made.figures().all == 100.0
    assert made.results[0].found[0] == "t0"
    assert made.items == 6
    assert made.results[0].hits[0].reasons


def test_the_baseline_finds_words_and_nothing_else(data: DataSet) -> None:
    made = run.measure(data, unseen, plain=True)
    assert made.results[0].found == ("t0",)
    assert set(made.results[1].found) == {"t4", "t5"}


def test_counting_again_gives_what_the_search_gave() -> None:
    data = run.read("coding").half("report").first(30)
    made = run.measure(data, unseen, encoder="static", half="all")
    assert tuning.evaluate(data, Weights(), "static") == made.figures()
    others = tuning.evaluate(data, Weights(words=0.0, session=0.0, meaning=-1.0), "static")
    assert others.mean < made.figures().mean


def test_what_was_missed_is_explained(data: DataSet) -> None:
    memory = data.memories[0]
    wrong = Question("q3", "Who bought a kite?", "one", ("t3",), AT + 60_000)
    asked = DataSet("talk", (Memory("talk", memory.sessions, (wrong,)),))
    told = "\n".join(run.explained(run.measure(asked, unseen, encoder="none")))
    assert "missing: t3" in told
    assert "words +1.00" in told


def test_precision_of_what_a_prompt_is_told() -> None:
    data = run.read("coding").half("report")

    def first_ones(known: Loaded, *_: object) -> prompts.Choose:
        by_name = {name: key for (_, key), name in known.names.items()}
        return lambda prompt, project: [by_name[name] for name in prompt.relevant[:1]]

    made = prompts.run(data, "none", first_ones, unseen)
    assert made.told
    assert all(told.right == len(told.names) for told in made.told)
    cells = {row[0]: row[1] for row in made.table("Told").rows}
    assert "(100 %)" in cells["… that are relevant (precision)"]
    assert "(100 %)" in cells["prompts that needed none and got none"]


def test_made_up_text_is_the_same_every_time_and_shaped_like_ours() -> None:
    first, again = (
        [
            record
            for sessions, _ in Text(3).blocks(100, 50)
            for block in sessions
            for record in block
        ]
        for _ in range(2)
    )
    assert first == again
    told = [record for record in first if isinstance(record, ObservationRecord)]
    assert len(told) == 100
    assert all(40 <= len((record.narrative or "").split()) <= 153 for record in told)
    assert 3 <= len(Text(3).query(told[0])) <= 5


def test_a_small_search_benchmark_runs() -> None:
    found = search_run.measure(150, "static", 6, unseen)
    assert len(found.probe.bare) == len(found.probe.everywhere) == len(found.probe.in_project) > 0
    assert found.probe.found > 0
    assert found.bytes > 0
    times, costs = search_run.tables([found])
    assert times.rows[0][0] == "150 observations: bare FTS5"
    assert costs.rows[0][0] == "150"


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    line = {
        "session": "s",
        "project": "p",
        "started": "2026-01-01T00:00:00Z",
        "observations": [{"id": "o", "at": "2026-01-01T00:01:00Z", "title": "Kites fly"}],
    }
    asked = {"id": "q", "question": "kites", "answers": ["o"], "asked": "2026-02-01T00:00:00Z"}
    file = tmp_path / "own.jsonl"
    file.write_text(f"{json.dumps(line)}\n{json.dumps(asked)}\n")
    command = ["recall", "--data", str(file), "--encoder", "none"]
    shown = CliRunner().invoke(bench, command)
    assert "Recall on own, words only" in shown.output
    found = json.loads(CliRunner().invoke(bench, [*command, "--json"]).output)
    assert found["tables"][0]["rows"][-1] == ["all", "1", "100.0", "100.0", "100.0"]


def test_a_missing_encoder_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    done = CliRunner().invoke(bench, ["recall", "--encoder", "minilm", "--limit-questions", "1"])
    assert isinstance(done.exception, AforesaidError)
    assert install_command("minilm") in str(done.exception)
    assert "NDCG" not in done.output


def test_options_for_questions_are_refused_with_prompts() -> None:
    done = CliRunner().invoke(bench, ["recall", "--prompts", "--plain"])
    assert done.exit_code == 2
    assert "--plain" in done.output
