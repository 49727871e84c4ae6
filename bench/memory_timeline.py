# SPDX-License-Identifier: Apache-2.0
"""export_memory_timeline of MLP training steps with record_shapes, profile_memory and with_stack.

Fresh process per measurement, after stop; what each side prepares on first use of a recording is in it. The original's
page needs matplotlib and a GPU, so opscope's is measured alone.
"""

import json
import os
import tempfile
import warnings

import measure

EVENTS_PER_STEP = 264  # operators and ranges of one step


def one(side, ops, suffix):
    from workloads import MlpTraining

    workload = MlpTraining()
    workload.run(2)
    warnings.simplefilter("ignore")
    profile = measure.new_profile(side, record_shapes=True, profile_memory=True, with_stack=True)
    profile.start()
    workload.run(max(2, ops // EVENTS_PER_STEP))
    profile.stop()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"timeline.{suffix}")
        clock = measure.Clock()
        profile.export_memory_timeline(path, device="cpu")
        spent = clock.read()
        result = {"time": spent, "bytes": os.path.getsize(path), "ops": ops}
        if suffix == "json":
            with open(path) as file:
                result["last"] = json.load(file)[1][-1]
        return result


def main():
    options = measure.parse_options(__doc__, ops=100000, quick_ops=2000, torch_ops=100000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {
        (side, suffix): {
            "side": side,
            "ops": options.ops if side == "opscope" else min(options.ops, options.torch_ops),
            "suffix": suffix,
        }
        for side in measure.SIDES
        for suffix in ("json", "raw.json.gz", "html")
        if (side, suffix) != ("torch", "html")
    }
    results = measure.interleaved(__file__, options.repetitions, variants)
    if options.torch_ops >= options.ops:
        last = {json.dumps(r["last"]) for side in measure.SIDES for r in results[side, "json"]}
        measure.require_when_quick(len(last) == 1, "memory_timeline: the last rows of both sides differ", options)

    def seconds(kind):
        return lambda result: result["time"][kind] / result["ops"] * 1e5

    for suffix, goal in (("json", 1 / 20), ("raw.json.gz", 1 / 20), ("html", None)):
        sides = {side: results[side, suffix] for side in measure.SIDES if (side, suffix) in results}
        measure.sampled_row(
            f"memory_timeline_{suffix.split('.')[0]}",
            f"export_memory_timeline to .{suffix}, MLP training steps",
            "s per 100 k ops",
            sides,
            seconds("wall"),
            goal=goal if "torch" in sides else None,
            cpu=measure.median_cpu(sides, seconds("cpu")) if "torch" in sides else None,
            note=f"{options.ops} ops",
        )


if __name__ == "__main__":
    main()
