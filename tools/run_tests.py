#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs every test and ends with one line that counts them; exit 1 on any failure or when there is none.

    tools/run_tests.py                   what `make test` runs: C++, Python, page, demo and benchmarks, briefly
    tools/run_tests.py --preset asan     the C++ tests alone: asan, tsan or release; with asan the Python ones on the
                                         bindings, too
    tools/run_tests.py --soak            `make soak`: the tests that have a full size, in that size, with their figures

The counts come from the result files of ctest and pytest, not from their printed text. A step that dies
without results counts as one failure. Failures are printed again, with their output, and then their names alone, just
before the count, so that the end of a log that was cut is enough. Logs lie in build/PRESET/test-logs.
"""

import argparse
import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = str(ROOT / ".venv" / "bin" / "python")
MEGENGINE_PYTHON = ROOT / ".venv-megengine" / "bin" / "python"
NODE = ROOT / ".venv" / "bin" / "node"
NO_MEGENGINE = ROOT / "build" / "no-megengine.txt"  # why tools/setup could not install it
HEARTBEAT_S = 20
TAIL_LINES = 60
SOAK_TEST_S = 3600
TEST_S = 600  # of one Python test, which then tells where it stands; ctest has a limit of its own in CMakePresets.json
STEP_S = 2400  # of a whole step, whatever it waits for; not of the tests in full size
# A worker that died is not replaced: pytest-xdist would wait for ever for the tests of its file.
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--max-worker-restart=0"]
WITH_LIMIT = ["-o", f"faulthandler_timeout={TEST_S}", "-o", "faulthandler_exit_on_timeout=true"]


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.failures = []  # a text for each, as shown when it happened
        self.left_out = []  # why a whole group of tests, each counted as one that was skipped, did not run

    def add_junit(self, path):
        """Adds the cases of a result file and shows what failed; returns how many cases there were."""
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        for case in cases:
            marks = {child.tag: child for child in case}
            if marks.keys() & {"failure", "error"} or case.get("status") == "fail":
                self.fail(f"{name_of(case)}\n{output_of(case)}")
            elif "skipped" in marks or case.get("status") in ("notrun", "disabled"):
                self.skipped += 1
                print(f"test:   skipped {name_of(case)}: {reason_of(case)}")
            else:
                self.passed += 1
        return len(cases)

    def fail(self, text):
        """Counts one failure; `text`: its name, then what it printed."""
        self.failed += 1
        self.failures.append(text)
        print(f"test:   FAILED {text}", flush=True)

    def leave_out(self, what, reason):
        """Counts a group of tests as one that was skipped; the last line tells it."""
        self.skipped += 1
        self.left_out.append(f"{what}: {reason}")
        print(f"test:   skipped {what}: {reason}", flush=True)

    def summary(self):
        counts = f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")
        return counts + "".join(f" ({reason})" for reason in self.left_out)


def name_of(case):
    name = case.get("name", "").partition("  # GetParam()")[0]  # GoogleTest's copy of the parameter
    classname = case.get("classname", "").partition("  # GetParam()")[0]
    return name if classname in ("", name) else f"{classname}.{name}"


def quoted(text):
    return "\n".join("  | " + line for line in text.splitlines()[-TAIL_LINES:])


def output_of(case):
    return quoted("\n".join(part for child in case for part in (child.get("message"), child.text) if part))


def figures_of(case):
    """What a C++ test printed beside GoogleTest's own lines."""
    own = ("[", "Running main()", "Note: Google Test filter")
    lines = (line.strip() for line in (case.findtext("system-out") or "").splitlines())
    return [line for line in lines if line and not line.startswith(own)]


def reason_of(case):
    """pytest tells it in an attribute; GoogleTest prints it after the line that says "Skipped"."""
    message = case.find("skipped").get("message", "") if case.find("skipped") is not None else ""
    lines = (case.findtext("system-out") or "").splitlines()
    at = next((i for i, line in enumerate(lines[:-1]) if line.endswith(": Skipped")), None)
    return message if at is None else lines[at + 1].strip()


def log_of(text, logs):
    return logs / (text.replace(" ", "_").replace("/", "_") + ".log")


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end_group(process):
    """With all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(text, command, logs, limit_s=STEP_S):
    """Runs a command into a log with a progress line; returns its exit status. It is ended after `limit_s`."""
    log = log_of(text, logs)
    print(f"test: {text} ...", flush=True)
    began, cpu_began = time.monotonic(), cpu_of_children()
    streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    with open(log, "wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, start_new_session=True, **streams)
        try:
            while (status := process.poll()) is None:
                try:
                    process.wait(HEARTBEAT_S)
                except subprocess.TimeoutExpired:
                    passed = time.monotonic() - began
                    print(f"test: {text} ... {passed:.0f} s so far", flush=True)
                    if limit_s is not None and passed > limit_s:
                        end_group(process)
                        output.write(f"\nended by tools/run_tests.py after {limit_s} s\n".encode())
        except BaseException:
            end_group(process)
            raise
    took = f"{time.monotonic() - began:.0f} s, {cpu_of_children() - cpu_began:.0f} s of CPU"
    print(f"test: {text}: {'ok' if status == 0 else f'exit status {status}'}, {took}", flush=True)
    return status


def run_step(text, command, tally, logs):
    """A step that counts when it fails, with the end of its log; returns whether it succeeded."""
    status = run(text, command, logs)
    if status != 0:
        log = log_of(text, logs)
        end = quoted(log.read_text(errors="replace"))
        tally.fail(f"{text}: exit status {status}; the whole output is in {log.relative_to(ROOT)}\n{end}")
    return status == 0


def run_junit(text, command, result, tally, logs, limit_s=STEP_S):
    """A step that leaves a result file; the file counts, and a failure that it does not tell counts as one."""
    result.unlink(missing_ok=True)
    failed_before = tally.failed
    status = run(text, command, logs, limit_s)
    cases = tally.add_junit(result) if result.exists() else 0
    if cases == 0 or (status != 0 and tally.failed == failed_before):
        why = "no test ran" if cases == 0 else f"exit status {status} without a failed case"
        end = quoted(log_of(text, logs).read_text(errors="replace"))
        tally.fail(f"{text}: counted as one failure: {why}; see {logs.relative_to(ROOT)}\n{end}")


def show_figures(path):
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        for line in figures_of(case):
            print(f"test:   {name_of(case)}: {line}")


def run_one(text, command, tally, logs):
    """A step that counts as one test."""
    tally.passed += run_step(text, command, tally, logs)


def python_tests(soak, jobs, tally, logs):
    """Side by side, a file on one process; then those that compare times, and with `soak` all, one after the other."""

    def step(text, name, *arguments):
        result = logs / f"{name}.xml"
        limit = [] if soak else WITH_LIMIT
        command = [PYTHON, *PYTEST, *limit, f"--junitxml={result}", "python/tests", *arguments]
        run_junit(text, command, result, tally, logs, None if soak else STEP_S)

    if soak:
        step("Python tests", "pytest", "-m", "soak")
        return
    # Files in their order, the longest near the beginning: a worker that is given it last would end alone.
    beside = ("-n", jobs, "--dist", "loadfile", "--no-loadscope-reorder")
    step("Python tests", "pytest", *beside, "-m", "not measures")
    step("Python tests that measure", "pytest-measures", "-m", "measures")


def megengine_tests(jobs, preset, tally, logs):
    """Under the Python 3.10 that has MegEngine, with the package of the build tree."""
    what = "tests with MegEngine"
    if NO_MEGENGINE.exists() or not MEGENGINE_PYTHON.exists():
        reason = NO_MEGENGINE.read_text().strip() if NO_MEGENGINE.exists() else "tools/setup made no .venv-megengine"
        if required("megengine"):
            tally.fail(f"{what}: {reason}, and OPSCOPE_REQUIRE_FRAMEWORKS asks for it")
        else:
            tally.leave_out(what, reason)
        return
    result = logs / "pytest-megengine.xml"
    command = ["env", f"PYTHONPATH={ROOT / 'build' / preset / 'python'}", str(MEGENGINE_PYTHON), *PYTEST, *WITH_LIMIT]
    command += [f"--junitxml={result}", "-n", jobs, "--dist", "loadfile", "python/tests/megengine"]
    run_junit(what, command, result, tally, logs)


def required(name):
    """Whether continuous integration demands the tests that need this."""
    return name in os.environ.get("OPSCOPE_REQUIRE_FRAMEWORKS", "").split(",")


def page_tests(tally, logs):
    """Types and unit tests of web/, and that web/page.html is what the build makes; test_report_page.py opens it."""
    what = "tests of the report's page"
    if not (NODE.exists() and (ROOT / "web/node_modules/.opscope.stamp").exists()):
        reason = "tools/setup web could not install Node and the packages of web/"
        if required("node"):
            tally.fail(f"{what}: {reason}, and OPSCOPE_REQUIRE_FRAMEWORKS asks for node")
        else:
            tally.leave_out(what, reason)
        return
    npm = ["env", f"PATH={NODE.parent}{os.pathsep}{os.environ['PATH']}", "npm", "--prefix", "web", "run", "--silent"]
    run_one("types of the report's page", [*npm, "check"], tally, logs)
    result = logs / "vitest.xml"
    report = ["--", "--reporter=junit", f"--outputFile={result}"]
    run_junit("unit tests of the report's page", [*npm, "test", *report], result, tally, logs)
    run_one("web/page.html equals its build", [*npm, "compare"], tally, logs)


SANITIZERS = ("asan", "tsan")  # of ours; torch itself is as it was installed
# What Python's objects hold of C++'s, and how long; of tests that judge memory none, of frameworks torch alone, which
# the sanitizer lets load its libraries.
BINDINGS_TESTS = """trace tables session export flame merge devices toy_framework torch_profile torch_record_function
torch_fast_ranges torch_event_classes torch_event_tree torch_results torch_threads torch_plain_tables
torch_method_calls""".split()
PADDLE_BINDINGS_TESTS = "paddle_source paddle_capture_modes paddle_profile".split()
NO_MEMORY_TESTS = ["-k", "not memory_back and not mebibyte and not leave_nothing_behind"]


def libraries_first():
    """The run-time of gcc's address sanitizer, which a Python that is not built with it has to load first, and what
    that looks for behind it; none: the compiler of the build is another one."""
    files = []
    for name in ("libasan.so", "libstdc++.so"):
        command = [os.environ.get("CXX", "g++"), f"-print-file-name={name}"]
        files.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    return [os.path.realpath(file) for file in files] if all(map(os.path.isabs, files)) else []


def bindings_tests(jobs, preset, tally, logs):
    """Python tests with an extension, sources and recorder that the address sanitizer watches. What Python and torch
    never give back is no leak of ours, nor is what Paddle takes as an array and gives back as something else."""
    what = "Python tests of the bindings"
    libraries = libraries_first()
    if not libraries:
        tally.leave_out(what, "they need gcc's address sanitizer")
        return
    variables = {
        "LD_PRELOAD": ":".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # a block of its own for each object
        "PYTHONPATH": ROOT / "build" / preset / "python",
    }
    under_sanitizer(what, variables, BINDINGS_TESTS, jobs, tally, logs)
    # The sanitizer opens libraries in Paddle's place, and does not look beside Paddle's for them; and how Paddle's
    # adapter fares here must not be remembered for programs without it.
    variables |= {
        "ASAN_OPTIONS": "detect_leaks=0:alloc_dealloc_mismatch=0",
        "LD_LIBRARY_PATH": package_folder("paddle") / "libs",
        "OPSCOPE_CACHE": ROOT / "build" / preset / "cache",
    }
    under_sanitizer("Python tests of Paddle's bindings", variables, PADDLE_BINDINGS_TESTS, jobs, tally, logs)


def under_sanitizer(what, variables, tests, jobs, tally, logs):
    result = logs / f"{what.replace(' ', '_')}.xml"
    command = ["env", *(f"{name}={value}" for name, value in variables.items()), PYTHON, *PYTEST, *WITH_LIMIT]
    command += [f"--junitxml={result}", "-n", jobs, "--dist", "loadfile", *NO_MEMORY_TESTS]
    command += [f"python/tests/test_{name}.py" for name in tests]
    run_junit(what, command, result, tally, logs)


def package_folder(name):
    """A package of .venv, found without importing it."""
    code = f"import importlib.util as util; print(util.find_spec('{name}').submodule_search_locations[0])"
    return Path(subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["dev", "asan", "tsan", "release"], default="dev")
    parser.add_argument("--soak", action="store_true")
    options = parser.parse_args()
    preset = options.preset
    if options.soak:
        os.environ["OPSCOPE_SOAK"] = "1"
    logs = ROOT / "build" / preset / "test-logs"
    logs.mkdir(parents=True, exist_ok=True)
    jobs = str(os.cpu_count() or 2)
    tally = Tally()

    installed = preset == "dev" and run_step("install into .venv", ["tools/setup", "tests"], tally, logs)
    # With torch at hand its source and that source's tests are built too; without, the rest must pass alone (release).
    torch = f"-DOPSCOPE_TORCH_DIR={package_folder('torch') if installed or preset in SANITIZERS else ''}"
    python = ["-DOPSCOPE_PYTHON=ON", f"-DPython_EXECUTABLE={PYTHON}"] if preset == "asan" else []
    built = run_step("configure", ["cmake", "--preset", preset, torch, *python], tally, logs)
    built = built and run_step("build", ["cmake", "--build", "--preset", preset, "-j", jobs], tally, logs)
    if built:
        result = logs / "ctest.xml"
        # One more test at a time than processors: many tests sleep, or wait for a child process or the disk.
        beside = str(int(jobs) + 1)
        command = ["ctest", "--preset", preset, "-j", beside, "--output-junit", str(result)]
        if options.soak:  # two at a time: they measure memory and time, and start hundreds of threads themselves
            command += ["-L", "soak", "-j", "2", "--timeout", str(SOAK_TEST_S), "--test-output-size-passed", "65536"]
        run_junit("C++ tests", command, result, tally, logs, None if options.soak else STEP_S)
        if options.soak and result.exists():
            show_figures(result)
    if built and preset == "asan":
        bindings_tests(jobs, preset, tally, logs)
    if installed:
        python_tests(options.soak, jobs, tally, logs)
    if installed and not options.soak:
        page_tests(tally, logs)
    if installed and built and not options.soak:
        megengine_tests(jobs, preset, tally, logs)
    if installed and not options.soak:
        run_one("demo, briefly", [PYTHON, "examples/demo.py", "--quick", "-o", str(logs / "demo-out")], tally, logs)
        run_one("benchmarks, briefly", ["bench/run", "--quick"], tally, logs)
    if tally.passed == 0 and tally.failed == 0:
        tally.fail("no test ran")
    for failure in tally.failures:
        print(f"test: failed: {failure}")
    if tally.failed:
        print("test: what failed, by name:")
    for failure in tally.failures:
        print(f"  {failure.splitlines()[0]}")
    print(tally.summary())
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
