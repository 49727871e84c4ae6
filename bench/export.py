# SPDX-License-Identifier: Apache-2.0
"""Export as Chrome JSON, plain and gzipped, each in a fresh process right after stop; and the bytes of the latter.

opscope imports its recording at first use, so its first export pays for that too; torch prepares its events in stop.
Two rows that are not judged show the halves: stop and export together, and export with the import done before.
"""

import json
import os
import tempfile

import measure


def export(profile, side, form, folder):
    """Writes the file and returns its path."""
    path = os.path.join(folder, "trace.json" if form == "json" else "trace.json.gz")
    if form == "small_gz":
        profile.trace._core.export_chrome(path, small_gzip=True)
    else:
        profile.export_chrome_trace(path)
    return path


def one(side, flags, ops, form, import_before=False):
    from workloads import FLAGS, TinyOps

    workload = TinyOps()
    profile = measure.new_profile(side, **FLAGS[flags])
    profile.start()
    workload.run(ops)
    stop = measure.Clock()
    profile.stop()
    stop = stop.read()
    if import_before:
        len(profile.trace.spans)
    with tempfile.TemporaryDirectory() as folder:
        clock = measure.Clock()
        path = export(profile, side, form, folder)
        return {"time": clock.read(), "stop": stop, "bytes": os.path.getsize(path)}


def print_rows(results, flags, words, options):
    per_million = 1e6 / options.ops

    def row(name, title, form, their_form, goal=None, largest=None, with_stop=False):
        sides = {"opscope": results["opscope", flags, form], "torch": results["torch", flags, their_form]}
        size = sides["opscope"][0]["bytes"] / sides["torch"][0]["bytes"]
        if largest is not None:
            note = f"{size:.2f} of torch's gz bytes, at most {largest} asked"
        else:
            note = f"{size:.2f} of torch's bytes"

        def time_of(result, kind):
            return result["time"][kind] + (result["stop"][kind] if with_stop else 0)

        measure.sampled_row(
            f"{name}_{flags}",
            f"{title}, {words}",
            "s per million ops",
            sides,
            lambda result: time_of(result, "wall"),
            per_million,
            goal=goal if largest is None or size <= largest else None,
            cpu=measure.median_cpu(sides, lambda result: time_of(result, "cpu"), per_million),
            note=note,
        )

    row("json", "Chrome JSON right after stop", "json", "json", 1 / 15)
    row("json_and_stop", "stop and Chrome JSON", "json", "json", with_stop=True)
    row("json_imported", "Chrome JSON, import done before", "json_imported", "json")
    row("gz", "JSON.gz right after stop", "gz", "gz", 1 / 60, largest=1)
    row("gz_small", "JSON.gz, small, right after stop", "small_gz", "gz", 1 / 8, largest=1)
    for name, words_of_form, form in (("gz_bytes", "JSON.gz", "gz"), ("gz_small_bytes", "JSON.gz, small", "small_gz")):
        sides = {"opscope": results["opscope", flags, form], "torch": results["torch", flags, "gz"]}
        title = f"{words_of_form}: bytes, {words}"
        measure.sampled_row(
            f"{name}_{flags}", title, "B per op", sides, lambda r: r["bytes"], 1 / options.ops, goal=1.0
        )


def main():
    options = measure.parse_options(__doc__, ops=100000, quick_ops=2000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    for flags, words in (("none", "no flags"), ("shapes", "record_shapes")):
        variants = {}
        for side, form in (
            ("opscope", "json"),
            ("torch", "json"),
            ("opscope", "gz"),
            ("torch", "gz"),
            ("opscope", "small_gz"),
        ):
            variants[side, flags, form] = {"side": side, "flags": flags, "ops": options.ops, "form": form}
        variants["opscope", flags, "json_imported"] = {**variants["opscope", flags, "json"], "import_before": True}
        print_rows(measure.interleaved(__file__, options.repetitions, variants), flags, words, options)


if __name__ == "__main__":
    main()
