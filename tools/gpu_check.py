#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs on a real GPU under torch.profiler and under opscope, compares the two, and writes a report.

    python tools/gpu_check.py [-o REPORT.md]

Takes under ten minutes, needs no network: this Python has torch with CUDA, and opscope. What is compared: kernels by
name and count, who launched them, busy time, graphs, streams, the caching allocator; what NVML and CUPTI read of its
sensors; what both add to a loop of empty kernels; how long they take to stop; the `.cuda()` examples of the documents.

Exit status: 0 all held, 1 something did not, 3 nothing can be checked here, for want of torch, opscope or a GPU.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gpu_traces  # noqa: E402  (the folder of tools is no package)
from gpu_traces import Check  # noqa: E402

CANNOT_CHECK = 3
TOOLS = Path(__file__).resolve().parent
EXAMPLES = TOOLS.parent / "examples"
LIMIT_S = 240  # of one process
MOST_BUSY_APART = 0.1  # of two runs of one program
MOST_READINGS_APART = 0.25  # medians of what NVML and CUPTI read while a device works
MOST_ADDED = 0.6  # of what torch.profiler adds to a launch
MOST_STOP = 1 / 20  # of what torch.profiler takes
ROUNDS = 3


def why_not() -> str:
    """Why nothing can be checked here; "" where it can."""
    try:
        import torch

        import opscope.torch  # noqa: F401
    except ImportError as error:
        return str(error)
    if not torch.cuda.is_available():
        return f"torch {torch.__version__} sees no GPU"
    return ""


def run_program(program: str, side: str, path: str = "") -> dict[str, float]:
    command = [sys.executable, str(TOOLS / "gpu_programs.py"), program, side, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    if done.returncode != 0:
        raise RuntimeError(f"{program} under {side} ended with {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare_program(program: str, folder: Path) -> list[Check]:
    paths = {side: folder / f"{program}.{side}.json" for side in ("opscope", "torch")}
    for side, path in paths.items():
        run_program(program, side, str(path))
    ours, theirs = (gpu_traces.facts_of(gpu_traces.read_trace(path)) for path in paths.values())
    return gpu_traces.compare(ours, theirs, most_busy_apart=MOST_BUSY_APART)


def watched_graphs(folder: Path) -> list[Check]:
    path = folder / "watched.json"
    run_program("graphs", "watching", str(path))
    return gpu_traces.watched_checks(gpu_traces.read_trace(path.with_suffix(".json.gz")))


def host_nodes(folder: Path) -> list[Check]:
    path = folder / "host_nodes.json"
    run_program("host_nodes", "watching", str(path))
    return gpu_traces.host_node_checks(gpu_traces.read_document(path.with_suffix(".json.gz")))


def sensors(folder: Path) -> list[Check]:
    path = folder / "busy.json"
    run_program("busy", "watching", str(path))
    events = gpu_traces.read_trace(path.with_suffix(".json.gz"))
    return gpu_traces.sensor_checks(events, most_apart=MOST_READINGS_APART)


def ratio_check(what: str, ours: float, theirs: float, most: float, unit: str) -> Check:
    """Ours at most so much of theirs; theirs may be nothing, which nothing is a part of."""
    holds = ours <= 0 or (theirs > 0 and ours / theirs <= most)
    shown = f"{ours / theirs:.3f}" if theirs > 0 else "no"
    return Check(what, holds, f"opscope {ours:.3g} {unit}, torch {theirs:.3g} {unit}: ratio {shown}, goal {most:.2f}")


def added_time(folder: Path) -> list[Check]:
    seconds = {side: [] for side in ("none", "torch", "opscope")}
    for _ in range(ROUNDS):
        for side, found in seconds.items():
            found.append(run_program("launches", side)["step"])
    none, torch, ours = (statistics.median(found) for found in seconds.values())
    per_launch = 1e6 / 100_000
    return [
        ratio_check("added time per launch", (ours - none) * per_launch, (torch - none) * per_launch, MOST_ADDED, "us")
    ]


def stop_time(folder: Path) -> list[Check]:
    ours, theirs = (run_program("many_launches", side)["stop"] for side in ("opscope", "torch"))
    return [ratio_check("stop with a million kernels", ours, theirs, MOST_STOP, "s")]


def run_examples(folder: Path) -> list[Check]:
    """Those that go to a GPU where there is one."""
    checks = []
    for script in sorted(EXAMPLES.glob("torch_*.py")):
        if ".cuda()" not in script.read_text():
            continue
        place = folder / script.stem
        place.mkdir()
        done = subprocess.run(
            [sys.executable, str(script), str(place)], capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
        works = sum(gpu_traces.facts_of(gpu_traces.read_trace(path)).works for path in place.glob("trace*.json"))
        words = f"{works} kernels, copies and sets in its files" if done.returncode == 0 else done.stderr[-300:]
        checks.append(Check(script.name, done.returncode == 0 and works > 0, words))
    return checks


def machine_facts() -> list[str]:
    import torch

    import opscope

    properties = torch.cuda.get_device_properties(0)
    return [
        f"- device: {properties.name}, {torch.cuda.device_count()} of them, {properties.total_memory >> 30} GiB each",
        f"- versions: opscope {opscope.__version__}, torch {torch.__version__}, CUDA {torch.version.cuda}, "
        f"Python {platform.python_version()}, Linux {platform.release().split('-')[0]}",
    ]


def report(facts: list[str], sections: dict[str, list[Check]]) -> str:
    """Markdown: a table for each section."""
    checks = [check for section in sections.values() for check in section]
    held = sum(check.holds for check in checks)
    lines = ["# opscope on a GPU", "", *facts, f"- held: {held} of {len(checks)}"]
    for title, section in sections.items():
        lines += ["", f"## {title}", "", "| what | held | seen |", "| --- | --- | --- |"]
        for check in section:
            words = check.words.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| {check.what} | {'yes' if check.holds else '**no**'} | {words} |")
    return "\n".join(lines) + "\n"


def run_all(folder: Path) -> dict[str, list[Check]]:
    parts = {
        **{name: lambda where, name=name: compare_program(name, where) for name in programs()},
        "watched graphs": watched_graphs,
        "host nodes": host_nodes,
        "sensors": sensors,
        "launch-bound loop": added_time,
        "stop": stop_time,
        "examples": run_examples,
    }
    sections = {}
    for title, part in parts.items():
        print(f"gpu_check: {title}", file=sys.stderr)
        try:
            sections[title] = part(folder)
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            sections[title] = [Check("it ran", False, str(error))]
    return sections


def programs() -> list[str]:
    from gpu_programs import COMPARED

    return [program.__name__ for program in COMPARED]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("gpu_report.md"))
    options = parser.parse_args()
    if why := why_not():
        print(f"gpu_check: cannot check: {why}")
        return CANNOT_CHECK
    with tempfile.TemporaryDirectory() as folder:
        sections = run_all(Path(folder))
    options.output.write_text(report(machine_facts(), sections))
    missed = [check for section in sections.values() for check in section if not check.holds]
    print(f"gpu_check: {'all held' if not missed else f'{len(missed)} did not hold'}; wrote {options.output}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
