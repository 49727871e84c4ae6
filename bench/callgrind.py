# SPDX-License-Identifier: Apache-2.0
"""Instructions that a program takes between two places in it, counted by callgrind."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import measure


def switch_path():
    """The library that turns the counting on and off, of the newest build that has it, or None."""
    return measure.newest_built("bench/libcallgrind_switch.so")


def switch(path=None):
    """A function of 1 or 0, which turns the counting on or off; false where it cannot."""
    return ctypes.CDLL(str(path or switch_path())).opscope_callgrind_count


def missing():
    """Why nothing can be counted; "" when it can."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    if switch_path() is None or not switch()(0):
        return "bench/callgrind_switch is missing, or was built without valgrind/callgrind.h"
    return ""


def valgrind(profile="/dev/null", by_thread=False):
    """What stands before a command. `profile`: a file of callgrind's own format, %p in it the process. by_thread: a
    file for each thread, with -NN behind its name.
    """
    return [
        "valgrind",
        "--tool=callgrind",
        "--instr-atstart=no",
        f"--separate-threads={'yes' if by_thread else 'no'}",
        f"--callgrind-out-file={profile}",
    ]


def environment():
    """In which what is counted does not vary."""
    return dict(os.environ, PYTHONHASHSEED="0", OMP_NUM_THREADS="1")


def under_callgrind(command, profile="/dev/null"):
    """What it printed, and {process: instructions between the switch's on and off}, its children among them."""
    done = subprocess.run(
        valgrind(profile) + [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        env=environment(),
    )
    counts = {int(process): int(count) for process, count in re.findall(r"==(\d+)== Collected *: *(\d+)", done.stderr)}
    if done.returncode != 0 or not counts:
        raise SystemExit(f"bench: {command}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout, counts


def by_thread(folder):
    """{file: (instructions, functions that ran)} of the files that threads left in a folder
    (https://valgrind.org/docs/manual/cl-format.html)."""
    threads = {}
    for path in Path(folder).glob("*-[0-9]*"):
        text = path.read_text()
        (total,) = re.findall(r"^totals: (\d+)$", text, re.MULTILINE)
        names = dict(re.findall(r"^c?fn=\((\d+)\) (.+)$", text, re.MULTILINE))
        threads[path] = int(total), {names[number] for number in re.findall(r"^fn=\((\d+)\)", text, re.MULTILINE)}
    return threads
