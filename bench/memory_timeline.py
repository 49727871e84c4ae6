# SPDX-License-Identifier: Apache-2.0
"""export_memory_timeline of MLP training steps with record_shapes, profile_memory and with_stack.

Fresh process per measurement, after stop; what each side prepares on first use of a recording is in it.
"""

import json
import os
import tempfile
import warnings

import measure

EVENTS_PER_STEP = 264  # operators and ranges of one step


def one(side, ops):
    from workloads import MlpTraining

    workload = MlpTraining()
    workload.run(2)
    warnings.simplefilter("ignore")
    profile = measure.new_profile(side, record_shapes=True, profile_memory=True, with_stack=True)
    profile.start()
    workload.run(max(2, ops // EVENTS_PER_STEP))
    profile.stop()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "timeline.json")
        clock = measure.Clock()
        profile.export_memory_timeline(path, device="cpu")
        spent = clock.read()
        with open(path) as file:
            return {"time": spent, "last": json.load(file)[1][-1]}


def main():
    options = measure.parse_options(__doc__, ops=100000, quick_ops=2000, repetitions=3)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {side: {"side": side, "ops": options.ops} for side in measure.SIDES}
    results = measure.interleaved(__file__, options.repetitions, variants)
    last = {json.dumps(result["last"]) for side in measure.SIDES for result in results[side]}
    measure.require_when_quick(len(last) == 1, "memory_timeline: the last rows of both sides differ", options)
    measure.sampled_row(
        "memory_timeline_json",
        "export_memory_timeline to .json, MLP training steps",
        "s per 100 k ops",
        results,
        lambda result: result["time"]["wall"],
        1e5 / options.ops,
        goal=1 / 20,
        cpu=measure.median_cpu(results, lambda result: result["time"]["cpu"], 1e5 / options.ops),
        note=f"{options.ops} ops",
    )


if __name__ == "__main__":
    main()
