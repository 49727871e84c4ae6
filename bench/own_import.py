# SPDX-License-Identifier: Apache-2.0
"""The import of 1 M spans as opscope's own scopes record it, held by `opscope check` against a stored baseline.

own_import.cc records. bench/baseline/import.json is the accepted recording, shortened to one span per phase, and
bench/baseline/import.toml has the limits. Seconds depend on the machine and on what else it does, so the baseline is
stretched first: its `calibrate` is made as long as that of the new recording. Then what is compared are ratios of
phases that ran in turns, and these moved by 30 % at most where the seconds themselves moved by 200 %. A recording that
crosses a limit is made anew twice, because a slower opscope crosses it every time. If all three do, `make bench` fails.

--update-baseline stores the recording; say in the commit why it moved. --repeat PHASE=TIMES does the work of one phase
several times: a planted slowdown.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import native

import measure
import opscope

STORED = Path(__file__).resolve().parent / "baseline"
CALIBRATION = "calibrate"
ATTEMPTS = 3
LIMIT_CROSSED = 4  # exit code of `opscope check`
PLANTED = 20  # times as much work, where a phase is too short to be measured well


def record(folder, trace, repetitions, repeat=""):
    """The path of the recording, and the seconds of each phase in it."""
    path = folder / "own.opscope"
    more = repeat.split("=") if repeat else []
    subprocess.run([native.program("own_import"), trace, path, str(repetitions), *more], check=True)
    return path, {row["name"]: row["total_ns"] / 1e9 for row in opscope.open(str(path)).summary()}


def write_baseline(path, seconds):
    """The phases one after the other, as a Chrome trace."""
    events, start = [], 0.0
    for name, duration in sorted(seconds.items()):
        span = {"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": round(start, 3), "dur": round(duration * 1e6, 3)}
        events.append(span)
        start += duration * 1e6
    path.write_text(json.dumps({"traceEvents": events}, indent=1) + "\n")


def read_baseline(path):
    return {row["name"]: row["total_ns"] / 1e9 for row in opscope.open(str(path)).summary()}


def check(folder, recording, seconds, baseline):
    """(whether `opscope check` crosses a limit, what it says of those that are crossed)"""
    stretch = seconds[CALIBRATION] / baseline[CALIBRATION]
    stretched = folder / "baseline.json"
    write_baseline(stretched, {name: duration * stretch for name, duration in baseline.items()})
    limits = ["--rules", STORED / "import.toml", "--baseline", stretched, "--json"]
    command = [sys.executable, "-m", "opscope", "check", recording, *limits]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode not in (0, LIMIT_CROSSED):
        raise SystemExit(f"bench: opscope check ended with exit code {done.returncode}")
    crossed = [row["message"] for row in json.loads(done.stdout)["rows"] if not row["passed"]]
    return done.returncode == LIMIT_CROSSED, crossed


def measure_until_it_passes(folder, trace, options, baseline):
    """(seconds, what is crossed) of the first recording that passes, or of the last one."""
    for _ in range(ATTEMPTS):
        recording, seconds = record(folder, trace, options.repetitions, options.repeat)
        failed, crossed = check(folder, recording, seconds, baseline)
        if not failed:
            break
        measure.say("own_import: " + "; ".join(crossed))
    return seconds, crossed


def ratio(seconds):
    return (sum(seconds.values()) - seconds[CALIBRATION]) / seconds[CALIBRATION]


def print_ratio(seconds, baseline, options):
    more = ", ".join(
        f"{name} {seconds[name] / seconds[CALIBRATION] / (baseline[name] / baseline[CALIBRATION]):.2f}"
        for name in sorted(baseline)
        if name != CALIBRATION
    )
    ours, theirs = ({"min": value, "median": value} for value in (ratio(seconds), ratio(baseline)))
    title = "Import, export and summary of 1 M spans, recorded by opscope's own scopes, against the stored baseline"
    note = f"beside the baseline: {more}"
    more = {"goal": 1.5, "repetitions": options.repetitions, "note": note}
    measure.print_row("import_own", title, "times a calibrating loop", ours, theirs, **more)


def try_quickly(folder, trace):
    """A recording passes against itself, and fails when a phase does more."""
    recording, seconds = record(folder, trace, 1)
    write_baseline(folder / "stored.json", seconds)
    stored = read_baseline(folder / "stored.json")
    failed, crossed = check(folder, recording, seconds, stored)
    if failed:
        raise SystemExit(f"bench: a recording crosses limits against itself: {crossed}")
    for _ in range(ATTEMPTS):  # a calibration that was interrupted for long makes all phases look short
        failed, crossed = check(folder, *record(folder, trace, 1, f"import_json={PLANTED}"), stored)
        if failed and any("import_json" in message for message in crossed):
            return seconds, stored
    raise SystemExit(f"bench: opscope check did not find an import that did its work {PLANTED} times: {crossed}")


def main():
    update = "--update-baseline" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--update-baseline"]
    options = measure.parse_options(__doc__, ops=1_000_000, quick_ops=20_000, repeat="")
    folder = Path(tempfile.mkdtemp(dir="."))
    crossed = []
    try:
        trace = folder / "trace.json"
        native.write_kineto_json(trace, options.ops, "usual", 50)
        if options.quick:
            seconds, baseline = try_quickly(folder, trace)
        elif update:
            seconds = baseline = record(folder, trace, options.repetitions)[1]
            write_baseline(STORED / "import.json", seconds)
        else:
            baseline = read_baseline(STORED / "import.json")
            seconds, crossed = measure_until_it_passes(folder, trace, options, baseline)
    finally:
        shutil.rmtree(folder)
    print_ratio(seconds, baseline, options)
    if crossed:
        words = "; ".join(crossed)
        raise SystemExit(
            f"bench: the import is slower than its stored baseline, in {ATTEMPTS} recordings: {words}. If that is "
            "meant, say why in the commit, and store it: bench/own_import.py --update-baseline"
        )


if __name__ == "__main__":
    main()
