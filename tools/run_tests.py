#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs every test and ends with one line that counts them; exit 1 on any failure or when there is none.

    tools/run_tests.py                   what `make test` runs: C++, Python, the demo and the benchmarks, briefly
    tools/run_tests.py --preset asan     the C++ tests alone, under a sanitizer (asan or tsan)

The counts come from the result files of ctest and pytest, not from their printed text. A step that dies
without results counts as one failure. Logs lie in build/PRESET/test-logs.
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = str(ROOT / ".venv" / "bin" / "python")
HEARTBEAT_S = 20
TAIL_LINES = 60


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def add_junit(self, path):
        """Adds the cases of a result file; returns False when there is none."""
        before = self.passed + self.failed + self.skipped
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{case.get('classname', '')}.{case.get('name', '')}".lstrip(".")
            if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
                self.failed += 1
                print(f"test:   FAILED {name}")
            elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
                self.skipped += 1
                skipped = case.find("skipped")
                reason = "" if skipped is None else skipped.get("message", "")
                print(f"test:   skipped {name} {reason}".rstrip())
            else:
                self.passed += 1
        return self.passed + self.failed + self.skipped > before

    def summary(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")


def run(text, command, logs, environment=None):
    """Runs a command into a log with a progress line; returns its exit status. A failure shows the log's end."""
    log = logs / (text.replace(" ", "_").replace("/", "_") + ".log")
    print(f"test: {text} ...", flush=True)
    began = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
        while True:
            try:
                status = process.wait(HEARTBEAT_S)
                break
            except subprocess.TimeoutExpired:
                print(f"test: {text} ... {time.monotonic() - began:.0f} s so far", flush=True)
    print(
        f"test: {text}: {'ok' if status == 0 else f'exit status {status}'}, {time.monotonic() - began:.0f} s",
        flush=True,
    )
    if status != 0:
        lines = log.read_text(errors="replace").splitlines()
        print("\n".join(["  | " + line for line in lines[-TAIL_LINES:]]))
        print(f"test: the whole output is in {log.relative_to(ROOT)}", flush=True)
    return status


def run_junit(text, command, result, tally, logs, environment=None):
    """A step that leaves a result file."""
    result.unlink(missing_ok=True)
    failed_before = tally.failed
    status = run(text, command, logs, environment)
    counted = result.exists() and tally.add_junit(result)
    if (status != 0 and tally.failed == failed_before) or not counted:
        print(f"test: {text}: counted as one failure" + ("" if counted else " (no test ran)"))
        tally.failed += 1


def run_one(text, command, tally, logs):
    """A step that counts as one test."""
    status = run(text, command, logs)
    tally.passed += status == 0
    tally.failed += status != 0


def torch_folder():
    """The torch package of .venv, found without importing it."""
    code = "import importlib.util as util; print(util.find_spec('torch').submodule_search_locations[0])"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["dev", "asan", "tsan"], default="dev")
    preset = parser.parse_args().preset
    logs = ROOT / "build" / preset / "test-logs"
    logs.mkdir(parents=True, exist_ok=True)
    jobs = str(os.cpu_count() or 2)
    tally = Tally()

    installed = preset == "dev" and run("install into .venv", ["tools/setup", "python"], logs) == 0
    if preset == "dev" and not installed:
        tally.failed += 1
    # With torch at hand its source and that source's tests are built too; without, the rest must pass alone.
    torch = f"-DOPSCOPE_TORCH_DIR={torch_folder() if installed else ''}"
    built = (
        run("configure", ["cmake", "--preset", preset, torch], logs) == 0
        and run("build", ["cmake", "--build", "--preset", preset, "-j", jobs], logs) == 0
    )
    if built:
        result = logs / "ctest.xml"
        command = ["ctest", "--preset", preset, "-j", jobs, "--output-junit", str(result)]
        run_junit("C++ tests", command, result, tally, logs)
    else:
        tally.failed += 1
    if installed:
        result = logs / "pytest.xml"
        command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={result}", "python/tests"]
        run_junit("Python tests", command, result, tally, logs)
        run_one("quickstart", [PYTHON, "examples/quickstart.py"], tally, logs)
        run_one("demo, briefly", [PYTHON, "examples/demo.py", "--quick", "-o", str(logs / "demo-out")], tally, logs)
        run_one("benchmarks, briefly", ["bench/run", "--quick"], tally, logs)
    if tally.passed == 0 and tally.failed == 0:
        tally.failed = 1
        print("test: no test ran")
    print(tally.summary())
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
