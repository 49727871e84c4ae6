# SPDX-License-Identifier: Apache-2.0
"""Every format out of the same imported trace of a million operators, beside Chrome JSON out of it.

The other side of each row is opscope's own Chrome JSON, in the same process and repetition, so only the writers are
compared. Files lie on the temporary folder's disk; the import is done before.
"""

import json
import os
import tempfile
import warnings

import measure

# What is judged of them: issue 6 asks it of .opscope.
FORMATS = {"opscope": 0.7, "perfetto": None, "speedscope": None, "collapsed": None, "pprof": None, "csv": None}


def one(flags, ops, repetitions):
    import opscope
    from workloads import FLAGS, TinyOps

    warnings.simplefilter("ignore", opscope.ExportWarning)
    workload = TinyOps()
    with measure.new_profile("opscope", **FLAGS[flags]) as profile:
        workload.run(ops)
    trace = profile.trace
    spans = len(trace.spans)
    results = {name: [] for name in ("chrome", *FORMATS)}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repetitions):
            for name, found in results.items():
                path = os.path.join(folder, name)
                clock = measure.Clock()
                trace.export(path, to=name)
                found.append({**clock.read(), "bytes": os.path.getsize(path), "spans": spans})
                os.unlink(path)
    return results


def main():
    options = measure.parse_options(__doc__, ops=1_000_000, quick_ops=2000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    arguments = {"flags": "shapes", "ops": options.ops, "repetitions": options.repetitions}
    results = measure.in_fresh_process(__file__, arguments)
    per_million = 1e6 / results["chrome"][0]["spans"]
    for name, goal in FORMATS.items():
        sides = {"opscope": results[name], "torch": results["chrome"]}
        size = results[name][0]["bytes"] / results["chrome"][0]["bytes"]
        measure.sampled_row(
            f"export_{name}",
            f"{name} out, beside Chrome JSON out of the same trace",
            "s per million spans",
            sides,
            lambda result: result["wall"],
            per_million,
            goal=goal,
            cpu=measure.median_cpu(sides, lambda result: result["cpu"], per_million),
            note=f"the other side is opscope's JSON; {size:.2f} of its bytes",
        )


if __name__ == "__main__":
    main()
