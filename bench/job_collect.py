# SPDX-License-Identifier: Apache-2.0
"""`opscope collect`: its memory for many ranks beside few; the summary and the difference of many ranks beside the same
from their merged trace; and JSON files of 16 ranks to tables and stragglers, beside HTA's reading of the same files and
its search for stragglers (hta_peer.py).
"""

import json
import shutil
import sys
from pathlib import Path

import hta_peer
import made_jobs

import measure

STEP_US = 20_000
SPANS_PER_STEP = 1_000
OPSCOPE = [sys.executable, "-m", "opscope"]


def write_rank(path, rank, ranks, spans, slow):
    """A rank as Kineto writes it: in each step operators that launch kernels, and an all-reduce that ends everywhere at
    once. The slow rank computes longer before it."""
    events = []
    for step in range(max(1, spans // SPANS_PER_STEP)):
        begin = 1_000_000 + step * STEP_US
        cpu, gpu = {"ph": "X", "pid": 100, "tid": 100}, {"ph": "X", "pid": 0, "tid": 7}
        events.append(cpu | {"cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": begin, "dur": STEP_US - 1})
        for number in range((SPANS_PER_STEP - 3) // 3):
            at, correlation = begin + 10 + number * 40, step * SPANS_PER_STEP + number + 1
            about = {"External id": correlation, "correlation": correlation}
            names = ("aten::addmm", "aten::relu", "aten::copy_")
            events += [
                cpu | {"cat": "cpu_op", "name": names[number % 3], "ts": at, "dur": 20, "args": about},
                cpu | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 5, "dur": 5, "args": about},
                gpu
                | {"cat": "kernel", "name": f"gemm_{number % 20}", "ts": at + 12, "dur": 25}
                | {"args": about | {"device": 0, "stream": 7}},
            ]
        launch, late = begin + SPANS_PER_STEP * 14, 3_000 if rank == slow else 0
        number = step * SPANS_PER_STEP + SPANS_PER_STEP - 1
        group = {"Collective name": "allreduce", "In msg nelems": 1024, "Group size": ranks, "Seq": step}
        group |= {"Process Group Name": "0", "Process Group Ranks": str(list(range(ranks)))}
        about = {"correlation": number, "External id": number}
        events += [
            cpu | {"cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "ts": launch, "dur": 5, "args": about},
            gpu
            | {"cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": launch + 100 + late}
            | {"dur": 4_000 - late, "args": about | group | {"device": 0, "stream": 7}},
        ]
    document = {
        "schemaVersion": 1,
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
        "host_name": f"host{rank // 8}",
        "baseTimeNanoseconds": 1_790_000_000_000_000_000,
        "traceEvents": events,
    }
    path.write_text(json.dumps(document))
    return len(events)


def ask_hta(folder, ranks):
    """HTA reads all ranks, makes its tables of each, and looks for stragglers."""
    import logging

    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.INFO)
    files = {rank: f"{folder}/rank{rank}.json" for rank in range(ranks)}
    analysis = TraceAnalysis(trace_files=files, trace_dir=folder, include_last_profiler_step=True)
    analysis.get_temporal_breakdown(visualize=False)
    analysis.get_gpu_kernel_breakdown(visualize=False)
    return [int(rank) for rank in analysis.get_potential_stragglers(num_candidates=1)]


def one(folder, ranks):
    found = None
    with hta_peer.silence():
        try:
            found = ask_hta(folder, ranks)
        except Exception as error:  # it ends on traces of today's NCCL: the time until then counts
            measure.say(f"HTA: {error!r}")
    return {"stragglers": found}


def print_hta(folder, options):
    ranks, slow = 16, 5
    traces = folder / "traces"
    traces.mkdir(parents=True)
    spans = [write_rank(traces / f"rank{rank}.json", rank, ranks, options.ops, slow) for rank in range(ranks)][0]
    job = folder / "job"
    samples = []
    for _ in range(options.repetitions):
        shutil.rmtree(job, ignore_errors=True)
        collected = made_jobs.measured([*OPSCOPE, "collect", traces, "-o", job, "--json"])
        asked = made_jobs.measured([*OPSCOPE, "stragglers", job, "--json"])
        samples.append({"cpu": collected["cpu"] + asked["cpu"], "peak": max(collected["peak"], asked["peak"])})
    rows = json.loads(asked["output"])["rows"]
    if [(row["set"], row["name"]) for row in rows] != [("rank", str(slow))]:
        raise SystemExit(f"bench: the stragglers are {rows}, not rank {slow}")
    title = f"{ranks} JSON ranks of {spans:,} spans to tables and stragglers, beside HTA"
    python = hta_peer.python_of(options)
    if not python:
        measure.print_absent("job_HTA", f"{title}, processor time", "s", "HTA is not installed")
        return
    theirs = made_jobs.measured(hta_peer.command(python, __file__, {"folder": str(traces), "ranks": ranks}))
    found = hta_peer.answer(theirs["output"])["stragglers"]
    note = f"the slow rank is {slow}; HTA names {found}"
    for name, kind, unit, scale, goal in (("cpu", "cpu", "s", 1, 1 / 40), ("ram", "peak", "MB", 1e-6, 1 / 3)):
        sides = [measure.figures_of(side, kind, scale) for side in (samples, [theirs])]
        what = "processor time" if name == "cpu" else "peak memory"
        more = {"goal": goal, "repetitions": options.repetitions, "note": note}
        measure.print_row(f"job_HTA_{name}", f"{title}, {what}", unit, *sides, **more)


def print_memory(folder, options):
    """The files of few ranks are the first ones of many."""
    few, many, spans = 8, 24 if options.quick else options.ranks, 2_000
    traces = folder / "small"
    traces.mkdir(parents=True)
    paths = [traces / f"rank{rank}.json" for rank in range(many)]
    for rank, path in enumerate(paths):
        write_rank(path, rank, many, spans, 5)
    samples = {few: [], many: []}
    for _ in range(1 if options.quick else 2):
        for ranks, found in samples.items():
            job = folder / "small_job"
            # Ranks are missing in the small one, which only an answer says.
            found.append(made_jobs.measured([*OPSCOPE, "collect", *paths[:ranks], "-o", job, "-q", "--json"]))
            shutil.rmtree(job)
    title = f"Peak memory of `opscope collect` of {many} ranks, beside {few}"
    sides = [measure.figures_of(samples[ranks], "peak", 1e-6) for ranks in (many, few)]
    seconds = measure.figures_of(samples[many], "cpu", 1 / many)["median"]
    note = f"{spans:,} spans a rank; {seconds:.3f} s of processor time a rank"
    measure.print_row("job_collect_ram", title, "MB", *sides, goal=1.05, repetitions=len(samples[many]), note=note)


def print_answers(folder, options):
    """Of rank after rank, beside those of the merged ranks: without DuckDB they are merged."""
    ranks = 4 if options.quick else 64
    traces, job = folder / "many", folder / "many_job"
    traces.mkdir(parents=True)
    spans = [write_rank(traces / f"rank{rank}.json", rank, ranks, options.ops, 5) for rank in range(ranks)][0]
    made_jobs.measured([*OPSCOPE, "collect", traces, "-o", job, "-q", "--json"])
    shutil.rmtree(traces)
    figures = {
        "cpu": ("processor time", "cpu", "s", 1, 1.5),
        "ram": ("peak memory", "peak", "MB", 1e-6, 1 / 2),
    }
    for verb, jobs, count, names in (
        ("summary", [job], "count", ("cpu", "ram")),
        ("diff", [job, job], "b_count", ("ram",)),
    ):
        ask = [*OPSCOPE, verb, *jobs, "--json"]
        commands = {"ranks": ask, "merged": ["env", f"OPSCOPE_DUCKDB_LIB={folder / 'none'}", *ask]}
        samples = made_jobs.take_turns(options.repetitions, commands)
        rows = [json.loads(samples[side][0]["output"])["rows"] for side in commands]
        # The ranges of steps are no row of a difference.
        steps = 0 if verb == "summary" else ranks * max(1, options.ops // SPANS_PER_STEP)
        if rows[0] != rows[1] or sum(row[count] for row in rows[0]) != ranks * spans - steps:
            raise SystemExit(f"bench: {verb} of rank after rank is another one than that of the merged ranks")
        title = f"`opscope {verb}` of {ranks} ranks x {spans:,} spans, beside the same from their merged trace"
        for name in names:
            what, kind, unit, scale, goal = figures[name]
            sides = [measure.figures_of(samples[side], kind, scale) for side in commands]
            more = {"goal": goal, "repetitions": options.repetitions}
            measure.print_row(f"job_{verb}_{name}", f"{title}, {what}", unit, *sides, **more)


def main():
    options = measure.parse_options(__doc__, ops=30_000, quick_ops=3_000, repetitions=3, ranks=512, peers="")
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    folder = Path("job_collect").resolve()
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was ended
    try:
        print_hta(folder, options)
        print_memory(folder, options)
        print_answers(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
