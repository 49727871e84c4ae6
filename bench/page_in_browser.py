# SPDX-License-Identifier: Apache-2.0
"""The page of `report` of a million spans in headless Chromium: its first picture beside an empty page's, and frames of
panning and zooming in its timeline.

The work of a frame is that of the page's main thread (script, style, layout, paint), its median over the repetitions
of the 95th percentile of each. A frame is missed if the next one comes more than 1.5 of 1/60 s after it.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import native

import measure
import opscope

ROOT = Path(__file__).resolve().parents[1]
NODE = ROOT / ".venv" / "bin" / "node"
SCRIPT = ROOT / "web" / "tests" / "speed.mjs"
ROWS = {
    "page_first_picture": ("First picture of the page, beside an empty page's", "ms"),
    "page_frame": ("Work for a frame of panning and zooming, 95th percentile", "ms"),
    "page_missed": ("Missed frames of panning and zooming", "%"),
}
FRAMES, MISSED_MS = 200, 1.5 * 1000 / 60


def browser():
    """The Chromium that can be driven here, or None."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found if (ROOT / "web" / "node_modules").exists() and NODE.exists() else None


def percentile_95(values):
    return statistics.quantiles(values, n=20)[-1]


def main():
    options = measure.parse_options(__doc__, ops=1_000_000, quick_ops=20_000)
    chromium = browser()
    if chromium is None:
        for row, (title, unit) in ROWS.items():
            measure.print_absent(row, title, unit, "needs Chromium and Node: tools/setup browser, tools/setup web")
        return
    folder = Path(tempfile.mkdtemp(dir="."))
    try:
        path, page = folder / "trace.json", folder / "trace.html"
        native.write_kineto_json(path, options.ops, "plain", 50)
        trace = opscope.open(path)
        trace.report(page)
        frames = 20 if options.quick else FRAMES
        command = [NODE, SCRIPT, chromium, page.resolve(), "3" if options.quick else "10", str(frames)]
        results = [
            json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            for _ in range(options.repetitions)
        ]
    finally:
        shutil.rmtree(folder)
    note = f"{len(trace.spans):,} spans"
    pictures = {side: measure.figures([ms for result in results for ms in result[side]]) for side in ("page", "empty")}
    work = measure.figures([percentile_95(result["frames"]) for result in results])
    missed = measure.figures([100 * sum(ms > MISSED_MS for ms in result["gaps"]) / frames for result in results])
    judged = {
        "page_first_picture": (pictures["page"], {"theirs": pictures["empty"], "goal": 3.0}),
        "page_frame": (work, {"absolute_goal": 8}),
        "page_missed": (missed, {"absolute_goal": 5}),
    }
    for row, (ours, goals) in judged.items():
        measure.print_row(row, *ROWS[row], ours, note=note, repetitions=options.repetitions, **goals)


if __name__ == "__main__":
    sys.exit(main())
