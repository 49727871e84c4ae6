# SPDX-License-Identifier: Apache-2.0
"""Answers from the merged traces of a JOB are of the same files as answers from its tables."""

import json

import pytest
from job_command import RANKS, STEPS, rank_trace, span
from opscope_command import answer, run

import opscope

pytest.importorskip("duckdb")


def write(path, rank, *, spans=0, begin=None, seconds=0, **changes):
    """``spans``: how many small ones it has more. ``begin``: of its first span, us. ``seconds``: that its clock is
    ahead."""
    trace = rank_trace(rank, **changes)
    trace["baseTimeNanoseconds"] += seconds * 1_000_000_000
    if rank < 0:
        del trace["distributedInfo"]["rank"]
    events = trace["traceEvents"]
    if begin is not None:
        moved = begin - min(event["ts"] for event in events)
        trace["traceEvents"] = events = [event | {"ts": event["ts"] + moved} for event in events]
    first = min(event["ts"] for event in events)
    events += [span("aten::relu", "cpu_op", first + 1 + i, 1) for i in range(spans)]
    path.write_text(json.dumps(trace))
    return path


def spans_of_tables(job, code):
    return sum(row["spans"] for row in answer("ranks", job, code=code)["rows"])


def check_all_agree(job, ranks, code=0):
    """Each answer that merges the ranks counts the files that `ranks` counts."""
    told = answer("ranks", job, code=code)
    assert [row["rank"] for row in told["rows"]] == ranks
    losses = {problem["kind"] for problem in told["problems"] if problem["severity"] != "info"}
    spans = spans_of_tables(job, code)
    summary = answer("summary", job, code=code)
    assert sum(row["count"] for row in summary["rows"]) == spans
    assert sum(row["count"] for row in answer("summary", job, "--quantiles", code=code)["rows"]) == spans
    assert {problem["kind"] for problem in summary["problems"] if problem["severity"] != "info"} == losses
    for verb in (["advise"], ["diff", job]):
        answered = answer(*verb, job, code=code)
        assert {problem["kind"] for problem in answered["problems"] if problem["severity"] != "info"} == losses
    steps = [(row["rank"], row["step"]) for row in answer("steps", job, code=code)["rows"]]
    assert [(row["rank"], row["step"]) for row in answer("steps", job, "--steps", "0..99", code=code)["rows"]] == steps
    (row,) = answer("check", job, "--max", "spans=1", code=None)["rows"]
    assert row["value"] == spans


@pytest.mark.parametrize("seconds", [2, 10, 3600])
def test_ranks_whose_clocks_are_far_apart_are_one_job(tmp_path, seconds):
    for rank in range(RANKS):
        write(tmp_path / f"rank{rank}.json", rank, host=f"node{rank % 2}", seconds=seconds * (rank % 2))
    job = tmp_path / "job"
    run("collect", *sorted(tmp_path.glob("rank*.json")), "-o", job)
    check_all_agree(job, list(range(RANKS)))
    cut = tmp_path / "cut.opscope"
    run("merge", job, "--ranks", "0,1", "--steps", "1..2", "-o", cut)
    trace = opscope.open(cut)
    begins = [
        begin for name, begin in zip(trace.spans["name"], trace.spans["start"], strict=True) if name == "ProfilerStep#1"
    ]
    assert len(begins) == 2 and abs(begins[0] - begins[1]) < 1_000_000  # ns: aligned by their collectives


def test_files_without_a_rank_have_no_vote_on_the_world_size(tmp_path):
    for rank in range(2):
        write(tmp_path / f"rank{rank}.json", rank, size=2)
    for i in range(3):
        write(tmp_path / f"other{i}.json", -1, size=4, begin=50_000 + 10_000 * i)
    run("collect", *sorted(tmp_path.glob("*.json")), "-o", tmp_path / "job", code=None)
    check_all_agree(tmp_path / "job", [-1, 0, 1], code=3)


def test_of_equally_many_spans_the_smaller_hash_stays(tmp_path):
    for rank in range(RANKS):
        write(tmp_path / f"rank{rank}.json", rank)
    for i in range(8):  # whichever order their names and times have
        write(tmp_path / f"rank1_{i}.json", 1, begin=10_000 + 100 * (5 * i % 8))
    run("collect", *sorted(tmp_path.glob("rank*.json")), "-o", tmp_path / "job")
    job = tmp_path / "job"
    check_all_agree(job, list(range(RANKS)), code=3)
    starts = [
        [row["start_ns"] for row in answer("steps", job, *more, code=3)["rows"]] for more in ([], ["--steps", "0..9"])
    ]
    assert starts[0] == starts[1]


def test_a_file_that_overlaps_a_larger_one_is_left_out_even_if_that_is_left_out(tmp_path):
    write(tmp_path / "rank0.json", 0, size=2)
    write(tmp_path / "rank1_a.json", 1, size=2, spans=5)
    write(tmp_path / "rank1_b.json", 1, size=2, spans=2, begin=10_000 + (STEPS - 1) * 1000 + 500)
    write(tmp_path / "rank1_c.json", 1, size=2, begin=10_000 + 2 * (STEPS - 1) * 1000 + 1000)
    run("collect", *sorted(tmp_path.glob("rank*.json")), "-o", tmp_path / "job")
    assert spans_of_tables(tmp_path / "job", code=3) == 3 * STEPS + 3 * STEPS + 5
    check_all_agree(tmp_path / "job", [0, 1], code=3)
