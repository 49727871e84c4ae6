# SPDX-License-Identifier: Apache-2.0
"""`advise` over the files of two ranks: exact savings of hand-made jobs, and a real Gloo job with a slow rank."""

import json
from pathlib import Path

import pytest
from opscope_command import answer, run
from ranks_of_a_job import run_ranks

import opscope

LIMIT_S = 300
STEPS = 4
STEP_US = 1000


def rank_file(folder, rank, works):
    """A file of one rank: STEPS steps of STEP_US, in each of which `works` (name, begin, end in us) run."""
    events = []
    for step in range(STEPS):
        start = step * STEP_US
        mark = {"cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1}
        events.append(mark | {"ts": start, "dur": STEP_US})
        for number, (name, begin, end) in enumerate(works):
            correlation = 1 + step * len(works) + number
            # All are launched before the step, so that no device waits for a launch.
            call = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1}
            events.append(call | {"ts": begin / 1000 - 50, "dur": 0.001, "args": {"correlation": correlation}})
            stream = 7 if name == "gemm" else 20
            args = {"device": rank, "stream": stream, "correlation": correlation}
            work = {"cat": "kernel", "name": name, "pid": rank, "tid": stream, "args": args}
            events.append(work | {"ts": start + begin, "dur": end - begin})
    document = {
        "distributedInfo": {"rank": rank, "world_size": 2, "backend": "nccl"},
        "traceEvents": [{"ph": "X"} | event for event in events],
    }
    path = folder / f"rank{rank}.json"
    path.write_text(json.dumps(document))
    return path


def advice_of(files):
    """The JSON of the command, which is that of the merged trace in Python, and of a JOB but for clocks and tracks."""
    advice = answer("advise", *files)
    assert advice["rows"] == list(opscope.merge(files).advise())
    job = files[0].parent / "job"
    run("collect", *files, "-o", job, "-q")
    for of_job, row in zip(answer("advise", job, code=None)["rows"], advice["rows"], strict=True):
        assert [item for item in of_job.items() if item[0] != "evidence"] == [
            item for item in row.items() if item[0] != "evidence"
        ]
        assert [each["rank"] for each in of_job["evidence"]] == [each["rank"] for each in row["evidence"]]
    return advice


ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
CASES = {
    # Rank 1 computes for 800 us, the mean is 550.
    "rank_imbalance": ([("gemm", 0, 300)], [("gemm", 0, 800)], 250, 1),
    # Rank 0 communicates for 100 us longer than it computes, rank 1 for 300: rank 1 waits for rank 0 meanwhile.
    "exposed_communication": (
        [("gemm", 0, 500), (ALL_REDUCE, 400, 600)],
        [("gemm", 0, 500), (ALL_REDUCE, 400, 800)],
        100,
        0,
    ),
}
CLEAN = {
    "rank_imbalance": ([("gemm", 0, 800)], [("gemm", 0, 800)]),
    # All of it runs beside computation.
    "exposed_communication": (
        [("gemm", 0, 700), (ALL_REDUCE, 400, 600)],
        [("gemm", 0, 700), (ALL_REDUCE, 400, 600)],
    ),
}


@pytest.mark.parametrize("kind", CASES)
def test_savings_of_two_files_are_exact(tmp_path, kind):
    *works, saving_us, rank = CASES[kind]
    answer = advice_of([rank_file(tmp_path, number, each) for number, each in enumerate(works)])
    assert (answer["steps"], answer["step_mean_ns"]) == (2 * STEPS, STEP_US * 1000)
    (finding,) = answer["rows"]
    assert (finding["kind"], finding["saving_ns"], finding["count"]) == (kind, saving_us * 1000, STEPS)
    assert finding["share"] == saving_us / STEP_US
    assert {each["rank"] for each in finding["evidence"]} == {rank}
    assert [each["end_ns"] - each["start_ns"] for each in finding["evidence"]][:1] == [STEP_US * 1000]


@pytest.mark.parametrize("kind", CLEAN)
def test_files_of_a_clean_job_have_no_finding(tmp_path, kind):
    assert advice_of([rank_file(tmp_path, rank, works) for rank, works in enumerate(CLEAN[kind])])["rows"] == []


def test_one_file_of_an_unequal_job_has_no_finding(tmp_path):
    assert advice_of([rank_file(tmp_path, 0, CASES["rank_imbalance"][0])])["rows"] == []


def gloo_job(folder, slow_factor):
    program = Path(__file__).with_name("slow_rank_job.py")
    run_ranks(
        lambda rank: [program, rank, slow_factor if rank == 1 else 1, folder / "rendezvous", folder], limit_s=LIMIT_S
    )
    return [folder / f"rank{rank}.opscope" for rank in range(2)]


@pytest.mark.framework("torch")
@pytest.mark.parametrize(("slow_factor", "is_found"), [(4, True), (1, False)])
def test_a_slow_rank_of_a_real_job_is_found(tmp_path, slow_factor, is_found):
    answer = advice_of(gloo_job(tmp_path, slow_factor))
    found = {row["kind"]: row for row in answer["rows"]}
    assert ("rank_imbalance" in found) is is_found, answer["rows"]
    if is_found:
        finding = found["rank_imbalance"]
        assert {each["rank"] for each in finding["evidence"]} == {1}
        assert finding["count"] == answer["steps"] // 2
        # Rank 1 works for 450 ms more than rank 0, so for 225 ms more than the mean.
        assert 150_000_000 < finding["saving_ns"] < 400_000_000
