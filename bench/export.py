# SPDX-License-Identifier: Apache-2.0
"""Export as Chrome JSON, plain and gzipped, each in a fresh process right after stop.

opscope imports its recording at first use, so its first export pays for that too; torch prepares its events in stop.
"""

import json
import os
import tempfile

import measure

FORMS = {  # form: row, title, ending of the file, goal
    "json": ("json_none", "Chrome JSON right after stop, no flags", ".json", 1 / 15),
    "gz": ("gz_none", "JSON.gz right after stop, no flags", ".json.gz", 1 / 60),
}


def one(side, ops, form):
    from workloads import TinyOps

    workload = TinyOps()
    profile = measure.new_profile(side)
    profile.start()
    workload.run(ops)
    profile.stop()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace" + FORMS[form][2])
        clock = measure.Clock()
        profile.export_chrome_trace(path)
        return {"time": clock.read(), "bytes": os.path.getsize(path)}


def main():
    options = measure.parse_options(__doc__, ops=100000, quick_ops=2000, repetitions=3)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {
        (side, form): {"side": side, "ops": options.ops, "form": form} for form in FORMS for side in measure.SIDES
    }
    results = measure.interleaved(__file__, options.repetitions, variants)
    per_million = 1e6 / options.ops
    for form, (row, title, _, goal) in FORMS.items():
        sides = {side: results[side, form] for side in measure.SIDES}
        measure.sampled_row(
            row,
            title,
            "s per million ops",
            sides,
            lambda result: result["time"]["wall"],
            per_million,
            goal=goal,
            cpu=measure.median_cpu(sides, lambda result: result["time"]["cpu"], per_million),
            note=f"{sides['opscope'][0]['bytes'] / sides['torch'][0]['bytes']:.2f} of torch's bytes",
        )


if __name__ == "__main__":
    main()
