# SPDX-License-Identifier: Apache-2.0
"""export_stacks of MLP training steps with stacks of Python, in a fresh process right after stop.

Both sides make their events at first use, so the file pays for that too.
"""

import json
import os
import tempfile

import measure

EVENTS_PER_STEP = 264  # operators and ranges of one step


def one(side, ops):
    from torch.profiler import _ExperimentalConfig

    from workloads import MlpTraining

    workload = MlpTraining()
    workload.run(2)
    profile = measure.new_profile(side, with_stack=True, experimental_config=_ExperimentalConfig(verbose=True))
    profile.start()
    workload.run(max(2, ops // EVENTS_PER_STEP))
    profile.stop()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stacks.txt")
        clock = measure.Clock()
        profile.export_stacks(path, "self_cpu_time_total")
        spent = clock.read()
        with open(path) as file:
            return {"time": spent, "lines": sum(1 for _ in file), "ops": ops}


def main():
    options = measure.parse_options(__doc__, ops=100000, quick_ops=2000, torch_ops=20000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {
        side: {"side": side, "ops": options.ops if side == "opscope" else min(options.ops, options.torch_ops)}
        for side in measure.SIDES
    }
    results = measure.interleaved(__file__, options.repetitions, variants)
    lines = min(result["lines"] for side in measure.SIDES for result in results[side])
    measure.require_when_quick(lines > 0, "stacks: a side has written no stack", options)

    measure.sampled_row(
        "export_stacks_first",
        "export_stacks right after stop, MLP training steps with stacks",
        "s per 100 k ops",
        results,
        lambda result: result["time"]["wall"] / result["ops"],
        1e5,
        goal=1 / 20,
        cpu=measure.median_cpu(results, lambda result: result["time"]["cpu"] / result["ops"], 1e5),
        note=f"opscope {options.ops}, torch {min(options.ops, options.torch_ops)} ops",
    )


if __name__ == "__main__":
    main()
