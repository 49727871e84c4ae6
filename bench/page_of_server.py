# SPDX-License-Identifier: Apache-2.0
"""The first picture of `view` of an .opscope that was converted from Kineto JSON, and the server's peak memory.

The time goes from the start of the command until headless Chromium, which runs already, has drawn the page. The JSON
(kineto_json.cc) is streamed into the conversion and never stored. The goals are meant for 5 GB of it: `--ops 12000000`,
which takes some minutes. The usual run has a sixth of that.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import native
import page_in_browser

import measure

SCRIPT = page_in_browser.ROOT / "web" / "tests" / "first_picture.mjs"
ROWS = {
    "page_view_picture": ("First picture of `view` of an .opscope", "s"),
    "page_view_memory": ("Peak memory of `view` until then", "GB"),
}


def convert(folder, ops):
    """The .opscope, and the bytes of the JSON that it was made from."""
    path = folder / "trace.opscope"
    source = subprocess.Popen([native.program("kineto_json"), str(ops), "usual", "50"], stdout=subprocess.PIPE)
    sink = subprocess.Popen([native.COMMAND, "convert", "-", "-o", path], stdin=subprocess.PIPE)
    read = 0
    while piece := source.stdout.read(1 << 20):
        sink.stdin.write(piece)
        read += len(piece)
    sink.stdin.close()
    if source.wait() != 0 or sink.wait() not in (0, 3):
        sys.exit("bench: the trace could not be converted")
    return path, read


def one(path, chromium):
    """Seconds to the first picture, and the peak of the server's memory in bytes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    browser = subprocess.Popen([page_in_browser.NODE, SCRIPT, chromium], **pipes)
    browser.stdout.readline()  # the browser runs
    clock = measure.Clock()
    server = subprocess.Popen([native.COMMAND, "view", path], stdout=subprocess.PIPE, text=True)
    try:
        browser.stdin.write(server.stdout.readline())
        browser.stdin.flush()
        if browser.stdout.readline().strip() != "ready":
            sys.exit("bench: the page of view shows an error")
        took = clock.read()["wall"]
        status = Path(f"/proc/{server.pid}/status").read_text()
        return {"s": took, "bytes": int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024}
    finally:
        server.kill()
        server.communicate()
        browser.communicate()


def main():
    options = measure.parse_options(__doc__, ops=2_000_000, quick_ops=20_000, repetitions=3)
    chromium = page_in_browser.chromium_of_page()
    if chromium is None:
        for row, (title, unit) in ROWS.items():
            measure.print_absent(row, title, unit, page_in_browser.LACKS)
        return
    folder = Path(tempfile.mkdtemp(dir="."))
    try:
        path, read = convert(folder, options.ops)
        results = [one(path, chromium) for _ in range(options.repetitions)]
        size = path.stat().st_size
    finally:
        shutil.rmtree(folder)
    note = f"{read / 1e9:.2f} GB of JSON, {size / 1e6:.0f} MB of .opscope; the goal is meant for 5 GB"
    more = {"note": note, "repetitions": options.repetitions}
    pictures = measure.figures([result["s"] for result in results])
    measure.print_row("page_view_picture", *ROWS["page_view_picture"], pictures, absolute_goal=2, **more)
    memory = measure.figures([result["bytes"] / 1e9 for result in results])
    measure.print_row("page_view_memory", *ROWS["page_view_memory"], memory, absolute_goal=1, **more)


if __name__ == "__main__":
    sys.exit(main())
