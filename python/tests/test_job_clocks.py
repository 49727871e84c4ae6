# SPDX-License-Identifier: Apache-2.0
"""Absolute times over a JOB: the rank's own clock less `epoch_ns`, but on time lines of several ranks."""

import json

import pytest
from job_command import RANKS, STEP_US, STEPS, rank_trace, run_merge
from opscope_command import answer, run

pytest.importorskip("duckdb")


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    return [folder / f"rank{rank}.json" for rank in range(RANKS)]


def write_ranks_of_two_hosts(folder):
    """Files of two hosts, whose clocks are 2 ms apart, and whose times count from different moments.

    Returns by rank the begins of the steps in unix nanoseconds, by plain arithmetic.
    """
    begins = {}
    for rank in range(RANKS):
        trace = rank_trace(rank, slow=2, shift_us=rank * 7, host=f"node{rank // 2}")
        trace["baseTimeNanoseconds"] += rank * 1_000 + rank // 2 * 2_000_000
        (folder / f"rank{rank}.json").write_text(json.dumps(trace))
        first = trace["baseTimeNanoseconds"] + (10_000 + rank * 7) * 1000
        begins[rank] = [first + step * STEP_US * 1000 for step in range(STEPS)]
    return begins


def test_a_file_without_spans_has_no_begin(tmp_path, files):
    begins = write_ranks_of_two_hosts(files[0].parent)
    name = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}}
    files[0].write_text(json.dumps(rank_trace(0) | {"baseTimeNanoseconds": 0, "traceEvents": [name]}))
    run("collect", files[0].parent, "-o", tmp_path / "job")
    epoch = min(min(begins[rank]) for rank in range(1, RANKS))
    assert answer("ranks", tmp_path / "job")["epoch_ns"] == str(epoch)
    starts = {(row["rank"], row["step"]): row["start_ns"] for row in answer("steps", tmp_path / "job")["rows"]}
    assert starts == {(rank, step): begins[rank][step] - epoch for rank in range(1, RANKS) for step in range(STEPS)}


def test_absolute_times_are_those_of_the_own_clock_less_the_epoch(tmp_path, files):
    begins = write_ranks_of_two_hosts(files[0].parent)
    job = tmp_path / "job"
    run("collect", files[0].parent, "-o", job)
    epoch = min(min(times) for times in begins.values())
    assert answer("ranks", job)["epoch_ns"] == answer("info", job)["epoch_ns"] == str(epoch)
    expected = {(rank, step): begins[rank][step] - epoch for rank in range(RANKS) for step in range(STEPS)}
    assert {(row["rank"], row["step"]): row["start_ns"] for row in answer("steps", job)["rows"]} == expected
    # Rank 2 works longer than the others; its evidence is the operator that begins 10 us after the step.
    (finding,) = [row for row in answer("advise", job)["rows"] if row["kind"] == "rank_imbalance"]
    for evidence in finding["evidence"]:
        assert evidence["rank"] == 2
        assert evidence["start_ns"] in {expected[2, step] for step in range(STEPS)}
        assert evidence["end_ns"] - evidence["start_ns"] == STEP_US * 1000
    stored = answer("query", job, "SELECT rank, step, start_ns FROM steps")["rows"]
    assert {(rank, step): int(start) - epoch for rank, step, start in stored} == expected
    # One rank alone counts from its own begin.
    one = tmp_path / "one"
    run("collect", files[3], "-o", one)
    alone = answer("steps", one, code=3)["rows"]
    assert [row["start_ns"] for row in alone] == [step * STEP_US * 1000 for step in range(STEPS)]
    # A time line has one clock: merged, the collectives of the two hosts end together, which are 2 ms apart here.
    run("merge", job, "-o", tmp_path / "all.opscope", "-q")
    merged = answer("steps", tmp_path / "all.opscope")["rows"]
    starts = {(row["rank"], row["step"]): row["start_ns"] for row in merged}
    assert abs(starts[3, 0] - starts[0, 0]) < 100_000 < expected[3, 0] - expected[0, 0]


@pytest.mark.parametrize("verb", ["summary", "devices", "memory", "modules", "diff", "check"])
def test_what_is_no_absolute_time_does_not_depend_on_clocks(tmp_path, files, verb):
    write_ranks_of_two_hosts(files[0].parent)
    run("collect", files[0].parent, "-o", tmp_path / "job")
    merged = run_merge(files, tmp_path / "all.opscope")
    told = []
    for source in (tmp_path / "job", merged):
        more = ["--max", "step_mean_ns=1500000", "--max", "critical_path_ns=1000000000"] if verb == "check" else []
        told.append(answer(verb, source, *([source] if verb == "diff" else []), *more))
        told[-1] = {key: value for key, value in told[-1].items() if key in ("rows", "kernels", "copies", "memory")}
    assert told[0] == told[1]
    assert told[0]["rows"] or verb in ("devices", "memory", "modules", "diff")
