# SPDX-License-Identifier: Apache-2.0
"""Each analysis of 10 M spans in memory, beside one pass over the starts, durations and names of all spans.

The trace is a generated one with a GPU and 50 steps (kineto_json.cc); both sides run in turns in one process
(analysis_speed.cc), on one thread.
"""

import shutil
import tempfile
from pathlib import Path

import native

import measure

TITLES = {
    "summary": "Operator summary",
    "steps": "Steps",
    "devices": "Devices",
    "memory": "Memory",
    "critical_path": "Critical path",
    "advise": "Advice",
    "roofline": "Roofline",
}
PASSES, PASSES_OF_THE_CRITICAL_PATH = 12, 30


def main():
    options = measure.parse_options(__doc__, ops=10_000_000, quick_ops=20_000)
    folder = Path(tempfile.mkdtemp(dir="."))
    try:
        path = folder / "trace.json"
        native.write_kineto_json(path, options.ops, "plain", 50)
        (result,) = native.results_of("analysis_speed", path, options.repetitions)
    finally:
        shutil.rmtree(folder)
    measure.say(f"{result['spans']:,} spans")
    for name, title in TITLES.items():
        measure.print_row(
            f"analysis_{name}",
            title,
            "s",
            result[name],
            result["pass"],
            goal=PASSES_OF_THE_CRITICAL_PATH if name == "critical_path" else PASSES,
            repetitions=options.repetitions,
        )


if __name__ == "__main__":
    main()
