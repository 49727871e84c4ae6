# SPDX-License-Identifier: Apache-2.0
"""acc_events=True: what step() takes in all, per operator recorded, over ten cycles of one step each.

The original parses every cycle inside step(); here the bytes are kept. Fresh process per measurement; both sides must
list the same events.
"""

import json
import time

import measure

CYCLES = 10


def one(side, ops):
    from workloads import TinyOps

    module = measure.profiler_module(side)
    workload = TinyOps()
    per_cycle = ops // CYCLES
    schedule = module.schedule(wait=1, warmup=1, active=1, repeat=CYCLES + 1)
    spent = {"wall": 0.0, "cpu": 0.0}
    with measure.new_profile(side, schedule=schedule, acc_events=True) as profile:
        for step in range(3 * (CYCLES + 1)):
            is_first = step < 3  # loads what the first cycle of a process loads
            workload.run(100 if is_first else per_cycle if profile.current_action.name == "RECORD_AND_SAVE" else 1)
            wall, cpu = time.perf_counter(), time.process_time()
            profile.step()
            if not is_first:
                spent["cpu"] += time.process_time() - cpu
                spent["wall"] += time.perf_counter() - wall
    return {"step": spent, "rows": sorted((row.key, row.count) for row in profile.events().key_averages())}


def main():
    options = measure.parse_options(__doc__, ops=100000, quick_ops=2000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {side: {"side": side, "ops": options.ops} for side in measure.SIDES}
    results = measure.interleaved(__file__, options.repetitions, variants)
    found = {json.dumps(result["rows"]) for side in measure.SIDES for result in results[side]}
    measure.require_when_quick(len(found) == 1, "cycles: the rows of both sides differ", options)
    same = "equal" if len(found) == 1 else "DIFFER, so not judged"
    note = f"{CYCLES} cycles, {options.ops} ops in all; rows of both sides {same}"
    measure.sampled_row(
        "acc_events_step",
        "acc_events: step() over all steps",
        "ns per op",
        results,
        lambda result: result["step"]["wall"],
        1e9 / options.ops,
        goal=1 / 100 if len(found) == 1 else None,
        cpu=measure.median_cpu(results, lambda result: result["step"]["cpu"], 1e9 / options.ops),
        note=note,
    )


if __name__ == "__main__":
    main()
