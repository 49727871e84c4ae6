# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a JOB reaches the answer of every verb that takes it, once, with the ranks that it concerns."""

import json
import os

import pytest
from job_command import RANKS, rank_trace
from opscope_command import answer, run

pytest.importorskip("duckdb")

MERGING = ("summary", "advise", "check", "diff", "info", "critical-path", "steps --where rank>=-1")
BY_TABLES = ("ranks", "stragglers", "steps", "devices", "memory", "summary --quantiles")


def write(path, rank, **changes):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rank_trace(rank, slow=2, **changes)))
    return path


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    return [write(tmp_path / "traces" / f"rank{rank}.json", rank) for rank in range(RANKS)]


@pytest.fixture(name="job")
def job_fixture(tmp_path, files):
    """Of four ranks, and a file without a rank."""
    trace = json.loads(files[0].read_text())
    del trace["distributedInfo"]
    unknown = tmp_path / "traces" / "unknown.json"
    unknown.write_text(json.dumps(trace))
    run("collect", *files, unknown, "-o", tmp_path / "job", code=3)
    return tmp_path / "job"


def command(verb, job, *more):
    """The arguments of a verb over the JOB that needs more than its name."""
    name, *options = verb.split()
    needed = {"diff": [job], "check": ["--max", "spans=1000"]}.get(name, [])
    return (name, job, *needed, *options, *more)


def without_duckdb(tmp_path):
    return {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}


def losses(told):
    return [(each["kind"], each["ranks"]) for each in told["problems"] if each["severity"] != "info"]


@pytest.mark.parametrize("verb", MERGING + BY_TABLES)
def test_a_file_without_a_rank_is_said_once_by_every_verb(job, verb):
    told = answer(*command(verb, job), code=3)
    assert losses(told) == [("rank_unknown", [-1])] * (2 if verb == "diff" else 1)
    assert told["quality"]["verdict"] == "doubtful"
    said = run(*command(verb, job), code=3).stderr
    assert said.count("neither the metadata nor the name of the file says its rank") == (2 if verb == "diff" else 1)


@pytest.mark.parametrize("verb", MERGING)
def test_verbs_that_merge_say_it_without_duckdb(tmp_path, job, verb):
    done = run(*command(verb, job, "--json"), code=3, env=without_duckdb(tmp_path))
    assert ("rank_unknown", [-1]) in losses(json.loads(done.stdout))


def test_outputs_of_a_job_end_with_its_exit_code(tmp_path, job):
    for verb, *options in (("export", "--to", "csv"), ("convert",), ("merge",), ("report",)):
        said = run(verb, job, *options, "-o", tmp_path / f"{verb}.out", code=3).stderr
        assert said.count("neither the metadata nor the name") == 1, verb
    told = answer("merge", job, "-o", tmp_path / "all.opscope", code=3)
    assert losses(told) == [("rank_unknown", [-1])]
    run("merge", job, "--ranks", "0,2", "-o", tmp_path / "some.opscope")  # the file is not chosen
    assert losses(answer("info", tmp_path / "all.opscope", code=3)) == [("rank_unknown", [-1])]


def test_one_file_without_a_rank_is_no_whole_job(tmp_path):
    trace = rank_trace(0)
    del trace["distributedInfo"]
    (tmp_path / "alone.json").write_text(json.dumps(trace))
    run("collect", tmp_path / "alone.json", "-o", tmp_path / "job", code=3)
    for verb in MERGING:
        assert ("rank_unknown", [-1]) in losses(answer(*command(verb, tmp_path / "job"), code=3)), verb
    run("export", tmp_path / "job", "--to", "csv", "-o", tmp_path / "out.csv", code=3)


def test_each_problem_has_ranks_and_a_file_has_none(tmp_path, files):
    files[1].write_text(files[1].read_text()[:-40])
    run("collect", files[0], files[1], files[3], "-o", tmp_path / "job", code=3)
    for verb in (*MERGING, *BY_TABLES):
        told = answer(*command(verb, tmp_path / "job"), code=3)
        assert all(isinstance(each["ranks"], list) for each in told["problems"]), verb
        expected = {("truncated", (1,)), ("rank_missing", (2,))}
        assert {(kind, tuple(ranks)) for kind, ranks in losses(told)} == expected, verb
    of_file = answer("summary", files[1], code=3)["problems"]
    assert of_file and all("ranks" not in each for each in of_file)
    merged = answer("merge", *files, "-o", tmp_path / "all.opscope", code=3)["problems"]
    assert merged and all("ranks" not in each for each in merged)


def test_what_only_the_name_of_a_file_says_is_known_after_compaction_and_without_duckdb(tmp_path, files):
    files[0].rename(tmp_path / "traces" / "rank_9.json")
    run("collect", tmp_path / "traces", "-o", tmp_path / "job")
    run("compact", tmp_path / "job")
    told = json.loads(run("summary", tmp_path / "job", "--json", env=without_duckdb(tmp_path)).stdout)
    assert [(each["kind"], each["ranks"]) for each in told["problems"]] == [("rank_disagrees", [0])]
    assert "the metadata say rank 0, the name of the file 9" in told["problems"][0]["message"]


def test_query_says_what_is_wrong_with_the_files_that_it_reads(tmp_path, files):
    files[1].write_text(files[1].read_text()[:-40])
    run("collect", *files, "-o", tmp_path / "job", "-q", code=3)
    told = answer("query", tmp_path / "job", "SELECT 1", code=3)
    assert (told["rows"], losses(told)) == ([[1]], [("truncated", [1])])
    assert told["quality"] == {"verdict": "doubtful", "reasons": ["problem truncated of rank 1"]}
    assert "rank1.json" in run("query", tmp_path / "job", "SELECT 1", code=3).stderr
    assert run("query", tmp_path / "job", "SELECT 1", "-q", code=3).stderr == ""


@pytest.mark.parametrize("verb", (*MERGING, *BY_TABLES, "query SELECT+1"))
def test_several_attempts_are_a_problem_of_every_answer(tmp_path, files, verb):
    again = [write(tmp_path / "attempt-1" / f"rank{rank}.json", rank, shift_us=9_000_000) for rank in range(RANKS)]
    run("collect", *files, *again, "-o", tmp_path / "job")
    told = answer(*(str(each).replace("+", " ") for each in command(verb, tmp_path / "job")))
    found = [each for each in told["problems"] if each["kind"] == "several_attempts"]
    assert [(each["severity"], each["ranks"]) for each in found] == [("info", [])] * (2 if verb == "diff" else 1)
    assert "this is the answer of attempt 1" in found[0]["message"]


TAKES_A_JOB = (
    *MERGING,
    *BY_TABLES,
    "collectives",
    "critical-ranks",
    "flame -o OUT.svg",
    "modules",
    "roofline",
    "query SELECT+1",
    "export --to csv -o OUT.csv",
    "convert -o OUT.opscope",
    "merge -o OUT.opscope",
    "report -o OUT.html",
    "reproduce -o OUT.py",
)


@pytest.mark.parametrize("verb", TAKES_A_JOB)
def test_an_unknown_attempt_and_a_newer_version_are_refused_by_every_verb(tmp_path, files, verb):
    job = tmp_path / "job"
    run("collect", *files, "-o", job)
    arguments = [str(each).replace("OUT", str(tmp_path / "out")).replace("+", " ") for each in command(verb, job)]
    assert "there is no attempt 7; there are: 0" in run(*arguments, "--attempt", 7, code=1).stderr
    head = job / "_opscope" / "job.json"
    head.write_text(head.read_text().replace('"version":1', '"version":2'))
    said = run(*arguments, code=1).stderr
    assert "it has version 2 of the format; this opscope reads version 1" in said
    assert not list(tmp_path.glob("out*"))
