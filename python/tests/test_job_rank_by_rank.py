# SPDX-License-Identifier: Apache-2.0
"""`devices`, `memory`, `summary` and `advise` over a JOB read one rank after the other. The oracle is the merge of all
ranks, which answers where there is no DuckDB."""

import json
import os
import random

import pytest
from opscope_command import answer, run
from random_windows import a_job, window

import opscope

pytest.importorskip("duckdb")


@pytest.mark.parametrize("seed", range(8))
def test_rank_after_rank_gives_the_rows_of_the_merged_ranks(tmp_path, seed):
    job = a_job(tmp_path, seed)
    no_duckdb = {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}
    rows = 0
    for question in (("devices",), ("memory",)):
        merged = json.loads(run(*question, job, "--json", code=3, env=no_duckdb).stdout)
        told = answer(*question, job, code=3)
        lists = [key for key, value in merged.items() if isinstance(value, list) and key != "problems"]
        assert {key: told[key] for key in lists} == {key: merged[key] for key in lists}
        rows += sum(len(told[key]) for key in lists)
        asked = opscope.job(job)
        assert getattr(asked, question[0])() == told["rows"]
        assert {key: asked.facts[key] for key in lists if key != "rows"} == {
            key: told[key] for key in lists if key != "rows"
        }
        doubled = [problem for problem in told["problems"] if problem["kind"] == "rank_doubled"]
        assert len(doubled) == 1 and len(doubled[0]["ranks"]) == 1
    assert rows > 0
    for question in (
        ("devices",),
        ("devices", "--kernels"),
        ("devices", "--copies"),
        ("memory",),
        ("memory", "--by-step"),
    ):
        assert run(*question, job, code=3).stdout == run(*question, job, code=3, env=no_duckdb).stdout


KEYS = ("name", "shape", "category", "device", "module", "kind", "rank", "step")


@pytest.mark.parametrize("seed", range(4))
def test_the_summary_of_rank_after_rank_is_that_of_the_merged_ranks(tmp_path, seed):
    job = a_job(tmp_path, seed)
    no_duckdb = {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}
    rng = random.Random(seed)
    for keys in ("name", "rank,name", ",".join(rng.sample(KEYS, 3)), ",".join(rng.sample(KEYS, 2))):
        question = ("summary", job, "--group-by", keys)
        merged = json.loads(run(*question, "--json", code=3, env=no_duckdb).stdout)
        told = answer(*question, code=3)
        assert told["rows"] == merged["rows"] and len(told["rows"]) > 0, keys
        assert sum(row["count"] for row in told["rows"]) > len(told["rows"])
        asked = opscope.job(job)
        assert asked.summary(group_by=keys.split(",")) == told["rows"]
        assert asked.facts["quality"] == told["quality"] and asked.problems == told["problems"]
        by_count = asked.summary(group_by=keys.split(","), sort="count", limit=2)
        assert [row["count"] for row in by_count] == sorted((row["count"] for row in told["rows"]), reverse=True)[:2]
    for more in ((), ("--csv",), ("--sort", "p99_ns", "--limit", 3)):
        assert run(*question, *more, code=3).stdout == run(*question, *more, code=3, env=no_duckdb).stdout


def without_pids(findings):
    """A merge gives other numbers to processes of several ranks that have the same one."""
    return [
        row | {"evidence": [each | {"track": each["track"].partition("/")[2]} for each in row["evidence"]]}
        for row in findings
    ]


def test_the_advice_about_rank_after_rank_is_that_about_the_merged_ranks(tmp_path):
    no_duckdb = {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}
    kinds = set()
    for seed, has_steps in ((0, True), (1, True), (2, True), (3, True), (4, True), (1, False), (2, False)):
        job = a_job(tmp_path / f"{seed} {has_steps}", seed, has_steps)
        merged = json.loads(run("advise", job, "--json", code=3, env=no_duckdb).stdout)
        told = answer("advise", job, code=3)
        for key in ("steps", "step_mean_ns"):
            assert told[key] == merged[key], (seed, has_steps)
        assert without_pids(told["rows"]) == without_pids(merged["rows"]), (seed, has_steps)
        assert run("advise", job, code=3).stdout == run("advise", job, code=3, env=no_duckdb).stdout
        assert opscope.job(job).advise() == told["rows"]
        kinds |= {row["kind"] for row in told["rows"]}
    assert len(kinds) > 1


def test_asynchronous_spans_of_all_ranks_are_rows(tmp_path):
    for rank in range(3):
        trace = window(1, rank, 0, 3)
        for name, begin_us, length_us in (("load", 20, 5 + rank), ("send", 30, 11 - rank), (f"only {rank}", 40, 7)):
            event = {"cat": "io", "id": name, "pid": 100 + rank, "tid": 1, "name": name}
            trace["traceEvents"] += [
                {**event, "ph": "b", "ts": 1000 + begin_us},
                {**event, "ph": "e", "ts": 1000 + begin_us + length_us},
            ]
        (tmp_path / f"{rank}.json").write_text(json.dumps(trace))
    run("collect", *(tmp_path / f"{rank}.json" for rank in range(3)), "-o", tmp_path / "job", "-q")
    rows = answer("summary", tmp_path / "job")["async_rows"]
    assert [(row["name"], row["count"], row["total_ns"], row["min_ns"], row["max_ns"]) for row in rows] == [
        ("send", 3, 30_000, 9_000, 11_000),
        ("load", 3, 18_000, 5_000, 7_000),
        ("only 0", 1, 7_000, 7_000, 7_000),
        ("only 1", 1, 7_000, 7_000, 7_000),
        ("only 2", 1, 7_000, 7_000, 7_000),
    ]


@pytest.mark.parametrize("keys", ["thread", "process", "stack"])
def test_keys_whose_texts_depend_on_all_ranks_are_those_of_the_merged_ranks(tmp_path, keys):
    job = a_job(tmp_path, 4)
    no_duckdb = {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}
    question = ("summary", job, "--group-by", keys)
    assert run(*question, code=3).stdout == run(*question, code=3, env=no_duckdb).stdout
    assert opscope.job(job).summary(group_by=keys) == answer(*question, code=3)["rows"]


def test_damage_of_a_stored_trace_is_a_problem_of_its_rank(tmp_path):
    job = a_job(tmp_path, 5)
    before = answer("devices", job, code=3)
    ranks = {row["rank"] for row in before["rows"]}
    victim = max(job.glob("traces/**/*.opscope"), key=lambda path: path.stat().st_size)
    bytes_ = bytearray(victim.read_bytes())
    bytes_[len(bytes_) // 2] ^= 0xFF
    victim.write_bytes(bytes_)
    told = answer("devices", job, code=3)
    (damage,) = [problem for problem in told["problems"] if problem["kind"] == "damaged_block"]
    assert damage["ranks"] == [int(victim.parent.name.removeprefix("rank="))] and damage["file"] == str(victim)
    assert {row["rank"] for row in told["rows"]} <= ranks and told["quality"]["verdict"] != "good"
    victim.unlink()
    told = answer("devices", job, code=3)
    (lost,) = [problem for problem in told["problems"] if problem["kind"] == "unreadable_trace"]
    assert (lost["ranks"], lost["file"], lost["severity"]) == (damage["ranks"], str(victim), "error")
    others = [row for row in before["rows"] if row["rank"] not in lost["ranks"]]
    assert others and [row for row in told["rows"] if row["rank"] not in lost["ranks"]] == others
    assert run("devices", job, code=3).stderr.count(str(victim)) == 1
    for trace in job.glob("traces/**/*.opscope"):
        trace.write_bytes(b"no trace")
    assert str(min(job.glob("traces/attempt=0/rank=*/*.opscope")).parent.parent) in run("devices", job, code=1).stderr


def test_verbs_that_merge_answer_for_the_other_ranks_where_a_trace_is_unreadable(tmp_path):
    job = a_job(tmp_path, 5)
    counts = {row["rank"]: row["count"] for row in answer("summary", job, "--group-by", "rank", code=3)["rows"]}
    lost = next(iter(counts))
    others = {rank: count for rank, count in counts.items() if rank != lost}
    victims = sorted(job.glob(f"traces/attempt=*/rank={lost}/*.opscope"))
    for victim in victims:
        victim.write_bytes(b"no trace")
    told = answer("summary", job, "--group-by", "rank", "--where", "start >= 0ns", code=3)
    assert others and {row["rank"]: row["count"] for row in told["rows"]} == others
    (problem,) = [problem for problem in told["problems"] if problem["kind"] == "unreadable_trace"]
    assert problem["severity"] == "error" and problem["count"] == len(victims) > 0
    assert all(str(victim) in problem["message"] for victim in victims)
    whole = tmp_path / "all.opscope"
    for command in (
        ["advise", job, "--time", "0.."],
        ["steps", job, "--where", "kind = operator"],
        ["diff", job, job],
        ["merge", job, "-o", whole],
        ["convert", job, "-o", tmp_path / "converted.opscope"],
    ):
        assert str(victims[0]) in run(*command, code=3).stderr
    assert lost not in {row["rank"] for row in answer("summary", whole, "--group-by", "rank", code=3)["rows"]}
    assert str(victims[0]) in run("merge", job, "--ranks", lost, "-o", tmp_path / "one.opscope", code=1).stderr


def test_damage_of_each_window_of_a_rank_is_a_problem(tmp_path):
    files = [tmp_path / f"w{number}_of_0.json" for number in range(2)]
    for number, file in enumerate(files):
        file.write_text(json.dumps(window(3, 0, number, 1)))
    run("collect", *files, "-o", tmp_path / "job", "-q")
    traces = sorted((tmp_path / "job").glob("traces/**/*.opscope"))
    for trace in traces:
        trace.write_bytes(trace.read_bytes()[:-100])
    told = answer("devices", tmp_path / "job", code=3)
    damaged = {problem["file"] for problem in told["problems"] if problem["severity"] != "info"}
    assert damaged == {str(trace) for trace in traces}
