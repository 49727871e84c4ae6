# SPDX-License-Identifier: Apache-2.0
"""Reading events() after the recording: a walk that reads five attributes, with what events() itself takes.

Then a second walk that reads names only. Fresh process per measurement; both sides must have the same events.
"""

import json

from after_stop import walk

import measure


def one(side, ops):
    from workloads import TinyOps

    workload = TinyOps()
    warm = measure.new_profile(side)
    warm.start()
    workload.run(10)
    warm.stop()
    walk(warm.events())
    del warm
    profile = measure.new_profile(side)
    profile.start()
    workload.run(ops)
    profile.stop()
    clock = measure.Clock()
    events = profile.events()
    walk(events)
    first = clock.read()
    clock = measure.Clock()
    for event in events:
        event.name  # noqa: B018  (the look is what is measured)
    second = clock.read()
    counts = sorted((row.key, row.count) for row in events.key_averages())
    return {"first": first, "second": second, "events": len(events), "rows": counts}


def main():
    options = measure.parse_options(__doc__, ops=1000000, quick_ops=2000, torch_ops=200000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {
        "opscope": {"side": "opscope", "ops": options.ops},
        "torch": {"side": "torch", "ops": min(options.torch_ops, options.ops)},
    }
    results = measure.interleaved(__file__, options.repetitions, variants)
    kinds = {tuple(name for name, _ in result["rows"]) for side in measure.SIDES for result in results[side]}
    measure.require_when_quick(len(kinds) == 1, "event_list: the rows of both sides differ", options)
    note = f"{options.ops} ops; torch's side {variants['torch']['ops']}"
    for walked, title, goal in (
        ("first", "events() and a walk that reads five attributes", 1 / 15),
        ("second", "a second walk that reads the name", 3),
    ):

        def per_event(result, clock, walked=walked):
            return result[walked][clock] / result["events"] * 1e9

        measure.sampled_row(
            f"event_list_{walked}",
            title,
            "ns per event",
            results,
            lambda result, read=per_event: read(result, "wall"),
            goal=goal,
            cpu=measure.median_cpu(results, lambda result, read=per_event: read(result, "cpu")),
            note=note,
        )


if __name__ == "__main__":
    main()
