# SPDX-License-Identifier: Apache-2.0
"""Error of corrected times: a program timed alone and recorded, in turns, in fresh processes, for each of which the
recorder measures anew what an event costs.

The error is that of the total time of the program, in percent of the time alone; "theirs" is that of the raw times.
The fastest of many rounds is what is compared. A quarter of the processes may be worse than the figure.
"""

import json
import statistics
import time

import measure

WORDS = {
    "shapes": "operators of two elements, record_shapes",
    "calls": "empty calls of Python and C, with_stack",
}


def one(work, ops, rounds):
    """Fastest times of `ops` operators or pairs of calls: alone, raw and corrected."""
    import opscope.torch
    from workloads import FLAGS, EmptyCalls, TinyOps

    workload = EmptyCalls() if work == "calls" else TinyOps()
    flags = {"with_stack": True} if work == "calls" else FLAGS[work]
    workload.run(ops)
    alone, raw, corrected = [], [], []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        workload.run(ops)
        alone.append(time.perf_counter_ns() - begin)
        profile = measure.new_profile("opscope", **flags)
        with profile:
            workload.run(ops // 10)
            with opscope.torch.record_function("program"):
                workload.run(ops)
        for times, correct in ((raw, False), (corrected, True)):
            rows = {row["name"]: row for row in profile.trace.summary(corrected=correct)}
            times.append(rows["program"]["total_ns"])
    return {"alone": min(alone), "raw": min(raw), "corrected": min(corrected)}


def errors(results, which):
    return [100 * abs(result[which] - result["alone"]) / result["alone"] for result in results]


def upper_quartile(values):
    return statistics.quantiles(values, n=4)[2] if len(values) > 1 else values[0]


def print_error(row, title, results):
    ours, theirs = ({"min": upper_quartile(values), "median": statistics.median(values)} for values in
                    (errors(results, "corrected"), errors(results, "raw")))  # fmt: skip
    measure.print_row(
        f"corrected_{row}",
        f"error of the total, {title}",
        "%",
        ours,
        theirs,
        goal=0.5,
        repetitions=len(results),
        note="ours corrected, theirs raw; upper quartile of the processes in place of the minimum",
    )


def main():
    options = measure.parse_options(__doc__, ops=1000, quick_ops=200)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    rounds = 3 if options.quick else 60
    processes = 1 if options.quick else 8
    results = {work: [] for work in WORDS}
    for _ in range(processes):
        for work, found in results.items():
            arguments = {"work": work, "ops": options.ops, "rounds": rounds}
            found.append(measure.in_fresh_process(__file__, arguments))
    for work, title in WORDS.items():
        print_error(work, title, results[work])


if __name__ == "__main__":
    main()
