# SPDX-License-Identifier: Apache-2.0
"""What HTA and `opscope devices` say of real traces: why each stream was idle, launches, overlap of communication.

Usage: devices_compare.py OPSCOPE TRACE... Exit code 1: they differ by more than HTA's rounding of times.
"""

import contextlib
import gzip
import io
import json
import logging
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDING_NS = 2_000  # of each work: HTA rounds both ends of it to whole microseconds


def in_hta(document, folder):
    """{(stream, cause): ns}, works with a launch, their mean delay (ns), the share of communication that is hidden."""
    from hta.trace_analysis import TraceAnalysis

    logging.disable(logging.CRITICAL)
    path = Path(folder) / "rank0.json"
    path.write_text(json.dumps({"distributedInfo": {"rank": 0}} | document))
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(folder), include_last_profiler_step=True)
    idle, _ = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
    causes = {(str(row["stream"]), row["idle_category"]): row["idle_time"] * 1000 for _, row in idle.iterrows()}
    launches = analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]["launch_delay"]
    hidden = analysis.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"].iloc[0] / 100
    return causes, len(launches), float(launches.clip(lower=0).mean()) * 1000, hidden


def in_opscope(opscope, path):
    rows = json.loads(subprocess.run([opscope, "devices", "--json", path], capture_output=True, check=False).stdout)
    rows = rows["rows"]
    names = {"host_wait": "host_wait_ns", "kernel_wait": "kernel_wait_ns", "other": "other_wait_ns"}
    causes = {(r["stream"], name): r[key] for r in rows[1:] for name, key in names.items()}
    all_streams = rows[0]
    communication = all_streams["communication_ns"]
    hidden = all_streams["overlap_ns"] / communication if communication else math.nan
    return causes, all_streams["launched"], all_streams["launch_delay_mean_ns"], hidden, all_streams["spans"]


def differences(theirs, ours):
    causes, launched, delay, hidden = theirs
    own_causes, own_launched, own_delay, own_hidden, works = ours
    for key, time in causes.items():
        # A gap that rounding made longer than 30 us, or closed, counts for another cause: the sum of a stream holds.
        stream = key[0]
        sums = [sum(t for (s, _), t in each.items() if s == stream) for each in (causes, own_causes)]
        if abs(time - own_causes.get(key, 0)) > works * ROUNDING_NS or abs(sums[0] - sums[1]) > works * ROUNDING_NS:
            yield f"stream {key[0]}, {key[1]}: {time} ns, here {own_causes.get(key, 0)}"
    if launched != own_launched:
        yield f"{launched} works with a launch, here {own_launched}"
    if abs(delay - own_delay) > ROUNDING_NS:
        yield f"mean delay {delay:.0f} ns, here {own_delay}"
    if not (math.isnan(hidden) and math.isnan(own_hidden)) and not abs(hidden - own_hidden) <= 0.01:
        yield f"hidden communication {hidden:.4f}, here {own_hidden:.4f}"


def main(opscope, paths):
    failed = False
    for path in paths:
        document = json.loads(gzip.open(path).read())
        with tempfile.TemporaryDirectory() as folder:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                theirs = in_hta(document, folder)
        found = list(differences(theirs, in_opscope(opscope, path)))
        print(f"HTA devices    {Path(path).name}: {len(theirs[0])} causes, {theirs[1]} launches, {len(found)} wrong")
        for each in found[:5]:
            print(f"    {each}")
        failed = failed or bool(found)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
