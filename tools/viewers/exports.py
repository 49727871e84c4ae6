# SPDX-License-Identifier: Apache-2.0
"""`opscope export` as others read it: exports.py PROGRAM FOLDER TRACE...

Each trace is exported to every format and read by a reader that is not ours: Perfetto's trace processor, speedscope's
own importer (its files, the collapsed stacks), Go's pprof, Python's csv and pandas. Counts and sums per name, parents
and arrows must be those of the csv tables. Prints a line per file and reader; exit code 1: they differ. A reader that
is not installed is named. speedscope's release folder: FOLDER/node_modules/speedscope/dist/release.
"""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import browser

SLICES = (
    "select s.name, count(*), sum(s.dur) from slice s where s.dur >= 0 group by s.name",
    "select s.name, p.name, count(*) from slice s left join slice p on s.parent_id = p.id group by s.name, p.name",
    "select a.name, b.name, count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id "
    "group by a.name, b.name",
    "select count(*), sum(value) from counter",
    "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
)
FRAME = re.compile(r"^(.+)\((\d+)\): (.*)$", re.DOTALL)


class Exports:
    """The files of one trace."""

    def __init__(self, program, folder, trace):
        self.folder = folder
        self._stderr_of = {}
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("perfetto", "speedscope", "collapsed", "pprof"):
            self._stderr_of[name] = self._export(program, trace, name, "--to", name)
        for table in ("spans", "tracks", "async_spans", "instants", "counters", "flows"):
            self._export(program, trace, table, "--to", "csv", "--table", table)
        self.spans = self.table("spans")

    def _export(self, program, trace, name, *options):
        command = [program, "export", str(trace), "-o", str(self.folder / name), *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode not in (0, 3):  # 3: the input was damaged, or ranks are missing
            raise SystemExit(done.stderr)
        return done.stderr

    def table(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, strict=True))

    def is_left_out(self, name, what):
        return what in self._stderr_of[name]


def text_of(field):
    """A text of a csv file without the guard against formulas."""
    return field[1:] if field.startswith("'") else field


def name_of(span):
    name = text_of(span["name"])
    return f"{name}.{text_of(span['overload'])}" if span["overload"] else name


def add(sums, name, duration, times=1):
    sums[name][0] += times
    sums[name][1] += int(duration)


def without_zeros(counter):
    return {key: value for key, value in counter.items() if value}


def differences(what, read, expected):
    for key in sorted({*read, *expected}, key=str):
        if read.get(key) != expected.get(key):
            yield f"{what} {key!r}: {read.get(key)} instead of {expected.get(key)}"


def in_perfetto(exports, answers):
    slices, parents, flows, counters, stats = answers
    expected = defaultdict(lambda: [0, 0])
    for span in exports.spans:
        add(expected, name_of(span), span["duration"])
    for span in exports.table("async_spans"):
        add(expected, text_of(span["name"]), span["duration"])
    for instant in exports.table("instants"):
        add(expected, text_of(instant["name"]), 0)
    read = {name or "": [int(times), int(total)] for name, times, total in slices}
    yield from differences("slices", read, dict(expected))
    names = [name_of(span) for span in exports.spans]
    crossing = exports.is_left_out("perfetto", "cross others")
    if not crossing:  # these lose their parents, as their rows are others
        wanted = Counter()
        for name, span in zip(names, exports.spans, strict=True):
            wanted[name, names[int(span["parent"])] if span["parent"] else None] += 1
        instants = {text_of(row["name"]) for row in exports.table("instants") + exports.table("async_spans")}
        got = {(name or "", parent): int(times) for name, parent, times in parents if name not in instants}
        yield from differences("parents", got, {key: n for key, n in wanted.items() if key[0] not in instants})
    arrows = Counter(
        (names[int(row["start_span"])], names[int(row["end_span"])])
        for row in exports.table("flows")
        if row["start_span"] and row["end_span"]
    )
    if not exports.is_left_out("perfetto", "flows back in time"):
        yield from differences("arrows", {(a, b): int(times) for a, b, times in flows}, dict(arrows))
    samples = [float(row["value"]) for row in exports.table("counters")]
    number, total = counters[0]
    if int(number) != len(samples) or abs(float(total or 0) - sum(samples)) > 1e-6 * max(1.0, abs(sum(samples))):
        yield f"counters: {number} with sum {total} instead of {len(samples)} with {sum(samples)}"
    yield from (f"trace processor says {name}: {value}" for name, value in stats)


def run_speedscope(path):
    release = path.parents[1] / "node_modules" / "speedscope" / "dist" / "release"
    script = Path(__file__).with_name("speedscope.cjs")
    done = subprocess.run(["node", script, release, path], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def in_speedscope(exports):
    """speedscope does not keep calls that took no time."""
    expected = defaultdict(lambda: [0, 0])
    for span in exports.spans:
        if int(span["duration"]) > 0:
            parts = FRAME.match(name_of(span))
            add(expected, f"{parts[3]}|{parts[1]}|{parts[2]}" if parts else f"{name_of(span)}||0", span["duration"])
    read = defaultdict(lambda: [0, 0])
    for profile in run_speedscope(exports.folder / "speedscope"):
        for frame, (times, total, _) in profile["frames"].items():
            if times:
                add(read, frame, total, times)
    yield from differences("frames", dict(read), dict(expected))


def collapsed_sums(exports):
    """{innermost frame: self time} of the file's lines."""
    sums = Counter()
    for line in (exports.folder / "collapsed").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        stack, _, value = line.rpartition(" ")
        sums[stack.rpartition(";")[2]] += int(value)
    return sums


def in_speedscope_collapsed(exports):
    shutil.copy(exports.folder / "collapsed", exports.folder / "collapsed.txt")
    read = Counter()
    for profile in run_speedscope(exports.folder / "collapsed.txt"):
        for frame, (_, _, self_time) in profile["frames"].items():
            read[frame.rpartition("|")[0].rpartition("|")[0]] += self_time
    yield from differences("self times", without_zeros(read), without_zeros(collapsed_sums(exports)))


def in_go_pprof(exports):
    def top(sample):
        command = ["go", "tool", "pprof", "-top", "-unit=ns", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0"]
        command += [f"-sample_index={sample}", str(exports.folder / "pprof")]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        begin = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"])
        return sum(int(line.split()[0].removesuffix("ns")) for line in lines[begin + 1 :])

    kinds = [track["kind"] for track in exports.table("tracks")]
    counted = Counter(
        kinds[int(span["track"])]
        for span in exports.spans
        if span["category"] != "Trace" and not int(span["flags"]) & 2
    )
    times = {"samples": top("samples"), "time": top("time")}
    yield from differences(
        "sum", times, {"samples": counted["0"] + counted["1"], "time": sum(collapsed_sums(exports).values())}
    )


def in_pandas(exports):
    import pandas

    frame = pandas.read_csv(exports.folder / "spans", keep_default_na=False)
    if len(frame) != len(exports.spans):
        yield f"{len(frame)} rows instead of {len(exports.spans)}"
    elif [str(name) for name in frame["name"]] != [span["name"] for span in exports.spans]:
        yield "names differ"


def main(program, folder, traces):
    failed = False
    all_exports = {trace: Exports(program, folder / re.sub(r"\W", "_", trace.name), trace) for trace in traces}
    readers = {"pandas": in_pandas}
    if shutil.which("node") and (folder / "node_modules" / "speedscope").exists():
        readers.update({"speedscope": in_speedscope, "speedscope, collapsed": in_speedscope_collapsed})
    else:
        print("speedscope: not asked, node or its npm package is missing: apt-get install nodejs npm")
    if shutil.which("go"):
        readers["go tool pprof"] = in_go_pprof
    else:
        print("pprof: not asked, there is no go here: apt-get install golang-go")
    if browser.find_browser():
        answers = browser.ask_perfetto([each.folder / "perfetto" for each in all_exports.values()], SLICES)
        by_folder = {each.folder: answer for each, answer in zip(all_exports.values(), answers, strict=True)}
        readers["trace processor"] = lambda exports: in_perfetto(exports, by_folder[exports.folder])
    else:
        print("trace processor: not asked, there is no chromium here: apt-get install chromium")
    for trace, exports in all_exports.items():
        for reader, read in readers.items():
            wrong = list(read(exports))
            print(f"{trace.name:40} {reader:24} {len(exports.spans)} spans, {len(wrong)} wrong")
            for each in wrong[:5]:
                print(f"    {each}")
            failed = failed or bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), [Path(each) for each in sys.argv[3:]]))
