# SPDX-License-Identifier: Apache-2.0
"""A JOB of several attempts: which one is answered. And its folders, into which no command writes by accident."""

import json

import pytest
from job_command import RANKS, rank_trace
from opscope_command import answer, run

import opscope

pytest.importorskip("duckdb")


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    paths = [tmp_path / f"rank{rank}.json" for rank in range(RANKS)]
    for rank, path in enumerate(paths):
        path.write_text(json.dumps(rank_trace(rank, slow=2)))
    return paths


def test_attempts_are_answered_one_at_a_time(tmp_path, files):
    second = tmp_path / "attempt-1"
    second.mkdir()
    for rank in range(2):
        (second / f"rank{rank}.json").write_text(json.dumps(rank_trace(rank, size=2, shift_us=9_000_000)))
    run("collect", *files, second, "-o", tmp_path / "job")
    last = answer("ranks", tmp_path / "job")
    assert (last["attempt"], last["attempts"], last["world_size"]) == (1, [0, 1], 2)
    assert [p["kind"] for p in last["problems"]] == ["several_attempts"]
    assert answer("ranks", tmp_path / "job", "--attempt", 0)["world_size"] == RANKS
    assert "no attempt 7" in run("ranks", tmp_path / "job", "--attempt", 7, code=1).stderr
    question = "SELECT DISTINCT attempt, rank FROM steps ORDER BY 1, 2"
    first, later = [[0, rank] for rank in range(RANKS)], [[1, 0], [1, 1]]
    assert answer("query", tmp_path / "job", question)["rows"] == later
    assert answer("query", tmp_path / "job", question, "--attempt", 0)["rows"] == first
    assert len(opscope.job(tmp_path / "job").sql(question)) == len(later)
    assert "no attempt 7; there are: 0, 1" in run("query", tmp_path / "job", question, "--attempt", 7, code=1).stderr
    assert "--attempt" in run("query", tmp_path / "job", question, "--attempt", "x", code=2).stderr
    of_python = opscope.job(tmp_path / "job", attempt=1).sql("SELECT DISTINCT rank FROM spans ORDER BY 1")
    assert list(of_python) == [{"rank": 0}, {"rank": 1}]
    assert {row["rank"] for row in answer("steps", tmp_path / "job", "--attempt", 0)["rows"]} == set(range(RANKS))
    hint = "opscope: the JOB has the attempts 0, 1; this is the answer of attempt 1, and --attempt chooses another\n"
    verbs = [[name] for name in ("summary", "steps", "devices", "advise", "info")]
    for verb in (*verbs, ["query", "SELECT 1"], ["merge", "-o", tmp_path / "all.opscope"]):
        assert run(verb[0], tmp_path / "job", *verb[1:], code=None).stderr.count(hint) == 1, verb
        assert hint not in run(verb[0], tmp_path / "job", *verb[1:], "--attempt", 0, code=None).stderr, verb


def test_a_query_finds_the_last_attempt_of_a_job_without_stored_traces(tmp_path, files):
    """As of a program that writes the tables alone."""
    second = tmp_path / "attempt-1" / "rank0.json"
    second.parent.mkdir()
    second.write_text(json.dumps(rank_trace(0, shift_us=9_000_000)))
    run("collect", *files, second, "-o", tmp_path / "job")
    for manifest in (tmp_path / "job" / "_opscope" / "parts").glob("*.json"):
        content = json.loads(manifest.read_text())
        content["files"] = [file for file in content["files"] if file["table"] != "traces"]
        manifest.write_text(json.dumps(content))
    question = "SELECT DISTINCT attempt, rank FROM steps ORDER BY 1, 2"
    assert answer("query", tmp_path / "job", question, code=3)["rows"] == [[1, 0]]
    assert answer("query", tmp_path / "job", question, "--attempt", 0)["rows"] == [[0, rank] for rank in range(RANKS)]
    assert "no attempt 7; there are: 0, 1" in run("query", tmp_path / "job", question, "--attempt", 7, code=1).stderr


def test_no_output_replaces_a_part_of_the_job(tmp_path, files):
    job = tmp_path / "job"
    run("collect", *files, "-o", job)
    (trace, *_) = job.glob("traces/attempt=0/rank=0/*.opscope")
    before = trace.read_bytes()
    for output in (trace, job / "traces" / ".." / "steps" / "new.json", job / "_opscope" / "x.opscope"):
        said = run("merge", job, "-o", output, code=2).stderr
        assert f"{output} lies in the folders of the JOB {job}" in said
    assert not (job / "_opscope" / "x.opscope").exists()
    tables = sorted(path.name for path in job.iterdir())
    for folder in (job, job / "steps", job / "steps" / "new"):
        said = run("export", job, "--to", "parquet", "-o", folder, code=2).stderr
        assert f"{folder} lies in the folders of the JOB {job}" in said
    assert sorted(path.name for path in job.iterdir()) == tables
    assert trace.read_bytes() == before
    run("merge", job, "-o", job / "whole.opscope", "-q")  # beside them it is no part
