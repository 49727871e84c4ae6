# SPDX-License-Identifier: Apache-2.0
"""export_stacks of MLP training steps with stacks of Python, in a fresh process right after stop.

Both sides make their events at first use, so the first file pays for that too; a row that is not judged shows the
second file of the same profile.
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
        times = []
        for number in (1, 2):
            path = os.path.join(folder, f"stacks{number}.txt")
            clock = measure.Clock()
            profile.export_stacks(path, "self_cpu_time_total")
            times.append(clock.read())
        with open(path) as file:
            lines = sum(1 for _ in file)
    return {"first": times[0], "second": times[1], "lines": lines, "ops": ops}


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

    def seconds(when, kind):
        return lambda result: result[when][kind] / result["ops"] * 1e5

    for when, title, goal in (
        ("first", "export_stacks right after stop", 1 / 20),
        ("second", "export_stacks again", None),
    ):
        measure.sampled_row(
            f"export_stacks_{when}",
            f"{title}, MLP training steps with stacks",
            "s per 100 k ops",
            results,
            seconds(when, "wall"),
            goal=goal,
            cpu=measure.median_cpu(results, seconds(when, "cpu")),
            note=f"opscope {options.ops}, torch {min(options.ops, options.torch_ops)} ops",
        )


if __name__ == "__main__":
    main()
