# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of the gallery, with their fault and mended, and lists their reports: build.py FOLDER [NAME...]

`make docs` does so for build/site/gallery. Open FOLDER/index.html.
"""

import ast
import html
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Gallery of common faults - opscope</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}</style>
<h1>Gallery of common faults</h1>
<p>Each program was recorded with its fault and mended. <code>opscope advise</code> says of the first:</p>
{rows}
</html>
"""
ROW = """<h2>{title}</h2>
<p>{fault}</p>
<blockquote>{advice}</blockquote>
<p><a href="{name}.html">Report with the fault</a>, <a href="{name}_mended.html">report of the mended program</a>
"""


def programs():
    """The names of the programs."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("build", "gallery_run"))


def run(name, folder, *arguments):
    """Runs a program; returns what `opscope advise` says of it, a finding per line."""
    command = [sys.executable, str(HERE / f"{name}.py"), "-o", str(folder), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    printed = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line for line in printed.splitlines() if not line.startswith("report: ")]


def build(folder, names):
    """Writes the reports of these programs, and the page that lists them."""
    rows = []
    for name in names:
        said = run(name, folder)
        run(name, folder, "--mended")
        first_line = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())).partition("\n")[0]
        title, _, fault = first_line.partition(": ")
        texts = {"title": title, "fault": fault[0].upper() + fault[1:], "advice": "\n".join(said), "name": name}
        rows.append(ROW.format_map({key: html.escape(text) for key, text in texts.items()}))
        print(f"{name}: {', '.join(line.partition(':')[0] for line in said)}", flush=True)
    (folder / "index.html").write_text(PAGE.format(rows="".join(rows)))


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(programs()):
        sys.exit(f"usage: build.py FOLDER [NAME...]; names are {', '.join(programs())}")
    build(Path(sys.argv[1]), sys.argv[2:] or programs())
