# SPDX-License-Identifier: Apache-2.0
"""One program under both profilers with profile_memory; prints as JSON what each of them saw, torch's first.

In a process of its own, because torch keeps a table of block sizes for the life of the process: a block that
an earlier window saw allocated, and no window saw freed, gives its size to whatever is freed at its address later.

    python memory_under_both.py PROGRAM FOLDER
"""

import json
import pathlib
import sys

import torch
from test_torch_parity import run_under_both
from torch_programs import PROGRAMS

BYTES = ("cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage")


def allocations(prof, path):
    prof.export_chrome_trace(str(path))
    events = [e for e in json.loads(path.read_text())["traceEvents"] if e.get("name") == "[memory]"]
    return sorted(events, key=lambda e: e["ts"])


def seen(prof, folder):
    averages = prof.key_averages()
    return {
        "allocations": allocations(prof, folder / "trace.json"),
        "events": [[e.name, *(getattr(e, name) for name in BYTES)] for e in prof.events()],
        "averages": sorted([row.key, row.count, *(getattr(row, name) for name in BYTES)] for row in averages),
        "table": averages.table(sort_by="self_cpu_memory_usage", row_limit=8),
    }


def main():
    torch.set_num_threads(1)
    profiles = run_under_both(PROGRAMS[sys.argv[1]](), profile_memory=True)
    print(json.dumps([seen(prof, pathlib.Path(sys.argv[2])) for prof in profiles]))


if __name__ == "__main__":
    main()
