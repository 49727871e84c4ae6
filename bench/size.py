# SPDX-License-Identifier: Apache-2.0
"""Bytes per operator of a recording of ResNet-18 training steps with shapes, against torch's JSON;
and whether exporting the saved file gives the same JSON as exporting the live window."""

import json
import os
import tempfile

import measure


def read_trace(path):
    with open(path) as file:
        document = json.load(file)
    document.pop("traceName", None)  # the path of the file
    return document


def one(side, steps):
    import opscope
    from workloads import ResNetTraining

    workload = ResNetTraining()
    workload.run(2)
    profile = measure.new_profile(side, record_shapes=True)
    profile.start()
    workload.run(steps)
    profile.stop()
    events = len(profile.events())
    with tempfile.TemporaryDirectory() as folder:
        if side == "torch":
            path = os.path.join(folder, "trace.json")
            profile.export_chrome_trace(path)
            return {"events": events, "json": os.path.getsize(path)}
        recording, direct, again = (os.path.join(folder, name) for name in ("r.opscope", "direct.json", "again.json"))
        profile.save(recording)
        profile.export_chrome_trace(direct)
        opscope.open(recording).export(again, to="chrome")
        same = read_trace(direct) == read_trace(again)
        return {"events": events, "opscope": os.path.getsize(recording), "same": same}


def main():
    options = measure.parse_options(__doc__, ops=20, quick_ops=1, repetitions=3)  # ops: steps
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    variants = {side: {"side": side, "steps": options.ops} for side in measure.SIDES}
    results = measure.interleaved(__file__, options.repetitions, variants)
    same = all(result["same"] for result in results["opscope"])
    measure.require_when_quick(same, "a saved recording exports another JSON than the live window", options)
    ours = measure.figures([result["opscope"] / result["events"] for result in results["opscope"]])
    theirs = measure.figures([result["json"] / result["events"] for result in results["torch"]])
    measure.print_row(
        "size_json",
        ".opscope of ResNet-18 steps with shapes, against its JSON",
        "B per op",
        ours,
        theirs,
        1 / 60 if same else None,
        note=f"{options.ops} steps, {results['opscope'][0]['events']} events; "
        f"its export and the direct one {'equal' if same else 'DIFFER, so not judged'}",
        repetitions=options.repetitions,
    )


if __name__ == "__main__":
    main()
