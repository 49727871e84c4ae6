#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs on a real GPU under torch.profiler and under opscope, compares the two, and writes a report.

    python tools/gpu_check.py [-o REPORT.md] [--seconds N] [--keep FOLDER]

Takes under ten minutes, needs no network: this Python has torch with CUDA, and opscope. What is compared: kernels by
name and count, who launched them, how long they took, graphs, streams, the caching allocator; what NVML and CUPTI read
of its sensors; what both add to a loop of empty kernels; how long they take to stop; the `.cuda()` examples of the
documents.

The report is written anew after each part, and traces and outputs lie in FOLDER as soon as they exist: whatever ends
the check, what it has found by then is there. A part that fails, or for which no time is left, costs itself alone.

Exit status: 0 all held, 1 something did not, 3 nothing can be checked here, for want of torch, opscope or a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gpu_traces  # noqa: E402  (the folder of tools is no package)
from gpu_runs import STOPPED, OutOfTime, Run, Runner  # noqa: E402  (the folder of tools is no package)
from gpu_traces import Check  # noqa: E402  (the folder of tools is no package)

CANNOT_CHECK = 3
TOOLS = Path(__file__).resolve().parent
EXAMPLES = TOOLS.parent / "examples"
SECONDS = 570  # of the whole check, unless an option says otherwise
MOST_KERNELS_APART = 0.1  # of two runs of one program
MOST_READINGS_APART = 0.25  # medians of what NVML and CUPTI read while a device works
MOST_ADDED = 0.6  # of what torch.profiler adds to a launch
LAUNCHES = 20_000  # of a step of the program "launches"
MOST_STOP = 1 / 20  # of what torch.profiler takes

Part = Callable[[Runner], list[Check]]


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


# ---- parts -------------------------------------------------------------------------------------


def run_examples(runner: Runner) -> list[Check]:
    """Those that go to a GPU where there is one."""
    checks = []
    for script in sorted(EXAMPLES.glob("torch_*.py")):
        if ".cuda()" not in script.read_text():
            continue
        place = runner.folder / script.stem
        place.mkdir(exist_ok=True)
        for left in place.glob("trace*.json"):  # by an earlier check
            left.unlink()
        status, _ = runner.execute([sys.executable, str(script), str(place)], script.stem)
        if status != 0:
            words = STOPPED if status is None else runner.said_by(script.stem)
            checks.append(Check(script.name, False, words))
            continue
        works = sum(gpu_traces.facts_of(gpu_traces.read_trace(path)).works for path in place.glob("trace*.json"))
        checks.append(Check(script.name, works > 0, f"{works} kernels, copies and sets in its files"))
    return checks


def recorded(runner: Runner, program: str, side: str, path: Path) -> None:
    """A trace of the program, or an error."""
    run = runner.run_program(program, side, str(path))
    if run.why_not:
        raise RuntimeError(f"{program} under {side}: {run.why_not}")


def compare_program(program: str, runner: Runner) -> list[Check]:
    paths = {side: runner.folder / f"{program}.{side}.json" for side in ("opscope", "torch")}
    recorded(runner, program, "opscope", paths["opscope"])
    ours = gpu_traces.facts_of(gpu_traces.read_trace(paths["opscope"]))
    try:
        recorded(runner, program, "torch", paths["torch"])
        theirs = gpu_traces.facts_of(gpu_traces.read_trace(paths["torch"]))
    except Exception as error:  # ours still says something
        return [gpu_traces.something_ran(ours, None), Check("torch's side", False, describe(error))]
    return gpu_traces.compare(ours, theirs, most_apart=MOST_KERNELS_APART)


def watched_graphs(runner: Runner) -> list[Check]:
    path = runner.folder / "watched.json"
    recorded(runner, "graphs", "watching", path)
    return gpu_traces.watched_checks(gpu_traces.read_trace(path.with_suffix(".json.gz")))


def host_nodes(runner: Runner) -> list[Check]:
    path = runner.folder / "host_nodes.json"
    recorded(runner, "host_nodes", "watching", path)
    return gpu_traces.host_node_checks(gpu_traces.read_document(path.with_suffix(".json.gz")))


def sensors(runner: Runner) -> list[Check]:
    path = runner.folder / "busy.json"
    recorded(runner, "busy", "watching", path)
    events = gpu_traces.read_trace(path.with_suffix(".json.gz"))
    return gpu_traces.sensor_checks(events, most_apart=MOST_READINGS_APART)


def run_of_side(runner: Runner, program: str, side: str) -> Run:
    """Whatever befalls this side, the other's numbers stay."""
    try:
        return runner.run_program(program, side)
    except Exception as error:
        return Run(why_not=describe(error))


def added_time(runner: Runner) -> list[Check]:
    runs = {side: run_of_side(runner, "launches", side) for side in ("opscope", "torch")}
    what = "added time per launch"
    added_us = {side: run.added_to_step and run.added_to_step * 1e6 / LAUNCHES for side, run in runs.items()}
    ours, theirs = added_us.values()
    if ours is None or theirs is None:
        shown = [f"{side} {f'{us:.3g} us' if us is not None else runs[side].why_not}" for side, us in added_us.items()]
        return [Check(what, False, f"per launch: {', '.join(shown)}")]
    return [ratio_check(what, ours, theirs, MOST_ADDED, "us")]


def stop_time(runner: Runner) -> list[Check]:
    runs = {side: run_of_side(runner, "many_launches", side) for side in ("opscope", "torch")}
    ours, theirs = (run.stop_or_more for run in runs.values())
    what = "stop with a million kernels"
    if ours is None or theirs is None:
        shown = [f"{side} {shown_time(run)}" for side, run in runs.items()]
        return [Check(what, False, ", ".join(shown))]
    if ours[1]:
        return [Check(what, False, f"opscope {shown_time(runs['opscope'])}, torch {shown_time(runs['torch'])}")]
    return [ratio_check(what, ours[0], theirs[0], MOST_STOP, "s", theirs_took_more=theirs[1])]


def shown_time(run: Run) -> str:
    """Of its stop."""
    if run.stop_or_more is None:
        return f"did not come to its stop ({run.why_not})"
    seconds, took_more = run.stop_or_more
    return f"{'more than ' if took_more else ''}{seconds:.3g} s"


def ratio_check(
    what: str, ours: float, theirs: float, most: float, unit: str, *, theirs_took_more: bool = False
) -> Check:
    """Ours at most so much of theirs; theirs may be nothing, which nothing is a part of."""
    holds = ours <= 0 or (theirs > 0 and ours / theirs <= most)
    ratio = f"{ours / theirs:.3f}" if theirs > 0 else "no"
    more, less = ("more than ", "less than ") if theirs_took_more else ("", "")
    words = f"opscope {ours:.3g} {unit}, torch {more}{theirs:.3g} {unit}: ratio {less}{ratio}, goal {most:.2f}"
    return Check(what, holds, words)


def parts() -> dict[str, Part]:
    """What is most worth its time comes first: the end may come before the last one."""
    from gpu_programs import COMPARED

    compared = {
        program.__name__: lambda runner, name=program.__name__: compare_program(name, runner) for program in COMPARED
    }
    return {
        "examples": run_examples,
        **compared,
        "watched graphs": watched_graphs,
        "host nodes": host_nodes,
        "sensors": sensors,
        "launch-bound loop": added_time,
        "stop": stop_time,
    }


# ---- the whole ---------------------------------------------------------------------------------


class Report:
    """A file that says after each part what was found so far."""

    def __init__(self, path: Path, versions: str) -> None:
        self.sections: dict[str, list[Check]] = {}
        self.notes: dict[str, list[str]] = {}
        self._path = path
        self._versions = versions

    @property
    def missed(self) -> int:
        return sum(not check.holds for section in self.sections.values() for check in section)

    def write(self, device: str, left_s: float) -> None:
        """Beside its name and then renamed, so that there is always a whole one."""
        facts = [f"- device: {device or 'no program has said'}", self._versions, f"- left of the time: {left_s:.0f} s"]
        beside = self._path.with_name(self._path.name + ".part")
        beside.write_text(self._text(facts))
        os.replace(beside, self._path)

    def _text(self, facts: list[str]) -> str:
        """Markdown: a table for each section."""
        count = sum(map(len, self.sections.values()))
        lines = ["# opscope on a GPU", "", *facts, f"- held: {count - self.missed} of {count}"]
        for title, section in self.sections.items():
            lines += ["", f"## {title}", "", "| what | held | seen |", "| --- | --- | --- |"]
            for check in section:
                words = in_cell(check.words)
                lines.append(f"| {check.what} | {'yes' if check.holds else '**no**'} | {words} |")
            if notes := self.notes.get(title):
                lines += ["", *(f"- on standard error, {in_cell(note)}" for note in notes)]
        return "\n".join(lines) + "\n"


def in_cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


def describe(error: Exception) -> str:
    is_ours = type(error) in (RuntimeError, OutOfTime)
    return str(error) if is_ours else f"{type(error).__name__}: {error}"


def run_all(asked: dict[str, Part], runner: Runner, report: Report) -> None:
    for title, part in asked.items():
        try:
            checks = part(runner)
        except Exception as error:  # whatever it is, the other parts go on
            checks = [Check("it ran", False, describe(error))]
        report.sections[title] = checks
        report.notes[title], runner.notes = runner.notes, []
        for check in checks:
            print(f"  {'yes' if check.holds else 'NO '} {check.what}: {check.words[:300]}", file=sys.stderr, flush=True)
        report.write(runner.device, runner.left())


def versions() -> str:
    """Asks no device: where only one process may use it, that is the program that is being checked."""
    import torch

    import opscope

    return (
        f"- versions: opscope {opscope.__version__}, torch {torch.__version__}, CUDA {torch.version.cuda}, "
        f"Python {platform.python_version()}, Linux {platform.release().split('-')[0]}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("gpu_report.md"), help="the report")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="limit of the whole check (default %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where traces and outputs stay; else they go")
    options = parser.parse_args()
    began = time.monotonic()
    if why := why_not():
        print(f"gpu_check: cannot check: {why}")
        return CANNOT_CHECK
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        report = Report(options.output, versions())
        run_all(parts(), Runner(folder, options.seconds - (time.monotonic() - began)), report)
    print(f"gpu_check: {f'{report.missed} did not hold' if report.missed else 'all held'}; wrote {options.output}")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
