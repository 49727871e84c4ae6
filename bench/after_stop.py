# SPDX-License-Identifier: Apache-2.0
"""From stop to the table: stop + events() + the sum of five attributes over all events + key_averages().table().
Fresh process per measurement; both sides must give the same rows."""

import json

import measure


def walk(events):
    """Sums five attributes of every event."""
    cpu = self_cpu = count = elapsed = memory = 0
    for event in events:
        cpu += event.cpu_time_total
        self_cpu += event.self_cpu_time_total
        count += event.count
        elapsed += event.time_range.elapsed_us()
        memory += event.cpu_memory_usage
    return cpu + self_cpu + count + elapsed + memory


def one(side, ops):
    from workloads import TinyOps

    workload = TinyOps()
    warm = measure.new_profile(side)  # what the first window of a process loads is not the row's
    warm.start()
    workload.run(2)
    warm.stop()
    warm.key_averages().table()
    del warm
    profile = measure.new_profile(side)
    profile.start()
    workload.run(ops)
    clock = measure.Clock()
    profile.stop()
    walk(profile.events())
    averages = profile.key_averages()
    averages.table(sort_by="self_cpu_time_total")
    total = clock.read()
    rows = sorted((average.key, average.count) for average in averages)
    return {"total": total, "events": len(profile.events()), "rows": rows}


def same_rows(results):
    """True when both sides gave the same names with the same counts in every repetition."""
    found = {json.dumps(result["rows"]) for side in measure.SIDES for result in results[side]}
    return len(found) == 1


def main():
    options = measure.parse_options(__doc__, ops=100000, quick_ops=2000, repetitions=3)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {side: {"side": side, "ops": options.ops} for side in measure.SIDES}
    sides = measure.interleaved(__file__, options.repetitions, variants)
    events = sides["opscope"][0]["events"]
    same = same_rows(sides)
    title = "stop + events() + walk + table, tiny ops, no flags"
    measure.require_when_quick(same, f"{title}: the rows of both sides differ", options)
    measure.sampled_row(
        "after_stop_tiny_none",
        title,
        "s per million ops",
        sides,
        lambda result: result["total"]["wall"],
        1e6 / events,
        goal=1 / 50 if same else None,
        cpu=measure.median_cpu(sides, lambda result: result["total"]["cpu"], 1e6 / events),
        note=f"{events} events; rows of both sides {'equal' if same else 'DIFFER, so not judged'}",
    )


if __name__ == "__main__":
    main()
