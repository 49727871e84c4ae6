# SPDX-License-Identifier: Apache-2.0
"""Resident memory per operator after stop and after events(). Fresh processes.

The base of opscope's side is taken before its first window, so its pool and all that it loads count; that of the
original after a first small window, so that 70 MiB of libraries do not. The original needs 4.6 to 8.7 GB for a million
operators, so its side runs with fewer; its bytes per operator grow with the number, which favours it too.
"""

import gc
import json

import measure


def one(side, ops):
    from workloads import TinyOps

    workload = TinyOps()
    workload.run(1000)
    first = measure.resident_bytes()
    warm = measure.new_profile(side)
    warm.start()
    workload.run(1000)
    warm.stop()
    warm.events()[0]
    del warm
    gc.collect()
    profile = measure.new_profile(side)
    base = first if side == "opscope" else measure.resident_bytes()
    grown = {}
    profile.start()
    workload.run(ops)
    profile.stop()
    grown["stop"] = (measure.resident_bytes() - base) / ops
    events = profile.events()
    grown["events"] = (measure.resident_bytes() - base) / ops
    del events
    return grown


def main():
    options = measure.parse_options(__doc__, ops=1000000, quick_ops=2000, repetitions=3, torch_ops=200000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    torch_ops = min(options.torch_ops, options.ops)
    variants = {"opscope": {"side": "opscope", "ops": options.ops}, "torch": {"side": "torch", "ops": torch_ops}}
    results = measure.interleaved(__file__, options.repetitions, variants)
    note = f"{options.ops} ops; torch's side {torch_ops}"
    for stage, title, goal in (
        ("stop", "after stop", 1 / 10),
        ("events", "after events()", 1 / 25),
    ):
        measure.sampled_row(
            f"ram_{stage}_none",
            f"RAM {title}, no flags",
            "B per op",
            results,
            lambda result, stage=stage: result[stage],
            note=note,
            goal=goal,
        )


if __name__ == "__main__":
    main()
