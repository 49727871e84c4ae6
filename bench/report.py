# SPDX-License-Identifier: Apache-2.0
"""Turns rows (JSON lines, bench/measure.py) into documents: bench/report.py ROWS.jsonl... -o docs

-o FOLDER: writes explanation/performance.md, what the rows show in short, and the pages of PAGES, which have the rows.
Without it the rows are printed. --check: reads them and writes nothing; fails without rows.
"""

import argparse
import datetime
import json
import os
import platform
import sys
from pathlib import Path

import opscope

# Page of docs/reference -> (title, which question it answers, {section: how the names of its rows begin}).
PAGES = {
    "benchmarks_recorder": (
        "Benchmarks of the recorder",
        "what the recorder itself costs, in a C++ program",
        {
            "Native scopes": ("native_",),
            "Fork": ("fork_",),
            "Instructions": ("instructions_",),
            "Corrected times": ("corrected_",),
            "Flight recorder": ("flight_",),
            "Programs under `opscope run`": ("run_",),
        },
    ),
    "benchmarks_torch": (
        "Benchmarks of opscope.torch",
        "what recording a PyTorch program and reading the result cost",
        {
            "Added time per operator": ("op_",),
            "Added time of a training step": ("step",),
            "Trainers, cells of notebooks, tests": ("trainer_",),
            "Calls of Python": ("call_",),
            "Ranges and steps of the program": ("user_",),
            "Start and stop": ("stop_", "start"),
            "From stop to the table": ("after_stop", "all_flags"),
            "Cycles": ("acc_events",),
            "Size of a recording": ("size_",),
            "Memory": ("ram_",),
        },
    ),
    "benchmarks_files": (
        "Benchmarks of files",
        "what reading, merging and writing files cost",
        {
            "Import of other tools' files": ("import_",),
            "Analyses": ("analysis_",),
            "Start of the command": ("command_",),
            "Page": ("page_",),
            "Records of CUPTI": ("device_",),
            "Merge": ("merge_",),
            "Many ranks": ("job_",),
            "SQL": ("query_",),
            "Export": ("json", "gz", "export_", "memory_timeline"),
        },
    ),
    "benchmarks_frameworks": (
        "Benchmarks of opscope.paddle and opscope.megengine",
        "what recording Paddle and MegEngine costs",
        {
            "Paddle": ("paddle_",),
            "MegEngine": ("megengine_",),
        },
    ),
    "benchmarks_build": (
        "Benchmarks of the build",
        "what compiling opscope costs",
        {
            "Compiling opscope": ("build_",),
        },
    ),
}
# The document begins with these, of a run that has measured them all.
IN_SHORT = (
    ("op_none", "an operator, no flags"),
    ("op_shapes", "an operator, `record_shapes`"),
    ("op_all", "an operator, all flags"),
    ("step", "a training step of a small network, no flags"),
    ("step_all", "the same, all flags"),
    ("stop_none", "`stop()`"),
    ("after_stop_tiny_none", "`stop()`, `events()`, a walk over them and the table"),
    ("json_none", "`export_chrome_trace` right after `stop()`"),
    ("size_json", "bytes of a recording with shapes; `.opscope` against JSON"),
    ("ram_stop_none", "memory of a recording after `stop()`"),
)
PERFORMANCE = """# Performance

This page says what recording and reading cost, beside the profilers of the frameworks. `make bench` writes it. Each
figure was measured by the run that is named here, both sides in that same run; the rows are on the pages below.

{facts}

{short}
{judged}

## The rows

{pages}

## How to read a row

"ours" is opscope, "theirs" what the row is compared with: `torch.profiler` of the same torch, or what the title says.
The judged ratio is minimum by minimum, because other work on the machine only ever adds; the ratio of the medians
stands beside it. Added times are the difference to the same loop without a profiler in the same round, which other
work can make less as well as more: there the medians are judged. CPU is the median process CPU time, ours / theirs.
Ratios carry over to other machines, nanoseconds do not.
"""
PAGE = """# {title}

This page lists {question}.
[Performance](../explanation/performance.md) says on which machine the rows were measured, and how to read them.
"""


def frameworks():
    """What the rows are about, by name and version, where it is installed."""
    root = Path(__file__).resolve().parent.parent
    for name, package, environment in (
        ("torch", "torch", ".venv"),
        ("Paddle", "paddlepaddle", ".venv"),
        ("MegEngine", "[Mm]eg[Ee]ngine", ".venv-megengine"),
    ):
        found = sorted((root / environment).glob(f"lib/python*/site-packages/{package}-*.dist-info"))
        if found:
            yield name, found[0].stem.split("-")[1]


def machine_facts(command):
    def first(path, key):
        with open(path) as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key)), "unknown")

    versions = ", ".join(f"{name} {version}" for name, version in (("opscope", opscope.__version__), *frameworks()))
    memory = int(first("/proc/meminfo", "MemTotal").split()[0]) / 2**20
    return "\n".join(
        (
            f"- date: {datetime.date.today().isoformat()}",
            f"- machine: {first('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores, {memory:.0f} GiB, "
            f"Linux {platform.release().split('-')[0]}; load at the end {os.getloadavg()[1]:.1f}",
            f"- versions: {versions}, Python {platform.python_version()}",
            f"- command: `{command}`",
        )
    )


def number(value):
    if value is None:
        return "-"
    if value == 0:
        return "0"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 4
    return f"{value:.{digits}f}"


def ratio(value):
    if value is None:
        return "-"
    return f"1/{1 / value:.0f}" if 0 < value < 0.1 else f"{value:.2f}"


def pair(row, kind):
    figures = row[kind]
    return number(figures.get("ours")), number(figures.get("theirs"))


def table(rows, notes):
    """The rows; a row with a note carries its number."""
    yield "| row | unit | ours, min (median) | theirs, min (median) | ratio (of medians) | CPU | goal | met |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |"
    for row in rows:
        (ours_min, theirs_min), (ours_median, theirs_median) = pair(row, "min"), pair(row, "median")
        theirs = f"{theirs_min} ({theirs_median})" if "theirs" in row else ""
        ratios = f"{ratio(row['ratio'])} ({ratio(row['ratio_of_medians'])})" if "ratio" in row else ""
        cpu = f"{number(row['cpu']['ours'])} / {number(row['cpu']['theirs'])}" if "cpu" in row else ""
        met = {True: "yes", False: "**no**"}.get(row.get("met"), "")
        title = row["title"] + (f" [{notes.index(row['note']) + 1}]" if row["note"] else "")
        cells = (title, row["unit"], f"{ours_min} ({ours_median})", theirs, ratios, cpu, row.get("goal", ""), met)
        yield "| " + " | ".join(cells) + " |"


def short_table(rows):
    """What opscope takes of what torch.profiler takes for the same; nothing where a row is missing."""
    ratios = {row["row"]: row[row.get("judged", "ratio")] for row in rows if "ratio" in row}
    if not all(name in ratios for name, _ in IN_SHORT):
        return
    yield "| what | opscope takes, of what torch.profiler takes |"
    yield "| --- | ---: |"
    for name, words in IN_SHORT:
        yield f"| {words} | {ratio(ratios[name])} |"
    yield ""


def judgement(rows):
    judged = [row for row in rows if "met" in row]
    missed = [row["title"] for row in judged if not row["met"]]
    yield f"{len(judged) - len(missed)} of {len(judged)} judged rows meet their goal." + (" Missed:" if missed else "")
    yield from [""] * bool(missed)
    for title in missed:
        yield f"- {title}"


def performance(rows, command):
    links = [f"- [{title}](../reference/{name}.md): {question}" for name, (title, question, _) in PAGES.items()]
    return PERFORMANCE.format(
        facts=machine_facts(command),
        short="\n".join(short_table(rows)),
        judged="\n".join(judgement(rows)),
        pages="\n".join(links),
    )


def sections(rows, starts):
    """The tables of the rows that belong to these sections."""
    for title, names in starts.items():
        chosen = [row for row in rows if row["row"].startswith(names)]
        if not chosen:
            continue
        yield f"\n## {title}\n"
        notes = list(dict.fromkeys(row["note"] for row in chosen if row["note"]))
        yield from table(chosen, notes)
        yield ""
        yield f"Repetitions: {', '.join(map(str, sorted({row['repetitions'] for row in chosen})))}."
        yield from [""] * bool(notes)
        for index, note in enumerate(notes):
            yield f"- [{index + 1}] {note}."


def pages(rows):
    """(name, text) of the pages of PAGES. A row that no section knows is an error."""
    known = tuple(start for _, _, starts in PAGES.values() for names in starts.values() for start in names)
    if unknown := [row["row"] for row in rows if not row["row"].startswith(known)]:
        sys.exit(f"bench: no page has a section for the rows {', '.join(unknown)}")
    for name, (title, question, starts) in PAGES.items():
        yield name, PAGE.format(title=title, question=question) + "\n".join(sections(rows, starts)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--command", default="make bench")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = [json.loads(line) for file in options.rows for line in file.read_text().splitlines() if line]
    if not rows:
        sys.exit("bench: no row was measured")
    if options.check:
        print(f"bench: {len(rows)} rows can be measured, {len(dict(pages(rows)))} pages printed")
    elif options.output:
        missing = {name for name, _ in IN_SHORT} - {row["row"] for row in rows if "ratio" in row}
        if missing:
            sys.exit(f"bench: rows of the first table were not measured: {', '.join(sorted(missing))}")
        (options.output / "explanation" / "performance.md").write_text(performance(rows, options.command))
        for name, text in pages(rows):
            (options.output / "reference" / f"{name}.md").write_text(text)
        print(f"bench: wrote the pages of {options.output}", file=sys.stderr)
    else:
        print(performance(rows, options.command), *(text for _, text in pages(rows)), sep="\n")


if __name__ == "__main__":
    main()
