# SPDX-License-Identifier: Apache-2.0
"""What the tests with MegEngine share: programs in processes of their own, and what lies in a timeline."""

import collections
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

os.environ.setdefault("MEGENGINE_LOGGING_LEVEL", "WARNING")

OURS = "from opscope.megengine import Profiler, is_profiling, merge_trace_events, profile, scope\n"
THEIRS = "from megengine.utils.profiler import Profiler, is_profiling, merge_trace_events, profile, scope\n"
START = """
import os, sys
import megengine as mge, megengine.functional as F, megengine.module as M

x = mge.tensor([1.0, 2.0])
"""


# MegEngine's own writer reads memory that is not its own where a window has a Profiler.step(): now and then it ends the
# process. That is no test's subject, so such a program is run again, and such a window recorded again, this often.
TRIES = 20


def written_by_megengine(record, path, format):
    """MegEngine's file of a window, as if this process had written it, not a child of its own. ``record`` returns what
    ``stop_profile`` does and anything else, which is returned of the window that was written.
    """
    for _ in range(TRIES):
        dump, *rest = record()
        child = os.fork()
        if child == 0:
            dump(str(path), format)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != -signal.SIGSEGV:
            assert status == 0
            path.write_text(path.read_text().replace(f'"{child}"', f'"{os.getpid()}"'))  # names of flows
            return rest
    raise AssertionError(f"MegEngine's writer crashed {TRIES} times")


class Ran:
    """A program that has ended, in its folder."""

    def __init__(self, done, folder):
        self.status, self.printed, self.told, self.folder = done.returncode, done.stdout, done.stderr, folder

    @property
    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


# Ours are counted anew, beside names that are spelt right.
MENDED = {"nr_redunant_tensor", "nr_redundant_tensor", "gpu_usgae_ratio", "gpu_usage_ratio"}


class Timeline:
    """A chrome_timeline.json."""

    def __init__(self, path):
        self.content = json.loads(pathlib.Path(path).read_text())
        self.events = self.content["traceEvents"]

    @property
    def tracks(self):
        """{tid: name}."""
        return {event["tid"]: event["args"]["name"] for event in self.events if event["name"] == "thread_name"}

    def begins(self, track=None):
        """How often each range begins, on one track or on all; tensors without their number."""
        tracks = self.tracks
        names = [
            event["name"].rstrip("0123456789").rstrip() if " " in event["name"] else event["name"]
            for event in self.events
            if event["ph"] in "BX" and track in (None, tracks.get(event["tid"]))
        ]
        return collections.Counter(names)

    def ends(self, name):
        return sum(event["ph"] == "E" and event["name"] == name for event in self.events)

    @property
    def counters(self):
        """How many samples each counter has, without those that the original computes wrongly."""
        return collections.Counter(
            event["name"] for event in self.events if event["ph"] == "C" and event["name"] not in MENDED
        )


@pytest.fixture
def run(tmp_path):
    """Runs a program, or the arguments of an interpreter, in an empty folder; the status is asserted."""

    def run_program(program="", *, arguments=(), status=0, names=OURS, folder="run", **variables):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        command = [sys.executable, *arguments] if arguments else [sys.executable, "-c", START + names + program]
        for _ in range(TRIES):
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=120, cwd=place, env=os.environ | variables
            )
            if done.returncode != -signal.SIGSEGV or names is not THEIRS:
                break
        assert done.returncode == status, f"exit status {done.returncode}:\n{done.stdout}{done.stderr}"
        return Ran(done, place)

    return run_program


def until(several, do, most=200_000):
    """Does it until there are several; how often that was."""
    for number in range(most):
        if len(several) >= 4:
            return number
        do()
    raise AssertionError(f"{len(several)} parts after {most} times")


def counts(trace):
    names = (name.rstrip("0123456789 ") if " " in name else name for name in trace.spans.text("name"))
    return collections.Counter(names)


@pytest.fixture
def stops(monkeypatch):
    """One for each stop of MegEngine's recorder."""
    from megengine.core._imperative_rt import core2

    made, stop = [], core2.stop_profile
    monkeypatch.setattr(core2, "stop_profile", lambda: made.append(1) or stop())
    return made


@pytest.fixture
def brief(monkeypatch):
    """Parts are due as soon as may be."""
    from opscope.megengine import parts

    monkeypatch.setattr(parts, "_FIRST", 0.001)
    monkeypatch.setattr(parts, "_SHORTEST", 0.001)
    monkeypatch.setattr(parts, "_RECORDS", 1)


@pytest.fixture
def ones():
    import megengine
    import megengine.functional as F
    import numpy

    made = megengine.tensor(numpy.ones((8, 8), "float32"))
    F.add(made, made).numpy()  # asks for types the first time
    return made


@pytest.fixture
def tensor():
    import megengine

    return megengine.tensor([1.0, 2.0])
