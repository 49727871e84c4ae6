# SPDX-License-Identifier: Apache-2.0
"""`devices`, `memory`, `summary` and `advise` over a JOB read one rank after the other. The oracle is the merge of all
ranks, which answers where there is no DuckDB."""

import json
import os
import random

import pytest
from opscope_command import answer, run

import opscope

pytest.importorskip("duckdb")

US_TO_NS = 1000
EPOCH_NS = 1_700_000_000_000_000_000


def work(rng, rank, correlation, begin_us):
    """A launch in an operator, and what it starts on a device: a kernel or a copy."""
    device, stream, length = rng.randrange(2), rng.choice((7, 20)), rng.randrange(1, 40)
    is_copy = rng.random() < 0.3
    host = {"pid": 100 + rank, "tid": 1}
    launch = {"name": "cudaMemcpyAsync" if is_copy else "cudaLaunchKernel", "cat": "cuda_runtime", **host}
    on_device = {"pid": device, "tid": stream, "ts": begin_us + rng.randrange(5, 90), "dur": length}
    args = {"device": device, "stream": stream, "correlation": correlation}
    if is_copy:
        kind = rng.choice(("HtoD", "DtoH"))
        on_device |= {"name": f"Memcpy {kind} (Pageable -> Device)", "cat": "gpu_memcpy"}
        args["bytes"] = rng.choice((64, 1 << 20))
    else:
        name = rng.choice(("gemm_s16816", "elementwise", f"only_rank_{rank}"))
        on_device |= {"name": name, "cat": "kernel"}
        args |= {"grid": [rng.randrange(1, 3), 1, 1], "block": [64, 1, 1]}
    operator = {"name": rng.choice(("aten::mm", "aten::add")), "cat": "cpu_op", **host, "ts": begin_us, "dur": 20}
    return [
        {"ph": "X", **operator, "args": {"External id": correlation}},
        {"ph": "X", **launch, "ts": begin_us + 2, "dur": 3, "args": {"correlation": correlation}},
        {"ph": "X", **on_device, "args": {**args, "External id": correlation}},
    ]


def memory_events(rng, rank, begin_us):
    """Blocks of the host and of a device, some of them freed."""
    events = []
    for address in range(1, rng.randrange(2, 6)):
        device_type = rng.choice((0, 1))
        args = {"Addr": address, "Device Type": device_type, "Device Id": 0 if device_type else -1}
        size = rng.randrange(1, 1000)
        for at, bytes_ in ((begin_us + 3, size), (begin_us + 11, -size))[: rng.randrange(1, 3)]:
            events.append(
                {
                    "ph": "i",
                    "s": "t",
                    "cat": "cpu_instant_event",
                    "name": "[memory]",
                    "ts": at + address / 10,
                    "pid": 100 + rank,
                    "tid": 1,
                    "args": {**args, "Bytes": bytes_, "Total Allocated": size},
                }
            )
    return events


def window(seed, rank, number, world_size):
    rng = random.Random(f"{seed} {rank} {number}")
    first_us = 1_000_000 * number + rng.randrange(10_000) + 10
    events = []
    for step in range(rng.randrange(1, 4)):
        begin_us = first_us + 1000 * step
        event = {"ph": "X", "name": f"ProfilerStep#{step}", "cat": "user_annotation", "ts": begin_us, "dur": 900}
        events.append({**event, "pid": 100 + rank, "tid": 1})
        for i in range(rng.randrange(0 if step else 1, 4)):
            at = begin_us + 100 * i + 5
            events += work(rng, rank, 1000 * number + 100 * step + i + 1, at) + memory_events(rng, rank, at)
    known = {"distributedInfo": {"rank": rank, "world_size": world_size}} if rank >= 0 else {}
    return {**known, "baseTimeNanoseconds": EPOCH_NS, "displayTimeUnit": "ms", "traceEvents": events}


def a_job(tmp_path, seed, has_steps=True):
    """Ranks that do not follow each other, of several windows each; a doubled file; sometimes one of unknown rank."""
    tmp_path.mkdir(exist_ok=True)
    rng = random.Random(seed)
    ranks = sorted(rng.sample(range(6), rng.randrange(1, 4)))
    files = []
    for rank in ranks:
        for number in range(rng.randrange(1, 3)):
            files.append(tmp_path / f"w{number}_of_{rank}.json")
            written = window(seed, rank, number, 6)
            if not has_steps:
                written["traceEvents"] = [each for each in written["traceEvents"] if "Step" not in each["name"]]
            files[-1].write_text(json.dumps(written))
    doubled = json.loads(files[0].read_text())
    doubled["traceEvents"] = doubled["traceEvents"][:1]  # within the time of the other file, and smaller
    files.append(tmp_path / "again.json")
    files[-1].write_text(json.dumps(doubled))
    if seed % 3 == 0:
        files.append(tmp_path / "unknown.json")
        files[-1].write_text(json.dumps(window(seed, -1, 0, 6)))
    run("collect", *files, "-o", tmp_path / "job", "-q", code=3 if seed % 3 == 0 else 0)
    return tmp_path / "job"


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
    told = answer("summary", job, "--group-by", "rank", "--where", "duration >= 0ns", code=3)
    assert others and {row["rank"]: row["count"] for row in told["rows"]} == others
    (problem,) = [problem for problem in told["problems"] if problem["kind"] == "unreadable_trace"]
    assert problem["severity"] == "error" and problem["count"] == len(victims) > 0
    assert all(str(victim) in problem["message"] for victim in victims)
    whole = tmp_path / "all.opscope"
    for command in (
        ["advise", job],
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


def test_a_selection_merges_the_ranks(tmp_path):
    job = a_job(tmp_path, 2)
    ranks = [row["rank"] for row in answer("devices", job, code=3)["rows"]]
    chosen = answer("devices", job, "--where", f"rank = {ranks[0]}", code=3)["rows"]
    assert chosen and {row["rank"] for row in chosen} == {ranks[0]}
