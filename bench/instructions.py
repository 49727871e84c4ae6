# SPDX-License-Identifier: Apache-2.0
"""Instructions per event, counted by callgrind: native scopes and their like (bench/event_cases.cc), and a loop of
operators of torch while nothing is recorded, or another thread alone. What else the machine does makes no difference
to them.

The native counts are compared with those of bench/baseline/instructions.json, where the compiler is the same: 2 %
more is a miss, unless "exceptions" there says why. --update writes that file. Needs valgrind with its headers;
without them the rows say so.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import callgrind
from callgrind import under_callgrind
from native import program

import measure

BASELINE = Path(__file__).resolve().parent / "baseline" / "instructions.json"
GROWTH = 1.02
CASES = {
    "disabled_scope": "scope, nothing recorded",
    "scope": "scope",
    "crossing_scopes": "two scopes that cross, both",
    "scope_with_text": "scope with a text as argument",
    "scope_mapped": "scope, in a mapped file",
    "counter": "counter",
}
BEGINS_WITHIN_S = 60
BESIDE_CASES = ("beside_route", "beside_callbacks")  # another thread is recorded
LOADED_CASES = {"op_off": "opscope.torch imported", "after_none": "after a recording"}


def count(command):
    """Instructions of a program without children."""
    (instructions,) = under_callgrind(command)[1].values()
    return instructions


# They take some ten more or less as the strings that they compare lie before or behind the end of a page, and as the
# blocks that they give and take lie in a pool of the interpreter.
BY_PLACE = ("memcmp", "_PyObject_Malloc", "_PyObject_Free", "_PyObject_Realloc")


def by_place(profile):
    """Instructions of the functions BY_PLACE, without those that they call (callgrind's format:
    https://valgrind.org/docs/manual/cl-format.html)."""
    names, total, counts, is_call = {}, 0, False, False
    for line in profile.read_text().splitlines():
        if line.startswith("fn="):
            number, _, name = line[3:].partition(" ")
            counts = any(each in names.setdefault(number, name) for each in BY_PLACE)
        elif line.startswith("cfn="):
            number, _, name = line[4:].partition(" ")
            names.setdefault(number, name)
        elif line.startswith("calls="):
            is_call = True  # the next line has what the callee took
        elif line[:1] in "+-*0123456789" and line:
            if counts and not is_call:
                total += int(line.split()[1])
            is_call = False
    return total


def operators():
    """`add_` of two elements. In place, because memory that comes and goes costs what the heap happens to look like."""
    import torch

    torch.set_num_threads(1)
    add, b = torch.ones(2).add_, torch.zeros(2)

    def run(count):
        with torch.no_grad():
            for _ in range(count):
                add(b)

    return run


class OnAnotherThread:
    """A window of a thread that waits until it is to stop. way: how it must have recorded."""

    def __init__(self, profile, way):
        self.profile, self.way = profile, way
        self.begun, self.ending = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._record, daemon=True)

    def _record(self):
        with self.profile:
            self.begun.set()
            self.ending.wait()

    def start(self):
        self.thread.start()
        if not self.begun.wait(BEGINS_WITHIN_S):
            raise SystemExit("bench: the window of the other thread did not begin")

    def stop(self):
        self.ending.set()
        self.thread.join()
        way = self.profile.trace.info["options"]["torch_route"]
        if not way.startswith(self.way):
            raise SystemExit(f"bench: recorded by {way!r}, not by {self.way}")


def prepare(case):
    """case -> (a function that runs so many operators, the window of another thread that is open meanwhile or None)."""
    kind, _, flags = case.partition("_")
    run = operators()
    if kind == "alone":
        return run, None
    if flags == "callbacks":
        os.environ["OPSCOPE_TORCH_ROUTE"] = "callbacks"

    profile = measure.new_profile("opscope")
    if kind == "beside":
        return run, OnAnotherThread(profile, "callbacks" if flags == "callbacks" else "hooks")
    if kind == "after":
        profile.start()
        run(100)
        profile.stop()
    return run, None


def count_here(case, ops):
    """`ops` events of one kind, counted after some that warm up."""
    import gc

    run, observer = prepare(case)
    count_instructions = callgrind.switch()
    if observer is not None:
        observer.start()
    run(2000)
    gc.collect()
    gc.disable()
    count_instructions(1)
    run(ops)
    count_instructions(0)
    if observer is not None:
        observer.stop()


def count_each(wanted):
    """What runs under callgrind: a child for each, so that all begin alike and torch, which is slow there, is imported
    once. Prints their numbers."""
    import torch  # noqa: F401

    children = [measure.FORKING.Process(target=count_here, args=pair) for pair in wanted]
    for child in children:
        child.start()
        child.join()
        if child.exitcode != 0:
            raise SystemExit(f"exit status {child.exitcode}")
    print(json.dumps([child.pid for child in children]))


def count_torch(wanted):
    """{(case, events): instructions per event} of such pairs, without those of the functions BY_PLACE."""
    measure.say("callgrind: " + ", ".join(f"{case} {ops}" for case, ops in wanted))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--one", json.dumps(wanted)]
        printed, counts = under_callgrind(command, f"{folder}/%p")
        processes = json.loads(printed.splitlines()[-1])
        return {
            (case, ops): (counts[process] - by_place(Path(folder, str(process)))) / ops
            for (case, ops), process in zip(wanted, processes, strict=True)
        }


def compiler():
    done = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"


def exactly(value):
    return {"min": value, "median": value}


def native_rows(options, baseline):
    events = 1000 if options.quick else 20000
    executable = program("event_cases")
    counts = {case: count([executable, case, events]) / events for case in ("empty_loop", *CASES)}
    own = {case: counts[case] - counts["empty_loop"] for case in CASES}
    known = baseline.get("instructions", {}) if baseline.get("compiler") == compiler() else {}
    for case, title in CASES.items():
        exception = baseline.get("exceptions", {}).get(case)
        judged = case in known and not options.quick
        measure.print_row(
            f"instructions_native_{case}",
            title,
            "instructions",
            exactly(own[case]),
            theirs=exactly(known[case]) if judged else None,
            goal=GROWTH if judged and exception is None else None,
            repetitions=1,
            note=exception or "theirs: the last accepted count, bench/baseline/instructions.json",
        )
    return own


def loaded_rows(ops, counts):
    """The library is loaded and nothing records: what a program pays that is not being profiled."""
    alone = counts["alone", ops]
    for case, when in LOADED_CASES.items():
        more = counts[case, ops] - alone
        measure.print_row(
            f"instructions_more_{case}",
            f"loop of operators, nothing records, more than torch alone, {when}",
            "instructions/op",
            exactly(float(round(more))),
            absolute_goal=0,
            repetitions=1,
            note=f"{ops} ops, {more:+.2f} {when}; left out is what goes by where things lie ({', '.join(BY_PLACE)})",
        )


def beside_row(ops, counts):
    """What an unrecorded thread pays while another one is recorded."""
    ours, theirs = (counts[case, ops] for case in BESIDE_CASES)
    title = "loop of operators of a thread that is not recorded, beside one that is; against callbacks alone"
    measure.print_row(
        "instructions_beside",
        title,
        "instructions/op",
        exactly(ours),
        exactly(theirs),
        goal=1.0,
        repetitions=1,
        note=f"nothing recorded: {counts['op_off', ops]:.0f}",
    )


def main():
    if "--one" in sys.argv:
        count_each(json.loads(sys.argv[sys.argv.index("--one") + 1]))
        return
    update = "--update" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--update"]
    options = measure.parse_options(__doc__, ops=200000, quick_ops=1000)
    why = callgrind.missing()
    if why:
        measure.print_absent("instructions_absent", "instructions per event", "instructions", why)
        return
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    own = native_rows(options, baseline)
    if update:
        kept = {"compiler": compiler(), "instructions": own, "exceptions": baseline.get("exceptions", {})}
        BASELINE.parent.mkdir(exist_ok=True)
        BASELINE.write_text(json.dumps(kept, indent=2) + "\n")
    counts = count_torch([(case, options.ops) for case in ("alone", *LOADED_CASES, *BESIDE_CASES)])
    loaded_rows(options.ops, counts)
    beside_row(options.ops, counts)


if __name__ == "__main__":
    main()
