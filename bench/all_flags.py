# SPDX-License-Identifier: Apache-2.0
"""A window with every flag on: stop + events() + averages + table, and the peak of resident memory of all that.

Fresh process per measurement. The original takes minutes and nearly 10 GB for a million operators, so its side runs
with fewer, and both are given per operator; its cost per operator grows with their number, which favours it.
"""

import json
import resource

import measure


def one(side, ops):
    from workloads import FLAGS, TinyOps

    workload = TinyOps()
    workload.run(1000)
    warm = measure.new_profile(side, **FLAGS["all"])
    warm.start()
    workload.run(100)
    warm.stop()
    warm.key_averages().table()
    del warm
    before = measure.resident_bytes()
    profile = measure.new_profile(side, **FLAGS["all"])
    profile.start()
    workload.run(ops)
    clock = measure.Clock()
    profile.stop()
    events = profile.events()
    averages = profile.key_averages()
    averages.table(sort_by="self_cpu_time_total")
    spent = clock.read()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    return {"after": spent, "peak": peak, "events": len(events), "ops": ops, "names": sorted(r.key for r in averages)}


def main():
    options = measure.parse_options(__doc__, ops=1000000, quick_ops=2000, repetitions=3, torch_ops=100000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    from workloads import FLAGS

    variants = {
        "opscope": {"side": "opscope", "ops": options.ops},
        "torch": {"side": "torch", "ops": min(options.torch_ops, options.ops)},
    }
    results = measure.interleaved(__file__, options.repetitions, variants)
    names = {json.dumps([n for n in r["names"] if n.startswith("aten::")]) for s in measure.SIDES for r in results[s]}
    measure.require_when_quick(len(names) == 1, "all_flags: the operators of both sides differ", options)
    note = f"{', '.join(FLAGS['all'])}; {options.ops} ops, torch's side {variants['torch']['ops']}"
    measure.sampled_row(
        "all_flags_after",
        "stop + events() + averages + table, all flags",
        "us per op",
        results,
        lambda result: result["after"]["wall"] / result["ops"] * 1e6,
        goal=1 / 150,
        cpu=measure.median_cpu(results, lambda result: result["after"]["cpu"] / result["ops"] * 1e6),
        note=note,
    )
    measure.sampled_row(
        "all_flags_peak",
        "peak RSS of the window and its results, all flags",
        "B per op",
        results,
        lambda result: result["peak"] / result["ops"],
        goal=1 / 20,
        note=note,
    )


if __name__ == "__main__":
    main()
