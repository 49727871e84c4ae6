# SPDX-License-Identifier: Apache-2.0
"""Import of a generated Kineto trace (kineto_json.cc) beside simdjson's DOM and HTA.

opscope is the C++ program import_speed; every side runs in a process of its own, and what is timed begins when the
file's name is known and ends with a table of operators (count and sum by name).
"""

import gzip
import json
import os
import shutil
import zlib
from pathlib import Path

import hta_peer
import native

import measure


def sum_with_hta(path):
    import logging

    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.INFO)
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path), include_last_profiler_step=True)
    return len(analysis.t.get_trace(0).groupby("name")["dur"].agg(["count", "sum"]))


def one(path):
    with hta_peer.silence():
        clock = measure.Clock()
        names = sum_with_hta(path)
        times = clock.read()
    return {**times, "names": names}


def result_of(*arguments):
    (result,) = native.results_of("import_speed", *arguments)
    return result


def print_hta(path, options, python):
    """Kineto JSON to the summary, and .opscope to the summary of chosen spans, beside HTA."""
    found = hta_peer.ask(python, __file__, {"path": str(path)}) if python else None
    title, unit = "Kineto JSON to op summary, beside HTA", "s per million slices"
    if found is None:
        measure.print_absent("import_HTA", title, unit, "it is not installed")
        return
    runs = {"json": [], "opscope": []}
    for _ in range(options.repetitions):
        runs["json"].append(result_of("--summary", path, 1))
        runs["opscope"].append(result_of("--where", path.with_suffix(".opscope"), 1))
    per_million = 1e6 / runs["json"][0]["slices"]
    ours, stored = (measure.figures_of(runs[kind], "wall", per_million) for kind in ("json", "opscope"))
    theirs = measure.figures_of([found], "wall", per_million)
    more = {"repetitions": options.repetitions}
    measure.print_row("import_HTA", title, unit, ours, theirs, goal=1 / 20, **more)
    title = ".opscope to op summary of chosen spans, beside HTA on JSON"
    measure.print_row("import_stored_HTA", title, unit, stored, theirs, goal=1 / 100, **more)


def print_dom(path, options):
    result = result_of(path, options.repetitions, 1)
    per_million = 1e6 / result["slices"]
    sides = {side: {k: v * per_million for k, v in result[side]["wall"].items()} for side in ("import", "dom")}
    cpu = {"ours": result["import"]["cpu"]["median"], "theirs": result["dom"]["cpu"]["median"]}
    cpu = {word: seconds * per_million for word, seconds in cpu.items()}
    title = "Import of Kineto JSON, beside simdjson's DOM of the same bytes"
    note = f"{result['bytes'] / 1e6 / result['import']['wall']['min']:.0f} MB/s"
    more = {"cpu": cpu, "note": note, "repetitions": options.repetitions}
    measure.print_row("import_dom", title, "s per million slices", sides["import"], sides["dom"], goal=2.0, **more)


def print_gzip(path, options):
    packed = path.with_suffix(".json.gz")
    with open(path, "rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    extra, alone = [], []
    for _ in range(options.repetitions):
        plain = result_of("--only", path, 1)
        extra.append({"cpu": result_of("--only", packed, 1)["cpu"] - plain["cpu"]})
        clock, stream = measure.Clock(), zlib.decompressobj(31)
        with open(packed, "rb") as file:
            while piece := file.read(1 << 20):
                stream.decompress(piece)
        alone.append(clock.read())
    per_million = 1e6 / plain["slices"]
    title = "What gzip adds to the import (CPU), beside zlib alone"
    sides = [measure.figures_of(side, "cpu", per_million) for side in (extra, alone)]
    measure.print_row("import_gz", title, "s per million slices", *sides, goal=1.15, repetitions=options.repetitions)
    packed.unlink()


def print_cores(path, options):
    runs = {threads: [] for threads in (1, 2)}
    for _ in range(options.repetitions):
        for threads, found in runs.items():
            found.append(result_of("--summary", path, threads))
    per_million = 1e6 / runs[1][0]["slices"]
    sides = [measure.figures_of(runs[threads], "wall", per_million) for threads in (2, 1)]
    title = "Import and summary on two cores, beside one"
    more = {"goal": 1 / 1.7, "repetitions": options.repetitions}
    measure.print_row("import_cores", title, "s per million slices", *sides, **more)


def print_diff(path, options):
    """Two traces of as many slices and 50 steps each, beside the import of one of them."""
    steps = path.with_name("steps.json")
    native.write_kineto_json(steps, options.ops, "usual", 50)
    result = result_of("--diff", steps, options.repetitions)
    steps.unlink()
    per_million = 1e6 / result["slices"]
    sides = [{k: v * per_million for k, v in result[side]["wall"].items()} for side in ("diff", "import")]
    title, more = (
        "Comparison of two traces, beside the import of one",
        {"goal": 1 / 3, "repetitions": options.repetitions},
    )
    measure.print_row("import_diff", title, "s per million slices", *sides, **more)


def print_memory(paths, options):
    bare, repeated, kept = (result_of("--only", path, 1)["bytes_per_slice"] for path in paths)
    note = f"{repeated:.0f} with arguments that repeat, {kept:.0f} with some that differ in every event: all are kept"
    title = "Peak memory of the import of events without arguments"
    figure = {"min": bare, "median": bare}
    measure.print_row("import_ram", title, "bytes per slice", figure, absolute_goal=64, note=note, repetitions=1)
    if options.quick:
        return
    huge = paths[0].with_name("huge.json")
    try:
        native.write_kineto_json(huge, 12_000_000)
        size = huge.stat().st_size
        run = result_of("--only", huge, 1)
    finally:
        huge.unlink(missing_ok=True)
    title = f"Peak memory of the import of {size / 1e9:.1f} GB of JSON"
    figure = {"min": run["peak_bytes"] / 1e9, "median": run["peak_bytes"] / 1e9}
    note = f"{size / 1e6 / run['wall']:.0f} MB/s on one thread, {run['slices']} slices"
    measure.print_row("import_huge", title, "GB", figure, absolute_goal=4.0, note=note, repetitions=1)


def print_out(path, options):
    runs = [result_of("--out", path, path.parent) for _ in range(options.repetitions)]
    per_million = 1e6 / runs[0]["slices"]
    times = {side: [{"wall": run[side]["wall"]["min"]} for run in runs] for side in ("opscope", "chrome")}
    sides = [measure.figures_of(samples, "wall", per_million) for samples in times.values()]
    title, more = ".opscope out, beside Chrome JSON out", {"goal": 0.7, "repetitions": options.repetitions}
    measure.print_row("import_opscope_out", title, "s per million slices", *sides, **more)


def main():
    options = measure.parse_options(__doc__, ops=1_000_000, quick_ops=20_000, peers="")
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    folder = Path("import_json").resolve()
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{form}.json" for form in ("bare", "plain", "usual")]
    path = paths[-1]
    try:
        for each in paths:
            native.write_kineto_json(each, options.ops, each.stem)
        print_dom(path, options)
        print_out(path, options)  # leaves the .opscope
        (folder / "out.opscope").rename(path.with_suffix(".opscope"))
        print_hta(path, options, hta_peer.python_of(options))
        print_gzip(path, options)
        print_cores(path, options)
        print_diff(path, options)
        print_memory(paths, options)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
