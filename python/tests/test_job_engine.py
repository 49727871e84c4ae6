# SPDX-License-Identifier: Apache-2.0
"""--engine: a verb answers from the engine that it is given, or says why it does not. No Spark is started."""

import json

import pytest
from job_command import RANKS, rank_trace
from opscope_command import run

pytest.importorskip("duckdb")

READS_SPANS = "the spans of the ranks are read on this machine"


@pytest.fixture(name="files", scope="module")
def files_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    files = [folder / f"rank{rank}.json" for rank in range(RANKS)]
    for rank, path in enumerate(files):
        path.write_text(json.dumps(rank_trace(rank, slow=2)))
    return files


@pytest.fixture(name="job", scope="module")
def job_fixture(files):
    run("collect", *files, "-o", files[0].parent / "job")
    return files[0].parent / "job"


@pytest.mark.parametrize(
    ("verb", "options", "reason"),
    [
        ("summary", [], "Spark answers this verb with --quantiles only"),
        ("steps", ["--where", "duration > 0"], "not with --where, --steps, --time and --explain"),
        ("steps", ["--explain"], "not with --where, --steps, --time and --explain"),
        ("query", ["SELECT 1"], "a statement of Spark may read and write any file"),
        ("devices", [], READS_SPANS),
        ("memory", [], READS_SPANS),
        ("advise", [], READS_SPANS),
        ("check", ["--max", "spans=1"], READS_SPANS),
        ("diff", ["JOB"], READS_SPANS),
        ("info", [], READS_SPANS),
        ("critical-path", [], READS_SPANS),
        ("merge", ["-o", "OUT"], READS_SPANS),
        ("export", ["--to", "csv", "-o", "OUT"], READS_SPANS),
        ("report", ["-o", "OUT"], READS_SPANS),
    ],
)
def test_an_engine_that_would_not_answer_is_refused_with_the_reason(tmp_path, job, verb, options, reason):
    words = [{"JOB": job, "OUT": tmp_path / "out"}.get(option, option) for option in options]
    done = run(verb, job, *words, "--engine", "spark", "--master", "local[1]", code=2)
    assert done.stdout == ""
    assert done.stderr.startswith(f"opscope: {verb}: --engine spark: {reason}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["steps", "summary --quantiles"])
def test_spark_answers_over_one_job_alone(files, job, verb):
    name, *options = verb.split()
    said = run(name, files[0], *options, "--engine", "spark", code=2).stderr
    assert said == f"opscope: {name}: --engine spark: {files[0]} is not a folder of `opscope collect`\n"
    said = run(name, job, job, *options, "--engine", "spark", code=2).stderr
    assert said == f"opscope: {name}: --engine spark: it takes one folder of `opscope collect`\n"


@pytest.mark.parametrize(
    "verb", ["summary", "steps", "devices", "memory", "advise", "check --max spans=1000", "info", "query SELECT+1"]
)
def test_duckdb_may_be_named_and_an_address_of_spark_goes_with_spark(job, verb):
    name, *options = (word.replace("+", " ") for word in verb.split())
    plain = run(name, job, *options, "--json", code=None)
    named = run(name, job, *options, "--json", "--engine", "duckdb", code=None)
    assert plain.returncode in (0, 1)  # without memory and devices there is nothing to answer
    assert (named.returncode, named.stdout) == (plain.returncode, plain.stdout)
    said = run(name, job, *options, "--master", "local[1]", code=2).stderr
    assert said == f"opscope: {name}: --master goes with --engine spark\n"
