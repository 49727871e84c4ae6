# SPDX-License-Identifier: Apache-2.0
"""What each viewer reads of FOLDER/{opscope,torch}/rank-0.json: operators, how often, and the sum of their times.

Both files are of one run that both profilers saw. A viewer must find each operator as often in the one as in the other,
and the sum that the file has. Exit code 1: a viewer does not.
"""

import contextlib
import io
import json
import logging
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import browser

# Of one event, in microseconds: HTA rounds both ends of each to whole ones, the others keep a double, whose digits
# end in the third place for times as large as torch's.
ROUNDING = {"HTA": 2.0, "TensorBoard": 0.002}


def in_file(path):
    """{name: (times, microseconds)} of the operators and ranges."""
    found = defaultdict(lambda: [0, 0.0])
    for event in json.loads(path.read_text(encoding="utf-8"))["traceEvents"]:
        if event.get("cat") in ("cpu_op", "user_annotation") and event.get("ph") == "X":
            found[event["name"]][0] += 1
            found[event["name"]][1] += event["dur"]
    return {name: tuple(value) for name, value in found.items()}


def in_hta(path):
    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.INFO)
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True)
    names = analysis.t.symbol_table.get_sym_table()
    rows = analysis.t.get_trace(0).groupby("name")["dur"].agg(["count", "sum"])
    return {names[name]: (int(row["count"]), float(row["sum"])) for name, row in rows.iterrows()}


def in_tensorboard(path):
    from torch_tb_profiler.profiler.data import RunProfileData

    with tempfile.TemporaryDirectory() as cache:
        data = RunProfileData.parse("worker", "span", str(path), cache)
    data.process()
    return {operator.name: (operator.calls, operator.host_duration) for operator in data.op_list_groupby_name}


VIEWERS = {"HTA": in_hta, "TensorBoard": in_tensorboard}


def wrongly_read(viewer, read, expected, beside):
    """Operators that a viewer counts otherwise than in the other file, or whose sum is not the file's.

    Beside the other file, not this one: TensorBoard folds an operator into one of its name that encloses it.
    """
    for name, (times, total) in sorted(expected.items()):
        seen, sum_us = read.get(name, (0, 0.0))
        if seen != beside.get(name, (0, 0.0))[0]:
            yield f"{name}: {seen} times, {beside.get(name, (0, 0.0))[0]} in the other file"
        elif seen == times and abs(sum_us - total) > max(times * ROUNDING.get(viewer, 0.0), 1e-3 + 1e-6 * total):
            yield f"{name}: {sum_us:.3f} us, in the file {total:.3f}"


def main(folder):
    failed = False
    paths = {kind: folder / kind / "rank-0.json" for kind in ("opscope", "torch")}
    expected = {kind: in_file(path) for kind, path in paths.items()}
    for viewer, read in dict(VIEWERS, **browser.viewers(folder)).items():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = {kind: read(path) for kind, path in paths.items()}
        for kind, other in (("opscope", "torch"), ("torch", "opscope")):
            known = [value for name, value in found[kind].items() if name in expected[kind]]
            wrong = list(wrongly_read(viewer, found[kind], expected[kind], found[other]))
            events, total = sum(times for times, _ in known), sum(sum_us for _, sum_us in known)
            print(
                f"{viewer:14} {kind:8} {len(known)} names, {events} events, {total / 1000:.3f} ms, {len(wrong)} wrong"
            )
            for each in wrong[:5]:
                print(f"    {each}")
            failed = failed or bool(wrong) or not known
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
